"""Detection and check of datasets of pedestrian behaviour in a folder or archive."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from jaywalk.core.errors import DataError
from jaywalk.datasets._annotation_files import read_members
from jaywalk.datasets.behaviour_tables import BehaviourData, Defect
from jaywalk.datasets.catalogue import BEHAVIOUR_DATASETS, BehaviourDatasetSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetCheck:
    """Result of a check.

    Attributes:
        dataset: Its name.
        counts: Videos, pedestrians, boxes and so on.
        defects: Problems that a user should know about.
    """

    dataset: str
    counts: dict[str, int]
    defects: tuple[Defect, ...]

    @property
    def ok(self) -> bool:
        """Return whether the dataset can be used."""
        return not any(defect.severity == "error" for defect in self.defects)


def detect_datasets(path: Path) -> list[str]:
    """Return the names of the datasets with files at a path, without reading them."""
    specs = _detectable()
    detected: set[str] = set()

    def inspect(name: str) -> bool:
        detected.update(spec.name for spec in specs if spec.member and spec.member.fullmatch(name))
        return False

    for _ in read_members(path, frozenset().union(*(spec.folders for spec in specs)), inspect):
        pass
    return sorted(detected)


def check_datasets(path: Path) -> list[DatasetCheck]:
    """Read every dataset at a path and return its counts and defects."""
    names = detect_datasets(path)
    if not names:
        expected = " nor ".join(f"{spec.name.upper()} ({spec.example})" for spec in _detectable())
        raise DataError(f"'{path}' has neither {expected}, as folders or archives.")
    return [_check(BEHAVIOUR_DATASETS.get(name), path) for name in names]


def _detectable() -> list[BehaviourDatasetSpec]:
    return [spec for spec in BEHAVIOUR_DATASETS if spec.member is not None]


def _check(spec: BehaviourDatasetSpec, path: Path) -> DatasetCheck:
    data: BehaviourData = spec.load()(path, **spec.read_all)
    counts = _count(data)
    defects = data.defects
    for what, expected in spec.complete.items():
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
    return DatasetCheck(dataset=spec.name, counts=counts, defects=defects)


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
