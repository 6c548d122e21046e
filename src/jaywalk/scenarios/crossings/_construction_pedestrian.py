"""ConstructionPedestrian: a person steps out of a construction site as the ego passes it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.events import EgoMoment
from jaywalk.client.placing import pick_model, place_on_route, spawn_first_that_fits
from jaywalk.core.units import MPS_TO_KMH
from jaywalk.scenarios.base import BEHIND_M, Parameters
from jaywalk.scenarios.catalogue import FAIL2DRIVE, SAME_LANE, TAKES_FIRST_BRANCH, Shift, scenario
from jaywalk.scenarios.obstacles._layouts import construction_site
from jaywalk.scenarios.obstacles._on_lane import OnLane
from jaywalk.scenarios.parameter_fields import ahead, model, side, within

_REACTION_S: Final = 1.5
_NEAREST_M: Final = 6.0
_SPEED_MPS, _WAY_M = 2.0, 8.0
_TRAFFIC_MPS: Final = 1.0 / MPS_TO_KMH  # speed of background traffic, regardless of ``speed``
_UP_M: Final = 1.1
_TRIES, _TRY_M = 5, 0.3
_AFTER_M: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstructionPedestrianParameters(Parameters):
    """Parameters of ConstructionObstaclePedestrian."""

    distance: float = ahead(100.0)
    direction: str = side()
    speed: float = within(60.0, 0.0)  # km/h; the public class does not use it
    pedestrian: str = model("walker.pedestrian.0030", "walker.")


@scenario(
    "ConstructionObstaclePedestrian",
    "a person steps out of a construction site",
    benchmark=FAIL2DRIVE,
    street=SAME_LANE,
    shifts=(
        Shift(
            name="ConstructionPedestrian",
            category="Behavior",
            caption="somebody steps out of the site",
            pairs=(10, 14),
        ),
    ),
    base="ConstructionObstacle",
    placing=TAKES_FIRST_BRANCH,
)
@dataclass(slots=True, kw_only=True)
class ConstructionPedestrian(OnLane):
    """A person at the anchor of the site who walks across its free side."""

    parameters_type: ClassVar[type[Parameters]] = ConstructionPedestrianParameters
    rng_type: ClassVar[str] = "ConstructionObstacle"
    leaderboard_name: ClassVar[str] = "ConstructionObstacle"
    sign: ClassVar[str] = "static.prop.warningconstruction"
    layout = staticmethod(construction_site)
    walker_id: int = 0
    yaw_deg: float = 0.0
    passes_at: tuple[float, float] = (math.nan, math.nan)
    began_s: float = math.nan
    gone: bool = False

    def setup(self) -> None:
        """Place the site and the person in it."""
        OnLane.setup(self)
        outwards = 1.0 if self.parameters.direction == "right" else -1.0
        library = self.context.world.get_blueprint_library()
        name = pick_model(
            library, self.parameters.pedestrian, self.draws("walker"), self.element.where
        )
        poses = [
            place_on_route(
                self.context.route, self.at_m - k * _TRY_M, up_m=_UP_M, turn_deg=-90.0 * outwards
            )
            for k in range(_TRIES)
        ]
        self.yaw_deg = float(poses[0].rotation.yaw)
        actor = spawn_first_that_fits(self.context.world, name, poses, self.element.where)
        self.walker_id = actor.id
        beside = place_on_route(self.context.route, self.at_m, -outwards * self.spot().lane_width_m)
        self.passes_at = beside.location.x, beside.location.y
        # First, so that the sign beside the road stays the last actor.
        self.actor_ids = [*self.actor_ids[:1], actor.id, *self.actor_ids[1:]]

    def tick(self, moment: EgoMoment) -> bool:
        """Let the person cross when the ego is about to pass."""
        if math.isnan(self.began_s):
            if self._gap_m(moment) <= max(_NEAREST_M, _REACTION_S * moment.ego_speed_mps):
                self.began_s = moment.elapsed_s
                self._walk()
                self.note(moment, what="steps out", actor=self.walker_id)
        elif not self.gone and moment.elapsed_s - self.began_s >= _WAY_M / _SPEED_MPS:
            self.gone = True
            self.destroy([self.walker_id])
        return OnLane.tick(self, moment)

    def _gap_m(self, moment: EgoMoment) -> float:
        """Distance from the ego to the middle of the lane beside the person."""
        state = moment.snapshot.find(moment.ego_id)
        pose = (
            state.get_transform()
            if state is not None
            else place_on_route(self.context.route, moment.ego_along_m)
        )
        ego = pose.location
        return float(np.hypot(ego.x - self.passes_at[0], ego.y - self.passes_at[1]))

    def _walk(self) -> None:
        way = carla.Rotation(yaw=self.yaw_deg).get_forward_vector()
        control = carla.WalkerControl(way, _SPEED_MPS, False)
        self.context.client.apply_batch([carla.command.ApplyWalkerControl(self.walker_id, control)])

    def react(self, moment: EgoMoment) -> None:
        """Limit all other traffic to 1 km/h."""
        self.cap_traffic(moment, _TRAFFIC_MPS)

    def closed(self) -> list[NDArray[np.float64]]:
        """Close the ego's lane, far beyond the site."""
        return [self.stretch(self.trigger_along_m - BEHIND_M, self.at_m + _AFTER_M)]
