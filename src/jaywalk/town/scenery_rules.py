"""Rules that propose scenery; objects that do not fit are removed later.

:func:`signal_poles` and :func:`islands` follow from the map: poles of lights and signs, and traffic
islands. The other rules place objects along the edges of streets.
"""

from __future__ import annotations

import math
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.carla_enums import SemanticTag
from jaywalk.geometry.pose import yaw_rad
from jaywalk.town._frontage import Frontage, MapLike, Values
from jaywalk.town.scenery_styles import SCENERY, Shape, Span, StreetStyle, rows

Table = NDArray[np.void]
LIGHT = "1000001"
PLATES = {"206": (178, 24, 28), "205": (236, 220, 90), "274": (240, 240, 240)}
POLE_SPACING_M = 0.5


def _spots(landmarks: list[Any]) -> list[tuple[float, float, float, float, str]]:
    """Foot, yaw and type of the landmarks; landmarks at the same spot give one entry."""
    seen: set[tuple[int, int]] = set()
    spots = []
    for mark in sorted(landmarks, key=lambda mark: (mark.type != LIGHT, str(mark.id))):
        place = mark.transform.location
        cell = (round(place.x / POLE_SPACING_M), round(place.y / POLE_SPACING_M))
        if cell in seen:
            continue
        seen.add(cell)
        yaw = yaw_rad(mark.transform)
        spots.append((place.x, place.y, place.z - mark.z_offset, yaw, str(mark.type)))
    return spots


def signal_poles(carla_map: MapLike) -> tuple[Table, Table]:
    """Poles of lights, then of signs; and the plates of the signs in the order of their poles."""
    wanted = {LIGHT, *PLATES}
    spots = _spots([mark for mark in carla_map.get_all_landmarks() if str(mark.type) in wanted])
    lights = np.array([spot[:3] for spot in spots if spot[4] == LIGHT]).reshape(-1, 3)
    signs = [spot for spot in spots if spot[4] != LIGHT]
    feet = np.array([spot[:3] for spot in signs]).reshape(-1, 3)
    poles = np.concatenate(
        [
            rows("traffic_light_pole", Shape.CYLINDER, lights, (0.1, 0.1, 2.6), 0.0, (64, 66, 68)),
            rows("sign_post", Shape.CYLINDER, feet, (0.05, 0.05, 1.3), 0.0, (132, 134, 136)),
        ]
    )
    turned = np.array([spot[3] + math.pi / 2.0 for spot in signs])
    tints = np.array([PLATES[spot[4]] for spot in signs]).reshape(-1, 3)
    plates = rows(
        "sign_post",
        Shape.BOX,
        feet + np.array([0.0, 0.0, 2.0]),
        (0.35, 0.02, 0.35),
        turned,
        tints,
        solid=False,
    )
    plates["label"] = SemanticTag.TRAFFIC_SIGN
    return poles, plates


def islands(carla_map: MapLike, root: Element) -> Table:
    """Solids of the traffic islands, which the map stores as objects with an outline."""
    tables = [np.zeros(0, SCENERY)]
    for road in root.iter("road"):
        for item in road.iterfind("objects/object"):
            if item.get("type") != "trafficIsland":
                continue
            waypoint = carla_map.get_waypoint_xodr(
                int(road.get("id", "0")), -1, float(item.get("s", "0"))
            )
            corners = [
                (float(corner.get("u", "0")), float(corner.get("v", "0")))
                for corner in item.iter("cornerLocal")
            ]
            if waypoint is None or len(corners) < 3:
                continue
            tables += _island(waypoint, np.array(corners))
    return np.concatenate(tables)


def _island(waypoint: Any, corners: NDArray[np.float64]) -> list[Table]:
    place, yaw = waypoint.transform.location, yaw_rad(waypoint.transform)
    ahead = np.array([math.cos(yaw), math.sin(yaw)])
    left = np.array([ahead[1], -ahead[0]])  # left-handed frame
    reference = np.array([place.x, place.y]) + left * waypoint.lane_width / 2.0
    low, high = corners.min(axis=0), corners.max(axis=0)
    middle = reference + ahead * (low[0] + high[0]) / 2.0 + left * (low[1] + high[1]) / 2.0
    half = (*((high - low) / 2.0), 0.09)
    foot = np.array([[*middle, place.z]])
    post = foot + np.array([[0.0, 0.0, 0.18]])
    return [
        rows("island", Shape.BOX, foot, half, yaw, (170, 168, 160)),
        rows("bollard", Shape.CYLINDER, post, (0.1, 0.1, 0.5), 0.0, (226, 196, 52)),
    ]


Random = np.random.Generator
EMPTY = np.zeros(0, SCENERY)
KERB_ZONE_M = 0.3  # from the kerb to the middle of a pole on the sidewalk
BESIDE_LANE_M = 1.5  # no trunk or post this near to a lane where there is a shoulder
FOUNDATION_M = 1.0
WIDE_WALK_M = 2.4
FACING_M = 14.0
LAMP_SIDES = 2.0
SHELTER_HALF_M = (2.0, 0.75, 1.25)


def _spaced(edge: Frontage, step_m: float, random: Random, ends_m: float = 4.0) -> Values:
    """Arc lengths about every ``step_m`` along an edge, with small random offsets."""
    room = edge.length_m - 2.0 * ends_m
    if step_m <= 0.0 or room < step_m * 0.4:
        return np.zeros(0)
    count = max(1, round(room / step_m))
    places = ends_m + room * (np.arange(count) + 0.5) / count
    return np.asarray(places + random.uniform(-0.12, 0.12, count) * step_m)


def _beside(edge: Frontage, along: Values, beyond_m: Values | float) -> tuple[Values, Values]:
    """Feet (n, 3) at a distance beyond the edge (negative: inside), and yaws along the street."""
    points, outward, _ = edge.at(along)
    feet = points.copy()
    feet[:, :2] += outward * np.reshape(beyond_m, (-1, 1))
    return feet, np.arctan2(outward[:, 1], outward[:, 0]) - math.pi / 2.0


def _fronting(edge: Frontage, along: Values, beyond_m: Values) -> tuple[Values, Values]:
    """Return feet and yaws as :func:`_beside`, aligned with the street without bays and tapers."""
    points, outward, _ = edge.at(along)
    chord = edge.at(along + FACING_M)[0][:, :2] - edge.at(along - FACING_M)[0][:, :2]
    chord /= np.maximum(np.hypot(chord[:, 0], chord[:, 1]), 1e-9)[:, None]
    normal = np.column_stack([-chord[:, 1], chord[:, 0]])
    normal *= np.sign(np.sum(normal * outward, axis=1))[:, None]
    feet = points.copy()
    feet[:, :2] += normal * beyond_m[:, None]
    return feet, np.arctan2(normal[:, 1], normal[:, 0]) - math.pi / 2.0


def _steps(first_m: float, stop_m: float, step_m: float) -> Values:
    return np.arange(first_m, stop_m, step_m, dtype=np.float64)


def _uniform(random: Random, span: Span) -> float:
    return float(random.uniform(*span))


def buildings(
    edge: Frontage, style: StreetStyle, random: Random, setback_extra_m: float = 0.0
) -> Table:
    """One row of buildings along an edge, wall to wall or with gaps."""
    if not style.walls:
        return EMPTY
    along, size, back, tint = [], [], [], []
    place = _uniform(random, (1.0, 6.0))
    while place < edge.length_m - style.building_width_m[0] * 0.7:
        width = _uniform(random, style.building_width_m)
        depth = _uniform(random, style.building_depth_m)
        height = _uniform(random, style.building_height_m)
        along.append(place + width / 2.0)
        size.append((width / 2.0, depth / 2.0, (height + FOUNDATION_M) / 2.0))
        back.append(_uniform(random, style.setback_m) + setback_extra_m + depth / 2.0)
        shade = random.uniform(0.9, 1.06)
        tint.append(np.array(style.walls[random.integers(len(style.walls))]) * shade)
        place += width + _uniform(random, style.gap_m)
    if not along:
        return EMPTY
    feet, yaw = _fronting(edge, np.array(along), np.array(back))
    feet[:, 2] -= FOUNDATION_M
    return rows("building", Shape.BOX, feet, np.array(size), yaw, np.array(tint))


def roofs(houses: Table, style: StreetStyle, random: Random) -> Table:
    """Narrower tops on some of the buildings: roofs of houses, upper storeys in a city."""
    if not style.roofs or style.roof_height_m[1] <= 0.0:
        return EMPTY
    chosen = houses[random.uniform(size=len(houses)) < style.roof_share]
    height = random.uniform(*style.roof_height_m, len(chosen))
    half = np.column_stack([chosen["ex"] * 0.86, chosen["ey"] * 0.62, height / 2.0])
    feet = np.column_stack([chosen["x"], chosen["y"], chosen["z"] + chosen["ez"]])
    tint = np.array(style.roofs)[random.integers(len(style.roofs), size=len(chosen))]
    return rows("building", Shape.BOX, feet, half, chosen["yaw"], tint)


def fences(edge: Frontage, style: StreetStyle, random: Random) -> Table:
    """Garden fronts 0.45 m beyond the sidewalk, with openings for paths and drives."""
    if not style.fences:
        return EMPTY
    tables = []
    place = 5.0
    looks = {
        "hedge": ((0.45, 0.7), (62, 104, 48)),
        "fence": ((0.05, 0.55), (150, 130, 100)),
        "wall": ((0.13, 0.6), (186, 178, 166)),
    }
    while place < edge.length_m - 8.0:
        kind = style.fences[random.integers(len(style.fences))]
        (thick, half_height), colour = looks[kind]
        lot = _uniform(random, (14.0, 26.0))
        pieces = _steps(place, min(place + lot - 3.0, edge.length_m - 8.0), 7.5)
        if len(pieces):
            length = min(7.5, lot - 3.0)
            feet, yaw = _beside(edge, pieces + length / 2.0, 0.45 + thick)
            tables.append(
                rows(kind, Shape.BOX, feet, (length / 2.0 - 0.02, thick, half_height), yaw, colour)
            )
        place += lot
    return np.concatenate(tables) if tables else EMPTY


def trees(feet: Values, random: Random, *, slim: bool) -> tuple[Table, Table]:
    """Trunks and crowns, one crown per trunk."""
    count = len(feet)
    crown = random.uniform(1.3, 1.9, count) if slim else random.uniform(1.6, 3.0, count)
    trunk = random.uniform(2.6, 3.4, count) if slim else random.uniform(1.8, 3.0, count)
    half = np.column_stack([np.full(count, 0.14), np.full(count, 0.14), trunk / 2.0])
    trunks = rows("trunk", Shape.CYLINDER, feet, half, 0.0, (94, 72, 52))
    top = feet + np.column_stack([np.zeros((count, 2)), trunk - 0.4])
    green = np.column_stack(
        [
            random.uniform(48, 92, count),
            random.uniform(98, 138, count),
            random.uniform(38, 66, count),
        ]
    )
    crowns = rows("crown", Shape.SPHERE, top, crown[:, None] * np.ones(3), 0.0, green, solid=False)
    return trunks, crowns


def _kerb_zone_m(edge: Frontage, along: Values) -> Values:
    """Distance from the kerb to the middle of a post or trunk.

    Beside a narrow shoulder the objects stand behind it, because cars use the space beside their
    lane.
    """
    shoulder = np.interp(along, edge.along, edge.shoulder_m)
    narrow = (shoulder > 0.0) & (shoulder + KERB_ZONE_M < BESIDE_LANE_M)
    return np.where(narrow, edge.at(along)[2] + KERB_ZONE_M, KERB_ZONE_M)


def kerb_feet(edge: Frontage, step_m: float, random: Random, least_walk_m: float) -> Values:
    """Positions on the kerb side of the sidewalk, where it is wide enough."""
    along = _spaced(edge, step_m, random)
    _, _, walk = edge.at(along)
    along, walk = along[walk >= least_walk_m], walk[walk >= least_walk_m]
    return _beside(edge, along, _kerb_zone_m(edge, along) - walk)[0]


def verge_feet(edge: Frontage, step_m: float, reach_m: Span, random: Random) -> Values:
    """Positions beyond the edge, at random distances."""
    along = _spaced(edge, step_m, random)
    return _beside(edge, along, random.uniform(*reach_m, len(along)))[0]


def lamps(edge: Frontage, style: StreetStyle, random: Random) -> Table:
    """Lamp posts; each side of a street gets every second post."""
    along = _spaced(edge, style.lamp_step_m * LAMP_SIDES, random)
    _, _, walk = edge.at(along)
    zone = _kerb_zone_m(edge, along)
    # On a narrow sidewalk a post at the kerb would block people.
    feet, _ = _beside(edge, along, np.where(walk >= WIDE_WALK_M, zone - walk, 0.25))
    return rows("lamp", Shape.CYLINDER, feet, (0.09, 0.09, 3.0), 0.0, (70, 74, 78))


def furniture(edge: Frontage, style: StreetStyle, random: Random) -> list[Table]:
    """Benches with bins, mailboxes and kiosks just beyond the sidewalk, hydrants at the kerb."""
    along = _spaced(edge, style.furniture_step_m, random, 8.0)
    if not len(along):
        return []
    feet, yaw = _beside(edge, along, 0.5)
    draw = random.uniform(size=len(along))
    seats, boxes, kiosks = draw < 0.6, (draw >= 0.6) & (draw < 0.88), draw >= 0.96
    bins, bin_yaw = _beside(edge, along[seats] + 1.5, 0.45)
    tables = [
        rows("bench", Shape.BOX, feet[seats], (0.9, 0.25, 0.42), yaw[seats], (124, 92, 60)),
        rows("bin", Shape.CYLINDER, bins, (0.24, 0.24, 0.45), bin_yaw, (58, 84, 62)),
        rows("mailbox", Shape.BOX, feet[boxes], (0.25, 0.22, 0.6), yaw[boxes], (196, 160, 40)),
    ]
    stand, stand_yaw = _beside(edge, along[kiosks], 1.4)
    tables.append(rows("kiosk", Shape.BOX, stand, (1.3, 1.0, 1.3), stand_yaw, (164, 60, 52)))
    hydrants = kerb_feet(edge, 90.0, random, 2.4)
    tables.append(rows("hydrant", Shape.CYLINDER, hydrants, (0.13, 0.13, 0.38), 0.0, (190, 44, 36)))
    return tables


def shelters(edge: Frontage) -> Table:
    """A bus shelter behind the sidewalk at each bus bay."""
    if not len(edge.stops):
        return EMPTY
    feet, yaw = _beside(edge, edge.stops, SHELTER_HALF_M[1] + 0.25)
    return rows("bus_shelter", Shape.BOX, feet, SHELTER_HALF_M, yaw, (104, 122, 134))


def guard_rails(edge: Frontage, *, everywhere: bool) -> Table:
    """Rails beyond the shoulder: along fast roads, and where the road lies high or turns."""
    pieces = _steps(6.0, edge.length_m - 6.0, 9.0)
    if not len(pieces):
        return EMPTY
    if not everywhere:
        _, before, _ = edge.at(pieces - 6.0)
        _, after, _ = edge.at(pieces + 6.0)
        turning = np.abs(before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]) > 0.07
        slope = np.abs(np.gradient(edge.points[:, 2], edge.along))
        pieces = pieces[turning | (np.interp(pieces, edge.along, slope) > 0.03)]
    feet, yaw = _beside(edge, pieces, 0.3)
    return rows("guard_rail", Shape.BOX, feet, (4.4, 0.09, 0.38), yaw, (168, 172, 176))


def delineators(edge: Frontage) -> Table:
    """White posts every 50 m beside rural roads."""
    pieces = _steps(12.0, edge.length_m - 12.0, 50.0)
    feet, yaw = _beside(edge, pieces, 0.7)
    return rows("bollard", Shape.CYLINDER, feet, (0.06, 0.06, 0.5), yaw, (236, 236, 232))


def containers(edge: Frontage, random: Random) -> Table:
    """Containers in the yards between the sheds, some in stacks of two."""
    along = _spaced(edge, 22.0, random, 10.0)
    if not len(along):
        return EMPTY
    feet, yaw = _beside(edge, along, random.uniform(3.0, 7.0, len(along)))
    double = random.uniform(size=len(along)) < 0.3
    half = np.column_stack(
        [np.full(len(along), 3.05), np.full(len(along), 1.22), np.where(double, 2.6, 1.3)]
    )
    paints = np.array(
        [(150, 60, 44), (44, 88, 132), (62, 112, 82), (188, 142, 52), (120, 120, 124)]
    )
    tint = paints[random.integers(len(paints), size=len(along))]
    return rows("container", Shape.BOX, feet, half, yaw, tint)
