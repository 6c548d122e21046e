"""Export of a run's scores as result files for the tools of the public benchmarks.

Records and summaries have the format of the Leaderboard family. They are made from scores of
Jaywalk's records.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from jaywalk.core.errors import UsageError
from jaywalk.metrics.driving._smoothness import ego_motion, metric_info
from jaywalk.metrics.driving.criteria._ending import SENSORS_INVALID
from jaywalk.metrics.driving.results import INFRACTIONS
from jaywalk.metrics.driving.summary import EpisodeScore, RunScore, scenario_of
from jaywalk.metrics.generalization.split import published_split
from jaywalk.record import open as open_record

_DIGITS: Final = 3
_SCORE_DIGITS: Final = 6
_LEAST_KM: Final = 0.001
_SCORES: Final = ("score_composed", "score_route", "score_penalty")
_RANK: Final = {"Perfect": 0, "Completed": 1}
# Order of the summary's values: label, then infraction key or score.
_LABELS: Final = (
    ("Avg. driving score", "score_composed"),
    ("Avg. route completion", "score_route"),
    ("Avg. infraction penalty", "score_penalty"),
    ("Collisions with pedestrians", "collisions_pedestrian"),
    ("Collisions with vehicles", "collisions_vehicle"),
    ("Collisions with layout", "collisions_layout"),
    ("Red lights infractions", "red_light"),
    ("Stop sign infractions", "stop_infraction"),
    ("Off-road infractions", "outside_route_lanes"),
    ("Route deviations", "route_dev"),
    ("Route timeouts", "route_timeout"),
    ("Agent blocked", "vehicle_blocked"),
    ("Yield emergency vehicles infractions", "yield_emergency_vehicle_infractions"),
    ("Scenario timeouts", "scenario_timeouts"),
    ("Min speed infractions", "min_speed_infractions"),
)
# The evaluators refuse an empty list; ours read the world, not sensors.
_SENSORS: Final = ["world_state"]


def record_json(score: EpisodeScore, index: int, number: int, repetition: int) -> dict[str, Any]:
    """One route record."""
    messages: Mapping[str, Sequence[str]] = score.detail["messages"]
    metrics = score.metrics
    completion = metrics["route_completion"]
    wall_s = score.detail.get("wall_s")
    return {
        "index": index,
        "route_id": f"RouteScenario_{number}_rep{repetition}",
        "status": score.status,
        "num_infractions": sum(len(messages[key]) for key in INFRACTIONS),
        "infractions": {key: list(messages[key]) for key in INFRACTIONS},
        "scores": {
            "score_route": 100 if completion >= 100.0 else round(completion, _SCORE_DIGITS),
            "score_penalty": round(metrics["infraction_penalty"], _SCORE_DIGITS),
            "score_composed": round(metrics["driving_score"], _SCORE_DIGITS),
        },
        "meta": {
            "route_length": _rounded(metrics["route_length_m"]),
            "duration_game": _rounded(metrics["duration_s"]),
            "duration_system": _rounded(wall_s if wall_s is not None else math.nan),
        },
    }


def bench2drive_fields(score: EpisodeScore, route_id: str) -> dict[str, Any]:
    """Return the fields that Bench2Drive adds to a record; the weather number is unknown."""
    names = score.detail.get("scenario_names") or [score.scenario]
    town = score.detail.get("town", "")
    return {
        "scenario_name": names[0],
        "weather_id": None,
        "save_name": f"{route_id}_{town}_{names[0]}",
        "town_name": town,
    }


def checkpoint_json(records: Sequence[dict[str, Any]], total: int) -> dict[str, Any]:
    """A whole result file; the summary is empty while routes are missing, as in the evaluators."""
    complete = len(records) == total
    summary = global_json(records, total) if complete else {}
    rejected = any(record.get("status") == f"Failed - {SENSORS_INVALID}" for record in records)
    return {
        "_checkpoint": {
            "global_record": summary,
            "progress": [len(records), total],
            "records": list(records),
        },
        "entry_status": "Rejected" if rejected else "Finished" if complete else "Started",
        "eligible": complete and not rejected,
        "sensors": _SENSORS,
        "values": [str(_figure(summary, key)) for _, key in _LABELS] if complete else [],
        "labels": [label for label, _ in _LABELS] if complete else [],
    }


def _figure(summary: Mapping[str, Any], key: str) -> float:
    group = summary["scores_mean"] if key in _SCORES else summary["infractions"]
    value: float = group[key]
    return value


def global_json(records: Sequence[dict[str, Any]], total: int) -> dict[str, Any]:
    """Return the summary of all routes: means over the announced routes, events per kilometre."""
    means = {
        key: round(math.fsum(record["scores"][key] for record in records) / total, _SCORE_DIGITS)
        for key in _SCORES
    }
    driven = (r["meta"]["route_length"] * r["scores"]["score_route"] / 1e5 for r in records)
    km = max(_LEAST_KM, math.fsum(driven))
    worst = max((_rank(record["status"]) for record in records), default=2)
    return {
        "index": -1,
        "route_id": -1,
        "status": ("Perfect", "Completed", "Failed")[worst],
        "infractions": {key: round(_rate(records, key, km), _DIGITS) for key in INFRACTIONS},
        "scores_mean": means,
        "scores_std_dev": {key: _deviation(records, key, means[key], total) for key in _SCORES},
        "meta": {
            "total_length": _total(records, "route_length"),
            "duration_game": _total(records, "duration_game"),
            "duration_system": _total(records, "duration_system"),
            "exceptions": [
                [record["route_id"], record["index"], record["status"]]
                for record in records
                if _rank(record["status"]) == 2
            ],
        },
    }


def _rank(status: str) -> int:
    return _RANK.get(status, 2)


def _rate(records: Sequence[dict[str, Any]], key: str, km: float) -> float:
    """Return events per kilometre; for lanes the kilometres outside, which are not divided."""
    lists = [record["infractions"][key] for record in records]
    if key == "outside_route_lanes":
        return math.fsum(float(texts[0].split(" ")[8]) / 1000.0 for texts in lists if texts)
    return sum(len(texts) for texts in lists) / km


def _deviation(records: Sequence[dict[str, Any]], key: str, mean: float, total: int) -> float:
    if total <= 1:
        return 0
    squares = math.fsum((record["scores"][key] - mean) ** 2 for record in records)
    return round(math.sqrt(squares / (total - 1)), _DIGITS)


def _total(records: Sequence[dict[str, Any]], key: str) -> float:
    return round(math.fsum(record["meta"][key] for record in records), _DIGITS)


def _rounded(value: float) -> float:
    """Round to three decimals; an unknown value becomes 0, since the tools add the values."""
    return round(value, _DIGITS) if math.isfinite(value) else 0.0


Format = Literal["leaderboard", "bench2drive", "fail2drive"]
Layout = Literal["parser", "named"]
# Default protocol of each format.
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
    """Return each episode with route number and repetition, sorted; route ids if they are numbers.

    Seeds of a scenario become its repetitions. If a route id is not a number, or two scenarios
    share one, scenarios are numbered from 0.
    """
    labels = list(dict.fromkeys(scenario_of(episode) for episode in episodes))
    own = {scenario_of(episode): str(episode.detail.get("route_id", "")) for episode in episodes}
    usable = all(text.isdigit() for text in own.values()) and len(set(own.values())) == len(own)
    number = {label: int(own[label]) if usable else k for k, label in enumerate(labels)}
    counted: dict[str, int] = {}
    out = []
    for episode in sorted(
        episodes, key=lambda episode: (number[scenario_of(episode)], episode.seed or 0)
    ):
        label = scenario_of(episode)
        out.append((episode, number[label], counted.get(label, 0)))
        counted[label] = counted.get(label, 0) + 1
    return out


def _write_by_route(run: RunScore, out: Path, layout: Layout) -> list[Path]:
    split = published_split()
    if out.suffix == ".json":
        raise UsageError(f"'{out}': Fail2Drive wants a folder with one file a route.")
    odd = [
        episode.episode_id
        for episode in run.episodes
        if not str(episode.detail.get("route_id", "")).isdigit()
        or int(episode.detail["route_id"]) not in split
    ]
    if odd:
        raise UsageError(
            f"{len(odd)} episodes ({', '.join(odd[:3])}) are of no route of Fail2Drive (0 to 99 "
            "and 1000 to 1099). Use --format leaderboard or bench2drive."
        )
    paths = []
    for episode in run.episodes:
        number = int(episode.detail["route_id"])
        seed = out / str(1 if episode.seed is None else episode.seed)
        path = seed / "res" / f"{number:04d}_res.json"
        if layout == "named":
            path = seed / f"{split[number].name}.json"
        paths.append(_write(path, checkpoint_json([record_json(episode, 0, number, 0)], 1)))
    return paths


def _write(path: Path, value: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=4) + "\n", encoding="utf-8")
    return path
