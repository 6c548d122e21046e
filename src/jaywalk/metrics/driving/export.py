"""Writes a run's scores as result files that the public benchmarks' own tools read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Literal

from jaywalk.core.errors import UsageError
from jaywalk.metrics.driving.export_records import bench2drive_fields, checkpoint_json, record_json
from jaywalk.metrics.driving.fail2drive_split import published_split
from jaywalk.metrics.driving.scorecard import EpisodeScore, RunScore, scenario_of
from jaywalk.metrics.driving.smoothness import ego_motion, metric_info
from jaywalk.record import open as open_record

Format = Literal["leaderboard", "bench2drive", "fail2drive"]
Layout = Literal["parser", "named"]

# Whose rules a format's scores follow unless told otherwise.
PROTOCOL_OF: Final[dict[str, str]] = {
    "leaderboard": "leaderboard-2.0",
    "bench2drive": "bench2drive",
    "fail2drive": "fail2drive",
}
_FILE_NAME: Final = "results.json"


def export_run(
    run: RunScore,
    form: Format,
    out: Path,
    *,
    layout: Layout = "parser",
    records: Path | None = None,
) -> list[Path]:
    """Write result files.

    Args:
        run: Scored under a public protocol.
        form: Whose files. ``leaderboard`` and ``bench2drive``: one JSON file. ``fail2drive``: a
            folder with one file a route.
        out: File or folder; a folder gets ``results.json``.
        layout: Fail2Drive: ``SEED/res/NNNN_res.json``, which its parser reads, or
            ``SEED/Split_Class_NNNN.json``, as its public leaderboard keeps them.
        records: Folder of the run. With it, ``bench2drive`` also gets the ego's motion of every
            route, ``<out>_metric_info/<save_name>/metric_info.json``, from which Bench2Drive's
            tool computes smoothness.

    Returns:
        Files written.

    Raises:
        UsageError: The run has nothing to write, or its routes have no number of Fail2Drive.
    """
    if not run.episodes:
        raise UsageError(f"Run '{run.name}' has no scored episode to export.")
    if form == "fail2drive":
        return _write_by_route(run, out, layout)
    numbered = number_episodes(run.episodes)
    routes, motions = [], []
    for index, (score, number, repetition) in enumerate(numbered):
        route = record_json(score, index, number, repetition)
        if form == "bench2drive":
            route |= bench2drive_fields(score, route["route_id"])
            if records is not None and "end_tick" in score.detail:
                folder = out.with_name(f"{out.stem}_metric_info") / route["save_name"]
                motions.append(_write_motion(records / score.folder, score, folder))
        routes.append(route)
    path = out if out.suffix == ".json" else out / _FILE_NAME
    return [_write(path, checkpoint_json(routes, run.expected)), *motions]


def _write_motion(record: Path, score: EpisodeScore, folder: Path) -> Path:
    first, last = score.detail["first_tick"], score.detail["end_tick"]
    path = folder / "metric_info.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    motion = metric_info(ego_motion(open_record(record), first, last))
    path.write_text(json.dumps(motion) + "\n", encoding="utf-8")
    return path


def number_episodes(episodes: Sequence[EpisodeScore]) -> list[tuple[EpisodeScore, int, int]]:
    """Route number and repetition of each, sorted; numbers of the routes if they have some.

    Seeds of a scenario become its repetitions. Where route ids are no numbers, or two scenarios
    share one, scenarios are counted from 0.
    """
    labels = list(dict.fromkeys(scenario_of(one) for one in episodes))
    own = {scenario_of(one): str(one.detail.get("route_id", "")) for one in episodes}
    usable = all(text.isdigit() for text in own.values()) and len(set(own.values())) == len(own)
    number = {label: int(own[label]) if usable else k for k, label in enumerate(labels)}
    counted: dict[str, int] = {}
    out = []
    for one in sorted(episodes, key=lambda one: (number[scenario_of(one)], one.seed or 0)):
        label = scenario_of(one)
        out.append((one, number[label], counted.get(label, 0)))
        counted[label] = counted.get(label, 0) + 1
    return out


def _write_by_route(run: RunScore, out: Path, layout: Layout) -> list[Path]:
    split = published_split()
    if out.suffix == ".json":
        raise UsageError(f"'{out}': Fail2Drive wants a folder with one file a route.")
    odd = [
        one.episode_id
        for one in run.episodes
        if not str(one.detail.get("route_id", "")).isdigit()
        or int(one.detail["route_id"]) not in split
    ]
    if odd:
        raise UsageError(
            f"{len(odd)} episodes ({', '.join(odd[:3])}) are of no route of Fail2Drive (0 to 99 "
            "and 1000 to 1099). Use --format leaderboard or bench2drive."
        )
    paths = []
    for one in run.episodes:
        number = int(one.detail["route_id"])
        seed = out / str(1 if one.seed is None else one.seed)
        path = seed / "res" / f"{number:04d}_res.json"
        if layout == "named":
            path = seed / f"{split[number].name}.json"
        paths.append(_write(path, checkpoint_json([record_json(one, 0, number, 0)], 1)))
    return paths


def _write(path: Path, value: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=4) + "\n", encoding="utf-8")
    return path
