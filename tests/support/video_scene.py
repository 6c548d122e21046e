"""Pictures of a figure made of shaded capsules, filmed by a known camera."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np

from jaywalk.geometry.rotation import rotate
from jaywalk.motion.clip import Clip
from jaywalk.motion.video.camera import Camera

_SKIN, _SHIRT, _JEANS, _SHOE, _HAIR = (
    (222, 178, 148),
    (168, 40, 46),
    (44, 62, 110),
    (30, 28, 26),
    (52, 36, 26),
)
# joint, joint, radius at either end (m), colour
_LIMBS = (
    (1, 4, 0.085, 0.06, _JEANS),
    (2, 5, 0.085, 0.06, _JEANS),
    (4, 7, 0.058, 0.042, _JEANS),
    (5, 8, 0.058, 0.042, _JEANS),
    (7, 10, 0.042, 0.036, _SHOE),
    (8, 11, 0.042, 0.036, _SHOE),
    (1, 2, 0.10, 0.10, _JEANS),
    (0, 3, 0.125, 0.12, _SHIRT),
    (3, 9, 0.12, 0.135, _SHIRT),
    (13, 16, 0.07, 0.06, _SHIRT),
    (14, 17, 0.07, 0.06, _SHIRT),
    (16, 18, 0.052, 0.042, _SHIRT),
    (17, 19, 0.052, 0.042, _SHIRT),
    (18, 20, 0.04, 0.03, _SKIN),
    (19, 21, 0.04, 0.03, _SKIN),
    (12, 15, 0.052, 0.052, _SKIN),
)


def _balls(motion: Clip, frame: int) -> list[tuple[np.ndarray, float, tuple[int, int, int]]]:
    """Many balls that make up a person: place, radius, colour."""
    joints, turned = motion.joints_m()[frame], motion.turned()[frame]
    size = motion.body_scale
    out = []
    for a, b, ra, rb, colour in _LIMBS:
        for share in np.linspace(0.0, 1.0, 14):
            place = joints[a] + share * (joints[b] - joints[a])
            out.append((place, size * (ra + share * (rb - ra)), colour))

    def at(joint: int, *offset: float) -> np.ndarray:
        return joints[joint] + rotate(turned[joint], size * np.array(offset))

    out.append((at(15, 0, 0.08, 0.02), size * 0.10, _SKIN))
    out.append((at(15, 0, 0.03, 0.05), size * 0.07, _SKIN))
    out.append((at(15, 0, 0.11, -0.01), size * 0.105, _HAIR))
    out.append((at(15, 0, 0.045, 0.125), size * 0.016, _SKIN))
    for side in (-1.0, 1.0):
        out.append((at(15, side * 0.033, 0.078, 0.107), size * 0.014, (245, 245, 245)))
        out.append((at(15, side * 0.033, 0.078, 0.116), size * 0.008, (20, 20, 20)))
        out.append((at(15, side * 0.095, 0.06, 0.0), size * 0.025, _SKIN))
        wrist = 20 if side > 0 else 21
        out.append((at(wrist, side * 0.05, 0.0, 0.0), size * 0.04, _SKIN))
        out.append((at(wrist, side * 0.10, 0.0, 0.0), size * 0.035, _SKIN))
        shoe = 7 if side > 0 else 8
        out.append((at(shoe, 0.0, -0.03, -0.03), size * 0.042, _SHOE))
        out.append((at(shoe, side * 0.03, -0.05, 0.15), size * 0.03, _SHOE))
    return out


def background(camera: Camera, width: int, height: int, seed: int = 0) -> np.ndarray:
    """A street: sky, a wall, and paving whose slabs show the ground."""
    rng = np.random.default_rng(seed)
    v, u = np.mgrid[0:height, 0:width].astype(np.float64)
    ground = camera.on_ground(np.stack([u, v], axis=-1))
    out = np.empty((height, width, 3))
    out[:] = (150.0, 165.0, 180.0)
    known = np.isfinite(ground).all(axis=2)
    known &= np.abs(np.nan_to_num(ground[..., 2])) < 40.0
    slab = (np.floor(ground[..., 0] / 0.8) + np.floor(ground[..., 2] / 0.8)) % 2
    grey = 128.0 + 14.0 * np.nan_to_num(slab)
    out[known] = (grey[..., None] * np.array([1.0, 0.98, 0.94]))[known]
    return np.clip(out + rng.normal(0.0, 5.0, (height, width, 1)), 0, 255)


def draw(
    picture: np.ndarray, camera: Camera, people: list[tuple[Clip, int]], sun=(0.4, 0.8, 0.45)
) -> np.ndarray:
    """A picture with people in it."""
    out = picture.copy()
    depth = np.full(out.shape[:2], np.inf)
    light = camera.turn @ (np.array(sun) / np.linalg.norm(sun))
    for motion, frame in people:
        for place, radius, colour in _balls(motion, frame):
            _ball(out, depth, camera, place, radius, np.array(colour, dtype=float), light)
    return np.clip(out, 0, 255).astype(np.uint8)


def _ball(out, depth, camera, place, radius, colour, light) -> None:
    local = camera.to_camera(place)
    if local[2] < 0.5:
        return
    centre, size = camera.project(place), camera.focal_px * radius / local[2]
    left, top = np.floor(centre - size).astype(int)
    right, bottom = np.ceil(centre + size).astype(int) + 1
    left, top = max(left, 0), max(top, 0)
    right, bottom = min(right, out.shape[1]), min(bottom, out.shape[0])
    if right <= left or bottom <= top:
        return
    v, u = np.mgrid[top:bottom, left:right].astype(np.float64)
    x, y = (u - centre[0]) / size, (v - centre[1]) / size
    z2 = 1.0 - x * x - y * y
    z = np.sqrt(np.maximum(z2, 0.0))
    at = local[2] - radius * z
    seen = (z2 > 0.0) & (at < depth[top:bottom, left:right])
    shade = 0.5 + 0.5 * np.clip(x * light[0] + y * light[1] - z * light[2], 0.0, 1.0)
    part = out[top:bottom, left:right]
    part[seen] = (colour * shade[..., None])[seen]
    depth[top:bottom, left:right][seen] = at[seen]


def write_clip(path: Path, pictures: list[np.ndarray], times_s: list[float]) -> None:
    """An H.264 clip whose frames are shown at given times (milliseconds kept)."""
    from fractions import Fraction

    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=25, options={"crf": "16"})
        stream.height, stream.width = pictures[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        stream.time_base = stream.codec_context.time_base = Fraction(1, 1000)
        for picture, time in zip(pictures, times_s, strict=True):
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
            frame.pts, frame.time_base = round(1000 * time), Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
