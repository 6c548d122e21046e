"""Towns: an OpenDRIVE text, its scenery, and all parts derived from them on first use.

A town is loaded by name (a town of the package, or one in the folders of ``JAYWALK_TOWN_PATH``),
from a file, or from text sent by a client.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError, RegistryError
from jaywalk.core.text import suggestion
from jaywalk.geometry.pose import CarlaPose
from jaywalk.town import opendrive
from jaywalk.town._signals import LightSpec, SignSpec, read_signals
from jaywalk.town._surface import build_ground
from jaywalk.town.ground import Ground
from jaywalk.town.lanes import LaneStrip, lane_strips
from jaywalk.town.limits import SpeedLimits, build_limits, speed_limit_at
from jaywalk.town.navmesh import build_navmesh
from jaywalk.town.opendrive import FILE_LIMITS
from jaywalk.town.raster import SemanticRaster, build_raster
from jaywalk.town.roads import Road, read_roads
from jaywalk.town.waypoints import spawn_points

if TYPE_CHECKING:
    import carla

TOWN_PATH_VARIABLE = "JAYWALK_TOWN_PATH"
_SUFFIXES = (".xodr.gz", ".xodr")
_OWN_FOLDER = Path(__file__).parent / "data"


@dataclass(frozen=True, kw_only=True)
class Town:
    """A town by name; its parts are built on first use and kept.

    Frame of all parts: CARLA's left-handed world in metres; poses in degrees.
    """

    name: str
    opendrive: str = field(repr=False)
    scenery_path: Path | None = None

    @cached_property
    def sha256(self) -> str:
        """Hash of the OpenDRIVE text and the scenery file, in hexadecimal."""
        digest = hashlib.sha256(self.opendrive.encode())
        if self.scenery_path is not None:
            digest.update(self.scenery_path.read_bytes())
        return digest.hexdigest()

    @cached_property
    def root(self) -> Element:
        """Parsed document, with its structure checked."""
        root = opendrive.parse_opendrive(self.opendrive, self.name)
        if errors := opendrive.structure_errors(root):
            raise DataError(f"'{self.name}' is not a usable OpenDRIVE file: {errors[0]}.")
        return root

    @cached_property
    def carla_map(self) -> carla.Map:
        """CARLA's map of this town: waypoints, topology, landmarks."""
        _ = self.root  # raises before the native parser sees a broken file
        return opendrive.native_map(f"Carla/Maps/{self.name}", self.opendrive)

    @cached_property
    def roads(self) -> list[Road]:
        """Roads as plain values, in file order."""
        return read_roads(self.root)

    @cached_property
    def strips(self) -> list[LaneStrip]:
        """Every lane of every section with its sampled edges."""
        strips = lane_strips(self.roads)
        self.check_area([edge for strip in strips for edge in (strip.inner_m, strip.outer_m)])
        return strips

    @cached_property
    def ground(self) -> Ground:
        """Surface heights, for kernels."""
        return build_ground(self.strips)

    @cached_property
    def limits(self) -> SpeedLimits:
        """Speed limits by position, for kernels."""
        return build_limits(self.strips)

    @cached_property
    def crosswalks(self) -> list[FloatArray]:
        """Crosswalk polygons, (k, 3) each, not closed."""
        crosswalks = _crosswalks(self.carla_map)
        self.check_area(crosswalks)
        return crosswalks

    @cached_property
    def spawn_points(self) -> list[CarlaPose]:
        """Recommended starting poses of vehicles."""
        return spawn_points(self.strips, self.crosswalks)

    @cached_property
    def navmesh(self) -> bytes:
        """Pedestrian mesh in the binary format of clients; empty without sidewalks."""
        return build_navmesh(self.strips, self.crosswalks, self.ground)

    @cached_property
    def raster(self) -> SemanticRaster:
        """Semantic labels of the ground at 0.25 m; ``build_raster`` gives finer ones."""
        return build_raster(self.strips, self.crosswalks)

    @cached_property
    def _signals(self) -> tuple[list[LightSpec], list[SignSpec]]:
        return read_signals(self.root, self.roads, self.carla_map)

    @property
    def lights(self) -> list[LightSpec]:
        """Traffic lights, in file order."""
        return self._signals[0]

    @property
    def signs(self) -> list[SignSpec]:
        """Stop, yield and speed-limit signs, in file order."""
        return self._signals[1]

    @cached_property
    def scenery(self) -> NDArray[Any]:
        """Scenery beside the roads: the town's table, or one generated from the roads."""
        from jaywalk.town.scenery import (
            generate_scenery,
            load_scenery,  # loads shapely
        )

        if self.scenery_path is not None:
            return load_scenery(self.scenery_path)
        seed = int(self.sha256[:8], 16)
        return generate_scenery(self.carla_map, self.opendrive, seed)

    def check_area(self, lines: list[FloatArray], most_km2: float = FILE_LIMITS.area_km2) -> None:
        """Refuse lines whose bounding box is too large for grids in memory."""
        if not lines:
            return
        points = np.concatenate(lines)[:, :2]
        spans_km = (points.max(axis=0) - points.min(axis=0)) / 1000.0
        area_km2 = float(spans_km[0] * spans_km[1])
        if not (area_km2 <= most_km2 and spans_km.max() <= FILE_LIMITS.reach_km):
            raise DataError(
                f"'{self.name}' spans {spans_km[0]:g} x {spans_km[1]:g} km; "
                f"expected a box of at most {most_km2:g} km2."
            )

    def prepare(self) -> None:
        """Build the parts now that a world and its first client would otherwise wait for."""
        _ = self.ground, self.limits, self.spawn_points, self.lights, self.scenery, self.navmesh

    def speed_limit_kmh(self, x_m: float, y_m: float, z_m: float, yaw_deg: float) -> float:
        """Speed limit for a vehicle at a position; NaN if the road gives none."""
        return float(speed_limit_at(self.limits, x_m, y_m, z_m, float(np.deg2rad(yaw_deg))))


def load_town(name_or_path: str | Path) -> Town:
    """Load a town by name (any case, ``Carla/Maps/`` and ``_Opt`` are dropped) or from a file.

    Example:
        >>> load_town("Carla/Maps/nowhere")
        Traceback (most recent call last):
        jaywalk.core.errors.RegistryError: Unknown town 'nowhere'...
    """
    text = str(name_or_path)
    if text.lower().endswith(_SUFFIXES):
        path = Path(name_or_path)
        return Town(
            name=_stem(path), opendrive=opendrive.read_opendrive(path), scenery_path=_beside(path)
        )
    asked = text.rsplit("/", 1)[-1]
    known = _town_files()
    wanted = asked.lower()
    path_found = known.get(wanted) or known.get(wanted.removesuffix("_opt"))
    if path_found is None:
        raise RegistryError(
            f"Unknown town '{asked}'.{suggestion(asked, available_towns())} "
            "Give a name of 'jaywalk town list', a .xodr file, or a folder of .xodr files in "
            f"{TOWN_PATH_VARIABLE}."
        )
    return Town(
        name=_stem(path_found),
        opendrive=opendrive.read_opendrive(path_found),
        scenery_path=_beside(path_found),
    )


def town_from_opendrive(text: str, name: str = "OpenDriveMap") -> Town:
    """Make a town from OpenDRIVE text; :class:`DataError` if it is not usable."""
    town = Town(name=name, opendrive=text)
    _ = town.carla_map
    return town


def available_towns() -> list[str]:
    """Names that :func:`load_town` accepts: towns of the package, then of the extra folders."""
    return [_stem(path) for path in _town_files().values()]


def own_towns() -> list[str]:
    """Names of the towns that are part of the package."""
    return [_stem(path) for path in _town_files().values() if path.parent == _OWN_FOLDER]


def _town_files() -> dict[str, Path]:
    """Files by lower-case name; a folder cannot replace a town of the package."""
    folders = [_OWN_FOLDER]
    extra = os.environ.get(TOWN_PATH_VARIABLE, "")
    folders += [Path(entry) for entry in extra.split(os.pathsep) if entry]
    files: dict[str, Path] = {}
    for folder in folders:
        if not folder.is_dir():
            continue
        for path in sorted(folder.iterdir()):
            if path.name.lower().endswith(_SUFFIXES):
                files.setdefault(_stem(path).lower(), path)
    return files


def _stem(path: Path) -> str:
    """Name of the town in a file; the package's files are lower case, its town names are not."""
    stem = path.name[: -len(".xodr.gz" if path.name.lower().endswith(".gz") else ".xodr")]
    return stem.capitalize() if path.parent == _OWN_FOLDER else stem


def _beside(path: Path) -> Path | None:
    """Return the scenery file beside a town's file, or None."""
    stem = path.name[: -len(".xodr.gz" if path.name.lower().endswith(".gz") else ".xodr")]
    scenery_path = path.parent / f"{stem}.scenery.json.gz"
    return scenery_path if scenery_path.is_file() else None


def _crosswalks(carla_map: Any) -> list[FloatArray]:
    """Split CARLA's flat list of corners where a polygon returns to its first corner."""
    try:
        corners = [(corner.x, corner.y, corner.z) for corner in carla_map.get_crosswalks()]
    except RuntimeError as error:
        raise DataError(f"'{carla_map.name}' has a crosswalk outside its road: {error}.") from error
    polygons: list[FloatArray] = []
    current: list[tuple[float, float, float]] = []
    for corner in corners:
        closes = len(current) >= 3 and np.hypot(*np.subtract(corner, current[0])[:2]) < 1e-3
        if closes:
            polygons.append(np.array(current))
            current = []
        else:
            current.append(corner)
    return polygons
