"""Plans of the people in a crowd, and the view of the world they are based on.

A plan is a walk along the sidewalk, a crossing, or a pause. All draws come from the person's own
seed stream, so the plans of one person do not depend on the other people.

``CrowdView`` reads the world into arrays: the crowd on every tick, cars and lights less often.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
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
    RELEASED,
    STANDING,
    STUCK,
    WALKING,
    CrowdRows,
    CrowdSettings,
    CrowdSurroundings,
)
from jaywalk.client.snapshot import place_boxes, pose_rows
from jaywalk.core.arrays import FloatArray
from jaywalk.core.carla_enums import LightState
from jaywalk.geometry.path import arc_lengths
from jaywalk.town.walk_search import find_way
from jaywalk.town.walkways import CELL_M

if TYPE_CHECKING:
    import carla

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
    way_yaw: float = field(default=np.nan)  # direction of the last walk


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdArea:
    """Part of a town that the people of an episode use."""

    network: WalkNetwork
    places: NDArray[np.bool_]  # mask of the network's places
    crossings: NDArray[np.bool_]  # mask of the network's crossings


def plan(
    people: CrowdRows, row: int, mind: PedestrianMemory, land: CrowdArea, settings: CrowdSettings
) -> None:
    """Give a person a new plan."""
    why = int(people.need[row])
    people.need[row] = NOTHING
    here = (float(people.x[row]), float(people.y[row]))
    if why == STUCK and people.state[row] == CROSSING:
        _go_straight_on(people, row, mind, land, here)
        return
    if why == ARRIVED and mind.crossing >= 0:
        _finish_crossing(mind, land, here)
    if why == GAVE_UP:
        mind.attempts += 1
    if mind.crossing >= 0:
        mind.stay = 1 + int(3.0 * mind.random.random())
    mind.crossing = -1
    if why == ARRIVED and mind.random.random() < settings.pause:
        _stand(people, row, float(mind.random.uniform(*settings.pause_s)))
        return
    crosses = mind.intended != NOT_CROSSING and mind.random.random() < mind.eager
    crosses = crosses and why not in (GAVE_UP, STUCK) and mind.stay <= 0
    if crosses and _plan_crossing(people, row, mind, land, settings, here):
        return
    back = why in (STUCK, GAVE_UP) or mind.random.random() < 0.12
    if not _plan_walk(people, row, mind, land, here, back):
        _stand(people, row, float(mind.random.uniform(2.0, 6.0)))


def _stand(people: CrowdRows, row: int, seconds: float) -> None:
    people.state[row], people.timer[row] = STANDING, seconds
    people.cross_from[row], people.cross_ref[row] = np.inf, -1


def _finish_crossing(mind: PedestrianMemory, land: CrowdArea, here: tuple[float, float]) -> None:
    """Update side and counts of a person after a crossing or an attempt."""
    crossings, row = land.network.crossings, mind.crossing
    to_a = np.hypot(crossings.a[row, 0] - here[0], crossings.a[row, 1] - here[1])
    to_b = np.hypot(crossings.b[row, 0] - here[0], crossings.b[row, 1] - here[1])
    if to_b < to_a:
        mind.block = int(crossings.block_b[row])
        mind.crossed += 1
    else:
        mind.attempts += 1


def _plan_walk(
    people: CrowdRows,
    row: int,
    mind: PedestrianMemory,
    land: CrowdArea,
    here: tuple[float, float],
    back: bool,
) -> bool:
    """Plan a walk to a place on this side, ahead if possible, or back if asked to."""
    places = land.network.places
    dx, dy = places.x - here[0], places.y - here[1]
    away = np.hypot(dx, dy)
    fits = land.places & (places.block == mind.block)
    fits &= (away > _NEAREST_M) & (away < _FARTHEST_M)
    found = np.flatnonzero(fits)
    for _ in range(_TRIES):
        draws = mind.random.random(4)
        if not len(found):
            return False
        some = found[(draws[:3] * len(found)).astype(int)]
        if np.isnan(mind.way_yaw):
            goal = some[0]
        else:
            ahead = (dx[some] * np.cos(mind.way_yaw) + dy[some] * np.sin(mind.way_yaw)) / away[some]
            goal = some[int(np.argmin(ahead) if back else np.argmax(ahead))]
        aim = (float(places.x[goal]), float(places.y[goal]))
        way = find_way(land.network.grid, here, aim, mind.keep_m)
        if len(way) > 3:
            walk_line(people, row, way[:_LONGEST])
            people.cross_from[row], people.cross_ref[row] = np.inf, -1
            people.state[row] = WALKING
            mind.stay -= 1
            tail = way[-1] - way[max(-len(way), -20)]
            mind.way_yaw = float(np.arctan2(tail[1], tail[0]))
            return True
    return False


def _plan_crossing(
    people: CrowdRows,
    row: int,
    mind: PedestrianMemory,
    land: CrowdArea,
    settings: CrowdSettings,
    here: tuple[float, float],
) -> bool:
    """Plan a walk to a crossing and over it, or a step onto the road and back."""
    crossings = land.network.crossings
    anywhere = mind.random.random() < settings.jaywalking
    spread, draw, steps_out = mind.random.random(3)
    away = np.hypot(crossings.a[:, 0] - here[0], crossings.a[:, 1] - here[1])
    fits = land.crossings & (crossings.block_a == mind.block) & (away < _CROSSING_M)
    painted = crossings.crosswalk >= 0
    found = np.flatnonzero(fits & (painted != anywhere))
    if not len(found):
        found = np.flatnonzero(fits)
    if not len(found):
        return False
    found = found[np.argsort(away[found], kind="stable")][:_FEW]
    chosen = int(found[int(draw * len(found))])
    a, b = crossings.a[chosen], crossings.b[chosen]
    ahead = (b - a) / np.hypot(*(b - a))
    if painted[chosen]:
        shift = (2.0 * spread - 1.0) * _SPREAD_M * np.array([-ahead[1], ahead[0]])
        a, b = a + shift, b + shift
    way = find_way(land.network.grid, here, (float(a[0]), float(a[1])), mind.keep_m)
    if not len(way):
        return False
    over = _attempt(way[-1], ahead, steps_out) if mind.intended == ATTEMPTING else [b]
    line = np.concatenate([way, np.array(over)])
    steps = np.hypot(*np.diff(line, axis=0).T)
    total = float(steps.sum())
    if total > (PATH_POINTS - 2) * PATH_STEP_M:
        return False
    scale = walk_line(people, row, line)
    people.cross_from[row] = scale * float(steps[: len(way) - 1].sum())
    people.cross_to[row] = (people.path_count[row] - 1) * PATH_STEP_M - 0.4
    people.cross_ref[row] = mind.crossing = chosen
    people.state[row] = WALKING
    mind.way_yaw = float(np.arctan2(ahead[1], ahead[0]))
    return True


def _attempt(start: FloatArray, ahead: FloatArray, draw: float) -> list[FloatArray]:
    """Return a path one step onto the road (in half of the cases only to the kerb) and back."""
    out_m = _KERB_M + (_STEP_OUT_M if draw < 0.5 else -0.2)
    side = _ASIDE_M * np.array([-ahead[1], ahead[0]])
    return [start + out_m * ahead, start + out_m * ahead + side, start + side - 0.2 * ahead]


def _go_straight_on(
    people: CrowdRows, row: int, mind: PedestrianMemory, land: CrowdArea, here: tuple[float, float]
) -> None:
    """Send a person who is blocked on the road to its nearer side."""
    crossings, ref = land.network.crossings, mind.crossing
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
    for axis in range(2):
        people.path[row, :count, axis] = np.interp(at, along, line[:, axis])
    people.path_count[row], people.at[row], people.along[row] = count, 0, 0.0
    people.blocked[row] = 0.0
    return (count - 1) * PATH_STEP_M / max(float(along[-1]), 1e-6)


_CARS_EVERY: Final = 2  # every n-th look reads the cars
_LIGHTS_EVERY: Final = 5
_LOW_M: Final = 0.1  # half height of props that people walk over


class CrowdView:
    """Reader of snapshots into arrays, with few calls."""

    def __init__(
        self, world: carla.World, own_ids: list[int], cars_every: int = _CARS_EVERY
    ) -> None:
        self._world = world
        self._cars_every = cars_every
        self._own = own_ids
        self._count = -1
        self._looks = 0
        self._lights = sorted(
            world.get_actors().filter("traffic.traffic_light"), key=lambda light: light.id
        )
        self._red_s = np.full(len(self._lights), -1.0)
        self._red_length_s = np.zeros(len(self._lights))
        self._rescan()

    def _rescan(self) -> None:
        actors = self._world.get_actors()
        vehicles = sorted(actors.filter("vehicle.*"), key=lambda actor: actor.id)
        props = [a for a in actors.filter("static.prop.*") if a.bounding_box.extent.z > _LOW_M]
        own = set(self._own)
        self._vehicles = [actor.id for actor in vehicles]
        self._strangers = sorted(a.id for a in actors.filter("walker.*") if a.id not in own)
        boxes = [actor.bounding_box for actor in vehicles]
        self._centre = np.array([(b.location.x, b.location.y) for b in boxes]).reshape(-1, 2)
        self._vehicle = np.zeros((len(vehicles), 8))
        if boxes:
            self._vehicle[:, 4:6] = [(b.extent.x, b.extent.y) for b in boxes]
        self._stranger = np.zeros((len(self._strangers), 4))
        self._thing = np.array(
            [flat_box(prop) for prop in sorted(props, key=lambda prop: prop.id)]
        ).reshape(-1, 6)

    def look(
        self, snapshot: carla.WorldSnapshot, people: CrowdRows, delta_s: float
    ) -> CrowdSurroundings:
        """Update the positions of people; read cars and lights when they are due.

        ``delta_s`` is the time since the last look, in seconds.
        """
        self._read_people(snapshot, people)
        if self._looks % self._cars_every == 0:
            self._look_around(snapshot)
        if self._looks % _LIGHTS_EVERY == 0:
            self._read_lights(_LIGHTS_EVERY * delta_s)
        self._looks += 1
        return CrowdSurroundings(
            self._vehicle, self._thing, self._stranger, self._red_s, self._red_length_s
        )

    def _look_around(self, snapshot: carla.WorldSnapshot) -> None:
        if len(snapshot) != self._count or not self._read_others(snapshot):
            self._count = len(snapshot)
            self._rescan()
            self._read_others(snapshot)

    def _read_people(self, snapshot: carla.WorldSnapshot, people: CrowdRows) -> None:
        find = snapshot.find
        rows = []
        for row, actor in enumerate(self._own):
            state = find(actor)
            if state is None:  # not yet spawned, or already destroyed
                rows.append((people.x[row], people.y[row], people.z[row]))
                if self._looks:
                    people.state[row] = RELEASED
                continue
            place = state.get_transform().location
            rows.append((place.x, place.y, place.z))
        if rows:
            people.x[:], people.y[:], people.z[:] = np.array(rows).T

    def _read_others(self, snapshot: carla.WorldSnapshot) -> bool:
        vehicles = pose_rows(snapshot, self._vehicles)
        strangers = pose_rows(snapshot, self._strangers)
        if vehicles is None or strangers is None:
            return False
        self._stranger[:] = strangers[:, [0, 1, 3, 4]]
        place_boxes(self._vehicle, self._centre, vehicles)
        return True

    def _read_lights(self, since_s: float) -> None:
        red = np.array([int(light.state) == LightState.RED for light in self._lights], np.bool_)
        if not len(red):
            return
        ended = ~red & (self._red_s >= 0.0)
        self._red_length_s[ended] = self._red_s[ended]
        begun = red & (self._red_s < 0.0)
        self._red_s = np.where(red, self._red_s + since_s, -1.0)
        self._red_s[begun] = 0.0 if self._looks else 3.0


def flat_box(actor: carla.Actor) -> tuple[float, ...]:
    """Return the box of an actor from above: x, y, cos, sin, half length, half width."""
    pose, box = actor.get_transform(), actor.bounding_box
    yaw = math.radians(pose.rotation.yaw)
    cos, sin = math.cos(yaw), math.sin(yaw)
    x = pose.location.x + box.location.x * cos - box.location.y * sin
    y = pose.location.y + box.location.x * sin + box.location.y * cos
    return x, y, cos, sin, box.extent.x, box.extent.y
