"""What a pose network says of one person in one picture, and boxes around people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from jaywalk.motion.rotation import FloatArray
from jaywalk.motion.video.frames import Picture
from jaywalk.motion.video.landmarks import MARKS


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """Across."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Down."""
        return self.bottom - self.top

    @property
    def area(self) -> float:
        """Square pixels."""
        return max(self.width, 0.0) * max(self.height, 0.0)

    def shared(self, other: Box) -> float:
        """Common area over that of the smaller."""
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
        """The same box elsewhere."""
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
        """Around the landmarks in use."""
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
    """Finds people in pictures; MediaPipe is one (:mod:`jaywalk.motion.video.mediapipe_pose`)."""

    def learn(self, pictures: list[Picture]) -> None:
        """See pictures spread over the whole clip, to know what does not move."""

    def propose(self, picture: Picture, *, thorough: bool) -> list[Box]:
        """Boxes in which somebody may be."""

    def look(self, picture: Picture, box: Box) -> Sighting | None:
        """Landmarks of the person in a box, or None."""
