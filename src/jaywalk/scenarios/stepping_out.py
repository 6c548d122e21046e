"""A person steps out from the kerb, or from behind an obstacle, when the ego is near."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import carla
import numpy as np

from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import Moment, Parameters, Scenario
from jaywalk.scenarios.placing import kerb_offset_m, place_on_route, spawn_all

_REACTION_S: Final = 2.1
_NEAREST_M: Final = 6.0
_END_M: Final = 40.0
_DEFAULT_WALKER: Final = "walker.pedestrian.0001"


@dataclass(frozen=True, slots=True, kw_only=True)
class SteppingOutParameters(Parameters):
    """Elements of the route file; lengths in metres along the route from the trigger."""

    distance: float = 25.0
    direction: str = "right"  # the side the person comes from
    speed: float = 2.0  # m/s
    crossing_angle: float = 0.0  # degrees; positive walks towards the ego
    walker: str = _DEFAULT_WALKER
    blocker_model: str = "none"
    blocker_z: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenParameters(SteppingOutParameters):
    """As above, from behind an obstacle."""

    distance: float = 12.0
    blocker_model: str = "static.prop.vendingmachine"


@dataclass(slots=True, kw_only=True)
class SteppingOut(Scenario):
    """A person at the kerb who walks across the ego's way."""

    parameters_type: ClassVar[type[Parameters]] = SteppingOutParameters
    walker_id: int = 0
    walking: bool = False
    side: float = 1.0

    def setup(self) -> None:
        """Put the person, and what hides them, beside the road."""
        given: SteppingOutParameters = self.parameters
        if given.direction not in ("right", "left"):
            raise DataError(f"{self.spec.where}: direction is '{given.direction}'; right or left.")
        right = given.direction == "right"
        self.side = 1.0 if right else -1.0
        at_m = self.trigger_along_m + given.distance
        offset = kerb_offset_m(
            self.stage.map, place_on_route(self.stage.route, at_m), right, beyond_m=0.8
        )
        wanted = []
        behind_m = 0.0
        if given.blocker_model != "none":
            wanted.append((
                given.blocker_model,
                place_on_route(self.stage.route, at_m, offset, given.blocker_z, turn_deg=90.0),
            ))  # fmt: skip
            behind_m = 1.6
        walker = _DEFAULT_WALKER if given.walker.endswith("*") else given.walker
        pose = place_on_route(
            self.stage.route, at_m + behind_m, offset, up_m=1.1, turn_deg=-90.0 * self.side
        )
        wanted.append((walker, pose))
        self.actor_ids = spawn_all(self.stage.client, self.stage.world, wanted, self.spec.where)
        self.walker_id = self.actor_ids[-1]

    def tick(self, moment: Moment) -> bool:
        """Walk when the ego arrives in two seconds; over when it has passed."""
        given: SteppingOutParameters = self.parameters
        left_m = self.trigger_along_m + given.distance - moment.ego_along_m
        reaction_s = _REACTION_S + 0.1 * np.floor(abs(given.crossing_angle) / 5.0)
        near = left_m <= max(_NEAREST_M, reaction_s * moment.ego_speed_mps)
        if near and not self.walking:
            self.walking = True
            pose = place_on_route(self.stage.route, self.trigger_along_m + given.distance)
            yaw = pose.rotation.yaw - self.side * (90.0 + given.crossing_angle)
            way = carla.Rotation(yaw=yaw).get_forward_vector()
            control = carla.WalkerControl(way, given.speed, False)
            self.stage.client.apply_batch(
                [carla.command.ApplyWalkerControl(self.walker_id, control)]
            )
        return left_m < -_END_M


@dataclass(slots=True, kw_only=True)
class HiddenSteppingOut(SteppingOut):
    """A person who steps out from behind an obstacle."""

    parameters_type: ClassVar[type[Parameters]] = HiddenParameters
