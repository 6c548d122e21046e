"""Bench2Drive's types without other road users: a turn, a lane change, lights and signs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.events import EgoMoment
from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import OBSTACLE_TIMEOUT_S, Parameters, Scenario
from jaywalk.scenarios.catalogue import LEADERBOARD, TURN_RIGHT, StreetNeeds, scenario
from jaywalk.scenarios.junctions._junction_ahead import HeldLights, JunctionAhead, junction_ahead
from jaywalk.scenarios.junctions._junction_turn import RED_S, RedThenGreen

_DRIVEN_M: Final = 200.0
_PASSED_M: Final = 10.0


@scenario("SequentialLaneChange", "lane changes of the route alone", benchmark=LEADERBOARD)
@scenario(
    "T_Junction",
    "a junction with its lights and signs alone",
    benchmark=LEADERBOARD,
    street=StreetNeeds(junction=TURN_RIGHT),
)
@dataclass(slots=True, kw_only=True)
class PlainDrive(Scenario):
    """T_Junction and SequentialLaneChange: over after 200 m."""

    parameters_type: ClassVar[type[Parameters]] = Parameters
    timeout_s: ClassVar[float] = OBSTACLE_TIMEOUT_S

    def tick(self, moment: EgoMoment) -> bool:
        """Return True after 200 m."""
        return moment.ego_along_m > self.trigger_along_m + _DRIVEN_M

    def closed(self) -> list[NDArray[np.float64]]:
        """Close no lanes."""
        return []


@scenario(
    "VanillaNonSignalizedTurn",
    "a turn alone",
    benchmark=LEADERBOARD,
    street=StreetNeeds(junction=TURN_RIGHT, control="dark"),
)
@scenario(
    "VanillaNonSignalizedTurnEncounterStopsign",
    "a turn at a stop sign",
    benchmark=LEADERBOARD,
    street=StreetNeeds(junction=TURN_RIGHT, control="stop"),
)
@dataclass(slots=True, kw_only=True)
class PlainTurn(PlainDrive):
    """VanillaNonSignalizedTurn, with or without a stop sign: over 10 m behind the junction."""

    timeout_s: ClassVar[float] = math.inf
    lit: ClassVar[bool] = False
    ahead: JunctionAhead = field(init=False)

    def setup(self) -> None:
        """Find the junction."""
        self.ahead = junction_ahead(self)
        if self.lit and not self.ahead.lights()[0]:
            raise DataError(f"{self.element.where}: the next junction has no traffic light.")

    def tick(self, moment: EgoMoment) -> bool:
        """Return True when the ego is 10 m behind the junction."""
        return moment.ego_along_m > self.ahead.leave_m + _PASSED_M


@scenario(
    "VanillaSignalizedTurnEncounterRedLight",
    "a turn at red",
    benchmark=LEADERBOARD,
    street=StreetNeeds(junction=TURN_RIGHT, control="light"),
)
@dataclass(slots=True, kw_only=True)
class TurnAtRed(PlainTurn):
    """VanillaSignalizedTurnEncounterRedLight: red for 5 s, then green."""

    lit: ClassVar[bool] = True
    lights: RedThenGreen = field(init=False)

    def start(self, moment: EgoMoment) -> None:
        """Turn the ego's lights red."""
        self.lights = RedThenGreen(self.ahead)
        self.lights.begin(moment.elapsed_s)

    def tick(self, moment: EgoMoment) -> bool:
        """Set green for the ego when the time has come."""
        self.lights.step(moment.elapsed_s)
        return PlainTurn.tick(self, moment)

    def end(self, moment: EgoMoment) -> None:
        """Resume the normal phases of the lights."""
        self.lights.release()


@scenario(
    "VanillaSignalizedTurnEncounterGreenLight",
    "a turn at green",
    benchmark=LEADERBOARD,
    street=StreetNeeds(junction=TURN_RIGHT, control="light"),
)
@dataclass(slots=True, kw_only=True)
class TurnAtGreen(PlainTurn):
    """VanillaSignalizedTurnEncounterGreenLight: green for 5 s, red for 5 s, then normal phases."""

    lit: ClassVar[bool] = True
    held: HeldLights | None = None
    mine_red: bool = False

    def start(self, moment: EgoMoment) -> None:
        """Turn the ego's lights green."""
        self.held = HeldLights.hold(*self.ahead.lights())

    def tick(self, moment: EgoMoment) -> bool:
        """Turn the lights red, then release them."""
        since_s = moment.elapsed_s - self.started_s
        if self.held is not None and since_s >= RED_S and not self.mine_red:
            self.mine_red = True
            for light in self.held.green:
                light.set_state(carla.TrafficLightState.Red)
        if self.held is not None and since_s >= 2.0 * RED_S:
            self.end(moment)
        return PlainTurn.tick(self, moment)

    def end(self, moment: EgoMoment) -> None:
        """Resume the normal phases of the lights."""
        if self.held is not None:
            self.held.release()
            self.held = None
