"""Scenario vehicles: each follows its path exactly at a commanded speed.

Speed is set as a velocity and steering as a control, so a vehicle arrives at the intended time on
any server. A vehicle that was hit is left to the physics and brakes.

A kernel locates a vehicle on its path, steers it and finds obstacles ahead; ``Pilot`` holds the
state of one vehicle and ``Pilots`` drives all of them on each tick.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.actors._surroundings import Surroundings
from jaywalk.actors.lane_paths import LanePath
from jaywalk.core.arrays import FloatArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.pose import yaw_rad

_SIDE_M: Final = 0.3  # clearance beside the car
_PERSON_SIDE_M: Final = 0.5
_CURVATURE_PER_STEER: Final = 0.78  # times 1 / wheel base; as background traffic steers
_STRIDE: Final = 4
_WINDOW: Final = 14  # points searched ahead for the present position


@kernel
def _project(
    line: FloatArray, arc: FloatArray, first: int, last: int, x: float, y: float
) -> tuple[int, float, float]:
    """Return number, distance along and distance away of a range's nearest segment of the line."""
    best, where, along = np.inf, first, arc[first]
    for k in range(first, last):
        dx, dy = line[k + 1, 0] - line[k, 0], line[k + 1, 1] - line[k, 1]
        length2 = max(dx * dx + dy * dy, 1e-9)
        u = min(max(((x - line[k, 0]) * dx + (y - line[k, 1]) * dy) / length2, 0.0), 1.0)
        gap = (x - line[k, 0] - u * dx) ** 2 + (y - line[k, 1] - u * dy) ** 2
        if gap < best - 1e-9:
            best, where = gap, k
            along = arc[k] + u * (arc[k + 1] - arc[k])
    return where, along, np.sqrt(best)


@kernel
def _is_off(
    line: FloatArray, arc: FloatArray, first: int, last: int, x: float, y: float, wide_m: float
) -> bool:
    """Return True only if a point is farther than ``wide_m`` from a range of the line; fast."""
    k = first
    while True:
        following = min(k + _STRIDE, last)
        far = wide_m + arc[following] - arc[k]
        dx, dy = x - line[k, 0], y - line[k, 1]
        if dx * dx + dy * dy < far * far:
            return False
        if k == last:
            return True
        k = following


@kernel
def follow(
    line: FloatArray,
    arc: FloatArray,
    at: int,
    pose: NDArray[np.float64],
    body: NDArray[np.float64],
    reach_m: float,
    boxes: NDArray[np.float64],
    people: NDArray[np.float64],
    out: NDArray[np.float64],
) -> int:
    """Locate a vehicle on its path, steer it and find the first obstacle ahead.

    Args:
        line: (n, 2 or more) vertices of the path.
        arc: (n,) distances along it.
        at: Last known segment of the vehicle.
        pose: x, y, yaw, speed.
        body: Half length, half width, centre of the box ahead of the origin.
        reach_m: Look-ahead distance.
        boxes: (k, 8) solid objects, the vehicle itself included.
        people: (p, 5).
        out: Along, steer, gap to the first obstacle, that obstacle's speed along the path,
            distance from the path.

    Returns:
        The present segment of the vehicle.
    """
    x, y, yaw, speed = pose[0], pose[1], pose[2], pose[3]
    last = len(line) - 1
    now, along, away = _project(line, arc, max(at - 2, 0), min(at + _WINDOW, last), x, y)
    out[0], out[4] = along, away
    out[1] = _steer(line, arc, now, along, x, y, yaw, speed, 1.2 * body[0])
    front = along + body[2] + body[0]
    stop = now
    while stop < last and arc[stop] < front + reach_m:
        stop += 1
    out[2], out[3] = np.inf, 0.0
    cos, sin = np.cos(yaw), np.sin(yaw)
    for j in range(len(boxes)):
        box = boxes[j]
        dx, dy = box[0] - x, box[1] - y
        ahead, side = dx * cos + dy * sin, -dx * sin + dy * cos
        if abs(ahead - body[2]) < body[0] and abs(side) < body[1]:
            continue  # itself
        near = reach_m + body[0] + box[4] + 3.0
        if dx * dx + dy * dy > near * near:
            continue
        wide = body[1] + _SIDE_M + np.hypot(box[4], box[5])
        if _is_off(line, arc, now, stop, box[0], box[1], wide):
            continue
        for a in range(5):
            for b in range(3):
                u, v = (0.5 * a - 1.0) * box[4], (b - 1.0) * box[5]
                px = box[0] + u * box[2] - v * box[3]
                py = box[1] + u * box[3] + v * box[2]
                where, place, gap = _project(line, arc, now, stop, px, py)
                if gap < body[1] + _SIDE_M and place > front - body[0]:
                    room = place - front
                    if room < out[2]:
                        out[2], out[3] = room, _along_speed(line, where, box[6], box[7])
    for j in range(len(people)):
        wide = body[1] + people[j, 4] + _PERSON_SIDE_M
        if _is_off(line, arc, now, stop, people[j, 0], people[j, 1], wide):
            continue
        where, place, gap = _project(line, arc, now, stop, people[j, 0], people[j, 1])
        if gap < wide and place > front - body[0]:
            room = place - front - people[j, 4]
            if room < out[2]:
                out[2], out[3] = room, max(_along_speed(line, where, people[j, 2], people[j, 3]), 0)
    return now


@kernel
def _along_speed(line: NDArray[np.float64], k: int, vx: float, vy: float) -> float:
    dx, dy = line[k + 1, 0] - line[k, 0], line[k + 1, 1] - line[k, 1]
    return float((vx * dx + vy * dy) / max(np.hypot(dx, dy), 1e-6))


@kernel
def _steer(
    line: FloatArray,
    arc: FloatArray,
    now: int,
    along: float,
    x: float,
    y: float,
    yaw: float,
    speed: float,
    base: float,
) -> float:
    """Pure pursuit from the middle of the rear axle."""
    cos, sin = np.cos(yaw), np.sin(yaw)
    rx, ry = x - 0.5 * base * cos, y - 0.5 * base * sin
    aim = along + 0.5 + min(max(2.2 + 0.35 * speed, 3.0), 12.0) - 0.5 * base
    k = now
    while k < len(line) - 2 and arc[k + 1] < aim:
        k += 1
    u = max((aim - arc[k]) / max(arc[k + 1] - arc[k], 1e-6), 0.0)
    tx = line[k, 0] + u * (line[k + 1, 0] - line[k, 0]) - rx
    ty = line[k, 1] + u * (line[k + 1, 1] - line[k, 1]) - ry
    ahead, left = tx * cos + ty * sin, -tx * sin + ty * cos
    curvature = 2.0 * left / max(ahead * ahead + left * left, 1.0)
    return float(min(max(curvature * base / _CURVATURE_PER_STEER, -1.0), 1.0))


_HEADWAY_S: Final = 1.2
_STANDSTILL_M: Final = 2.5
_COMFORT_MPS2: Final = 3.0
_EMERGENCY_MPS2: Final = 7.5
_KNOCKED_MPS: Final = 2.5  # slower than commanded by this much: the vehicle was hit
_REACH_S: Final = 4.0
WRECK_S: Final = 5.0  # a vehicle that was hit is removed after this time
_RISE_MPS: Final = 0.4  # largest vertical speed; with more, a car lifts off the road on a climb
_THROTTLE: Final = 0.3  # keeps the wheels turning; the velocity decides


@dataclass(slots=True, kw_only=True)
class Pilot:
    """One scenario vehicle with its path and commands."""

    actor_id: int
    path: LanePath
    speed_mps: float  # wanted
    acceleration_mps2: float = 2.5
    heeds: bool = True  # brakes for obstacles
    full_brake: bool = False  # brakes as hard as possible
    command_mps: float = 0.0  # commanded at the last tick
    along_m: float = 0.0
    knocked: bool = False
    knocked_s: float = 0.0  # time since it was hit
    gone: bool = False
    seen: bool = False
    _at: int = 0
    _body: FloatArray = field(default_factory=lambda: np.array([2.3, 1.0, 0.0]))

    def measure(self, actor: carla.Actor) -> None:
        """Read the size from the actor."""
        box = actor.bounding_box
        self._body = np.array([box.extent.x, box.extent.y, box.location.x])

    def place(self, along_m: float) -> None:
        """Start at a distance along the path."""
        self.along_m = along_m
        self._at = int(np.searchsorted(self.path.arc_m[:-1], along_m, side="right")) - 1
        self._at = max(self._at, 0)

    def decide(
        self, state: Any, boxes: FloatArray, people: FloatArray, delta_s: float
    ) -> tuple[float, float]:
        """Return speed and steering for this tick."""
        pose, velocity = state.get_transform(), state.get_velocity()
        speed = math.hypot(velocity.x, velocity.y)
        out = np.empty(5)
        reach = 8.0 + _REACH_S * self.command_mps if self.heeds else 0.0
        here = np.array([pose.location.x, pose.location.y, yaw_rad(pose), speed])
        self._at = follow(
            self.path.points_m,
            self.path.arc_m,
            self._at,
            here,
            self._body,
            reach,
            boxes if self.heeds else _NO_BOXES,
            people if self.heeds else _NO_PEOPLE,
            out,
        )
        self.along_m = float(out[0])
        if self.full_brake:
            self.command_mps = speed
            return speed, float(out[1])
        if self.seen and self.command_mps - speed > max(_KNOCKED_MPS, 0.25 * self.command_mps):
            self.knocked = True
        self.seen = True
        pull = self._pull(float(out[2]), float(out[3]))
        self.command_mps = max(self.command_mps + pull * delta_s, 0.0)
        return self.command_mps, float(out[1])

    def _pull(self, gap_m: float, lead_mps: float) -> float:
        speed, wanted = self.command_mps, self.speed_mps
        change = wanted - speed
        free = min(max(4.0 * change, -_COMFORT_MPS2), self.acceleration_mps2)
        if not math.isfinite(gap_m):
            return free
        if gap_m < 0.5:
            return -_EMERGENCY_MPS2
        closing = speed - lead_mps
        desired = _STANDSTILL_M + max(
            speed * _HEADWAY_S
            + speed * closing / (2.0 * math.sqrt(self.acceleration_mps2 * _COMFORT_MPS2)),
            0.0,
        )
        pull = self.acceleration_mps2 * (
            1.0 - (speed / max(wanted, 0.1)) ** 4 - (desired / gap_m) ** 2
        )
        if closing > 0.0:
            pull = min(pull, -(closing**2) / (2.0 * max(gap_m - 1.0, 0.3)) + _COMFORT_MPS2)
        return max(min(pull, free), -_EMERGENCY_MPS2)


_NO_BOXES: Final = np.zeros((0, 8))
_NO_PEOPLE: Final = np.zeros((0, 5))


@dataclass(slots=True)
class Pilots:
    """All moving vehicles of a scenario."""

    client: carla.Client
    world: carla.World
    delta_s: float
    traffic: Any = None
    cars: list[Pilot] = field(default_factory=list)
    _around: Surroundings | None = None

    def step(self, snapshot: carla.WorldSnapshot) -> None:
        """Drive all vehicles for one tick, with one batch of commands."""
        if not self.cars:
            return
        boxes, people = self._look(snapshot)
        commands: list[Any] = []
        for car in self.cars:
            state = snapshot.find(car.actor_id)
            if state is None:
                car.gone = car.seen  # a new vehicle is in the snapshot only after the next tick
                continue
            speed, steer = car.decide(state, boxes, people, self.delta_s)
            car.knocked_s += self.delta_s if car.knocked else 0.0
            commands += _commands(car, state, speed, steer)
        self.cars = [car for car in self.cars if not car.gone]
        self.client.apply_batch(commands)

    def _look(self, snapshot: carla.WorldSnapshot) -> tuple[FloatArray, FloatArray]:
        if not any(car.heeds for car in self.cars):
            return _NO_BOXES, _NO_PEOPLE
        seen = self.traffic.seen if self.traffic is not None else None
        if seen is not None:
            return seen.box, seen.person
        if self._around is None:
            self._around = Surroundings(self.world, [])
        return self._around.look(snapshot)


def _commands(car: Pilot, state: Any, speed_mps: float, steer: float) -> list[Any]:
    actor = car.actor_id
    if car.knocked or car.full_brake or speed_mps < 0.05:
        control = carla.VehicleControl(steer=steer, brake=1.0)
        return [carla.command.ApplyVehicleControl(actor, control)]
    velocity = state.get_velocity()
    now, rise = math.hypot(velocity.x, velocity.y), min(velocity.z, _RISE_MPS)
    if now > 1.0:  # keep the direction of motion: tyre slip is part of the turn
        way = carla.Vector3D(velocity.x * speed_mps / now, velocity.y * speed_mps / now, rise)
    else:
        yaw = yaw_rad(state.get_transform())
        way = carla.Vector3D(speed_mps * math.cos(yaw), speed_mps * math.sin(yaw), rise)
    control = carla.VehicleControl(throttle=_THROTTLE, steer=steer)
    return [
        carla.command.ApplyVehicleControl(actor, control),
        carla.command.ApplyTargetVelocity(actor, way),
    ]
