"""Steering and pedals by PID, for agents that follow waypoints."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from typing import Any

import carla

from agents.tools.misc import get_speed  # type: ignore[import-not-found]


class _Pid:
    """One controlled value; the integral is over the last ten errors."""

    def __init__(self, K_P: float, K_I: float, K_D: float, dt: float) -> None:
        self.change_parameters(K_P, K_I, K_D, dt)
        self._errors: deque[float] = deque(maxlen=10)

    def change_parameters(self, K_P: float, K_I: float, K_D: float, dt: float) -> None:
        """Take other gains."""
        self._gains, self._step_s = (K_P, K_I, K_D), dt

    def answer(self, error: float) -> float:
        """The command for an error, in [-1, 1]."""
        self._errors.append(error)
        slope = summed = 0.0
        if len(self._errors) > 1:
            slope = (self._errors[-1] - self._errors[-2]) / self._step_s
            summed = sum(self._errors) * self._step_s
        straight, integral, derivative = self._gains
        wanted = straight * error + integral * summed + derivative * slope
        return max(-1.0, min(1.0, wanted))


class PIDLongitudinalController(_Pid):
    """Pedals towards a speed in km/h."""

    def __init__(
        self, vehicle: Any, K_P: float = 1.0, K_I: float = 0.0, K_D: float = 0.0, dt: float = 0.03
    ) -> None:
        super().__init__(K_P, K_I, K_D, dt)
        self._vehicle = vehicle

    def run_step(self, target_speed: float, debug: bool = False) -> float:
        """From full brake (-1) to full throttle (1)."""
        return self.answer(target_speed - get_speed(self._vehicle))


class PIDLateralController(_Pid):
    """Steering towards a waypoint."""

    def __init__(
        self,
        vehicle: Any,
        offset: float = 0.0,
        K_P: float = 1.0,
        K_I: float = 0.0,
        K_D: float = 0.0,
        dt: float = 0.03,
    ) -> None:
        super().__init__(K_P, K_I, K_D, dt)
        self._vehicle, self._offset = vehicle, offset

    def set_offset(self, offset: float) -> None:
        """Drive so far right of the waypoints."""
        self._offset = offset

    def run_step(self, waypoint: Any) -> float:
        """Steering by the angle to the waypoint."""
        pose, aim = self._vehicle.get_transform(), waypoint.transform
        side = aim.get_right_vector()
        dx = aim.location.x + self._offset * side.x - pose.location.x
        dy = aim.location.y + self._offset * side.y - pose.location.y
        turn = math.atan2(dy, dx) - math.radians(pose.rotation.yaw)
        return self.answer((turn + math.pi) % (2.0 * math.pi) - math.pi)


class VehiclePIDController:
    """Both together."""

    def __init__(
        self,
        vehicle: Any,
        args_lateral: Mapping[str, float],
        args_longitudinal: Mapping[str, float],
        offset: float = 0.0,
        max_throttle: float = 0.75,
        max_brake: float = 0.3,
        max_steering: float = 0.8,
    ) -> None:
        self.max_throttle, self.max_brake, self.max_steer = max_throttle, max_brake, max_steering
        self.past_steering = float(vehicle.get_control().steer)
        self._lon_controller = PIDLongitudinalController(vehicle, **args_longitudinal)
        self._lat_controller = PIDLateralController(vehicle, offset, **args_lateral)

    def run_step(self, target_speed: float, waypoint: Any) -> Any:
        """Control towards a waypoint at a speed in km/h; the wheel turns by 0.1 a step at most."""
        push = self._lon_controller.run_step(target_speed)
        wanted = self._lat_controller.run_step(waypoint)
        steer = max(self.past_steering - 0.1, min(self.past_steering + 0.1, wanted))
        self.past_steering = max(-self.max_steer, min(self.max_steer, steer))
        return carla.VehicleControl(
            throttle=min(max(push, 0.0), self.max_throttle),
            brake=min(max(-push, 0.0), self.max_brake),
            steer=self.past_steering,
        )

    def change_longitudinal_PID(self, args_longitudinal: Mapping[str, float]) -> None:  # noqa: N802
        """Take other gains."""
        self._lon_controller.change_parameters(**args_longitudinal)

    def change_lateral_PID(self, args_lateral: Mapping[str, float]) -> None:  # noqa: N802
        """Take other gains."""
        self._lat_controller.change_parameters(**args_lateral)

    def set_offset(self, offset: float) -> None:
        """Drive so far right of the waypoints."""
        self._lat_controller.set_offset(offset)
