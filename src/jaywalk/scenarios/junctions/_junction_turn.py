"""Turns of the ego at a junction across, or into, a stream of cars with priority.

Types: SignalizedJunctionLeftTurn, NonSignalizedJunctionLeftTurn, their RightTurn and
LeftTurnEnterFlow, and BlockedIntersection, in which a car stands on the ego's lane behind the
junction. ``RedThenGreen`` controls the lights: the ego waits some seconds, then has green.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.events import EgoMoment
from jaywalk.actors.lane_paths import LanePath
from jaywalk.client.placing import ordinary_cars, place_on_route, spawn_all
from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import BEHIND_M, OBSTACLE_TIMEOUT_S, Parameters, Scenario
from jaywalk.scenarios.catalogue import (
    LEADERBOARD,
    TURN_RIGHT,
    StreetNeeds,
    left_turn,
    right_turn,
    scenario,
)
from jaywalk.scenarios.flows._streams import Streams
from jaywalk.scenarios.junctions._junction_ahead import HeldLights, JunctionAhead, junction_ahead
from jaywalk.scenarios.parameter_fields import interval, within

_BEHIND_M: Final = 5.0  # behind the junction
_NEAR_M: Final = 13.0
_STANDS_S: Final = 10.0
_STILL_MPS, _BEFORE_M = 0.1, 15.0
_AFTER_M: Final = 20.0


@scenario(
    "BlockedIntersection",
    "a car stands right behind the junction",
    benchmark=LEADERBOARD,
    street=StreetNeeds(junction=TURN_RIGHT),
)
@dataclass(slots=True, kw_only=True)
class BlockedIntersection(Scenario):
    """A car that is removed 10 s after the ego is within 13 m, or stands before the junction."""

    parameters_type: ClassVar[type[Parameters]] = Parameters
    timeout_s: ClassVar[float] = OBSTACLE_TIMEOUT_S
    ahead: JunctionAhead = field(init=False)
    near_s: float = math.nan

    @property
    def at_m(self) -> float:
        """Position of the car along the route."""
        return self.ahead.leave_m + _BEHIND_M

    def setup(self) -> None:
        """Spawn the car, with its brake lights on."""
        self.ahead = junction_ahead(self)
        context = self.context
        cars = ordinary_cars(context.world.get_blueprint_library())
        model = str(cars[int(self.draws("vehicle").integers(len(cars)))].id)
        pose = place_on_route(context.route, self.at_m)
        self.actor_ids = spawn_all(
            context.client, context.world, [(model, pose)], self.element.where
        )
        (car,) = self.actor_ids
        lights = carla.VehicleLightState(carla.VehicleLightState.Brake)
        context.client.apply_batch_sync(
            [
                carla.command.ApplyVehicleControl(car, carla.VehicleControl(hand_brake=True)),
                carla.command.SetVehicleLightState(car, lights),
            ]
        )

    def tick(self, moment: EgoMoment) -> bool:
        """Wait for the ego, then for the waiting time."""
        near = self.at_m - moment.ego_along_m < _NEAR_M
        # A driver that keeps the junction clear would wait before it forever.
        waits = moment.ego_speed_mps < _STILL_MPS
        waits &= self.ahead.enter_m - moment.ego_along_m < _BEFORE_M
        if math.isnan(self.near_s) and (near or waits):
            self.near_s = moment.elapsed_s
            self.note(moment, what="blocks the way", actor=self.actor_ids[0])
        return moment.elapsed_s - self.near_s >= _STANDS_S

    def closed(self) -> list[NDArray[np.float64]]:
        """Close the ego's path over the junction and beyond."""
        return [self.stretch(self.trigger_along_m - BEHIND_M, self.at_m + _AFTER_M)]


RED_S: Final = 5.0


@dataclass(slots=True)
class RedThenGreen:
    """Red, then green for the ego, if there are lights; ``others_green`` start with green."""

    ahead: JunctionAhead
    others_green: list[Any] = field(default_factory=list)
    _held: HeldLights | None = None
    _mine: list[Any] = field(default_factory=list)
    _green_s: float = math.nan

    def begin(self, elapsed_s: float) -> None:
        """Set red for all lights, the ego's included, except those in ``others_green``."""
        self._mine, others = self.ahead.lights()
        if not self._mine:
            return
        green = {light.id for light in self.others_green}
        rest = [light for light in others if light.id not in green]
        mine_too = [light for light in self._mine if light.id in green]
        self._mine = [light for light in self._mine if light.id not in green]
        self._held = HeldLights.hold(
            [*(light for light in others if light.id in green), *mine_too], [*self._mine, *rest]
        )
        self._green_s = elapsed_s + RED_S

    def step(self, elapsed_s: float) -> None:
        """Set green for the ego when the time has come."""
        if elapsed_s >= self._green_s:
            self._green_s = math.nan
            for light in self._mine:
                light.set_state(carla.TrafficLightState.Green)

    def release(self) -> None:
        """Resume the normal phases of the lights."""
        if self._held is not None:
            self._held.release()


_SOURCE_S, _SINK_S = 4.0, 2.5  # time from source to junction and from junction to sink
_PASSED_M: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JunctionTurnParameters(Parameters):
    """Parameters of a stream: speed and spacing of the cars."""

    flow_speed: float = within(20.0, 0.5, 60.0)  # m/s
    source_dist_interval: tuple[float, float] = interval(25.0, 50.0, 6.0)


@scenario(
    "NonSignalizedJunctionLeftTurn",
    "a left turn across oncoming cars",
    benchmark=LEADERBOARD,
    street=left_turn("dark", "straight"),
)
@dataclass(slots=True, kw_only=True)
class LeftTurn(Streams):
    """NonSignalizedJunctionLeftTurn: cars come from the opposite arm, straight on."""

    parameters_type: ClassVar[type[Parameters]] = JunctionTurnParameters
    arm: ClassVar[str] = "opposite"
    they: ClassVar[str] = "straight"  # or "right": direction of the cars
    stands_ready: ClassVar[bool] = False
    lit: ClassVar[bool] = False  # needs traffic lights
    ahead: JunctionAhead = field(init=False)
    lights: RedThenGreen | None = None

    def setup(self) -> None:
        """Find the junction and the lanes that have priority there."""
        self.ahead = junction_ahead(self)
        Streams.setup(self)
        if self.lit:
            if not self.ahead.lights()[0]:
                raise DataError(
                    f"{self.element.where}: the next junction has no traffic light; there is "
                    f"Non{self.element.type} for those."
                )
            self.lights = RedThenGreen(self.ahead, self.ahead.lights_on(self.flows[0].path))

    def ways(self) -> list[LanePath]:
        """Return the path that meets the ego's."""
        speed = float(self.parameters.flow_speed)
        way = self.ahead.crossing(self.arm, _SOURCE_S * speed, _SINK_S * speed, self.they)
        return [way.path]

    def start(self, moment: EgoMoment) -> None:
        """Start the cars; at lights the ego has red for 5 s."""
        Streams.start(self, moment)
        if self.lights is not None:
            self.lights.begin(moment.elapsed_s)

    def tick(self, moment: EgoMoment) -> bool:
        """Set green for the ego when the time has come."""
        if self.lights is not None:
            self.lights.step(moment.elapsed_s)
        return Streams.tick(self, moment)

    def end(self, moment: EgoMoment) -> None:
        """Resume the normal phases of the lights."""
        if self.lights is not None:
            self.lights.release()

    def is_over(self, moment: EgoMoment) -> bool:
        """Return True when the ego is 10 m behind the junction."""
        return moment.ego_along_m > self.ahead.leave_m + _PASSED_M

    def closed(self) -> list[NDArray[np.float64]]:
        """Close the ego's path over the junction and those of the cars."""
        ego = self.stretch(self.trigger_along_m - BEHIND_M, self.ahead.leave_m + 20.0)
        return [ego, *(flow.path.way for flow in self.flows)]


@scenario(
    "SignalizedJunctionLeftTurn",
    "a left turn at lights across oncoming cars",
    benchmark=LEADERBOARD,
    street=left_turn("light", "straight"),
)
@dataclass(slots=True, kw_only=True)
class SignalizedLeftTurn(LeftTurn):
    """SignalizedJunctionLeftTurn: both have green after 5 s, the other cars from the start."""

    lit: ClassVar[bool] = True


@scenario(
    "NonSignalizedJunctionRightTurn",
    "a right turn into cars from the left",
    benchmark=LEADERBOARD,
    street=right_turn("dark", "straight"),
)
@dataclass(slots=True, kw_only=True)
class RightTurn(LeftTurn):
    """NonSignalizedJunctionRightTurn: cars come from the left, straight on."""

    arm: ClassVar[str] = "left"
    stands_ready: ClassVar[bool] = True


@scenario(
    "SignalizedJunctionRightTurn",
    "a right turn at lights into cars from the left",
    benchmark=LEADERBOARD,
    street=right_turn("light", "straight"),
)
@dataclass(slots=True, kw_only=True)
class SignalizedRightTurn(RightTurn):
    """SignalizedJunctionRightTurn."""

    lit: ClassVar[bool] = True


@scenario(
    "NonSignalizedJunctionLeftTurnEnterFlow",
    "a left turn into a stream of cars",
    benchmark=LEADERBOARD,
    street=left_turn("dark", "right"),
)
@dataclass(slots=True, kw_only=True)
class LeftTurnEnterFlow(LeftTurn):
    """NonSignalizedJunctionLeftTurnEnterFlow: cars turn right, into the road that the ego takes."""

    they: ClassVar[str] = "right"


@scenario(
    "SignalizedJunctionLeftTurnEnterFlow",
    "a left turn at lights into a stream of cars",
    benchmark=LEADERBOARD,
    street=left_turn("light", "right"),
)
@dataclass(slots=True, kw_only=True)
class SignalizedLeftTurnEnterFlow(LeftTurnEnterFlow):
    """SignalizedJunctionLeftTurnEnterFlow."""

    lit: ClassVar[bool] = True
