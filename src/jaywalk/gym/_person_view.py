"""One person's view as a vector, and an action of a learner as an answer.

Frame: ahead along the person's way, and right of it. See docs/reference/gym.md.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk_agent import PersonAct, PersonView
from jaywalk_agent.people import AT_KERB, NEAR_M, NEIGHBOURS, OBSTACLES, ON_ROAD, ROAD, VEHICLES

OWN_FIELDS: Final = (
    "velocity_ahead",
    "velocity_right",
    "body_cos",
    "body_sin",
    "on_sidewalk",
    "on_crosswalk",
    "on_verge",
    "on_lane",
    "at_kerb",
    "on_road",
    "left",
    "kerb",
    "onto",
    "crosswalk",
    "may_go",
    "waited",
    "startled",
    "goal_ahead",
    "goal_right",
)
VEHICLE_FIELDS: Final = (
    "present",
    "ahead",
    "right",
    "velocity_ahead",
    "velocity_right",
    "cos",
    "sin",
    "half_length",
    "half_width",
    "acceleration",
    "age",
)
NEIGHBOUR_FIELDS: Final = ("present", "ahead", "right", "velocity_ahead", "velocity_right")
OBSTACLE_FIELDS: Final = ("present", "ahead", "right", "cos", "sin", "half_length", "half_width")
PERSON_STATE_SIZE: Final = (
    len(OWN_FIELDS)
    + VEHICLES * len(VEHICLE_FIELDS)
    + NEIGHBOURS * len(NEIGHBOUR_FIELDS)
    + OBSTACLES * len(OBSTACLE_FIELDS)
)
WALK_MPS: Final = 4.0  # velocities of people are divided by this; also the fastest action
GAZE_RAD: Final = np.deg2rad(110.0)

_DRIVE_MPS: Final = 20.0
_FAR_M: Final = 60.0
_WAY_M: Final = 20.0
_HALF_M: Final = (6.0, 2.0)
_PUSH_MPS2: Final = 10.0
_AGE_S: Final = 4.0
_WAIT_S: Final = 30.0
_GAZE_M: Final = 10.0

Vector = NDArray[np.float32]


def person_vector(seen: PersonView, row: int, goal_m: FloatArray) -> Vector:
    """Return the view of one person as numbers between -1 and 1."""
    turned = _Frame(seen, row)
    parts = (
        _own(seen, row, turned, goal_m),
        _vehicles(seen, row, turned).ravel(),
        _neighbours(seen, row, turned).ravel(),
        _obstacles(seen, row, turned).ravel(),
    )
    return np.asarray(np.clip(np.concatenate(parts), -1.0, 1.0), np.float32)


class _Frame:
    """Place and way of one person."""

    def __init__(self, seen: PersonView, row: int) -> None:
        self._place = seen.position_m[row]
        cos, sin = seen.onward[row]
        self._rotation = np.array([[cos, -sin], [sin, cos]])

    def vector(self, values: FloatArray) -> FloatArray:
        """Return world vectors as components ahead and right."""
        return np.asarray(values @ self._rotation)

    def place(self, points_m: FloatArray) -> FloatArray:
        """Return world points relative to the person."""
        return self.vector(points_m - self._place)

    def world(self, vector: FloatArray) -> FloatArray:
        """Return a vector (ahead, right) in the world."""
        return np.asarray(self._rotation @ vector)


def _own(seen: PersonView, row: int, turned: _Frame, goal_m: FloatArray) -> FloatArray:
    yaw = float(seen.yaw_rad[row])
    body = turned.vector(np.array([np.cos(yaw), np.sin(yaw)]))
    surface = np.arange(1, ROAD + 1) == seen.surface[row]
    place = np.array([AT_KERB, ON_ROAD]) == seen.place[row]
    ways = [min(float(v[row]), _WAY_M) / _WAY_M for v in (seen.left_m, seen.kerb_m, seen.onto_m)]
    flags = (seen.painted[row], seen.may_go[row])
    waited = (float(seen.waited_s[row]) / _WAIT_S, float(seen.startled[row]))
    goal = turned.place(goal_m) / _FAR_M
    velocity = turned.vector(seen.velocity_mps[row]) / WALK_MPS
    return np.concatenate([velocity, body, surface, place, ways, flags, waited, goal])


def _vehicles(seen: PersonView, row: int, turned: _Frame) -> FloatArray:
    """Remembered vehicles where they are expected now, nearest first."""
    known = np.flatnonzero(seen.vehicle_id[row])
    place = turned.place(seen.vehicle_now_m[row, known])
    order = np.argsort(np.hypot(place[:, 0], place[:, 1]), kind="stable")
    k = known[order]
    out = np.zeros((VEHICLES, len(VEHICLE_FIELDS)))
    rows = out[: len(k)]
    rows[:, 0] = 1.0
    rows[:, 1:3] = place[order] / _FAR_M
    rows[:, 3:5] = turned.vector(seen.vehicle_mps[row, k]) / _DRIVE_MPS
    rows[:, 5:7] = turned.vector(seen.vehicle_heading[row, k])
    rows[:, 7:9] = seen.vehicle_half_m[row, k] / _HALF_M
    rows[:, 9] = seen.vehicle_mps2[row, k] / _PUSH_MPS2
    rows[:, 10] = seen.vehicle_age_s[row, k] / _AGE_S
    return out


def _neighbours(seen: PersonView, row: int, turned: _Frame) -> FloatArray:
    out = np.zeros((NEIGHBOURS, len(NEIGHBOUR_FIELDS)))
    count = int(seen.person_count[row])
    out[:count, 0] = 1.0
    out[:count, 1:3] = turned.place(seen.person_m[row, :count]) / NEAR_M
    out[:count, 3:5] = turned.vector(seen.person_mps[row, :count]) / WALK_MPS
    return out


def _obstacles(seen: PersonView, row: int, turned: _Frame) -> FloatArray:
    out = np.zeros((OBSTACLES, len(OBSTACLE_FIELDS)))
    count = int(seen.obstacle_count[row])
    boxes = seen.obstacle[row, :count]
    out[:count, 0] = 1.0
    out[:count, 1:3] = turned.place(boxes[:, :2]) / NEAR_M
    out[:count, 3:5] = turned.vector(boxes[:, 2:4])
    out[:count, 5:7] = boxes[:, 4:6] / _HALF_M
    return out


class LearnersPolicy:
    """Policy of one person whose actions come from outside; the others do not ask it.

    Attributes:
        row: Row of the person.
        action: Velocity ahead and right and the gaze, as shares; None: walk on along the way.
        seen: View of the last call; None before the person sets off.
    """

    def __init__(self, row: int) -> None:
        self.row = row
        self.action: FloatArray | None = None
        self.seen: PersonView | None = None
        self._walk_mps = 0.0

    def reset(self, who: Any, goal_m: FloatArray, rng: np.random.Generator) -> None:
        """Note the person's usual speed."""
        self._walk_mps = float(who.free_mps[self.row])

    def act(self, seen: PersonView) -> PersonAct:
        """Return the action as an answer."""
        self.seen = seen
        count, row = len(seen.active), self.row
        velocity, gaze = np.zeros((count, 2)), np.full((count, 2), np.nan)
        if self.action is None:
            velocity[row] = self._walk_mps * seen.onward[row]
        else:
            wanted = _Frame(seen, row).world(WALK_MPS * self.action[:2])
            velocity[row] = wanted / max(float(np.hypot(*self.action[:2])), 1.0)
            bearing = float(seen.yaw_rad[row]) + GAZE_RAD * float(self.action[2])
            aim = np.array([np.cos(bearing), np.sin(bearing)])
            gaze[row] = seen.position_m[row] + _GAZE_M * aim
        return PersonAct(velocity, gaze, run=np.ones(count, np.bool_))
