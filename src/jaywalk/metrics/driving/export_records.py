"""Records and summaries as the Leaderboard family writes them, from scores of our own records."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from jaywalk.metrics.driving.ending import SENSORS_INVALID
from jaywalk.metrics.driving.results import INFRACTIONS
from jaywalk.metrics.driving.scorecard import EpisodeScore

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
    """What Bench2Drive adds to a record; its number of the weather is not known to us."""
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
    rejected = any(one.get("status") == f"Failed - {SENSORS_INVALID}" for one in records)
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
    """The summary of all routes: means over the announced ones, events a kilometre."""
    means = {
        key: round(math.fsum(one["scores"][key] for one in records) / total, _SCORE_DIGITS)
        for key in _SCORES
    }
    driven = (r["meta"]["route_length"] * r["scores"]["score_route"] / 1e5 for r in records)
    km = max(_LEAST_KM, math.fsum(driven))
    worst = max((_rank(one["status"]) for one in records), default=2)
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
                [one["route_id"], one["index"], one["status"]]
                for one in records
                if _rank(one["status"]) == 2
            ],
        },
    }


def _rank(status: str) -> int:
    return _RANK.get(status, 2)


def _rate(records: Sequence[dict[str, Any]], key: str, km: float) -> float:
    """Events a kilometre; of lanes the kilometres outside, which are not divided."""
    lists = [one["infractions"][key] for one in records]
    if key == "outside_route_lanes":
        return math.fsum(float(texts[0].split(" ")[8]) / 1000.0 for texts in lists if texts)
    return sum(len(texts) for texts in lists) / km


def _deviation(records: Sequence[dict[str, Any]], key: str, mean: float, total: int) -> float:
    if total <= 1:
        return 0
    squares = math.fsum((one["scores"][key] - mean) ** 2 for one in records)
    return round(math.sqrt(squares / (total - 1)), _DIGITS)


def _total(records: Sequence[dict[str, Any]], key: str) -> float:
    return round(math.fsum(one["meta"][key] for one in records), _DIGITS)


def _rounded(value: float) -> float:
    """Three decimals; what is not known is written as 0, for the tools do sums with it."""
    return round(value, _DIGITS) if math.isfinite(value) else 0.0
