"""Right-of-way scenarios: PriorityTaken, RedLightRunner and PriorityAtJunction.

In the first two another vehicle takes the ego's right of way, by priority or at a red light. It
waits on its arm and starts so that both reach the meeting point of their paths at the same time, if
the ego keeps its speed. From then on it does not react to the ego. In PriorityAtJunction the ego's
light is green until it has left the next junction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.events import EgoMoment
from jaywalk.actors.lane_paths import JunctionPath
from jaywalk.actors.pilots import WRECK_S, Pilot, Pilots
from jaywalk.client.placing import pick_model, spawn_all
from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import BEHIND_M, Parameters, Scenario
from jaywalk.scenarios.catalogue import JAYWALK, LEADERBOARD, STRAIGHT, StreetNeeds, scenario
from jaywalk.scenarios.junctions._junction_ahead import HeldLights, JunctionAhead, junction_ahead
from jaywalk.scenarios.parameter_fields import ahead, model, one_of, within

_TAIL_M: Final = 8.0


_WORDS: Final = {
    "speed": "m/s",
    "direction": "left, right or opposite: the arm it comes from",
    "distance": "m before the junction where it waits",
}


@scenario(
    "PriorityAtJunction",
    "the ego's light is green",
    benchmark=LEADERBOARD,
    street=StreetNeeds(junction=STRAIGHT, control="light"),
)
@dataclass(slots=True, kw_only=True)
class PriorityAtJunction(Scenario):
    """Green lights for the ego; without effect at a junction without lights."""

    parameters_type: ClassVar[type[Parameters]] = Parameters
    ahead: JunctionAhead = field(init=False)
    held: HeldLights | None = None

    def setup(self) -> None:
        """Find the junction."""
        self.ahead = junction_ahead(self)

    def start(self, moment: EgoMoment) -> None:
        """Set green for the ego and red for the others."""
        mine, others = self.ahead.lights()
        if mine:
            self.held = HeldLights.hold(mine, others)

    def tick(self, moment: EgoMoment) -> bool:
        """Return True when the ego, with its tail, has left the junction."""
        return moment.ego_along_m > self.ahead.leave_m + _TAIL_M

    def end(self, moment: EgoMoment) -> None:
        """Resume the normal phases of the lights."""
        if self.held is not None:
            self.held.release()

    def closed(self) -> list[NDArray[np.float64]]:
        """Close no lanes."""
        return []


_NEAREST_M: Final = 12.0  # an ego this near to the meeting point starts the vehicle in any case
_AFTER_M: Final = 40.0
_PASSED_M: Final = 15.0
_DROP_M: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class RightOfWayParameters(Parameters):
    """Parameters of the vehicle that takes the right of way: its arm and speed."""

    direction: str = one_of("left", "right", "opposite")  # arm from which it comes
    distance: float = ahead(35.0)  # m before the junction, its waiting place
    speed: float = within(12.0, 0.1)  # m/s
    acceleration: float = within(5.0, 0.1)  # m/s2 up to that speed
    lead: float = 0.0  # s by which it arrives before the ego
    vehicle: str = model("vehicle.mercedes.coupe_2020", "vehicle.")


@scenario(
    "jaywalk/priority-taken-v1",
    "another vehicle takes the ego's right of way at a junction",
    benchmark=JAYWALK,
    street=StreetNeeds(junction=STRAIGHT, control="free", arm="left"),
    parameter_words=_WORDS,
)
@dataclass(slots=True, kw_only=True)
class PriorityTaken(Scenario):
    """A vehicle takes priority at a junction without lights, or regardless of them."""

    parameters_type: ClassVar[type[Parameters]] = RightOfWayParameters
    lit: ClassVar[bool] = False  # needs traffic lights
    holds_lights: ClassVar[bool] = False  # at lights: green for the ego, red for others
    special_lights: ClassVar[bool] = False
    ahead: JunctionAhead = field(init=False)
    way: JunctionPath = field(init=False)
    pilots: Pilots = field(init=False)
    held: HeldLights | None = None
    going: bool = False

    def setup(self) -> None:
        """Spawn the vehicle on its arm."""
        given = self.parameters
        self.ahead = junction_ahead(self)
        self.way = self.ahead.crossing(given.direction, float(given.distance), _AFTER_M)
        if self.lit and not self.ahead.lights()[0]:
            raise DataError(f"{self.element.where}: the next junction has no traffic light.")
        model = pick_model(
            self.context.world.get_blueprint_library(),
            given.vehicle,
            self.draws("vehicle"),
            self.element.where,
        )
        pose = self.way.path.pose(0.0, _DROP_M)
        self.actor_ids = spawn_all(
            self.context.client, self.context.world, [(model, pose)], self.element.where
        )
        commands = [
            carla.command.ApplyVehicleControl(self.actor_ids[0], carla.VehicleControl(brake=1.0))
        ]
        if self.special_lights:
            lights = carla.VehicleLightState.Special1 | carla.VehicleLightState.Special2
            commands.append(
                carla.command.SetVehicleLightState(
                    self.actor_ids[0], carla.VehicleLightState(lights)
                )
            )
        self.context.client.apply_batch_sync(commands)
        self.pilots = Pilots(self.context.client, self.context.world, self.context.delta_s)
        self.pilots.cars.append(
            Pilot(
                actor_id=self.actor_ids[0],
                path=self.way.path,
                speed_mps=0.0,
                heeds=False,
                acceleration_mps2=float(given.acceleration),
            )
        )

    def start(self, moment: EgoMoment) -> None:
        """Set green for the ego and red for the others, for types that hold the lights."""
        mine, others = self.ahead.lights() if self.holds_lights else ([], [])
        if mine:
            self.held = HeldLights.hold(mine, others)

    def needed_s(self) -> float:
        """Time in seconds that the vehicle needs to the meeting point."""
        given = self.parameters
        way_m, speed, pull = self.way.meets_along_m, float(given.speed), float(given.acceleration)
        if not math.isfinite(pull):
            return way_m / speed
        ramp_m = speed * speed / (2.0 * pull)
        if ramp_m >= way_m:
            return math.sqrt(2.0 * way_m / pull)
        return speed / pull + (way_m - ramp_m) / speed

    def is_due(self, moment: EgoMoment) -> bool:
        """Return True if the vehicle must start now to meet the ego."""
        left_m = self.way.meets_route_m - moment.ego_along_m
        if left_m <= _NEAREST_M:
            return True
        arrival_s = left_m / max(moment.ego_speed_mps, 0.1)
        return arrival_s <= self.needed_s() + float(self.parameters.lead)

    def tick(self, moment: EgoMoment) -> bool:
        """Start in time and drive through."""
        if not self.going and self.is_due(moment):
            self.going = True
            car = self.pilots.cars[0]
            car.speed_mps = float(self.parameters.speed)
            self.note(moment, what="takes the right of way", actor=self.actor_ids[0])
        if self.going and self.actor_ids:
            self.pilots.step(moment.snapshot)
            car = self.pilots.cars[0]
            if car.along_m > self.way.path.length_m - 2.0 or car.knocked_s > WRECK_S:
                self.pilots.cars.clear()
                self.destroy(self.actor_ids)
        return moment.ego_along_m > self.ahead.leave_m + _PASSED_M

    def end(self, moment: EgoMoment) -> None:
        """Resume the normal phases of the lights and remove the vehicle."""
        if self.held is not None:
            self.held.release()
        self.destroy(self.actor_ids)

    def moves(self) -> list[NDArray[np.float64]]:
        """Paths of its vehicles."""
        return [self.way.path.way]

    def closed(self) -> list[NDArray[np.float64]]:
        """Close the ego's path over the junction and that of the others."""
        ego = self.stretch(self.trigger_along_m - BEHIND_M, self.ahead.leave_m + 10.0)
        return [ego, self.way.path.way]


@scenario(
    "jaywalk/red-light-runner-v1",
    "the ego has green, another vehicle runs its red light",
    benchmark=JAYWALK,
    street=StreetNeeds(junction=STRAIGHT, control="light", arm="left"),
    parameter_words=_WORDS,
)
@dataclass(slots=True, kw_only=True)
class RedLightRunner(PriorityTaken):
    """A vehicle runs a red light: the ego has green, the vehicle red."""

    lit: ClassVar[bool] = True
    holds_lights: ClassVar[bool] = True
