"""Reconstruction of poses from a record: clip, phase, weight of the join, and path.

The same kernels run in the same order as in the episode, so joins and standing feet are the same as
those shown. Clip times come from the record; only the speed of a clip that fades out is taken from
its last step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.motion.carla_rigs import RIG_NAMES
from jaywalk.motion.playback._feet import leg_tables
from jaywalk.motion.playback._kernels import hold_standing_feet, show
from jaywalk.motion.playback.bank import FREE, NOTHING, ClipBank, Rows, make_rows
from jaywalk.motion.retarget import DRIVEN_COUNT, RigClip, RootPolicy

_SAME: Final = 1e-4  # tolerance of phases and weights, which are 32-bit floats in records


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """Playback of one person, one row per tick.

    Attributes:
        rig: One of ``RIG_NAMES``.
        clip: Names of the clips.
        phase: (n,) time in the clip, scaled to 0 to 1.
        weight: (n,) weight of the clip against the previous one, 0 to 1.
        actor: (n, 4) ``x y z yaw`` with z the ground, radians.
        delta_s: Length of a tick.
    """

    rig: str
    clip: Sequence[str]
    phase: FloatArray
    weight: FloatArray
    actor: FloatArray
    delta_s: float


def repose(bank: ClipBank, played: Played) -> RigClip:
    """Return the poses of one person at every tick."""
    n = len(played.clip)
    replay = _Replay(bank, played)
    turns, hips = np.zeros((n, DRIVEN_COUNT, 4)), np.zeros((n, 3))
    for tick in range(n):
        replay.step(tick)
        turns[tick], hips[tick] = replay.rows.turns[0], replay.rows.hips_m[0]
    return RigClip(
        rig=played.rig,
        policy=RootPolicy.KEEP,
        actor=played.actor,
        hips_m=hips,
        turns=turns,
        rate_hz=1.0 / played.delta_s,
    )


def joins_of(played: Played, index: IntArray) -> np.ndarray:
    """Mask (n,) of the ticks at which a join began, to another clip or to the same clip again."""
    began = np.zeros(len(index), np.bool_)
    began[1:] = (
        (index[1:] != index[:-1])
        | (played.phase[1:] < played.phase[:-1] - _SAME)
        | (played.weight[1:] < played.weight[:-1] - _SAME)
    )
    return began


class _Replay:
    """Replay of one person, tick by tick."""

    def __init__(self, bank: ClipBank, played: Played) -> None:
        self._clip = np.array([bank.index(name, played.rig) for name in played.clip], np.int64)
        self._frames, self._legs, self._played = bank.frames, leg_tables(), played
        lengths = np.array([bank.duration_s(int(clip)) for clip in self._clip])
        self._time_s = np.asarray(played.phase * lengths)
        self._joins = joins_of(played, self._clip)
        self.rows: Rows = make_rows(np.array([RIG_NAMES.index(played.rig)], np.int64))

    def step(self, tick: int) -> None:
        """Show the pose of a tick; ticks must come in order."""
        rows, dt_s = self.rows, self._played.delta_s
        late = False  # the join begins at the end of this tick, which still shows the old clip
        if tick == 0:
            rows.foot[0] = FREE
            self._enter(tick, since_s=1.0, blend_s=0.0)
        elif self._joins[tick]:
            late = self._played.weight[tick] <= _SAME
            if late:
                self._go_on(dt_s)
                self._place(tick)
                show(self._frames, rows, 0, self._legs, dt_s)
            self._fade_out()
            self._enter(tick, since_s=0.0 if late else dt_s, blend_s=self._blend_s(tick))
            if not late:
                rows.old_time_s[0] += rows.old_rate[0] * dt_s
        else:
            rate = (self._time_s[tick] - rows.time_s[0]) / dt_s
            rows.rate[0] = rate if rate > 0.0 else rows.rate[0]
            if rows.since_s[0] < rows.blend_s[0]:
                rows.old_time_s[0] += rows.old_rate[0] * dt_s
            rows.time_s[0] = self._time_s[tick]
            rows.since_s[0] += dt_s
        if not late:
            self._place(tick)
            show(self._frames, rows, 0, self._legs, 0.0 if tick == 0 else dt_s)

    def _place(self, tick: int) -> None:
        rows = self.rows
        rows.x_m[0], rows.y_m[0], _, rows.yaw_rad[0] = self._played.actor[tick]

    def _go_on(self, dt_s: float) -> None:
        rows = self.rows
        end = (self._frames.length[rows.clip[0]] - 1) / self._frames.rate_hz
        rows.time_s[0] = min(rows.time_s[0] + rows.rate[0] * dt_s, end)
        rows.old_time_s[0] += rows.old_rate[0] * dt_s
        rows.since_s[0] += dt_s

    def _fade_out(self) -> None:
        rows = self.rows
        blending = rows.since_s[0] < rows.blend_s[0]
        rows.frozen[0] = int(blending)
        if blending:
            rows.source_turns[0], rows.source_hips_m[0] = rows.turns[0], rows.hips_m[0]
        hold_standing_feet(self._frames, rows, 0, self._legs)
        rows.old_clip[0], rows.old_time_s[0] = rows.clip[0], rows.time_s[0]
        rows.old_rate[0] = rows.rate[0]

    def _enter(self, tick: int, *, since_s: float, blend_s: float) -> None:
        rows = self.rows
        if tick == 0:
            rows.old_clip[0] = NOTHING
        rows.clip[0], rows.time_s[0] = self._clip[tick], self._time_s[tick]
        rows.since_s[0], rows.blend_s[0] = since_s, blend_s
        if tick + 1 < len(self._clip) and not self._joins[tick + 1]:
            ahead = (self._time_s[tick + 1] - self._time_s[tick]) / self._played.delta_s
            rows.rate[0] = ahead if ahead > 0.0 else 1.0

    def _blend_s(self, tick: int) -> float:
        """Length of the join that begins at a tick, from the first weight above 0."""
        weight, dt_s = self._played.weight, self._played.delta_s
        since = dt_s if weight[tick] > _SAME else 0.0
        for later in range(tick, len(weight)):
            if later > tick and self._joins[later]:
                break
            if weight[later] > _SAME:
                return 0.0 if weight[later] >= 1.0 - 1e-9 else float(since / weight[later])
            since += dt_s
        return dt_s
