"""Options of a run, as ``jaywalk run`` and ``jaywalk.drive`` take them, and the requests they give.

Everything that can be wrong with the options is found here, before a folder or a server exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from jaywalk.core.address import parse_address
from jaywalk.core.errors import PrerequisiteError, UsageError
from jaywalk.core.text import suggestion
from jaywalk.forecasting.predictors.plugged import predictor_label
from jaywalk.record.run import RunFolder
from jaywalk.runner.agent_choice import (
    DEFAULT_PREDICTOR,
    PerceptionLevel,
    agent_specs,
    check_remote,
)
from jaywalk.runner.job import RunRequest, WorkerOptions
from jaywalk.runner.motions import library_of
from jaywalk.runner.plan import AgentSpec, EpisodeChoices, EpisodeOptions
from jaywalk.runner.selection import FILES_SUITE, find_suite, first_of, override, subset_of
from jaywalk.scenarios.suite import Suite, with_people_model


@dataclass(frozen=True, kw_only=True)
class RunOptions(EpisodeChoices, WorkerOptions):
    """Options of a run, as given; ``jaywalk run --help`` explains each.

    An option that only the episodes or only the workers read is a field of the base class alone.
    """

    seeds: tuple[int, ...] = (1,)
    routes: str = ""
    subset: str = ""
    limit: int = 0  # first routes only; 0: all
    variant: str = ""
    town: str = ""
    xodr: Path | None = None
    people: int | None = None
    vehicles: int | None = None
    people_model: str = ""  # as the suite says
    wet_grip: bool | None = None
    agent_config: Path | None = None
    perception: PerceptionLevel | None = None
    predictor: str = ""


def make_requests(
    suite: str, agents: str, options: RunOptions, out: Path | None = None
) -> list[RunRequest]:
    """Return one request for each agent.

    Args:
        suite: Name of a suite, or route or scenario files: one, a folder or a glob.
        agents: Names, files or addresses, with commas.
        options: All other options.
        out: Run folder; the folder above the runs of several agents; None: ``runs/SUITE-AGENT``.
    """
    _check_exclusive(options)
    specs = agent_specs(agents, options.agent_config, options.perception, options.predictor)
    for spec in specs:
        check_remote(spec.name)
    chosen = with_people_model(_chosen_suite(suite, options), options.people_model)
    library, digest = library_of(chosen, options.motions)
    folders = _run_folders(out, suite, specs)
    base = RunRequest(
        run_folder=Path(),
        suite=chosen,
        agent=specs[0],
        seeds=options.seeds,
        overrides={
            "people": options.people,
            "vehicles": options.vehicles,
            "town": options.xodr.name if options.xodr else options.town,
            "wet_grip": chosen.routes[0].wet_grip,
        },
        episodes=EpisodeOptions(
            **_part(EpisodeChoices, options) | {"motions": library},
            motions_sha256=digest,
            opendrive=_opendrive(options.xodr),
        ),
        workers=WorkerOptions(**_part(WorkerOptions, options)),
    )
    return [
        replace(base, agent=spec, run_folder=folder)
        for spec, folder in zip(specs, folders, strict=True)
    ]


def _part(kind: type[EpisodeChoices | WorkerOptions], options: RunOptions) -> dict[str, Any]:
    """Return the options of one base class."""
    return {item.name: getattr(options, item.name) for item in fields(kind)}


def _check_exclusive(options: RunOptions) -> None:
    if options.town and options.xodr:
        raise UsageError("Give either --town or --xodr, not both.")
    if options.server and options.cluster:
        raise UsageError("Give either --server or --cluster, not both.")
    if options.server:
        parse_address(options.server)


def _chosen_suite(name: str, options: RunOptions) -> Suite:
    chosen = override(
        first_of(
            subset_of(find_suite(name, options.variant, options.routes), options.subset),
            options.limit,
        ),
        people=options.people,
        vehicles=options.vehicles,
        town=options.xodr.stem if options.xodr else options.town,
        wet_grip=options.wet_grip,
    )
    if not (options.server or options.xodr):
        _check_towns(chosen)
    _check_scenarios(chosen)
    return chosen


def _check_towns(suite: Suite) -> None:
    """An embedded server has our towns and those of JAYWALK_TOWN_PATH."""
    from jaywalk.town.town import available_towns

    known = available_towns()
    missing = sorted({item.route.town for item in suite.routes} - set(known))
    if missing:
        hint = suggestion(missing[0], known)
        raise PrerequisiteError(
            f"The routes need the town {', '.join(missing)}.{hint} Put the .xodr "
            "files into a folder named in JAYWALK_TOWN_PATH, give --xodr FILE, or use a server "
            "that has them with --server HOST:PORT."
        )


def _check_scenarios(suite: Suite) -> None:
    """Types and parameters of the user's own files, before a server is started for them."""
    from jaywalk.scenarios.toolbox.routes import check_parameters

    if suite.name.rpartition("/")[2] == FILES_SUITE:
        for spec in (spec for item in suite.routes for spec in item.route.scenarios):
            check_parameters(spec)


def _opendrive(path: Path | None) -> str | None:
    if path is None:
        return None
    from jaywalk.town.opendrive import read_opendrive

    return read_opendrive(path)


def _run_folders(out: Path | None, suite: str, agents: Sequence[AgentSpec]) -> list[Path]:
    """A folder for each agent, named after it and after a predictor other than the default."""
    labels = [_agent_label(spec) for spec in agents]
    if len(set(labels)) < len(labels):
        raise UsageError(f"Two agents have the same name: {', '.join(labels)}. Run them apart.")
    if out is None:
        return [Path("runs") / f"{_label(suite)}-{label}" for label in labels]
    if len(agents) == 1:
        return [out]
    if RunFolder(out).config_file.exists():
        raise UsageError(f"--out {out} is the run of one agent; several need a folder above it.")
    return [out / label for label in labels]


def _agent_label(spec: AgentSpec) -> str:
    predictor = str(spec.arguments.get("predictor", DEFAULT_PREDICTOR))
    more = [] if predictor == DEFAULT_PREDICTOR else [_plain(predictor_label(predictor))]
    return "-".join([_label(spec.name), *more])


def _label(name: str) -> str:
    short = Path(name).stem if "://" not in name else name.split("://", 1)[1]
    return _plain(short)


def _plain(text: str) -> str:
    plain = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in text)
    return plain.strip("-.") or "run"
