"""Model of standing people: postures, sway and movements of the hands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from jaywalk.core.arrays import FloatArray
from jaywalk.motion.synthesis._cycles import TWIN_SIGN, TWIN_SOURCE
from jaywalk.motion.synthesis._draws import Draws
from jaywalk.motion.synthesis._standing import GESTURE_TERMS, cosine_curve

_NEIGHBOURS: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class StandModel:
    """Postures and movements of standing people.

    Attributes:
        posture_mean: (67,) mean angles and pelvis height.
        posture_axes: (dims, 67) principal axes.
        postures: (n, dims) codes.
        neutral: (n,) which of them are plain standing.
        move_axes: (m, 66) axes of movement.
        quiet_log: (2, m) mean and spread of the logarithm of how far quiet people move on them.
        gesture_axes: (g, 16 x m) axes of gestures (cosine series).
        gestures: (k, g) codes of gestures.
        gesture_s: (k,) their durations.
    """

    posture_mean: FloatArray
    posture_axes: FloatArray
    postures: FloatArray
    neutral: NDArray[np.bool_]
    move_axes: FloatArray
    quiet_log: FloatArray
    gesture_axes: FloatArray
    gestures: FloatArray
    gesture_s: FloatArray


def mirrored_posture(posture: FloatArray) -> FloatArray:
    """Mirror image of (..., 67) postures or (..., 66) movements."""
    count = posture.shape[-1]
    return np.asarray(posture[..., TWIN_SOURCE[:count]] * TWIN_SIGN[:count])


def draw_posture(model: StandModel, draws: Draws, *, neutral: bool) -> FloatArray:
    """(67,) a posture between two neighbours, perhaps mirrored."""
    codes = model.postures[model.neutral] if neutral else model.postures[~model.neutral]
    first = draws.pick(np.ones(len(codes)))
    distance = np.linalg.norm(codes - codes[first], axis=1)
    near = np.argsort(distance, kind="stable")[1 : 1 + _NEIGHBOURS]
    other = codes[near[draws.pick(np.ones(len(near)))]]
    code = codes[first] + draws.uniform(0.0, 0.6 if neutral else 0.35) * (other - codes[first])
    posture = model.posture_mean + code @ model.posture_axes
    return mirrored_posture(posture) if draws.chance(0.5) else np.asarray(posture)


def draw_sway_spread(model: StandModel, draws: Draws) -> FloatArray:
    """(m,) how far one person moves on each axis while standing quietly."""
    mean, spread = model.quiet_log
    # one common part: restless people are restless all over
    common, own = draws.normal(), draws.normals(len(mean))
    return np.asarray(np.exp(np.clip(mean + spread * (0.6 * common + 0.6 * own), -9.0, -1.5)))


def draw_gesture(model: StandModel, draws: Draws, rate_hz: float) -> FloatArray:
    """(frames, 66) a movement of trunk, head and arms that begins and ends at rest.

    A mixture of two gestures' codes, with another tempo and size, perhaps mirrored.
    """
    count = len(model.gestures)
    first = draws.pick(np.ones(count))
    distance = np.linalg.norm(model.gestures - model.gestures[first], axis=1)
    near = np.argsort(distance, kind="stable")[1 : 1 + _NEIGHBOURS]
    second = near[draws.pick(np.ones(len(near)))]
    share = draws.uniform(0.0, 0.5)
    code = (1.0 - share) * model.gestures[first] + share * model.gestures[second]
    code = code / np.hypot(1.0 - share, share) ** 0.35
    seconds = model.gesture_s[first] * draws.uniform(0.85, 1.25)
    frames = max(8, round(seconds * rate_hz))
    terms = (code @ model.gesture_axes).reshape(GESTURE_TERMS, -1)
    curve = cosine_curve(terms, frames) @ model.move_axes
    curve *= draws.uniform(0.75, 1.15) * _fades(frames, rate_hz)[:, None]
    return mirrored_posture(curve) if draws.chance(0.5) else np.asarray(curve)


def _fades(frames: int, rate_hz: float) -> FloatArray:
    """(frames,) rises from 0 and falls back to it within 0.45 s at either end."""
    edge = min(0.45 * rate_hz, 0.45 * frames)
    place = np.minimum(np.arange(frames), np.arange(frames)[::-1]) / edge
    share = np.clip(place, 0.0, 1.0)
    return np.asarray(share * share * (3.0 - 2.0 * share))


def quiet_movement(
    model: StandModel, spread: FloatArray, frames: int, rate_hz: float, draws: Draws
) -> FloatArray:
    """(frames, 66) movement of a standing person: slow and quick noise on every axis."""
    out = np.zeros((frames, len(spread)))
    for share, scale_s in ((0.6, 0.2), (0.8, 0.8)):
        out += share * smooth_noise(frames, len(spread), scale_s * rate_hz, draws)
    return np.asarray((out * spread) @ model.move_axes)


def smooth_noise(frames: int, columns: int, scale: float, draws: Draws) -> FloatArray:
    """(frames, columns) unit noise that changes over ``scale`` frames (Gaussian low pass)."""
    # drawn coarsely and interpolated: white noise at 60 Hz would mostly be filtered away
    step = max(1, int(scale / 3.0))
    pad = int(4.0 * scale / step) + 2
    count = frames // step + 2 + 2 * pad
    white = draws.normals(count * columns).reshape(count, columns)
    narrow = scale / step
    smooth = gaussian_filter1d(white, narrow, axis=0, mode="nearest")
    smooth *= np.sqrt(2.0 * np.sqrt(np.pi) * narrow)
    place = np.arange(frames) / step + pad
    before = place.astype(np.int64)
    share = (place - before)[:, None]
    share = share * share * (3.0 - 2.0 * share)
    return np.asarray((1.0 - share) * smooth[before] + share * smooth[before + 1])
