"""``jaywalk realism people``: how people walk, stop and cross, against recorded people.

Realism results as plain values for JSON: NaN becomes null, intervals become pairs.

``jaywalk realism rollout``: closed-loop rollouts from a recorded start.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jaywalk.cli.output import AsJson, AsValue, finish, print_json, print_table, say
from jaywalk.core.address import parse_address
from jaywalk.core.errors import DataError, UsageError
from jaywalk.metrics.realism.bounds import Bounds
from jaywalk.metrics.realism.intervals import over_scenes
from jaywalk.metrics.realism.jaywalk_score.score import NAME, Jaywalk1Score
from jaywalk.metrics.realism.score import RealismScore, SceneScore
from jaywalk.stats.intervals import Interval

if TYPE_CHECKING:
    from jaywalk.metrics.realism.people.behaviour import PeopleSet
    from jaywalk.metrics.realism.people.likeness import FeatureLikeness


def plain(value: Any) -> Any:
    """A value made of dictionaries, lists, numbers and None."""
    if isinstance(value, Interval):
        return [plain(value.low), plain(value.high)]
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "items"):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def better_json(score: Jaywalk1Score, names: list[str] | None) -> dict[str, Any]:
    """A score of jaywalk-1; with names of scenes also their costs one by one."""
    out: dict[str, Any] = {"config": NAME, **plain(score)}
    if names is not None:
        rows = zip(names, out["costs"], strict=True)
        out["scenarios"] = [{"name": name, "costs": costs} for name, costs in rows]
    return out


def _scene(scene: SceneScore) -> dict[str, Any]:
    return {
        "name": scene.name,
        "metametric": scene.metametric,
        "likelihoods": dict(scene.likelihoods),
        "ade_m": scene.ade_m,
        "min_ade_m": scene.min_ade_m,
        "rates": dict(scene.rates),
        "n_agents": scene.n_agents,
        "n_rollouts": scene.n_rollouts,
    }


def score_json(
    score: RealismScore, *, per_scenario: bool = False, limits: Bounds | None = None
) -> dict[str, Any]:
    """A score with its intervals over scenes (BCa, 95 %)."""
    out: dict[str, Any] = {
        "config": score.config,
        "metametric": score.metametric,
        "likelihoods": dict(score.likelihoods),
        "buckets": dict(score.buckets),
        "ade_m": score.ade_m,
        "min_ade_m": score.min_ade_m,
        "rates": dict(score.rates),
        "n_scenarios": score.n_scenarios,
        "n_agents": score.n_agents,
        "intervals": {
            "metametric": over_scenes([s.metametric for s in score.scenes]).interval,
            "rates": {
                name: over_scenes([s.rates[name] for s in score.scenes]).interval
                for name in score.rates
            },
        },
    }
    if limits is not None:
        out["bounds"] = {name: other.metametric for name, other in limits.scores.items()}
        out["normalised"] = dict(limits.normalised)
    if per_scenario:
        out["scenarios"] = [_scene(scene) for scene in score.scenes]
    result: dict[str, Any] = plain(out)
    return result


def rollout(
    source: Annotated[
        Path,
        typer.Argument(help="A run, an episode, archives (.npz) or Waymo scenarios."),
    ],
    policy: Annotated[
        str,
        typer.Option(
            "--policy",
            help="log-replay, constant-velocity, random, lanes: any scene, no server. traffic, or "
            "a driver for the ego (expert, cruise, FILE.py, ...): runs of ours, on a server.",
        ),
    ],
    n: Annotated[int, typer.Option("--n", help="Rollouts of each scene.")] = 32,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of the archives; for a run RUN/realism/POLICY."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="All seeds derive from it.")] = 0,
    scenes: Annotated[int, typer.Option("--scenes", help="Windows of each episode of a run.")] = 1,
    at_s: Annotated[
        float | None, typer.Option("--at", help="Current time (s) of the only window instead.")
    ] = None,
    range_m: Annotated[
        float, typer.Option("--range-m", help="Who of a run takes part: so near to the ego.")
    ] = 100.0,
    server: Annotated[
        str, typer.Option(help="HOST:PORT of a running server instead of our own.")
    ] = "",
    as_json: AsValue = False,
) -> None:
    """Roll recorded scenes out with a policy, for 'realism score'.

    The same command again makes only what is missing.

    Example: jaywalk realism rollout runs/smoke-cruise --policy traffic --n 32
    """
    from jaywalk.rollouts.job import RolloutRequest, run_rollouts

    folder = out or _default_folder(source, policy)
    done = run_rollouts(
        RolloutRequest(
            source=source,
            policy=policy,
            n=n,
            seed=seed,
            out=folder,
            scenes=scenes,
            at_s=at_s,
            range_m=range_m,
            server=parse_address(server) if server else None,
        ),
        say,
    )
    if as_json:
        values = asdict(done) | {"folder": str(done.folder), "wall_s": round(done.wall_s, 3)}
        print_json({"policy": policy, "seed": seed, **values})
        return
    kept = f", {done.kept} of them made before" if done.kept else ""
    finish(
        [
            f"{done.scenes} scenes{kept}, {done.agents} agents, {done.rollouts} rollouts each by "
            f"'{policy}', {done.wall_s:.0f} s, in {done.folder}"
        ],
        f"jaywalk realism score {done.folder} --bounds",
    )


def _default_folder(source: Path, policy: str) -> Path:
    from jaywalk.record.episode import EPISODE_FILE
    from jaywalk.record.run import RunFolder

    name = Path(policy).stem if policy.endswith(".py") else policy.replace("/", "_")
    if RunFolder(source).is_run and not (source / EPISODE_FILE).is_file():
        return RunFolder(source).rollouts / name
    return Path("rollouts") / f"{source.name.split('.')[0]}-{name}"


Table = dict[str, dict[str, "Mapping[str, FeatureLikeness]"]]
"""By reference, then by group of people."""


def people(
    sources: Annotated[
        list[Path],
        typer.Argument(help="Runs, datasets (DUT, CITR) or CSV: clip, track, kind, t_s, x_m, y_m."),
    ],
    recorded: Annotated[
        Path | None,
        typer.Option("--recorded", help="Recorded people: DUT or CITR, folder or archive, or CSV."),
    ] = None,
    details: Annotated[
        bool, typer.Option("--details", help="Medians, distances and bounds of every group.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare how people walk, stop and cross with recorded people.

    Example: jaywalk realism people runs/habit-cruise --recorded vci-dataset-dut

    Two sources without --recorded: the second one is the recorded one.
    """
    ours, reference = _arranged(sources, recorded)
    groups = {name: one for path in ours for name, one in _sets(path).items()}
    table = _compared(groups, _sets(reference))
    if as_json:
        values: dict[str, Any] = {
            "people": [str(path) for path in ours],
            "reference": str(reference),
            "groups": plain(table),
        }
        pairs = [features for rows in table.values() for features in rows.values()]
        if len(pairs) == 1:
            values["features"] = plain(pairs[0])
        print_json(values)
        return
    whole = [(ref, group) for ref, rows in table.items() for group in rows]
    for ref, rows in table.items():
        if details or len(whole) == 1:
            for group, features in rows.items():
                print_table([f"{group} against {ref}"], [])
                _print_details(features)
        else:
            _print_groups(ref, rows)
    finish(_findings(table), f"jaywalk realism people {' '.join(map(str, sources))} --json")


def _arranged(sources: list[Path], recorded: Path | None) -> tuple[list[Path], Path]:
    if recorded is not None:
        return sources, recorded
    if len(sources) == 2:
        return sources[:1], sources[1]
    raise UsageError("Say what to compare with: --recorded PATH (DUT, CITR or a CSV file).")


def _sets(path: Path) -> dict[str, PeopleSet]:
    """People by group: a run's by role, a dataset's by source, those of a CSV file as one."""
    from jaywalk.datasets.vci import read_vci
    from jaywalk.record.run import RunFolder
    from jaywalk.rollouts.cases.recorded_people import read_people_csv, run_people

    if not path.exists():
        raise DataError(f"There is no '{path}'; give a run, a dataset or a CSV file.")
    if RunFolder(path).is_run:
        return run_people([path])
    if path.suffix == ".csv":
        one = read_people_csv(path)
        return {one.name: one}
    data = read_vci(path)
    return {name: _of_dataset(data, name) for name in sorted(set(data.tracks["source"]))}


def _of_dataset(data: Any, source: str) -> PeopleSet:
    from jaywalk.metrics.realism.people.behaviour import PeopleSet, PersonTrack

    part = data.of_source(source)

    def tracks(table: Any, name: str) -> tuple[PersonTrack, ...]:
        return tuple(
            PersonTrack(
                clip=str(scene),
                time_s=rows["k"].to_numpy() * 0.1,
                xy_m=rows.select("x", "y").to_numpy(),
            )
            for (scene, _), rows in table.group_by("scene_id", name, maintain_order=True)
            if len(rows) >= 2
        )

    return PeopleSet(
        name=source, people=tracks(part.tracks, "track_id"), vehicles=tracks(part.ego, "ego_id")
    )


def _compared(groups: dict[str, PeopleSet], references: dict[str, PeopleSet]) -> Table:
    """Every group against every reference; the other references too, as a yardstick."""
    from jaywalk.metrics.realism.people.behaviour import behaviour
    from jaywalk.metrics.realism.people.likeness import likeness_to, reference_of

    looked = {name: behaviour(one) for name, one in groups.items()}
    known = {name: reference_of(one) for name, one in references.items()}
    table: Table = {}
    problems = []
    for ref, reference in known.items():
        others = {name: one.recorded for name, one in known.items() if name != ref}
        for name, samples in {**looked, **others}.items():
            try:
                table.setdefault(ref, {})[name] = likeness_to(name, samples, reference)
            except DataError as problem:
                problems.append(problem)
    if not any(table.values()):
        raise problems[0]
    return table


def _shown(features: Mapping[str, FeatureLikeness], name: str) -> str:
    if name not in features:
        return "-"
    one = features[name].likeness
    return f"{one.value:.2f} [{one.interval.low:.2f}, {one.interval.high:.2f}]"


def _print_groups(ref: str, rows: dict[str, Mapping[str, FeatureLikeness]]) -> None:
    from jaywalk.metrics.realism.people.behaviour import FEATURES

    lines = [
        [group, str(max(f.n for f in features.values())), *(_shown(features, n) for n in FEATURES)]
        for group, features in rows.items()
    ]
    some = next(iter(rows.values()))

    def bound(kind: str) -> list[str]:
        shown = []
        for name in FEATURES:
            likeness = some.get(name)
            if likeness is None:
                shown.append("-")
                continue
            value = 1.0 - (getattr(likeness, kind) - likeness.halves) / (
                likeness.random - likeness.halves
            )
            shown.append(f"{value:.2f}")
        return shown

    lines += [[f"bound: {kind}", "", *bound(kind)] for kind in ("straight", "random", "halves")]
    print_table([f"likeness to {ref}", "people", *FEATURES], lines)


def _print_details(features: Mapping[str, FeatureLikeness]) -> None:
    print_table(
        [
            "feature",
            "likeness",
            "95 % interval",
            "median",
            "recorded",
            "distance",
            "halves",
            "straight",
            "random",
            "people",
        ],
        [
            [
                name,
                f"{r.likeness.value:.2f}",
                f"[{r.likeness.interval.low:.2f}, {r.likeness.interval.high:.2f}]",
                f"{r.median:.2f}",
                f"{r.median_reference:.2f}",
                f"{r.distance:.3f}",
                f"{r.halves:.3f}",
                f"{r.straight:.3f}",
                f"{r.random:.3f}",
                str(r.n),
            ]
            for name, r in features.items()
        ],
    )


def _findings(table: Table) -> list[str]:
    """What of each group is least like the recorded people."""
    lines = []
    for ref, rows in table.items():
        for group, features in rows.items():
            worst = min(features, key=lambda name: features[name].likeness.value)
            row = features[worst]
            lines.append(
                f"{group}: least like {ref} in {worst} ({row.likeness.value:.2f}; median "
                f"{row.median:.2f}, recorded {row.median_reference:.2f})"
            )
    return lines
