"""Windows over tracks: one second of history and some seconds to predict.

Each window also holds position and velocity of the nearest people at its present time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.kernels import kernel
from jaywalk.datasets.trajectories import STEP_S, Trajectories
from jaywalk.forecasting.context import Context, context_of

MOST_NEIGHBOURS = 8
FARTHEST_M = 5.0


def nearest_people(
    data: Trajectories,
    scenes: list[str],
    tracks: list[tuple[str, str]],
    track: IntArray,
    scene: IntArray,
    k: IntArray,
) -> FloatArray:
    """Return up to 8 people within 5 m of each sample, nearest first, NaN-padded ``(N, 8, 4)``.

    Args:
        data: The dataset.
        scenes: Names behind the codes in ``scene``.
        tracks: Scene and name behind the codes in ``track``.
        track: Code of each sample's track.
        scene: Code of each sample's scene.
        k: Time of each sample in tenths of a second.
    """
    keys = ["scene_id", "track_id"]
    step = pl.col("k").diff().over(keys) * STEP_S
    people = (
        data.tracks.join(_codes(scenes, tracks), on=keys, maintain_order="left")
        .select(
            "scene",
            "track",
            "k",
            "x",
            "y",
            *(
                (pl.col(c).diff().over(keys) / step).fill_null(0.0).alias(f"v{c}")
                for c in ("x", "y")
            ),
        )
        .sort("scene", "k", "track")
    )
    span = int(max(people["k"].max() or 0, 0)) + 1  # type: ignore[arg-type]
    moment = people["scene"].to_numpy() * span + people["k"].to_numpy()
    wanted = scene * span + k
    states = np.ascontiguousarray(people.select("x", "y", "vx", "vy").to_numpy())
    nearest: FloatArray = _nearest(
        states,
        people["track"].to_numpy(),
        np.searchsorted(moment, wanted, "left"),
        np.searchsorted(moment, wanted, "right"),
        track,
        MOST_NEIGHBOURS,
        FARTHEST_M,
    )
    return nearest


def _codes(scenes: list[str], tracks: list[tuple[str, str]]) -> pl.DataFrame:
    """Return codes of scenes and tracks; scenes may share track names."""
    of_scene = {name: code for code, name in enumerate(scenes)}
    rows = [(s, t, of_scene[s], code) for code, (s, t) in enumerate(tracks)]
    kinds = {"scene_id": pl.String, "track_id": pl.String, "scene": pl.Int64, "track": pl.Int64}
    return pl.DataFrame(rows, schema=kinds, orient="row")


@kernel
def _nearest(
    states: FloatArray,
    owner: IntArray,
    first: IntArray,
    last: IntArray,
    track: IntArray,
    most: int,
    farthest_m: float,
) -> Any:
    out = np.full((track.shape[0], most, 4), np.nan)
    for i in range(track.shape[0]):
        own = -1
        for j in range(first[i], last[i]):
            if owner[j] == track[i]:
                own = j
        if own < 0:
            continue
        distance = np.empty(last[i] - first[i])
        for j in range(first[i], last[i]):
            away = np.hypot(states[j, 0] - states[own, 0], states[j, 1] - states[own, 1])
            distance[j - first[i]] = np.inf if j == own else away
        order = np.argsort(distance, kind="mergesort")
        for slot in range(min(most, order.shape[0])):
            if distance[order[slot]] > farthest_m:
                break
            out[i, slot] = states[first[i] + order[slot]]
    return out


HORIZONS_S = (1.0, 2.0, 3.0, 4.0)
HISTORY_S = 1.0
EVERY_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """N samples (track, time).

    Attributes:
        history_m: ``(N, P, 2)``, the last position is the present one.
        future_m: ``(N, S, 2)``, every step up to the longest horizon; NaN where not observed.
        neighbours: ``(N, M, 4)``: x, y and velocity of the nearest other people now; NaN pads.
        track: Code of each sample's track, an index into ``track_names``.
        scene: Code of each sample's scene.
        k: Time of each sample in tenths of a second.
        track_names: Names of the tracks.
        scene_names: Names of the scenes.
        horizon_steps: Index of each horizon in the steps of ``future_m``.
        step_s: Time between steps.
        excluded: Tracks that gave no window, by reason.
        context: Vehicle, angles and map of each sample; None if not asked for.
    """

    history_m: FloatArray
    future_m: FloatArray
    neighbours: FloatArray
    track: IntArray
    scene: IntArray
    k: IntArray
    track_names: tuple[str, ...]
    scene_names: tuple[str, ...]
    horizon_steps: tuple[int, ...]
    step_s: float
    excluded: dict[str, int]
    context: Context | None = None

    def __len__(self) -> int:
        return len(self.k)

    @property
    def horizons_s(self) -> tuple[float, ...]:
        """The horizons in seconds."""
        return tuple(round((step + 1) * self.step_s, 6) for step in self.horizon_steps)

    @property
    def truth_m(self) -> FloatArray:
        """True positions at the horizons, ``(N, H, 2)``."""
        return self.future_m[:, list(self.horizon_steps)]

    def rows(self, index: IntArray | NDArray[np.bool_]) -> Windows:
        """Return the selected samples."""
        per_sample = ("history_m", "future_m", "neighbours", "track", "scene", "k")
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        chosen = {n: v[index] if n in per_sample else v for n, v in values.items()}
        context = None if self.context is None else self.context.rows(index)
        return Windows(**{**chosen, "context": context})

    def with_context(self, data: Trajectories) -> Windows:
        """Return the samples with the context of ``data``: vehicle, angles and map."""
        steps = self.history_m.shape[1]
        now_m = self.history_m[:, -1]
        context = context_of(data, self.scene_names, self.track, self.scene, self.k, now_m, steps)
        return replace(self, context=context)


def build_windows(
    data: Trajectories,
    *,
    history_s: float = HISTORY_S,
    horizons_s: tuple[float, ...] = HORIZONS_S,
    every_s: float = EVERY_S,
    full: bool = False,
) -> Windows:
    """Cut tracks into windows.

    A track is cut at gaps. Tracks too short for a window are counted, by reason.

    Args:
        data: The dataset.
        history_s: Observed time before the present.
        horizons_s: Times ahead to predict.
        every_s: Time between adjacent windows of a track.
        full: Keep only windows with truth up to the longest horizon; else up to the shortest.
    """
    if data.tracks.is_empty():
        raise DataError(f"These data hold no people; left out: {data.excluded or 'nothing'}.")
    step_s = STEP_S * data.stride
    past, every = _steps(history_s, step_s), _steps(every_s, step_s)
    ahead = [_steps(horizon, step_s) for horizon in horizons_s]
    if min(past, every, *ahead) < 1 or ahead != sorted(set(ahead)):
        raise UsageError(f"horizons {horizons_s} must be positive and rising, the rest positive")
    needed = ahead[-1] if full else ahead[0]
    excluded: Counter[str] = Counter()
    tracks = data.tracks.partition_by("scene_id", "track_id", maintain_order=True)
    names = [(rows["scene_id"][0], rows["track_id"][0]) for rows in tracks]
    scenes = sorted({scene for scene, _ in names})
    codes = {scene: code for code, scene in enumerate(scenes)}
    parts: list[tuple[int, int, IntArray, FloatArray, FloatArray]] = []
    for code, rows in enumerate(tracks):
        cut = _pieces(rows, data.stride, (past, ahead[-1], needed, every), excluded)
        parts += [(code, codes[names[code][0]], *piece) for piece in cut]
    track = _repeat([(p[0], len(p[2])) for p in parts])
    scene = _repeat([(p[1], len(p[2])) for p in parts])
    now = np.concatenate([p[2] for p in parts] or [np.zeros(0, dtype=np.int64)])
    return Windows(
        history_m=np.concatenate([p[3] for p in parts] or [np.zeros((0, past + 1, 2))]),
        future_m=np.concatenate([p[4] for p in parts] or [np.zeros((0, ahead[-1], 2))]),
        neighbours=nearest_people(data, scenes, names, track, scene, now),
        track=track,
        scene=scene,
        k=now,
        track_names=tuple(track for _, track in names),
        scene_names=tuple(scenes),
        horizon_steps=tuple(step - 1 for step in ahead),
        step_s=step_s,
        excluded=dict(excluded),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """History, horizons and spacing of windows in seconds."""

    history_s: float = HISTORY_S
    horizons_s: tuple[float, ...] = HORIZONS_S
    every_s: float = EVERY_S


def usual_times(data: Trajectories) -> Times:
    """Return a history of 1 s and horizons of 1, 2, 3, 4 s, as far as the data's step allows.

    At 2.5 Hz (ETH, UCY) these are a history of 1.2 s and horizons of 2 and 4 s, every 0.4 s.
    """
    step_s = STEP_S * data.stride
    whole = [h for h in HORIZONS_S if abs(h / step_s - round(h / step_s)) < 1e-6]
    return Times(
        history_s=round(np.ceil(HISTORY_S / step_s - 1e-6) * step_s, 6),
        horizons_s=tuple(whole),
        every_s=round(max(1, round(EVERY_S / step_s)) * step_s, 6),
    )


def _steps(time_s: float, step_s: float) -> int:
    steps = time_s / step_s
    if abs(steps - round(steps)) > 1e-6:
        raise UsageError(
            f"{time_s:g} s is not a multiple of the data's step of {step_s:g} s; choose other times"
        )
    return round(steps)


def _pieces(
    rows: pl.DataFrame, stride: int, steps: tuple[int, int, int, int], excluded: Counter[str]
) -> list[tuple[IntArray, FloatArray, FloatArray]]:
    """Return the windows of one track by unbroken run; count the reason if there are none."""
    past, _, needed, _ = steps
    runs = list(_runs(rows, stride))
    if len(runs) > 1:
        excluded["track with holes, cut into pieces"] += 1
    cut = [_cut(k, positions, *steps) for k, positions in runs]
    pieces = [piece for piece in cut if piece is not None]
    if not pieces:
        longest = max(len(k) for k, _ in runs)
        why = "history" if longest <= past else f"history and {needed} steps ahead"
        excluded[f"track shorter than the {why}"] += 1
    return pieces


def _runs(rows: pl.DataFrame, stride: int) -> Iterator[tuple[IntArray, FloatArray]]:
    k = rows["k"].to_numpy()
    positions = rows.select("x", "y").to_numpy()
    breaks = np.flatnonzero(np.diff(k) != stride) + 1
    yield from zip(np.split(k, breaks), np.split(positions, breaks), strict=True)


def _cut(
    k: IntArray, positions: FloatArray, past: int, longest: int, needed: int, every: int
) -> tuple[IntArray, FloatArray, FloatArray] | None:
    now = np.arange(past, len(k) - needed, every)
    if now.size == 0:
        return None
    padded = np.concatenate([positions, np.full((longest, 2), np.nan)])
    history = positions[now[:, None] + np.arange(-past, 1)]
    future = padded[now[:, None] + np.arange(1, longest + 1)]
    return k[now], history, future


def _repeat(counts: list[tuple[int, int]]) -> IntArray:
    values = np.array([value for value, _ in counts], dtype=np.int64)
    return np.repeat(values, np.array([n for _, n in counts], dtype=np.int64))
