"""Takeover of walkers that already exist in a world.

Personal traits are drawn as for any crowd, except that the preferred speed is the present walking
speed. The goals of these people are unknown: a person on a sidewalk gets a path ahead, a person on
the road goes on to the other side, and a standing person stands for a while.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from jaywalk.actors.crowd._plans import CrowdArea, PedestrianMemory, plan, walk_line
from jaywalk.actors.crowd._spawning import Candidate, draw_person, free_speed_mps
from jaywalk.actors.crowd.places import WalkNetwork
from jaywalk.actors.crowd.state import (
    CROSSING,
    PATH_STEP_M,
    RESTED,
    STANDING,
    WALKING,
    CrowdRows,
    CrowdSettings,
)
from jaywalk.core.errors import DataError
from jaywalk.geometry.pose import yaw_rad
from jaywalk.town.walkways import NOWHERE, ROAD, underfoot

if TYPE_CHECKING:
    import carla

_WALKS_MPS: Final = 0.3
_ACROSS_M: Final = 8.0  # largest distance from a crossing for a person on the road
_SAME_WAY: Final = 0.6
_STRAIGHT_M: Final = 9.0  # over a road where no crossing is known


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkerInWorld:
    """A walker that existed before the crowd, and its motion."""

    candidate: Candidate
    speed_mps: float
    yaw_rad: float  # direction of motion, or of the body if the person stands


def read_walkers(
    world: carla.World, network: WalkNetwork, ids: list[int], seed: int, settings: CrowdSettings
) -> list[WalkerInWorld]:
    """Read the walkers ``ids`` from the world and draw their remaining traits."""
    actors = {actor.id: actor for actor in world.get_actors(ids)}
    snapshot = world.get_snapshot()
    walkers = []
    for number, actor_id in enumerate(ids):
        state = snapshot.find(actor_id)
        if state is None or actor_id not in actors:
            raise DataError(
                f"Person {actor_id} is not in the world; the crowd can lead nobody else."
            )
        pose, velocity = state.get_transform(), state.get_velocity()
        place = pose.location
        speed = float(np.hypot(velocity.x, velocity.y))
        yaw = yaw_rad(pose)
        walks = speed > _WALKS_MPS
        drawn = draw_person(seed, number, settings)
        near = int(np.hypot(network.places.x - place.x, network.places.y - place.y).argmin())
        candidate = replace(
            drawn,
            place=near,
            x_m=place.x,
            y_m=place.y,
            z_m=place.z - actors[actor_id].bounding_box.extent.z,
            yaw_rad=yaw,
            speed_mps=speed if walks else free_speed_mps("adult", drawn.pace),
        )
        course_rad = float(np.arctan2(velocity.y, velocity.x)) if walks else yaw
        walkers.append(WalkerInWorld(candidate=candidate, speed_mps=speed, yaw_rad=course_rad))
    return walkers


def take_over(
    rows: CrowdRows,
    memories: list[PedestrianMemory],
    walkers: list[WalkerInWorld],
    area: CrowdArea,
    settings: CrowdSettings,
) -> None:
    """Start all people with their present motion."""
    for row, walker in enumerate(walkers):
        memory = memories[row]
        if walker.speed_mps <= _WALKS_MPS:
            rows.state[row], rows.timer[row] = (
                STANDING,
                float(memory.random.uniform(*settings.pause_s)),
            )
            continue
        rows.pace[row] = rows.sent_pace[row] = walker.speed_mps
        rows.heading[row] = rows.sent_heading[row] = walker.yaw_rad
        memory.last_yaw_rad = walker.yaw_rad
        if underfoot(area.network.grid, float(rows.x[row]), float(rows.y[row])) in (ROAD, NOWHERE):
            _go_across(rows, row, memory, area, walker.yaw_rad)
        else:
            rows.need[row] = RESTED
            plan(rows, row, memory, area, settings)


def _go_across(
    rows: CrowdRows, row: int, memory: PedestrianMemory, area: CrowdArea, yaw_rad: float
) -> None:
    """Send a person on the road over the nearest crossing in their direction, or straight on."""
    here = np.array([rows.x[row], rows.y[row]])
    direction = np.array([np.cos(yaw_rad), np.sin(yaw_rad)])
    crossings = area.network.crossings
    ahead = crossings.b - crossings.a
    length = np.maximum(np.hypot(ahead[:, 0], ahead[:, 1]), 1e-6)
    unit = ahead / length[:, None]
    offset = here - crossings.a
    along = (offset * unit).sum(axis=1)
    aside = np.abs(offset[:, 0] * unit[:, 1] - offset[:, 1] * unit[:, 0])
    fits = (unit @ direction > _SAME_WAY) & (along > -1.0) & (along < length) & (aside < _ACROSS_M)
    if not fits.any():
        walk_line(rows, row, np.array([here, here + _STRAIGHT_M * direction]))
        rows.state[row] = WALKING
        return
    chosen = int(np.where(fits, aside, np.inf).argmin())
    left_m = float(length[chosen] - along[chosen])
    walk_line(rows, row, np.array([here, here + left_m * unit[chosen]]))
    rows.cross_from[row] = 0.0
    rows.cross_to[row] = (rows.path_count[row] - 1) * PATH_STEP_M - 0.4
    rows.cross_ref[row] = memory.crossing = chosen
    memory.block = int(crossings.block_a[chosen])
    rows.state[row] = CROSSING
