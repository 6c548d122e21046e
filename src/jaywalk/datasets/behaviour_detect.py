"""Tells which datasets of pedestrian behaviour a folder or archive holds, and reads them whole."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from jaywalk.core.errors import DataError
from jaywalk.datasets import jaad, pie
from jaywalk.datasets.annotation_files import read_members
from jaywalk.datasets.behaviour_tables import BehaviourData, Defect

_SIGNS = {
    "jaad": re.compile(r"annotations/video_\d{4}\.xml"),
    "pie": re.compile(r"annotations_attributes/set\d\d/video_\d{4}_attributes\.xml"),
}
COMPLETE = {
    "jaad": {"videos": 346, "pedestrians": 2786},
    "pie": {"videos": 53, "pedestrians": 1842},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetCheck:
    """What a check found.

    Attributes:
        dataset: Its name.
        counts: Videos, pedestrians, boxes and so on.
        defects: Everything a user should know.
    """

    dataset: str
    counts: dict[str, int]
    defects: tuple[Defect, ...]

    @property
    def ok(self) -> bool:
        """Whether the dataset can be used."""
        return not any(defect.severity == "error" for defect in self.defects)


def detect_datasets(path: Path) -> list[str]:
    """Return the names of the datasets whose files are there, without reading them."""
    found: set[str] = set()

    def look(name: str) -> bool:
        found.update(dataset for dataset, sign in _SIGNS.items() if sign.fullmatch(name))
        return False

    for _ in read_members(path, jaad.FOLDERS | pie.FOLDERS, look):
        pass
    return sorted(found)


def check_datasets(path: Path) -> list[DatasetCheck]:
    """Read every dataset at a path and return what is wrong with it."""
    names = detect_datasets(path)
    if not names:
        raise DataError(
            f"'{path}' has neither JAAD (annotations/video_0001.xml) nor PIE "
            "(annotations_attributes/set01/video_0001_attributes.xml), as folders or archives."
        )
    return [_check(name, path) for name in names]


def _check(name: str, path: Path) -> DatasetCheck:
    if name == "jaad":
        data = jaad.load_jaad(path, subset="all_videos")
    else:
        data = pie.load_pie(path)
    counts = _count(data)
    defects = data.defects
    for what, expected in COMPLETE[name].items():
        if counts[what] != expected:
            message = f"{what}; the complete dataset has {expected}"
            defects += (
                Defect(
                    code=f"incomplete_{what}",
                    severity="error" if counts[what] == 0 else "warning",
                    count=counts[what],
                    message=message,
                ),
            )
    return DatasetCheck(dataset=name, counts=counts, defects=defects)


def _count(data: BehaviourData) -> dict[str, int]:
    people = data.pedestrians
    return {
        "videos": data.videos.height,
        "pedestrians": people.height,
        "with_behaviour_tags": people.filter(people["kind"] == "behaviour").height,
        "crossing": people.filter((people["crossing"] == 1).fill_null(value=False)).height,
        "boxes": data.boxes.height,
        "scene_frames": data.scene.height,
        "ego_frames": data.ego.height,
    }
