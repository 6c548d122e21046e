"""A stream of cars along a path with random spacing, and the base of scenarios with streams.

In these scenarios the cars drive until the ego has passed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.events import EgoMoment
from jaywalk.actors.lane_paths import LanePath
from jaywalk.actors.pilots import WRECK_S, Pilot, Pilots
from jaywalk.client.placing import ordinary_cars
from jaywalk.core.seeds import stream
from jaywalk.core.units import MPS_TO_KMH
from jaywalk.scenarios.base import Scenario, ScenarioContext

_DROP_M: Final = 0.2
_SINK_M: Final = 2.0
_RETRY_S: Final = 0.5  # if the source is occupied
_MOST: Final = 24  # cars at a time


@dataclass(slots=True, kw_only=True)
class Flow:
    """Cars that appear at the beginning of a path and vanish at its end.

    Car ``k`` has its own random stream, so its model and distance depend on nothing else.
    """

    context: ScenarioContext
    key: tuple[str | int, ...]  # key of its random streams
    path: LanePath
    spacing_m: tuple[float, float]  # between the origins of two cars
    models: tuple[Any, ...] = ()  # blueprints to draw from; ordinary cars if none
    filled_m: float = 0.0  # cars are spawned on the path up to here at the beginning
    speed_mps: float = 8.0
    pilots: Pilots = field(init=False)
    _made: int = 0
    _retry_s: float = -1.0
    _last: Pilot | None = None
    _gap_m: float = 0.0
    _models: list[Any] = field(default_factory=list)
    _unmeasured: list[Pilot] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Prepare the stream."""
        library = self.context.world.get_blueprint_library()
        self._models = list(self.models) or ordinary_cars(library)
        self.pilots = Pilots(
            self.context.client, self.context.world, self.context.delta_s, self.context.traffic
        )

    @property
    def actor_ids(self) -> list[int]:
        """Actor ids of the present cars."""
        return [car.actor_id for car in self.pilots.cars]

    def begin(self, speed_mps: float) -> None:
        """Spawn the first cars, the foremost at the end of the filled part."""
        self.speed_mps = speed_mps
        place = self.filled_m
        while place >= 0.0 and self._made < _MOST:
            if not self._spawn(place):
                self._made += 1  # the place is occupied; leave this car out
            place -= self._gap_m

    def step(self, moment: EgoMoment, source: bool = True) -> None:
        """Drive the cars; add one at the source if there is room, remove those at the end."""
        self._measure(moment)
        self.pilots.step(moment.snapshot)
        self._sink()
        last = self._last
        clear = last is None or last.gone or last.along_m >= self._gap_m
        due = source and clear and moment.elapsed_s >= self._retry_s
        if due and len(self.pilots.cars) < _MOST and not self._spawn(0.0):
            self._retry_s = moment.elapsed_s + _RETRY_S

    def _spawn(self, along_m: float) -> bool:
        """Spawn a car at a place; return False if there is no room."""
        random = stream(self.context.seed, *self.key, self._made)
        model = self._models[int(random.integers(len(self._models)))]
        self._gap_m = float(random.uniform(*self.spacing_m))
        if model.has_attribute("role_name"):
            model.set_attribute("role_name", "scenario")
        command = carla.command.SpawnActor(model, self.path.pose(along_m, _DROP_M))
        answer = self.context.client.apply_batch_sync([command])[0]
        if answer.error:
            return False
        car = Pilot(
            actor_id=answer.actor_id,
            path=self.path,
            speed_mps=self.speed_mps,
            command_mps=self.speed_mps,
        )
        car.place(along_m)
        self.pilots.cars.append(car)
        self._unmeasured.append(car)
        self._last, self._made = car, self._made + 1
        return True

    def _measure(self, moment: EgoMoment) -> None:
        """Read sizes from the actors, which the client knows only after a tick."""
        known = [car for car in self._unmeasured if moment.snapshot.has_actor(car.actor_id)]
        if not known:
            return
        actors = {a.id: a for a in self.context.world.get_actors([c.actor_id for c in known])}
        for car in known:
            if car.actor_id in actors:  # the snapshot may list a car that is gone
                car.measure(actors[car.actor_id])
        self._unmeasured = [car for car in self._unmeasured if car not in known]

    def _sink(self) -> None:
        end_m = self.path.length_m - _SINK_M
        done = [c for c in self.pilots.cars if c.along_m > end_m or c.knocked_s > WRECK_S]
        if not done:
            return
        commands = [carla.command.DestroyActor(car.actor_id) for car in done]
        self.context.client.apply_batch_sync(commands)
        for car in done:
            car.gone = True
        self.pilots.cars = [car for car in self.pilots.cars if not car.gone]


def limit_mps(context: ScenarioContext, moment: EgoMoment) -> float:
    """Return the speed limit for the ego here, in m/s."""
    ego = context.world.get_actor(moment.ego_id)
    limit = float(ego.get_speed_limit()) / MPS_TO_KMH if ego is not None else 0.0
    return limit if np.isfinite(limit) and limit > 1.0 else 30.0 / MPS_TO_KMH


@dataclass(slots=True, kw_only=True)
class Flowing(Scenario):
    """Cars come while the scenario runs; those on their way drive on afterwards."""

    flows: list[Flow] = field(default_factory=list)

    def is_over(self, moment: EgoMoment) -> bool:
        """Return True when the ego has passed."""
        raise NotImplementedError

    def tick(self, moment: EgoMoment) -> bool:
        """Drive the cars; return True when the ego has passed."""
        self._drive(moment, source=True)
        return self.is_over(moment)

    def end(self, moment: EgoMoment) -> None:
        """Let no more cars appear."""

    def linger(self, moment: EgoMoment) -> None:
        """Let the cars on their way drive on."""
        self._drive(moment, source=False)

    def moves(self) -> list[NDArray[np.float64]]:
        """Paths of its vehicles."""
        return [flow.path.way for flow in self.flows]

    def _drive(self, moment: EgoMoment, source: bool) -> None:
        for flow in self.flows:
            flow.step(moment, source)
        self.actor_ids = [actor for flow in self.flows for actor in flow.actor_ids]
