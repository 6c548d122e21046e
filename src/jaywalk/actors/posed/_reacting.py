"""Posed people who react: they walk up to the road, look, wait for a gap, and avoid vehicles.

Decisions come from :class:`~jaywalk.actors.reactive.model.ReactionModel`; this module carries them
out with clips. Clips stay the only source of gait: a person walks faster or slower, stops in an
idle clip, and starts again with a walking clip.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from jaywalk.actors.crowd.places import WalkNetwork
from jaywalk.actors.crowd.state import ATTEMPTING
from jaywalk.actors.events import EgoMoment
from jaywalk.actors.posed._activities import Activities, Activity, PersonState, idle_cue
from jaywalk.actors.posed._detour import NO_OBSTACLES, Obstacles, find_detour
from jaywalk.actors.posed._spawning import PlacedPerson
from jaywalk.actors.posed._walking import PathWalk, stroll_path
from jaywalk.actors.reactive.model import ReactionModel
from jaywalk.actors.reactive.traits import (
    AT_KERB,
    COMMITTED,
    EVADES,
    HURRIES,
    OBLIVIOUS,
    OFF_ROAD,
    ON_ROAD,
    PHONE,
    WAITS,
    YIELDS,
)
from jaywalk.core.arrays import FloatArray
from jaywalk.core.seeds import stream
from jaywalk.geometry.path import arc_lengths
from jaywalk.motion.playback.players import Cue
from jaywalk.town.walkways import CROSSWALK, ROAD, WalkGrid, underfoot

APPROACH_M: Final = (4.0, 15.0)  # walked along the sidewalk before the road
_MEETING_S: Final = (-1.0, 6.0)  # the ego arrives this much later than the person
_SLOWEST_EGO_MPS: Final = 3.0
_SAMPLE_M: Final = 0.2
_NEAR_ROAD_M: Final = 20.0  # people begin to think about the road this far before it
_PACES: Final = (0.5, 1.35)  # at which clips still look right
_EVADING_PACE: Final = 1.7
_STOP_SHARE: Final = 0.3  # of the clip's speed; slower people stand
_START_SHARE: Final = 0.5
_LEAST_STOP_S: Final = 0.6
_AT_PLACE_M: Final = 0.6
_PLACES_TRIED: Final = 12
_PHONE_PITCH_RAD: Final = -0.5  # of people who look at a phone


@dataclass(slots=True, kw_only=True)
class CrossingWalk(PathWalk):
    """A walk over the road by way of a place at the kerb.

    Attributes:
        via_m: Place at the kerb.
        road_m: Where the path enters and leaves the road, as distances along it; NaN: nowhere.
        painted: Whether it enters the road on a crosswalk.
    """

    via_m: tuple[float, float]
    road_m: tuple[float, float] = (math.nan, math.nan)
    painted: bool = False
    _lengths: FloatArray = field(default_factory=lambda: np.zeros(0))

    def measure(self, grid: WalkGrid) -> None:
        """Find the road on the path."""
        self._lengths = arc_lengths(self.path)
        along = np.arange(0.0, float(self._lengths[-1]) + _SAMPLE_M, _SAMPLE_M)
        x = np.interp(along, self._lengths, self.path[:, 0])
        y = np.interp(along, self._lengths, self.path[:, 1])
        surface = np.array([int(underfoot(grid, u, v)) for u, v in zip(x, y, strict=True)])
        on_road = np.isin(surface, (ROAD, CROSSWALK))
        if not on_road.any():
            self.road_m, self.painted = (math.nan, math.nan), False
            return
        first, last = np.flatnonzero(on_road)[[0, -1]]
        self.road_m = (float(along[first]), float(along[last]) + _SAMPLE_M)
        self.painted = bool((surface[first : first + 8] == CROSSWALK).any())

    def facts(self) -> dict[str, Any]:
        """The path and its part on the road, for the record."""
        known = not math.isnan(self.road_m[0])
        return {
            "path_m": [[round(float(v), 3) for v in corner] for corner in self.path],
            "via_m": [round(float(v), 3) for v in self.via_m],
            "road_m": [round(v, 3) for v in self.road_m] if known else None,
            "painted": self.painted,
        }

    def along_m(self, x: float, y: float) -> float:
        """Distance walked along the path."""
        cx, cy = self.path[self.at]
        return float(self._lengths[self.at]) - math.hypot(cx - x, cy - y)

    def reroute(self, grid: WalkGrid, obstacles: Obstacles, x: float, y: float) -> bool:
        """Find another path to the goal, still by way of the kerb if the road lies ahead."""
        before_kerb = self.along_m(x, y) < self.road_m[0] - _AT_PLACE_M
        if not before_kerb:
            if not PathWalk.reroute(self, grid, obstacles, x, y):
                return False
            self.measure(grid)
            return True
        path = crossing_path(grid, obstacles, (x, y), self.via_m, self.goal_m)
        if path is None:
            return False
        self.path, self.at = path, 1
        self.reroutes += 1
        self.measure(grid)
        return True


def crossing_path(
    grid: WalkGrid,
    obstacles: Obstacles,
    start_m: tuple[float, float],
    via_m: tuple[float, float],
    goal_m: tuple[float, float],
) -> FloatArray | None:
    """Return the corners of a path along the sidewalk to ``via_m`` and then over the road."""
    over = find_detour(grid, obstacles, via_m, goal_m)
    if len(over) < 2:
        over = np.array([via_m, goal_m])
    if math.hypot(start_m[0] - via_m[0], start_m[1] - via_m[1]) < _AT_PLACE_M:
        return np.asarray(np.concatenate([np.array([start_m]), over[1:]]))
    to_kerb = find_detour(grid, obstacles, start_m, via_m, keeps_off=True)
    if len(to_kerb) < 2:
        return None
    return np.asarray(np.concatenate([to_kerb[:-1], over]))


def approach_start(
    network: WalkNetwork,
    placed: PlacedPerson,
    taken_m: list[tuple[float, float]],
    random: np.random.Generator,
) -> tuple[tuple[float, float], float]:
    """Return a place on the same sidewalk from which a person walks up to the road, and the length.

    The place is the person's own one, with length 0, if there is no other.
    """
    places, a = network.places, placed.a_m
    away = np.hypot(places.x - a[0], places.y - a[1])
    own = int(places.block[int(np.argmin(away))])
    wanted = float(random.uniform(*APPROACH_M))
    near = np.flatnonzero((places.block == own) & (away >= APPROACH_M[0]) & (away <= APPROACH_M[1]))
    for k in near[np.argsort(np.abs(away[near] - wanted), kind="stable")][:_PLACES_TRIED].tolist():
        start = (float(places.x[k]), float(places.y[k]))
        if any(math.hypot(start[0] - x, start[1] - y) < 1.2 for x, y in taken_m):
            continue
        path = find_detour(network.grid, NO_OBSTACLES, start, a, keeps_off=True)
        length_m = float(arc_lengths(path)[-1]) if len(path) >= 2 else math.inf
        if length_m <= 1.5 * APPROACH_M[1]:
            return start, length_m
    return a, 0.0


@dataclass(slots=True, kw_only=True)
class ReactiveActivities(Activities):
    """Activities of people who react to vehicles and to each other.

    Attributes:
        model: Decisions; one row a person.
        approach_m: (n,) length of the walk to the kerb.
        route_m: (p, 2) route of the ego.
        route_along_m: (p,) distances along it.
    """

    model: ReactionModel
    approach_m: FloatArray
    route_m: FloatArray
    route_along_m: FloatArray
    _clip_mps: dict[str, float] = field(init=False)
    _stopped_s: FloatArray = field(init=False)
    _reported: FloatArray = field(init=False)  # decision that was last reported
    _last_m: FloatArray = field(init=False)
    _route_at: int = field(default=0, init=False)
    _meeting_s: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        Activities.__post_init__(self)
        uses = (*self.repertoire.walking, *self.repertoire.crossing, *self.repertoire.ordinary)
        self._clip_mps = {use.name: use.speed_mps for use in uses}
        count = len(self.people)
        self._stopped_s = np.zeros(count)
        self._reported = np.zeros(count)
        rows = self.posed.players.rows
        self._last_m = np.column_stack([rows.x_m, rows.y_m])
        self._standing_m = self._last_m.copy()
        self._meeting_s = np.array(
            [stream(self.seed, "habit", "meeting", k).uniform(*_MEETING_S) for k in range(count)]
        )
        for person in self.people:
            k, role = person.placed.role.number, person.placed.role
            clip_mps = self._speed_of(role.carry or role.clip)
            free = float(self.model.traits.free_mps[k])
            self.model.traits.free_mps[k] = min(max(free, 0.85 * clip_mps), 1.2 * clip_mps)

    def _speed_of(self, clip: str) -> float:
        return max(self._clip_mps.get(clip, 1.2), 0.5)

    # -- beginning -------------------------------------------------------------------------------

    def is_due(self, person: PersonState, ego_m: tuple[float, float], ego_mps: float) -> bool:
        """Return True if a person should set off so that they meet the ego at the road."""
        ahead = self._ego_away_m(person, ego_m)
        if ahead < 0.0:
            return False
        k = person.placed.role.number
        own_s = (float(self.approach_m[k]) + 4.0) / float(self.model.traits.free_mps[k])
        return ahead / max(ego_mps, _SLOWEST_EGO_MPS) <= own_s + float(self._meeting_s[k])

    def _ego_away_m(self, person: PersonState, ego_m: tuple[float, float]) -> float:
        """Distance along the route from the ego to the place of a person's crossing."""
        window = slice(self._route_at, self._route_at + 120)
        gap = np.hypot(*(self.route_m[window] - ego_m).T)
        self._route_at += int(gap.argmin())
        return person.placed.along_m - float(self.route_along_m[self._route_at])

    def begin(self, person: PersonState, moment: EgoMoment) -> None:
        """Start a person's role: people who cross or try to walk up to the road first."""
        placed = person.placed
        if placed.b_m is None:
            Activities.begin(self, person, moment)
            return
        x, y, _ = self.posed.place_m(placed.actor_id)
        self._look(moment, [person])
        obstacles = self._obstacles_for(person)
        path = crossing_path(self.network.grid, obstacles, (x, y), placed.a_m, placed.b_m)
        if path is None:
            path = np.array([(x, y), placed.a_m, placed.b_m])
        walk = CrossingWalk(path=path, via_m=placed.a_m)
        walk.measure(self.network.grid)
        self.note(moment, person, "intends", **walk.facts())
        person.walk = walk
        self.model.rows.waited_s[placed.role.number] = 0.0
        if float(self.approach_m[placed.role.number]) > 0.0:
            self._walk_along(person, walk, placed.role.carry or placed.role.clip, "")
        else:
            person.activity = Activity.WAITING

    # -- the tick --------------------------------------------------------------------------------

    def step(self, tick: int, moment: EgoMoment) -> None:
        """Let the model decide for everybody, then carry it out."""
        self._perceive(moment)
        for person in self.people:
            if person.activity is Activity.WAITING:
                self._wait(person, moment)
        Activities.step(self, tick, moment)

    def _perceive(self, moment: EgoMoment) -> None:
        rows, players = self.model.rows, self.posed.players.rows
        place = np.column_stack([players.x_m, players.y_m])
        velocity = (place - self._last_m) / self.delta_s
        self._last_m = place
        rows.x[:], rows.y[:], rows.yaw[:] = place[:, 0], place[:, 1], players.yaw_rad
        rows.vx[:], rows.vy[:] = velocity[:, 0], velocity[:, 1]
        for person in self.people:
            self._fill(person)
        ids, vehicle, blocker, other = self.nearby.view.around(moment.snapshot)
        self.model.step(ids, vehicle, blocker, other)
        gaze = self.posed.gaze
        if gaze is not None:
            head_down = (self.model.traits.attention == PHONE) & ~rows.looking & rows.active
            pitch = np.where(head_down, _PHONE_PITCH_RAD, 0.0)
            yaw = np.where(rows.active, rows.gaze_rad, 0.0)
            gaze.follow(np.column_stack([yaw, pitch]), self.delta_s)

    def trait_facts(self, person: PersonState) -> dict[str, Any]:
        """Traits of a person and the key of the noise, for the record."""
        k = person.placed.role.number
        values = {name: column[k].item() for name, column in self.model.traits._asdict().items()}
        role = person.placed.role
        return {
            "traits": values,
            "noise_key": self.model.key,
            "clip_mps": self._speed_of(role.carry or role.clip),
        }

    def reactions(self) -> dict[str, Any]:
        """What the people perceive and decide now, for the record."""
        gaze = self.posed.gaze
        return self.model.recorded(
            np.array(self.posed.ids, np.int64), None if gaze is None else gaze.shown_rad
        )

    def _fill(self, person: PersonState) -> None:
        """Set one person's path in the rows of the model."""
        rows, k = self.model.rows, person.placed.role.number
        walk = person.walk
        moves = person.activity in (Activity.WALKING, Activity.WAITING, Activity.BLOCKED)
        rows.active[k] = (moves and walk is not None) or person.activity is Activity.ACTING
        if walk is None or not rows.active[k]:
            return
        x, y = float(rows.x[k]), float(rows.y[k])
        bearing = walk.bearing_rad(x, y)
        rows.aim_x[k], rows.aim_y[k] = x + 2.0 * math.cos(bearing), y + 2.0 * math.sin(bearing)
        if not isinstance(walk, CrossingWalk) or math.isnan(walk.road_m[0]):
            rows.where[k], rows.kerb_m[k] = (ON_ROAD if person.on_road else OFF_ROAD), math.inf
            rows.left_m[k] = 8.0
            return
        along = walk.along_m(x, y)
        enter, leave = walk.road_m
        rows.painted[k] = walk.painted
        if along >= leave:
            rows.where[k], rows.kerb_m[k], rows.left_m[k] = OFF_ROAD, math.inf, 4.0
        elif along >= enter or person.on_road:
            rows.where[k], rows.kerb_m[k], rows.left_m[k] = ON_ROAD, 0.0, leave - along
        else:
            near = enter - along < _NEAR_ROAD_M
            rows.where[k] = AT_KERB if near else OFF_ROAD
            rows.kerb_m[k], rows.left_m[k] = enter - along, leave - enter
        if rows.where[k] == AT_KERB and enter - along < 3.0:
            # The gap is judged for the way over the road, not for the last steps of the approach.
            rows.aim_x[k] = x + walk.path[-1, 0] - walk.via_m[0]
            rows.aim_y[k] = y + walk.path[-1, 1] - walk.via_m[1]

    def _walk(self, person: PersonState, moment: EgoMoment, looks: bool) -> None:
        """Follow the path with the speed and the course that the model has chosen."""
        k, walk = person.placed.role.number, person.walk
        assert walk is not None
        if self._begins_attempt(person, moment):
            return
        Activities._walk(self, person, moment, looks)
        if person.activity is not Activity.WALKING or person.walk is not walk:
            return
        rows, players = self.model.rows, self.posed.players
        self._report(person, moment)
        row = self.posed.row_of(person.placed.actor_id)
        if self.model.traits.attention[k] == OBLIVIOUS:
            return
        clip = self._speed_of(self.posed.playing(person.placed.actor_id).clip)
        speed = float(rows.speed[k])
        if rows.decision[k] == EVADES:
            ahead = math.cos(float(rows.course[k]) - float(players.rows.yaw_rad[row]))
            if ahead > -0.2:
                players.pace(row, _EVADING_PACE)
                return
            speed = 0.0
        if speed < _STOP_SHARE * clip:
            self._halt(person)
            return
        if players.rows.since_s[row] >= players.rows.turn_s[row]:
            slow = float(players.rows.rate[row]) if players.rows.rate[row] < 1.0 else 1.0
            players.pace(row, slow * min(max(speed / clip, _PACES[0]), _PACES[1]))
            turn = float(rows.turn[k])
            if turn != 0.0:
                steer = float(players.rows.steer_radps[row]) + 1.8 * turn
                players.steer(row, min(max(steer, -1.6), 1.6))

    def _halt(self, person: PersonState) -> None:
        """Stand still and go on when the model says so."""
        actor = person.placed.actor_id
        row = self.posed.row_of(actor)
        self.posed.steer(actor, 0.0)
        yaw = float(self.posed.players.rows.yaw_rad[row])
        cue = idle_cue(person.placed, yaw)
        self.posed.play(actor, cue)
        person.activity = Activity.WAITING
        self._stopped_s[person.placed.role.number] = 0.0

    def _wait(self, person: PersonState, moment: EgoMoment) -> None:
        """Stand at the kerb or on the road until the model lets the person go."""
        k, rows = person.placed.role.number, self.model.rows
        self._stopped_s[k] += self.delta_s
        self._watch_road(person, moment)
        self._report(person, moment)
        if self._begins_attempt(person, moment):
            return
        if not person.on_road and rows.waited_s[k] > self.model.traits.patience_s[k]:
            self._give_up(person, moment)
            return
        clip = person.placed.role.carry or person.placed.role.clip
        starts = float(rows.speed[k]) > _START_SHARE * self._speed_of(clip)
        if rows.where[k] == AT_KERB and rows.kerb_m[k] < 1.0:
            starts = starts and rows.decision[k] == COMMITTED
        if starts and self._stopped_s[k] >= _LEAST_STOP_S and person.walk is not None:
            self._walk_along(person, person.walk, clip, "")

    def _give_up(self, person: PersonState, moment: EgoMoment) -> None:
        """Walk on along the sidewalk instead of crossing."""
        self.note(moment, person, "gives up")
        x, y, _ = self.posed.place_m(person.placed.actor_id)
        path = stroll_path(self.network, (x, y), self._rng("gives up", person.placed.role.number))
        if path is None:
            self._rest(person, moment, "stays")
            return
        person.strolls_on = True
        role = person.placed.role
        self._walk_along(person, PathWalk(path=path, keeps_off=True), role.carry or role.clip, "")

    def _begins_attempt(self, person: PersonState, moment: EgoMoment) -> bool:
        """Begin the clip of an attempt once the person is at the kerb and would go."""
        role, k = person.placed.role, person.placed.role.number
        if role.intended != ATTEMPTING or person.going_home or person.strolls_on:
            return False
        x, y, _ = self.posed.place_m(person.placed.actor_id)
        if math.hypot(x - person.placed.a_m[0], y - person.placed.a_m[1]) > _AT_PLACE_M:
            return False
        if self.model.rows.decision[k] != COMMITTED:
            if person.activity is Activity.WALKING:
                self._halt(person)
                return True
            return False
        self._report(person, moment)
        yaw = person.placed.yaw_rad - role.facing_rad - role.reach_rad
        self.posed.steer(person.placed.actor_id, 0.0)
        self.posed.play(person.placed.actor_id, Cue(clip=role.clip, heading_rad=yaw, enter_s=0.0))
        person.activity = Activity.ACTING
        return True

    def _act(self, person: PersonState, moment: EgoMoment, looks: bool) -> None:
        k = person.placed.role.number
        threatened = self.model.rows.decision[k] in (EVADES, YIELDS)
        if threatened and person.placed.role.intended == ATTEMPTING and person.on_road:
            person.going_home = True
            role = person.placed.role
            self.note(moment, person, "steps back")
            clip = role.carry or self._plain_walk(role.child)
            self._set_off(person, moment, person.placed.a_m, clip, "")
            return
        Activities._act(self, person, moment, looks)

    def _report(self, person: PersonState, moment: EgoMoment) -> None:
        """Note a change of decision."""
        k = person.placed.role.number
        decision = int(self.model.rows.decision[k])
        if decision == self._reported[k]:
            return
        self._reported[k] = decision
        words = {
            COMMITTED: "commits",
            YIELDS: "yields",
            HURRIES: "hurries",
            EVADES: "evades",
            WAITS: "waits",
        }
        if decision in words:
            gap = float(self.model.rows.gap_s[k])
            facts = {"gap_s": round(gap, 2)} if math.isfinite(gap) else {}
            self.note(moment, person, words[decision], **facts)
