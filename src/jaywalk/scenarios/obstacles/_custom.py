"""CustomObstacles, PassableObstacles and RoadBlocked.

CustomObstacles are any objects on the lane, in a given layout. PassableObstacles are the same
objects beside the ego's path: they need no reaction and are not announced to agents that read the
Leaderboard's list of scenarios. RoadBlocked blocks the whole road for a minute; FullyBlocked and
Wall are made of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.events import EgoMoment
from jaywalk.actors.lane_paths import lane_ahead, lane_behind, opposite_lane, path_of
from jaywalk.client.placing import place_on_route, spawn_all
from jaywalk.core.errors import DataError
from jaywalk.core.units import MPS_TO_KMH
from jaywalk.scenarios.base import BEHIND_M, Parameters, Scenario, ScenarioAnnouncement
from jaywalk.scenarios.catalogue import (
    FAIL2DRIVE,
    OPPOSITE_LANE,
    SAME_LANE,
    TAKES_FIRST_BRANCH,
    Placing,
    Shift,
    scenario,
)
from jaywalk.scenarios.obstacles._layouts import Piece, Spot, on_slope, rigid_pose
from jaywalk.scenarios.obstacles._on_lane import OnLane, brake_commands
from jaywalk.scenarios.obstacles._two_ways import LbTwoWays
from jaywalk.scenarios.parameter_fields import (
    PlacedObject,
    ahead,
    interval,
    objects,
    side,
    unread_choice,
    within,
)

# Partners with separate random streams.
_STREAMS: Final = {
    "accident": "AccidentTwoWays",
    "parked": "ParkedObstacleTwoWays",
    "parkedvehicle": "ParkedObstacleTwoWays",
}


_CUSTOM_OBSTACLES: Final = Shift(
    name="CustomObstacles",
    category="Visual-lat",
    caption="obstacles never seen before",
    pairs=(20, 29),
)
_PASSABLE_OBSTACLES: Final = Shift(
    name="PassableObstacles",
    category="Robustness",
    caption="things beside the way",
    pairs=(60, 64),
    scenario_name="Passable",
    partner="none",
    objects=tuple(
        {"model": "static.prop.constructioncone", "x": x_m, "y": -2.1}
        for x_m in (0.0, 1.0, 2.0, 3.0)
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomParameters(Parameters):
    """Parameters of CustomObstacle.

    The public toolbox stores next to the objects their partner and the side on which it draws that.
    Its scenario class reads neither; Jaywalk's class uses the random streams of the partner.
    """

    distance: float = ahead(100.0)
    direction: str = side()
    speed: float = within(60.0, 0.0)  # km/h
    objects: tuple[PlacedObject, ...] = objects()
    baseline_overlay: str = unread_choice(
        "construction", "accident", "parked", "parkedvehicle", "none"
    )
    overlay_direction: str = unread_choice("right", "left")


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomTwoWaysParameters(CustomParameters):
    """Parameters of CustomObstacleTwoWays."""

    frequency: tuple[float, float] = interval(20.0, 100.0)


def custom_layout(scenario: Scenario, spot: Spot) -> list[Piece]:
    """Lay out the objects, the nearest to the ego first."""
    things = sorted(scenario.parameters.objects, key=lambda thing: thing.x)
    if not things:
        raise DataError(f"{scenario.element.where}: <objects> is missing; expected one or more.")
    anchor = on_slope(spot)
    return [
        Piece(
            model=thing.id, pose=rigid_pose(anchor, thing), is_car=thing.id.startswith("vehicle.")
        )
        for thing in things
    ]


class _Custom(OnLane):
    """Base of both types; a plain class, because a dataclass with slots cannot be mixed in."""

    layout = staticmethod(custom_layout)

    def announcement(self) -> ScenarioAnnouncement | None:
        """Announce the objects unless the ego can pass without leaving its lane."""
        return (
            None
            if _PASSABLE_OBSTACLES.scenario_name in self.element.name
            else super().announcement()
        )

    def end(self, moment: EgoMoment) -> None:
        """Keep the objects, as the public class does."""
        self.actor_ids = []
        super().end(moment)


@scenario(
    "CustomObstacle",
    "any things on the lane",
    benchmark=FAIL2DRIVE,
    street=SAME_LANE,
    shifts=(
        _CUSTOM_OBSTACLES,
        _PASSABLE_OBSTACLES,
    ),
    partners={
        "construction": "ConstructionObstacle",
        "accident": "Accident",
        "parked": "ParkedObstacle",
        "none": "",
    },
    placing=TAKES_FIRST_BRANCH,
)
@dataclass(slots=True, kw_only=True)
class CustomObstacle(_Custom):
    """Objects on a road with another lane of the same direction; they stay after the end."""

    parameters_type: ClassVar[type[Parameters]] = CustomParameters
    rng_type: ClassVar[str] = "ConstructionObstacle"
    leaderboard_name: ClassVar[str] = "ConstructionObstacle"


@scenario(
    "CustomObstacleTwoWays",
    "any things on the lane, cars come",
    benchmark=FAIL2DRIVE,
    street=OPPOSITE_LANE,
    shifts=(
        _CUSTOM_OBSTACLES,
        _PASSABLE_OBSTACLES,
    ),
    partners={
        "construction": "ConstructionObstacleTwoWays",
        "accident": "AccidentTwoWays",
        "parked": "ParkedObstacleTwoWays",
        "none": "",
    },
    placing=TAKES_FIRST_BRANCH,
)
@dataclass(slots=True, kw_only=True)
class CustomObstacleTwoWays(_Custom, LbTwoWays):
    """Objects to be passed on the opposite lane; they stay after the end."""

    parameters_type: ClassVar[type[Parameters]] = CustomTwoWaysParameters
    rng_type: ClassVar[str] = "ConstructionObstacleTwoWays"
    leaderboard_name: ClassVar[str] = "ConstructionObstacleTwoWays"

    def resolve_rng_type(self) -> str:
        """Return the type of its partner, so that the same cars come in both."""
        return _STREAMS.get(self.parameters.baseline_overlay, self.rng_type)


_AFTER_M: Final = 60.0
_REACH_M: Final = 120.0
_JAM_MPS: Final = 1.0 / MPS_TO_KMH


@dataclass(frozen=True, slots=True, kw_only=True)
class RoadBlockedParameters(Parameters):
    """Parameters of RoadBlocked."""

    distance: float = ahead(100.0)
    wait: float = within(60.0, 0.0, 600.0)  # s from the trigger until the objects are removed
    objects: tuple[PlacedObject, ...] = objects()


@scenario(
    "RoadBlocked",
    "everything is blocked for a minute",
    benchmark=FAIL2DRIVE,
    shifts=(
        Shift(
            name="FullyBlocked",
            category="Behavior",
            caption="blocked from kerb to kerb",
            pairs=(30, 34),
        ),
        Shift(
            name="Wall",
            category="Behavior",
            caption="bricks, or a picture of a road",
            pairs=(95, 99),
            object_models=("brickwall", "screenshot", "autobahn"),
            objects=tuple(
                {
                    "model": "static.prop.brickwall",
                    "x": 0.0,
                    "y": y_m,
                    "z": 1.55,
                    "yaw": 90.0,
                    "roll": 90.0,
                }
                for y_m in (-3.53, 0.53)
            ),
        ),
    ),
    placing=Placing(sign_at_trigger=False),
)
@dataclass(slots=True, kw_only=True)
class RoadBlocked(Scenario):
    """The ego must wait. There is no time-out: the rule for blocked vehicles stays in force."""

    parameters_type: ClassVar[type[Parameters]] = RoadBlockedParameters
    leaderboard_name: ClassVar[str] = "RoadBlocked"

    @property
    def at_m(self) -> float:
        """Position of the objects along the route."""
        return self.trigger_along_m + float(self.parameters.distance)

    def setup(self) -> None:
        """Spawn the objects."""
        if self.at_m > float(self.context.route.along_m[-1]):
            raise DataError(f"{self.element.where}: <distance> is beyond the end of the route.")

        def place(ahead_m: float, right_m: float = 0.0, up_m: float = 0.0, turn_deg: float = 0.0):  # type: ignore[no-untyped-def]
            return place_on_route(self.context.route, self.at_m + ahead_m, right_m, up_m, turn_deg)

        pieces = custom_layout(self, Spot(place=place, outwards=1.0, lane_width_m=0.0))
        self.actor_ids = spawn_all(
            self.context.client,
            self.context.world,
            [(p.model, p.pose) for p in pieces],
            self.element.where,
        )
        self.context.client.apply_batch_sync(brake_commands(pieces, self.actor_ids))

    def announcement(self) -> ScenarioAnnouncement | None:
        """Announce the first and last object."""
        if not self.actor_ids:
            return None
        return ScenarioAnnouncement(
            name=self.leaderboard_name, first_actor=self.actor_ids[0], last_actor=self.actor_ids[-1]
        )

    def start(self, moment: EgoMoment) -> None:
        """Stop the traffic; the public class removes it for this time."""
        self.cap_traffic(moment, _JAM_MPS)

    def tick(self, moment: EgoMoment) -> bool:
        """Return True after ``wait`` seconds from the trigger."""
        return moment.elapsed_s - self.started_s >= float(self.parameters.wait)

    def end(self, moment: EgoMoment) -> None:
        """Clear the road and release the traffic."""
        self.note(moment, what="the road is free")
        self.cap_traffic(moment, None)
        self.destroy(self.actor_ids)

    def closed(self) -> list[NDArray[np.float64]]:
        """Close the ego's lane and the opposite one."""
        ways = [self.stretch(self.trigger_along_m - BEHIND_M, self.at_m + _AFTER_M)]
        here = self.context.map.get_waypoint(place_on_route(self.context.route, self.at_m).location)
        lane = opposite_lane(here)
        if lane is not None:
            beside = [*lane_behind(lane, _REACH_M), *lane_ahead(lane, _REACH_M)[1:]]
            ways.append(path_of(beside).way)
        return ways
