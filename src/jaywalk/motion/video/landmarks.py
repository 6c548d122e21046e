"""Data of a video: frames with times, boxes around people, and landmarks over time.

A sighting holds the output of a pose network for one person in one picture. Landmarks hold those of
one person over time, in MediaPipe's order, with their positions on the SMPL body.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError
from jaywalk.core.files import open_file
from jaywalk.motion.smpl import BODY_OFFSETS_M

Picture = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoFrame:
    """Upright RGB picture (height, width, 3) and its time from the beginning of the video."""

    time_s: float
    picture: Picture


def read_frames(path: Path, *, rate_hz: float | None = None) -> Iterator[VideoFrame]:
    """Read the frames of a video in order, each with its time; the rate need not be constant.

    A truncated video is read up to its end.

    Args:
        path: The file.
        rate_hz: True rate, if the times in the file are wrong (a sequence of stills, slow motion).

    Raises:
        DataError: The file is not a video, has no picture, or has pictures of different sizes.
    """
    import av  # slow to import

    try:
        open_file(path, "a video", 2**40).close()
        container = av.open(str(path))
    except (av.error.FFmpegError, OSError) as problem:
        raise DataError(f"{path}: cannot be opened as a video ({problem})") from problem
    with container:
        if not container.streams.video:
            raise DataError(f"{path}: has no video stream")
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        rate = float(stream.average_rate or stream.guessed_rate or 25.0)
        first, last, shape, index = None, -1.0, None, -1
        for picture in _decoded(container):
            index += 1
            own = rate_hz is None and picture.time is not None
            time = picture.time if own else index / (rate_hz or rate)
            first = time if first is None else first
            if time - first <= last:  # duplicate frames add nothing
                continue
            last = time - first
            image = upright(picture)
            shape = shape or image.shape
            if image.shape != shape:
                raise DataError(f"{path}: the picture changes its size at {last:.2f} s")
            yield VideoFrame(time_s=last, picture=image)
        if shape is None:
            raise DataError(f"{path}: no frame could be decoded; is the file cut short?")


def _decoded(container: Any) -> Iterator[Any]:
    import av

    try:
        yield from container.decode(video=0)
    except (av.error.FFmpegError, EOFError):
        return  # truncated: the frames before are valid


def upright(picture: Any) -> Picture:
    """Rotate a picture upright; phones store it sideways with its rotation as metadata."""
    image = picture.to_ndarray(format="rgb24")
    quarters = round(getattr(picture, "rotation", 0) / 90.0) % 4
    return np.ascontiguousarray(np.rot90(image, quarters) if quarters else image)


LANDMARK_COUNT: Final = 33
(
    NOSE,
    LEFT_EAR,
    RIGHT_EAR,
    LEFT_SHOULDER,
    RIGHT_SHOULDER,
    LEFT_ELBOW,
    RIGHT_ELBOW,
    LEFT_WRIST,
    RIGHT_WRIST,
    LEFT_HIP,
    RIGHT_HIP,
    LEFT_KNEE,
    RIGHT_KNEE,
    LEFT_ANKLE,
    RIGHT_ANKLE,
    LEFT_HEEL,
    RIGHT_HEEL,
    LEFT_TOE,
    RIGHT_TOE,
) = (0, 7, 8, 11, 12, 13, 14, 15, 16, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32)

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
#: Landmarks in use: landmark, its joint, and its offset from the joint at rest (scale 1).
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
    """Landmarks of one person over time.

    Attributes:
        times_s: (frames,) increasing.
        image_px: (frames, 33, 2) pixels of the whole picture.
        world_m: (frames, 33, 3) relative to the centre of the hips, x right, y down, z away from
            the camera, in metres; the scale is not reliable.
        confidence: (frames, 33) 0 to 1; a landmark with 0 may have any position.
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
    """Resample landmarks to a constant rate, for any rate of the video.

    Positions are interpolated between frames. Across gaps longer than a quarter of a second the
    confidence is 0, and the smoothness of the fit bridges the gap.
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
    # if only one neighbour is known, its position is taken, with half the confidence
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """Width in pixels."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Height in pixels."""
        return self.bottom - self.top

    @property
    def area(self) -> float:
        """Area in square pixels."""
        return max(self.width, 0.0) * max(self.height, 0.0)

    def shared(self, other: Box) -> float:
        """Common area divided by the area of the smaller box."""
        common = Box(
            left=max(self.left, other.left),
            top=max(self.top, other.top),
            right=min(self.right, other.right),
            bottom=min(self.bottom, other.bottom),
        )
        if common.width <= 0.0 or common.height <= 0.0:
            return 0.0
        return common.area / max(min(self.area, other.area), 1e-9)

    def moved(self, right_px: float, down_px: float) -> Box:
        """Return the box shifted by an offset."""
        return Box(
            left=self.left + right_px,
            top=self.top + down_px,
            right=self.right + right_px,
            bottom=self.bottom + down_px,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """Landmarks of one person: (33, 2) pixels of the picture, (33, 3) metres, (33,) confidence."""

    image_px: FloatArray
    world_m: FloatArray
    confidence: FloatArray

    @property
    def box(self) -> Box:
        """Box around the landmarks in use."""
        low, high = self.image_px[MARKS].min(axis=0), self.image_px[MARKS].max(axis=0)
        return Box(left=low[0], top=low[1], right=high[0], bottom=high[1])

    @property
    def sureness(self) -> float:
        """Mean confidence of the landmarks in use."""
        return float(self.confidence[MARKS].mean())

    def apart_px(self, other: Sighting) -> float:
        """Median distance of the landmarks of two sightings."""
        return float(
            np.median(np.linalg.norm(self.image_px[MARKS] - other.image_px[MARKS], axis=1))
        )


class PoseSource(Protocol):
    """Detector of people, such as MediaPipe's (:mod:`jaywalk.motion.video.mediapipe_pose`)."""

    def learn(self, pictures: list[Picture]) -> None:
        """Learn the static background from pictures of the whole video."""

    def propose(self, picture: Picture, *, thorough: bool) -> list[Box]:
        """Return boxes that may contain a person."""

    def look(self, picture: Picture, box: Box) -> Sighting | None:
        """Return the landmarks of the person in a box, or None."""
