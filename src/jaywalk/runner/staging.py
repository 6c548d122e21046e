"""Puts routes on the stage without driving them: do they fit, and what do they look like?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import JaywalkError
from jaywalk.geometry.tilted import upright_box
from jaywalk.runner.plan import AgentSpec, EpisodePlan
from jaywalk.runner.staged import StagedEpisode
from jaywalk.runner.world import World
from jaywalk.scenarios.suite import Suite, SuiteRoute


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedBody:
    """Somebody or something on the stage, seen from above. CARLA's left-handed metres, radians."""

    type_id: str
    role: str  # hero, background, or of a scenario
    x_m: float
    y_m: float
    yaw_rad: float
    half_m: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedRoute:
    """A route before its first tick; ``problem`` says why it does not fit."""

    item: SuiteRoute
    problem: str = ""
    route_m: NDArray[np.float64] | None = None  # (n, 2)
    along_m: NDArray[np.float64] | None = None
    trigger_m: float = math.nan  # of the first scenario
    bodies: tuple[StagedBody, ...] = ()


def stage_routes(
    suite: Suite, items: Iterable[SuiteRoute], world: World, *, seed: int = 1,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[StagedRoute]:  # fmt: skip
    """Stage one route after the other."""
    for item in items:
        say(item.id)
        plan = EpisodePlan(
            suite=suite.name, variant=suite.variant, item=item, seed=seed,
            agent=AgentSpec(name="expert"),
        )  # fmt: skip
        try:
            stage = StagedEpisode(plan, world, None)
        except JaywalkError as problem:
            yield StagedRoute(item=item, problem=str(problem))
            continue
        stage.begin()
        route = stage.route
        triggers = [one.trigger_along_m for one in stage.cast.scenarios]
        bodies = _bodies(stage)
        stage.finish("staged")
        yield StagedRoute(
            item=item, route_m=route.position_m[:, :2].copy(), along_m=route.along_m,
            trigger_m=triggers[0] if triggers else math.nan, bodies=bodies,
        )  # fmt: skip


def _bodies(stage: StagedEpisode) -> tuple[StagedBody, ...]:
    found = []
    for actor in stage.carla_world.get_actors():
        if not actor.type_id.startswith(("vehicle.", "walker.", "static.prop.")):
            continue
        state = stage.snapshot.find(actor.id)
        if state is None:
            continue
        pose, box = state.get_transform(), actor.bounding_box
        turn, half, centre = pose.rotation, box.extent, box.location
        yaw = math.radians(turn.yaw)
        hx, hy, _, cx, cy, _ = upright_box(
            half.x, half.y, half.z, centre.x, centre.y, centre.z,
            math.radians(turn.pitch), math.radians(turn.roll),
        )  # fmt: skip
        found.append(StagedBody(
            type_id=actor.type_id, role=actor.attributes.get("role_name", ""),
            x_m=pose.location.x + cx * math.cos(yaw) - cy * math.sin(yaw),
            y_m=pose.location.y + cx * math.sin(yaw) + cy * math.cos(yaw),
            yaw_rad=yaw, half_m=(hx, hy),
        ))  # fmt: skip
    return tuple(found)
