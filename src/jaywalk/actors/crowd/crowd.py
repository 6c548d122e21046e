"""Background crowd on the client side: seeded, stepped on the tick, equal on every server.

Call :meth:`Crowd.step` once before each ``world.tick()``. It reads the last snapshot, decides for
all people at once and sends one batch with the changed controls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import carla
import numpy as np

from jaywalk.actors._surroundings import CrowdView
from jaywalk.actors.crowd._adoption import read_walkers, take_over
from jaywalk.actors.crowd._kernels import advance
from jaywalk.actors.crowd._plans import CrowdArea, PedestrianMemory, plan
from jaywalk.actors.crowd._reacting import CrowdReactions, draw_crowd_traits
from jaywalk.actors.crowd._spawning import Candidate, draw_person, spawn_people
from jaywalk.actors.crowd.places import WalkNetwork, near_route, walk_network_of
from jaywalk.actors.crowd.state import (
    NOTHING,
    RELEASED,
    CrowdMember,
    CrowdRows,
    CrowdSettings,
    make_crowd_rows,
)
from jaywalk.actors.reactive.model import weather_shift_s
from jaywalk.actors.reactive.traits import PEOPLE_MODELS, PRESETS, SCRIPTED
from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.seeds import stream
from jaywalk.town.routes import DenseRoute

_PLANS: Final = 4  # plans per step; more must wait for a later step, so that no tick takes long
_DECIDE_S: Final = 0.1  # interval between two decisions
_CALM: Final = CrowdSettings()
_WANDER_M: Final = 10.0  # people may leave the band of the route by up to this distance


@dataclass(slots=True)
class Crowd:
    """Background crowd.

    Example:
        >>> crowd = Crowd(client, world, seed=1)  # doctest: +SKIP
        >>> crowd.spawn(30, route)  # doctest: +SKIP
        >>> while driving:  # doctest: +SKIP
        ...     crowd.step()
        ...     world.tick()

    Attributes:
        people_model: ``scripted``, or how the people react to vehicles and to each other.
        ids: Actor ids in the order of the people's numbers.
        people: Traits of the people, in the same order.
    """

    client: carla.Client
    world: carla.World
    seed: int
    delta_s: float = 0.05
    network: WalkNetwork | None = None
    settings: CrowdSettings = _CALM
    people_model: str = SCRIPTED
    ids: list[int] = field(default_factory=list, init=False)
    people: list[CrowdMember] = field(default_factory=list, init=False)
    _rows: CrowdRows = field(default_factory=lambda: make_crowd_rows(0), init=False)
    _memories: list[PedestrianMemory] = field(default_factory=list, init=False)
    _area: CrowdArea | None = field(default=None, init=False)
    _view: CrowdView | None = field(default=None, init=False)
    _tick: int = field(default=0, init=False)
    _reactions: CrowdReactions | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.people_model not in PEOPLE_MODELS:
            raise UsageError(
                f"The people model of a crowd is '{self.people_model}'; expected one of "
                f"{', '.join(PEOPLE_MODELS)}."
            )

    def spawn(
        self,
        count: int,
        route: DenseRoute | None = None,
        keep_clear_m: Sequence[tuple[float, float, float]] = (),
    ) -> list[int]:
        """Spawn exactly ``count`` people on sidewalks along the route; return their ids.

        Args:
            count: Number of people.
            route: People stay in a band along it; None: in the whole town.
            keep_clear_m: Circles (x, y, radius) without people, for instance around the ego.

        Raises:
            DataError: A person found no place; all people spawned so far are removed.
        """
        network = self._town()
        crowd = [draw_person(self.seed, number, self.settings) for number in range(count)]
        spawned = spawn_people(
            self.client, self.world, network, crowd, route, keep_clear_m, self.settings
        )
        self.people = [member.person for member in spawned]
        self.ids = [member.person.actor_id for member in spawned]
        self._area = _area_along(network, route, self.settings.band_m + _WANDER_M)
        self._fill_rows(network, [member.candidate for member in spawned])
        self._react()
        return list(self.ids)

    def adopt(self, ids: Sequence[int]) -> None:
        """Take over people that already exist; they continue their present walking or standing.

        Args:
            ids: Their actor ids; the position in this list names a person's random stream.
        """
        network = self._town()
        self.ids = list(ids)
        self._area = _area_along(network, None, 0.0)
        walkers = read_walkers(self.world, network, self.ids, self.seed, self.settings)
        self._fill_rows(network, [walker.candidate for walker in walkers])
        self._react([walker.candidate.speed_mps for walker in walkers])
        take_over(self._rows, self._memories, walkers, self._area, self.settings)
        if self._reactions is not None:
            for row in range(len(self.ids)):
                self._reactions.plan_changed(self._rows, row, network.grid)

    def _town(self) -> WalkNetwork:
        if self.network is None:
            self.network = walk_network_of(self.world)
        return self.network

    def _fill_rows(self, network: WalkNetwork, candidates: list[Candidate]) -> None:
        """Fill the rows from the drawn people and their places."""
        self._rows = rows = make_crowd_rows(len(self.ids))
        self._memories = []
        if self.people_model == SCRIPTED:
            self._view = CrowdView(self.world, self.ids)
        else:
            self._view = CrowdView(self.world, self.ids, cars_every=1)
        actors = {actor.id: actor for actor in self.world.get_actors(self.ids)}
        if len(actors) != len(self.ids):
            raise DataError(f"{len(self.ids) - len(actors)} people vanished while spawning.")
        for row, candidate in enumerate(candidates):
            rows.half_height[row] = actors[self.ids[row]].bounding_box.extent.z
            rows.x[row], rows.y[row] = candidate.x_m, candidate.y_m
            rows.z[row] = candidate.z_m + rows.half_height[row]
            rows.heading[row] = rows.sent_heading[row] = candidate.yaw_rad
            rows.speed[row], rows.margin[row] = candidate.speed_mps, candidate.margin_s
            rows.patience[row], rows.obeys[row] = candidate.patience_s, candidate.obeys
            rows.timer[row] = candidate.rest_s
            self._memories.append(
                PedestrianMemory(
                    random=stream(self.seed, "crowd", "plans", row),
                    intended=candidate.intended,
                    block=int(network.places.block[candidate.place]),
                    keep_m=candidate.keep_m,
                    eager=candidate.eager,
                )
            )

    def _react(self, speeds_mps: Sequence[float] = ()) -> None:
        """Give the people traits and a model of reactions, unless they are scripted.

        Args:
            speeds_mps: Their free speeds, if known; empty: as drawn.
        """
        if self.people_model == SCRIPTED:
            return
        network, count = self._town(), len(self.ids)
        ages = [person.age for person in self.people] or [""] * count
        traits = draw_crowd_traits(self.seed, ages, self.settings.oblivious)
        if len(speeds_mps):
            traits.free_mps[:] = speeds_mps
        self.people = [
            replace(person, speed_mps=float(speed))
            for person, speed in zip(self.people, traits.free_mps[: len(self.people)], strict=True)
        ]
        self._rows.speed[:] = traits.free_mps
        shift_s = weather_shift_s(self.world.get_weather(), PRESETS[self.people_model])
        every_s = self._every * self.delta_s
        self._reactions = CrowdReactions.of(
            self.people_model, self.seed, traits, network.grid, every_s, shift_s
        )

    @property
    def _every(self) -> int:
        """Ticks between two decisions."""
        return max(round(_DECIDE_S / self.delta_s), 1)

    def step(self, snapshot: carla.WorldSnapshot | None = None) -> None:
        """Decide for this tick and send the changed controls; call before ``world.tick()``."""
        if self._view is None or self._area is None or not self.ids:
            return
        rows = self._rows
        self._tick += 1
        if self._tick % self._every:
            return
        if snapshot is None:
            snapshot = self.world.get_snapshot()
        since_s = self._every * self.delta_s
        surroundings = self._view.look(snapshot, rows, since_s)
        network = self._area.network
        if self._reactions is not None:
            self._reactions.advance(rows, surroundings, self._view, network, since_s)
        else:
            advance(rows, surroundings, network.crossings, network.grid, network.ground, since_s)
        if rows.need.any():
            for row in np.flatnonzero(rows.need)[:_PLANS].tolist():
                plan(rows, row, self._memories[row], self._area, self.settings)
                if self._reactions is not None:
                    self._reactions.plan_changed(rows, row, network.grid)
        if rows.changed.any():
            self._send()

    def _send(self) -> None:
        rows = self._rows
        chosen = np.flatnonzero(rows.changed)
        heading, pace = rows.heading[chosen], rows.pace[chosen]
        rows.sent_heading[chosen], rows.sent_pace[chosen] = heading, pace
        command, control, vector = (
            carla.command.ApplyWalkerControl,
            carla.WalkerControl,
            carla.Vector3D,
        )
        columns = zip(
            chosen.tolist(),
            np.cos(heading).tolist(),
            np.sin(heading).tolist(),
            pace.tolist(),
            strict=True,
        )
        self.client.apply_batch(
            [
                command(self.ids[row], control(vector(x, y, 0.0), v, False))
                for row, x, y, v in columns
            ]
        )

    def release(self, actor_id: int) -> None:
        """Stop controlling a person, so that other code can; other people still avoid them."""
        row = self.ids.index(actor_id)
        self._rows.state[row], self._rows.pace[row] = RELEASED, 0.0
        self._rows.need[row] = NOTHING

    def state_of(self, actor_id: int) -> int:
        """Current state of a person, as numbered in ``crowd_state``."""
        return int(self._rows.state[self.ids.index(actor_id)])

    def crossings_made(self, actor_id: int) -> int:
        """Number of roads that a person has crossed so far."""
        return self._memories[self.ids.index(actor_id)].crossed

    def reactions(self) -> dict[str, Any]:
        """What the people perceive and decide now, for the record; empty: nobody reacts."""
        return {} if self._reactions is None else self._reactions.recorded(self.ids)

    def destroy(self) -> None:
        """Remove the people."""
        self.client.apply_batch_sync([carla.command.DestroyActor(actor) for actor in self.ids])
        self.ids, self.people, self._memories = [], [], []
        self._rows, self._view, self._reactions = make_crowd_rows(0), None, None


def _area_along(network: WalkNetwork, route: DenseRoute | None, band_m: float) -> CrowdArea:
    places, crossings = network.places, network.crossings
    if route is None:
        return CrowdArea(
            network=network,
            places=np.ones(len(places.x), np.bool_),
            crossings=np.ones(len(crossings.a), np.bool_),
        )
    middle = 0.5 * (crossings.a + crossings.b)
    return CrowdArea(
        network=network,
        places=near_route(np.column_stack([places.x, places.y]), route, band_m),
        crossings=near_route(middle, route, band_m),
    )
