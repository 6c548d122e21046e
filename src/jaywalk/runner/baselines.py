"""Conversion of a baseline to a run request, and of the records back to a baseline."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import jaywalk.record
from jaywalk.core.errors import DataError, PrerequisiteError, UsageError
from jaywalk.core.files import read_bytes, write_whole
from jaywalk.core.source_digest import SHORT, sources_digest
from jaywalk.core.toml_text import parse_toml
from jaywalk.metrics.driving.baseline import (
    Accepted,
    Baseline,
    BaselineEpisode,
    entry_of,
    protocol_versions,
)
from jaywalk.metrics.driving.baseline_changes import Changes
from jaywalk.metrics.generalization.counterfactual import check_pair
from jaywalk.metrics.generalization.pairing import half_of
from jaywalk.record import record_hash
from jaywalk.record.episode import Code
from jaywalk.record.run import CONFIG_FILE, RunFolder
from jaywalk.runner._code import code_differences, suite_digest
from jaywalk.runner.config import RunConfig, read_config, route_digest
from jaywalk.runner.job import RunRequest, WorkerOptions
from jaywalk.runner.plan import AgentSpec
from jaywalk.runner.selection import find_suite, subset_of
from jaywalk.scenarios.formats.route_xml import parse_routes
from jaywalk.scenarios.formats.xml_node import Node, format_tree
from jaywalk.scenarios.suite import Suite, SuiteRoute, with_people_model
from jaywalk.town.town import available_towns

LOG_FILE: Final = "LOG.md"
_TABLE_BYTES: Final = 1_000_000
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_.-]*")
_LOG_HEAD: Final = (
    "# Accepted baselines\n\nWhen, which, why, and what changed; `jaywalk baseline accept` writes "
    "this file.\n"
)


def scratch_folder() -> Path:
    """Default folder for runs of baselines: one per version of Jaywalk's sources."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(given) if os.path.isabs(given) else Path.home() / ".cache"
    return root / "jaywalk" / "baselines" / sources_digest()[:SHORT]


def check_new_name(name: str) -> None:
    """Raise unless a name is valid as a file name."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"The name is '{name}', expected lower-case letters, digits, '-', '_' and '.'."
        )


def check_reason(reason: str) -> str:
    """Return a reason as one line; raise if it says too little."""
    plain = " ".join(reason.split())
    if not plain:
        raise UsageError("--reason is empty; say in a few words why the scores may change.")
    return plain


def suite_of(baseline: Baseline, folder: Path) -> Suite:
    """Return the routes of a baseline as a suite."""
    run = baseline.run
    if run.suite.endswith(".toml"):
        suite = table_suite(folder / run.suite)
    else:
        suite = find_suite(run.suite, run.variant)
    return with_people_model(subset_of(suite, run.subset), run.people_model)


def missing_towns(suite: Suite) -> list[str]:
    """List the towns of the routes that this machine does not have."""
    return sorted({item.route.town for item in suite.routes} - set(available_towns()))


def request_of(baseline: Baseline, suite: Suite, run_folder: Path, *, workers: int) -> RunRequest:
    """Return the run request of a baseline."""
    run = baseline.run
    return RunRequest(
        run_folder=run_folder,
        suite=suite,
        agent=AgentSpec(name=run.agent, arguments=run.arguments),
        seeds=tuple(run.seeds),
        workers=WorkerOptions(workers=workers),
    )


def driven(
    baseline: Baseline, request: RunRequest, entries: Mapping[str, BaselineEpisode]
) -> Baseline:
    """Return the baseline with new results, to be compared or accepted.

    Args:
        baseline: The requested baseline.
        request: Its run, complete.
        entries: Episodes already scored; the others are read from their records.
    """
    routes = {item.id: route_digest(item) for item in request.suite.routes}
    code = request.code().model_copy(update={"suite": suite_digest(routes)})
    episodes: dict[str, BaselineEpisode] = {}
    for plan in request.plans():
        name = plan.episode_id
        folder = RunFolder(request.run_folder).episode(name)
        if name in entries:
            episodes[name] = entries[name]
        elif folder.is_dir():
            episodes[name] = entry_of(jaywalk.record.open(folder), record_hash(folder))
    episodes = _with_weakness(episodes, request.run_folder)
    protocols = dict.fromkeys(key for entry in episodes.values() for key in entry.scores)
    return baseline.model_copy(
        update={
            "run": baseline.run.model_copy(
                update={"suite_id": request.suite.name, "agent_version": code.driver}
            ),
            "code": code,
            "protocol": protocol_versions(list(protocols)),
            "episodes": episodes,
        }
    )


def _with_weakness(
    episodes: dict[str, BaselineEpisode], run_folder: Path
) -> dict[str, BaselineEpisode]:
    """Add to pairs whether they show more than a common start."""
    pairs: dict[tuple[str, str], dict[str, str]] = {}
    for name, entry in episodes.items():
        if entry.pair:
            episode = jaywalk.record.open(RunFolder(run_folder).episode(name)).episode
            seed = name.rpartition("-s")[2]
            pairs.setdefault((entry.pair, seed), {})[half_of(episode)] = name
    marked = dict(episodes)
    for halves in pairs.values():
        if len(halves) != 2:
            continue
        base, shift = (
            jaywalk.record.open(RunFolder(run_folder).episode(name))
            for _, name in sorted(halves.items())
        )
        check = check_pair(base, shift)
        for name in halves.values():
            marked[name] = marked[name].model_copy(update={"weak": check.weak or not check.passed})
    return marked


def check_run(baseline: Baseline, request: RunRequest) -> None:
    """Raise unless a run folder holds exactly the baseline's episodes, driven by this code.

    Raises:
        DataError: The folder holds no run, another run or an incomplete one.
        UsageError: Other versions of code or data drove it.
    """
    folder = request.run_folder
    config = read_config(folder)
    if config is None:
        raise DataError(f"'{folder}' has no {CONFIG_FILE}; give the folder of a recorded run.")
    if reasons := _other_run(config, request):
        raise DataError(
            f"'{folder}' is not the run of baseline '{baseline.name}'; {'; '.join(reasons)}."
        )
    mine = request.code()
    lines = code_differences(config.code, mine)
    if config.earlier_code:
        lines.append("it mixes code versions")
    ids = [plan.episode_id for plan in request.plans()]
    missing = [one for one in ids if not RunFolder(folder).episode(one).is_dir()]
    if missing:
        raise DataError(
            f"'{folder}' is incomplete: {len(missing)} of {len(ids)} episodes are missing "
            f"({', '.join(missing[:3])}{', ...' if len(missing) > 3 else ''})."
        )
    for name in ids:
        code = jaywalk.record.open(RunFolder(folder).episode(name)).episode.code
        lines += [f"{name}: {text}" for text in _record_differences(code, mine)]
    if lines:
        raise UsageError(
            f"'{folder}' was driven with other versions of code or data; "
            f"{'; '.join(list(dict.fromkeys(lines))[:4])}. Drive it again with this code."
        )


def _record_differences(code: Code, mine: Code) -> list[str]:
    return code_differences(code, mine.model_copy(update={"driver": mine.driver or code.driver}))


def _other_run(config: RunConfig, request: RunRequest) -> list[str]:
    pairs: dict[str, tuple[Any, Any]] = {
        "suite": (config.suite.name, request.suite.name),
        "variant": (config.suite.variant, request.suite.variant),
        "agent": (config.agent.name, request.agent.name),
        "agent arguments": (config.agent.arguments, request.agent.arguments),
        "traffic": (config.options.get("traffic"), request.episodes.traffic),
    }
    lines = [f"{key}: {a!r} there, {b!r} expected" for key, (a, b) in pairs.items() if a != b]
    other = [
        item.id
        for item in request.suite.routes
        if config.suite.routes.get(item.id) != route_digest(item)
    ]
    if other:
        lines.append(f"{len(other)} routes are missing or differ ({', '.join(other[:3])})")
    if lacking := sorted(set(request.seeds) - set(config.seeds)):
        lines.append(f"seeds {', '.join(map(str, lacking))} are missing")
    return lines


def accepted(baseline: Baseline, reason: str) -> Baseline:
    """Return the baseline as accepted today."""
    today = datetime.now(UTC).date().isoformat()
    return baseline.model_copy(update={"accepted": Accepted(date=today, reason=reason)})


def log_entry(old: Baseline | None, new: Baseline) -> str:
    """Return the log entry of an acceptance."""
    assert new.accepted is not None
    lines = [f"## {new.accepted.date} {new.name}", "", f"{new.accepted.reason}", ""]
    if old is None or old.accepted is None:
        lines.append(f"- first accepted: {len(new.episodes)} episodes")
        lines.append(f"- {new.run.agent_version}, our sources {new.code.sources[:SHORT]}")
        return "\n".join(lines) + "\n"
    changes = Changes.between(old, new)
    lines.append(f"- {changes.summary()}")
    lines += [f"- {note}" for note in changes.notes]
    lines += [
        f"- {name}: {before:g} -> {after:g}"
        for name, (before, after) in changes.headline.items()
        if before != after and not (before != before and after != after)
    ]
    return "\n".join(lines) + "\n"


def append_log(folder: Path, entry: str) -> None:
    """Append an entry to the log of a folder of baselines."""
    path = folder / LOG_FILE
    before = path.read_text(encoding="utf-8") if path.is_file() else _LOG_HEAD
    write_whole(path, f"{before.rstrip()}\n\n{entry}")


# -- tables of routes --------------------------------------------------------------------------


def table_suite(path: Path) -> Suite:
    """Read a suite from a table with the few numbers that define public routes.

    Top level: ``suite`` (name with version), ``vehicles``. Each ``[[route]]``: ``id``, ``town``,
    ``points`` (x, y, z in metres), ``scenario`` (type), ``trigger`` (x, y, z, yaw), and
    ``parameters`` of the scenario. Frame: CARLA's.
    """
    text = read_bytes(path, "a table of routes (.toml)", _TABLE_BYTES).decode("utf-8", "replace")
    table = parse_toml(text, str(path))
    try:
        routes = tuple(
            SuiteRoute(
                id=f"{entry['town'].lower()}-{entry['id']}",
                route=parse_routes(_route_xml(entry), f"{path}, route {entry['id']}").routes[0],
                vehicles=int(table.get("vehicles", 0)),
            )
            for entry in table["route"]
        )
        name = str(table["suite"])
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise DataError(f"'{path}': a route lacks or misspells {problem}.") from problem
    if not routes:
        raise PrerequisiteError(f"'{path}' has no [[route]].")
    return Suite(name=name, routes=routes)


def _route_xml(entry: dict[str, Any]) -> str:
    """Return the route in the form of a Leaderboard 2.x file."""
    points = [_place("position", point) for point in entry["points"]]
    scenario = Node(
        tag="scenario",
        attributes=(("name", f"{entry['scenario']}_1"), ("type", str(entry["scenario"]))),
        children=(
            _place("trigger_point", entry["trigger"]),
            *(
                Node(tag=key, attributes=(("value", str(value)),))
                for key, value in entry.get("parameters", {}).items()
            ),
        ),
    )
    route = Node(
        tag="route",
        attributes=(("id", str(entry["id"])), ("town", str(entry["town"]))),
        children=(
            Node(tag="waypoints", children=tuple(points)),
            Node(tag="scenarios", children=(scenario,)),
        ),
    )
    return format_tree(Node(tag="routes", children=(route,)))


def _place(tag: str, values: list[float]) -> Node:
    names = ("x", "y", "z", "yaw")[: len(values)]
    numbers = zip(names, values, strict=True)
    return Node(tag=tag, attributes=tuple((name, str(float(value))) for name, value in numbers))
