"""The true probability that a person is inside the comfort zone: an upper bound for predictors.

From a tick of a record the same people go on with fresh noise many times, while the ego and the
other vehicles drive as recorded. The share of rollouts in which a person is inside the zone of
:mod:`jaywalk.geometry.zones` is the true probability, and no predictor can do better than it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.errors import DataError, PrerequisiteError, UsageError
from jaywalk.core.seeds import derive_seed
from jaywalk.forecasting.evaluate import target_rate
from jaywalk.forecasting.record_export import export_records
from jaywalk.forecasting.samples import RoiSample, roi_samples
from jaywalk.forecasting.windows import HISTORY_S, Windows, build_windows
from jaywalk.geometry.frames import carla_to_right_handed
from jaywalk.geometry.path import project_each
from jaywalk.geometry.zones import inside
from jaywalk.record import find_records
from jaywalk.record import open as open_record
from jaywalk.record.tracks import tenth_ticks
from jaywalk.rollouts.people.continuing import Follower, go_on
from jaywalk.rollouts.people.recorded import RecordedPeople, read_reacting_people

SCHEMA: Final = {
    "episode": pl.String,
    "person": pl.Int64,
    "tick": pl.Int64,
    "time_s": pl.Float64,
    "horizon_s": pl.Float64,
    "rollouts": pl.Int64,
    "inside": pl.Int64,  # rollouts in which the person is inside the zone
    "inside_even": pl.Int64,  # of those with an even number
    "truth": pl.Float64,
    "label": pl.Int8,  # of the record; -1: unknown
    "replay_m": pl.Float64,  # from the record to a rollout with the noise of the record
}
_LEAST_ROLLOUTS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthRequest:
    """What to roll on.

    Attributes:
        run: Folder of a run or of a record.
        episodes: Names of episodes; empty: all.
        people: Numbers of people; empty: all.
        ticks: First and last tick.
        every_s: Time between two ticks, a multiple of 0.1 s.
        rollouts: Rollouts for each tick; even.
        horizons_s: Times ahead, of 1, 2, 3 and 4 s.
        seed: Seed of the fresh noise.
    """

    run: Path
    episodes: tuple[str, ...] = ()
    people: tuple[int, ...] = ()
    ticks: tuple[int, int] = (0, 2**31)
    every_s: float = 0.5
    rollouts: int = 64
    horizons_s: tuple[float, ...] = (1.0, 2.0, 3.0, 4.0)
    seed: int = 0

    def __post_init__(self) -> None:
        if self.rollouts < _LEAST_ROLLOUTS or self.rollouts % 2:
            raise UsageError(
                f"{self.rollouts} rollouts; expected an even number of at least {_LEAST_ROLLOUTS}."
            )
        if not self.horizons_s or list(self.horizons_s) != sorted(set(self.horizons_s)):
            raise UsageError(f"horizons {self.horizons_s} must rise, as in 1,2,3,4.")
        for horizon_s in self.horizons_s:
            target_rate(horizon_s)
        if self.ticks[0] > self.ticks[1]:
            raise UsageError(f"ticks {self.ticks[0]}-{self.ticks[1]}: the last is before the first")


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """True probabilities of a run.

    Attributes:
        table: One row for each meeting and horizon, by the columns of ``SCHEMA``.
        windows: All windows of the run.
        meetings: All meetings of the run.
        meeting: (rows,) index of the meeting of each row.
        left_out: Meetings without a row, by reason.
    """

    table: pl.DataFrame
    windows: Windows
    meetings: list[RoiSample]
    meeting: IntArray
    left_out: dict[str, int]


def true_probabilities(
    request: TruthRequest, report: Callable[[str], None] = lambda text: None
) -> Truth:
    """Roll on the people of a run from all their meetings with the ego.

    Raises:
        DataError: The people of a record do not react, or it was made by an older version.
    """
    folders = _folders(request)
    recorded = {name: read_reacting_people(open_record(folder)) for name, folder in folders.items()}
    data = export_records(list(folders.values()))
    windows = build_windows(
        data, history_s=HISTORY_S, horizons_s=request.horizons_s, every_s=request.every_s
    ).with_context(data)
    meetings = roi_samples(data, windows)
    rows: list[dict[str, Any]] = []
    members: list[int] = []
    left_out: dict[str, int] = {}
    for name, folder in folders.items():
        report(f"{name}: rolling on {request.rollouts} times from each meeting")
        found = _meetings_by_tick(folder, windows, meetings)
        for member, row in _roll_episode(request, name, recorded[name], found, left_out):
            rows.append(row)
            members.append(member)
    if not rows:
        raise DataError(
            f"No meeting of the ego with a person on the way to cross in '{request.run}'; "
            f"left out: {left_out or 'none'}. Choose more episodes, people or ticks."
        )
    return Truth(
        table=pl.DataFrame(rows, schema=SCHEMA),
        windows=windows,
        meetings=meetings,
        meeting=np.array(members, np.int64),
        left_out=left_out,
    )


def _folders(request: TruthRequest) -> dict[str, Path]:
    folders = {folder.name: folder for folder in find_records(request.run)}
    if not folders:
        raise PrerequisiteError(f"'{request.run}' holds no record; give the folder of a run.")
    unknown = sorted(set(request.episodes) - set(folders))
    if unknown:
        some = ", ".join(list(folders)[:5])
        raise UsageError(f"'{request.run}' has no episode '{unknown[0]}'; it has {some}, ...")
    return {n: f for n, f in folders.items() if not request.episodes or n in request.episodes}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Met:
    """A meeting by its number, with the person's number in the record."""

    number: int
    actor: int
    sample: RoiSample


def _meetings_by_tick(
    folder: Path, windows: Windows, meetings: list[RoiSample]
) -> dict[int, list[_Met]]:
    tenths = tenth_ticks(open_record(folder))
    tick_of = dict(zip(tenths.k.tolist(), tenths.tick.tolist(), strict=True))
    found: dict[int, list[_Met]] = {}
    for number, sample in enumerate(meetings):
        scene = windows.scene_names[int(windows.scene[sample.window])]
        if scene.rsplit("/", 1)[-1] != folder.name:
            continue
        track = windows.track_names[int(windows.track[sample.window])]
        met = _Met(number=number, actor=int(track.rsplit("/", 1)[-1]), sample=sample)
        found.setdefault(tick_of[int(windows.k[sample.window])], []).append(met)
    return found


def _roll_episode(
    request: TruthRequest,
    name: str,
    people: RecordedPeople,
    found: Mapping[int, list[_Met]],
    left_out: dict[str, int],
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows of an episode, each with the number of its meeting."""

    def leave_out(reason: str, count: int) -> None:
        left_out[reason] = left_out.get(reason, 0) + count

    steps = round(request.horizons_s[-1] / people.delta_s)
    row_of = {actor: row for row, actor in enumerate(people.actor.tolist())}
    follower = Follower.of(people)
    for index in range(len(people.tracks.tick)):
        tick = int(people.tracks.tick[index])
        asked = [m for m in found.get(tick, []) if not request.people or m.actor in request.people]
        if asked and request.ticks[0] <= tick <= request.ticks[1]:
            planning = people.is_planning(index)
            mets = [m for m in asked if m.actor in row_of and planning[row_of[m.actor]]]
            leave_out("nobody on the way to cross", len(asked) - len(mets))
            if index + steps >= len(people.tracks.tick):
                leave_out("the record ends before the longest horizon", len(mets))
            elif mets:
                fresh = noise_keys(request.seed, name, tick, request.rollouts)
                keys = np.concatenate([[people.noise_key], fresh])
                places = go_on(follower, keys, steps).place_m
                for met in mets:
                    place_m = places[:, :, row_of[met.actor]]
                    yield from _rows(request, name, people, index, met, place_m)
        follower.step()


def noise_keys(seed: int, episode: str, tick: int, rollouts: int) -> IntArray:
    """Keys of fresh noise for the rollouts from one tick."""
    keys = [derive_seed(seed, "truth", episode, tick, k) >> 1 for k in range(rollouts)]
    return np.array(keys, np.int64)


def _rows(
    request: TruthRequest,
    name: str,
    people: RecordedPeople,
    index: int,
    met: _Met,
    place_m: FloatArray,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows of one meeting; ``place_m`` is (steps, 1 + rollouts, 2), first with recorded noise."""
    row = int(np.flatnonzero(people.actor == met.actor)[0])
    for h, horizon_s in enumerate(request.horizons_s):
        steps = round(horizon_s / people.delta_s)
        points = carla_to_right_handed(place_m[steps - 1, 1:])
        away = place_m[steps - 1, 0] - people.place_m(index + steps)[row]
        zone = met.sample.zones[h]
        is_in = inside(zone, project_each(met.sample.path, points, zone.start_m))
        yield (
            met.number,
            {
                "episode": name,
                "person": met.actor,
                "tick": int(people.tracks.tick[index]),
                "time_s": float(people.tracks.time_s[index]),
                "horizon_s": horizon_s,
                "rollouts": request.rollouts,
                "inside": int(is_in.sum()),
                "inside_even": int(is_in[::2].sum()),
                "truth": float(is_in.mean()),
                "label": int(met.sample.labels[h]),
                "replay_m": math.hypot(*away),
            },
        )


def probabilities_of(truth: Truth, in_roi: FloatArray) -> FloatArray:
    """Return the probability of each row from those of all meetings at all horizons."""
    horizons = truth.windows.horizons_s
    at = [horizons.index(horizon_s) for horizon_s in truth.table["horizon_s"].to_list()]
    return np.asarray(in_roi[truth.meeting, at])
