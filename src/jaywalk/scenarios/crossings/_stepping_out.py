"""A person steps out from the kerb, or from behind an obstacle, when the ego is near."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import carla

from jaywalk.actors.events import EgoMoment
from jaywalk.client.placing import (
    Roadside,
    check_side,
    pick_model,
    place_on_route,
    roadside,
    spawn_first_that_fits,
)
from jaywalk.geometry.pose import yaw_rad
from jaywalk.scenarios.base import Parameters, Scenario
from jaywalk.scenarios.catalogue import JAYWALK, scenario
from jaywalk.scenarios.parameter_fields import (
    ahead,
    clip,
    crossing_angle,
    model,
    offset,
    side,
    within,
)

_END_M: Final = 40.0
_KERB_M: Final = 0.8  # behind the kerb
_BEHIND_M: Final = 0.5  # behind the obstacle
_TRIES, _TRY_M = 6, 0.4
_UP_M: Final = 1.1
_SLOWEST_MPS, _FASTEST_MPS = 1.0, 3.0
_MOVING_MPS: Final = 0.2
_HELD_S: Final = 0.3  # a longer stop means that the person is held up, not that they have arrived
_BLOCKED_S: Final = 2.0  # a person who is blocked for this long goes back
_CAR_M: Final = (2.9, 1.4)  # half length and width of the space that a person leaves to the ego
_STEP_M: Final = 0.8
_SLOW_MPS: Final = 1.0
_GAINS_S: Final = 2.0  # a car that accelerates goes on for so long
_NOSE_M: Final = 0.4  # half length above which a walker stands farther back


_WORDS: Final = {
    "speed": "m/s; 0: such that both meet",
    "direction": "right or left: where the person comes from",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SteppingOutParameters(Parameters):
    """Elements of the route file; lengths in metres along the route from the trigger."""

    distance: float = ahead(25.0)
    direction: str = side()  # side from which the person comes
    speed: float = within(0.0, 0.0)  # m/s; 0: such that person and ego meet
    crossing_angle: float = crossing_angle()  # degrees; positive walks towards the ego
    walker: str = model("walker.pedestrian.*", "walker.")
    blocker_model: str = model("none", "static.", "vehicle.")
    blocker_z: float = offset()
    clip: str = clip()


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenParameters(SteppingOutParameters):
    """Parameters for a person behind an obstacle."""

    blocker_model: str = model("static.prop.vendingmachine", "static.", "vehicle.", "none")


@scenario(
    "jaywalk/stepping-out-v1",
    "a person steps out from the kerb",
    benchmark=JAYWALK,
    parameter_words=_WORDS,
)
@dataclass(slots=True, kw_only=True)
class SteppingOut(Scenario):
    """A person at the kerb who walks across the ego's path, to the other kerb."""

    parameters_type: ClassVar[type[Parameters]] = SteppingOutParameters
    reaction_s: ClassVar[float] = 2.1  # time to arrival at which the person starts
    nearest_m: ClassVar[float] = 6.0
    walker_id: int = 0
    speed_mps: float = 0.0
    way_m: float = 0.0  # length of the person's path
    began_s: float = math.nan
    stopped: bool = False
    blocked_s: float = 0.0
    turned_back: bool = False
    side: float = 1.0
    behind_m: float = 0.0  # distance of the person behind the obstacle's middle
    starts_s: float = math.nan  # time to arrival at which the person starts, if the speed is given
    clip: str = ""
    person: Any = None  # the actor
    yaw_deg: float = 0.0  # direction of the walk
    paused: bool = False
    from_m: tuple[float, float] | None = None  # where a walk with a clip began

    def setup(self) -> None:
        """Spawn the person and the hiding object beside the road."""
        given: SteppingOutParameters = self.parameters
        self.side = self.comes_from()
        here = place_on_route(self.context.route, self.at_m)
        near = roadside(self.context.map, here, self.side > 0.0)
        far = roadside(self.context.map, here, self.side < 0.0)
        near_m = self.stands_m(near)
        slant = math.cos(math.radians(given.crossing_angle))
        self.way_m = self.crossing_m(near_m, far.kerb_m + _KERB_M) / slant
        meeting = min(max(near_m / slant / self.wait_s(), _SLOWEST_MPS), _FASTEST_MPS)
        self.speed_mps = given.speed or meeting
        library = self.context.world.get_blueprint_library()
        model = self.walker_model(library)
        self._take_natural_speed(library.find(model), near_m / slant)
        if given.blocker_model != "none":
            name = pick_model(
                library, given.blocker_model, self.draws("blocker"), self.element.where
            )
            self.behind_m = self.put_blocker(name, self.side * near_m)
        first_m = self.waits_m
        self.walker_id = self.put_walker(model, first_m, near_m)

    def _take_natural_speed(self, blueprint: Any, near_m: float) -> None:
        """Take the speed of the clip, or of people like this; they start so that both meet."""
        self.clip = self.chosen_clip(blueprint)
        speed_mps = self.parameters.speed or self.natural_mps()
        if self.clip and self.context.clips is not None:
            about = {key: blueprint.get_attribute(key).as_str() for key in ("gender", "age")}
            pace = self.context.clips.pace(self.clip, about, f"{self.element.where}, <clip>")
            self.speed_mps = speed_mps or pace.speed_mps
            self.starts_s = pace.time_s(near_m, self.speed_mps)
        elif self.natural_mps() > 0.0:
            self.speed_mps = speed_mps
            self.starts_s = near_m / speed_mps

    def walker_model(self, library: Any) -> str:
        """Draw the person's blueprint."""
        pattern = str(self.parameters.walker)
        return pick_model(library, pattern, self.draws("walker"), self.element.where)

    def chosen_clip(self, blueprint: Any) -> str:
        """Return the clip that the person plays, ``LIBRARY/CLIP``; "" for none."""
        return str(getattr(self.parameters, "clip", ""))

    def natural_mps(self) -> float:
        """Return the usual speed of people like this; 0 for none."""
        return 0.0

    def comes_from(self) -> float:
        """Return the side of the road: 1 for right, -1 for left."""
        return check_side(self.parameters.direction, self.element.where)

    def put_walker(self, model: str, along_m: float, near_m: float) -> int:
        """Spawn the person or an animal; a long animal stands back, its head off the road."""
        turn_deg = -self.side * (90.0 + float(self.parameters.crossing_angle))

        def poses(aside_m: float) -> list[Any]:
            return [
                place_on_route(
                    self.context.route,
                    along_m + k * _TRY_M,
                    self.side * aside_m,
                    up_m=_UP_M,
                    turn_deg=turn_deg,
                )
                for k in range(_TRIES)
            ]

        walker = self.spawn(model, poses(near_m))
        back_m = float(walker.bounding_box.extent.x) - _NOSE_M
        if back_m > 0.0:
            self.destroy([walker.id])
            walker = self.spawn(model, [*poses(near_m + back_m), *poses(near_m)])
            self.way_m += back_m
        self.person = walker
        return int(walker.id)

    @property
    def at_m(self) -> float:
        """Position along the route at which the person crosses."""
        return self.trigger_along_m + float(self.parameters.distance)

    @property
    def waits_m(self) -> float:
        """Position at which the person waits: behind the blocker."""
        return self.trigger_along_m + float(self.parameters.distance) + self.behind_m

    def wait_s(self) -> float:
        """Return the time to arrival at which the person starts; longer for slanting paths."""
        if not math.isnan(self.starts_s):
            return self.starts_s
        return self.reaction_s + 0.1 * math.floor(float(self.parameters.crossing_angle) / 5.0)

    def stands_m(self, near: Roadside) -> float:
        """Distance of the person from the middle of the lane."""
        return near.kerb_m + _KERB_M

    def crossing_m(self, near_m: float, far_m: float) -> float:
        """Length of the crossing, from the distances of the two sides."""
        return near_m + far_m

    def spawn(self, model: str, poses: list[Any]) -> Any:
        """Spawn an actor of this scenario at the first pose that is free."""
        actor = spawn_first_that_fits(self.context.world, model, poses, self.element.where)
        self.actor_ids.append(actor.id)
        return actor

    def put_blocker(self, model: str, right_m: float) -> float:
        """Place the blocker; return the distance of the person behind its middle."""
        turn_deg = 0.0 if model.startswith("vehicle.") else 90.0 * self.side
        up_m = 0.1 + float(self.parameters.blocker_z)
        pose = place_on_route(self.context.route, self.at_m, right_m, up_m, turn_deg)
        return float(self.spawn(model, [pose]).bounding_box.extent.x) + _BEHIND_M

    def tick(self, moment: EgoMoment) -> bool:
        """Walk when the ego arrives in two seconds; return True when it has passed."""
        left_m = self.at_m - moment.ego_along_m
        if math.isnan(self.began_s):
            if left_m <= max(self.nearest_m, self.reach_m(moment, self.wait_s())):
                self.began_s = moment.elapsed_s
                self._walk(self.speed_mps)
                self.note(moment, what="steps out", actor=self.walker_id)
        elif not self.stopped:
            self._wait_for_ego(moment)
            if not self.turned_back:
                self._go_back_if_blocked(moment)
            walked_m = self._walked_m(moment)
            if walked_m >= self.way_m and self.blocked_s < _HELD_S:
                self.stopped = True
                self.arrive()
        return left_m < -_END_M

    def reach_m(self, moment: EgoMoment, time_s: float) -> float:
        """Distance that the ego drives in a time; with its acceleration if the person is slow."""
        reach_m = time_s * moment.ego_speed_mps
        ego = None if math.isnan(self.starts_s) else moment.snapshot.find(moment.ego_id)
        if ego is None:
            return reach_m
        way, push = ego.get_transform().get_forward_vector(), ego.get_acceleration()
        gain_mps2 = max(push.x * way.x + push.y * way.y, 0.0)
        lasts_s = min(time_s, _GAINS_S)
        return float(reach_m + gain_mps2 * lasts_s * (time_s - 0.5 * lasts_s))

    def _walked_m(self, moment: EgoMoment) -> float:
        """Length of the walk so far; a clip may begin slowly, so its walker is measured."""
        walker = moment.snapshot.find(self.walker_id) if self.clip else None
        if walker is None:
            return (moment.elapsed_s - self.began_s) * self.speed_mps
        place = walker.get_transform().location
        if self.from_m is None:
            self.from_m = (place.x, place.y)
        return math.hypot(place.x - self.from_m[0], place.y - self.from_m[1])

    def _go_back_if_blocked(self, moment: EgoMoment) -> None:
        """Resolve the deadlock of a car and a person who wait for each other."""
        walker = moment.snapshot.find(self.walker_id)
        if walker is None:
            return
        velocity = walker.get_velocity()
        moves = math.hypot(velocity.x, velocity.y) > _MOVING_MPS
        self.blocked_s = 0.0 if moves else self.blocked_s + self.context.delta_s
        if self.blocked_s < _BLOCKED_S:
            return
        self.turned_back = True
        if self.clip:
            self.way_m, self.from_m = self._walked_m(moment), None
        else:
            self.way_m = (moment.elapsed_s - self.began_s - self.blocked_s) * self.speed_mps
        self.began_s, self.blocked_s = moment.elapsed_s, 0.0
        self._walk(self.speed_mps, back=True)
        self.note(moment, what="turns back", actor=self.walker_id)

    def _walk(self, speed_mps: float, *, back: bool = False) -> None:
        given: SteppingOutParameters = self.parameters
        pose = place_on_route(self.context.route, self.at_m)
        yaw = pose.rotation.yaw - self.side * (90.0 + given.crossing_angle) + 180.0 * back
        self.yaw_deg, self.paused = yaw, False
        if self.clip and speed_mps > 0.0:
            where = f"{self.element.where}, <clip>"
            if self.context.clips.begin(self.person, self.clip, yaw, speed_mps, where):
                return
        elif self.clip:
            self.context.clips.release(self.walker_id)
        way = carla.Rotation(yaw=yaw).get_forward_vector()
        control = carla.WalkerControl(way, speed_mps, False)
        self.context.client.apply_batch([carla.command.ApplyWalkerControl(self.walker_id, control)])

    def _wait_for_ego(self, moment: EgoMoment) -> None:
        """Hold a person who plays a clip before a car that stands: a clip goes through cars."""
        if not self.clip or not self.context.clips.plays(self.walker_id):
            return
        ego, walker = moment.snapshot.find(moment.ego_id), moment.snapshot.find(self.walker_id)
        if ego is None or walker is None:
            return
        pose, place = ego.get_transform(), walker.get_transform().location
        ahead = carla.Rotation(yaw=self.yaw_deg).get_forward_vector()
        yaw = yaw_rad(pose)
        cos, sin = math.cos(yaw), math.sin(yaw)
        held = False
        for step_m in (_STEP_M, 0.0):
            dx = place.x + step_m * ahead.x - pose.location.x
            dy = place.y + step_m * ahead.y - pose.location.y
            inside = abs(dx * cos + dy * sin) < _CAR_M[0] and abs(dy * cos - dx * sin) < _CAR_M[1]
            held = inside if step_m else held and not inside
        held = held and moment.ego_speed_mps < _SLOW_MPS
        if held != self.paused:
            self.paused = held
            self.context.clips.pause(self.walker_id, paused=held)

    def arrive(self) -> None:
        """Stop the person, who has crossed."""
        self._walk(0.0)


@scenario(
    "jaywalk/stepping-out-hidden-v1",
    "a person steps out from behind an obstacle",
    benchmark=JAYWALK,
    parameter_words=_WORDS,
)
@dataclass(slots=True, kw_only=True)
class HiddenSteppingOut(SteppingOut):
    """A person who steps out from behind an obstacle."""

    parameters_type: ClassVar[type[Parameters]] = HiddenParameters
