"""Landmarks of one person over time, in MediaPipe's order, and where they lie on the SMPL body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import DataError
from jaywalk.motion.rotation import FloatArray
from jaywalk.motion.smpl import BODY_OFFSETS_M

LANDMARK_COUNT: Final = 33
(
    NOSE, LEFT_EAR, RIGHT_EAR, LEFT_SHOULDER, RIGHT_SHOULDER, LEFT_ELBOW, RIGHT_ELBOW, LEFT_WRIST,
    RIGHT_WRIST, LEFT_HIP, RIGHT_HIP, LEFT_KNEE, RIGHT_KNEE, LEFT_ANKLE, RIGHT_ANKLE, LEFT_HEEL,
    RIGHT_HEEL, LEFT_TOE, RIGHT_TOE,
) = (0, 7, 8, 11, 12, 13, 14, 15, 16, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32)  # fmt: skip

_HIP_SIDE_M: Final = 0.02  # MediaPipe's hips lie further apart than SMPL's
_LEFT_POINTS: Final = (
    (LEFT_EAR, 15, (0.07, 0.06, 0.0)),
    (LEFT_SHOULDER, 16, (0.0, 0.0, 0.0)),
    (LEFT_ELBOW, 18, (0.0, 0.0, 0.0)),
    (LEFT_WRIST, 20, (0.0, 0.0, 0.0)),
    (LEFT_HIP, 0, tuple(BODY_OFFSETS_M[1] + np.array([_HIP_SIDE_M, 0.0, 0.0]))),
    (LEFT_KNEE, 4, (0.0, 0.0, 0.0)),
    (LEFT_ANKLE, 7, (0.0, 0.0, 0.0)),
    (LEFT_HEEL, 7, (0.0, -0.05, -0.05)),
    (LEFT_TOE, 7, (0.03, -0.055, 0.165)),
)
#: Landmarks that are used: landmark, joint it moves with, place beside the joint at rest (scale 1).
BODY_LANDMARKS: Final = (
    (NOSE, 15, (0.0, 0.045, 0.115)),
    *_LEFT_POINTS,
    *(
        (mark + 1, joint + (joint != 0 and joint != 15), (-x, y, z))
        for mark, joint, (x, y, z) in _LEFT_POINTS
    ),
)
MARKS: Final[NDArray[np.int64]] = np.array([mark for mark, _, _ in BODY_LANDMARKS])
MARK_JOINTS: Final[NDArray[np.int64]] = np.array([joint for _, joint, _ in BODY_LANDMARKS])
MARK_OFFSETS_M: Final[FloatArray] = np.array([offset for _, _, offset in BODY_LANDMARKS])

_LONGEST_GAP_S: Final = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Landmarks:
    """What was seen of one person.

    Attributes:
        times_s: (frames,) increasing.
        image_px: (frames, 33, 2) pixels of the whole picture.
        world_m: (frames, 33, 3) about the middle of the hips, x right, y down, z away from the
            camera, in metres of some person: the size is not to be trusted.
        confidence: (frames, 33) 0 to 1; a landmark with 0 may have any place.
    """

    times_s: FloatArray
    image_px: FloatArray
    world_m: FloatArray
    confidence: FloatArray

    def __post_init__(self) -> None:
        frames = len(self.times_s)
        shapes = (self.image_px.shape, self.world_m.shape, self.confidence.shape)
        wanted = tuple((frames, LANDMARK_COUNT, *tail) for tail in ((2,), (3,), ()))
        if shapes != wanted:
            raise DataError(f"landmarks have shapes {shapes}; expected {wanted}")
        if not (np.diff(self.times_s) > 0.0).all() or not np.isfinite(self.times_s).all():
            raise DataError("times of landmarks do not increase")
        if not np.isfinite(self.confidence).all():
            raise DataError("confidences of landmarks are not finite")
        seen = self.confidence > 0.0
        if not (np.isfinite(self.image_px[seen]).all() and np.isfinite(self.world_m[seen]).all()):
            raise DataError("landmarks with some confidence are not finite; give those 0")

    @property
    def duration_s(self) -> float:
        """Time from the first to the last frame."""
        return float(self.times_s[-1] - self.times_s[0]) if len(self.times_s) else 0.0


def at_even_times(seen: Landmarks, rate_hz: float) -> Landmarks:
    """Landmarks at a constant rate, whatever the rate of the clip.

    Between two frames places are interpolated; across gaps longer than a quarter of a second the
    confidence is 0, and the fit bridges them by its smoothness.
    """
    count = int(np.floor(seen.duration_s * rate_hz + 1e-6)) + 1
    times = seen.times_s[0] + np.arange(count) / rate_hz
    before = np.clip(np.searchsorted(seen.times_s, times + 1e-9) - 1, 0, len(seen.times_s) - 1)
    after = np.minimum(before + 1, len(seen.times_s) - 1)
    gap = seen.times_s[after] - seen.times_s[before]
    share = np.where(gap > 0.0, (times - seen.times_s[before]) / np.where(gap > 0.0, gap, 1.0), 0.0)
    share = np.clip(np.where(np.abs(share) < 1e-6, 0.0, share), 0.0, 1.0)
    a, b = seen.confidence[before], seen.confidence[after]
    part = np.broadcast_to(share[:, None], a.shape)
    # where only one neighbour is known, its place is taken, at half the confidence
    part = np.where((a > 0.0) & (b <= 0.0), 0.0, np.where((b > 0.0) & (a <= 0.0), 1.0, part))
    sure = np.where(share[:, None] > 0.0, np.minimum(a, b) + 0.5 * np.abs(a - b) * (a * b <= 0), a)
    sure = np.where(((gap > _LONGEST_GAP_S) & (share > 0.0))[:, None], 0.0, sure)

    def between(values: FloatArray) -> FloatArray:
        known = np.where((seen.confidence > 0.0)[..., None], values, 0.0)
        return np.asarray(known[before] * (1.0 - part[..., None]) + known[after] * part[..., None])

    return Landmarks(
        times_s=times,
        image_px=between(seen.image_px),
        world_m=between(seen.world_m),
        confidence=np.asarray(sure),
    )
