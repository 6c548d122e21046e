"""The last second of every person, at the steps that predictors expect."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.agents.perception import PERSON, Seen
from jaywalk.predict.windows import HORIZONS_S, Windows

FloatArray = NDArray[np.float64]

STEP_S: Final = 0.1
_PAST_S: Final = 1.0
_PAST: Final = 11  # positions, the present one included
_NEIGHBOURS: Final = 8


@dataclass(slots=True)
class PeopleHistory:
    """Tracks of people; call :meth:`note` once a tick."""

    _tracks: dict[int, deque[tuple[float, float, float]]] = field(default_factory=dict, init=False)

    def note(self, now_s: float, seen: Seen) -> None:
        """Write down where everybody is."""
        rows = np.flatnonzero(seen.kind == PERSON)
        ids = [int(actor) for actor in seen.actor_id[rows]]
        tracks = {}
        for actor, (x, y) in zip(ids, seen.xy_m[rows].tolist(), strict=True):
            track = self._tracks.get(actor)
            if track is None:
                track = deque()
            track.append((now_s, x, y))
            while track[0][0] < now_s - _PAST_S - STEP_S:
                track.popleft()
            tracks[actor] = track
        self._tracks = tracks

    def windows(self, seen: Seen) -> Windows:
        """One window a person of ``seen`` (people only), all of them noted before.

        Who was seen for less than a second is taken to have come at the present velocity.
        """
        count = len(seen)
        history = np.empty((count, _PAST, 2))
        back = STEP_S * np.arange(-(_PAST - 1), 1)
        for k, actor in enumerate(seen.actor_id.tolist()):
            track = np.array(self._tracks[actor])
            times = track[-1, 0] + back
            for axis in (0, 1):
                history[k, :, axis] = np.interp(times, track[:, 0], track[:, 1 + axis])
            early = np.minimum(times - track[0, 0], 0.0)
            history[k] += early[:, None] * seen.velocity_mps[k]
        steps = round(HORIZONS_S[-1] / STEP_S)
        codes = np.arange(count)
        return Windows(
            history_m=history,
            future_m=np.full((count, steps, 2), np.nan),
            neighbours=np.full((count, _NEIGHBOURS, 4), np.nan),
            track=codes,
            scene=np.zeros(count, np.int64),
            k=np.zeros(count, np.int64),
            track_names=tuple(str(actor) for actor in seen.actor_id.tolist()),
            scene_names=("drive",),
            horizon_steps=tuple(round(horizon / STEP_S) - 1 for horizon in HORIZONS_S),
            step_s=STEP_S,
            excluded={},
        )
