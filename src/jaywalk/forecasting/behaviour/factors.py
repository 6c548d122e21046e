"""Factors that split samples into groups: the pedestrian, the car, the surroundings, the data.

A factor may use the frames of each sample, its person, and the scene around them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.errors import PrerequisiteError, UsageError
from jaywalk.datasets.behaviour_tables import LIGHT_NONE, LIGHT_YELLOW, BehaviourData, Track
from jaywalk.forecasting.behaviour.tasks import OBSERVED_FRAMES, PREDICTED_FRAMES


@dataclass(frozen=True, slots=True)
class FactorWindow:
    """Samples with the data that factors use.

    Attributes:
        data: The dataset.
        samples: The samples.
        observed_only: Use only the 15 observed frames. The benchmark uses all 45 of a sample,
            which include the frames to predict.
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
        tracks = self.data.tracks()
        self._require(tracks.keys() >= set(self.samples["pedestrian_id"]), "boxes")
        parts = []
        for person, start in self.samples.select("pedestrian_id", "start_index").iter_rows():
            track, part = tracks[person], slice(start, start + self.n_frames)
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


Factor = Callable[[FactorWindow], list[str]]

UNTAGGED = "untagged"
SCALE_EDGES_PX = (80.0, 100.0, 150.0, 200.0, 300.0)
SPEED_EDGES_KMH = (0.0, 5.0, 10.0, 20.0, 30.0)


def group_by_factors(
    data: BehaviourData, samples: pl.DataFrame, names: Sequence[str], *, observed_only: bool
) -> list[str]:
    """Return the group of every sample; several factors are crossed.

    Args:
        data: The dataset, read with its scene.
        samples: The samples.
        names: Names of factors, see ``FACTORS``.
        observed_only: Use only the observed frames, not all frames of the sample.
    """
    window = FactorWindow(data, samples, observed_only)
    columns = [_find(name)(window) for name in names]
    return [" & ".join(values) for values in zip(*columns, strict=True)]


def _find(name: str) -> Factor:
    if name not in FACTORS:
        raise UsageError(f"There is no factor '{name}'; expected some of {', '.join(FACTORS)}.")
    return FACTORS[name]


def _bins(values: Sequence[float], edges: Sequence[float], first: str) -> list[str]:
    """Name the right-closed bin of every value."""
    names = [first]
    names += [f"{low:g}-{high:g}" for low, high in pairwise(edges)]
    names.append(f"{edges[-1]:g}+")
    places = np.searchsorted(np.asarray(edges), np.asarray(values), side="left")
    return [
        UNTAGGED if np.isnan(value) else names[i] for value, i in zip(values, places, strict=True)
    ]


def _scale(window: FactorWindow) -> list[str]:
    heights = [float((t.corners_px[:, 3] - t.corners_px[:, 1]).mean()) for t in window.tracks()]
    return _bins(heights, SCALE_EDGES_PX, "0-80")


def _state(window: FactorWindow) -> list[str]:
    states = []
    for track in window.tracks():
        tags = track.walking[track.walking >= 0]
        states.append(UNTAGGED if not tags.size else "walking" if tags.mean() > 0.5 else "standing")
    return states


def _speed(window: FactorWindow) -> list[str]:
    parts = window.of_frames(window.data.ego, "obd_speed_kmh", "the car's speed")
    means = [float(part.mean()) if part.size else float("nan") for part in parts]
    return _bins(means, SPEED_EDGES_KMH, "0-0")


def _ego(window: FactorWindow) -> list[str]:
    parts = window.of_frames(window.data.ego, "action", "the car's action")
    return [
        Counter(map(str, part.tolist())).most_common(1)[0][0] if part.size else UNTAGGED
        for part in parts
    ]


def _signal(window: FactorWindow) -> list[str]:
    parts = window.of_frames(window.data.scene, "light", "traffic lights")
    if window.data.dataset == "pie":
        controlled = [value in {"S", "CS"} for value in window.people("signalized")]
        frames = [max(len(numbers), 1) for numbers in window.frames()]
        # Frames without a light count as undefined, 0, in the benchmark's mean.
        return [
            _name_signal(float(part.sum()) / n) if light else "no_light"
            for part, n, light in zip(parts, frames, controlled, strict=True)
        ]
    # JAAD has lights per frame for all people, signals for few: use the visible lights.
    seen = [part[part != LIGHT_NONE] for part in parts]
    return [_name_signal(float(part.mean())) if part.size else "no_light" for part in seen]


def _name_signal(mean_state: float) -> str:
    return "forbid" if mean_state < LIGHT_YELLOW else "allow"


def _road(window: FactorWindow) -> list[str]:
    names = {"OW": "one_way", "TW": "two_way"}
    return [names.get(value, UNTAGGED) for value in window.people("traffic_direction")]


def _lanes(window: FactorWindow) -> list[str]:
    return [
        UNTAGGED if value is None else "narrow" if value < 3 else "wide"
        for value in window.people("num_lanes")
    ]


def _flag(column: str) -> Factor:
    def factor(window: FactorWindow) -> list[str]:
        # The benchmark uses the first frame only; a frame without any object has no row.
        scene = window.data.scene
        parts = window.of_frames(scene, column, "signs and crossings", first_only=True)
        return ["yes" if part.size and bool(part[0]) else "no" for part in parts]

    return factor


def _person(column: str) -> Factor:
    def factor(window: FactorWindow) -> list[str]:
        values = window.people(column)
        return [UNTAGGED if value in (None, "", "n/a") else str(value) for value in values]

    return factor


def _video(column: str) -> Factor:
    def factor(window: FactorWindow) -> list[str]:
        return [value or UNTAGGED for value in window.videos(column)]

    return factor


def _mark(column: str) -> Factor:
    def factor(window: FactorWindow) -> list[str]:
        values = window.samples[column].to_list()
        return [UNTAGGED if value is None else "yes" if value else "no" for value in values]

    return factor


def _tte(window: FactorWindow) -> list[str]:
    return _bins(window.samples["tte_frames"].to_list(), (30.0, 45.0, 60.0, 75.0), "0-30")


FACTORS: dict[str, Factor] = {
    "scale": _scale,
    "state": _state,
    "age": _person("age"),
    "gender": _person("gender"),
    "speed": _speed,
    "ego": _ego,
    "signal": _signal,
    "road": _road,
    "lanes": _lanes,
    "crosswalk": _flag("ped_crossing"),
    "ped_sign": _flag("ped_sign"),
    "stop_sign": _flag("stop_sign"),
    "intersection": _person("intersection"),
    "time_of_day": _video("time_of_day"),
    "weather": _video("weather"),
    "location": _video("location"),
    "tte": _tte,
    "bystander": _mark("bystander"),
    "already_crossing": _mark("already_crossing"),
    "event_inferred": _mark("event_inferred"),
}
ATTRIBUTE_FACTORS = frozenset(
    {"age", "gender", "road", "lanes", "intersection", "tte", "bystander", "event_inferred"}
)
