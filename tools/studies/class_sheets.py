"""Draw one contact sheet per group of bodies for docs/reference/sensors.md.

    cd tools && python -m studies.class_sheets ../docs/img/sensors [NAME ...]

Each tile is a picture of the server's colour camera. Bodies stand on a street of Harbour; plants,
furniture and signs are those of the towns.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from PIL import Image, ImageDraw

from jaywalk.core.carla_enums import VehicleLight
from jaywalk.server.world._vehicle_blueprints import VEHICLES, VehicleSpec
from jaywalk.server.world.blueprints import find
from jaywalk.server.world.walker_blueprints import ANIMAL_BY_BLUEPRINT
from jaywalk.town.scenery_styles import KINDS
from jaywalk.town.town import Town, load_town
from studies.street_scene import Street, facing_crosswalk, weather

_LIGHT: Final = 63
_TILE_PX: Final = (320, 240)
_COLUMNS: Final = 5
_RIDER_M: Final = 0.9  # half the height of a two-wheeler with its rider
_FOV_DEG: Final = 34.0
_FILLED: Final = 0.82  # share of the tile's width or height
_SUN_DEG: Final = (222.0, 55.0)
_TURN_DEG: Final = 215.0  # heading of bodies from the camera's
_QUALITY: Final = 86
_HEAVY: Final = frozenset({"truck", "bus"})
_MARKED: Final = frozenset({"emergency", "taxi"})
_TWO_WHEELS: Final = frozenset({"motorcycle", "bicycle"})
# Kinds of scenery and how many towns show one.
_FURNITURE: Final = {
    "crown": 3, "hedge": 1, "fence": 1, "wall": 1, "lamp": 1, "bench": 1, "bin": 1,
    "bus_shelter": 1, "hydrant": 1, "mailbox": 1, "bollard": 1, "guard_rail": 1, "kiosk": 1,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Shot:
    """One tile: what stands there and its name."""

    label: str
    half_m: tuple[float, float, float]
    put: Callable[[Street], int]


# Label, number of the walker, clip, frame, what they carry.
_PEOPLE: Final = (
    ("standing", 15, "notcrossing-wait-0003", 20, ""),
    ("gesturing", 22, "notcrossing-hands-0004", 40, ""),
    ("walking", 5, "crossing-walk-0002", None, ""),
    ("walking", 26, "crossing-stroll-0001", None, "bag"),
    ("running", 21, "crossing-run-0001", None, ""),
    ("on the phone", 18, "notcrossing-wait-0005", 30, "phone"),
    ("phoning", 33, "notcrossing-phone-0002", 40, ""),
    ("talking", 28, "notcrossing-converse-0003", 30, ""),
    ("child", 10, "crossing-walk-0003", None, ""),
    ("child running", 14, "crossing-run-0003", None, ""),
    ("senior with stick", 40, "crossing-walk-0003", None, "stick"),
    ("umbrella", 36, "crossing-walk-0005", None, "umbrella"),
    ("pram", 3, "crossing-walk-0007", None, "pram"),
    ("suitcase", 29, "crossing-walk-0006", 25, "suitcase"),
    ("rucksack", 34, "crossing-walk-0004", None, "rucksack"),
)
_WORKS: Final = (
    "static.prop.constructioncone",
    "static.prop.trafficcone01",
    "static.prop.trafficcone02",
    "static.prop.streetbarrier",
    "static.prop.chainbarrier",
    "static.prop.trafficwarning",
    "static.prop.warningconstruction",
    "static.prop.warningaccident",
    "static.prop.dirtdebris02",
    "static.prop.container",
)


def _vehicle(number: int, spec: VehicleSpec) -> Shot:
    """Show a vehicle in one of its colours, which take turns."""
    type_id = f"vehicle.{spec.name}"
    colors = spec.colours.split()
    attributes = {"color": colors[number % len(colors)]} if colors else {}
    lamps = int(VehicleLight.SPECIAL1)

    def put(street: Street) -> int:
        return street.put(
            type_id, (0.0, 0.0), _TURN_DEG, attributes=attributes, rolled_m=0.3, light_flags=lamps
        )

    half = spec.half_extents_m
    if spec.base_type in _TWO_WHEELS:
        half = (half[0], half[1], _RIDER_M)
    return Shot(label=spec.name, half_m=half, put=put)


def _vehicles(wanted: Callable[[VehicleSpec], bool]) -> list[Shot]:
    chosen = [spec for spec in VEHICLES if wanted(spec)]
    return [_vehicle(number, spec) for number, spec in enumerate(chosen)]


def _person(label: str, walker: int, clip: str, frame: int | None, carries: str) -> Shot:
    half = find(f"walker.pedestrian.{walker:04d}").body.half_extents_m

    def put(street: Street) -> int:
        return street.put_person(walker, (0.0, 0.0), _TURN_DEG, clip, frame, carries)

    wide = 0.8 if carries == "pram" else 0.55
    return Shot(label=label, half_m=(wide, 0.4, half[2] * 1.06), put=put)


def _animals() -> list[Shot]:
    shots = []
    for name, animal in ANIMAL_BY_BLUEPRINT.items():
        half = find(name).body.half_extents_m
        shots.append(Shot(label=animal.species, half_m=half, put=_walks(name)))
    return shots


def _walks(type_id: str) -> Callable[[Street], int]:
    return lambda street: street.put(type_id, (0.0, 0.0), _TURN_DEG + 20.0, rolled_m=0.35)


def _prop(type_id: str) -> Shot:
    def put(street: Street) -> int:
        return street.put(type_id, (0.0, 0.0), _TURN_DEG - 90.0)

    label = type_id.removeprefix("static.prop.")
    return Shot(label=label, half_m=find(type_id).body.half_extents_m, put=put)


def _tile(street: Street, shot: Shot) -> Image.Image:
    number = shot.put(street)
    try:
        return _photo(street, shot.label, shot.half_m, (0.0, 0.0))
    finally:
        street.world.remove(number)


def _photo(
    street: Street, label: str, half_m: tuple[float, float, float], middle: tuple[float, float]
) -> Image.Image:
    """Return a labelled picture of a body on the ground, which fills the tile."""
    wide = math.hypot(half_m[0], half_m[1]) if min(half_m[:2]) > 0.0 else max(half_m[:2])
    tangent = math.tan(math.radians(0.5 * _FOV_DEG))
    tall = half_m[2] * _TILE_PX[0] / _TILE_PX[1]
    far = max(wide, tall) / (_FILLED * tangent) + 0.6 * wide
    up = half_m[2] + 0.16 * far
    pitch = -math.degrees(math.atan2(up - 0.95 * half_m[2], far))
    eye = street.eye((middle[0] - far, middle[1]), up, 0.0, pitch)
    sky = weather(azimuth=(street.yaw_deg + _SUN_DEG[0]) % 360.0, altitude=_SUN_DEG[1])
    image = Image.fromarray(street.photo(eye, sky, _TILE_PX, _FOV_DEG))
    pen = ImageDraw.Draw(image, "RGBA")
    pen.rectangle((0, _TILE_PX[1] - 18, _TILE_PX[0], _TILE_PX[1]), fill=(0, 0, 0, 130))
    pen.text((6.0, _TILE_PX[1] - 15.0), label, fill=(255, 255, 255))
    return image


def _sheet(tiles: Sequence[Image.Image]) -> Image.Image:
    columns = min(_COLUMNS, len(tiles))
    rows = -(-len(tiles) // columns)
    out = Image.new("RGB", (columns * _TILE_PX[0], rows * _TILE_PX[1]), (255, 255, 255))
    for number, tile in enumerate(tiles):
        place = number % columns * _TILE_PX[0], number // columns * _TILE_PX[1]
        out.paste(tile, place)
    return out


def _street() -> Street:
    town = load_town("Harbour")
    x, y, z, yaw = facing_crosswalk(town, _LIGHT)
    back = -9.0  # of the crosswalk, in the junction: nothing stands near
    return Street(town, (x + back * math.cos(yaw), y + back * math.sin(yaw), z, yaw))


def _scenery_tiles() -> list[Image.Image]:
    """Return pictures of plants and furniture, some of each kind in each town."""
    tiles: list[Image.Image] = []
    shown: dict[int, int] = {}
    for name in ("Orchard", "Harbour", "Ridge"):
        town = load_town(name)
        scenery = town.scenery
        for kind in np.unique(scenery["kind"]).tolist():
            rows = np.flatnonzero(scenery["kind"] == kind)
            if KINDS[kind] not in _FURNITURE or shown.get(kind, 0) >= _FURNITURE[KINDS[kind]]:
                continue
            shown[kind] = shown.get(kind, 0) + 1
            tiles.append(_scenery_tile(town, scenery[rows[len(rows) // 2]], KINDS[kind]))
    return tiles


def _scenery_tile(town: Town, row: Any, label: str) -> Image.Image:
    """Look at a solid from the side of the nearest lane."""
    x, y, z = float(row["x"]), float(row["y"]), float(row["z"] - row["ez"])
    spots = np.array([place[:2] for place, *_ in _places(town)])
    near = spots[np.argmin(np.hypot(*(spots - (x, y)).T))]
    yaw = math.atan2(y - near[1], x - near[0])
    street = Street(town, (x, y, z, yaw))
    half = (float(row["ex"]), float(row["ey"]), float(row["ez"]))
    if label == "crown":
        top_m = float(row["z"] + row["ez"]) - street.place(0.0, 0.0)[2]
        return _photo(street, f"tree of {town.name}", (*half[:2], 0.5 * top_m), (0.0, 0.0))
    long = min(half[0], 3.0), min(half[1], 3.0), half[2]
    return _photo(street, label.replace("_", " "), long, (0.0, 0.0))


def _places(town: Town) -> Any:
    return [((pose.x, pose.y),) for pose in town.spawn_points]


def _sign_tiles() -> list[Image.Image]:
    """Return a picture of each sign face of the towns."""
    tiles: dict[str, Image.Image] = {}
    for name in ("Harbour", "Orchard", "Ridge"):
        town = load_town(name)
        for sign in town.signs:
            label = sign.type_id.removeprefix("traffic.")
            if label in tiles or len(tiles) > 9:
                continue
            pose = sign.pose
            yaw = math.radians(pose.yaw - 90.0)  # against the face
            street = Street(town, (pose.x, pose.y, pose.z - 2.4, yaw))
            tiles[label] = _photo(street, label, (0.5, 0.1, 1.45), (0.0, 0.0))
    return [tiles[label] for label in sorted(tiles)]


def main(folder: Path, names: Sequence[str]) -> None:
    """Draw the sheets of these names, all without names."""
    groups: dict[str, Callable[[], list[Shot]]] = {
        "cars": lambda: _vehicles(
            lambda spec: spec.base_type in ("car", "van") and spec.special_type not in _MARKED
        ),
        "trucks": lambda: _vehicles(
            lambda spec: spec.base_type in _HEAVY or spec.special_type in _MARKED
        ),
        "two_wheelers": lambda: _vehicles(lambda spec: spec.base_type in _TWO_WHEELS),
        "people": lambda: [_person(*facts) for facts in _PEOPLE],
        "animals": _animals,
        "works": lambda: [_prop(type_id) for type_id in _WORKS],
    }
    for name in names or [*groups, "scenery"]:
        if name == "scenery":
            tiles = _scenery_tiles()
        else:
            street = _street()
            tiles = [_tile(street, shot) for shot in groups[name]()]
            tiles += _sign_tiles() if name == "works" else []
        _sheet(tiles).save(folder / f"classes_{name}.jpg", quality=_QUALITY)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
