"""``jaywalk realism people``: how people walk, stop and cross, against recorded people."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jaywalk.cli.output import finish, print_json, print_table
from jaywalk.core.errors import DataError, UsageError

if TYPE_CHECKING:
    from jaywalk.metrics.realism.people.likeness import FeatureLikeness
    from jaywalk.metrics.realism.people.tracks import PeopleSet

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
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Compare how people walk, stop and cross with recorded people.

    Example: jaywalk realism people runs/habit-cruise --recorded vci-dataset-dut

    Two sources without --recorded: the second one is the recorded one.
    """
    from jaywalk.cli.realism_json import plain

    ours, reference = _arranged(sources, recorded)
    groups = {name: one for path in ours for name, one in _sets(path).items()}
    table = _compared(groups, _sets(reference))
    if as_json:
        values: dict[str, Any] = {
            "people": [str(path) for path in ours], "reference": str(reference),
            "groups": plain(table),
        }  # fmt: skip
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
    from jaywalk.metrics.realism.readers.people_csv import read_people_csv
    from jaywalk.metrics.realism.readers.run_cases import is_run
    from jaywalk.metrics.realism.records.record_people import run_people

    if not path.exists():
        raise DataError(f"There is no '{path}'; give a run, a dataset or a CSV file.")
    if is_run(path):
        return run_people([path])
    if path.suffix == ".csv":
        one = read_people_csv(path)
        return {one.name: one}
    data = read_vci(path)
    return {name: _of_dataset(data, name) for name in sorted(set(data.tracks["source"]))}


def _of_dataset(data: Any, source: str) -> PeopleSet:
    from jaywalk.metrics.realism.people.tracks import PeopleSet, Track

    part = data.of_source(source)

    def tracks(table: Any, name: str) -> tuple[Track, ...]:
        return tuple(
            Track(
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
            one = some.get(name)
            if one is None:
                shown.append("-")
                continue
            value = 1.0 - (getattr(one, kind) - one.halves) / (one.random - one.halves)
            shown.append(f"{value:.2f}")
        return shown

    lines += [[f"bound: {kind}", "", *bound(kind)] for kind in ("straight", "random", "halves")]
    print_table([f"likeness to {ref}", "people", *FEATURES], lines)


def _print_details(features: Mapping[str, FeatureLikeness]) -> None:
    print_table(
        ["feature", "likeness", "95 % interval", "median", "recorded", "distance", "halves",
         "straight", "random", "people"],
        [
            [name, f"{r.likeness.value:.2f}",
             f"[{r.likeness.interval.low:.2f}, {r.likeness.interval.high:.2f}]",
             f"{r.median:.2f}", f"{r.median_reference:.2f}", f"{r.distance:.3f}",
             f"{r.halves:.3f}", f"{r.straight:.3f}", f"{r.random:.3f}", str(r.n)]
            for name, r in features.items()
        ],
    )  # fmt: skip


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
