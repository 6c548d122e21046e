"""Clips by which reacting people change their gait: faster ones, and steps backwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from jaywalk.actors.posed.control import PosedPeople
from jaywalk.actors.posed.repertoire import Repertoire
from jaywalk.core.arrays import FloatArray

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
        return cls(speeds_mps={use.name: use.speed_mps for use in uses}, fast=fast, back=back)

    def speed_mps(self, clip: str) -> float:
        """Speed over the ground of a clip that is repeated."""
        return max(self.speeds_mps.get(clip, _ORDINARY_MPS), _SLOWEST_MPS)

    def fast_clip(self, child: bool, speed_mps: float) -> str:
        """Clip of somebody who hurries or runs, of about this speed; "" if there is none."""
        names = [name for name, of_child in self.fast.items() if of_child == child]
        names = names or list(self.fast)
        return min(names, key=lambda n: (abs(self.speeds_mps[n] - speed_mps), n), default="")

    def step_back(self, child: bool, number: int) -> StepBack | None:
        """One person's way to step back; None: the library has none."""
        steps = self.back[child] or self.back[not child]
        return steps[number % len(steps)] if steps else None


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
