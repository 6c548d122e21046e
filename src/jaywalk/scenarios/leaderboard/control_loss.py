"""ControlLoss: three patches of debris on which the ego's throttle and steering slip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import carla

from jaywalk.scenarios.base import Moment, Parameters, Scenario
from jaywalk.scenarios.parameter_fields import ignored
from jaywalk.scenarios.placing import place_on_route, spawn_all

_DEBRIS: Final = "static.prop.dirtdebris01"
_PATCHES_M: Final = (14.0, 48.0, 74.0)
_REACH_M: Final = 2.0
_END_M: Final = 110.0
_THROTTLE, _THROTTLE_SPREAD = 0.03, 0.01
_STEER, _STEER_SPREAD = 0.055, 0.015
_UP_M: Final = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlLossParameters(Parameters):
    """ControlLoss takes none; one public route has elements that nobody reads."""

    distance: str = ignored()
    direction: str = ignored()
    speed: str = ignored()


@dataclass(slots=True, kw_only=True)
class ControlLoss(Scenario):
    """On a patch the ego's control is not quite what the driver decided."""

    parameters_type: ClassVar[type[Parameters]] = ControlLossParameters
    patch: int = -1  # the one the ego is on
    ticks: int = 0

    def setup(self) -> None:
        """Put the debris on the lane."""
        places = [
            (_DEBRIS, place_on_route(self.stage.route, self.trigger_along_m + ahead_m, up_m=_UP_M))
            for ahead_m in _PATCHES_M
        ]
        self.actor_ids = spawn_all(self.stage.client, self.stage.world, places, self.spec.where)

    def tick(self, moment: Moment) -> bool:
        """Find out whether the ego is on a patch."""
        driven_m = moment.ego_along_m - self.trigger_along_m
        gaps = [abs(driven_m - ahead_m) for ahead_m in _PATCHES_M]
        patch = gaps.index(min(gaps)) if min(gaps) < _REACH_M else -1
        if patch >= 0 and patch != self.patch:
            self.note(moment, what="control slips", patch=patch)
        self.patch = patch
        self.ticks += 1
        return driven_m > _END_M

    def end(self, moment: Moment) -> None:
        """The debris goes."""
        self.patch = -1
        Scenario.end(self, moment)

    def disturb(self, control: Any) -> Any:
        """Throttle and steering off by a little, to one side all along a patch."""
        if self.patch < 0:
            return control
        sides = self.draws("side", self.patch).choice((-1.0, 1.0), size=2)
        random = self.draws("noise", self.ticks)
        throttle = control.throttle + sides[0] * _THROTTLE + random.normal(0.0, _THROTTLE_SPREAD)
        steer = control.steer + sides[1] * _STEER + random.normal(0.0, _STEER_SPREAD)
        return carla.VehicleControl(
            throttle=min(max(float(throttle), 0.0), 1.0), steer=min(max(float(steer), -1.0), 1.0),
            brake=control.brake, hand_brake=control.hand_brake, reverse=control.reverse,
            manual_gear_shift=control.manual_gear_shift, gear=control.gear,
        )  # fmt: skip
