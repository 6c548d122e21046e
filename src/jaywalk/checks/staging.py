"""Staging of routes without driving: fit of routes and scenarios, and views for pictures.

An episode is set up on a server, and its actors are read before the first tick.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import JaywalkError
from jaywalk.geometry.box import upright_carla_box
from jaywalk.geometry.pose import yaw_rad
from jaywalk.runner.live_episode import LiveEpisode
from jaywalk.runner.plan import AgentSpec, EpisodePlan
from jaywalk.runner.session import SimulatorSession
from jaywalk.scenarios.suite import Suite, SuiteRoute

_KINDS: Final = (("vehicle.", "vehicle"), ("walker.", "walker"), ("static.", "prop"))


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedBody:
    """One actor's footprint. Frame: CARLA's left-handed metres."""

    kind: str  # ego, vehicle, walker or prop
    type_id: str
    is_background: bool
    x_m: float
    y_m: float
    yaw_rad: float
    half_x_m: float
    half_y_m: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedView:
    """Footprints of all actors, and the paths of the scenarios' vehicles (x, y and more)."""

    bodies: list[StagedBody]
    ways: list[NDArray[np.float64]]


def view_stage(plan: EpisodePlan, world: SimulatorSession) -> StagedView:
    """Set up an episode and return its view.

    Raises:
        DataError: The route or a scenario does not fit; the message names the place.
    """
    episode = LiveEpisode(plan, world, None)
    try:
        actors = sorted(episode.world.get_actors(), key=lambda one: one.id)
        bodies = [body for one in actors if (body := _body(one, episode.ego.id)) is not None]
        ways = [way for scenario in episode.actors.scenarios for way in scenario.moves()]
        return StagedView(bodies=bodies, ways=ways)
    finally:
        episode.finish("looked at")


def _body(actor: Any, ego_id: int) -> StagedBody | None:
    kind = next((name for prefix, name in _KINDS if actor.type_id.startswith(prefix)), None)
    if kind is None:
        return None
    box, pose = actor.bounding_box, actor.get_transform()
    centre = pose.transform(box.location)
    half_x, half_y, *_ = upright_carla_box(box, pose.rotation)
    return StagedBody(
        kind="ego" if actor.id == ego_id else kind,
        type_id=actor.type_id,
        is_background=actor.attributes.get("role_name") == "background",
        x_m=centre.x,
        y_m=centre.y,
        yaw_rad=yaw_rad(pose),
        half_x_m=max(half_x, 0.05),
        half_y_m=max(half_y, 0.05),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StagingStagedBody:
    """An actor on the episode, seen from above. CARLA's left-handed metres, radians."""

    type_id: str
    role: str  # hero, background, or a scenario's role
    x_m: float
    y_m: float
    yaw_rad: float
    half_m: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedRoute:
    """A route before its first tick; ``problem`` states why it does not fit."""

    item: SuiteRoute
    problem: str = ""
    route_m: NDArray[np.float64] | None = None  # (n, 2)
    along_m: NDArray[np.float64] | None = None
    trigger_m: float = math.nan  # trigger of the first scenario
    bodies: tuple[StagingStagedBody, ...] = ()


def stage_routes(
    suite: Suite,
    items: Iterable[SuiteRoute],
    world: SimulatorSession,
    *,
    seed: int = 1,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[StagedRoute]:
    """Stage routes one after the other and yield each."""
    for item in items:
        say(item.id)
        plan = EpisodePlan.of_suite(suite, item, seed=seed, agent=AgentSpec(name="expert"))
        try:
            episode = LiveEpisode(plan, world, None)
        except JaywalkError as problem:
            yield StagedRoute(item=item, problem=str(problem))
            continue
        episode.begin()
        route = episode.route
        triggers = [one.trigger_along_m for one in episode.actors.scenarios]
        bodies = _bodies(episode)
        episode.finish("staged")
        yield StagedRoute(
            item=item,
            route_m=route.position_m[:, :2].copy(),
            along_m=route.along_m,
            trigger_m=triggers[0] if triggers else math.nan,
            bodies=bodies,
        )


def _bodies(episode: LiveEpisode) -> tuple[StagingStagedBody, ...]:
    bodies = []
    for actor in episode.world.get_actors():
        if not actor.type_id.startswith(("vehicle.", "walker.", "static.prop.")):
            continue
        state = episode.snapshot.find(actor.id)
        if state is None:
            continue
        pose, box = state.get_transform(), actor.bounding_box
        yaw = yaw_rad(pose)
        hx, hy, _, cx, cy, _ = upright_carla_box(box, pose.rotation)
        bodies.append(
            StagingStagedBody(
                type_id=actor.type_id,
                role=actor.attributes.get("role_name", ""),
                x_m=pose.location.x + cx * math.cos(yaw) - cy * math.sin(yaw),
                y_m=pose.location.y + cx * math.sin(yaw) + cy * math.cos(yaw),
                yaw_rad=yaw,
                half_m=(hx, hy),
            )
        )
    return tuple(bodies)
