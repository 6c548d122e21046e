"""Who else is near: position and velocity of the nearest people at the moment of a window."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel
from jaywalk.datasets.trajectories import STEP_S, Trajectories

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

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
    """Up to 8 people within 5 m of each sample, nearest first: ``(N, 8, 4)`` padded with NaN.

    Args:
        data: The dataset.
        scenes: Names behind the codes in ``scene``.
        tracks: Scene and name behind the codes in ``track``.
        track: Whose sample it is.
        scene: In which scene.
        k: When.
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
    found: FloatArray = _nearest(
        states,
        people["track"].to_numpy(),
        np.searchsorted(moment, wanted, "left"),
        np.searchsorted(moment, wanted, "right"),
        track,
        MOST_NEIGHBOURS,
        FARTHEST_M,
    )
    return found


def _codes(scenes: list[str], tracks: list[tuple[str, str]]) -> pl.DataFrame:
    """Codes of scene and track by their names; a name may come back in another scene."""
    of_scene = {name: code for code, name in enumerate(scenes)}
    rows = [(s, t, of_scene[s], code) for code, (s, t) in enumerate(tracks)]
    kinds = {"scene_id": pl.String, "track_id": pl.String, "scene": pl.Int64, "track": pl.Int64}
    return pl.DataFrame(rows, schema=kinds, orient="row")


@kernel
def _nearest(
    states: FloatArray, owner: IntArray, first: IntArray, last: IntArray, track: IntArray,
    most: int, farthest_m: float,
) -> Any:  # fmt: skip
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
