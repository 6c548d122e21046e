"""Braking events of the ego: from onset to release or standstill, close ones merged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from jaywalk.core.arrays import BoolArray, FloatArray
from jaywalk.metrics.safety._imposed_braking import braking_mps2
from jaywalk.record import Record
from jaywalk.record import columns as c
from jaywalk.record.tracks import EpisodeTracks


@dataclass(frozen=True, slots=True, kw_only=True)
class BrakingThresholds:
    """Thresholds of braking by the ego.

    Attributes:
        onset_command: Braking starts with a brake command of at least this value ...
        onset_mps2: ... or with a deceleration of at least this value, from any cause.
        release_command: Braking continues until the command is below this ...
        release_mps2: ... and the deceleration is below this (hysteresis).
        over_s: Time over which the deceleration is measured.
        least_mps: A slower ego is holding, not braking.
        standing_mps: An event ends when the ego is slower than this.
        merge_s: Events less than this apart are merged.
        least_loss_mps: Events with a smaller loss of speed are ignored as controller noise.
    """

    onset_command: float = 0.3
    onset_mps2: float = 2.0
    release_command: float = 0.1
    release_mps2: float = 0.5
    over_s: float = 0.3
    least_mps: float = 1.0
    standing_mps: float = 0.1
    merge_s: float = 1.0
    least_loss_mps: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class BrakingEvent:
    """One braking; ``start`` and ``end`` are indices of ticks."""

    start: int
    end: int
    speed_mps: float  # at the onset
    lost_mps: float
    hardest_mps2: float


def find_braking(
    record: Record, tracks: EpisodeTracks, thresholds: BrakingThresholds | None = None
) -> list[BrakingEvent]:
    """Braking events in order of time."""
    rules = thresholds or BrakingThresholds()
    loss = braking_mps2(tracks, tracks.ego, rules.over_s)
    speed = tracks.speed_mps(tracks.ego)
    command = brake_command(record, tracks)
    onset = (speed >= rules.least_mps) & (
        (command >= rules.onset_command) | (loss >= rules.onset_mps2)
    )
    going = (speed > rules.standing_mps) & (
        (command >= rules.release_command) | (loss >= rules.release_mps2)
    )
    spans = _merge(_hysteresis(onset, onset | going), tracks.time_s, rules.merge_s)
    events = [_event(start, end, speed, loss) for start, end in spans]
    return [event for event in events if event.lost_mps >= rules.least_loss_mps]


def brake_command(record: Record, tracks: EpisodeTracks) -> FloatArray:
    """Return the agent's brake command (n,), else the vehicle's brake; 0 where unknown."""
    seen = tracks.seen(tracks.ego)
    rows = pl.DataFrame(
        {c.TICK: tracks.tick[seen], c.BRAKE: tracks.values(tracks.ego, c.BRAKE)[:, 0]}
    )
    asked = record.ego.select(pl.col(c.TICK).cast(pl.Int64), c.COMMAND_BRAKE).collect()
    both = rows.join(asked, on=c.TICK, how="left", maintain_order="left")
    command = pl.coalesce(c.COMMAND_BRAKE, pl.col(c.BRAKE).fill_nan(0.0))
    out = np.zeros(len(tracks.tick))
    out[seen] = both.select(command.alias(c.BRAKE))[c.BRAKE].to_numpy()
    return out


def _hysteresis(onset: BoolArray, going: BoolArray) -> list[tuple[int, int]]:
    """Spans of ``going`` from the first onset in each."""
    edges = np.diff(np.r_[False, going, False].astype(np.int8))
    starts, stops = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    spans = []
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        first = np.flatnonzero(onset[start : stop + 1])
        if len(first):
            spans.append((start + int(first[0]), stop))
    return spans


def _merge(
    spans: list[tuple[int, int]], time_s: FloatArray, merge_s: float
) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and time_s[start] - time_s[merged[-1][1]] < merge_s:
            merged[-1] = merged[-1][0], end
        else:
            merged.append((start, end))
    return merged


def _event(start: int, end: int, speed: FloatArray, loss: FloatArray) -> BrakingEvent:
    after = min(end + 1, len(speed) - 1)
    return BrakingEvent(
        start=start,
        end=end,
        speed_mps=float(speed[start]),
        lost_mps=float(speed[start] - speed[start : after + 1].min()),
        hardest_mps2=float(loss[start : after + 1].max()),
    )
