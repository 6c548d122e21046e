"""Ambient people who react, on a street made here: gaps, vehicles, each other, and their draws."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
from crowd_street import DELTA_S

from jaywalk.actors.crowd._crossings import Crossings
from jaywalk.actors.crowd._reacting import CrowdReactions, draw_crowd_traits
from jaywalk.actors.crowd.state import CrowdRows
from jaywalk.actors.reactive.traits import ATTENTIVE, REACTIVE
from jaywalk.core.arrays import FloatArray
from jaywalk.town.ground import flat_ground
from jaywalk.town.walkways import WalkGrid

BODY_M = 0.188  # radius of a walker's body


@dataclass
class View:
    """What tells the vehicles of a scene apart."""

    vehicle_ids: list[int]
    vehicle_roles: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.vehicle_roles = ["background"] * len(self.vehicle_ids)

    def hides(self) -> FloatArray:
        return np.zeros((0, 6))


def react(
    people: CrowdRows, grid: WalkGrid, seed: int = 1, attention: int | None = ATTENTIVE
) -> CrowdReactions:
    """Reactions of people on their paths, all of one kind unless ``attention`` is None."""
    traits = draw_crowd_traits(seed, ["adult"] * len(people.x), 0.02)
    if attention is not None:
        traits.attention[:] = attention
    reactions = CrowdReactions.of(REACTIVE, seed, traits, grid, DELTA_S, 0.0)
    for row in range(len(people.x)):
        reactions.plan_changed(people, row, grid)
    return reactions


def run(
    people: CrowdRows,
    reactions: CrowdReactions,
    around: Any,
    ticks: int,
    grid: WalkGrid,
    ways: Crossings,
) -> FloatArray:
    """Let them walk as the server lets them; places (ticks, n, 2)."""
    trace = np.zeros((ticks, len(people.x), 2))
    network: Any = SimpleNamespace(crossings=ways, grid=grid, ground=flat_ground())
    view: Any = View(list(range(1, len(around.vehicles) + 1)))
    for tick in range(ticks):
        reactions.advance(people, around, view, network, DELTA_S)
        people.sent_heading[:], people.sent_pace[:] = people.heading, people.pace
        people.x[:] += people.pace * np.cos(people.heading) * DELTA_S
        people.y[:] += people.pace * np.sin(people.heading) * DELTA_S
        around.vehicles[:, 0] += around.vehicles[:, 6] * DELTA_S
        around.vehicles[:, 1] += around.vehicles[:, 7] * DELTA_S
        trace[tick] = np.column_stack([people.x, people.y])
    return trace
