"""Three people cross before a junction, each with a pace and a hesitation of their own."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Final

import carla

from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import Moment, Parameters, Scenario
from jaywalk.scenarios.junction_ahead import junction_ahead
from jaywalk.scenarios.models import pick_model
from jaywalk.scenarios.parameter_fields import model
from jaywalk.scenarios.placing import place_on_route, roadside, spawn_first_that_fits

_REACTION_S: Final = 3.5
_NEAREST_M: Final = 12.0
_END_M: Final = 40.0
_WAY_SHARE: Final = 2.3  # of the distance to the ego's lane: over the road and a bit more
_PLACES_M: Final = ((0.4, 1.5), (1.0, 2.5), (1.6, 0.5))  # ahead, beyond the middle of the sidewalk
_HESITATION_S, _PACE_MPS = (0.0, 1.5), (1.3, 2.0)
_UP_M: Final = 1.2
_TRIES, _TRY_M = 6, 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class CrosswalkGroupParameters(Parameters):
    """Who they are."""

    walker: str = model("walker.pedestrian.*", "walker.")


@dataclass(slots=True)
class _Person:
    actor_id: int
    hesitation_s: float
    speed_mps: float
    walks_s: float
    state: int = 0  # 0 waits, 1 walks, 2 gone


@dataclass(slots=True, kw_only=True)
class CrosswalkGroup(Scenario):
    """They start when the ego arrives in 3.5 s and are gone when they have crossed."""

    parameters_type: ClassVar[type[Parameters]] = CrosswalkGroupParameters
    at_m: float = 0.0
    yaw_deg: float = 0.0
    began_s: float = math.nan
    people: list[_Person] = field(default_factory=list)

    def setup(self) -> None:
        """Put them beside the road, on the right, where the junction begins."""
        stage, where = self.stage, self.spec.where
        self.at_m = junction_ahead(self).enter_m - 1.0
        here = place_on_route(stage.route, self.at_m)
        beside = roadside(stage.map, here, to_right=True)
        if not beside.sidewalk_m:
            raise DataError(f"{where}: no sidewalk right of the lane before the next junction.")
        self.yaw_deg = here.rotation.yaw - 90.0
        library = stage.world.get_blueprint_library()
        for number, (ahead_m, beyond_m) in enumerate(_PLACES_M):
            random = self.draws("person", number)
            model = pick_model(library, self.parameters.walker, random, where)
            aside_m = beside.middle_m(0.0) + beyond_m
            poses = [
                place_on_route(stage.route, self.at_m + ahead_m + k * _TRY_M, aside_m, _UP_M, -90.0)
                for k in range(_TRIES)
            ]
            actor = spawn_first_that_fits(stage.world, model, poses, where)
            speed = float(random.uniform(*_PACE_MPS))
            way_m = _WAY_SHARE * math.hypot(aside_m, ahead_m)
            wait_s = float(random.uniform(*_HESITATION_S))
            self.actor_ids.append(actor.id)
            self.people.append(_Person(actor.id, wait_s, speed, way_m / speed))

    def tick(self, moment: Moment) -> bool:
        """Cross; over when the ego has passed."""
        left_m = self.at_m - moment.ego_along_m
        if math.isnan(self.began_s) and (
            left_m <= max(_NEAREST_M, _REACTION_S * moment.ego_speed_mps)
        ):
            self.began_s = moment.elapsed_s
            self.note(moment, what="cross", actors=list(self.actor_ids))
        if not math.isnan(self.began_s):
            self._move(moment.elapsed_s - self.began_s)
        return left_m < -_END_M

    def _move(self, since_s: float) -> None:
        for person in self.people:
            if person.state == 0 and since_s >= person.hesitation_s:
                person.state = 1
                way = carla.Rotation(yaw=self.yaw_deg).get_forward_vector()
                control = carla.WalkerControl(way, person.speed_mps, False)
                self.stage.client.apply_batch(
                    [carla.command.ApplyWalkerControl(person.actor_id, control)]
                )
            elif person.state == 1 and since_s >= person.hesitation_s + person.walks_s:
                person.state = 2
                self.destroy([person.actor_id])
