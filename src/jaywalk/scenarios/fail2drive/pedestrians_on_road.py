"""PedestriansOnRoad: people walk on the ego's lane, away from it, then stand, then are gone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.scenarios.base import BEHIND_M, Moment, Parameters, Scenario
from jaywalk.scenarios.models import pick_model
from jaywalk.scenarios.parameter_fields import ahead, people, within
from jaywalk.scenarios.placing import place_on_route, spawn_first_that_fits

_PLACES_M: Final = ((0.5, 0.5), (0.0, 0.0), (1.0, -0.5))  # ahead, to the right
_STAND_S: Final = 5.0  # the last seconds
_AFTER_M: Final = 50.0
_UP_M: Final = 1.1
_TRIES, _TRY_M = 4, 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class PedestriansOnRoadParameters(Parameters):
    """PedestriansOnRoad."""

    distance: float = ahead(20.0)
    walker_duration: float = within(20.0, 0.0, 600.0)  # s
    walker_speed: float = within(2.0, 0.0, 12.0)  # m/s
    pedestrians: tuple[str, ...] = people(len(_PLACES_M))


@dataclass(slots=True, kw_only=True)
class PedestriansOnRoad(Scenario):
    """They set off when the ego comes to the trigger and follow the lane."""

    parameters_type: ClassVar[type[Parameters]] = PedestriansOnRoadParameters
    walked_m: list[float] = field(default_factory=list)
    standing: bool = True

    def setup(self) -> None:
        """Put them on the lane."""
        given: PedestriansOnRoadParameters = self.parameters
        library = self.stage.world.get_blueprint_library()
        first_m = self.trigger_along_m + given.distance
        for number, pattern in enumerate(given.pedestrians):
            ahead_m, right_m = _PLACES_M[number]
            name = pick_model(library, pattern, self.draws("person", number), self.spec.where)
            poses = [
                place_on_route(self.stage.route, first_m + ahead_m + k * _TRY_M, right_m, _UP_M)
                for k in range(_TRIES)
            ]
            actor = spawn_first_that_fits(self.stage.world, name, poses, self.spec.where)
            self.actor_ids.append(actor.id)
            self.walked_m.append(first_m + ahead_m)

    def start(self, moment: Moment) -> None:
        """They walk."""
        self.standing = False
        self.note(moment, what="walk", actors=list(self.actor_ids))

    def tick(self, moment: Moment) -> bool:
        """Walk along the lane, stand, vanish."""
        given: PedestriansOnRoadParameters = self.parameters
        since_s = moment.elapsed_s - self.started_s
        if since_s < given.walker_duration - _STAND_S:
            self._walk(given.walker_speed)
        elif not self.standing:
            self.standing = True
            self._walk(0.0)
        return since_s >= given.walker_duration

    def _walk(self, speed_mps: float) -> None:
        commands = []
        for number, actor in enumerate(self.actor_ids):
            yaw = place_on_route(self.stage.route, self.walked_m[number]).rotation.yaw
            self.walked_m[number] += speed_mps * self.stage.delta_s
            way = carla.Rotation(yaw=yaw).get_forward_vector()
            control = carla.WalkerControl(way, speed_mps, False)
            commands.append(carla.command.ApplyWalkerControl(actor, control))
        self.stage.client.apply_batch(commands)

    def closed(self) -> list[NDArray[np.float64]]:
        """The ego's lane up to 50 m beyond them."""
        at_m = self.trigger_along_m + float(self.parameters.distance)
        walked_m = float(self.parameters.walker_speed) * float(self.parameters.walker_duration)
        return [self.stretch(self.trigger_along_m - BEHIND_M, at_m + walked_m + _AFTER_M)]
