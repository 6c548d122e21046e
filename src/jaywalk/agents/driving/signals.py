"""Traffic lights and stop signs on a line: places to stop and the permission to go."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final

import carla
import numpy as np

from jaywalk.agents.driving.perception import EgoVehicle
from jaywalk.agents.driving.route_line import STEP_M, RouteLine
from jaywalk.geometry.pose import yaw_rad

_ON_LINE_M: Final = 1.6
_AGREE: Final = 0.5  # cosine of the angle between a lane at a stop and the line
_LEVEL_M: Final = 3.0
_HARD_MPS2: Final = 3.5  # maximum braking for a light that turns yellow
_TO_LINE_M: Final = 0.8  # from the front to a stop line
_EDGE_M: Final = 15.0  # a junction begins this near behind the line of its light
_SIGN_REACH_M: Final = 30.0  # distance of a stop sign's actor within which its volume is read
_SIGN_CENTRE_M: Final = 3.0  # the Leaderboard wants the car's middle within 4 m of the trigger
_LEAST_TRIGGER_M: Final = 0.5
_STOPPED_MPS: Final = 0.1
_STOP_S: Final = 1.3


@dataclass(slots=True, kw_only=True)
class LightStop:
    """A traffic light with a stop line on the line."""

    light: Any  # carla.TrafficLight; its state is read from the snapshot, without a round trip
    along_m: float
    edge_m: float  # beginning of its junction
    yellow_time_s: float
    yellow_s: float = 0.0  # time since it turned yellow


@dataclass(slots=True, kw_only=True)
class SignStop:
    """A stop sign on the line."""

    actor_id: int
    along_m: float  # middle of its trigger
    stood_s: float = 0.0
    done: bool = False


@dataclass(slots=True, kw_only=True)
class Signals:
    """Traffic lights and stop signs on the line."""

    delta_s: float
    lights: list[LightStop] = field(default_factory=list)
    signs: list[SignStop] = field(default_factory=list)

    def watch(self) -> None:
        """Update the time since each light turned yellow; call once per tick."""
        for stop in self.lights:
            yellow = stop.light.state == carla.TrafficLightState.Yellow
            stop.yellow_s = stop.yellow_s + self.delta_s if yellow else 0.0

    def light_gap_m(self, own: EgoVehicle, along_m: float) -> float:
        """Return the room to the next stop line that must not be passed; inf if none."""
        front, tail = along_m + own.front_m, along_m + own.rear_m
        for stop in self.lights:
            if tail > stop.along_m or front > stop.edge_m + 0.5:
                continue
            if stop.along_m - front > 80.0:
                break
            if not _passes(stop, own.speed_mps, front, tail):
                line = stop.along_m
                if front > line - 0.3:
                    line = stop.edge_m  # on the line already: at least stay out of the junction
                return line - front - _TO_LINE_M
        return math.inf

    def sign_gap_m(self, own: EgoVehicle, along_m: float) -> float:
        """Return the room to the stop of the next stop sign; inf if there is none or it is done."""
        for stop in self.signs:
            if stop.done or along_m > stop.along_m + 1.0:
                continue
            gap = stop.along_m - along_m - _SIGN_CENTRE_M
            if gap > 60.0:
                break
            if own.speed_mps < _STOPPED_MPS and gap < 0.8:
                stop.stood_s += self.delta_s
            if stop.stood_s > _STOP_S:
                stop.done = True
                continue
            return gap
        return math.inf


def _passes(stop: LightStop, speed_mps: float, front_m: float, tail_m: float) -> bool:
    """Return True if green, too near to stop, or if the rear clears the line during yellow."""
    state = stop.light.state
    if state not in (carla.TrafficLightState.Red, carla.TrafficLightState.Yellow):
        return True
    needed_m = speed_mps * speed_mps / (2.0 * _HARD_MPS2)
    if stop.along_m - front_m >= needed_m:
        return False
    if state == carla.TrafficLightState.Yellow:
        clears_s = math.sqrt(speed_mps**2 + 2.0 * (stop.along_m - tail_m)) - speed_mps
        if clears_s < stop.yellow_time_s - stop.yellow_s - 0.3:
            return True
    return stop.edge_m - front_m < needed_m


def find_signals(world: Any, line: RouteLine, delta_s: float) -> Signals:
    """Return the lights and stop signs that apply to a line, in order."""
    actors = world.get_actors()
    lights = [_light_stop(line, light) for light in _by_id(actors, "traffic.traffic_light")]
    signs = [_sign_stop(line, sign) for sign in _by_id(actors, "traffic.stop")]
    return Signals(
        delta_s=delta_s,
        lights=sorted((s for group in lights for s in group), key=lambda stop: stop.along_m),
        signs=sorted((s for group in signs for s in group), key=lambda stop: stop.along_m),
    )


def _by_id(actors: Any, kind: str) -> list[Any]:
    return sorted(actors.filter(kind), key=lambda actor: actor.id)


def _light_stop(line: RouteLine, light: Any) -> list[LightStop]:
    place = light.get_transform().location
    if float(np.min(np.hypot(line.xy_m[:, 0] - place.x, line.xy_m[:, 1] - place.y))) > 80.0:
        return []
    stops: list[LightStop] = []
    for waypoint in light.get_stop_waypoints():
        pose = waypoint.transform
        yaw = yaw_rad(pose)
        for sample in _visits(line, pose.location, _ON_LINE_M, yaw):
            along = sample * STEP_M
            if any(abs(stop.along_m - along) < 5.0 for stop in stops):
                continue
            stops.append(
                LightStop(
                    light=light,
                    along_m=along,
                    edge_m=_edge_m(line, sample),
                    yellow_time_s=float(light.get_yellow_time()),
                )
            )
    return stops


def _edge_m(line: RouteLine, sample: int) -> float:
    """Return where the junction behind a stop line begins; the stop line if none is near."""
    ahead = line.in_junction[sample : sample + int(_EDGE_M / STEP_M)]
    inside = np.flatnonzero(ahead)
    return (sample + (int(inside[0]) if len(inside) else 0)) * STEP_M


def _sign_stop(line: RouteLine, sign: Any) -> list[SignStop]:
    pose = sign.get_transform()
    place = pose.location
    near = np.hypot(line.xy_m[:, 0] - place.x, line.xy_m[:, 1] - place.y)
    if float(near.min()) > _SIGN_REACH_M:
        return []
    box = sign.trigger_volume
    middle = carla.Location(box.location.x, box.location.y, box.location.z)
    pose.transform(middle)  # in place: the wheel changes its argument
    half_x = 1.2 * max(float(box.extent.x), _LEAST_TRIGGER_M)
    half_y = 1.2 * max(float(box.extent.y), _LEAST_TRIGGER_M)
    reach = max(half_x, half_y) + 0.5
    samples = _visits(line, middle, reach, None)
    inside = [
        k
        for k in samples
        if abs(line.xy_m[k, 0] - middle.x) < half_x + 0.5
        and abs(line.xy_m[k, 1] - middle.y) < half_y + 0.5
    ]
    return [SignStop(actor_id=sign.id, along_m=k * STEP_M) for k in inside]


def _visits(line: RouteLine, place: Any, within_m: float, yaw_rad: float | None) -> list[int]:
    """Return the nearest sample of each pass of the line by a place, in a direction if given."""
    gaps = np.hypot(line.xy_m[:, 0] - place.x, line.xy_m[:, 1] - place.y)
    fits = (gaps < within_m) & (np.abs(line.base_m[:, 2] - place.z) < _LEVEL_M)
    if yaw_rad is not None:
        fits &= np.cos(line.base_yaw_rad - yaw_rad) > _AGREE
    where = np.flatnonzero(fits)
    if not len(where):
        return []
    visits = np.split(where, np.flatnonzero(np.diff(where) > int(20.0 / STEP_M)) + 1)
    return [int(visit[np.argmin(gaps[visit])]) for visit in visits]
