"""Gait cycles of captures as Fourier series by phase, and their mirror images.

A cycle lasts from one strike of the left foot to the next.

Channels: 22 joints x 3 (rotation vector about the joint's mean), pelvis height, lateral and
forward velocity times the cycle's duration, contact of the left and the right ball.
Phase 0 is a strike of the left foot, 0.5 the strike of the right one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.signal import find_peaks

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.geometry.rotation import angle_between_rad, conjugate, multiply, rotate, slerp
from jaywalk.motion.clip import Clip
from jaywalk.motion.foot_lock import horizontal_speed_mps
from jaywalk.motion.heading import yaw_matrix_2d, yaw_quaternion
from jaywalk.motion.smpl import (
    JOINT_COUNT,
    LEFT_ANKLE,
    LEFT_BALL,
    MIRRORED,
    RIGHT_ANKLE,
    RIGHT_BALL,
)

HARMONICS: Final = 5
TERMS: Final = 1 + 2 * HARMONICS
SAMPLES: Final = 64
ANGLES: Final = 3 * JOINT_COUNT
HEIGHT, LATERAL, FORWARD, LEFT_CONTACT, RIGHT_CONTACT = range(ANGLES, ANGLES + 5)
CHANNELS: Final = ANGLES + 5


def _twin_map() -> tuple[IntArray, FloatArray]:
    """Channel each channel of the twin is taken from, and its sign."""
    source = np.arange(CHANNELS)
    sign = np.ones(CHANNELS)
    for joint in range(JOINT_COUNT):
        source[3 * joint : 3 * joint + 3] = 3 * MIRRORED[joint] + np.arange(3)
        sign[3 * joint + 1 : 3 * joint + 3] = -1.0
    sign[LATERAL] = -1.0
    source[[LEFT_CONTACT, RIGHT_CONTACT]] = [RIGHT_CONTACT, LEFT_CONTACT]
    return source.astype(np.int64), sign


TWIN_SOURCE, TWIN_SIGN = _twin_map()
#: Half a cycle later every odd harmonic has changed its sign.
_HALF_SHIFT: Final = np.array([1.0, *((-1.0) ** ((k + 1) // 2) for k in range(1, TERMS))])


def waves(phase: FloatArray) -> FloatArray:
    """(n, 11) values of 1, cos, sin, cos 2, sin 2, ... at phases in cycles."""
    angle = 2.0 * np.pi * np.asarray(phase)[:, None] * np.arange(1, HARMONICS + 1)
    out = np.ones((len(phase), TERMS))
    out[:, 1::2], out[:, 2::2] = np.cos(angle), np.sin(angle)
    return out


def fit(samples: FloatArray) -> FloatArray:
    """(64, channels) equidistant samples of one cycle to (11, channels) terms."""
    base = waves(np.arange(SAMPLES) / SAMPLES)
    scale = np.full(TERMS, 2.0 / SAMPLES)
    scale[0] = 1.0 / SAMPLES
    return np.asarray(scale[:, None] * (base.T @ samples))


def twin(terms: FloatArray) -> FloatArray:
    """Mirror image of (..., 11, channels), shifted by half a cycle: a left strike comes first."""
    mirrored = terms[..., TWIN_SOURCE] * TWIN_SIGN
    return np.asarray(mirrored * _HALF_SHIFT[:, None])


def evaluate(terms: FloatArray, phase: FloatArray) -> FloatArray:
    """(n, 11, channels) terms of every moment at (n,) phases to (n, channels)."""
    return np.asarray(np.einsum("tk,tkc->tc", waves(phase), terms))


_LEFT: Final = np.array([1.0, 0.0, 0.0])
_CONTACT_HEIGHT_M: Final = 0.05
_CONTACT_SPEED_MPS: Final = 0.5
_LARGEST_MISMATCH_DEG: Final = 22.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """One cycle of walking or running.

    Attributes:
        sequence: Where it was cut from.
        rotations: (65, 22, 4) joints by phase, ends included; the pelvis relative to the heading.
        plain: (65, 5) height, lateral and forward velocity (m/s), contacts.
        period_s: Duration.
        right_share: Share of the duration before the right strike.
        turn_rad: Change of heading over the cycle, positive to the left.
        speed_mps: Mean forward speed.
    """

    sequence: str
    rotations: FloatArray
    plain: FloatArray
    period_s: float
    right_share: float
    turn_rad: float
    speed_mps: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Track:
    """A capture expressed in the frame of its heading."""

    motion: Clip
    yaw_rad: FloatArray
    velocity_mps: FloatArray
    contact: FloatArray
    left_strikes: IntArray
    right_strikes: IntArray


def pelvis_yaw_rad(motion: Clip) -> FloatArray:
    """(frames,) continuous yaw of the pelvis' left axis."""
    left = rotate(motion.rotations[:, 0], _LEFT)
    return np.asarray(np.unwrap(np.arctan2(-left[:, 2], left[:, 0])))


def ball_contacts(motion: Clip, joints: FloatArray) -> FloatArray:
    """(frames, 2) how much each ball stands, 0 to 1."""
    balls = joints[:, [LEFT_BALL, RIGHT_BALL]]
    pelvis = horizontal_speed_mps(motion.root_m, motion.rate_hz, 1)
    limit = np.maximum(_CONTACT_SPEED_MPS, 0.35 * pelvis)[:, None]
    slow = horizontal_speed_mps(balls, motion.rate_hz, 1) < limit
    standing = (slow & (balls[..., 1] < _CONTACT_HEIGHT_M)).astype(np.float64)
    return np.asarray(gaussian_filter1d(standing, 1.0, axis=0, mode="nearest"))


def _strikes(motion: Clip, joints: FloatArray, yaw: FloatArray) -> tuple[IntArray, IntArray]:
    """Frames at which each ankle is furthest ahead of the pelvis (Zeni et al. 2008)."""
    cycles = []
    for ankle in (LEFT_ANKLE, RIGHT_ANKLE):
        flat = joints[:, ankle][:, [0, 2]] - motion.root_m[:, [0, 2]]
        ahead = np.einsum("tji,tj->ti", yaw_matrix_2d(yaw), flat)[:, 1]
        ahead = gaussian_filter1d(ahead, 2.0, mode="nearest")
        distance = max(1, round(0.3 * motion.rate_hz))
        cycles.append(find_peaks(ahead, distance=distance, prominence=0.10)[0])
    return cycles[0], cycles[1]


def _track(motion: Clip) -> _Track:
    joints = motion.joints_m()
    raw = pelvis_yaw_rad(motion)
    yaw = gaussian_filter1d(raw, 0.5 * motion.rate_hz, mode="nearest")
    left, right = _strikes(motion, joints, yaw)
    if len(left) > 1:  # low-pass with half a cycle of this person
        half = float(np.clip(0.5 * np.median(np.diff(left)), 15.0, 60.0))
        yaw = gaussian_filter1d(raw, half, mode="nearest")
        left, right = _strikes(motion, joints, yaw)
    steps = np.gradient(motion.root_m[:, [0, 2]], axis=0) * motion.rate_hz
    return _Track(
        motion=motion,
        yaw_rad=yaw,
        velocity_mps=np.einsum("tji,tj->ti", yaw_matrix_2d(yaw), steps),
        contact=ball_contacts(motion, joints),
        left_strikes=left,
        right_strikes=right,
    )


def find_cycles(motion: Clip) -> list[Cycle]:
    """Every usable cycle of a capture."""
    track = _track(motion)
    cycles = []
    pairs = zip(track.left_strikes[:-1].tolist(), track.left_strikes[1:].tolist(), strict=True)
    for first, last in pairs:
        between = track.right_strikes[
            (track.right_strikes > first) & (track.right_strikes < last)
        ].tolist()
        if len(between) == 1:
            cycle = _cycle(track, first, between[0], last)
            if cycle is not None:
                cycles.append(cycle)
    return cycles


def _cycle(track: _Track, first: int, right: int, last: int) -> Cycle | None:
    motion = track.motion
    period = (last - first) / motion.rate_hz
    share = (right - first) / (last - first)
    lateral, forward = track.velocity_mps[first:last].mean(axis=0)
    walks = forward > 0.2 and abs(lateral) < 0.5 * forward + 0.05
    if not (0.5 < period < 2.6 and 0.3 <= share <= 0.7 and walks):
        return None
    if track.contact[first:last].mean() <= 0.1:
        return None
    phase = np.arange(SAMPLES + 1) / SAMPLES
    frame = np.interp(phase, [0.0, 0.5, 1.0], [first, right, last])
    rotations = _rotations_at(motion, track.yaw_rad, frame)
    mismatch = np.rad2deg(angle_between_rad(rotations[0], rotations[-1]).mean())
    if mismatch >= _LARGEST_MISMATCH_DEG:
        return None
    rows = [motion.root_m[:, 1], *track.velocity_mps.T, *track.contact.T]
    grid = np.arange(motion.frames)
    return Cycle(
        sequence=motion.name,
        rotations=rotations,
        plain=np.stack([np.interp(frame, grid, row) for row in rows], axis=1),
        period_s=period,
        right_share=share,
        turn_rad=float(track.yaw_rad[last] - track.yaw_rad[first]),
        speed_mps=float(forward),
    )


def _rotations_at(motion: Clip, yaw_rad: FloatArray, frame: FloatArray) -> FloatArray:
    """(n, 22, 4) joints at fractional frames, the pelvis relative to the heading."""
    before = np.minimum(frame.astype(np.int64), motion.frames - 2)
    share = (frame - before)[:, None]
    out = slerp(motion.rotations[before], motion.rotations[before + 1], share)
    yaw = np.interp(frame, np.arange(motion.frames), yaw_rad)
    out[:, 0] = multiply(conjugate(yaw_quaternion(yaw)), out[:, 0])
    return out
