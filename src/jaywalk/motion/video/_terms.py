"""Cost terms of the body fit; each returns its cost and adds its part to the normal equations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.rotation import conjugate, multiply, to_rotvec
from jaywalk.motion.smpl import BALL_HEIGHT_M
from jaywalk.motion.video._normal_equations import NormalEquations, chained_product
from jaywalk.motion.video.camera import (
    ACTIVE,
    BALL_POINTS,
    MARK_POINTS,
    POINTS,
    BodyTrack,
    Camera,
    Placed,
)
from jaywalk.motion.video.landmarks import LEFT_HEEL, LEFT_HIP, MARKS, RIGHT_HEEL, RIGHT_HIP

HIP_POINTS: Final = [int(np.flatnonzero(mark == MARKS)[0]) for mark in (LEFT_HIP, RIGHT_HIP)]
_HEELS: Final = [int(np.flatnonzero(mark == MARKS)[0]) for mark in (LEFT_HEEL, RIGHT_HEEL)]
#: Foot points: heels and balls, left and right, and their height on flat ground (scale 1).
FOOT_POINTS: Final = [*_HEELS, *BALL_POINTS]
FOOT_HEIGHTS_M: Final = np.array([0.019, 0.019, BALL_HEIGHT_M, BALL_HEIGHT_M])
#: Typical accelerations of the points (m/s2): feet and hands swing, the trunk does not.
_ACCELERATION: Final = np.array(
    [4.0, *(4.0, 4.0, 7.0, 12.0, 4.0, 10.0, 18.0, 18.0, 22.0) * 2, 4.0, 4.0, 18.0, 18.0]
)
# Typical rotation (rad) of each active joint about x, y, z; knees and elbows are hinges.
_WIDE, _TIGHT = 10.0, 0.08
_PRIOR: Final = np.array(
    [
        (_WIDE, _WIDE, _WIDE),
        (1.0, 0.35, 0.35),
        (1.0, 0.35, 0.35),
        (0.25, 0.2, 0.2),
        (1.5, _TIGHT, _TIGHT),
        (1.5, _TIGHT, _TIGHT),
        (0.4, 0.25, 0.2),
        (0.4, 0.25, 0.2),
        (0.25, 0.25, 0.2),
        (0.3, 0.5, 0.3),
        (0.3, 0.5, 0.3),
        (1.0, 1.0, 1.5),
        (1.0, 1.0, 1.5),
        (_TIGHT * 4, 1.5, _TIGHT * 2),
        (_TIGHT * 4, 1.5, _TIGHT * 2),
    ]
)
# Hinges do not bend backwards: index of the joint in ACTIVE, axis, and allowed sign.
_LIMITS: Final = ((4, 0, 1.0), (5, 0, 1.0), (13, 1, -1.0), (14, 1, 1.0))
_LIMIT_RAD: Final = 0.05
_ANCHOR: Final = 0.3  # confidence that the lowest foot point is on the ground
_TURN_RATE: Final = 4.0  # rad/s, of a joint


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Expected errors and limits of the terms, in the unit of each term."""

    image_px: float
    depth_m: float = 0.10
    sideways_m: float = 0.06
    smooth: float = 1.0
    foot_speed_mps: float = 0.10
    foot_speed_free_mps: float = 0.45
    foot_height_m: float = 0.012
    foot_height_free_m: float = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Landmarks in the form that the terms need.

    Attributes:
        image_px: (frames, MARK_POINTS, 2).
        world_m: (frames, MARK_POINTS, 3) relative to the hips, in world axes, in the size of the
            body up to the factor ``world_size``.
        facing: (frames, 3, 3) axes of the camera's ray (right, down, away) as columns.
        confidence: (frames, MARK_POINTS).
        rate_hz: Frames per second.
        scale_guess: Body size known in advance, and its uncertainty.
    """

    image_px: FloatArray
    world_m: FloatArray
    facing: FloatArray
    confidence: FloatArray
    rate_hz: float
    scale_guess: tuple[float, float]


def robust(squares: FloatArray, limit: float) -> tuple[FloatArray, FloatArray]:
    """Geman-McClure cost and weight of squared errors, in units of their typical size."""
    share = limit**2 / (limit**2 + squares)
    return squares * share, share * share


def lasting(squares: FloatArray, limit: float) -> tuple[FloatArray, FloatArray]:
    """Pseudo-Huber cost and weight: as :func:`robust`, but the cost grows without a limit."""
    root = np.sqrt(1.0 + squares / limit**2)
    return 2.0 * limit**2 * (root - 1.0), 1.0 / root


def image_term(
    placed: Placed, seen: Seen, camera: Camera, weights: Weights, into: NormalEquations | None
) -> float:
    """Cost of the image error: landmarks lie at their pixels in the picture."""
    points = placed.points_m[:, :MARK_POINTS]
    local = camera.to_camera(points)
    depth = np.maximum(local[..., 2], 0.3)
    flat = camera.focal_px * local[..., :2] / depth[..., None] + camera.centre_px
    miss = (flat - seen.image_px) / weights.image_px
    cost, weight = robust((miss * miss).sum(axis=-1), 4.0)
    cost, weight = seen.confidence * cost, seen.confidence * weight
    if into is not None:
        by_local = np.zeros((*points.shape[:2], 2, 3))
        by_local[..., 0, 0] = by_local[..., 1, 1] = camera.focal_px / depth
        by_local[..., :, 2] = -camera.focal_px * local[..., :2] / (depth**2)[..., None]
        root = (np.sqrt(weight) / weights.image_px)[..., None, None]
        by_point = root * (by_local @ camera.turn)
        _add_points(into, placed, by_point, np.sqrt(weight)[..., None] * miss)
    return float(cost.sum())


def _add_points(
    into: NormalEquations, placed: Placed, by_point: FloatArray, miss: FloatArray
) -> None:
    """Add a term of the landmarks' positions: (frames, points, rows, 3) slopes by position."""
    frames = len(miss)
    slopes = by_point @ placed.slopes[:, :MARK_POINTS]
    growth = (by_point @ placed.growth[:, :MARK_POINTS, :, None])[..., 0]
    into.add(
        slopes.reshape(frames, -1, slopes.shape[-1]),
        growth.reshape(frames, -1),
        miss.reshape(frames, -1),
    )


def world_term(
    placed: Placed, seen: Seen, size: float, weights: Weights, into: NormalEquations | None
) -> float:
    """Cost of the distance to the network's landmarks about the hips; depth has less weight."""
    middle = placed.points_m[:, HIP_POINTS].mean(axis=1, keepdims=True)
    usual = np.array([weights.sideways_m, weights.sideways_m, weights.depth_m])
    to_rows = (seen.facing / usual).transpose(0, 2, 1)[:, None]
    apart = placed.points_m[:, :MARK_POINTS] - middle - size * seen.world_m
    miss = (to_rows @ apart[..., None])[..., 0]
    cost, weight = robust((miss * miss).sum(axis=-1), 3.0)
    cost, weight = seen.confidence * cost, seen.confidence * weight
    if into is not None:
        relative = Placed(
            points_m=placed.points_m,
            slopes=placed.slopes - placed.slopes[:, HIP_POINTS].mean(axis=1, keepdims=True),
            growth=placed.growth - placed.growth[:, HIP_POINTS].mean(axis=1, keepdims=True),
        )
        root = np.sqrt(weight)[..., None]
        _add_points(into, relative, root[..., None] * to_rows, root * miss)
    return float(cost.sum())


def smooth_term(
    placed: Placed, seen: Seen, weights: Weights, into: NormalEquations | None
) -> float:
    """Cost of accelerations, compared with those typical of people."""
    frames = len(placed.points_m)
    if frames < 3:
        return 0.0
    per_point = (weights.smooth * seen.rate_hz**2 / _ACCELERATION) ** 2
    ones = np.ones((1, POINTS, 3)) * per_point[:, None]
    mixed = [diagonal[:, None, None] * ones for diagonal in _second_differences(frames)]
    force = chained_product(placed.points_m, mixed)
    if into is not None:
        into.add_chained(placed, list(range(POINTS)), mixed)
    return float((placed.points_m * force).sum())


def _second_differences(frames: int) -> list[FloatArray]:
    """Diagonals of the matrix of summed squared second differences."""
    own, next_one, next_two = np.zeros(frames), np.zeros(frames - 1), np.ones(frames - 2)
    for shift, weight in ((0, 1.0), (1, 4.0), (2, 1.0)):
        own[shift : frames - 2 + shift] += weight
    next_one[:-1] -= 2.0
    next_one[1:] -= 2.0
    return [own, next_one, next_two]


def still_term(
    placed: Placed, seen: Seen, low: FloatArray, weights: Weights, into: NormalEquations | None
) -> float:
    """Cost of the speed of foot points that are near the ground and hardly move."""
    speed = np.diff(placed.points_m[:, FOOT_POINTS], axis=0) * seen.rate_hz
    pair = np.minimum(low[1:], low[:-1])
    limit = weights.foot_speed_free_mps / weights.foot_speed_mps
    squares = (speed**2).sum(axis=-1) / weights.foot_speed_mps**2
    cost, weight = robust(squares, limit)
    if into is not None:
        per_pair = pair * weight * (seen.rate_hz / weights.foot_speed_mps) ** 2
        into.add_chained(placed, FOOT_POINTS, _differences(per_pair))
    return float((pair * cost).sum())


def _differences(per_pair: FloatArray) -> list[FloatArray]:
    """Entries of the matrix of weighted squared differences of neighbouring frames."""
    frames = len(per_pair) + 1
    own = np.zeros((frames, per_pair.shape[1]))
    own[:-1] += per_pair
    own[1:] += per_pair
    three = np.ones(3)
    return [own[..., None] * three, -per_pair[..., None] * three]


def low_share(placed: Placed, weights: Weights) -> FloatArray:
    """Nearness (frames, 4) of each foot point to the ground; 1 on the ground."""
    heights_m = placed.points_m[:, FOOT_POINTS, 1]
    high = np.maximum(heights_m - FOOT_HEIGHTS_M, 0.0) / weights.foot_height_free_m
    return np.asarray(1.0 / (1.0 + high**2) ** 2)


def ground_term(
    placed: Placed,
    body: BodyTrack,
    seen: Seen,
    standing: FloatArray,
    weights: Weights,
    into: NormalEquations | None,
) -> float:
    """Cost of the height error of standing foot points and of points below the ground."""
    miss_m = placed.points_m[:, FOOT_POINTS, 1] - body.scale * FOOT_HEIGHTS_M
    below = miss_m < 0.0
    squares = (miss_m / weights.foot_height_m) ** 2
    free = weights.foot_height_free_m / weights.foot_height_m
    # The cost grows without a limit: a body can shrink and float towards the camera along its rays
    # without a change in the picture, and only this term prevents that.
    cost, weight = lasting(squares, free)
    # points below the ground always keep their full weight
    cost = np.where(below, squares, standing * cost)
    weight = np.where(below, 1.0, standing * weight)
    if into is not None:
        root = np.sqrt(weight) / weights.foot_height_m
        slopes = root[..., None] * placed.slopes[:, FOOT_POINTS, 1]
        growth = root * (placed.growth[:, FOOT_POINTS, 1] - FOOT_HEIGHTS_M)
        into.add(slopes, growth, root * miss_m)
    return float(cost.sum())


def anchored_share(placed: Placed, body: BodyTrack) -> FloatArray:
    """Confidence (frames, 4) that a foot point is on the ground as the lowest of its frame."""
    heights = placed.points_m[:, FOOT_POINTS, 1] - body.scale * FOOT_HEIGHTS_M
    above = heights - heights.min(axis=1, keepdims=True)
    return np.asarray(_ANCHOR * np.exp(-((above / 0.03) ** 2)))


def standing_share(placed: Placed, seen: Seen, weights: Weights) -> FloatArray:
    """Confidence (frames, 4) that each foot point stands, from its speed and height."""
    feet = placed.points_m[:, FOOT_POINTS]
    speed = np.linalg.norm(np.gradient(feet, axis=0), axis=-1) * seen.rate_hz
    still = 1.0 / (1.0 + (speed / weights.foot_speed_free_mps) ** 2) ** 2
    return np.asarray(still * low_share(placed, weights))


def pose_term(body: BodyTrack, seen: Seen, into: NormalEquations | None) -> float:
    """Cost of untypical joint angles, of hinges off their axis, and of sudden turns."""
    local = body.rotations[:, ACTIVE]
    turns = to_rotvec(local)
    frames = len(turns)
    root = np.broadcast_to(0.3 / _PRIOR, turns.shape).copy()
    for where, axis, sign in _LIMITS:
        bent = sign * turns[:, where, axis] < 0.0
        root[:, where, axis] = np.hypot(root[:, where, axis], bent / _LIMIT_RAD)
    miss = root * turns
    cost = float((miss * miss).sum())
    steps = to_rotvec(multiply(conjugate(local[:-1]), local[1:]))
    rate = 0.5 * seen.rate_hz / _TURN_RATE
    rate /= np.sqrt(seen.rate_hz / 20.0)
    cost += float(((rate * steps) ** 2).sum())
    if into is not None:
        diagonal = np.arange(3, into.pull.shape[1])
        flat_root, flat_miss = root.reshape(frames, -1), miss.reshape(frames, -1)
        into.blocks[0][:, diagonal, diagonal] += flat_root**2
        into.pull[:, 3:] += flat_root * flat_miss
        flat_steps = rate**2 * steps.reshape(frames - 1, -1)
        into.pull[1:, 3:] += flat_steps
        into.pull[:-1, 3:] -= flat_steps
        into.blocks[0][1:, diagonal, diagonal] += rate**2
        into.blocks[0][:-1, diagonal, diagonal] += rate**2
        into.blocks[1][:, diagonal, diagonal] -= rate**2
    return cost


def size_term(body: BodyTrack, seen: Seen, into: NormalEquations | None) -> float:
    """Cost of a body size that differs from the expected size."""
    guess, trust = seen.scale_guess
    miss = (body.scale - guess) / trust
    if into is not None:
        into.corner += 1.0 / trust**2
        into.corner_pull += miss / trust
    return miss * miss
