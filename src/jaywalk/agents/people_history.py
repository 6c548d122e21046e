"""The last second of every person and of the own car, at the steps that predictors expect.

Predictors work in the right-handed frame of the datasets, drivers in CARLA's: both ways are here.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.agents.perception import PERSON, Own, Seen
from jaywalk.core.frames import carla_to_right_handed
from jaywalk.metrics.prediction.forecast import Mixture
from jaywalk.predict.context import Context
from jaywalk.predict.neighbours import FARTHEST_M, MOST_NEIGHBOURS
from jaywalk.predict.windows import HORIZONS_S, Windows

FloatArray = NDArray[np.float64]
Track = deque[tuple[float, float, float]]

STEP_S: Final = 0.1
_PAST_S: Final = 1.0
_PAST: Final = 11  # positions, the present one included
_BACK_S: Final[FloatArray] = STEP_S * np.arange(-(_PAST - 1), 1, dtype=np.float64)


@dataclass(slots=True)
class PeopleHistory:
    """Tracks of people and of the own car; call :meth:`note` once a tick."""

    _tracks: dict[int, Track] = field(default_factory=dict, init=False)
    _own: Track = field(default_factory=deque, init=False)
    _people: FloatArray = field(default_factory=lambda: np.zeros((0, 4)), init=False)

    def note(self, now_s: float, own: Own, seen: Seen) -> None:
        """Write down where everybody is."""
        rows = np.flatnonzero(seen.kind == PERSON)
        ids = [int(actor) for actor in seen.actor_id[rows]]
        self._tracks = {
            actor: _longer(self._tracks.get(actor, deque()), now_s, x, y)
            for actor, (x, y) in zip(ids, seen.xy_m[rows].tolist(), strict=True)
        }
        self._own = _longer(self._own, now_s, own.x_m, own.y_m)
        self._people = np.hstack([seen.xy_m[rows], seen.velocity_mps[rows]])

    def windows(self, seen: Seen) -> Windows:
        """One window a person of ``seen`` (people only), all of them noted before.

        Who was seen for less than a second is taken to have come at the present velocity.
        """
        count = len(seen)
        history = np.stack([
            _past(self._tracks[actor], seen.velocity_mps[k])
            for k, actor in enumerate(seen.actor_id.tolist())
        ])  # fmt: skip
        ego = np.broadcast_to(_past(self._own, np.zeros(2)), history.shape)
        unknown = np.full((count, _PAST), np.nan)
        context = Context(
            ego_m=carla_to_right_handed(ego), head_rad=unknown, body_rad=unknown,
            map_index=np.full(count, -1, dtype=np.int64), maps=(),
        )  # fmt: skip
        steps = round(HORIZONS_S[-1] / STEP_S)
        return Windows(
            history_m=carla_to_right_handed(history),
            future_m=np.full((count, steps, 2), np.nan),
            neighbours=self._neighbours(seen.xy_m),
            track=np.arange(count),
            scene=np.zeros(count, np.int64),
            k=np.zeros(count, np.int64),
            track_names=tuple(str(actor) for actor in seen.actor_id.tolist()),
            scene_names=("drive",),
            horizon_steps=tuple(round(horizon / STEP_S) - 1 for horizon in HORIZONS_S),
            step_s=STEP_S,
            excluded={},
            context=context,
        )

    def _neighbours(self, xy_m: FloatArray) -> FloatArray:
        """The nearest other people of each place, nearest first, padded with NaN."""
        away = np.hypot(*np.moveaxis(xy_m[:, None] - self._people[None, :, :2], -1, 0))
        away = np.where(away < 1e-9, np.inf, away)  # oneself
        order = np.argsort(away, axis=1, kind="stable")[:, :MOST_NEIGHBOURS]
        found = np.full((len(xy_m), MOST_NEIGHBOURS, 4), np.nan)
        near = np.take_along_axis(away, order, axis=1) < FARTHEST_M
        found[:, : order.shape[1]] = np.where(near[..., None], self._people[order], np.nan)
        found[:, :, 1::2] *= -1.0  # y and its velocity change with the frame
        return found


def to_carla(forecast: Mixture) -> Mixture:
    """A forecast of the right-handed frame in CARLA's."""
    covariances = forecast.covariances_m2.copy()
    covariances[..., 0, 1] *= -1.0
    covariances[..., 1, 0] *= -1.0
    return replace(
        forecast,
        means_m=carla_to_right_handed(forecast.means_m),
        covariances_m2=covariances,
    )


def _longer(track: Track, now_s: float, x_m: float, y_m: float) -> Track:
    track.append((now_s, x_m, y_m))
    while track[0][0] < now_s - _PAST_S - STEP_S:
        track.popleft()
    return track


def _past(track: Track, velocity_mps: FloatArray) -> FloatArray:
    """Positions of the last second; before the first known one at a velocity."""
    known = np.array(track)
    times = known[-1, 0] + _BACK_S
    past = np.column_stack([np.interp(times, known[:, 0], known[:, axis]) for axis in (1, 2)])
    early = np.minimum(times - known[0, 0], 0.0)
    return np.asarray(past + early[:, None] * velocity_mps)
