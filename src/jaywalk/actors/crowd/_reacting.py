"""Ambient people who react: the model of reactions decides, and walkers carry it out.

The crowd plans the same walks and crossings as always. Where a scripted crowd applies its rules for
kerbs and for courses, these people ask :class:`~jaywalk.actors.reactive.model.ReactionModel`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from jaywalk.actors._surroundings import FIRST_OTHER, CrowdView, VehicleNumbers
from jaywalk.actors.crowd._reacting_kernels import carry_out, measure_road, perceive
from jaywalk.actors.crowd.places import WalkNetwork
from jaywalk.actors.crowd.state import (
    CrowdRows,
    CrowdSurroundings,
)
from jaywalk.actors.reactive.model import ReactionModel
from jaywalk.actors.reactive.traits import (
    PRESETS,
    SENIOR,
    SENIOR_SPEED,
    AttentionShares,
    Traits,
    draw_traits,
    noise_key,
)
from jaywalk.core.arrays import FloatArray
from jaywalk.core.seeds import stream
from jaywalk.town.walkways import WalkGrid

COMPONENT: Final = "crowd"  # name of the streams of random numbers
_FIRST_PAUSE_S: Final = 4.0  # the first look of a person begins within this time
_MOVING_MPS: Final = 0.3


def draw_crowd_traits(seed: int, ages: Sequence[str], oblivious: float) -> Traits:
    """Draw the traits of ambient people; their ages are those of their bodies.

    Person ``k`` has the stream (seed, "crowd", "traits", k).
    """
    children = np.array([age == "child" for age in ages], np.bool_)
    shares = AttentionShares(oblivious=oblivious)
    traits = draw_traits(seed, children, shares, COMPONENT, senior=0.0)
    for k, age in enumerate(ages):
        if age == "elderly":
            traits.age[k] = SENIOR
            traits.free_mps[k] *= SENIOR_SPEED
    return traits


@dataclass(slots=True)
class CrowdReactions:
    """Reactions of a crowd.

    Attributes:
        model: Decisions; one row a person.
    """

    model: ReactionModel
    _vehicles: VehicleNumbers = field(default_factory=VehicleNumbers, init=False)
    _last_m: FloatArray = field(init=False)
    _road_m: FloatArray = field(init=False)  # (n, 2) part of the path on the road

    def __post_init__(self) -> None:
        count = len(self.model.rows.x)
        self._last_m = np.full((count, 2), np.nan)
        self._road_m = np.full((count, 2), np.inf)

    @classmethod
    def of(
        cls,
        people_model: str,
        seed: int,
        traits: Traits,
        grid: WalkGrid,
        delta_s: float,
        shift_s: float,
    ) -> CrowdReactions:
        """Make the reactions of people with given traits, who decide every ``delta_s``."""
        model = ReactionModel(
            key=noise_key(seed, COMPONENT),
            traits=traits,
            grid=grid,
            delta_s=delta_s,
            settings=PRESETS[people_model],
            shift_s=shift_s,
        )
        model.rows.keeps_path[:] = False
        for k in range(len(traits.age)):
            draw = stream(seed, COMPONENT, "first look", k).random()
            model.rows.until_s[k] = _FIRST_PAUSE_S * draw
        return cls(model)

    def advance(
        self,
        people: CrowdRows,
        seen: CrowdSurroundings,
        view: CrowdView,
        network: WalkNetwork,
        delta_s: float,
    ) -> None:
        """Decide for all people; fills heading, pace, need and changed.

        Args:
            people: The people; their places are those of the last snapshot.
            seen: Vehicles, props, other people and lights, as ``view`` has just given them.
            view: Tells the vehicles apart.
            network: Ground and crossings.
            delta_s: Time since the last decision.
        """
        rows, numbers = self.model.rows, self._vehicles
        numbers.update(view.vehicle_ids, view.vehicle_roles)
        perceive(
            people,
            rows,
            self.model.traits,
            seen,
            network.crossings,
            network.grid,
            network.ground,
            self._last_m,
            self._road_m,
            delta_s,
        )
        moves = (seen.vehicles[:, 6:8] ** 2).sum(axis=1) >= _MOVING_MPS**2
        # Standing vehicles and props of a scenario are walked around, but nobody remembers them and
        # they hide nothing: the other half of a pair does not have them.
        own = numbers.numbers < FIRST_OTHER
        kept, hides = moves[numbers.order] | own, ~moves[numbers.order] & own
        car, ids = seen.vehicles[numbers.order[kept]], numbers.numbers[kept]
        blocker = np.ascontiguousarray(seen.vehicles[numbers.order[hides], :6])
        thing = np.ascontiguousarray(np.concatenate([seen.vehicles[~moves, :6], seen.props]))
        self.model.step(ids, car, blocker, seen.other_people, thing)
        carry_out(
            people,
            rows,
            self.model.traits,
            seen,
            network.crossings,
            network.grid,
            self._road_m,
            delta_s,
        )

    def plan_changed(self, people: CrowdRows, row: int, grid: WalkGrid) -> None:
        """Forget the last crossing and find the road on a person's new path."""
        rows = self.model.rows
        rows.waited_s[row], rows.evidence[row], rows.looked[row] = 0.0, 0.0, False
        measure_road(people, row, grid, self._road_m[row])

    def recorded(self, ids: Sequence[int]) -> dict[str, Any]:
        """Perception and decisions now, with the ids of actors, for the record."""
        values = self.model.recorded(np.array(ids, np.int64))
        for name in ("gaze_id", "perceived_id"):
            values[name] = self._vehicles.actors(values[name])
        return values
