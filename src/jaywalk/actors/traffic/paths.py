"""State and settings of background traffic, one row per vehicle, and the paths of its vehicles.

The path of a vehicle consists of the lanes it will take, with lights, signs, crosswalks and
junctions on them as features.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.lane_network import LaneNetwork
from jaywalk.core.arrays import FloatArray
from jaywalk.core.carla_enums import LightState
from jaywalk.core.kernels import kernel
from jaywalk.geometry.angle import wrap_angle

PATH_POINTS: Final = 224
FEATURES: Final = 12
HELD: Final = 24
# Kinds of features on a path.
NOTHING, LIGHT, JUNCTION, CROSSWALK = 0, 1, 2, 3
# States of a light as the API numbers them.
RED: Final = int(LightState.RED)
YELLOW: Final = int(LightState.YELLOW)
GREEN: Final = int(LightState.GREEN)
OFF: Final = int(LightState.OFF)


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverSettings:
    """Driving style of background vehicles; the defaults describe a calm urban driver."""

    acceleration_mps2: float = 1.6
    comfortable_braking_mps2: float = 2.2
    headway_s: float = 1.3
    standstill_gap_m: float = 2.2
    lateral_acceleration_mps2: float = 2.0
    speed_factor: tuple[float, float] = (0.85, 1.0)  # of the limit, drawn per driver
    stop_wait_s: float = 1.0  # at a stop sign
    patience_s: float = 25.0  # after which a waiting driver no longer lets others go first


class Fleet(NamedTuple):
    """Rows of the fleet's vehicles; distances along a path start at its first point."""

    # From the world, every tick.
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    yaw: NDArray[np.float64]
    speed: NDArray[np.float64]
    # Constant.
    half_length: NDArray[np.float64]
    half_width: NDArray[np.float64]
    centre: NDArray[np.float64]  # centre of the box, ahead of the origin
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
    # State kept between ticks.
    at: NDArray[np.int64]  # last path point that was passed
    along: NDArray[np.float64]
    asked: NDArray[np.int64]  # first segment of the next or present junction, -1: none
    granted: NDArray[np.int64]  # 1: may pass that junction
    arrived: NDArray[np.int64]  # tick of arrival at the next junction, -1: not yet
    stopped: NDArray[np.float64]  # seconds of standing at the stop line
    pedal: NDArray[np.float64]  # integral part of the pedal
    last_speed: NDArray[np.float64]
    cap: NDArray[np.float64]  # speed cap from outside (scenarios); inf: none
    # Output.
    acceleration: NDArray[np.float64]
    throttle: NDArray[np.float64]
    brake: NDArray[np.float64]
    steer: NDArray[np.float64]
    hit_along: NDArray[np.float64]  # distance along the path of the nearest obstacle; inf: none
    hit_speed: NDArray[np.float64]


class Others(NamedTuple):
    """All solid objects on the road: boxes of vehicles and props, and people."""

    box: NDArray[np.float64]  # (k, 8): x, y, cos, sin, half length, half width, vx, vy
    owner: NDArray[np.int64]  # row in the fleet; -1: not in the fleet
    person: NDArray[np.float64]  # (p, 5): x, y, vx, vy, radius
    person_crosswalk: NDArray[np.bool_]  # (p, c) on or about to step on each crosswalk


def make_fleet(count: int) -> Fleet:
    """Return rows for ``count`` vehicles, all zero."""
    shapes: dict[str, tuple[int, ...]] = {
        "path": (count, PATH_POINTS, 4),
        **dict.fromkeys(
            ("feature_kind", "feature_from", "feature_to", "feature_ref", "feature_sign"),
            (count, FEATURES),
        ),
        **dict.fromkeys(("held", "held_from", "held_to"), (count, HELD)),
    }
    whole = {
        "path_count",
        "feature_kind",
        "feature_ref",
        "feature_sign",
        "held",
        "at",
        "asked",
        "granted",
        "arrived",
    }
    rows: dict[str, NDArray[Any]] = {
        name: np.zeros(shapes.get(name, (count,)), np.int64 if name in whole else np.float64)
        for name in Fleet._fields
    }
    rows["held"] -= 1
    rows["asked"] -= 1
    rows["arrived"] -= 1
    rows["cap"] += np.inf
    return Fleet(**rows)


_AHEAD_M: Final = 110.0  # length of path kept ahead of the present segment
_LEFT_RAD: Final = -0.6


@dataclass(slots=True)
class Journey:
    """Lanes of one vehicle, starting with the present one, and its random stream."""

    random: np.random.Generator
    segments: list[int] = field(default_factory=list)
    cuts: FloatArray = field(default_factory=lambda: np.zeros(1))  # start of each segment

    def extend(self, network: LaneNetwork, closed: frozenset[int] = frozenset()) -> None:
        """Choose lanes until the path is long enough; closed ones only without an alternative."""
        room = PATH_POINTS - 8
        while True:
            ahead = float(sum(network.length_m[s] for s in self.segments[1:]))
            count = sum(_points_in(network, s) for s in self.segments)
            choice = network.successors[self.segments[-1]]
            # A path never ends inside a junction: to enter, its exit must be known.
            settled = not network.in_junction[self.segments[-1]]
            if not choice or (ahead > _AHEAD_M and settled) or (count > room and settled):
                return
            choice = [segment for segment in choice if segment not in closed] or choice
            self.segments.append(int(choice[int(self.random.integers(len(choice)))]))


def _points_in(network: LaneNetwork, segment: int) -> int:
    return int(network.starts[segment + 1] - network.starts[segment])


def write_path(
    fleet: Fleet, row: int, journey: Journey, network: LaneNetwork, lateral_mps2: float
) -> None:
    """Write the path and the features of one vehicle from its lanes."""
    pieces, limits, cuts = [], [], []
    along = 0.0
    for segment in journey.segments:
        low, high = int(network.starts[segment]), int(network.starts[segment + 1])
        piece = network.points[low : high - 1]
        cuts.append(along)
        pieces.append(np.column_stack([piece[:, :2], piece[:, 4] + along]))
        limits.append(network.limit_mps[low : high - 1])
        along += float(network.length_m[segment])
    end = network.points[int(network.starts[journey.segments[-1] + 1]) - 1]
    pieces.append(np.array([[end[0], end[1], along]]))
    limits.append(limits[-1][-1:])
    journey.cuts = np.array([*cuts, along])
    path, limit = np.concatenate(pieces)[:PATH_POINTS], np.concatenate(limits)[:PATH_POINTS]
    count = len(path)
    fleet.path[row, :count, :3] = path
    fleet.path[row, :count, 3] = np.minimum(limit, _bend_speed(path, lateral_mps2))
    fleet.path_count[row] = count
    _write_features(fleet, row, journey, network)


@kernel
def _bend_speed(path: NDArray[np.float64], lateral_mps2: float) -> NDArray[np.float64]:
    """Speed at which a bend is comfortable, from the turn over about six metres."""
    count = path.shape[0]
    result = np.full(count, 60.0)
    for k in range(count):
        a, b = max(k - 3, 0), min(k + 3, count - 1)
        if b - a < 4:
            continue
        m = (a + b) // 2
        ux, uy = path[m, 0] - path[a, 0], path[m, 1] - path[a, 1]
        vx, vy = path[b, 0] - path[m, 0], path[b, 1] - path[m, 1]
        turn = abs(np.arctan2(ux * vy - uy * vx, ux * vx + uy * vy))
        arc = 0.5 * (np.hypot(ux, uy) + np.hypot(vx, vy))
        curvature = turn / max(arc, 1e-3)
        if curvature > 1e-4:
            result[k] = max(np.sqrt(lateral_mps2 / curvature), 2.5)
    return result


def _write_features(fleet: Fleet, row: int, journey: Journey, network: LaneNetwork) -> None:
    features: list[tuple[float, float, int, int, int]] = []
    passage: list[int] = []  # positions of the segments of junctions
    position, count = 0, len(journey.segments)
    while position < count:
        segment, start = journey.segments[position], float(journey.cuts[position])
        features += [
            (start + low, start + high, CROSSWALK, number, 0)
            for low, high, number in network.crossings[segment]
        ]
        if network.light[segment] >= 0:
            line = start + float(network.light_at_m[segment])
            features.append(
                (line, float(journey.cuts[position + 1]), LIGHT, int(network.light[segment]), 0)
            )
        if network.in_junction[segment]:
            last = position
            while last + 1 < count and network.in_junction[journey.segments[last + 1]]:
                last += 1
                begin = float(journey.cuts[last])
                features += [
                    (begin + low, begin + high, CROSSWALK, number, 0)
                    for low, high, number in network.crossings[journey.segments[last]]
                ]
            passage += range(position, last + 1)
            sign = int(network.sign[journey.segments[position - 1]]) if position else 0
            order = 2 * (sign > 0) + _turns_left(network, journey.segments[position : last + 1])
            features.append((start, float(journey.cuts[last + 1]), JUNCTION, order, sign))
            position = last
        position += 1
    features = sorted(features)[:FEATURES]
    fleet.feature_kind[row] = 0
    for number, (low, high, kind, ref, sign) in enumerate(features):
        fleet.feature_from[row, number], fleet.feature_to[row, number] = low, high
        fleet.feature_kind[row, number] = kind
        fleet.feature_ref[row, number], fleet.feature_sign[row, number] = ref, sign
    fleet.held[row] = -1
    for number, at in enumerate(passage[:HELD]):
        fleet.held[row, number] = journey.segments[at]
        fleet.held_from[row, number] = journey.cuts[at]
        fleet.held_to[row, number] = journey.cuts[at + 1]


def _turns_left(network: LaneNetwork, segments: list[int]) -> int:
    first = network.points[int(network.starts[segments[0]]), 3]
    last = network.points[int(network.starts[segments[-1] + 1]) - 1, 3]
    return int(wrap_angle(last - first) < _LEFT_RAD)
