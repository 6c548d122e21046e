"""Base of Jaywalk's drivers: a route line, perception, steering and pedals."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import carla
import numpy as np

from jaywalk.agents.base import Briefing, Decision, Driver, Moment, Plan
from jaywalk.agents.driving._controls import Pedals, Steering
from jaywalk.agents.driving._following import Manner, free_road
from jaywalk.agents.driving.perception import EgoVehicle, LimitedPerception, Perception
from jaywalk.agents.driving.route_line import STEP_M, RouteLine, make_line
from jaywalk.agents.driving.signals import Signals, find_signals
from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.core.units import MPS_TO_KMH

# Used where the map has no limit; CARLA's vehicles assume the same.
DEFAULT_LIMIT_MPS: Final = 30.0 / MPS_TO_KMH
WORLD: Final = ("map", "lights", "signs", "actors")  # needed by drivers that react to other actors
_PLAN_M: Final = 30.0
_SLOWEST_BEND_MPS: Final = 2.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Acceleration that a driver chooses, with the reason."""

    acceleration_mps2: float
    reason: str


class RouteDriver(Driver):
    """Driver that follows the route; a subclass chooses the acceleration."""

    manner: ClassVar[Manner] = Manner()

    def setup(self, briefing: Briefing) -> None:
        """Build the route line and find its signals."""
        self.briefing = briefing
        self.line: RouteLine = make_line(briefing.route, briefing.map, DEFAULT_LIMIT_MPS)
        self.perception = _perception(briefing)
        self.signals: Signals = find_signals(briefing.world, self.line, briefing.delta_s)
        self.along_m = 0.0
        self._steering = Steering(briefing.delta_s)
        self._pedals = Pedals(briefing.delta_s)
        self.allowed_mps: FloatArray = allowed_speeds(self.line, self.manner)

    def decide(self, moment: Moment) -> Decision:
        """Steer along the line and set the pedals for the chosen acceleration."""
        own = self.perception.own(moment.snapshot)
        self.along_m = self.line.locate(own.x_m, own.y_m, int(self.along_m / STEP_M))
        self.signals.watch()
        choice = self.accelerate(own, moment)
        speed = max(own.speed_mps, 0.0)
        throttle, brake = self._pedals.press(speed, choice.acceleration_mps2)
        steer = self._steering.turn(self.line, self.along_m, own.x_m, own.y_m, own.yaw_rad, speed)
        return Decision(
            control=carla.VehicleControl(throttle=throttle, steer=steer, brake=brake),
            plan=self.plan(),
            debug=self.debug(choice),
        )

    @abstractmethod
    def accelerate(self, own: EgoVehicle, moment: Moment) -> Choice:
        """Choose the present acceleration."""

    def plan(self) -> Plan:
        """Return the next part of the line as a plan."""
        first = int(self.along_m / STEP_M)
        return Plan(path_m=self.line.xy_m[first : first + int(_PLAN_M / STEP_M) : 2].copy())

    def debug(self, choice: Choice) -> dict[str, Any]:
        """Return debug data of a decision."""
        wanted = round(choice.acceleration_mps2, 3)
        return {"longitudinal": {"reason": choice.reason, "wanted_mps2": wanted}}

    def cruise_mps2(self, own: EgoVehicle) -> float:
        """Return the acceleration towards the speed that limit and bends allow here."""
        at = min(int(self.along_m / STEP_M), len(self.line) - 1)
        return free_road(max(own.speed_mps, 0.0), float(self.allowed_mps[at]), self.manner)


def _perception(briefing: Briefing) -> Perception:
    """Make the perception that the argument ``perception`` asks for: full (default) or limited."""
    wanted = str(briefing.arguments.get("perception", "full"))
    kinds = {"full": Perception, "limited": LimitedPerception}
    if wanted not in kinds:
        raise UsageError(f"perception '{wanted}': expected full or limited.")
    return kinds[wanted](briefing.world, briefing.ego)


def allowed_speeds(
    line: RouteLine, manner: Manner, first: int = 0, last: int | None = None
) -> FloatArray:
    """Return the speed at each sample by limit and curvature, lowered early enough to brake."""
    part = slice(first, last)
    bend = np.sqrt(manner.lateral_mps2 / np.maximum(line.curvature_pm[part], 1e-4))
    allowed = np.minimum(
        manner.speed_factor * line.limit_mps[part], np.maximum(bend, _SLOWEST_BEND_MPS)
    )
    # v^2 may grow by 2 b s going backwards: a running minimum of v^2 + 2 b s from the end.
    slope = 2.0 * 0.8 * manner.braking_mps2 * STEP_M * np.arange(len(allowed))
    squares = np.minimum.accumulate((allowed**2 + slope)[::-1])[::-1] - slope
    return np.asarray(np.sqrt(squares))
