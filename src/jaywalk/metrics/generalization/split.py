"""Fail2Drive split: 100 pairs of routes in 17 classes and four categories."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Final

from jaywalk.core.errors import DataError
from jaywalk.metrics.driving.files import read_files

GENERALIZATION_OFFSET: Final = 1000
SPLITS: Final = ("base", "generalization")
_ROUTE_NAME = re.compile(r"^(Base|Generalization)_(\w+)_(\d+)$")

# The published split, which results files of other tools follow too. Metrics never import
# scenarios, so `Shift` (category, pairs) of the scenario registry states the same facts;
# tests/unit/scenarios/test_scenario_specs.py compares the two.
CATEGORIES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "Visual-lon": (
            "ObscuredStop",
            "HardBrake",
            "RightOfWay",
            "Animals",
            "PedestrianOtherBlocker",
        ),
        "Visual-lat": ("BadParking", "ConstructionPermutations", "CustomObstacles"),
        "Behavior": ("ConstructionPedestrian", "Wall", "FullyBlocked", "PedestriansOnRoad"),
        "Robustness": (
            "RightConstruction",
            "OppositeConstruction",
            "ImageOnObject",
            "PassableObstacles",
            "PedestrianCrowd",
        ),
    }
)

# First and last number of each class in the Base split.
_CLASS_NUMBERS: Final = (
    ("BadParking", 0, 9),
    ("ConstructionPedestrian", 10, 14),
    ("ConstructionPermutations", 15, 19),
    ("CustomObstacles", 20, 29),
    ("FullyBlocked", 30, 34),
    ("HardBrake", 35, 39),
    ("ImageOnObject", 40, 44),
    ("ObscuredStop", 45, 49),
    ("OppositeConstruction", 50, 54),
    ("RightOfWay", 55, 59),
    ("PassableObstacles", 60, 64),
    ("PedestrianCrowd", 65, 69),
    ("PedestrianOtherBlocker", 70, 74),
    ("Animals", 75, 84),
    ("PedestriansOnRoad", 85, 89),
    ("RightConstruction", 90, 94),
    ("Wall", 95, 99),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitRoute:
    """A route of the split: number, class and whether it is of the Generalization half."""

    number: int
    class_name: str
    split: str

    @property
    def name(self) -> str:
        """File name without suffix, e.g. ``Base_Animals_0075``."""
        return f"{self.split.capitalize()}_{self.class_name}_{self.number:04d}"


def published_split() -> dict[int, SplitRoute]:
    """The 200 published routes by number."""
    return {
        number + offset: SplitRoute(number=number + offset, class_name=name, split=split)
        for split, offset in zip(SPLITS, (0, GENERALIZATION_OFFSET), strict=True)
        for name, first, last in _CLASS_NUMBERS
        for number in range(first, last + 1)
    }


def read_split(path: Path) -> dict[int, SplitRoute]:
    """Routes of a folder or archive of route files, from their names."""
    routes = {}
    for file in read_files(path, ".xml"):
        match = _ROUTE_NAME.match(PurePosixPath(file.name).stem)
        if file.content is None or match is None:
            continue
        number = int(match[3])
        name = match[2].replace("TwoWays", "")
        routes[number] = SplitRoute(number=number, class_name=name, split=match[1].lower())
    if not routes:
        raise DataError(f"'{path}' holds no route file named like Base_Animals_0075.xml.")
    return routes
