"""CustomObstacles: any things on the lane, in a layout of their own.

PassableObstacles are the same things beside the ego's way: they need no reaction, and agents that
read the Leaderboard's list of scenarios are not told of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import Moment, Parameters, Scenario, Told
from jaywalk.scenarios.obstacle_layouts import Piece, Spot, on_slope, rigid_pose
from jaywalk.scenarios.obstacle_on_lane import OnLane
from jaywalk.scenarios.parameter_fields import (
    PlacedObject,
    ahead,
    interval,
    objects,
    side,
    unread_choice,
    within,
)
from jaywalk.scenarios.public_obstacles import LbTwoWays

PASSABLE: Final = "Passable"  # part of the scenario's name
# Partners that draw from streams of their own.
_STREAMS: Final = {
    "accident": "AccidentTwoWays", "parked": "ParkedObstacleTwoWays",
    "parkedvehicle": "ParkedObstacleTwoWays",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomParameters(Parameters):
    """CustomObstacle.

    The public toolbox notes beside the things what they are compared with, and on which side it
    draws that; its scenario class reads neither, ours draws from the streams of the former.
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
    """CustomObstacleTwoWays."""

    frequency: tuple[float, float] = interval(20.0, 100.0)


def custom_layout(scenario: Scenario, spot: Spot) -> list[Piece]:
    """The things, nearest to the ego first."""
    things = sorted(scenario.parameters.objects, key=lambda thing: thing.x)
    if not things:
        raise DataError(f"{scenario.spec.where}: <objects> is missing; expected one or more.")
    anchor = on_slope(spot)
    return [
        Piece(model=thing.id, pose=rigid_pose(anchor, thing),
              is_car=thing.id.startswith("vehicle."))
        for thing in things
    ]  # fmt: skip


class _Custom(OnLane):
    """Both ways to pass; a plain class, since a dataclass with slots could not be mixed in."""

    layout = staticmethod(custom_layout)

    def told(self) -> Told | None:
        """What agents are told: nothing, where there is nothing to go round."""
        return None if PASSABLE in self.spec.name else super().told()

    def end(self, moment: Moment) -> None:
        """The things stay, as in the public class."""
        self.actor_ids = []
        super().end(moment)


@dataclass(slots=True, kw_only=True)
class CustomObstacle(_Custom):
    """On a road with another lane of the same direction; the things stay when it is over."""

    parameters_type: ClassVar[type[Parameters]] = CustomParameters
    draws_as: ClassVar[str] = "ConstructionObstacle"
    told_as: ClassVar[str] = "ConstructionObstacle"


@dataclass(slots=True, kw_only=True)
class CustomObstacleTwoWays(_Custom, LbTwoWays):
    """To be passed on the opposite lane; the things stay when it is over."""

    parameters_type: ClassVar[type[Parameters]] = CustomTwoWaysParameters
    draws_as: ClassVar[str] = "ConstructionObstacleTwoWays"
    told_as: ClassVar[str] = "ConstructionObstacleTwoWays"

    def drawn_as(self) -> str:
        """What it is compared with, so that the same cars come in both."""
        return _STREAMS.get(self.parameters.baseline_overlay, self.draws_as)
