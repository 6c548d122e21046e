"""Everyday people at the kerb: a dog walker, a pram, a wheelchair, a group of children.

All wait beside the road and cross when the ego comes, at their usual speed, so that a driver who
does not slow down meets them in the middle of the lane.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import carla
import numpy as np

from jaywalk.actors.events import EgoMoment
from jaywalk.client.placing import (
    Roadside,
    pick_model,
    place_on_route,
    spawn_first_that_fits,
)
from jaywalk.core.errors import DataError
from jaywalk.geometry.pose import yaw_rad
from jaywalk.scenarios.base import Parameters
from jaywalk.scenarios.catalogue import JAYWALK, StreetNeeds, scenario
from jaywalk.scenarios.crossings._stepping_out import SteppingOut
from jaywalk.scenarios.parameter_fields import ahead, clip, model, side, whole, within

STREET: Final = StreetNeeds(sidewalk=True)
# For slow people.
_LONG_STREET: Final = StreetNeeds(sidewalk=True, length_m=80.0, kerb_m=4.5)
CHILD, _ADULT = "child", "adult"
_UP_M: Final = 1.1
_TRIES, _TRY_M = 6, 0.3
_BAY_M: Final = 0.8  # beyond the lane's edge
EVERYDAY_WORDS: Final = {
    "speed": "m/s; 0: the usual speed of such people",
    "direction": "right or left: where the person comes from",
    "clip": "LIBRARY/CLIP of a motion library",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EverydayParameters(Parameters):
    """Elements of the route file; metres along the route from the trigger, metres per second."""

    distance: float = ahead(40.0)
    direction: str = side()
    speed: float = within(0.0, 0.0, 6.0)
    walker: str = model("walker.pedestrian.*", "walker.pedestrian.")
    clip: str = clip()
    crossing_angle: ClassVar[float] = 0.0
    blocker_model: ClassVar[str] = "none"
    blocker_z: ClassVar[float] = 0.0


@dataclass(slots=True)
class _Companion:
    """Companion who walks with the person."""

    actor_id: int
    delay_s: float
    factor: float  # of the person's speed
    behind_m: float  # farther from the road
    began_s: float = math.nan
    stopped: bool = False


@dataclass(slots=True, kw_only=True)
class Everyday(SteppingOut):
    """A person who crosses at a usual speed, perhaps with companions."""

    usual_mps: ClassVar[float] = 1.4
    slow: ClassVar[bool] = False
    parameters_type: ClassVar[type[Parameters]] = EverydayParameters
    companions: list[_Companion] = field(default_factory=list)
    near_m: float = 0.0

    def stands_m(self, near: Roadside) -> float:
        """Distance of the person from the middle of the lane."""
        self.near_m = self._lane_edge_m() or SteppingOut.stands_m(self, near)
        return self.near_m

    def _lane_edge_m(self) -> float:
        """Distance of a slow person who waits in a bay beside the lane; 0 if there is none."""
        here = place_on_route(self.context.route, self.at_m)
        lane = self.context.map.get_waypoint(here.location)
        bay = lane.get_right_lane() if self.slow and self.side > 0.0 else None
        kinds = (carla.LaneType.Parking, carla.LaneType.Shoulder, carla.LaneType.Stop)
        if bay is None or bay.lane_type not in kinds:
            return 0.0
        return 0.5 * float(lane.lane_width) + _BAY_M

    def natural_mps(self) -> float:
        """Return the usual speed; that of the clip if one is given."""
        return 0.0 if self.clip else self.usual_mps

    def tick(self, moment: EgoMoment) -> bool:
        """Let the companions walk with the person."""
        over = SteppingOut.tick(self, moment)
        if not math.isnan(self.began_s):
            self.accompany(moment)
        return over

    def accompany(self, moment: EgoMoment) -> None:
        """Act on every tick once the person walks."""
        for companion in self.companions:
            if (
                math.isnan(companion.began_s)
                and moment.elapsed_s - self.began_s >= companion.delay_s
            ):
                companion.began_s = moment.elapsed_s
                self._send(companion, self.speed_mps * companion.factor, self.yaw_deg)
            elif not companion.stopped and not math.isnan(companion.began_s):
                walked_m = (
                    (moment.elapsed_s - companion.began_s) * self.speed_mps * companion.factor
                )
                if walked_m >= self.way_m + companion.behind_m or self.turned_back:
                    companion.stopped = True
                    back = self.turned_back and not self.stopped
                    self._send(companion, self.speed_mps * companion.factor * back, self.yaw_deg)

    def _send(self, one: _Companion, speed_mps: float, yaw_deg: float) -> None:
        way = carla.Rotation(yaw=yaw_deg).get_forward_vector()
        control = carla.WalkerControl(way, speed_mps, False)
        self.context.client.apply_batch([carla.command.ApplyWalkerControl(one.actor_id, control)])

    def beside(self, along_m: float, behind_m: float, up_m: float = _UP_M) -> list[Any]:
        """Poses at the kerb near the person, facing the road."""
        return [
            place_on_route(
                self.context.route,
                self.at_m + along_m + math.copysign(k * _TRY_M, along_m or 1.0),
                self.side * (self.near_m + behind_m),
                up_m=up_m,
                turn_deg=-self.side * 90.0,
            )
            for k in range(_TRIES)
        ]

    def add_companion(
        self, name: str, along_m: float, behind_m: float, delay_s: float = 0.0, factor: float = 1.0
    ) -> None:
        """Spawn a companion beside the person."""
        actor = self.spawn(name, self.beside(along_m, behind_m))
        self.companions.append(
            _Companion(actor_id=actor.id, delay_s=delay_s, factor=factor, behind_m=behind_m)
        )


def draw_of_age(
    library: Any, pattern: str, age: str, random: np.random.Generator, where: str
) -> str:
    """Draw a blueprint of an age among those of a pattern; a plain name is taken as it is."""
    if "*" not in pattern:
        return pick_model(library, pattern, random, where)
    names = sorted(
        str(one.id)
        for one in library.filter(pattern)
        if one.has_attribute("age") and one.get_attribute("age").as_str() == age
    )
    if not names:
        raise DataError(f"{where}: the server has no blueprint '{pattern}' of age '{age}'.")
    return names[int(random.integers(len(names)))]


@dataclass(frozen=True, slots=True, kw_only=True)
class DogWalkerParameters(EverydayParameters):
    """Parameters of the person and the dog."""

    dog: str = model("walker.animal.1001", "walker.animal.")


@scenario(
    "jaywalk/dog-walker-v1",
    "a person crosses with a dog beside them",
    benchmark=JAYWALK,
    street=STREET,
    parameter_words={**EVERYDAY_WORDS, "dog": "walker.animal.1001 is a dog"},
)
@dataclass(slots=True, kw_only=True)
class DogWalker(Everyday):
    """A person crosses, and a dog walks beside them."""

    parameters_type: ClassVar[type[Parameters]] = DogWalkerParameters

    def walker_model(self, library: Any) -> str:
        """Draw an adult."""
        given = self.parameters.walker
        return draw_of_age(library, given, _ADULT, self.draws("walker"), self.element.where)

    def setup(self) -> None:
        """Put the dog beside the person."""
        SteppingOut.setup(self)
        self.add_companion(self.parameters.dog, 0.8, 0.3)


_PRAM_AHEAD_M: Final = 0.85
_PRAM_HALF_M: Final = 0.52
_STRUCK_M: Final = 0.6  # a pram this far from its place was hit


@dataclass(frozen=True, slots=True, kw_only=True)
class PramParameters(EverydayParameters):
    """Parameters of the person and the pram."""

    distance: float = ahead(55.0)
    pram: str = model("static.prop.pram", "static.prop.")


@scenario(
    "jaywalk/pram-v1",
    "a person pushes a pram across the road",
    benchmark=JAYWALK,
    street=_LONG_STREET,
    parameter_words={**EVERYDAY_WORDS, "pram": "a prop, pushed ahead"},
)
@dataclass(slots=True, kw_only=True)
class Pram(Everyday):
    """A person walks behind a pram, which reaches the lane first."""

    parameters_type: ClassVar[type[Parameters]] = PramParameters
    usual_mps: ClassVar[float] = 1.3
    slow: ClassVar[bool] = True
    pram_id: int = 0
    pushes: bool = True
    pram_m: tuple[float, float] = (math.nan, math.nan)  # where it was put last

    def walker_model(self, library: Any) -> str:
        """Draw an adult."""
        given = self.parameters.walker
        return draw_of_age(library, given, _ADULT, self.draws("walker"), self.element.where)

    def stands_m(self, near: Roadside) -> float:
        """Leave room for the pram."""
        self.near_m = Everyday.stands_m(self, near) + 0.7
        return self.near_m

    def setup(self) -> None:
        """Put the pram before the person."""
        SteppingOut.setup(self)
        poses = self.beside(0.0, -_PRAM_AHEAD_M, up_m=_PRAM_HALF_M)[:1]
        pram = spawn_first_that_fits(
            self.context.world, self.parameters.pram, poses, self.element.where
        )
        self.pram_id = int(pram.id)
        self.actor_ids.append(pram.id)

    def start(self, moment: EgoMoment) -> None:
        """Let the pram be pushed away when it is hit."""
        self.context.client.apply_batch([carla.command.SetSimulatePhysics(self.pram_id, True)])

    def accompany(self, moment: EgoMoment) -> None:
        """Keep the pram ahead of the person until one of them is hit."""
        walker, pram = (moment.snapshot.find(one) for one in (self.walker_id, self.pram_id))
        if walker is None or pram is None or not self.pushes:
            return
        pose, there = walker.get_transform(), pram.get_transform().location
        tilted = abs(pose.rotation.roll) + abs(pose.rotation.pitch) > 30.0
        away_m = math.hypot(there.x - self.pram_m[0], there.y - self.pram_m[1])
        if tilted or away_m > _STRUCK_M:
            self.pushes = False
            return
        yaw = yaw_rad(pose)
        x = pose.location.x + _PRAM_AHEAD_M * math.cos(yaw)
        y = pose.location.y + _PRAM_AHEAD_M * math.sin(yaw)
        self.pram_m = (x, y)
        feet_m = pose.location.z - self.person.bounding_box.extent.z
        place = carla.Transform(
            carla.Location(x, y, feet_m + _PRAM_HALF_M), carla.Rotation(yaw=pose.rotation.yaw)
        )
        self.context.client.apply_batch([carla.command.ApplyTransform(self.pram_id, place)])


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelchairParameters(EverydayParameters):
    """Parameters of the person."""

    distance: float = ahead(55.0)


_CAN, _USES = "can_use_wheelchair", "use_wheelchair"


@scenario(
    "jaywalk/wheelchair-v1",
    "a person in a wheelchair crosses",
    benchmark=JAYWALK,
    street=_LONG_STREET,
    parameter_words=EVERYDAY_WORDS,
)
@dataclass(slots=True, kw_only=True)
class Wheelchair(Everyday):
    """A person in a wheelchair (``use_wheelchair`` of CARLA 0.9.16) crosses slowly."""

    parameters_type: ClassVar[type[Parameters]] = WheelchairParameters
    usual_mps: ClassVar[float] = 1.1
    slow: ClassVar[bool] = True

    def walker_model(self, library: Any) -> str:
        """Draw a person who can use a wheelchair."""
        pattern, where = str(self.parameters.walker), self.element.where
        names = sorted(
            str(one.id)
            for one in library.filter(pattern)
            if one.has_attribute(_CAN) and one.get_attribute(_CAN).as_bool()
        )
        if not names:
            raise DataError(
                f"{where}: the server has no '{pattern}' who can use a wheelchair; that needs "
                "CARLA 0.9.16."
            )
        return names[int(self.draws("walker").integers(len(names)))]

    def spawn(self, model: str, poses: list[Any]) -> Any:
        """Spawn the person in a wheelchair."""
        blueprint = self.context.world.get_blueprint_library().find(model)
        blueprint.set_attribute("role_name", "scenario")
        blueprint.set_attribute(_USES, "true")
        for pose in poses:
            actor = self.context.world.try_spawn_actor(blueprint, pose)
            if actor is not None:
                self.actor_ids.append(actor.id)
                return actor
        raise DataError(f"{self.element.where}: there is no room for {model} at the kerb.")


_PER_ROW: Final = 3
_APART_M: Final = 0.9
_PACES: Final = (0.92, 1.08)
_DELAYS_S: Final = (0.0, 0.6)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOfChildrenParameters(EverydayParameters):
    """Parameters of the group."""

    children: int = whole(4, 2, 9)


@scenario(
    "jaywalk/group-of-children-v1",
    "children cross in a group, each at their own pace",
    benchmark=JAYWALK,
    street=STREET,
    parameter_words={**EVERYDAY_WORDS, "children": "how many, 2 to 9"},
)
@dataclass(slots=True, kw_only=True)
class GroupOfChildren(Everyday):
    """Children cross in rows of three, about a metre apart, each with an individual pace."""

    parameters_type: ClassVar[type[Parameters]] = GroupOfChildrenParameters
    usual_mps: ClassVar[float] = 1.5

    def walker_model(self, library: Any) -> str:
        """Draw a child."""
        given = self.parameters.walker
        return draw_of_age(library, given, CHILD, self.draws("walker"), self.element.where)

    def setup(self) -> None:
        """Spawn the children beside and behind the first one."""
        SteppingOut.setup(self)
        library = self.context.world.get_blueprint_library()
        for number in range(1, int(self.parameters.children)):
            random = self.draws("child", number)
            row, place = divmod(number, _PER_ROW)
            name = draw_of_age(library, self.parameters.walker, CHILD, random, self.element.where)
            along_m = (0.0, _APART_M, -_APART_M)[place] + float(random.uniform(-0.1, 0.1))
            self.add_companion(
                name,
                along_m,
                row * _APART_M,
                delay_s=float(random.uniform(*_DELAYS_S)),
                factor=float(random.uniform(*_PACES)),
            )
