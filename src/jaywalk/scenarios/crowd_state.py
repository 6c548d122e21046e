"""The crowd as arrays, one row a person; who the people are, and settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

PATH_POINTS: Final = 320  # half a metre apart
PATH_STEP_M: Final = 0.5

# What somebody does.
STANDING, WALKING, WAITING, CROSSING, DOWN, RELEASED = 0, 1, 2, 3, 4, 5
# Why somebody needs a new plan.
NOTHING, RESTED, ARRIVED, STUCK, GAVE_UP = 0, 1, 2, 3, 4

# Intended classes.
NOT_CROSSING, ATTEMPTING, WILL_CROSS = "not_crossing", "attempting", "crossing"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdSettings:
    """Who is about and how they behave."""

    not_crossing: float = 0.5  # shares of the intended classes; the rest crosses
    attempting: float = 0.15
    jaywalking: float = 0.25  # share of crossings away from crosswalks where there are any
    children: float = 0.12
    obeying: float = 0.9  # share who wait for the light
    band_m: float = 30.0  # people live within this distance of the route
    side: str = "both"  # of the route that people start on: "left", "right" or "both"
    pause: float = 0.35  # share of arrivals that end in a pause
    pause_s: tuple[float, float] = (2.0, 12.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """One person as drawn before the first tick."""

    number: int
    actor_id: int
    blueprint: str
    age: str  # of the blueprint: "child", "adult", "elderly"; "" where it does not say
    gender: str
    intended: str  # "not_crossing", "attempting" or "crossing"
    side: str  # of the route they start on: "left" or "right"; "" without a route
    place: str  # kind of the place they start at
    speed_mps: float


class People(NamedTuple):
    """Rows of the people we lead. Distances along a path start at its first point."""

    # From the world, every tick.
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    z: NDArray[np.float64]
    # Constant.
    half_height: NDArray[np.float64]
    speed: NDArray[np.float64]  # that they like
    margin: NDArray[np.float64]  # seconds they want between themselves and a car
    patience: NDArray[np.float64]  # seconds they wait for a gap
    obeys: NDArray[np.int64]  # 1: waits for the light
    # The path.
    path: NDArray[np.float64]  # (n, PATH_POINTS, 2)
    path_count: NDArray[np.int64]
    cross_from: NDArray[np.float64]  # along the path; inf: no crossing
    cross_to: NDArray[np.float64]
    cross_ref: NDArray[np.int64]  # row of the crossings; -1: none
    # Memory.
    state: NDArray[np.int64]
    at: NDArray[np.int64]  # point of the path passed last
    along: NDArray[np.float64]
    timer: NDArray[np.float64]  # seconds left to stand
    waited: NDArray[np.float64]  # seconds at the kerb
    blocked: NDArray[np.float64]  # seconds in which somebody or something was in the way
    need: NDArray[np.int64]  # why a new plan is needed
    # Out.
    heading: NDArray[np.float64]
    pace: NDArray[np.float64]  # speed now
    sent_heading: NDArray[np.float64]
    sent_pace: NDArray[np.float64]
    changed: NDArray[np.bool_]


class Seen(NamedTuple):
    """What people see besides each other."""

    vehicle: NDArray[np.float64]  # (k, 8): x, y, cos, sin, half length, half width, vx, vy
    thing: NDArray[np.float64]  # (m, 6) props
    stranger: NDArray[np.float64]  # (j, 4) people we do not lead: x, y, vx, vy
    red_s: NDArray[np.float64]  # per light: for how long it has been red, -1: it is not
    red_length_s: NDArray[np.float64]  # how long its last red phase took


def make_people(count: int) -> People:
    """Rows for ``count`` people, all standing."""
    whole = {"obeys", "path_count", "cross_ref", "state", "at", "need"}
    rows: dict[str, NDArray[Any]] = {}
    for name in People._fields:
        shape = (count, PATH_POINTS, 2) if name == "path" else (count,)
        kind: Any = np.int64 if name in whole else np.float64
        rows[name] = np.zeros(shape, np.bool_ if name == "changed" else kind)
    rows["cross_from"] += np.inf
    rows["cross_ref"] -= 1
    return People(**rows)
