"""Ground classes on a grid, seen from above, as input of predictors.

Right-handed metres; the cell (row, column) begins at ``origin + (column, row) * cell``.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import DataError
from jaywalk.core.files import load_arrays

CLASSES: Final = (
    "unknown",
    "road",
    "sidewalk",
    "cycle track",
    "bus lane",
    "barred area",
    "zebra",
    "refuge island",
    "traffic light",
    "lawn",
    "building",
)
"""Names of the class ids 0 to 10."""

NETWORK_CLASSES: Final = (0, 1, 2, 3, 1, 5, 4, 5, 2, 7, 6)
"""Class id to one of eight: unknown, road, sidewalk, cycle track, zebra, isle, building, lawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticMap:
    """Class ids of the ground of one course."""

    labels: NDArray[np.uint8]
    origin_m: tuple[float, float]
    cell_m: float

    @property
    def version(self) -> str:
        """Hash of content and position."""
        digest = hashlib.sha256(repr((self.labels.shape, self.origin_m, self.cell_m)).encode())
        digest.update(np.ascontiguousarray(self.labels).tobytes())
        return digest.hexdigest()

    @property
    def world_to_pixel(self) -> NDArray[np.float64]:
        """Affine map ``(2, 3)`` from x, y, 1 to column, row."""
        scale = 1.0 / self.cell_m
        x0, y0 = self.origin_m
        return np.array([[scale, 0.0, -x0 * scale], [0.0, scale, -y0 * scale]])


def network_labels(labels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Reduce the 11 classes to the 8 that the default network distinguishes."""
    if labels.size and int(labels.max()) >= len(CLASSES):
        raise DataError(f"class id {int(labels.max())} is unknown; ids are 0 to {len(CLASSES) - 1}")
    return np.array(NETWORK_CLASSES, dtype=np.uint8)[labels]


def write_maps(maps: dict[str, SemanticMap], folder: Path) -> None:
    """Write one npz per course: labels, affine, class table and version hash."""
    folder.mkdir(parents=True, exist_ok=True)
    for course, semantic_map in maps.items():
        np.savez_compressed(
            folder / f"{course}.npz",
            allow_pickle=False,
            labels=semantic_map.labels,
            origin_m=np.array(semantic_map.origin_m),
            cell_m=np.array(semantic_map.cell_m),
            world_to_pixel=semantic_map.world_to_pixel,
            classes=np.array(CLASSES),
            version=np.array(semantic_map.version),
        )


def read_maps(folder: Path) -> dict[str, SemanticMap]:
    """Return the maps by course; empty if the folder is absent."""
    maps = {}
    for file in sorted(folder.glob("*.npz")) if folder.is_dir() else []:
        try:
            stored = load_arrays(file, "a semantic map (.npz)")
            x0, y0 = stored["origin_m"].tolist()
            semantic_map = SemanticMap(
                labels=stored["labels"].astype(np.uint8),
                origin_m=(x0, y0),
                cell_m=float(stored["cell_m"]),
            )
            version = str(stored["version"])
        except (OSError, ValueError, KeyError) as problem:
            raise DataError(f"'{file}' holds no map: {problem}") from problem
        if version != semantic_map.version:
            raise DataError(f"'{file}' was changed after it was written; export it again")
        maps[file.stem] = semantic_map
    return maps
