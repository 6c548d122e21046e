"""Posed people who react: they walk up to the road, look, wait for a gap, and avoid vehicles.

Decisions come from :class:`~jaywalk.actors.reactive.model.ReactionModel`; this module carries them
out with clips. Clips stay the only source of gait: a person walks faster or slower, runs, steps
back, stops in an idle clip, and starts again with a walking clip.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from jaywalk.actors._surroundings import RedLights
from jaywalk.actors.crowd._kernels import light_lets
from jaywalk.actors.crowd.state import ATTEMPTING
from jaywalk.actors.events import EgoMoment
from jaywalk.actors.posed._activities import Activities, Activity, PersonState, idle_cue
from jaywalk.actors.posed._gaits import Gaits
from jaywalk.actors.posed._groups import Company
from jaywalk.actors.posed._walking import PathWalk, stroll_path
from jaywalk.actors.posed._ways import AT_PLACE_M, CrossingWalk, beside, crossing_path
from jaywalk.actors.reactive.model import ReactionModel
from jaywalk.actors.reactive.traits import (
    AT_KERB,
    COMMITTED,
    EVADES,
    GOES,
    HURRIES,
    OBLIVIOUS,
    OFF_ROAD,
    ON_ROAD,
    PHONE,
    STEPS_BACK,
    WAITS,
    YIELDS,
)
from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.seeds import stream
from jaywalk.motion.playback.players import Cue

_MEETING_S: Final = (-1.0, 6.0)  # the ego arrives this much later than the person
_SLOWEST_EGO_MPS: Final = 3.0
_OVER_M: Final = 4.0  # from the kerb to the way of the ego
_RETIMED: Final = (0.85, 1.15)  # factor on the speed of somebody who is early or late ...
_RETIMED_UNTIL_S: Final = 3.0  # ... until this long before the road
_NEAR_ROAD_M: Final = 20.0  # people begin to think about the road this far before it
_PACES: Final = (0.5, 1.35)  # at which clips still look right
_EVADING_PACE: Final = 1.7
_STOP_SHARE: Final = 0.3  # of the clip's speed; slower people stand
_START_SHARE: Final = 0.5
_LEAST_STOP_S: Final = 0.6
_JOIN_S: Final = 0.8  # between two changes of gait
_PHONE_PITCH_RAD: Final = -0.5  # of people who look at a phone
_SPRING_PER_S: Final = 0.3  # haste of a member per metre behind the leader
_HASTE: Final = (0.75, 1.25)
_LIGHTS_EVERY: Final = 10  # ticks between two looks at the lights
_OBEYING: Final = 0.9  # share of people who wait for the light, as in the crowd
_AT_LIGHTS: Final = 2.0  # factor on the patience of people who wait for a light
_LIT_M: Final = 5.0  # largest distance of a crossing with lights from both ends of a way
_WORDS: Final = {
    COMMITTED: "commits",
    YIELDS: "yields",
    HURRIES: "hurries",
    EVADES: "evades",
    WAITS: "waits",
}


@dataclass(slots=True, kw_only=True)
class ReactiveActivities(Activities):
    """Activities of people who react to vehicles and to each other.

    Attributes:
        model: Decisions; one row a person.
        company: Starting places and groups.
        lights: Traffic lights.
        route_m: (p, 2) route of the ego.
        route_along_m: (p,) distances along it.
    """

    model: ReactionModel
    company: Company
    lights: RedLights
    route_m: FloatArray
    route_along_m: FloatArray
    _gaits: Gaits = field(init=False)
    _stopped_s: FloatArray = field(init=False)
    _reported: FloatArray = field(init=False)  # decision that was last reported
    _hesitated: FloatArray = field(init=False)
    _last_m: FloatArray = field(init=False)
    _route_at: int = field(default=0, init=False)
    _ego_along_m: float = field(default=0.0, init=False)
    _ego_mps: float = field(default=0.0, init=False)
    _meeting_s: FloatArray = field(init=False)
    _lit: IntArray = field(init=False)  # row of the crossing whose lights count; -1: none
    _ticks: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        Activities.__post_init__(self)
        self._gaits = Gaits.of(self.repertoire, self.posed)
        count = len(self.people)
        self._stopped_s, self._reported = np.zeros(count), np.zeros(count)
        self._hesitated = np.zeros(count)
        rows = self.posed.players.rows
        self._last_m = np.column_stack([rows.x_m, rows.y_m])
        self._standing_m = self._last_m.copy()
        draws = [stream(self.seed, "habit", "meeting", k).random(2) for k in range(count)]
        low, high = _MEETING_S
        self._meeting_s = np.array([low + (high - low) * float(draw[0]) for draw in draws])
        self._lit = np.full(count, -1, np.int64)
        self.model.rows.leader[:] = self.company.leader
        for person in self.people:
            k, role = person.placed.role.number, person.placed.role
            clip_mps = self._gaits.speed_mps(role.carry or role.clip)
            free = float(self.model.traits.free_mps[k])
            self.model.traits.free_mps[k] = min(max(free, 0.85 * clip_mps), 1.2 * clip_mps)
            if float(draws[k][1]) < _OBEYING and person.placed.b_m is not None:
                self._lit[k] = self._lit_crossing(person.placed.a_m, person.placed.b_m)

    def _lit_crossing(self, a_m: tuple[float, float], b_m: tuple[float, float]) -> int:
        """Row of the crossing with lights that a way follows; -1: it follows none."""
        crossings = self.network.crossings
        away = np.hypot(*(crossings.a - a_m).T) + np.hypot(*(crossings.b - b_m).T)
        away[(crossings.crosswalk < 0) | (crossings.lights[:, 0] < 0)] = np.inf
        nearest = int(np.argmin(away)) if len(away) else -1
        return nearest if nearest >= 0 and away[nearest] < 2.0 * _LIT_M else -1

    # -- beginning -------------------------------------------------------------------------------

    def see_ego(self, ego_m: tuple[float, float], ego_mps: float) -> None:
        """Take note of the ego's place on its route; call once a tick, before ``is_due``."""
        window = slice(self._route_at, self._route_at + 120)
        gap = np.hypot(*(self.route_m[window] - ego_m).T)
        self._route_at += int(gap.argmin())
        self._ego_along_m = float(self.route_along_m[self._route_at])
        self._ego_mps = ego_mps

    def is_due(self, person: PersonState) -> bool:
        """Return True if a person should set off so that they meet the ego at the road."""
        k = person.placed.role.number
        first = int(self.company.leader[k])
        if first >= 0 and first != k:
            return self.people[first].activity is not Activity.IDLE
        ego_s = self._ego_s(person)
        own_s = float(self.company.approach_m[k]) + _OVER_M
        own_s /= float(self.model.traits.free_mps[k])
        return 0.0 <= ego_s <= own_s + float(self._meeting_s[k])

    def _ego_s(self, person: PersonState) -> float:
        """Time of the ego to the place of a person's crossing; negative: it has passed."""
        ahead_m = person.placed.along_m - self._ego_along_m
        return ahead_m / max(self._ego_mps, _SLOWEST_EGO_MPS)

    def begin(self, person: PersonState, moment: EgoMoment) -> None:
        """Start a person's role: people who cross or try to walk up to the road first."""
        placed = person.placed
        if placed.b_m is None:
            Activities.begin(self, person, moment)
            return
        walk = CrossingWalk(path=self._way(person, moment), via_m=placed.a_m)
        walk.measure(self.network.grid)
        self.note(moment, person, "intends", **walk.facts())
        person.walk = walk
        self.model.rows.waited_s[placed.role.number] = 0.0
        if float(self.company.approach_m[placed.role.number]) > 0.0:
            self._walk_along(person, walk, placed.role.carry or placed.role.clip, "")
        else:
            person.activity = Activity.WAITING

    def _way(self, person: PersonState, moment: EgoMoment) -> FloatArray:
        """Way to the kerb and over the road; members of a group walk beside their leader."""
        placed, grid = person.placed, self.network.grid
        assert placed.b_m is not None
        x, y, _ = self.posed.place_m(placed.actor_id)
        k = placed.role.number
        first = int(self.company.leader[k])
        if first >= 0 and first != k:
            walk = self.people[first].walk
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
            elif person.activity is Activity.STEPPING_BACK:
                self._finish_step_back(person, moment)
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
        moves = person.activity in (
            Activity.WALKING,
            Activity.WAITING,
            Activity.BLOCKED,
            Activity.STEPPING_BACK,
        )
        rows.active[k] = (moves and walk is not None) or person.activity is Activity.ACTING
        if walk is None or not rows.active[k]:
            return
        x, y = float(rows.x[k]), float(rows.y[k])
        bearing = walk.bearing_rad(x, y)
        rows.aim_x[k], rows.aim_y[k] = x + 2.0 * math.cos(bearing), y + 2.0 * math.sin(bearing)
        rows.onto_m[k] = math.inf
        if not isinstance(walk, CrossingWalk) or math.isnan(walk.road_m[0]):
            rows.where[k], rows.kerb_m[k] = (ON_ROAD if person.on_road else OFF_ROAD), math.inf
            rows.left_m[k], rows.haste[k] = 8.0, 1.0
            return
        along = walk.along_m(x, y)
        enter, leave = walk.road_m
        rows.painted[k] = walk.painted
        if along >= leave:
            rows.where[k], rows.kerb_m[k], rows.left_m[k] = OFF_ROAD, math.inf, 4.0
        elif along >= enter or person.on_road:
            rows.where[k], rows.kerb_m[k], rows.left_m[k] = ON_ROAD, 0.0, leave - along
            rows.onto_m[k] = max(along - enter, 0.0)
        else:
            near = enter - along < _NEAR_ROAD_M
            rows.where[k] = AT_KERB if near else OFF_ROAD
            rows.kerb_m[k], rows.left_m[k] = enter - along, leave - enter
        if rows.where[k] == AT_KERB and enter - along < 3.0:
            # The gap is judged for the way over the road, not for the last steps of the approach.
            rows.aim_x[k] = x + walk.path[-1, 0] - walk.via_m[0]
            rows.aim_y[k] = y + walk.path[-1, 1] - walk.via_m[1]
        self._set_haste(person, along, enter)
        lit = int(self._lit[k])
        if lit >= 0 and rows.where[k] == AT_KERB and enter - along < _NEAR_ROAD_M:
            needed_s = (leave - enter) / float(self.model.traits.free_mps[k])
            lamps = self.network.crossings.lights[lit]
            lights = self.lights
            rows.may_go[k] = light_lets(lights.red_s, lights.red_length_s, lamps, needed_s)

    def _set_haste(self, person: PersonState, along: float, enter: float) -> None:
        """Hurry or dawdle to meet the ego at the road, or to stay with the group."""
        rows, k = self.model.rows, person.placed.role.number
        first = int(self.company.leader[k])
        rows.haste[k] = 1.0
        if first >= 0 and first != k:
            walk = self.people[first].walk
            if isinstance(walk, CrossingWalk) and self.people[first].activity is Activity.WALKING:
                behind = walk.along_m(float(rows.x[first]), float(rows.y[first])) - along
                behind += float(self.company.ahead_m[k])
                rows.haste[k] = min(max(1.0 + _SPRING_PER_S * behind, _HASTE[0]), _HASTE[1])
            return
        own_s = (enter - along) / float(self.model.traits.free_mps[k])
        ego_s = self._ego_s(person)
        if own_s > _RETIMED_UNTIL_S and ego_s > 0.0:
            own_s += _OVER_M / float(self.model.traits.free_mps[k])
            wanted_s = max(ego_s - float(self._meeting_s[k]), 0.1)
            rows.haste[k] = min(max(own_s / wanted_s, _RETIMED[0]), _RETIMED[1])

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
            ahead = math.cos(float(rows.course[k]) - float(players.rows.yaw_rad[row]))
            if ahead > -0.2:
                players.pace(row, _EVADING_PACE)
                return
            speed = 0.0
        if speed < _STOP_SHARE * clip:
            self._halt(person)
            return
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

    def _halt(self, person: PersonState) -> None:
        """Stand still and go on when the model says so."""
        actor = person.placed.actor_id
        row = self.posed.row_of(actor)
        self.posed.steer(actor, 0.0)
        yaw = float(self.posed.players.rows.yaw_rad[row])
        self.posed.play(actor, idle_cue(person.placed, yaw))
        person.activity = Activity.WAITING
        self._stopped_s[person.placed.role.number] = 0.0

    def _wait(self, person: PersonState, moment: EgoMoment) -> None:
        """Stand at the kerb or on the road until the model lets the person go."""
        k, rows = person.placed.role.number, self.model.rows
        self._stopped_s[k] += self.delta_s
        self._watch_road(person, moment)
        self._report(person, moment)
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

    # -- stepping back ---------------------------------------------------------------------------

    def _steps_back(self, person: PersonState, moment: EgoMoment) -> bool:
        """Begin to walk backwards to the kerb, if the model decides so."""
        k = person.placed.role.number
        if self.model.rows.decision[k] != STEPS_BACK or not person.on_road:
            return False
        step = self._gaits.step_back(person.placed.role.child, k)
        if step is None:
            return False
        actor = person.placed.actor_id
        yaw = float(self.posed.players.rows.yaw_rad[self.posed.row_of(actor)])
        self.posed.steer(actor, 0.0)
        self.posed.play(actor, Cue(clip=step.clip, heading_rad=yaw, enter_s=step.enter_s))
        person.activity = Activity.STEPPING_BACK
        self._reported[k] = STEPS_BACK
        self.note(moment, person, "steps back")
        return True

    def _finish_step_back(self, person: PersonState, moment: EgoMoment) -> None:
        """Stand again at the kerb, or when the clip has no more steps back."""
        self._watch_road(person, moment)
        playing = self.posed.playing(person.placed.actor_id)
        step = self._gaits.step_back(person.placed.role.child, person.placed.role.number)
        over = step is None or playing.time_s >= step.until_s or playing.ended
        if over or (not person.on_road and playing.weight >= 1.0):
            self._halt(person)

    # -- attempts --------------------------------------------------------------------------------

    def _begins_attempt(self, person: PersonState, moment: EgoMoment) -> bool:
        """Begin the clip of an attempt once the person is at the kerb and would go."""
        role, k = person.placed.role, person.placed.role.number
        if role.intended != ATTEMPTING or person.going_home or person.strolls_on:
            return False
        x, y, _ = self.posed.place_m(person.placed.actor_id)
        if math.hypot(x - person.placed.a_m[0], y - person.placed.a_m[1]) > AT_PLACE_M:
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
