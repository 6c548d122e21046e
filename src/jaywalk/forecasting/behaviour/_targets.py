"""Targets of behaviour models: the answers of all three tasks for every sample, and future boxes.

The start indices of a track's observation windows are plain index arithmetic without data.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.datasets.behaviour_tables import BehaviourData
from jaywalk.forecasting.behaviour._inputs import (
    APPROACH,
    WIDTH_PX,
    Inputs,
    join_inputs,
    read_inputs,
)
from jaywalk.forecasting.behaviour.tasks import (
    LONGEST_FRAMES,
    N_REGIONS,
    OBSERVED_FRAMES,
    PREDICTED_FRAMES,
    RISK_HORIZON_FRAMES,
    STRIDE_FRAMES,
)


def event_starts(event_index: int, stride: int = STRIDE_FRAMES) -> range:
    """Return start indices of the windows before an event at an index of the track.

    The first lies 105 boxes before the event (or at the track's start), the last leaves at least
    30 boxes between the end of the observation and the event.

    >>> list(event_starts(104))
    [0, 10, 20, 30, 40, 50, 60]
    >>> list(event_starts(43))
    []
    """
    length = event_index + 1
    shortest = OBSERVED_FRAMES + PREDICTED_FRAMES
    if length < shortest:
        return range(0)
    return range(max(0, length - LONGEST_FRAMES), length - shortest + 1, stride)


def tte_frames(event_index: int, start: int) -> int:
    """Return boxes from the end of the observation that starts at ``start`` to the event.

    >>> tte_frames(104, 60)
    30
    """
    return event_index + 1 - (start + OBSERVED_FRAMES)


def intention_starts(first_index: int, critical_index: int) -> range:
    """Return start indices of the windows of the clip that people judged.

    Late windows extend past the critical point: the benchmark keeps them, the strict variant drops
    them.

    >>> list(intention_starts(5, 27))
    [5, 15, 25]
    >>> list(intention_starts(5, 19))
    []
    """
    if critical_index - first_index < OBSERVED_FRAMES:
        return range(0)
    return range(first_index, critical_index + 1, STRIDE_FRAMES)


def risk_region(centre_x_px: float, width_px: int, n_regions: int) -> int:
    """Return the vertical stripe of the picture that a box centre lies in, from left, 0-based.

    >>> [risk_region(x, 1920, 12) for x in (-3.0, 159.9, 160.0, 2000.0)]
    [0, 0, 1, 11]
    """
    stripe_px = width_px // n_regions
    return int(min(max(centre_x_px // stripe_px, 0), n_regions - 1))


FUTURE_STEP: Final = 6
N_FUTURE: Final = PREDICTED_FRAMES // FUTURE_STEP
UNKNOWN: Final = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """Arrays over samples.

    Attributes:
        action: 1 crosses, ``(n,)``.
        risk: Region at the horizon, ``(n,)``.
        intention: 0 no, 1 unsure, 2 yes; -1 unknown, ``(n,)``.
        final_px: Horizontal centre at the horizon, in a picture 1920 wide, ``(n,)``.
        future: Change of centre x, centre y, width, height from the last observed box to those 6,
            12, ..., 30 frames later, pixels; NaN where there is none, ``(n, 5, 4)``.
    """

    action: NDArray[np.int64]
    risk: NDArray[np.int64]
    intention: NDArray[np.int64]
    final_px: NDArray[np.float64]
    future: NDArray[np.float32]

    def rows(self, index: NDArray[np.generic]) -> Self:
        """Return the selected samples."""
        return type(self)(**{f.name: getattr(self, f.name)[index] for f in fields(self)})

    def mirrored(self) -> Self:
        """Return the targets with left and right exchanged."""
        future = self.future.copy()
        future[..., 0] *= -1.0
        return type(self)(
            action=self.action,
            risk=N_REGIONS - 1 - self.risk,
            intention=self.intention,
            final_px=WIDTH_PX - self.final_px,
            future=future,
        )

    def of_task(self, task: str) -> NDArray[np.int64]:
        """Return the classes of ``action``, ``risk`` or ``intention``."""
        found: NDArray[np.int64] = getattr(self, task)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Examples:
    """Inputs and targets of models."""

    inputs: Inputs
    targets: Targets

    def __len__(self) -> int:
        return len(self.inputs)

    def with_mirrored(self) -> Examples:
        """Return the examples followed by their mirror images."""
        other = self.targets.mirrored()
        both = {
            f.name: np.concatenate([getattr(self.targets, f.name), getattr(other, f.name)])
            for f in fields(Targets)
        }
        return Examples(
            inputs=join_inputs([self.inputs, self.inputs.mirrored()]), targets=Targets(**both)
        )


def read_examples(
    data: BehaviourData, samples: pl.DataFrame, ego_kind: str, cues: str = APPROACH
) -> Examples:
    """Read inputs and targets of samples."""
    return Examples(
        inputs=read_inputs(data, samples, ego_kind, cues), targets=read_targets(data, samples)
    )


def read_targets(data: BehaviourData, samples: pl.DataFrame) -> Targets:
    """Read the targets of samples of any task; needs the boxes of the whole track."""
    tracks = data.tracks()
    widths = dict(data.videos.select("video", "width_px").iter_rows())
    chances = dict(data.pedestrians.select("pedestrian_id", "intention_prob").iter_rows())
    n = samples.height
    risk, final = np.zeros(n, np.int64), np.zeros(n)
    intention = np.full(n, UNKNOWN, np.int64)
    future = np.full((n, N_FUTURE, 4), np.nan, np.float32)
    columns = ("pedestrian_id", "video", "start_index")
    for i, (person, video, start) in enumerate(samples.select(columns).iter_rows()):
        track = tracks[person]
        boxes = track.corners_px
        scale = WIDTH_PX / widths[video]
        last = min(start + OBSERVED_FRAMES, len(boxes)) - 1
        horizon = min(start + OBSERVED_FRAMES + RISK_HORIZON_FRAMES, len(boxes)) - 1
        centre = float((boxes[horizon, 0] + boxes[horizon, 2]) / 2.0)
        risk[i] = risk_region(centre, widths[video], N_REGIONS)
        final[i] = centre * scale
        ahead = np.arange(1, N_FUTURE + 1) * FUTURE_STEP + last
        ahead = ahead[ahead < len(boxes)]
        future[i, : len(ahead)] = (_shape(boxes[ahead]) - _shape(boxes[last])) * scale
        chance = chances.get(person)
        if chance is not None:
            intention[i] = min(int(track.intention_at(last, chance) * 3), 2)
    return Targets(
        action=samples["action_label"].to_numpy().astype(np.int64),
        risk=risk,
        intention=intention,
        final_px=final,
        future=future,
    )


def _shape(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    left, top, right, bottom = np.moveaxis(boxes, -1, 0)
    return np.stack([(left + right) / 2.0, (top + bottom) / 2.0, right - left, bottom - top], -1)
