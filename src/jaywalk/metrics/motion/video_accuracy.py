"""Accuracy of motion from video: known motions seen through a known camera, with noise.

The distance between two motions of the same person covers joints (MPJPE, PA-MPJPE) and path.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.seeds import stream
from jaywalk.geometry.rotation import rotate
from jaywalk.motion.clip import Clip, resample
from jaywalk.motion.heading import turn_about_vertical
from jaywalk.motion.library.reading import MotionLibrary
from jaywalk.motion.video.camera import Camera, find_camera
from jaywalk.motion.video.fit import fit_person
from jaywalk.motion.video.ground import GroundPoints
from jaywalk.motion.video.landmarks import (
    LANDMARK_COUNT,
    LEFT_HIP,
    MARK_JOINTS,
    MARK_OFFSETS_M,
    MARKS,
    RIGHT_HIP,
    Landmarks,
)


def mpjpe_m(found_m: FloatArray, true_m: FloatArray) -> float:
    """Mean distance of joints (frames, joints, 3) after the pelvises (joint 0) are aligned.

    Orientation and size count.
    """
    apart = (found_m - found_m[:, :1]) - (true_m - true_m[:, :1])
    return float(np.linalg.norm(apart, axis=-1).mean())


def pa_mpjpe_m(found_m: FloatArray, true_m: FloatArray) -> float:
    """As :func:`mpjpe_m` after the best similarity (turn, size, place) of every frame."""
    a = found_m - found_m.mean(axis=1, keepdims=True)
    b = true_m - true_m.mean(axis=1, keepdims=True)
    u, sizes, vt = np.linalg.svd(np.einsum("tki,tkj->tij", b, a))
    flip = np.ones((len(a), 3))
    flip[:, 2] = np.sign(np.linalg.det(u @ vt))
    turn = (u * flip[:, None]) @ vt
    scale = (sizes * flip).sum(axis=1) / np.maximum((a * a).sum(axis=(1, 2)), 1e-12)
    fitted = scale[:, None, None] * np.einsum("tij,tkj->tki", turn, a)
    return float(np.linalg.norm(fitted - b, axis=-1).mean())


def path_error_m(found_m: FloatArray, true_m: FloatArray) -> float:
    """Root mean square distance on the ground of two pelvis paths (frames, 3), as they lie."""
    apart = (found_m - true_m)[:, [0, 2]]
    return float(np.sqrt((apart * apart).sum(axis=1).mean()))


def path_shape_error_m(found_m: FloatArray, true_m: FloatArray) -> float:
    """Compute :func:`path_error_m` with equal mean places: the error left in a library's clip."""
    moved = found_m - found_m.mean(axis=0) + true_m.mean(axis=0)
    return path_error_m(moved, true_m)


RATE_HZ: Final = 25.0
_CORNERS_M: Final = np.array([[-2.0, 5.0], [2.0, 5.0], [4.0, 14.0], [-4.0, 14.0]])


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """Errors of the landmarks.

    Attributes:
        image_px: Standard deviation in the picture, drawn again for every frame.
        world_m: Standard deviation about the hips, correlated in time (0.2 s); twice as much in
            depth.
        bias_m: Standard deviation of a landmark's offset on the body from the place that the fit
            expects; constant over a clip.
        size: Size of the network's person relative to the real one.
        lost: Share of the landmarks that are not seen.
    """

    image_px: float
    world_m: float = 0.03
    bias_m: float = 0.015
    size: float = 0.93
    lost: float = 0.05


#: Nothing wrong at all: what the fit itself loses.
PERFECT: Final = Noise(image_px=0.0, world_m=0.0, bias_m=0.0, size=1.0, lost=0.0)


def street_camera(
    *, height_m: float = 2.5, away_m: float = 0.0, focal_px: float = 1000.0
) -> Camera:
    """Return a 1280 x 720 camera beside a street, tilted down a little; the world's -z is ahead."""
    down = np.arctan2(height_m - 0.9, 9.0 + away_m)
    cos, sin = np.cos(down), np.sin(down)
    turn = np.array([[1.0, 0.0, 0.0], [0.0, -cos, sin], [0.0, -sin, -cos]])
    return Camera(
        turn=turn,
        place_m=np.array([0.0, height_m, away_m]),
        focal_px=focal_px,
        centre_px=np.array([640.0, 360.0]),
    )


def ground_points(camera: Camera, *, noise_px: float, seed: int) -> GroundPoints:
    """Return four corners on the ground as a user would click them, with noise."""
    world = np.stack([_CORNERS_M[:, 0], np.zeros(4), -_CORNERS_M[:, 1]], axis=1)
    clicks = stream(seed, "clicks").normal(0.0, 1.0, (4, 2)) * noise_px
    return GroundPoints(image_px=camera.project(world) + clicks, ground_m=_CORNERS_M)


def on_stage(motion: Clip, *, yaw_rad: float) -> Clip:
    """Return the motion at the rate of a video, in the middle of the street camera's view."""
    turned = turn_about_vertical(resample(motion, RATE_HZ), yaw_rad)
    middle = 0.5 * (turned.root_m.min(axis=0) + turned.root_m.max(axis=0))
    root = turned.root_m - np.array([middle[0], 0.0, middle[2]]) + np.array([0.0, 0.0, -9.0])
    return turned.with_poses(turned.rotations, root)


def seen_landmarks(motion: Clip, camera: Camera, noise: Noise, *, seed: int) -> Landmarks:
    """Return the landmarks that MediaPipe would find for a motion, with noise."""
    draw = stream(seed, "landmarks", motion.name)
    count, frames = len(MARKS), motion.frames
    offsets = MARK_OFFSETS_M + noise.bias_m * draw.normal(size=(count, 3))
    joints, turned = motion.joints_m(), motion.turned()
    points = joints[:, MARK_JOINTS] + rotate(turned[:, MARK_JOINTS], motion.body_scale * offsets)
    image = np.zeros((frames, LANDMARK_COUNT, 2))
    image[:, MARKS] = camera.project(points) + noise.image_px * draw.normal(size=(frames, count, 2))
    whole = np.zeros((frames, LANDMARK_COUNT, 3))
    whole[:, MARKS] = points
    hips = whole[:, [LEFT_HIP, RIGHT_HIP]].mean(axis=1)
    facing = camera.facing(camera.project(hips))
    world = np.zeros_like(whole)
    local = (facing.transpose(0, 2, 1)[:, None] @ (points - hips[:, None])[..., None])[..., 0]
    wander = _wandering(draw.normal(size=(frames, count, 3)), 0.2 * RATE_HZ)
    world[:, MARKS] = noise.size / motion.body_scale * local
    world[:, MARKS] += noise.world_m * wander * np.array([1.0, 1.0, 2.0])
    confidence = np.zeros((frames, LANDMARK_COUNT))
    confidence[:, MARKS] = draw.random((frames, count)) >= noise.lost
    return Landmarks(
        times_s=np.arange(frames) / motion.rate_hz,
        image_px=image,
        world_m=world,
        confidence=confidence,
    )


def _wandering(white: FloatArray, length: float) -> FloatArray:
    """Correlate white noise over about ``length`` frames; the variance stays 1."""
    keep = float(np.exp(-1.0 / length))
    out = white.copy()
    for t in range(1, len(white)):
        out[t] = keep * out[t - 1] + np.sqrt(1.0 - keep**2) * white[t]
    return out


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """Errors of one clip in metres; ``tall_px`` is the person's height in the picture."""

    name: str
    mpjpe_m: float
    pa_mpjpe_m: float
    path_m: float
    path_shape_m: float
    walked_m: float
    scale_error: float
    tall_px: float


def measure(motion: Clip, noise: Noise, *, seed: int, yaw_rad: float) -> Accuracy:
    """Film one motion, fit it, compare; the camera is found from clicked ground points."""
    film = street_camera()
    staged = on_stage(motion, yaw_rad=yaw_rad)
    clicks = 0.0 if noise == PERFECT else min(noise.image_px, 2.0)
    camera = find_camera(ground_points(film, noise_px=clicks, seed=seed), 1280, 720)
    landmarks = seen_landmarks(staged, film, noise, seed=seed)
    fitted = fit_person(landmarks, camera, rate_hz=RATE_HZ, name=motion.name).motion
    a, b = fitted.joints_m(), staged.joints_m()
    steps = np.linalg.norm(np.diff(staged.root_m[:, [0, 2]], axis=0), axis=1)
    return Accuracy(
        name=motion.name,
        mpjpe_m=mpjpe_m(a, b),
        pa_mpjpe_m=pa_mpjpe_m(a, b),
        path_m=path_error_m(fitted.root_m, staged.root_m),
        path_shape_m=path_shape_error_m(fitted.root_m, staged.root_m),
        walked_m=float(steps.sum()),
        scale_error=fitted.body_scale / staged.body_scale - 1.0,
        tall_px=float(np.median(np.ptp(landmarks.image_px[:, MARKS, 1], axis=1))),
    )


def video_accuracy(
    library: MotionLibrary,
    noises: list[Noise],
    *,
    clips: int,
    seed: int,
    say: Callable[[str], None] = lambda _: None,
) -> list[dict[str, Any]]:
    """Return one row per noise: means over clips spread evenly over a library, and every clip."""
    names = library.names
    chosen = [names[i] for i in np.linspace(0, len(names) - 1, min(clips, len(names))).astype(int)]
    rows = []
    for number, noise in enumerate(noises, 1):
        say(f"noise {number} of {len(noises)}: {len(chosen)} clips")
        yaws = stream(seed, "yaw").uniform(-np.pi, np.pi, len(chosen))
        measured = [
            measure(library.motion(name), noise, seed=seed + i, yaw_rad=float(yaws[i]))
            for i, name in enumerate(chosen)
        ]
        keys = ("mpjpe_m", "pa_mpjpe_m", "path_m", "path_shape_m", "walked_m", "tall_px")
        rows.append(
            {
                "noise": asdict(noise),
                "clips": len(measured),
                **{key: float(np.mean([getattr(one, key) for one in measured])) for key in keys},
                "scale_error": float(np.mean([abs(one.scale_error) for one in measured])),
                "each": [asdict(one) for one in measured],
            }
        )
    return rows
