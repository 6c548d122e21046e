"""The state of background traffic as arrays, one row a vehicle, and its settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

PATH_POINTS: Final = 224
FEATURES: Final = 12
HELD: Final = 24

# Kinds of features on a path.
NOTHING, LIGHT, JUNCTION, CROSSWALK = 0, 1, 2, 3
# States of a light as the API numbers them.
RED, YELLOW, GREEN, OFF = 0, 1, 2, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverSettings:
    """How background drivers drive; the defaults are those of a calm urban driver."""

    acceleration_mps2: float = 1.6
    comfortable_braking_mps2: float = 2.2
    headway_s: float = 1.3
    standstill_gap_m: float = 2.2
    lateral_acceleration_mps2: float = 2.0
    speed_factor: tuple[float, float] = (0.85, 1.0)  # of the limit, drawn per driver
    stop_wait_s: float = 1.0  # at a stop sign
    patience_s: float = 25.0  # after which a waiting driver no longer lets others go first


class Fleet(NamedTuple):
    """Rows of the vehicles we drive. Distances along a path start at its first point."""

    # From the world, every tick.
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    yaw: NDArray[np.float64]
    speed: NDArray[np.float64]
    # Constant.
    half_length: NDArray[np.float64]
    half_width: NDArray[np.float64]
    centre: NDArray[np.float64]  # of the box, ahead of the origin
    factor: NDArray[np.float64]
    # The path ahead.
    path: NDArray[np.float64]  # (n, PATH_POINTS, 4): x, y, along, allowed speed
    path_count: NDArray[np.int64]
    feature_kind: NDArray[np.int64]  # (n, FEATURES)
    feature_from: NDArray[np.float64]
    feature_to: NDArray[np.float64]
    feature_ref: NDArray[np.int64]  # light, crosswalk, or class of priority
    feature_sign: NDArray[np.int64]  # of a junction: 0 none, 1 yield, 2 stop
    held: NDArray[np.int64]  # (n, HELD) segments of the next junctions, -1: none
    held_from: NDArray[np.float64]  # where each begins on the path
    held_to: NDArray[np.float64]
    # Memory.
    at: NDArray[np.int64]  # point of the path passed last
    along: NDArray[np.float64]
    asked: NDArray[np.int64]  # first segment of the junction it comes to or is in, -1: none
    granted: NDArray[np.int64]  # 1: may pass that junction
    arrived: NDArray[np.int64]  # tick of arrival at the next junction, -1: not yet
    stopped: NDArray[np.float64]  # seconds stood at the stop line
    pedal: NDArray[np.float64]  # integral part of the pedal
    last_speed: NDArray[np.float64]
    cap: NDArray[np.float64]  # speed cap from outside (scenarios); inf: none
    # Out.
    acceleration: NDArray[np.float64]
    throttle: NDArray[np.float64]
    brake: NDArray[np.float64]
    steer: NDArray[np.float64]
    hit_along: NDArray[np.float64]  # where the nearest thing on the path is; inf: nothing
    hit_speed: NDArray[np.float64]


class Others(NamedTuple):
    """Everything on the road: boxes of all vehicles and props, and people."""

    box: NDArray[np.float64]  # (k, 8): x, y, cos, sin, half length, half width, vx, vy
    owner: NDArray[np.int64]  # row in the fleet, -1: not ours
    person: NDArray[np.float64]  # (p, 5): x, y, vx, vy, radius
    person_crosswalk: NDArray[np.bool_]  # (p, c) on or about to step on each crosswalk


def make_fleet(count: int) -> Fleet:
    """Rows for ``count`` vehicles, all zero."""
    shapes: dict[str, tuple[int, ...]] = {
        "path": (count, PATH_POINTS, 4),
        **dict.fromkeys(
            ("feature_kind", "feature_from", "feature_to", "feature_ref", "feature_sign"),
            (count, FEATURES),
        ),
        **dict.fromkeys(("held", "held_from", "held_to"), (count, HELD)),
    }
    whole = {"path_count", "feature_kind", "feature_ref", "feature_sign", "held", "at", "asked",
             "granted", "arrived"}  # fmt: skip
    rows: dict[str, NDArray[Any]] = {
        name: np.zeros(shapes.get(name, (count,)), np.int64 if name in whole else np.float64)
        for name in Fleet._fields
    }
    rows["held"] -= 1
    rows["asked"] -= 1
    rows["arrived"] -= 1
    rows["cap"] += np.inf
    return Fleet(**rows)
