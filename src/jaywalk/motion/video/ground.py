"""Ground points of a picture, given in pixels and in metres, and their homography."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError
from jaywalk.core.files import read_text

_KEYS: Final = frozenset(("image_px", "ground_m", "points", "image_size_px", "focal_px", "note"))
_FLATTEST: Final = 0.005  # twice the area of a triangle over its longest side squared
_EXAMPLE: Final = (
    'expected {"image_px": [[u, v], ...], "ground_m": [[x, y], ...]} with at least four points'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundPoints:
    """Points on the ground that are visible in the picture.

    Attributes:
        image_px: (n, 2) pixels, u to the right and v down, (0, 0) the upper left corner.
        ground_m: (n, 2) metres on the ground, any two perpendicular axes.
        focal_px: Focal length, if given in the file.
        image_size_px: Width and height of the picture with the points, if given.
        name: File name, for messages.
    """

    image_px: FloatArray
    ground_m: FloatArray
    focal_px: float | None = None
    image_size_px: tuple[int, int] | None = None
    name: str = "ground points"

    def __post_init__(self) -> None:
        _check_points(self.name, self.image_px, self.ground_m)

    def check_inside(self, width_px: int, height_px: int) -> None:
        """Refuse points outside a picture of this size.

        Raises:
            DataError: A point lies outside; the message names it.
        """
        if self.image_size_px is not None and self.image_size_px != (width_px, height_px):
            raise DataError(
                f"{self.name}: points are of a picture of {self.image_size_px[0]} x "
                f"{self.image_size_px[1]} px, the clip has {width_px} x {height_px}; take the "
                "points from a frame of the clip"
            )
        for index, (u, v) in enumerate(self.image_px):
            if not (0.0 <= u <= width_px and 0.0 <= v <= height_px):
                raise DataError(
                    f"{self.name}: point {index + 1} at ({u:g}, {v:g}) px lies outside the picture "
                    f"of {width_px} x {height_px} px; take the points from a frame of the clip"
                )


def read_ground(path: Path) -> GroundPoints:
    """Read a JSON file of ground points; docs/reference/motion.md has the format.

    Raises:
        DataError: The file is broken; the message names the file and the error.
    """
    try:
        value = json.loads(read_text(path, "ground points (.json)"))
    except (OSError, ValueError) as problem:
        raise DataError(f"{path}: cannot be read as JSON ({problem})") from problem
    if not isinstance(value, dict):
        raise DataError(f"{path}: holds a {type(value).__name__}; {_EXAMPLE}")
    unknown = sorted(set(value) - _KEYS)
    if unknown:
        raise DataError(f"{path}: unknown {', '.join(map(repr, unknown))}; {_EXAMPLE}")
    image, ground = _pairs(path, value)
    focal = value.get("focal_px")
    if focal is not None and not (_is_number(focal) and np.isfinite(focal) and focal > 0.0):
        raise DataError(f"{path}: focal_px is {focal!r}; expected a positive number of pixels")
    return GroundPoints(
        image_px=_points(path, "image_px", image),
        ground_m=_points(path, "ground_m", ground),
        focal_px=None if focal is None else float(focal),
        image_size_px=_size(path, value.get("image_size_px")),
        name=str(path),
    )


def _pairs(path: Path, value: dict[str, Any]) -> tuple[Any, Any]:
    if "points" in value:
        rows = value["points"]
        try:
            return [row["image_px"] for row in rows], [row["ground_m"] for row in rows]
        except (TypeError, KeyError) as problem:
            raise DataError(
                f"{path}: points must each have image_px and ground_m ({problem!r})"
            ) from problem
    for key in ("image_px", "ground_m"):
        if key not in value:
            raise DataError(f"{path}: lacks {key!r}; {_EXAMPLE}")
    return value["image_px"], value["ground_m"]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _points(path: Path, key: str, rows: Any) -> FloatArray:
    if not isinstance(rows, list):
        raise DataError(f"{path}: {key} is {rows!r}; {_EXAMPLE}")
    for index, row in enumerate(rows):
        if not (isinstance(row, list) and len(row) == 2 and all(map(_is_number, row))):
            raise DataError(f"{path}: point {index + 1} of {key} is {row!r}; expected two numbers")
    return np.array(rows, dtype=np.float64).reshape(-1, 2)


def _size(path: Path, value: Any) -> tuple[int, int] | None:
    if value is None:
        return None
    if not (isinstance(value, list) and len(value) == 2 and all(map(_is_number, value))):
        raise DataError(f"{path}: image_size_px is {value!r}; expected [width, height]")
    return int(value[0]), int(value[1])


def _check_points(name: str, image: FloatArray, ground: FloatArray) -> None:
    if len(image) != len(ground):
        raise DataError(
            f"{name}: {len(image)} points in pixels and {len(ground)} in metres; expected as many"
        )
    if len(image) < 4:
        raise DataError(f"{name}: {len(image)} points; a ground plane needs at least four")
    for key, points in (("image_px", image), ("ground_m", ground)):
        bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
        if len(bad):
            raise DataError(f"{name}: point {bad[0] + 1} of {key} is not finite")
        if not _spread(points):
            raise DataError(
                f"{name}: no four points of {key} without three on one line (or two in one "
                "place); choose points at the corners of an area"
            )
    if _depths(name, image, ground).min() <= 0.0:
        raise DataError(
            f"{name}: no camera can see these points so; are image_px and ground_m in the same "
            "order?"
        )


def _spread(points: FloatArray) -> bool:
    """Return True if there are four points of which no three lie on a line."""
    # a few hundred points have millions of quadruples; forty of the points are enough
    chosen = points[np.linspace(0, len(points) - 1, min(len(points), 12)).astype(int)]
    return any(
        all(not _flat(*three) for three in combinations(four, 3))
        for four in combinations(chosen, 4)
    )


def _flat(a: FloatArray, b: FloatArray, c: FloatArray) -> bool:
    longest = max(float((p - q) @ (p - q)) for p, q in ((a, b), (b, c), (c, a)))
    area = abs(float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])))
    return area <= _FLATTEST * longest


def _depths(name: str, image: FloatArray, ground: FloatArray) -> FloatArray:
    """Third coordinate of every point under the homography, positive for most of them."""
    matrix = homography(ground, image)
    depths = np.asarray(ground @ matrix[2, :2] + matrix[2, 2])
    if not np.isfinite(depths).all():
        raise DataError(f"{name}: the points fit no plane")
    return depths if np.median(depths) > 0.0 else -depths


def homography(source: FloatArray, target: FloatArray) -> FloatArray:
    """Matrix (3, 3) that maps points (n, 2) to others, by the normalised linear method."""
    ps, src = _normalised(source)
    pt, dst = _normalised(target)
    x, y = src.T
    u, v = dst.T
    zero, ones = np.zeros_like(x), np.ones_like(x)
    rows = np.concatenate(
        [
            np.stack([x, y, ones, zero, zero, zero, -u * x, -u * y, -u], axis=1),
            np.stack([zero, zero, zero, x, y, ones, -v * x, -v * y, -v], axis=1),
        ]
    )
    solution = np.linalg.svd(rows)[2][-1].reshape(3, 3)
    out: FloatArray = np.linalg.inv(pt) @ solution @ ps
    return out / np.linalg.norm(out)


def _normalised(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    centre = points.mean(axis=0)
    size = max(float(np.linalg.norm(points - centre, axis=1).mean()), 1e-12) / np.sqrt(2.0)
    matrix = np.array(
        [[1.0 / size, 0.0, -centre[0] / size], [0.0, 1.0 / size, -centre[1] / size], [0, 0, 1.0]]
    )
    return matrix, (points - centre) / size
