"""Temporal fit: SMPL rotations, path and size of a person from landmarks over time.

The fit is a plain function of arrays, so any source of landmarks can be used. It starts with the
pose of the landmarks about the hips and a path from the pixels of the feet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.linalg import LinAlgError
from scipy.ndimage import gaussian_filter1d, median_filter

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError
from jaywalk.geometry.rotation import continuous
from jaywalk.motion.clip import Clip
from jaywalk.motion.smpl import BODY_OFFSETS_M, JOINT_COUNT
from jaywalk.motion.sources._humanml3d import fit_joints
from jaywalk.motion.video import _terms as terms
from jaywalk.motion.video import landmarks as lm
from jaywalk.motion.video._normal_equations import NormalEquations
from jaywalk.motion.video._terms import FOOT_POINTS, Seen, Weights
from jaywalk.motion.video.camera import (
    MARK_POINTS,
    BodyTrack,
    Camera,
    Placed,
    full_rotations,
    place,
)
from jaywalk.motion.video.landmarks import MARKS, Landmarks

_SOLES: Final = [lm.LEFT_HEEL, lm.RIGHT_HEEL, lm.LEFT_TOE, lm.RIGHT_TOE]
_USUAL_SCALE: Final = (1.0, 0.25)
_SMALLEST_MISS: Final = (1.5, 0.008)  # px, and share of the person's height in the picture
_SCALES: Final = (0.45, 1.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """Initial body, and the landmarks in world axes with their confidence."""

    body: BodyTrack
    seen: Seen
    weights: Weights


def first_guess(landmarks: Landmarks, camera: Camera, *, rate_hz: float, name: str) -> Guess:
    """Start from the pose of the network, on the ground under the lower foot.

    Raises:
        DataError: The feet are never seen on the ground.
    """
    sure = _filled(landmarks)
    hips = sure.image_px[:, [lm.LEFT_HIP, lm.RIGHT_HIP]].mean(axis=1)
    facing = camera.facing(hips)
    centred = sure.world_m - sure.world_m[:, [lm.LEFT_HIP, lm.RIGHT_HIP]].mean(
        axis=1, keepdims=True
    )
    world = (facing[:, None] @ centred[..., None])[..., 0]
    pose = fit_joints(_joints(world), rate_hz=rate_hz, name=name)
    body = BodyTrack(
        rotations=full_rotations(pose.rotations), root_m=np.zeros((len(world), 3)), scale=1.0
    )
    confidence = landmarks.confidence[:, MARKS]
    body = _on_ground(body, sure, camera, confidence, rate_hz, name)
    seen = Seen(
        image_px=sure.image_px[:, MARKS],
        world_m=world[:, MARKS],
        facing=facing,
        confidence=confidence,
        rate_hz=rate_hz,
        scale_guess=_USUAL_SCALE,
    )
    tall_px = float(np.median(np.ptp(sure.image_px[:, MARKS, 1], axis=1)))
    usual = max(_SMALLEST_MISS[0], _SMALLEST_MISS[1] * tall_px)
    return Guess(body=body, seen=seen, weights=Weights(image_px=usual))


def _filled(landmarks: Landmarks) -> Landmarks:
    """Fill landmarks that were not seen from the frames around."""
    frames = np.arange(len(landmarks.times_s))
    image, world = landmarks.image_px.copy(), landmarks.world_m.copy()
    for mark in MARKS:
        known = landmarks.confidence[:, mark] > 0.0
        if known.all():
            continue
        if not known.any():  # never seen: the guess needs some position, the fit does not use it
            hips = [lm.LEFT_HIP, lm.RIGHT_HIP]
            image[:, mark] = landmarks.image_px[:, hips].mean(axis=1)
            world[:, mark] = 0.0
            continue
        for values in (image, world):
            for axis in range(values.shape[2]):
                values[:, mark, axis] = np.interp(frames, frames[known], values[known, mark, axis])
    return Landmarks(
        times_s=landmarks.times_s,
        image_px=np.nan_to_num(image),
        world_m=np.nan_to_num(world),
        confidence=landmarks.confidence,
    )


def _joints(world: FloatArray) -> FloatArray:
    """Approximate SMPL joint positions for the start, in the size of the network's body."""
    out = np.zeros((len(world), JOINT_COUNT, 3))
    pairs = (
        (4, lm.LEFT_KNEE),
        (7, lm.LEFT_ANKLE),
        (16, lm.LEFT_SHOULDER),
        (18, lm.LEFT_ELBOW),
        (20, lm.LEFT_WRIST),
    )
    for joint, mark in pairs:
        out[:, joint], out[:, joint + 1] = world[:, mark], world[:, mark + 1]
    hips = world[:, [lm.LEFT_HIP, lm.RIGHT_HIP]]
    shoulders = world[:, [lm.LEFT_SHOULDER, lm.RIGHT_SHOULDER]]
    middle, top = hips.mean(axis=1), shoulders.mean(axis=1)
    up = _directions(top - middle)
    across = hips[:, 0] - hips[:, 1]
    across = _directions(across - (across * up).sum(axis=1, keepdims=True) * up)
    above = _directions(shoulders[:, 0] - shoulders[:, 1])
    out[:, 0] = middle + 0.091 * up
    half = float(BODY_OFFSETS_M[1, 0])
    out[:, 1], out[:, 2] = middle + half * across, middle - half * across
    for joint, share in ((3, 0.36), (6, 0.6), (9, 0.7)):
        out[:, joint] = middle + share * (top - middle)
    out[:, 12] = top + 0.06 * up
    out[:, 13], out[:, 14] = top + 0.08 * above, top - 0.08 * above
    ears = world[:, [lm.LEFT_EAR, lm.RIGHT_EAR]].mean(axis=1)
    out[:, 15] = out[:, 12] + 0.083 * _directions(ears - out[:, 12])
    for side in range(2):
        toe = world[:, lm.LEFT_TOE + side] - world[:, lm.LEFT_ANKLE + side]
        out[:, 10 + side] = out[:, 7 + side] + 0.13 * _directions(toe)
    return out


def _directions(vectors: FloatArray) -> FloatArray:
    """Unit vectors; the y axis where a vector has no length."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    fallback = np.zeros_like(vectors)
    fallback[..., 1] = 1.0
    return np.where(length > 1e-6, vectors / np.maximum(length, 1e-6), fallback)


def _on_ground(
    body: BodyTrack,
    sure: Landmarks,
    camera: Camera,
    confidence: FloatArray,
    rate_hz: float,
    name: str,
) -> BodyTrack:
    """Set size and path so that the lowest foot point lies on the ground at its pixel."""
    points = place(body, slopes=False).points_m
    lowest = points[:, FOOT_POINTS, 1].argmin(axis=1)
    frames = np.arange(len(points))
    # balls have no landmark: the pixel of the toe is near enough
    pixels = sure.image_px[:, _SOLES][frames, lowest]
    under = camera.on_ground(pixels, 0.02)
    known = np.isfinite(under).all(axis=1)
    known &= confidence.max(axis=1) > 0.0
    if known.sum() < 3:
        raise DataError(
            f"{name}: feet are seen above the horizon of the ground points; are the points on the "
            "ground the person walks on?"
        )
    scale = _scale(points, sure, camera, under, lowest, known, confidence)
    body = BodyTrack(rotations=body.rotations, root_m=body.root_m, scale=scale)
    points = place(body, slopes=False).points_m
    foot = points[:, FOOT_POINTS][frames, lowest]
    path = under - foot
    for axis in range(3):
        path[:, axis] = np.interp(frames, frames[known], path[known, axis])
        width = 2 * round(0.1 * rate_hz) + 1
        path[:, axis] = median_filter(path[:, axis], size=width, mode="nearest")
        path[:, axis] = gaussian_filter1d(path[:, axis], 0.1 * rate_hz, mode="nearest")
    return BodyTrack(rotations=body.rotations, root_m=path, scale=scale)


def _scale(
    points: FloatArray,
    sure: Landmarks,
    camera: Camera,
    under: FloatArray,
    lowest: FloatArray,
    known: FloatArray,
    confidence: FloatArray,
) -> float:
    """Size at which the body above its foot has the observed height in the picture."""
    frames = np.flatnonzero(known)
    foot = points[:, FOOT_POINTS][np.arange(len(points)), lowest]
    body = points[:, :MARK_POINTS] - foot[:, None]
    sizes = np.linspace(*_SCALES, 43)
    misses = []
    for size in sizes:
        shown = camera.project(under[frames, None] + size * body[frames])
        apart = np.linalg.norm(shown - sure.image_px[frames][:, MARKS], axis=-1)
        weight = confidence[frames]
        misses.append(float((weight * apart).sum() / max(weight.sum(), 1e-9)))
    return float(sizes[int(np.argmin(misses))])


_ROUNDS: Final = (10, 10, 6)  # steps: on the lower foot, then twice on the feet that stand
_MIN_GAIN: Final = 1e-4  # relative gain below which a round ends
_MAX_DAMPING: Final = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoFit:
    """Result of the fit of one person.

    Attributes:
        motion: Motion in the camera's world: the ground at y = 0, metres as on the ground.
        image_miss_px: Median distance between fitted and observed landmarks.
        steps: Number of solver steps.
    """

    motion: Clip
    image_miss_px: float
    steps: int


def fit_person(
    landmarks: Landmarks,
    camera: Camera,
    *,
    rate_hz: float,
    name: str = "person",
    caption: str = "",
    source: str = "",
    licence: str = "",
) -> VideoFit:
    """Fit a body to landmarks that are ``1 / rate_hz`` seconds apart.

    The sum over all frames of these costs is minimised: errors in the picture and about the hips
    (both robust and weighted by confidence), accelerations, speed and height of standing feet,
    points below the ground, and unusual or sudden turns of joints.

    Raises:
        DataError: Too few frames, or the person is not on the visible ground.
    """
    if len(landmarks.times_s) < 3:
        raise DataError(f"{name}: seen in {len(landmarks.times_s)} frames; a fit needs at least 3")
    guess = first_guess(landmarks, camera, rate_hz=rate_hz, name=name)
    seen, body, weights = guess.seen, guess.body, guess.weights
    steps = 0
    for stage, rounds in enumerate(_ROUNDS):
        feet = stage > 0
        placed = place(body, slopes=False)
        standing = terms.anchored_share(placed, body)
        if feet:
            standing = np.maximum(standing, terms.standing_share(placed, seen, weights))
        body, taken = _solve(body, seen, camera, weights, standing, feet=feet, rounds=rounds)
        steps += taken
    miss = np.linalg.norm(
        camera.project(place(body, slopes=False).points_m[:, :MARK_POINTS]) - seen.image_px, axis=-1
    )
    known = seen.confidence > 0.3
    motion = Clip(
        name=name,
        rotations=continuous(body.rotations),
        root_m=body.root_m,
        rate_hz=rate_hz,
        body_scale=body.scale,
        caption=caption,
        source=source,
        licence=licence,
    )
    return VideoFit(
        motion=motion,
        image_miss_px=float(np.median(miss[known])) if known.any() else float("nan"),
        steps=steps,
    )


def _world_size(placed: Placed, seen: Seen) -> float:
    """Factor that scales the network's landmarks to the size of the body."""
    points = placed.points_m[:, :MARK_POINTS]
    middle = points[:, terms.HIP_POINTS].mean(axis=1, keepdims=True)
    weight = seen.confidence[..., None]
    over = float((weight * seen.world_m * (points - middle)).sum())
    under = float((weight * seen.world_m**2).sum())
    return min(max(over / under, 0.3), 3.0) if under > 0.0 else 1.0


def _solve(
    body: BodyTrack,
    seen: Seen,
    camera: Camera,
    weights: Weights,
    standing: FloatArray,
    *,
    feet: bool,
    rounds: int,
) -> tuple[BodyTrack, int]:
    """Minimise by Levenberg-Marquardt with the current robust weights."""
    damping = 1e-3
    placed = place(body)
    size = _world_size(placed, seen)
    low = terms.low_share(placed, weights)

    def cost(of: BodyTrack, at: Placed, into: NormalEquations | None) -> float:
        total = terms.image_term(at, seen, camera, weights, into)
        total += terms.world_term(at, seen, size, weights, into)
        total += terms.smooth_term(at, seen, weights, into)
        total += terms.ground_term(at, of, seen, standing, weights, into)
        if feet:
            total += terms.still_term(at, seen, low, weights, into)
        total += terms.pose_term(of, seen, into)
        return total + terms.size_term(of, seen, into)

    for taken in range(rounds):
        equations = NormalEquations(len(body.root_m))
        before = cost(body, placed, equations)
        better, damping = _step(body, equations, before, cost, damping)
        if better is None:
            return body, taken
        body, after = better
        placed = place(body)
        size = _world_size(placed, seen)
        if before - after < _MIN_GAIN * before:
            return body, taken + 1
    return body, rounds


def _step(
    body: BodyTrack,
    equations: NormalEquations,
    before: float,
    cost: Callable[[BodyTrack, Placed, NormalEquations | None], float],
    damping: float,
) -> tuple[tuple[BodyTrack, float] | None, float]:
    """Find a step that lowers the cost, or None; and the damping for the next step."""
    while damping < _MAX_DAMPING:
        try:
            moved = body.moved(*equations.solve(damping))
        except LinAlgError:
            damping *= 10.0
            continue
        if moved.scale > 0.2 and np.isfinite(moved.root_m).all():
            after = cost(moved, place(moved, slopes=False), None)
            if after < before:
                return (moved, after), max(damping * 0.2, 1e-7)
        damping *= 10.0
    return None, damping
