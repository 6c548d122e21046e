"""How reacting people carry out their decisions with clips: stop, start, step back, turn, evade."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from jaywalk.actors.events import EgoMoment
from jaywalk.actors.posed._activities import Activity, PersonState, idle_cue
from jaywalk.actors.posed._gaits import Gaits
from jaywalk.actors.posed._on_their_way import PeopleOnTheirWay
from jaywalk.actors.posed._walking import PathWalk
from jaywalk.actors.reactive.traits import STEPS_BACK
from jaywalk.core.arrays import FloatArray
from jaywalk.motion.carla_rigs import RIG_NAMES
from jaywalk.motion.playback.players import Cue

_STOP_WITHIN_M: Final = 0.75  # from an ordinary pace
_CONTACT_WITHIN_S: Final = 0.35  # people who find no clip stop at the next contact of a foot
_MOVE_RATE: Final = 1.5  # of clips of people who step away from a vehicle
_BACK_RATE: Final = 1.2
_MOST_TURN_RAD: Final = 0.7  # people turn by this much at most while they step away
_AHEAD_COS: Final = 0.35  # a course within this is reached by walking on
_EVADING_PACE: Final = 1.7
_TURN_PER_S: Final = 3.0
_FASTEST_RADPS: Final = 1.6
_BEYOND_KERB_M: Final = 0.3  # people who step back stop this far from the road


@dataclass(slots=True, kw_only=True)
class PeopleWithMoves(PeopleOnTheirWay):
    """Activities of people who stop, start, step back and evade with clips made for it."""

    _gaits: Gaits = field(init=False)
    _stopped_s: FloatArray = field(init=False)  # since the person began to stop
    _stop_late_s: FloatArray = field(init=False)  # wait for the next contact of a foot
    _until_s: FloatArray = field(init=False)  # end of the present move, in its clip
    _reported: FloatArray = field(init=False)  # decision that was last reported
    _then: dict[int, PathWalk] = field(default_factory=dict, init=False)  # walks after a turn

    def __post_init__(self) -> None:
        PeopleOnTheirWay.__post_init__(self)
        self._gaits = Gaits.of(self.repertoire, self.posed)
        count = len(self.people)
        self._stopped_s, self._stop_late_s = np.zeros(count), np.zeros(count)
        self._until_s, self._reported = np.zeros(count), np.zeros(count)

    def _rig(self, person: PersonState) -> str:
        row = self.posed.row_of(person.placed.actor_id)
        return RIG_NAMES[int(self.posed.players.rows.rig[row])]

    def _yaw_rad(self, person: PersonState) -> float:
        row = self.posed.row_of(person.placed.actor_id)
        return float(self.posed.players.rows.yaw_rad[row])

    # -- stopping and starting -------------------------------------------------------------------

    def _halt(self, person: PersonState, stop: tuple[str, float] | None = None) -> None:
        """Stand still now, by way of a clip or by a join with the idle clip."""
        actor, k = person.placed.actor_id, person.placed.role.number
        self.posed.steer(actor, 0.0)
        idle = idle_cue(person.placed, self._yaw_rad(person))
        if stop is not None:
            self.posed.play(actor, Cue(clip=stop[0], enter_s=stop[1]), [idle])
        else:
            self.posed.play(actor, idle)
        person.activity = Activity.WAITING
        self._stopped_s[k] = self._stop_late_s[k] = 0.0

    def _come_to_stop(self, person: PersonState, room_m: float, urgent: bool) -> None:
        """Stop with a clip that fits the step, or at the next contact of a foot."""
        k, rig = person.placed.role.number, self._rig(person)
        now = self.posed.playing(person.placed.actor_id)
        if urgent:
            self._halt(person)
            return
        playing, child = (now.clip, now.time_s), person.placed.role.child
        if now.weight >= 1.0:
            stop = self._gaits.stop(child, rig, playing, min(room_m, _STOP_WITHIN_M))
            if stop is not None:
                self._halt(person, stop)
                return
        self._stop_late_s[k] += self.delta_s
        late = self._stop_late_s[k] > _CONTACT_WITHIN_S
        if late or self._gaits.is_on_both_feet(rig, playing):
            self._halt(person)

    def _start(self, person: PersonState, walk: PathWalk, clip: str) -> None:
        """Begin to walk along a path: lean, shift the weight, then lift a foot."""
        role = person.placed.role
        start = self._gaits.start(role.child, self._rig(person), role.number)
        if start is None:
            self._walk_along(person, walk, clip, "")
            return
        actor = person.placed.actor_id
        x, y, _ = self.posed.place_m(actor)
        walk.course_rad = 0.0
        first = Cue(
            clip=start[0], enter_s=start[1], towards_rad=walk.bearing_rad(x, y), holds=False
        )
        self.posed.play(actor, first, [Cue(clip=clip, loop=True, holds=False)])
        person.walk, person.activity = walk, Activity.WALKING

    def _turn_to(self, person: PersonState, walk: PathWalk, clip: str) -> None:
        """Walk along a path that may lead back, after a half turn with a clip."""
        actor, k = person.placed.actor_id, person.placed.role.number
        x, y, _ = self.posed.place_m(actor)
        bearing = walk.bearing_rad(x, y)
        turn = math.remainder(bearing - self._yaw_rad(person), math.tau)
        role = person.placed.role
        away = self._gaits.turn_away(role.child, self._rig(person), turn)
        if away is None:
            self._start(person, walk, clip)
            return
        self.posed.steer(actor, 0.0)
        self.posed.play(actor, Cue(clip=away[0], heading_rad=bearing - away[1], enter_s=0.0))
        person.walk, person.activity = walk, Activity.TURNING
        self._then[k] = walk
        self._until_s[k] = math.inf

    # -- stepping back and away ------------------------------------------------------------------

    def _steps_back(self, person: PersonState, moment: EgoMoment) -> bool:
        """Begin to walk backwards to the kerb, if the model decides so."""
        k, role = person.placed.role.number, person.placed.role
        rows = self.model.rows
        if rows.decision[k] != STEPS_BACK or not person.on_road:
            return False
        far_m = float(rows.onto_m[k]) + _BEYOND_KERB_M
        step = self._gaits.step_back(role.child, self._rig(person), k, far_m)
        if step is None:
            return False
        actor = person.placed.actor_id
        rate = _BACK_RATE if step.enter_s == 0.0 else 1.0
        self.posed.steer(actor, 0.0)
        cue = Cue(
            clip=step.clip, heading_rad=self._yaw_rad(person), enter_s=step.enter_s, rate=rate
        )
        self.posed.play(actor, cue)
        person.activity, self._until_s[k] = Activity.STEPPING_BACK, step.until_s
        self._reported[k] = STEPS_BACK
        self.note(moment, person, "steps back")
        return True

    def _evade(self, person: PersonState) -> None:
        """Leave the way of a vehicle: walk on fast if that leads away, else step aside or back."""
        actor, k = person.placed.actor_id, person.placed.role.number
        yaw, row = self._yaw_rad(person), self.posed.row_of(actor)
        aside = math.remainder(float(self.model.rows.course[k]) - yaw, math.tau)
        if person.activity is Activity.WALKING and math.cos(aside) > _AHEAD_COS:
            self.posed.players.pace(row, _EVADING_PACE)
            steer = min(max(_TURN_PER_S * aside, -_FASTEST_RADPS), _FASTEST_RADPS)
            self.posed.steer(actor, steer)
            return
        move = self._gaits.evasion(person.placed.role.child, self._rig(person), aside)
        if move is None:
            if person.activity is Activity.WALKING:
                self._halt(person)
            return
        turn = math.remainder(aside - move[1], math.tau)
        turn = min(max(turn, -_MOST_TURN_RAD), _MOST_TURN_RAD)
        self.posed.steer(actor, 0.0)
        cue = Cue(clip=move[0], heading_rad=yaw + turn, enter_s=0.0, rate=_MOVE_RATE)
        self.posed.play(actor, cue)
        person.activity, self._until_s[k] = Activity.EVADING, math.inf

    def _finish_move(self, person: PersonState, moment: EgoMoment) -> None:
        """Stand, or walk on after a turn, when the clip of a move is over."""
        k = person.placed.role.number
        self._watch_road(person, moment)
        playing = self.posed.playing(person.placed.actor_id)
        over = playing.ended or playing.time_s >= self._until_s[k]
        if person.activity is Activity.STEPPING_BACK:
            over = over or (not person.on_road and playing.weight >= 1.0)
        if not over:
            return
        walk = self._then.pop(k, None)
        if walk is None:
            self._halt(person)
            return
        role = person.placed.role
        self._walk_along(person, walk, role.carry or role.clip, "")
