"""Hand-made Leaderboard-family result files for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jaywalk.metrics.driving.results import INFRACTIONS


def record(number: int = 1, **given: Any) -> dict[str, Any]:
    """A perfect route; ``given`` replaces fields, ``infractions`` only those it names."""
    lists = {key: [] for key in INFRACTIONS} | given.pop("infractions", {})
    count = sum(len(messages) for messages in lists.values())
    made = {
        "index": 0,
        "route_id": f"RouteScenario_{number}_rep0",
        "status": "Completed" if count else "Perfect",
        "num_infractions": count,
        "infractions": lists,
        "scores": {"score_route": 100, "score_penalty": 1.0, "score_composed": 100.0},
        "meta": {"route_length": 250.0, "duration_game": 40.0, "duration_system": 80.0 + number},
    }
    return made | given


def scores(route: float, penalty: float) -> dict[str, float]:
    return {
        "score_route": route,
        "score_penalty": round(penalty, 6),
        "score_composed": round(route * penalty, 6),
    }


def write(path: Path, *records: dict[str, Any], total: int | None = None) -> Path:
    """Write records as one checkpoint file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    progress = [len(records), len(records) if total is None else total]
    checkpoint = {"global_record": {}, "progress": progress, "records": list(records)}
    path.write_text(json.dumps({"_checkpoint": checkpoint}), encoding="utf-8")
    return path


def slow(percent: float) -> str:
    return f"Average speed is {percent}% of the surrounding traffic's one"


def off_lane(percent: float, metres: float = 6.0) -> str:
    return (
        f"Agent went outside its route lanes for about {metres} meters "
        f"({percent}% of the completed route)"
    )


def hit(kind: str = "vehicle.mini.cooper", number: int = 7) -> str:
    return f"Agent collided against object with type={kind} and id={number} at (x=1, y=2, z=3)"
