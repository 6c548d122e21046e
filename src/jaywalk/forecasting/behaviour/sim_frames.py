"""Motions of people and vehicles of a record at 30 frames per second, and a camera for them.

The camera is behind the ego's windscreen and gives boxes in its picture. CARLA's frame, metres.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.units import MPS_TO_KMH
from jaywalk.record import columns as c
from jaywalk.record.reader import Record
from jaywalk.record.tracks import EpisodeTracks, read_tracks, resample

# A body is wider than its collision cylinder: arms, and legs in side view.
_SHOULDERS_M = 0.25
_STRIDE_M = 0.15
_WALK_MPS = 1.4


@dataclass(frozen=True, slots=True, kw_only=True)
class DashCamera:
    """Position, picture and range of the camera on the ego.

    Attributes:
        fov_deg: Horizontal field of view.
        width_px: Width of the picture.
        height_px: Height of the picture.
        forward_m: Distance in front of the ego's origin.
        up_m: Height above the ego's origin.
        range_m: Range; people farther away are too small.
        least_px: Minimum height of an annotated box.
    """

    fov_deg: float = 90.0
    width_px: int = 1920
    height_px: int = 1080
    forward_m: float = 0.4
    up_m: float = 1.35
    range_m: float = 60.0
    least_px: float = 25.0

    @property
    def focal_px(self) -> float:
        """Focal length in pixels."""
        return self.width_px / 2.0 / float(np.tan(np.deg2rad(self.fov_deg) / 2.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class DashView:
    """Place and axes of the camera at every frame, each ``(frames, 3)``."""

    camera: DashCamera
    place_m: FloatArray
    forward: FloatArray
    right: FloatArray
    up: FloatArray

    def local(self, points_m: FloatArray) -> FloatArray:
        """Convert points ``(frames, ..., 3)`` to depth, right, up."""
        shape = (len(points_m),) + (1,) * (points_m.ndim - 2) + (3,)
        away = points_m - self.place_m.reshape(shape)
        axes = (self.forward, self.right, self.up)
        return np.stack([(away * axis.reshape(shape)).sum(-1) for axis in axes], axis=-1)

    def pixels(self, local_m: FloatArray) -> FloatArray:
        """Return column and row of local points; valid only in front of the camera."""
        depth = np.maximum(local_m[..., 0], 1e-3)
        camera = self.camera
        x = camera.width_px / 2.0 + camera.focal_px * local_m[..., 1] / depth
        y = camera.height_px / 2.0 - camera.focal_px * local_m[..., 2] / depth
        return np.stack([x, y], axis=-1)


def view_of(
    camera: DashCamera, ego_m: FloatArray, yaw_rad: FloatArray, pitch_rad: FloatArray
) -> DashView:
    """Return the camera on an ego at ``(frames, 3)``; yaw and pitch in CARLA's sense."""
    cy, sy, cp, sp = np.cos(yaw_rad), np.sin(yaw_rad), np.cos(pitch_rad), np.sin(pitch_rad)
    forward = np.stack([cp * cy, cp * sy, sp], axis=-1)
    right = np.stack([-sy, cy, np.zeros_like(cy)], axis=-1)
    up = np.stack([-sp * cy, -sp * sy, cp], axis=-1)
    place = ego_m + camera.forward_m * forward + camera.up_m * up
    return DashView(camera=camera, place_m=place, forward=forward, right=right, up=up)


def person_boxes(
    view: DashView, centre_m: FloatArray, velocity_mps: FloatArray, half_height_m: float
) -> tuple[FloatArray, FloatArray]:
    """Return boxes of a person, clipped to the picture, and depths; NaN where not visible.

    Args:
        view: The camera.
        centre_m: Middle of the body, ``(frames, 3)``; NaN where absent.
        velocity_mps: Velocity, ``(frames, 3)``.
        half_height_m: Half of the body's height.

    Returns:
        Left, top, right, bottom ``(frames, 4)`` and depths ``(frames,)``.
    """
    local = view.local(centre_m)
    depth = local[:, 0]
    sideways = np.abs((velocity_mps * view.right).sum(-1))
    half_width = (
        half_height_m / 0.93 * (_SHOULDERS_M + _STRIDE_M * np.minimum(sideways / _WALK_MPS, 1.0))
    )
    low, high = local.copy(), local.copy()
    low[:, 1] -= half_width
    high[:, 1] += half_width
    low[:, 2] += half_height_m
    high[:, 2] -= half_height_m
    boxes = np.concatenate([view.pixels(low), view.pixels(high)], axis=-1)
    size = np.array([view.camera.width_px, view.camera.height_px] * 2, np.float64)
    clipped = np.round(np.clip(boxes, 0.0, size))
    whole = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    kept = (clipped[:, 2] - clipped[:, 0]) * (clipped[:, 3] - clipped[:, 1])
    with np.errstate(invalid="ignore"):
        seen = (depth > 1.0) & (np.linalg.norm(local, axis=-1) <= view.camera.range_m)
        seen &= (clipped[:, 3] - clipped[:, 1] >= view.camera.least_px) & (kept >= 0.3 * whole)
    clipped[~seen] = np.nan
    return clipped, np.where(seen, depth, np.nan)


def body_boxes(view: DashView, corners_m: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return boxes around bodies with corners ``(frames, 8, 3)``, and their nearest depths.

    NaN where the body is absent or not completely in front of the camera.
    """
    local = view.local(corners_m)
    pixels = view.pixels(local)
    boxes = np.concatenate([pixels.min(axis=1), pixels.max(axis=1)], axis=-1)
    depth = local[..., 0].min(axis=1)
    with np.errstate(invalid="ignore"):
        hidden = ~(depth > 0.5)
    boxes[hidden] = np.nan
    return boxes, np.where(hidden, np.nan, depth)


def covered_share(
    boxes: FloatArray, depth_m: FloatArray, other: FloatArray, other_depth_m: FloatArray
) -> FloatArray:
    """Return the share of each box that a nearer box covers, ``(frames,)``."""
    with np.errstate(invalid="ignore"):
        wide = np.minimum(boxes[:, 2], other[:, 2]) - np.maximum(boxes[:, 0], other[:, 0])
        high = np.minimum(boxes[:, 3], other[:, 3]) - np.maximum(boxes[:, 1], other[:, 1])
        area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
        share = np.maximum(wide, 0.0) * np.maximum(high, 0.0) / area
        nearer = other_depth_m < depth_m
    return np.where(nearer & np.isfinite(share), share, 0.0)


FPS: Final = 30.0
_STOPPED_MPS = 0.3
_SLOW_MPS = 20.0 / MPS_TO_KMH
_CHANGE_MPS2 = 0.7
_WINDOW_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """Motion of an actor at every frame; NaN where it does not exist.

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
class EgoFrames:
    """Actors of an episode at frame times."""

    times_s: FloatArray
    ticks: NDArray[np.int64]  # the last tick at or before each frame
    actors: dict[int, dict[str, Any]]
    motions: dict[int, Motion]

    def corners_m(self, actor: int) -> FloatArray:
        """Return the corners of a vehicle's box, ``(frames, 8, 3)``, without pitch and roll."""
        body, motion = self.actors[actor], self.motions[actor]
        half = np.array([body[f"half_{k}_m"] or 0.0 for k in "xyz"])
        offset = np.array([body[f"offset_{k}_m"] or 0.0 for k in "xyz"])
        local = offset + half * np.array(list(product((-1.0, 1.0), repeat=3)))
        cos, sin = np.cos(motion.yaw_rad)[:, None], np.sin(motion.yaw_rad)[:, None]
        x = cos * local[:, 0] - sin * local[:, 1]
        y = sin * local[:, 0] + cos * local[:, 1]
        z = np.broadcast_to(local[:, 2], x.shape)
        return np.asarray(motion.place_m[:, None] + np.stack([x, y, z], axis=-1))


def read_frames(record: Record) -> EgoFrames:
    """Interpolate an episode's people and vehicles to frame times."""
    moving = pl.col(c.KIND).is_in(["vehicle", "walker"])
    tracks = read_tracks(record, only=moving, columns=(c.VZ_MPS, c.PITCH_DEG))
    at = tracks.time_s
    times = np.arange(int(np.floor((at[-1] - at[0]) * FPS)) + 1) / FPS + at[0]
    last = np.maximum(np.searchsorted(at, times + 1e-9, side="right") - 1, 0)
    seen = [k for k in range(len(tracks.number)) if len(tracks.seen(k))]
    return EgoFrames(
        times_s=times,
        ticks=tracks.tick[last],
        actors={int(tracks.number[k]): tracks.bodies.row(k, named=True) for k in seen},
        motions={int(tracks.number[k]): _motion(tracks, k, times) for k in seen},
    )


def _motion(tracks: EpisodeTracks, body: int, times: FloatArray) -> Motion:
    at = tracks.time_s[tracks.seen(body)]

    def three(*names: str) -> FloatArray:
        values = tracks.values(body, *names)
        return np.stack([resample(at, values[:, k], times) for k in range(3)], -1)

    def angle(name: str) -> FloatArray:
        return resample(at, np.unwrap(np.deg2rad(tracks.values(body, name)[:, 0])), times)

    return Motion(
        place_m=three(c.X_M, c.Y_M, c.Z_M),
        velocity_mps=three(c.VX_MPS, c.VY_MPS, c.VZ_MPS),
        yaw_rad=angle(c.YAW_DEG),
        pitch_rad=angle(c.PITCH_DEG),
    )


def ego_words(speed_mps: FloatArray) -> list[str]:
    """Return JAAD's word for the action of the car at every frame."""
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
