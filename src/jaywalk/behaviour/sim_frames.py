"""One recorded episode at 30 frames a second: the ego's motion and everybody's, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.record.bodies import body_shapes
from jaywalk.record.reader import Record

FloatArray = NDArray[np.float64]

FPS: Final = 30.0
_STOPPED_MPS = 0.3
_SLOW_MPS = 20.0 / 3.6
_CHANGE_MPS2 = 0.7
_WINDOW_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """An actor at every frame; NaN where it does not exist.

    Attributes:
        place_m: CARLA's frame, ``(frames, 3)``.
        velocity_mps: ``(frames, 3)``.
        yaw_rad: CARLA's sense, ``(frames,)``.
        pitch_rad: The same.
    """

    place_m: FloatArray
    velocity_mps: FloatArray
    yaw_rad: FloatArray
    pitch_rad: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Frames:
    """An episode at frame times."""

    times_s: FloatArray
    ticks: NDArray[np.int64]  # the last tick at or before each frame
    actors: dict[int, dict[str, Any]]
    motions: dict[int, Motion]

    def corners_m(self, actor: int) -> FloatArray:
        """Corners of a vehicle's box, ``(frames, 8, 3)``; pitch and roll are left out."""
        body, motion = self.actors[actor], self.motions[actor]
        half = np.array([body[f"half_{k}_m"] or 0.0 for k in "xyz"])
        offset = np.array([body[f"offset_{k}_m"] or 0.0 for k in "xyz"])
        local = offset + half * np.array(list(product((-1.0, 1.0), repeat=3)))
        c, s = np.cos(motion.yaw_rad)[:, None], np.sin(motion.yaw_rad)[:, None]
        x = c * local[:, 0] - s * local[:, 1]
        y = s * local[:, 0] + c * local[:, 1]
        z = np.broadcast_to(local[:, 2], x.shape)
        return np.asarray(motion.place_m[:, None] + np.stack([x, y, z], axis=-1))


def read_frames(record: Record) -> Frames:
    """Interpolate an episode's people and vehicles to frame times."""
    ticks = record.ticks.collect()
    at, number = ticks["time_s"].to_numpy(), ticks["tick"].to_numpy()
    times = np.arange(int(np.floor((at[-1] - at[0]) * FPS)) + 1) / FPS + at[0]
    bodies = record.actors.filter(pl.col("kind").is_in(["vehicle", "walker"])).collect()
    actors = {row["actor"]: row for row in body_shapes(bodies, record.states).iter_rows(named=True)}
    states = record.states.filter(pl.col("actor").is_in(list(actors))).collect()
    place = dict(zip(number.tolist(), at.tolist(), strict=True))
    motions = {}
    for key, rows in states.partition_by("actor", as_dict=True).items():
        own = np.array([place[tick] for tick in rows["tick"]])
        motions[int(key[0])] = _motion(rows, own, times)
    last = np.maximum(np.searchsorted(at, times + 1e-9, side="right") - 1, 0)
    kept = {actor: row for actor, row in actors.items() if actor in motions}
    return Frames(times_s=times, ticks=number[last], actors=kept, motions=motions)


def _motion(rows: pl.DataFrame, at: FloatArray, times: FloatArray) -> Motion:
    inside = (times >= at[0] - 1e-9) & (times <= at[-1] + 1e-9)

    def at_frames(values: FloatArray) -> FloatArray:
        return np.where(inside, np.interp(times, at, values), np.nan)

    def three(*names: str) -> FloatArray:
        return np.stack([at_frames(rows[n].to_numpy().astype(np.float64)) for n in names], -1)

    def angle(name: str) -> FloatArray:
        return at_frames(np.unwrap(np.deg2rad(rows[name].to_numpy().astype(np.float64))))

    return Motion(
        place_m=three("x_m", "y_m", "z_m"),
        velocity_mps=three("vx_mps", "vy_mps", "vz_mps"),
        yaw_rad=angle("yaw_deg"),
        pitch_rad=angle("pitch_deg"),
    )


def ego_words(speed_mps: FloatArray) -> list[str]:
    """JAAD's word for what the car does at every frame."""
    span = int(_WINDOW_S * FPS)
    padded = np.pad(np.nan_to_num(speed_mps), span, mode="edge")
    change = (padded[2 * span :] - padded[: -2 * span]) / (2.0 * _WINDOW_S)
    words = []
    for speed, gain in zip(np.nan_to_num(speed_mps), change, strict=True):
        if speed < _STOPPED_MPS:
            words.append("stopped")
        elif gain < -_CHANGE_MPS2:
            words.append("decelerating")
        elif gain > _CHANGE_MPS2:
            words.append("accelerating")
        else:
            words.append("moving_slow" if speed < _SLOW_MPS else "moving_fast")
    return words
