"""Pictures of a pair from the driver's place: both halves are driven, and the shift is captured."""

from __future__ import annotations

import math
import queue
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.agents.base import Briefing
from jaywalk.agents.base import Moment as DriverMoment
from jaywalk.agents.load import make_driver, seed_name
from jaywalk.core.errors import InfrastructureError
from jaywalk.core.seeds import derive_seed
from jaywalk.runner.live_episode import LiveEpisode
from jaywalk.runner.plan import AgentSpec, EpisodePlan
from jaywalk.runner.session import STEP_S, SimulatorSession
from jaywalk.scenarios.base import Phase
from jaywalk.scenarios.suite import Suite, SuiteRoute

SIZE_PX: Final = (960, 540)
_DRIVER: Final = "expert"
_EYE: Final = (1.5, 1.6)  # metres before the middle of the car, and above the road
_FOV_DEG: Final = 90
_EVERY_TICKS: Final = 6
_WAIT_S: Final = 20.0  # for a picture
_BEST_M, _BEST_OF_MANY_M, _SPREAD_M = 14.0, 20.0, 8.0  # best distance from the shift
_ENOUGH_PX: Final = 0.01 * SIZE_PX[0] * SIZE_PX[1]  # an object this large is clearly visible
_ASIDE: Final = 0.7  # share of half the picture; objects farther out are about to leave it
_SMALL_ASIDE: Final = 0.86
_REACH_M: Final = 60.0
_GIVE_UP_S: Final = 6.0  # time after the best picture
_FEW: Final = 3
_GOOD: Final = 0.1  # a score that is good enough to end a drive
_WAITING: Final = 0.4  # factor for a picture before the scenario begins
_PLACE_M: Final = 4.0  # a base is captured about this near to the place of its shift
_LIGHTS: Final = carla.VehicleLightState
_LAMPS: Final = (
    (int(_LIGHTS.Brake), "brake lights on"),
    (int(_LIGHTS.LeftBlinker) | int(_LIGHTS.RightBlinker), "hazard lights on"),
    (int(_LIGHTS.Special1), "blue lights on"),
)
_OTHERS: Final = ("hero", "background")
_BLOCKERS: Final = "_PedestrianOtherBlocker_"  # class whose shift is an object that hides a person
_SMALL: Final = frozenset(
    f"static.prop.{name}"
    for name in (
        "ampel",
        "dirt",
        "graffiti",
        "schild",
        "smiley",
        "snow",
        "stickers",
        "walkingkid",
        "walkingkidlarge",
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Photo:
    """A picture from the driver's place."""

    item: SuiteRoute
    pixels: NDArray[np.uint8]  # (rows, columns, 3): red, green, blue
    along_m: float  # distance along the route
    elapsed_s: float
    score: float
    detail_px: tuple[int, int] | None = None  # column and row of a small object
    lamps: str = ""  # lamps lit on actors of the scenarios; no camera shows them


def photograph_pairs(
    suite: Suite,
    items: Iterable[SuiteRoute],
    world: SimulatorSession,
    *,
    seed: int = 1,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[tuple[Photo, Photo]]:
    """Yield base and shift of every pair in a set of routes."""
    halves: dict[str, list[SuiteRoute]] = {}
    for item in items:
        halves.setdefault(item.pair, []).append(item)
    for pair in halves.values():
        base, shift = sorted(pair, key=lambda item: int(item.route.id))
        say(shift.id)
        after = _Drive(_plan(suite, shift, seed), world, None).photo()
        say(base.id)
        yield _Drive(_plan(suite, base, seed), world, after).photo(), after


def _plan(suite: Suite, item: SuiteRoute, seed: int) -> EpisodePlan:
    return EpisodePlan.of_suite(suite, item, seed=seed, agent=AgentSpec(name=_DRIVER))


class _Drive:
    """One drive with a camera; keeps the best picture."""

    def __init__(self, plan: EpisodePlan, world: SimulatorSession, partner: Photo | None) -> None:
        self._plan = plan
        self._partner = partner
        self._episode = LiveEpisode(plan, world, None)
        self._best: Photo | None = None
        self._small = False
        self._images: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._masks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._cameras = [
            self._camera("sensor.camera.rgb", self._images),
            self._camera("sensor.camera.instance_segmentation", self._masks),
        ]

    def _camera(self, kind: str, sink: queue.SimpleQueue[Any]) -> Any:
        world = self._episode.world
        model = world.get_blueprint_library().find(kind)
        values = {
            "image_size_x": SIZE_PX[0],
            "image_size_y": SIZE_PX[1],
            "fov": _FOV_DEG,
            "sensor_tick": _EVERY_TICKS * STEP_S,
        }
        for name, value in values.items():
            model.set_attribute(name, str(value))
        ahead_m, above_m = _EYE
        place = carla.Transform(carla.Location(x=ahead_m, z=above_m))
        camera = world.spawn_actor(model, place, attach_to=self._episode.ego)
        camera.listen(sink.put)
        return camera

    def photo(self) -> Photo:
        """Drive until no better picture is possible; return the best one."""
        episode = self._episode
        driver = make_driver(_DRIVER)
        seed = derive_seed(self._plan.seed, "driver", seed_name(_DRIVER))
        driver.setup(
            Briefing(
                client=episode.session.client,
                world=episode.world,
                map=episode.map,
                ego=episode.ego,
                route=episode.route,
                delta_s=STEP_S,
                seed=seed,
                announcements=episode.actors.announcements(),
            )
        )
        try:
            episode.begin()
            things = self._things()
            while not episode.judge() and not self._is_over():
                episode.prepare()
                moment = DriverMoment(
                    frame=episode.snapshot.frame,
                    elapsed_s=episode.elapsed_s,
                    snapshot=episode.snapshot,
                )
                episode.move(driver.decide(moment))
                if episode.tick % _EVERY_TICKS == 1:
                    self._consider(things)
        finally:
            driver.close()
            for camera in self._cameras:
                camera.stop()
            episode.finish("seen")
        if self._best is None:
            raise InfrastructureError(f"{self._plan.item.id}: the camera sent no picture.")
        return self._best

    def _is_over(self) -> bool:
        if self._best is None:
            return False
        since_s = self._episode.elapsed_s - self._best.elapsed_s
        if self._partner is None:
            return self._best.score > _GOOD and since_s > _GIVE_UP_S
        passed = self._episode.progress.along_m > self._partner.along_m + 3.0 * _PLACE_M
        late_s = self._episode.elapsed_s - self._partner.elapsed_s
        return passed or (late_s > _GIVE_UP_S and since_s > _GIVE_UP_S)

    def _things(self) -> set[int]:
        """Return the scenarios' actors to show: small ones, else those of the shift, else all."""
        named = {
            actor_id
            for scenario in self._episode.actors.scenarios
            for actor_id in scenario.actor_ids
        }
        kinds = {
            actor.id: actor.type_id
            for actor in self._episode.world.get_actors()
            if actor.type_id.startswith(("vehicle.", "walker.", "static.prop."))
            and (actor.id in named or actor.attributes.get("role_name", "") not in _OTHERS)
        }
        small = {actor_id for actor_id, kind in kinds.items() if kind in _SMALL}
        self._small = bool(small)
        shift = "static.prop." if _BLOCKERS in self._plan.item.id else "walker."
        return (
            small
            or {actor_id for actor_id in kinds if kinds[actor_id].startswith(shift)}
            or set(kinds)
        )

    def _consider(self, things: set[int]) -> None:
        image, mask = self._take(self._images), self._take(self._masks)
        seen, ids = _seen(mask, things)
        score = self._score(seen, ids, things)
        if self._best is not None and score <= self._best.score:
            return
        pixels = np.frombuffer(image.raw_data, np.uint8).reshape(image.height, image.width, 4)
        self._best = Photo(
            item=self._plan.item,
            pixels=pixels[..., 2::-1].copy(),
            along_m=self._episode.progress.along_m,
            elapsed_s=self._episode.elapsed_s,
            score=score,
            detail_px=_middle(seen) if self._small else None,
            lamps=self._lamps(things),
        )

    def _lamps(self, things: set[int]) -> str:
        states = self._episode.world.get_vehicles_light_states()
        lit = 0
        for actor_id in things & set(states):
            lit |= int(states[actor_id])
        return ", ".join(word for flags, word in _LAMPS if lit & flags == flags)

    def _take(self, source: queue.SimpleQueue[Any]) -> Any:
        """Return the picture of this tick."""
        frame = self._episode.snapshot.frame
        while True:
            try:
                image = source.get(timeout=_WAIT_S)
            except queue.Empty:
                raise InfrastructureError(
                    f"{self._plan.item.id}: no picture of frame {frame} within {_WAIT_S:g} s."
                ) from None
            if image.frame >= frame:
                return image

    def _score(self, seen: NDArray[np.bool_], ids: list[int], things: set[int]) -> float:
        """Score the visibility of objects and, for a base, the distance to its shift's place."""
        near = 1.0
        if self._partner is not None:
            apart_m = self._episode.progress.along_m - self._partner.along_m
            near = 1.0 / (1.0 + (apart_m / _PLACE_M) ** 2)
            if not things:
                return near
        away_m = self._distance_m(ids)
        if away_m > _REACH_M:
            return 0.01 * near if self._partner is not None else 0.0
        aside = float(np.abs(2.0 * np.nonzero(seen)[1] / seen.shape[1] - 1.0).mean())
        limit = _SMALL_ASIDE if self._small else _ASIDE
        shown = min(float(seen.sum()) / _ENOUGH_PX, 1.0)
        inside = 1.0 - max(aside - limit, 0.0) / (1.0 - limit)
        best_m = _BEST_OF_MANY_M if len(things) > _FEW else _BEST_M
        far = math.exp(-(((away_m - best_m) / _SPREAD_M) ** 2))
        running = any(
            scenario.phase is Phase.RUNNING for scenario in self._episode.actors.scenarios
        )
        begun = 1.0 if running else _WAITING
        return near * begun * math.sqrt(shown * len(ids) / len(things)) * inside * far

    def _distance_m(self, ids: list[int]) -> float:
        snapshot = self._episode.snapshot
        ego = snapshot.find(self._episode.ego.id)
        states = [state for actor_id in ids if (state := snapshot.find(actor_id)) is not None]
        if ego is None or not states:
            return math.inf
        here = ego.get_transform().location
        away_m = [here.distance(state.get_transform().location) for state in states]
        return float(np.median(away_m))


def _seen(mask: Any, things: set[int]) -> tuple[NDArray[np.bool_], list[int]]:
    """Return the pixels of an instance image that show some objects, and the ids of those shown."""
    pixels = np.frombuffer(mask.raw_data, np.uint8).reshape(mask.height, mask.width, 4)
    instance = pixels[..., 1] + 256 * pixels[..., 0].astype(np.int64)
    wanted = np.zeros(65536, np.bool_)
    wanted[[actor_id & 0xFFFF for actor_id in things]] = True
    seen = wanted[instance]
    shown = set(np.unique(instance[seen]).tolist())
    return seen, sorted(actor_id for actor_id in things if actor_id & 0xFFFF in shown)


def _middle(seen: NDArray[np.bool_]) -> tuple[int, int] | None:
    rows, columns = np.nonzero(seen)
    return (int(columns.mean()), int(rows.mean())) if len(rows) else None
