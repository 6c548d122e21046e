"""What stands where before the first tick: an episode set up on a server and looked at."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.runner.plan import EpisodePlan
from jaywalk.runner.staged import StagedEpisode
from jaywalk.runner.world import World

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
    """Who stands where, and where the scenarios' vehicles are to go (x, y and more)."""

    bodies: list[StagedBody]
    ways: list[NDArray[np.float64]]


def view_stage(plan: EpisodePlan, world: World) -> StagedView:
    """Set an episode up and look.

    Raises:
        DataError: The route or a scenario does not fit; the message says where.
    """
    stage = StagedEpisode(plan, world, None)
    try:
        actors = sorted(stage.carla_world.get_actors(), key=lambda one: one.id)
        bodies = [body for one in actors if (body := _body(one, stage.ego.id)) is not None]
        ways = [way for scenario in stage.cast.scenarios for way in scenario.moves()]
        return StagedView(bodies=bodies, ways=ways)
    finally:
        stage.finish("looked at")


def _body(actor: Any, ego_id: int) -> StagedBody | None:
    kind = next((name for prefix, name in _KINDS if actor.type_id.startswith(prefix)), None)
    if kind is None:
        return None
    box, pose = actor.bounding_box, actor.get_transform()
    centre = pose.transform(box.location)
    half_x, half_y = _footprint(box.extent, pose.rotation)
    return StagedBody(
        kind="ego" if actor.id == ego_id else kind,
        type_id=actor.type_id,
        is_background=actor.attributes.get("role_name") == "background",
        x_m=centre.x,
        y_m=centre.y,
        yaw_rad=math.radians(pose.rotation.yaw),
        half_x_m=half_x,
        half_y_m=half_y,
    )


def _footprint(extent: Any, rotation: Any) -> tuple[float, float]:
    """Half length and width on the ground of a box that may lie on its side."""
    pitch, roll = math.radians(rotation.pitch), math.radians(rotation.roll)
    wide = abs(extent.y * math.cos(roll)) + abs(extent.z * math.sin(roll))
    high = abs(extent.z * math.cos(roll)) + abs(extent.y * math.sin(roll))
    long = abs(extent.x * math.cos(pitch)) + abs(high * math.sin(pitch))
    return max(long, 0.05), max(wide, 0.05)
