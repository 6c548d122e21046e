"""Styles of street sides (sizes, spacings, colours) and the layout of the scenery table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jaywalk.core.carla_enums import SemanticTag
from jaywalk.geometry.box import CORNERS, box_points
from jaywalk.town._frontage import Frontage

Values = NDArray[np.float64]


class Shape(IntEnum):
    """Shape of a scenery object, for drawing and for contacts."""

    BOX = 0
    CYLINDER = 1  # upright; ex is the radius, ez the half height
    SPHERE = 2  # tree crowns; ex is the radius


SCENERY: Final = np.dtype(
    [
        ("label", "u1"),  # SemanticTag
        ("shape", "u1"),
        ("solid", "u1"),  # 1: vehicles and people collide with it
        ("kind", "u1"),  # index into KINDS
        ("x", "f8"),
        ("y", "f8"),
        ("z", "f8"),  # centre of the solid
        ("ex", "f8"),
        ("ey", "f8"),
        ("ez", "f8"),  # half extents
        ("yaw", "f8"),
        ("red", "u1"),
        ("green", "u1"),
        ("blue", "u1"),
    ],
    align=True,
)

KINDS: Final = (
    "building",
    "wall",
    "fence",
    "trunk",
    "crown",
    "hedge",
    "lamp",
    "traffic_light_pole",
    "sign_post",
    "bench",
    "bin",
    "bus_shelter",
    "hydrant",
    "mailbox",
    "bollard",
    "parked_car",
    "guard_rail",
    "container",
    "kiosk",
    "island",
    "other",
)
LABELS: Final = {
    "building": SemanticTag.BUILDING,
    "wall": SemanticTag.WALL,
    "fence": SemanticTag.FENCE,
    "trunk": SemanticTag.VEGETATION,
    "crown": SemanticTag.VEGETATION,
    "hedge": SemanticTag.VEGETATION,
    "lamp": SemanticTag.POLE,
    "traffic_light_pole": SemanticTag.POLE,
    "sign_post": SemanticTag.POLE,
    "bench": SemanticTag.STATIC,
    "bin": SemanticTag.STATIC,
    "bus_shelter": SemanticTag.STATIC,
    "hydrant": SemanticTag.STATIC,
    "mailbox": SemanticTag.STATIC,
    "bollard": SemanticTag.POLE,
    "parked_car": SemanticTag.CAR,
    "guard_rail": SemanticTag.GUARD_RAIL,
    "container": SemanticTag.STATIC,
    "kiosk": SemanticTag.BUILDING,
    "island": SemanticTag.SIDEWALK,
    "other": SemanticTag.OTHER,
}


def rows(
    kind: str,
    shape: Shape,
    position_m: Values,
    half_m: ArrayLike,
    yaw_rad: ArrayLike,
    colour: ArrayLike,
    *,
    solid: bool = True,
) -> NDArray[np.void]:
    """Scenery rows of one kind standing on ``position_m`` (n, 3), the middle of their foot."""
    position_m = np.asarray(position_m, np.float64).reshape(-1, 3)
    count = len(position_m)
    table = np.zeros(count, SCENERY)
    half = np.broadcast_to(np.asarray(half_m, np.float64), (count, 3))
    tint = np.broadcast_to(np.asarray(colour), (count, 3))
    table["label"], table["shape"] = LABELS[kind], int(shape)
    table["solid"], table["kind"] = int(solid), KINDS.index(kind)
    for column, name in enumerate(("x", "y", "z")):
        table[name] = position_m[:, column]
        table[f"e{name}"] = half[:, column]
    table["z"] += table["ez"]
    table["yaw"] = yaw_rad
    for column, name in enumerate(("red", "green", "blue")):
        table[name] = np.clip(tint[:, column], 0, 255).astype(np.uint8)
    return table


_FROM_REAR: Final = CORNERS[[2, 1, 0, 3]]


def footprints(table: NDArray[np.void], margin_m: float = 0.0) -> Values:
    """Corners (n, 4, 2) of the rectangles on which the objects stand, enlarged by a margin."""
    ex = table["ex"] + margin_m
    ey = np.where(table["shape"] == int(Shape.BOX), table["ey"], table["ex"]) + margin_m
    centre, half = np.column_stack([table["x"], table["y"]]), np.column_stack([ex, ey])
    return box_points(centre, np.cos(table["yaw"]), np.sin(table["yaw"]), half, _FROM_REAR)


Span = tuple[float, float]
Palette = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreetStyle:
    """Style of one kind of street side."""

    name: str
    building_width_m: Span = (13.0, 27.0)
    building_depth_m: Span = (11.0, 17.0)
    building_height_m: Span = (9.0, 25.0)
    gap_m: Span = (0.3, 3.0)
    setback_m: Span = (2.2, 3.2)
    walls: Palette = ()
    roofs: Palette = ()
    roof_height_m: Span = (0.0, 0.0)
    roof_share: float = 0.0
    back_row_m: float = 0.0  # setback of a second row, 0 without one
    fences: tuple[str, ...] = ()
    lamp_step_m: float = 30.0
    kerb_tree_step_m: float = 0.0
    garden_tree_step_m: float = 0.0
    garden_tree_reach_m: Span = (1.5, 4.0)
    back_tree_step_m: float = 0.0
    furniture_step_m: float = 0.0


CITY: Final = StreetStyle(
    name="city",
    walls=(
        (178, 160, 138),
        (150, 86, 68),
        (196, 188, 174),
        (120, 124, 130),
        (208, 182, 140),
        (164, 112, 90),
        (142, 150, 158),
        (222, 214, 200),
    ),
    roofs=((96, 98, 102), (120, 112, 104), (84, 80, 78)),
    roof_height_m=(2.4, 5.0),
    roof_share=0.5,
    back_row_m=26.0,
    kerb_tree_step_m=17.0,
    furniture_step_m=38.0,
)
RESIDENTIAL: Final = StreetStyle(
    name="residential",
    building_width_m=(9.0, 14.0),
    building_depth_m=(8.0, 11.0),
    building_height_m=(3.6, 7.0),
    gap_m=(5.0, 10.0),
    setback_m=(5.0, 8.0),
    walls=(
        (226, 218, 200),
        (206, 190, 160),
        (188, 120, 92),
        (236, 232, 224),
        (170, 176, 160),
        (214, 204, 176),
    ),
    roofs=((140, 62, 46), (112, 54, 44), (88, 72, 66), (92, 94, 98)),
    roof_height_m=(1.4, 2.4),
    roof_share=1.0,
    fences=("hedge", "fence", "wall", "hedge"),
    lamp_step_m=32.0,
    garden_tree_step_m=20.0,
    garden_tree_reach_m=(1.6, 4.2),
    back_tree_step_m=42.0,
    furniture_step_m=85.0,
)
VILLAGE: Final = StreetStyle(
    name="village",
    building_width_m=(9.0, 16.0),
    building_depth_m=(8.0, 12.0),
    building_height_m=(4.0, 8.0),
    gap_m=(2.5, 8.0),
    setback_m=(1.6, 5.0),
    walls=((230, 222, 206), (214, 198, 166), (196, 178, 150), (238, 234, 226)),
    roofs=((146, 66, 48), (118, 58, 46), (96, 78, 70)),
    roof_height_m=(1.6, 2.8),
    roof_share=1.0,
    fences=("wall", "fence", "hedge"),
    garden_tree_step_m=22.0,
    back_tree_step_m=48.0,
    furniture_step_m=60.0,
)
INDUSTRY: Final = StreetStyle(
    name="industry",
    building_width_m=(24.0, 46.0),
    building_depth_m=(18.0, 30.0),
    building_height_m=(6.5, 11.0),
    gap_m=(9.0, 18.0),
    setback_m=(9.0, 13.0),
    walls=((150, 158, 164), (176, 180, 178), (120, 138, 150), (186, 176, 158)),
    roofs=((110, 114, 118),),
    fences=("fence",),
    lamp_step_m=34.0,
)
VERGE: Final = StreetStyle(
    name="verge",
    building_width_m=(11.0, 20.0),
    building_depth_m=(9.0, 13.0),
    building_height_m=(4.0, 7.5),
    gap_m=(60.0, 190.0),
    setback_m=(13.0, 26.0),
    walls=((224, 214, 194), (150, 96, 74), (196, 186, 166)),
    roofs=((132, 62, 48), (104, 84, 74)),
    roof_height_m=(1.8, 3.0),
    roof_share=1.0,
    lamp_step_m=0.0,
    garden_tree_step_m=26.0,
    garden_tree_reach_m=(4.0, 14.0),
)
INNER: Final = StreetStyle(
    name="inner", lamp_step_m=0.0, garden_tree_step_m=14.0, garden_tree_reach_m=(4.0, 6.0)
)
FAST: Final = StreetStyle(
    name="fast", lamp_step_m=0.0, garden_tree_step_m=55.0, garden_tree_reach_m=(7.0, 16.0)
)

STYLES: Final = ("city", "residential", "rural", "country", "auto")
WIDE_LANE_M: Final = (3.4, 4.2)  # lanes for lorries; wider ones are rings
FAST_KMH: Final = 85.0


def town_style(style: str, frontages: tuple[Frontage, ...]) -> str:
    """Resolve ``auto``: a city if most of the edges have sidewalks, else the country."""
    if style != "auto":
        return style
    walked = sum(edge.length_m for edge in frontages if edge.walk_m.mean() > 0.5)
    total = sum(edge.length_m for edge in frontages)
    return "city" if walked > 0.5 * total else "country"


def street_style(style: str, edge: Frontage) -> StreetStyle:
    """Return the style of one street side in a town of the given style."""
    if edge.speed_kmh > FAST_KMH or edge.setting == "motorway":
        return FAST
    if edge.side == 0:
        return INNER
    if edge.walk_m.mean() < 0.5:
        return VERGE
    if style == "rural":
        return INDUSTRY if WIDE_LANE_M[0] <= edge.lane_width_m < WIDE_LANE_M[1] else VILLAGE
    if style == "country":
        return VILLAGE
    return CITY if style == "city" else RESIDENTIAL
