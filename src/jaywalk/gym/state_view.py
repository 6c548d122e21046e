"""The observation ``state``: a flat vector of numbers between -1 and 1; layout in docs/gym.md."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.agents.perception import PERSON, VEHICLE, Seen
from jaywalk.gym.look import Look

EGO_FIELDS: Final = (
    "speed", "yaw_rate", "acceleration_along", "acceleration_right", "throttle", "brake", "steer",
    "offset", "heading", "speed_limit", "red_light", "stop_sign", "route_share",
)  # fmt: skip
THING_FIELDS: Final = (
    "ahead", "right", "cos", "sin", "velocity_ahead", "velocity_right", "half_length",
    "half_width", "kind",
)  # fmt: skip
PERSON_FIELDS: Final = ("ahead", "right", "velocity_ahead", "velocity_right", "present")
ROUTE_AHEAD_M: Final = (2.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0)
THINGS: Final = 8
PEOPLE: Final = 8
RANGE_M: Final = 60.0
SPEED_MPS: Final = 30.0

_YAW_RATE_RADPS: Final = 1.5
_PUSH_MPS2: Final = 10.0
_OFFSET_M: Final = 5.0
_WALK_MPS: Final = 5.0
_HALF_M: Final = (6.0, 2.0)
_PROP: Final = 0.5  # kind; a vehicle is 1, nobody 0

EGO_SIZE: Final = len(EGO_FIELDS)
STATE_SIZE: Final = (
    EGO_SIZE + 2 * len(ROUTE_AHEAD_M) + THINGS * len(THING_FIELDS) + PEOPLE * len(PERSON_FIELDS)
)

Vector = NDArray[np.float32]


def ego_vector(look: Look) -> Vector:
    """The ego, its place on the route and what it may do there; see ``EGO_FIELDS``."""
    own, (along, right) = look.own, look.acceleration_mps2
    front = look.along_m + own.front_m
    values = (
        own.speed_mps / SPEED_MPS, own.yaw_rate_radps / _YAW_RATE_RADPS, along / _PUSH_MPS2,
        right / _PUSH_MPS2, *look.control, look.offset_m / _OFFSET_M, look.heading_rad / np.pi,
        look.limit_mps / SPEED_MPS, _next(look.red_lines_m(), front),
        _next(look.sign_lines_m(), front), look.share,
    )  # fmt: skip
    return np.asarray(np.clip(np.array(values), -1.0, 1.0), np.float32)


def _next(places_m: list[float], front_m: float) -> float:
    """Distance to the first place ahead, as a share of the range; 1: none."""
    gaps = [place - front_m for place in places_m if place >= front_m]
    return min([*gaps, RANGE_M]) / RANGE_M


def state_vector(look: Look) -> Vector:
    """Everything: ego, route ahead, things and people, nearest first."""
    points = np.array([look.line.point_at(look.along_m + ahead) for ahead in ROUTE_AHEAD_M])
    route = look.to_ego(points) / RANGE_M
    people = look.seen.kind == PERSON
    parts = (
        route.ravel(),
        _things(look, look.seen.where(~people)).ravel(),
        _people(look, look.seen.where(people)).ravel(),
    )
    around = np.clip(np.concatenate(parts), -1.0, 1.0)
    return np.concatenate([ego_vector(look), around.astype(np.float32)])


def _things(look: Look, seen: Seen) -> NDArray[np.float64]:
    rows = np.zeros((THINGS, len(THING_FIELDS)))
    place, order = _nearest(look, seen, THINGS)
    yaw = np.arctan2(seen.sin[order], seen.cos[order]) - look.own.yaw_rad
    n = len(order)
    rows[:n, 0:2] = place / RANGE_M
    rows[:n, 2], rows[:n, 3] = np.cos(yaw), np.sin(yaw)
    rows[:n, 4:6] = look.turned(seen.velocity_mps[order]) / SPEED_MPS
    rows[:n, 6:8] = seen.half_m[order] / _HALF_M
    rows[:n, 8] = np.where(seen.kind[order] == VEHICLE, 1.0, _PROP)
    return rows


def _people(look: Look, seen: Seen) -> NDArray[np.float64]:
    rows = np.zeros((PEOPLE, len(PERSON_FIELDS)))
    place, order = _nearest(look, seen, PEOPLE)
    n = len(order)
    rows[:n, 0:2] = place / RANGE_M
    rows[:n, 2:4] = look.turned(seen.velocity_mps[order]) / _WALK_MPS
    rows[:n, 4] = 1.0
    return rows


def _nearest(
    look: Look, seen: Seen, most: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:  # fmt: skip
    """Places from the ego and rows of the nearest within the range."""
    place = look.to_ego(seen.xy_m)
    gap = np.hypot(place[:, 0], place[:, 1])
    order = np.argsort(gap, kind="stable")[:most]
    order = order[gap[order] < RANGE_M]
    return place[order], order
