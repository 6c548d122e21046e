"""People who play clips: positions and poses at every step.

A compiled kernel advances all people at once; only the beginning of a clip, a join or a turn takes
additional time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.errors import UsageError
from jaywalk.motion.carla_rigs import RIG_NAMES
from jaywalk.motion.playback._feet import leg_tables
from jaywalk.motion.playback._kernels import advance, angles_of, hold_standing_feet, show
from jaywalk.motion.playback.bank import FREE, NOTHING, ClipBank, Rows, make_rows, with_row
from jaywalk.motion.playback.joins import (
    LONGEST_S,
    SHORTEST_S,
    Join,
    best_entry,
    best_join,
    best_loop,
    going_until,
)

_ENTRY_WINDOW_S: Final = 0.8  # a join may skip this much of the beginning of a clip
_EXIT_WINDOW_S: Final = 1.2  # and this much of the end of the previous clip
_STRIDE_S: Final = 1.2  # a walking person enters a walking clip in its first stride, same foot
_WALKING_MPS: Final = 0.4
_GENTLE_RADPS: Final = 6.0  # joins are long enough that the blend alone turns no bone faster
_TURN_RADPS: Final = 2.6  # mean; turning on the spot is not faster
_SAME_TIME_S: Final = 1e-6
_MOVES_M: Final = 0.3  # a clip with a shorter path has no direction; the facing direction counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """Request to play a clip.

    Attributes:
        clip: Name in the library.
        towards_rad: World yaw of the path of the clip, from entry to end.
        heading_rad: World yaw of the person at the entry. If both are None, the person keeps their
            present yaw.
        enter_s: Start time in the clip; None: the most similar pose near the start.
        rate: Playback speed.
        loop: Repeat the clip without end, until another clip is played.
        holds: Restore the direction at every loop; otherwise it is set once, and the caller steers
            from then on.
        blend_s: Length of the join; None: from the distance between the poses.
    """

    clip: str
    towards_rad: float | None = None
    heading_rad: float | None = None
    enter_s: float | None = None
    rate: float = 1.0
    loop: bool = False
    holds: bool = True
    blend_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Playing:
    """Playback state of one person.

    Attributes:
        clip: Name of the clip; empty before the first one.
        time_s: Time in the clip.
        phase: Time in the clip, scaled to 0 to 1.
        weight: Weight of this clip against the previous one; 1 after the join.
        ended: True if the clip is over without a successor; the person keeps its last pose.
    """

    clip: str
    time_s: float
    phase: float
    weight: float
    ended: bool


class Players:
    """People by number, in the order in which they were added.

    Example:
        >>> players = Players(ClipBank(library))  # doctest: +SKIP
        >>> anna = players.add("woman", x_m=3.0, y_m=1.0, yaw_rad=0.0)  # doctest: +SKIP
        >>> players.play(anna, Cue(clip="idle-0003", loop=True))  # doctest: +SKIP
        >>> players.advance(0.05)  # doctest: +SKIP
        >>> players.rows.x_m[anna], players.angles_deg(np.array([anna]))  # doctest: +SKIP
    """

    def __init__(self, bank: ClipBank) -> None:
        self.bank = bank
        self.rows: Rows = make_rows(np.zeros(0, np.int64))
        self._legs = leg_tables()
        self._next: list[list[Cue]] = []
        self._cue: list[Cue | None] = []
        self._leave_s = np.zeros(0)
        self._planned: list[Join | None] = []
        self._loops: dict[int, Join] = {}

    def __len__(self) -> int:
        return len(self._cue)

    def add(self, rig: str, *, x_m: float, y_m: float, yaw_rad: float) -> int:
        """Add a person at a position, without a clip; returns their number."""
        if rig not in RIG_NAMES:
            raise UsageError(f"unknown rig {rig!r}; expected {', '.join(RIG_NAMES)}")
        self.rows = with_row(self.rows, RIG_NAMES.index(rig))
        row = len(self._cue)
        self._next.append([])
        self._cue.append(None)
        self._planned.append(None)
        self._leave_s = np.append(self._leave_s, np.inf)
        self.place(row, x_m=x_m, y_m=y_m, yaw_rad=yaw_rad)
        return row

    def place(self, row: int, *, x_m: float, y_m: float, yaw_rad: float) -> None:
        """Move a person to a position at once; held feet are released."""
        self.rows.x_m[row], self.rows.y_m[row], self.rows.yaw_rad[row] = x_m, y_m, yaw_rad
        self.rows.foot[row] = FREE

    def play(self, row: int, cue: Cue, then: Sequence[Cue] = ()) -> None:
        """Begin a clip now with a join from the shown pose; ``then`` follows when it ends.

        The first clip of a person begins without a join, in the direction of the cue.
        """
        self._next[row] = list(then)
        self._begin(row, cue, None)

    def steer(self, row: int, radps: float) -> None:
        """Add a yaw rate to the turning of the clip, until the next call."""
        self.rows.steer_radps[row] = radps

    def pace(self, row: int, rate: float) -> None:
        """Play a person's clip faster or slower from now on."""
        self.rows.rate[row] = rate

    def stop(self, row: int) -> None:
        """Stop playback; the person's row keeps its values."""
        self.rows.clip[row] = self.rows.old_clip[row] = NOTHING
        self.rows.speed_mps[row] = 0.0
        self._cue[row], self._leave_s[row] = None, np.inf

    def advance(self, dt_s: float) -> None:
        """Advance all people by one step."""
        advance(self.bank.frames, self.rows, self._legs, dt_s)
        for row in np.flatnonzero(self.rows.time_s >= self._leave_s - _SAME_TIME_S):
            self._follow(int(row))

    def angles_deg(self, chosen: IntArray) -> FloatArray:
        """Pitch, yaw and roll (chosen, 21, 3) of the driven bones, in the order of ``DRIVEN``."""
        out: FloatArray = angles_of(self.rows.turns, chosen)
        return out

    def playing(self, row: int) -> Playing:
        """Return the playback state of a person."""
        clip = int(self.rows.clip[row])
        if clip == NOTHING:
            return Playing(clip="", time_s=0.0, phase=0.0, weight=0.0, ended=True)
        time_s, length_s = float(self.rows.time_s[row]), self.bank.duration_s(clip)
        since_s, blend_s = float(self.rows.since_s[row]), float(self.rows.blend_s[row])
        return Playing(
            clip=self.bank.names[clip],
            time_s=time_s,
            phase=time_s / length_s,
            weight=1.0 if since_s >= blend_s else since_s / blend_s,
            ended=time_s >= length_s - _SAME_TIME_S and not math.isfinite(self._leave_s[row]),
        )

    def phases(self) -> list[tuple[str, float, float]]:
        """Clip, phase from 0 to 1 and weight of all people; "" for a person without a clip."""
        rows, names, frames = self.rows, self.bank.names, self.bank.frames
        plays = rows.clip != NOTHING
        phase, weight = np.zeros(len(self)), np.zeros(len(self))
        lengths_s = (frames.length[rows.clip[plays]] - 1) / frames.rate_hz
        phase[plays] = rows.time_s[plays] / lengths_s
        joined = rows.since_s >= rows.blend_s
        share = rows.since_s / np.where(joined, 1.0, rows.blend_s)
        weight[plays] = np.where(joined, 1.0, share)[plays]
        clips = [names[clip] if clip != NOTHING else "" for clip in rows.clip.tolist()]
        return list(zip(clips, phase.tolist(), weight.tolist(), strict=True))

    def remaining_s(self, row: int) -> float:
        """Time until the present clip joins the next one or ends."""
        clip = int(self.rows.clip[row])
        if clip == NOTHING:
            return 0.0
        end = min(float(self._leave_s[row]), self.bank.duration_s(clip))
        return max(end - float(self.rows.time_s[row]), 0.0) / float(self.rows.rate[row])

    # -- joins -----------------------------------------------------------------------------------

    def _follow(self, row: int) -> None:
        """Leave the present clip: repeat it, or begin the next cue."""
        cue = self._cue[row]
        assert cue is not None
        if not cue.loop:
            cue = self._next[row].pop(0)
        elif not cue.holds:
            cue = replace(cue, towards_rad=None, heading_rad=None)
        self._begin(row, cue, self._planned[row])

    def _begin(self, row: int, cue: Cue, join: Join | None) -> None:
        rows, rate_hz = self.rows, self.bank.frames.rate_hz
        clip = self.bank.index(cue.clip, RIG_NAMES[int(rows.rig[row])])
        if not 0.05 <= cue.rate <= 4.0:
            raise UsageError(f"rate {cue.rate:g} of clip {cue.clip!r}; expected 0.05 to 4")
        first = rows.clip[row] == NOTHING
        if join is None:
            join = self._entry(row, clip, cue)
        blend_s = 0.0 if first else self._blend_s(row, clip, cue, join)
        if not first:
            self._start_fading(row)
        rows.clip[row], rows.time_s[row], rows.rate[row] = clip, join.enter / rate_hz, cue.rate
        rows.since_s[row], rows.blend_s[row] = 0.0, blend_s
        self._cue[row] = cue
        self._plan_leave(row, clip, cue)
        self._turn(row, clip, cue, join, first)
        if first:
            rows.foot[row] = FREE
            show(self.bank.frames, rows, row, self._legs, 0.0)

    def _blend_s(self, row: int, clip: int, cue: Cue, join: Join) -> float:
        if cue.blend_s is not None:
            return cue.blend_s
        frames = self.bank.frames
        there = frames.turns[int(frames.first[clip]) + join.enter]
        alike = np.abs(np.einsum("bk,bk->b", self.rows.turns[row], there)).min()
        change_rad = 2.0 * math.acos(min(float(alike), 1.0))  # of the bone that turns farthest
        # the peak rate of a smooth blend is 1.5 times its mean rate
        return max(join.blend_s, min(1.5 * change_rad / _GENTLE_RADPS, LONGEST_S))

    def _start_fading(self, row: int) -> None:
        rows = self.rows
        blending = rows.since_s[row] < rows.blend_s[row]
        rows.frozen[row] = int(blending)
        if blending:
            rows.source_turns[row], rows.source_hips_m[row] = rows.turns[row], rows.hips_m[row]
        hold_standing_feet(self.bank.frames, rows, row, self._legs)
        rows.old_clip[row], rows.old_time_s[row] = rows.clip[row], rows.time_s[row]
        rows.old_rate[row] = rows.rate[row]

    def _entry(self, row: int, clip: int, cue: Cue) -> Join:
        """Find the entry of a clip that was not planned."""
        rows, rate_hz = self.rows, self.bank.frames.rate_hz
        there = self.bank.transition_features(clip)
        goes_on = cue.loop and float(rows.speed_mps[row]) > _WALKING_MPS
        first, last = self._entries(clip, cue, goes_on)
        if rows.clip[row] == NOTHING:
            return Join(leave=0, enter=first, apart_m=0.0)
        here = self.bank.transition_features(int(rows.clip[row]))
        frame = min(round(float(rows.time_s[row]) * rate_hz), len(here) - 1)
        return best_entry(here[frame], there, first, last)

    def _entries(self, clip: int, cue: Cue, goes_on: bool) -> tuple[int, int]:
        """First and last entry frame of a clip; people who keep walking skip its standing part."""
        rate_hz, count = self.bank.frames.rate_hz, int(self.bank.frames.length[clip])
        if cue.enter_s is not None:
            frame = min(max(round(cue.enter_s * rate_hz), 0), count - 2)
            return frame, frame
        walks = self.bank.walks[clip]
        window = round(_ENTRY_WINDOW_S * rate_hz)
        if walks is None or not goes_on:
            return 0, min(window, count // 3)
        last = min(walks.start + round(_STRIDE_S * rate_hz), (walks.start + walks.stop) // 2)
        return max(walks.start - window, 0), last

    def _plan_leave(self, row: int, clip: int, cue: Cue) -> None:
        """Plan the time at which the clip is left and the entry of the next one."""
        rate_hz = self.bank.frames.rate_hz
        room = round(SHORTEST_S * rate_hz)
        if cue.loop:
            if clip not in self._loops:
                within = self.bank.walks[clip] or range(int(self.bank.frames.length[clip]))
                self._loops[clip] = best_loop(self.bank.transition_features(clip), room, within)
            join = self._loops[clip]
        elif self._next[row]:
            join = self._exit(row, clip, room)
        else:
            self._leave_s[row], self._planned[row] = np.inf, None
            return
        self._leave_s[row], self._planned[row] = join.leave / rate_hz, join

    def _exit(self, row: int, clip: int, room: int) -> Join:
        rate_hz, following = self.bank.frames.rate_hz, self._next[row][0]
        here = self.bank.transition_features(clip)
        other = self.bank.index(following.clip, self.bank.rigs[clip])
        goes_on = following.loop and self.bank.walks[other] is not None
        end = going_until(self.bank.way(clip), rate_hz) if goes_on else len(here)
        now = round(float(self.rows.time_s[row]) * rate_hz)
        latest = max(end - 1 - room, min(now, len(here) - 1 - room), 0)
        earliest = min(max(latest - round(_EXIT_WINDOW_S * rate_hz), now), latest)
        first, last = self._entries(other, following, goes_on)
        there = self.bank.transition_features(other)
        return best_join(here, there, range(earliest, latest + 1), range(first, last + 1))

    def _turn(self, row: int, clip: int, cue: Cue, join: Join, first: bool) -> None:
        """Turn the person so that the clip leads in the direction of the cue."""
        rows = self.rows
        rows.turn_rad[row] = rows.turn_s[row] = 0.0
        wanted = self._wanted_yaw(row, clip, cue, join)
        if wanted is None:
            return
        if first:
            rows.yaw_rad[row] = wanted
            return
        turn = math.remainder(wanted - float(rows.yaw_rad[row]), 2.0 * math.pi)
        rows.turn_rad[row] = turn
        rows.turn_s[row] = max(float(rows.blend_s[row]), abs(turn) / _TURN_RADPS)
        # a person who turns far keeps the old pose a little longer
        rows.blend_s[row] = max(float(rows.blend_s[row]), 0.6 * float(rows.turn_s[row]))

    def _wanted_yaw(self, row: int, clip: int, cue: Cue, join: Join) -> float | None:
        if cue.towards_rad is None:
            return cue.heading_rad
        way = self.bank.way(clip)
        planned = self._planned[row]
        end = len(way) - 1 if planned is None else planned.leave
        dx, dy = way[end, :2] - way[join.enter, :2]
        if math.hypot(dx, dy) < _MOVES_M:
            return cue.towards_rad
        return cue.towards_rad - math.atan2(dy, dx) + float(way[join.enter, 3])
