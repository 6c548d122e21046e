"""Collects the boxes of many CVAT tracks into one table."""

from __future__ import annotations

import numpy as np
import polars as pl

from jaywalk.core.errors import DataError
from jaywalk.datasets.behaviour_tables import BOX_SCHEMA
from jaywalk.datasets.cvat import CvatTrack

_TAGS: tuple[tuple[str, str, dict[str | None, int]], ...] = (
    ("occlusion", "occlusion", {"none": 0, "part": 1, "full": 2}),
    ("action", "walking", {"standing": 0, "walking": 1}),
    ("look", "looking", {"not-looking": 0, "looking": 1}),
    ("cross", "cross", {"not-crossing": 0, "crossing": 1, "crossing-irrelevant": -1}),
)


class BoxColumns:
    """Gathers tracks; ``table`` gives them as one polars table in the order they came."""

    def __init__(self) -> None:
        self._names: list[tuple[str, str, int]] = []
        self._frames: list[int] = []
        self._corners: list[tuple[float, float, float, float]] = []
        self._tags: dict[str, list[int | None]] = {column: [] for _, column, _ in _TAGS}

    def add(self, video: str, pedestrian_id: str, track: CvatTrack, file: str) -> int:
        """Add a track sorted by frame, and return its number of gaps."""
        frames, corners = track.frames, track.corners_px
        # The authors' order is by frame already; of a doubled frame the last box counts.
        latest = {frame: i for i, frame in enumerate(frames)}
        order = [latest[frame] for frame in sorted(latest)]
        self._frames += [frames[i] for i in order]
        self._corners += [corners[i] for i in order]
        for name, column, codes in _TAGS:
            values = track.attributes.get(name)
            if values is None:
                self._tags[column] += [None] * len(order)
            else:
                self._tags[column] += [codes.get(values[i]) for i in order]
        self._names.append((video, pedestrian_id, len(order)))
        if not np.isfinite(np.array(corners)).all():
            raise DataError(f"'{file}': pedestrian {pedestrian_id} has a box that is not finite.")
        return int((np.diff(sorted(latest)) > 1).sum())

    def table(self) -> pl.DataFrame:
        """Return all boxes."""
        if not self._frames:
            return pl.DataFrame(schema=BOX_SCHEMA)
        counts = [n for _, _, n in self._names]
        corners = np.array(self._corners, np.float64)
        columns: dict[str, object] = {
            "video": np.repeat(np.array([video for video, _, _ in self._names]), counts),
            "pedestrian_id": np.repeat(np.array([person for _, person, _ in self._names]), counts),
            "frame": np.array(self._frames, np.int32),
        }
        for i, column in enumerate(("xtl_px", "ytl_px", "xbr_px", "ybr_px")):
            columns[column] = corners[:, i]
        return pl.DataFrame(columns | self._tags, schema=BOX_SCHEMA)
