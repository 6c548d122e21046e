"""Clips by which reacting people change their gait, stop, start, step back and step aside.

Libraries of everyday people have short clips for these moves. With other libraries people step back
with the end of a clip that leads backwards, and stop and start by a join with an idle clip.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from jaywalk.actors.posed.control import PosedPeople
from jaywalk.actors.posed.repertoire import Repertoire, Use
from jaywalk.core.arrays import FloatArray
from jaywalk.motion.playback.bank import ClipBank
from jaywalk.motion.playback.joins import best_entry

_FAST: Final = ("hurry", "run")
_STEP_BACK: Final = "stepback"
_SLOWEST_MPS: Final = 0.5
_ORDINARY_MPS: Final = 1.2  # of clips without a measured speed
_NEAR_FAR_M: Final = 0.04  # a clip turns back when it leaves its farthest point by this much
_LEAD_IN_S: Final = 0.1
_LEAST_BACK_M: Final = 0.4  # a clip that leads back less is no step back
_MOST_BACK_M: Final = 1.3
_SAME_FACING_RAD: Final = 0.6  # who turns round does not step back
_RIGS: Final = {False: "man", True: "boy"}
_LEAN_S: Final = 0.3  # a start begins this long before the first lift of a foot
_LIFT_MPS: Final = 0.25
_RUNS_MPS: Final = 1.8  # people do not start with clips that end faster than this
_STOP_M: Final = 0.15  # a stop leads at least this far, and at most as far as there is room
_FITS_M: Final = 0.3  # mean distance of the joints up to which a stop is joined at once
_HALF_TURN_RAD: Final = 2.0
_ASIDE_RAD: Final = 1.1  # a clip that leads this far away from a course is of no use for it


@dataclass(frozen=True, slots=True, kw_only=True)
class StepBack:
    """Part of a clip in which a person steps backwards."""

    clip: str
    enter_s: float
    until_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaits:
    """Clips that reacting people join to change their gait.

    Attributes:
        speeds_mps: Speeds of the loops by clip.
        fast: Clips of people who hurry or run, with whether they are a child's.
        back: Steps backwards of adults and of children.
    """

    speeds_mps: dict[str, float]
    fast: dict[str, bool]
    back: dict[bool, tuple[StepBack, ...]]
    repertoire: Repertoire
    bank: ClipBank

    @classmethod
    def of(cls, repertoire: Repertoire, posed: PosedPeople) -> Gaits:
        """Find the clips of a library."""
        uses = (*repertoire.walking, *repertoire.crossing, *repertoire.ordinary)
        fast = {u.name: u.child for u in repertoire.crossing if u.kind in _FAST and u.walks}
        bank, back = posed.players.bank, {}
        for child, rig in _RIGS.items():
            found = []
            for use in repertoire.fitting(repertoire.attempting, child):
                if use.kind == _STEP_BACK and use.child == child:
                    way = np.asarray(bank.way(bank.index(use.name, rig)))
                    span = backward_span_s(way, bank.frames.rate_hz)
                    if span is not None:
                        found.append(StepBack(clip=use.name, enter_s=span[0], until_s=span[1]))
            back[child] = tuple(found)
        return cls(
            speeds_mps={use.name: use.speed_mps for use in uses},
            fast=fast,
            back=back,
            repertoire=repertoire,
            bank=bank,
        )

    def speed_mps(self, clip: str) -> float:
        """Speed over the ground of a clip that is repeated."""
        return max(self.speeds_mps.get(clip, _ORDINARY_MPS), _SLOWEST_MPS)

    def fast_clip(self, child: bool, speed_mps: float) -> str:
        """Clip of somebody who hurries or runs, of about this speed; "" if there is none."""
        names = [name for name, of_child in self.fast.items() if of_child == child]
        names = names or list(self.fast)
        return min(names, key=lambda n: (abs(self.speeds_mps[n] - speed_mps), n), default="")

    def step_back(self, child: bool, rig: str, number: int, back_m: float) -> StepBack | None:
        """One person's way to step back by about ``back_m``; None: the library has none."""
        moves = self.repertoire.moves_of("backstep", child)
        if moves:
            far = sorted((abs(self._goes(use, rig)[0] - back_m), use.name) for use in moves)
            name = far[number % min(2, len(far))][1]
            return StepBack(clip=name, enter_s=0.0, until_s=self._seconds(name, rig))
        steps = self.back[child] or self.back[not child]
        return steps[number % len(steps)] if steps else None

    def start(self, child: bool, rig: str, number: int) -> tuple[str, float] | None:
        """A clip that starts to walk at an ordinary pace, and where to enter it; or None."""
        found = []
        for use in self.repertoire.moves_of("start", child):
            way = self.bank.way(self.bank.index(use.name, rig))
            speed = np.hypot(*np.diff(way[:, :2], axis=0).T) * self.bank.frames.rate_hz
            lifts = np.flatnonzero(speed > _LIFT_MPS)
            if len(lifts) and float(speed[-8:].max()) < _RUNS_MPS:
                lift_s = float(lifts[0]) / self.bank.frames.rate_hz
                found.append((use.name, max(lift_s - _LEAN_S, 0.0)))
        return found[number % len(found)] if found else None

    def stop(
        self, child: bool, rig: str, playing: tuple[str, float], room_m: float
    ) -> tuple[str, float] | None:
        """The clip that stops within ``room_m`` and where to enter it.

        None: none fits the pose of the clip that is played now, at ``playing[1]`` seconds.
        """
        rate_hz = self.bank.frames.rate_hz
        here = self.bank.transition_features(self.bank.index(playing[0], rig))
        now = here[min(round(playing[1] * rate_hz), len(here) - 1)]
        best: tuple[float, str, float] | None = None
        for use in self.repertoire.moves_of("stop", child):
            clip = self.bank.index(use.name, rig)
            way = self.bank.way(clip)
            left = np.hypot(*(way[-1, :2] - way[:, :2]).T)
            fits = np.flatnonzero((left <= room_m) & (left >= _STOP_M))
            if not len(fits):
                continue
            join = best_entry(now, self.bank.transition_features(clip), int(fits[0]), int(fits[-1]))
            if join.apart_m < _FITS_M and (best is None or join.apart_m < best[0]):
                best = join.apart_m, use.name, join.enter / rate_hz
        return None if best is None else best[1:]

    def evasion(self, child: bool, rig: str, aside_rad: float) -> tuple[str, float] | None:
        """The clip that leads most nearly to ``aside_rad`` of the facing, and its direction."""
        own = self.repertoire.moves_of("evade", child)
        others = tuple(use for use in self.repertoire.moves if use.kind == "evade")
        for uses in (own, others):
            found = []
            for use in uses:
                _, course = self._goes(use, rig)
                found.append((abs(math.remainder(course - aside_rad, math.tau)), use.name, course))
            if found and min(found)[0] < _ASIDE_RAD:
                return min(found)[1:]
        return None

    def turn_away(self, child: bool, rig: str, turn_rad: float) -> tuple[str, float] | None:
        """The clip of a half turn in the direction of ``turn_rad``, and its angle; or None."""
        if abs(turn_rad) < _HALF_TURN_RAD:
            return None
        found = []
        for use in self.repertoire.moves_of("turnaway", child):
            yaw = np.unwrap(self.bank.way(self.bank.index(use.name, rig))[:, 3])
            turned = float(yaw[-1] - yaw[0])
            found.append((abs(turned - turn_rad), use.name, turned))
        return min(found)[1:] if found and min(found)[0] < _ASIDE_RAD else None

    def is_on_both_feet(self, rig: str, playing: tuple[str, float]) -> bool:
        """Return True if a walking clip has just put a foot down."""
        clip = self.bank.index(playing[0], rig)
        frames = self.bank.frames
        frame = min(round(playing[1] * frames.rate_hz), int(frames.length[clip]) - 1)
        return bool(frames.planted[int(frames.first[clip]) + frame].all())

    def _goes(self, use: Use, rig: str) -> tuple[float, float]:
        """Distance and direction from the first to the last frame, relative to the first facing."""
        way = self.bank.way(self.bank.index(use.name, rig))
        dx, dy = way[-1, :2] - way[0, :2]
        course = math.remainder(math.atan2(dy, dx) - float(way[0, 3]), math.tau)
        return math.hypot(dx, dy), course

    def _seconds(self, name: str, rig: str) -> float:
        return self.bank.duration_s(self.bank.index(name, rig))


def backward_span_s(way: FloatArray, rate_hz: float) -> tuple[float, float] | None:
    """Return begin and end of the steps backwards in a clip; None: it has none.

    Args:
        way: (frames, 4) x, y, z and yaw.
        rate_hz: Frames per second.
    """
    ahead = (way[:, 0] - way[0, 0]) * np.cos(way[0, 3]) + (way[:, 1] - way[0, 1]) * np.sin(
        way[0, 3]
    )
    far = int(np.flatnonzero(ahead >= ahead.max() - _NEAR_FAR_M)[-1])
    rest = ahead[far] - ahead[far:]
    if rest.max() < _LEAST_BACK_M:
        return None
    end = far + int(np.argmax(rest >= min(_MOST_BACK_M, float(rest.max()) - 0.02)))
    turned = np.abs(np.unwrap(way[far : end + 1, 3]) - way[far, 3]).max()
    if turned > _SAME_FACING_RAD:
        return None
    return max(far / rate_hz - _LEAD_IN_S, 0.0), end / rate_hz
