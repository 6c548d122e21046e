"""One gait cycle as a Fourier series of every channel, and its mirror twin.

Channels: 22 joints x 3 (rotation vector about the joint's mean), pelvis height, lateral and
forward velocity times the cycle's duration, contact of the left and the right ball.
Phase 0 is a strike of the left foot, 0.5 the strike of the right one.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from jaywalk.motion.kinematics import IntArray
from jaywalk.motion.rotation import FloatArray
from jaywalk.motion.smpl import JOINT_COUNT, MIRRORED

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
