"""Ground and foot contacts of a motion, and foot locking.

The height and tilt of the ground are estimated from the feet. :func:`on_floor` moves a motion onto
the ground, :func:`contacts` finds the frames in which a foot stands, and :func:`lock_feet` holds
standing feet still and keeps soles out of the ground.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from jaywalk.core.arrays import BoolArray, FloatArray
from jaywalk.geometry.rotation import conjugate, multiply
from jaywalk.motion._legs import lead_legs, lowering_m
from jaywalk.motion.clip import Clip
from jaywalk.motion.smpl import (
    BALL_HEIGHT_M,
    LEFT_ANKLE,
    LEFT_BALL,
    LEFT_HIP,
    LEFT_KNEE,
    RIGHT_ANKLE,
    RIGHT_BALL,
    RIGHT_HIP,
    RIGHT_KNEE,
)

#: A foot stands if its ball is less than this far above a standing ball and below `max_speed`.
CONTACT_HEIGHT_M: Final = 0.033
CONTACT_SPEED_MPS: Final = 0.5
_SLOW_MPS: Final = 0.35
_FLOOR_PERCENTILE: Final = 25.0
_LARGEST_TILT: Final = 0.045  # metres per metre


def horizontal_speed_mps(points_m: FloatArray, rate_hz: float, up: int) -> FloatArray:
    """Speed over ground (frames, ...) of points (frames, ..., 3), by central differences."""
    flat = np.delete(points_m, up, axis=-1)
    return np.asarray(np.linalg.norm(np.gradient(flat, axis=0), axis=-1) * rate_hz)


def balls_m(motion: Clip) -> FloatArray:
    """Balls (frames, 2, 3) of the left and the right foot."""
    return np.asarray(motion.joints_m()[:, [LEFT_BALL, RIGHT_BALL]])


def _standing_points(balls: FloatArray, rate_hz: float) -> FloatArray:
    """Positions (points, 3) of the lower ball while it is nearly still."""
    foot = balls[..., 1].argmin(axis=1)
    frames = np.arange(len(balls))
    speed = horizontal_speed_mps(balls, rate_hz, 1)[frames, foot]
    return np.asarray(balls[frames, foot][speed < _SLOW_MPS])


def floor_height_m(balls: FloatArray, rate_hz: float, standing_ball_m: float) -> float:
    """Height of the ground: a low value among the heights of the lower ball while nearly still.

    With the lowest point of a clip, the noise of one frame would move the motion; with the first
    frame, a motion that begins in a crouch or a jump would be lifted.
    """
    points = _standing_points(balls, rate_hz)
    if len(points) < 5:
        return float(np.percentile(balls[..., 1].min(axis=1), 10.0)) - standing_ball_m
    return float(np.percentile(points[:, 1], _FLOOR_PERCENTILE)) - standing_ball_m


def floor_tilt(balls: FloatArray, rate_hz: float) -> FloatArray:
    """Rise (2,) of the ground per metre along x and z; zero unless the footfalls show it clearly.

    Some captures have a floor that is tilted by a degree, so that a person rises 10 cm over five
    metres. Stairs and ramps are steeper than ``_LARGEST_TILT`` and are kept.
    """
    points = _standing_points(balls, rate_hz)
    level = np.zeros(2)
    if len(points) < 10 or np.ptp(points[:, [0, 2]], axis=0).max() < 1.0:
        return level
    centred = points - points.mean(axis=0)
    # a small ridge term: footfalls on one line do not determine the tilt across it
    ground = centred[:, [0, 2]]
    normal = ground.T @ ground + 0.05 * len(points) * np.eye(2)
    slope = np.linalg.solve(normal, ground.T @ centred[:, 1])
    left = float((centred[:, 1] - ground @ slope).std())
    if np.linalg.norm(slope) > _LARGEST_TILT or left > 0.6 * float(centred[:, 1].std()):
        return level
    return np.asarray(slope)


def on_floor(motion: Clip) -> Clip:
    """Move the motion vertically so that the ground is at y = 0, and remove a slight tilt."""
    slope = floor_tilt(balls_m(motion), motion.rate_hz)
    if slope.any():
        rise = motion.root_m[:, [0, 2]] @ slope
        root = motion.root_m - np.stack([np.zeros_like(rise), rise, np.zeros_like(rise)], axis=1)
        motion = replace(motion, root_m=root)
    standing = motion.body_scale * BALL_HEIGHT_M
    height = floor_height_m(balls_m(motion), motion.rate_hz, standing)
    return replace(motion, root_m=motion.root_m - np.array([0.0, height, 0.0]))


def contacts(motion: Clip) -> BoolArray:
    """Mask (frames, 2) of standing balls of the feet: low, and slow compared with the pelvis."""
    balls = balls_m(motion)
    speed = horizontal_speed_mps(balls, motion.rate_hz, 1)
    pelvis = horizontal_speed_mps(motion.root_m, motion.rate_hz, 1)
    limit = np.maximum(CONTACT_SPEED_MPS, 0.35 * pelvis)[:, None]
    height = balls[..., 1] - motion.body_scale * BALL_HEIGHT_M
    return np.asarray((height < CONTACT_HEIGHT_M) & (speed < limit))


def runs_of(flags: BoolArray) -> list[tuple[int, int]]:
    """Start and end (exclusive) of each interval in which a flag is set."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


_HIPS: Final = [LEFT_HIP, RIGHT_HIP]
_KNEES: Final = [LEFT_KNEE, RIGHT_KNEE]
_ANKLES: Final = [LEFT_ANKLE, RIGHT_ANKLE]
_BALLS: Final = [LEFT_BALL, RIGHT_BALL]
_FLEXION: Final = np.array([1.0, 0.0, 0.0])
_SHORTEST_S: Final = 0.12  # shorter contacts are ignored
_WANDER_M: Final = 0.06  # a foot that moves further slides on purpose


@dataclass(frozen=True, slots=True, kw_only=True)
class FootLock:
    """Result of :func:`lock_feet`.

    Attributes:
        motion: The cleaned motion.
        moved_m: Largest horizontal displacement of a ball.
        locked: Number of contacts that were locked.
    """

    motion: Clip
    moved_m: float
    locked: int


def lock_feet(motion: Clip) -> FootLock:
    """Hold the ball of each standing foot at its mean position; inverse kinematics moves the legs.

    Between contacts the displacement fades from one lock to the next. The ground must be at y = 0
    (:func:`jaywalk.motion.foot_lock.on_floor`).
    """
    joints = motion.joints_m()
    balls = joints[:, _BALLS]
    standing = contacts(motion)
    offset = np.zeros_like(balls)
    locked = 0
    for side in range(2):
        runs = _lockable(balls[:, side], runs_of(standing[:, side]), motion.rate_hz)
        locked += len(runs)
        offset[:, side] = _offsets(balls[:, side], runs)
    lowest = motion.body_scale * BALL_HEIGHT_M
    offset[..., 1] = np.maximum(lowest - balls[..., 1], 0.0)
    return FootLock(
        motion=move_balls(motion, joints, offset),
        moved_m=float(np.linalg.norm(offset[..., [0, 2]], axis=-1).max()),
        locked=locked,
    )


def _lockable(
    ball: FloatArray, runs: list[tuple[int, int]], rate_hz: float
) -> list[tuple[int, int]]:
    shortest = max(2, round(_SHORTEST_S * rate_hz))
    kept = []
    for first, end in runs:
        place = ball[first:end, [0, 2]]
        wander = np.linalg.norm(place - place.mean(axis=0), axis=1).max()
        if end - first >= shortest and wander <= _WANDER_M:
            kept.append((first, end))
    return kept


def _offsets(ball: FloatArray, runs: list[tuple[int, int]]) -> FloatArray:
    """Displacement (frames, 3) that holds the ball in every run and fades between runs."""
    out = np.zeros_like(ball)
    if not runs:
        return out
    for first, end in runs:
        out[first:end] = ball[first:end].mean(axis=0) - ball[first:end]
    gaps = zip([(0, 0), *runs], [*runs, (len(ball), len(ball))], strict=True)
    for (_, before), (after, _) in gaps:
        if after <= before:
            continue
        start = out[before - 1] if before > 0 else np.zeros(3)
        stop = out[after] if after < len(ball) else np.zeros(3)
        share = np.arange(1, after - before + 1) / (after - before + 1)
        weight = (share * share * (3.0 - 2.0 * share))[:, None]
        out[before:after] = (1.0 - weight) * start + weight * stop
    out[:, 1] = 0.0
    return out


def move_balls(motion: Clip, joints: FloatArray, offset: FloatArray) -> Clip:
    """Move the balls of the feet by (frames, 2, 3), keeping the feet's orientation."""
    turned = motion.turned()
    offsets = motion.offsets_m()
    thighs = np.ascontiguousarray(turned[:, _HIPS])
    shanks = np.ascontiguousarray(turned[:, _KNEES])
    wanted = joints[:, _ANKLES] + offset - joints[:, _HIPS]
    legs = np.linalg.norm(offsets[_KNEES], axis=1) + np.linalg.norm(offsets[_ANKLES], axis=1)
    drop = lowering_m(wanted, legs, 1, motion.rate_hz)
    wanted[..., 1] += drop[:, None]
    lead_legs(thighs, shanks, offsets[_KNEES], offsets[_ANKLES], _FLEXION, wanted)
    rotations = motion.rotations.copy()
    rotations[:, _HIPS] = multiply(conjugate(turned[:, :1]), thighs)
    rotations[:, _KNEES] = multiply(conjugate(thighs), shanks)
    rotations[:, _ANKLES] = multiply(conjugate(shanks), turned[:, _ANKLES])
    root = motion.root_m.copy()
    root[:, 1] -= drop
    return motion.with_poses(rotations, root)
