"""Exact change of rate: at the wanted instants, not by taking every n-th frame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jaywalk.core.errors import UsageError
from jaywalk.motion.clip import Motion
from jaywalk.motion.quaternions import slerp
from jaywalk.motion.rotation import FloatArray


def resample(motion: Motion, rate_hz: float) -> Motion:
    """The motion at another rate, from its first frame to the last instant it covers.

    Taking every ``int(rate/20)``-th frame turns 100 Hz into 20 Hz but 30 Hz into 30 Hz; this does
    not. Rotations by slerp, path linearly: positions at common instants are kept exactly.
    """
    if not rate_hz > 0.0:
        raise UsageError(f"rate {rate_hz} Hz; expected a positive number")
    # the last frame may lie a rounding error before the wanted instant
    count = int(np.floor(motion.duration_s * rate_hz + 1e-6)) + 1
    frames = np.minimum(np.arange(count) * (motion.rate_hz / rate_hz), motion.frames - 1.0)
    before = np.minimum(frames.astype(np.int64), motion.frames - 2)
    share = frames - before
    near = np.rint(share)
    share = np.where(np.abs(share - near) < 1e-9, near, share)
    return replace(
        motion,
        rotations=_turns_at(motion.rotations, before, share),
        root_m=motion.root_m[before] * (1.0 - share[:, None])
        + motion.root_m[before + 1] * share[:, None],
        rate_hz=rate_hz,
    )


def _turns_at(rotations: FloatArray, before: np.ndarray, share: FloatArray) -> FloatArray:
    if not ((share > 0.0) & (share < 1.0)).any():
        return np.asarray(rotations[before + share.astype(np.int64)])
    return slerp(rotations[before], rotations[before + 1], share[:, None])
