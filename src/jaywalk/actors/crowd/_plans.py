"""Plans of the people in a crowd: a walk along the sidewalk, a crossing, or a pause.

All draws come from the person's own seed stream, so the plans of one person do not depend on the
other people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.crowd.places import WalkNetwork
from jaywalk.actors.crowd.state import (
    ARRIVED,
    ATTEMPTING,
    CROSSING,
    GAVE_UP,
    NOT_CROSSING,
    NOTHING,
    PATH_POINTS,
    PATH_STEP_M,
    STANDING,
    STUCK,
    WALKING,
    CrowdRows,
    CrowdSettings,
)
from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.path import arc_lengths, points_at
from jaywalk.town.walk_search import find_way
from jaywalk.town.walkways import CELL_M

if TYPE_CHECKING:
    pass

_NEAREST_M: Final = 12.0
_FARTHEST_M: Final = 60.0
_CROSSING_M: Final = 45.0  # largest distance to a crossing that a person chooses
_FEW: Final = 4  # number of nearest crossings to choose from
_LONGEST: Final = int(0.7 * PATH_POINTS * PATH_STEP_M / CELL_M)  # cells, some of them diagonal
_TRIES: Final = 3
_STEP_OUT_M: Final = 1.1  # beyond the kerb, for a person who then turns back
_KERB_M: Final = 0.7  # from the waiting place to the kerb
_ASIDE_M: Final = 0.5  # the path back after an attempt is this far beside the path out
_SPREAD_M: Final = 1.1  # people use the whole width of a crosswalk


@dataclass(slots=True)
class PedestrianMemory:
    """Memory of one person between plans."""

    random: np.random.Generator
    intended: str
    block: int  # block of sidewalk that the person is on
    keep_m: float  # distance kept from the edges of the sidewalk
    eager: float  # chance of crossing next
    crossing: int = -1  # row of the present crossing
    stay: int = 0  # walks on this side before the next crossing
    crossed: int = 0  # crossings made
    attempts: int = 0  # crossings that were begun or waited for and then given up
    last_yaw_rad: float = np.nan  # direction of the last walk


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdArea:
    """Part of a town that the people of an episode use."""

    network: WalkNetwork
    places: NDArray[np.bool_]  # mask of the network's places
    crossings: NDArray[np.bool_]  # mask of the network's crossings


def plan(
    people: CrowdRows, row: int, memory: PedestrianMemory, area: CrowdArea, settings: CrowdSettings
) -> None:
    """Give a person a new plan."""
    reason = int(people.need[row])
    people.need[row] = NOTHING
    here = (float(people.x[row]), float(people.y[row]))
    if reason == STUCK and people.state[row] == CROSSING:
        _go_straight_on(people, row, memory, area, here)
        return
    if reason == ARRIVED and memory.crossing >= 0:
        _finish_crossing(memory, area, here)
    if reason == GAVE_UP:
        memory.attempts += 1
    if memory.crossing >= 0:
        memory.stay = 1 + int(3.0 * memory.random.random())
    memory.crossing = -1
    if reason == ARRIVED and memory.random.random() < settings.pause:
        _stand(people, row, float(memory.random.uniform(*settings.pause_s)))
        return
    crosses = memory.intended != NOT_CROSSING and memory.random.random() < memory.eager
    crosses = crosses and reason not in (GAVE_UP, STUCK) and memory.stay <= 0
    if crosses and _plan_crossing(people, row, memory, area, settings, here):
        return
    back = reason in (STUCK, GAVE_UP) or memory.random.random() < 0.12
    if not _plan_walk(people, row, memory, area, here, back):
        _stand(people, row, float(memory.random.uniform(2.0, 6.0)))


def _stand(people: CrowdRows, row: int, seconds: float) -> None:
    people.state[row], people.timer[row] = STANDING, seconds
    people.cross_from[row], people.cross_ref[row] = np.inf, -1


def _finish_crossing(memory: PedestrianMemory, area: CrowdArea, here: tuple[float, float]) -> None:
    """Update side and counts of a person after a crossing or an attempt."""
    crossings, row = area.network.crossings, memory.crossing
    to_a = np.hypot(crossings.a[row, 0] - here[0], crossings.a[row, 1] - here[1])
    to_b = np.hypot(crossings.b[row, 0] - here[0], crossings.b[row, 1] - here[1])
    if to_b < to_a:
        memory.block = int(crossings.block_b[row])
        memory.crossed += 1
    else:
        memory.attempts += 1


def _plan_walk(
    people: CrowdRows,
    row: int,
    memory: PedestrianMemory,
    area: CrowdArea,
    here: tuple[float, float],
    back: bool,
) -> bool:
    """Plan a walk to a place on this side, ahead if possible, or back if asked to."""
    places = area.network.places
    dx, dy = places.x - here[0], places.y - here[1]
    away = np.hypot(dx, dy)
    fits = area.places & (places.block == memory.block)
    fits &= (away > _NEAREST_M) & (away < _FARTHEST_M)
    candidates = np.flatnonzero(fits)
    for _ in range(_TRIES):
        draws = memory.random.random(4)
        if not len(candidates):
            return False
        drawn = candidates[(draws[:3] * len(candidates)).astype(int)]
        if np.isnan(memory.last_yaw_rad):
            goal = drawn[0]
        else:
            ahead = (
                dx[drawn] * np.cos(memory.last_yaw_rad) + dy[drawn] * np.sin(memory.last_yaw_rad)
            ) / away[drawn]
            goal = drawn[int(np.argmin(ahead) if back else np.argmax(ahead))]
        aim = (float(places.x[goal]), float(places.y[goal]))
        path = find_way(area.network.grid, here, aim, memory.keep_m)
        if len(path) > 3:
            walk_line(people, row, path[:_LONGEST])
            people.cross_from[row], people.cross_ref[row] = np.inf, -1
            people.state[row] = WALKING
            memory.stay -= 1
            tail = path[-1] - path[max(-len(path), -20)]
            memory.last_yaw_rad = float(np.arctan2(tail[1], tail[0]))
            return True
    return False


def _plan_crossing(
    people: CrowdRows,
    row: int,
    memory: PedestrianMemory,
    area: CrowdArea,
    settings: CrowdSettings,
    here: tuple[float, float],
) -> bool:
    """Plan a walk to a crossing and over it, or a step onto the road and back."""
    crossings = area.network.crossings
    anywhere = memory.random.random() < settings.jaywalking
    spread, draw, steps_out = memory.random.random(3)
    away = np.hypot(crossings.a[:, 0] - here[0], crossings.a[:, 1] - here[1])
    fits = area.crossings & (crossings.block_a == memory.block) & (away < _CROSSING_M)
    painted = crossings.crosswalk >= 0
    candidates = np.flatnonzero(fits & (painted != anywhere))
    if not len(candidates):
        candidates = np.flatnonzero(fits)
    if not len(candidates):
        return False
    candidates = candidates[np.argsort(away[candidates], kind="stable")][:_FEW]
    chosen = int(candidates[int(draw * len(candidates))])
    a, b = crossings.a[chosen], crossings.b[chosen]
    ahead = (b - a) / np.hypot(*(b - a))
    if painted[chosen]:
        shift = (2.0 * spread - 1.0) * _SPREAD_M * np.array([-ahead[1], ahead[0]])
        a, b = a + shift, b + shift
    path = find_way(area.network.grid, here, (float(a[0]), float(a[1])), memory.keep_m)
    if not len(path):
        return False
    over = _attempt(path[-1], ahead, steps_out) if memory.intended == ATTEMPTING else [b]
    line = np.concatenate([path, np.array(over)])
    steps = np.hypot(*np.diff(line, axis=0).T)
    total = float(steps.sum())
    if total > (PATH_POINTS - 2) * PATH_STEP_M:
        return False
    scale = walk_line(people, row, line)
    people.cross_from[row] = scale * float(steps[: len(path) - 1].sum())
    people.cross_to[row] = (people.path_count[row] - 1) * PATH_STEP_M - 0.4
    people.cross_ref[row] = memory.crossing = chosen
    people.state[row] = WALKING
    memory.last_yaw_rad = float(np.arctan2(ahead[1], ahead[0]))
    return True


def _attempt(start: FloatArray, ahead: FloatArray, draw: float) -> list[FloatArray]:
    """Return a path one step onto the road (in half of the cases only to the kerb) and back."""
    out_m = _KERB_M + (_STEP_OUT_M if draw < 0.5 else -0.2)
    side = _ASIDE_M * np.array([-ahead[1], ahead[0]])
    return [start + out_m * ahead, start + out_m * ahead + side, start + side - 0.2 * ahead]


def _go_straight_on(
    people: CrowdRows,
    row: int,
    memory: PedestrianMemory,
    area: CrowdArea,
    here: tuple[float, float],
) -> None:
    """Send a person who is blocked on the road to its nearer side."""
    crossings, ref = area.network.crossings, memory.crossing
    ends = np.array([crossings.a[ref], crossings.b[ref]])
    nearer = int(np.argmin(np.hypot(*(ends - here).T)))
    walk_line(people, row, np.array([here, ends[nearer]]))
    people.cross_from[row] = 0.0
    people.cross_to[row] = (people.path_count[row] - 1) * PATH_STEP_M - 0.4


def walk_line(people: CrowdRows, row: int, line: FloatArray) -> float:
    """Write a line to a person's path at equal steps; return path units per metre."""
    along = arc_lengths(line)
    count = min(max(round(float(along[-1]) / PATH_STEP_M), 1) + 1, PATH_POINTS)
    at = np.linspace(0.0, along[-1], count)
    people.path[row, :count] = points_at(at, along, line[:, :2])
    people.path_count[row], people.at[row], people.along[row] = count, 0, 0.0
    people.blocked[row] = 0.0
    return (count - 1) * PATH_STEP_M / max(float(along[-1]), 1e-6)
