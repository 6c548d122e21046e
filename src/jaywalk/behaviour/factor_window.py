"""What a factor may look at: the frames of each sample, its person, and the scene around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.behaviour.tasks import OBSERVED_FRAMES, PREDICTED_FRAMES
from jaywalk.core.errors import PrerequisiteError
from jaywalk.datasets.behaviour_tables import BehaviourData, Track


@dataclass(frozen=True, slots=True)
class FactorWindow:
    """Samples with everything that factors are made of.

    Attributes:
        data: The dataset.
        samples: The samples.
        observed_only: Look at the 15 observed frames. The benchmark takes all 45 of a sample,
            which include what is to be predicted.
    """

    data: BehaviourData
    samples: pl.DataFrame
    observed_only: bool

    @property
    def n_frames(self) -> int:
        """Length of the window."""
        return OBSERVED_FRAMES if self.observed_only else OBSERVED_FRAMES + PREDICTED_FRAMES

    def people(self, column: str) -> list[Any]:
        """Return a column of the table of pedestrians for every sample."""
        table = self.data.pedestrians.select("pedestrian_id", pl.col(column).alias("value"))
        joined = self.samples.select("pedestrian_id").join(
            table, on="pedestrian_id", how="left", maintain_order="left"
        )
        return joined["value"].to_list()

    def videos(self, column: str) -> list[Any]:
        """Return a column of the table of videos for every sample."""
        table = self.data.videos.select("video", pl.col(column).alias("value"))
        joined = self.samples.select("video").join(
            table, on="video", how="left", maintain_order="left"
        )
        return joined["value"].to_list()

    def tracks(self) -> list[Track]:
        """Return the boxes within the window of every sample."""
        found = self.data.tracks()
        self._require(found.keys() >= set(self.samples["pedestrian_id"]), "boxes")
        parts = []
        for person, start in self.samples.select("pedestrian_id", "start_index").iter_rows():
            track, part = found[person], slice(start, start + self.n_frames)
            parts.append(
                Track(
                    frames=track.frames[part],
                    corners_px=track.corners_px[part],
                    walking=track.walking[part],
                    cross=track.cross[part],
                )
            )
        return parts

    def frames(self) -> list[NDArray[np.int32]]:
        """Return the frame numbers within the window of every sample."""
        return [track.frames for track in self.tracks()]

    def of_frames(
        self, table: pl.DataFrame, column: str, what: str, *, first_only: bool = False
    ) -> list[NDArray[Any]]:
        """Return the values of a per-frame table within the window (or its first frame)."""
        by_video = {
            str(key[0]): (part["frame"].to_numpy(), part[column].to_numpy())
            for key, part in table.partition_by("video", as_dict=True).items()
        }
        self._require(bool(by_video), what)
        nothing = (np.zeros(0, np.int32), np.zeros(0))
        result = []
        for video, frames in zip(self.samples["video"], self.frames(), strict=True):
            numbers, values = by_video.get(video, nothing)
            wanted = frames[:1] if first_only else frames
            result.append(values[np.isin(numbers, wanted)])
        return result

    def _require(self, present: bool, what: str) -> None:
        if not present:
            raise PrerequisiteError(
                f"This factor needs {what}, which the given {self.data.dataset.upper()} "
                "annotations lack for some samples. Add the authors' archive of them, or choose "
                "another factor."
            )
