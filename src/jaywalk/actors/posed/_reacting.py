"""Posed people who react: they walk up to the road, look, wait for a gap, and avoid vehicles.

Decisions come from :class:`~jaywalk.actors.reactive.model.ReactionModel`; this module carries them
out with clips. Clips stay the only source of gait: a person walks faster or slower, runs, stops,
starts, steps back or steps aside with a clip of that. People who stay look around, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from jaywalk.actors._surroundings import VehicleNumbers
from jaywalk.actors.crowd.state import ATTEMPTING
from jaywalk.actors.events import EgoMoment
from jaywalk.actors.posed._activities import Activities, Activity, PersonState
from jaywalk.actors.posed._detour import Obstacles
from jaywalk.actors.posed._moves import PeopleWithMoves
from jaywalk.actors.posed._on_their_way import OVER_M
from jaywalk.actors.posed._walking import PathWalk, stroll_path
from jaywalk.actors.posed._ways import AT_PLACE_M, CrossingWalk, beside, crossing_path
from jaywalk.actors.reactive.traits import (
    AT_KERB,
    COMMITTED,
    EVADES,
    GOES,
    HURRIES,
    OBLIVIOUS,
    PHONE,
    STEPS_BACK,
    WAITS,
    YIELDS,
)
from jaywalk.core.arrays import BoolArray, FloatArray
from jaywalk.motion.playback.players import Cue

if TYPE_CHECKING:
    import carla

_PACES: Final = (0.5, 1.35)  # at which clips still look right
_STOP_SHARE: Final = 0.3  # of the clip's speed; slower people stand
_START_SHARE: Final = 0.5
_KERB_M: Final = 1.5
_KERB_ROOM_M: Final = 0.35  # people who wait stand at least this far from the road
_UNSURE: Final = -0.5  # of the evidence of people who only attempt to cross, at their first step
_IN_MOVE: Final = (Activity.STEPPING_BACK, Activity.EVADING, Activity.TURNING)
_LEAST_STOP_S: Final = 0.6
_JOIN_S: Final = 0.8  # between two changes of gait
_PHONE_PITCH_RAD: Final = -0.5  # of people who look at a phone
_LIGHTS_EVERY: Final = 10  # ticks between two looks at the lights
_AT_LIGHTS: Final = 2.0  # factor on the patience of people who wait for a light
_WORDS: Final = {
    COMMITTED: "commits",
    YIELDS: "yields",
    HURRIES: "hurries",
    EVADES: "evades",
    WAITS: "waits",
}


@dataclass(slots=True, kw_only=True)
class ReactiveActivities(PeopleWithMoves):
    """Activities of people who react to vehicles and to each other.

    Attributes:
        lane_map: Map of the town; None: people look to the left before they step onto a road.
    """

    lane_map: carla.Map | None = None
    _hesitated: FloatArray = field(init=False)
    _has_seen: BoolArray = field(init=False)  # the ego
    _last_m: FloatArray = field(init=False)
    _vehicles: VehicleNumbers = field(default_factory=VehicleNumbers, init=False)

    def __post_init__(self) -> None:
        PeopleWithMoves.__post_init__(self)
        count = len(self.people)
        self._hesitated, self._has_seen = np.zeros(count), np.zeros(count, np.bool_)
        rows = self.posed.players.rows
        self._last_m = np.column_stack([rows.x_m, rows.y_m])
        self._standing_m = self._last_m.copy()
        for person in self.people:
            k, role = person.placed.role.number, person.placed.role
            if role.intended == ATTEMPTING:
                self.model.rows.bias[k] = _UNSURE
            clip_mps = self._gaits.speed_mps(role.carry or role.clip)
            free = float(self.model.traits.free_mps[k])
            self.model.traits.free_mps[k] = min(max(free, 0.85 * clip_mps), 1.2 * clip_mps)

    # -- beginning -------------------------------------------------------------------------------

    def is_due(self, person: PersonState) -> bool:
        """Return True if a person should set off so that they meet the ego at the road."""
        k = person.placed.role.number
        first = self.leader_of(person)
        if first is not None:
            return first.activity is not Activity.IDLE
        ego_s = self.ego_s(person)
        own_s = float(self.company.approach_m[k]) + OVER_M
        own_s /= float(self.model.traits.free_mps[k])
        return 0.0 <= ego_s <= own_s + float(self._meeting_s[k])

    def begin(self, person: PersonState, moment: EgoMoment) -> None:
        """Start a person's role: people who cross or try to walk up to the road first."""
        placed = person.placed
        if placed.b_m is None:
            Activities.begin(self, person, moment)
            return
        walk = CrossingWalk(path=self._way(person, moment), via_m=placed.a_m)
        walk.measure(self.network.grid)
        if self.lane_map is not None:
            walk.find_lanes(self.lane_map, placed.z_m)
        k, rows = placed.role.number, self.model.rows
        rows.looks_from[k] = rows.looks[k]
        if walk.lanes:
            rows.near_side[k] = walk.lanes[0][1]
        self.note(moment, person, "intends", **walk.facts())
        person.walk = walk
        rows.waited_s[k] = 0.0
        if float(self.company.approach_m[k]) > 0.0:
            self._start(person, walk, placed.role.carry or placed.role.clip)
        else:
            person.activity = Activity.WAITING

    def _way(self, person: PersonState, moment: EgoMoment) -> FloatArray:
        """Way to the kerb and over the road; members of a group walk beside their leader."""
        placed, grid = person.placed, self.network.grid
        assert placed.b_m is not None
        x, y, _ = self.posed.place_m(placed.actor_id)
        first, k = self.leader_of(person), placed.role.number
        if first is not None:
            walk = first.walk
            if isinstance(walk, CrossingWalk):
                company = self.company
                way = beside(walk.path, float(company.ahead_m[k]), float(company.aside_m[k]), grid)
                way[0] = x, y
                return way
        self._look(moment, [person])
        path = crossing_path(grid, self._obstacles_for(person), (x, y), placed.a_m, placed.b_m)
        return np.array([(x, y), placed.a_m, placed.b_m]) if path is None else path

    # -- the tick --------------------------------------------------------------------------------

    def step(self, tick: int, moment: EgoMoment) -> None:
        """Let the model decide for everybody, then carry it out."""
        if tick % _LIGHTS_EVERY == 0:
            self.lights.read(_LIGHTS_EVERY * self.delta_s)
        self._perceive(moment)
        for person in self.people:
            if person.activity is Activity.WAITING:
                self._wait(person, moment)
            elif person.activity in _IN_MOVE:
                self._finish_move(person, moment)
        Activities.step(self, tick, moment)

    def _perceive(self, moment: EgoMoment) -> None:
        rows, players = self.model.rows, self.posed.players.rows
        place = np.column_stack([players.x_m, players.y_m])
        velocity = (place - self._last_m) / self.delta_s
        self._last_m = place
        rows.x[:], rows.y[:], rows.yaw[:] = place[:, 0], place[:, 1], players.yaw_rad
        rows.vx[:], rows.vy[:] = velocity[:, 0], velocity[:, 1]
        for person in self.people:
            self.fill(person)
        view, numbers = self.nearby.view, self._vehicles
        _, vehicle, blocker, other = view.around(moment.snapshot)
        numbers.update(view.vehicle_ids, view.vehicle_roles)
        self.model.step(numbers.numbers, vehicle[numbers.order], blocker, other)
        ego = numbers.number_of(moment.ego_id)
        seen = (rows.memory_id == ego).any(axis=1) & ~self._has_seen
        for k in np.flatnonzero(seen).tolist():
            self._has_seen[k] = True
            away_m = math.dist(self._ego_m, place[k])
            self.note(moment, self.people[k], "sees", away_m=round(away_m, 1))
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
            "clip_mps": self._gaits.speed_mps(role.carry or role.clip),
            "watched_m": self.watched_m(k),
        }

    def reactions(self) -> dict[str, Any]:
        """What the people perceive and decide now, for the record."""
        gaze = self.posed.gaze
        values = self.model.recorded(
            np.array(self.posed.ids, np.int64), None if gaze is None else gaze.shown_rad
        )
        for name in ("gaze_id", "perceived_id"):
            values[name] = self._vehicles.actors(values[name])
        return values

    def _walk(self, person: PersonState, moment: EgoMoment, looks: bool) -> None:
        """Follow the path with the speed and the course that the model has chosen."""
        k, walk = person.placed.role.number, person.walk
        assert walk is not None
        if self._begins_attempt(person, moment) or self._steps_back(person, moment):
            return
        Activities._walk(self, person, moment, looks)
        if person.activity is not Activity.WALKING or person.walk is not walk:
            return
        rows, players = self.model.rows, self.posed.players
        self._report(person, moment)
        row = self.posed.row_of(person.placed.actor_id)
        if self.model.traits.attention[k] == OBLIVIOUS:
            return
        playing = self.posed.playing(person.placed.actor_id).clip
        clip = self._gaits.speed_mps(playing)
        speed = float(rows.speed[k])
        if rows.decision[k] == EVADES:
            self._evade(person)
            return
        # No gait is slower than half its clip: who is about to wait at the kerb stops earlier.
        waits = rows.where[k] == AT_KERB and rows.kerb_m[k] < _KERB_M
        waits = waits and rows.decision[k] != COMMITTED
        if speed < (_PACES[0] if waits else _STOP_SHARE) * clip:
            urgent = speed < 0.5 * float(rows.wanted[k] * rows.share[k])
            room_m = float(rows.kerb_m[k]) - _KERB_ROOM_M if waits else math.inf
            self._come_to_stop(person, room_m, urgent)
            return
        self._stop_late_s[k] = 0.0
        if self._changes_gait(person, walk, playing, speed):
            return
        if players.rows.since_s[row] >= players.rows.turn_s[row]:
            slow = float(players.rows.rate[row]) if players.rows.rate[row] < 1.0 else 1.0
            players.pace(row, slow * min(max(speed / clip, _PACES[0]), _PACES[1]))
            turn = float(rows.turn[k])
            if turn != 0.0:
                steer = float(players.rows.steer_radps[row]) + 1.8 * turn
                players.steer(row, min(max(steer, -1.6), 1.6))

    def _changes_gait(
        self, person: PersonState, walk: PathWalk, playing: str, speed_mps: float
    ) -> bool:
        """Join a run if the walk is too slow, and the walk again when there is no more hurry."""
        row = self.posed.row_of(person.placed.actor_id)
        if self.posed.players.rows.since_s[row] < _JOIN_S:
            return False
        role = person.placed.role
        own = role.carry or role.clip
        wanted = own
        if speed_mps > _PACES[1] * self._gaits.speed_mps(own):
            wanted = self._gaits.fast_clip(role.child, speed_mps)
            if playing in self._gaits.fast and playing != own:
                wanted = playing
        elif playing not in self._gaits.fast or playing == own:
            return False  # also other clips, as of people who go home
        if not wanted or wanted == playing:
            return False
        self._walk_along(person, walk, wanted, "")
        return True

    def _wait(self, person: PersonState, moment: EgoMoment) -> None:
        """Stand at the kerb or on the road until the model lets the person go."""
        k, rows = person.placed.role.number, self.model.rows
        self._stopped_s[k] += self.delta_s
        self._watch_road(person, moment)
        self._report(person, moment)
        if rows.decision[k] == EVADES:
            self._evade(person)
            return
        if self._begins_attempt(person, moment) or self._steps_back(person, moment):
            return
        patience_s = float(self.model.traits.patience_s[k])
        patience_s *= _AT_LIGHTS if self._lit[k] >= 0 else 1.0
        if not person.on_road and rows.waited_s[k] > patience_s:
            self._give_up(person, moment)
            return
        clip = person.placed.role.carry or person.placed.role.clip
        starts = float(rows.speed[k]) > _START_SHARE * self._gaits.speed_mps(clip)
        if rows.where[k] == AT_KERB and rows.kerb_m[k] < 1.0:
            starts = starts and rows.decision[k] == COMMITTED
        if starts and self._stopped_s[k] >= _LEAST_STOP_S and person.walk is not None:
            if rows.decision[k] == HURRIES:
                self._walk_along(person, person.walk, clip, "")
            else:
                self._start(person, person.walk, clip)

    def _give_up(self, person: PersonState, moment: EgoMoment) -> None:
        """Walk on along the sidewalk instead of crossing."""
        self.note(moment, person, "gives up")
        self.note(moment, person, "intends", plan="stay")
        x, y, _ = self.posed.place_m(person.placed.actor_id)
        path = stroll_path(self.network, (x, y), self._rng("gives up", person.placed.role.number))
        if path is None:
            self._rest(person, moment, "stays")
            return
        person.strolls_on = True
        role = person.placed.role
        walk = PathWalk(path=path, keeps_off=True)
        self._turn_to(person, walk, role.carry or role.clip)

    def _obstacles_for(self, person: PersonState) -> Obstacles:
        """Standing obstacles for one person; people of a group make room for each other."""
        x, y, _ = self.posed.place_m(person.placed.actor_id)
        group = self.model.traits.group
        own = int(group[person.placed.role.number])
        standing = (
            self.posed.place_m(other.placed.actor_id)[:2]
            for other in self.people
            if other is not person
            and other.activity is not Activity.WALKING
            and not (own >= 0 and group[other.placed.role.number] == own)
        )
        return self.nearby.around(x, y, standing)

    # -- attempts --------------------------------------------------------------------------------

    def _begins_attempt(self, person: PersonState, moment: EgoMoment) -> bool:
        """Begin the clip of an attempt once the person is at the kerb and would go."""
        role, k = person.placed.role, person.placed.role.number
        if role.intended != ATTEMPTING or person.going_home or person.strolls_on:
            return False
        x, y, _ = self.posed.place_m(person.placed.actor_id)
        away = math.hypot(x - person.placed.a_m[0], y - person.placed.a_m[1])
        if away > AT_PLACE_M and not (person.on_road or self.model.rows.kerb_m[k] < AT_PLACE_M):
            return False
        if self.model.rows.decision[k] != COMMITTED and not person.on_road:
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
        threatened = self.model.rows.decision[k] in (EVADES, YIELDS, STEPS_BACK)
        if threatened and person.placed.role.intended == ATTEMPTING and person.on_road:
            person.going_home = True
            role = person.placed.role
            self.note(moment, person, "steps back")
            clip = role.carry or self._plain_walk(role.child)
            self._set_off(person, moment, person.placed.a_m, clip, "")
            return
        Activities._act(self, person, moment, looks)

    def _report(self, person: PersonState, moment: EgoMoment) -> None:
        """Note a change of decision, and hesitation."""
        k, rows = person.placed.role.number, self.model.rows
        if rows.hesitates[k] and not self._hesitated[k]:
            self.note(moment, person, "hesitates")
        self._hesitated[k] = rows.hesitates[k]
        decision = int(rows.decision[k])
        if decision == self._reported[k]:
            return
        self._reported[k] = decision
        if decision in _WORDS:
            gap = float(rows.gap_s[k])
            facts = {"gap_s": round(gap, 2)} if math.isfinite(gap) else {}
            follows = decision == COMMITTED and rows.follow[k] == GOES
            self.note(moment, person, "follows" if follows else _WORDS[decision], **facts)
