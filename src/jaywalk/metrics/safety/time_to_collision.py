"""Time to collision of the ego with everybody ahead, tick by tick.

Both go on at their present speed, vehicles along the way they took, people straight on (see
:mod:`jaywalk.geometry.time_to_touch`). Ticks at which the ego stands, and touches of its rear half,
do not count: those are others' doing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jaywalk.geometry.time_to_touch import times_to_touch
from jaywalk.metrics.safety.tracks import Bools, Floats, Ints, Tracks

HORIZON_S = 10.0
SHORT_S = 1.5  # the usual limit of a conflict in traffic-conflict studies
MOVING_MPS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeToCollision:
    """The nearest conflict at each tick.

    Attributes:
        ttc_s: (n,) seconds, infinite beyond the horizon.
        other: (n,) index of the body, -1 for nobody.
        moving: (n,) whether the ego drove; without that there is no conflict of its making.
    """

    ttc_s: Floats
    other: Ints
    moving: Bools

    @property
    def min_s(self) -> float:
        """Smallest of all; nan without any conflict within the horizon."""
        least = float(self.ttc_s.min(initial=np.inf))
        return least if np.isfinite(least) else float("nan")

    @property
    def restricted_s(self) -> float:
        """Smallest of all, capped at the horizon, so that calm drives count; nan if it stood."""
        if not self.moving.any():
            return float("nan")
        return min(float(self.ttc_s.min(initial=np.inf)), HORIZON_S)

    @property
    def is_short(self) -> float:
        """1 if it ever fell below 1.5 s, else 0; nan if the ego stood."""
        return float(self.restricted_s < SHORT_S) if self.moving.any() else float("nan")

    @property
    def short_share(self) -> float:
        """Share of the driving time below 1.5 s; nan if the ego stood."""
        if not self.moving.any():
            return float("nan")
        return float(np.mean(self.ttc_s[self.moving] < SHORT_S))


def time_to_collision(tracks: Tracks, horizon_s: float = HORIZON_S) -> TimeToCollision:
    """Smallest time to collision with anybody, at each tick."""
    n = len(tracks.time_s)
    best, who = np.full(n, np.inf), np.full(n, -1, np.int64)
    ego = tracks.ego_pose
    moving = tracks.speed_mps(tracks.ego) > MOVING_MPS
    for other in tracks.others:
        wanted = moving & tracks.present[other] & tracks.present[tracks.ego]
        found = times_to_touch(
            ego, tracks.shape[tracks.ego], tracks.pose[other], tracks.shape[other], wanted,
            horizon_s, tracks.kind[other] == "walker",
        )  # fmt: skip
        nearer = found < best
        best[nearer], who[nearer] = found[nearer], other
    return TimeToCollision(ttc_s=best, other=who, moving=moving & tracks.present[tracks.ego])
