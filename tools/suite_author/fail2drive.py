"""Writes the routes of ``fail2drive``: ``PYTHONPATH=tools python -m suite_author.fail2drive``.

Every pair gets the street that fits it and that other pairs use least, so the file follows from the
plans and the towns alone.

What blocks a whole street: objects from kerb to kerb, so that nobody gets through.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from jaywalk.core.errors import DataError
from jaywalk.core.seeds import stream
from jaywalk.scenarios.formats.route_xml import (
    Keypoint,
    Route,
    RouteFile,
    ScenarioElement,
    WeatherPoint,
    write_routes,
)
from jaywalk.scenarios.formats.weathers import CLEAR_DAY_WEATHERS
from jaywalk.scenarios.formats.xml_node import Attributes, Node
from jaywalk.scenarios.parameter_fields import PlacedObject, format_object
from jaywalk.suites.fail2drive import FILE, SHIFT_OFFSET
from jaywalk.suites.stretches import Stretch, stretches
from jaywalk.town.town import load_town
from suite_author.fail2drive_plans import Pair, Scene, Street, Value, all_pairs

Block = Callable[[float, float], list[PlacedObject]]
_GAP_M: Final = 0.06
_OVER_M: Final = 0.3  # beyond each kerb


def haybales(left_m: float, right_m: float) -> list[PlacedObject]:
    """A loose row of bales."""
    spots = _spread(left_m, right_m, 1.75)
    return [
        PlacedObject(id="static.prop.haybale", x=0.9 * (k % 2), y=y, z=0.1, yaw=23.0 * k % 60.0)
        for k, y in enumerate(spots)
    ]


def barriers(left_m: float, right_m: float) -> list[PlacedObject]:
    """A warning and a row of barriers."""
    row = [
        PlacedObject(id="static.prop.streetbarrier", x=2.5, y=y, z=0.05, yaw=90.0)
        for y in _spread(left_m, right_m, 1.35)
    ]
    return [PlacedObject(id="static.prop.trafficwarning", y=0.0, z=0.1, yaw=270.0), *row]


def _vehicle(name: str, yaw_deg: float) -> Block:
    def build(left_m: float, right_m: float) -> list[PlacedObject]:
        middle_m = 0.5 * (right_m - left_m)
        return [PlacedObject(id=name, y=round(middle_m, 2), z=0.4, yaw=yaw_deg)]

    return build


def _wall(name: str, half_length_m: float, half_height_m: float) -> Block:
    def build(left_m: float, right_m: float) -> list[PlacedObject]:
        wide_m = left_m + right_m + 2.0 * _OVER_M
        count = math.ceil(wide_m / (2.0 * half_length_m))
        step_m = 2.0 * half_length_m + _GAP_M
        first_m = 0.5 * (right_m - left_m) - 0.5 * step_m * (count - 1)
        return [
            PlacedObject(
                id=f"static.prop.{name}",
                y=round(first_m + k * step_m, 2),
                z=half_height_m + 0.05,
                yaw=90.0,
                roll=90.0,
            )
            for k in range(count)
        ]

    return build


def _spread(left_m: float, right_m: float, step_m: float) -> list[float]:
    """Places across the street at most so far apart."""
    low_m, high_m = -left_m + 0.4, right_m - 0.4
    count = math.ceil((high_m - low_m) / step_m) + 1
    return [round(low_m + k * (high_m - low_m) / (count - 1), 2) for k in range(count)]


BLOCKS: Final[dict[str, Block]] = {
    "haybales": haybales,
    "barriers": barriers,
    "truck": _vehicle("vehicle.carlamotors.european_hgv", 100.0),
    "fire_engine": _vehicle("vehicle.carlamotors.firetruck", 75.0),
    "van": _vehicle("vehicle.mercedes.sprinter", 97.0),
    "brick_wall": _wall("brickwall", 2.0, 1.5),
    "first_picture": _wall("screenshot1", 4.0, 2.0),
    "second_picture": _wall("screenshot2", 4.0, 2.0),
    "motorway_picture": _wall("autobahn", 3.333, 2.5),
}


def block(name: str, left_m: float, right_m: float) -> dict[str, str]:
    """Attributes of ``<objects>`` for a street that ends so far left and right of the ego's way."""
    things = BLOCKS[name](left_m, right_m)
    letters = "abcdefghijklmnopqrstuvwxyz"
    return {letters[k]: format_object(thing) for k, thing in enumerate(things)}


VEHICLES: Final = 15
_FIRST_TRIGGER_M: Final = 12.0
_STEP_M: Final = 4.0
_END_M: Final = 25.0  # between the last thing that happens and the route's end
_TRIES: Final = 400
_GREEN_M: Final = 60.0  # before a junction


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A place for a pair: a stretch and where its scenario is triggered."""

    stretch: Stretch
    trigger_m: float
    at_m: float


@dataclass(slots=True)
class Finder:
    """Finds places; remembers which streets were used."""

    stretches: dict[str, list[Stretch]]
    used: dict[tuple[str, int, int], int] = field(default_factory=dict)

    def find(self, pair: Pair) -> Spot:
        """The place on the least used streets; among equals a drawn one.

        Raises:
            DataError: No street of the town fits.
        """
        stretches = self.stretches[pair.street.town]
        order = stream(1, "fail2drive", pair.number).permutation(len(stretches)).tolist()
        best: tuple[float, Spot] | None = None
        for number in order[:_TRIES]:
            way = stretches[number]
            use = self._use(way)
            if best is not None and use >= best[0]:
                continue
            spot = self._place(pair, way)
            if spot is not None:
                best = use, spot
            if best is not None and best[0] == 0.0:
                break
        if best is None:
            raise DataError(f"Pair {pair.number}: no street of {pair.street.town} fits.")
        for street in best[1].stretch.streets:
            key = (pair.street.town, *street)
            self.used[key] = self.used.get(key, 0) + 1
        return best[1]

    def _use(self, way: Stretch) -> float:
        counts = [self.used.get((way.town.name, *street), 0) for street in way.streets]
        return float(np.mean(counts)) if counts else 99.0

    def _place(self, pair: Pair, way: Stretch) -> Spot | None:
        if pair.street.junction:
            return _at_junction(pair, way)
        if way.turn != "straight":
            return None
        low = _FIRST_TRIGGER_M + pair.distance_m
        if pair.street.before_m < 5.0:  # from the very beginning
            return Spot(stretch=way, trigger_m=1.0, at_m=1.0) if _suits(way, 1.0, pair) else None
        low = max(low, pair.street.before_m)
        for at_m in np.arange(low, min(way.length_m - _END_M, pair.street.latest_m), _STEP_M):
            if _suits(way, float(at_m), pair):
                return Spot(stretch=way, trigger_m=float(at_m) - pair.distance_m, at_m=float(at_m))
        return None


def _suits(way: Stretch, at_m: float, pair: Pair) -> bool:
    """Whether a street is what a scenario needs around a place."""
    street = pair.street
    if at_m + street.after_m + 5.0 > way.length_m or at_m < street.before_m:
        return False
    keep = way.window(at_m, street.before_m, street.after_m)
    if way.dense.in_junction[keep].any():
        return False
    if way.bend_deg(at_m, street.before_m, street.after_m) > street.bend_deg:
        return False
    beside = way.beside
    core = way.window(at_m, min(street.before_m, 25.0), min(street.after_m, 35.0))
    if not all(getattr(beside, flag)[core].all() for flag in street.flags):
        return False
    if any(getattr(beside, flag)[core].any() for flag in street.not_flags):
        return False
    wide = (beside.kerb_left_m + beside.kerb_right_m)[core]
    return bool(wide.max() <= street.widest_m) and _in_limit(beside.limit_kmh[keep], street)


def _in_limit(limit_kmh: np.ndarray, street: Street) -> bool:
    low, high = street.limit_kmh
    return bool(np.nanmin(limit_kmh) >= low and np.nanmax(limit_kmh) <= high)


def _at_junction(pair: Pair, way: Stretch) -> Spot | None:
    """The first junction, if it is of the kind that is wanted."""
    street = pair.street
    if not way.junctions or (way.turn == "straight") == (street.junction == "turn"):
        return None
    enter_m, leave_m = way.junctions[0]
    if enter_m < pair.lead_m + _FIRST_TRIGGER_M or leave_m + 40.0 > way.length_m:
        return None
    kind = "stop" if way.has_stop_sign(0) else "lights" if way.has_lights(0) else "free"
    if street.junction not in (kind, "turn") or (street.junction == "turn" and kind == "stop"):
        return None
    if not _in_limit(way.beside.limit_kmh[way.window(enter_m, 40.0, 0.0)], street):
        return None
    if street.arm and not way.meets(0, street.arm):
        return None
    beyond = way.window(leave_m, -1.0, 6.0)
    if street.junction == "turn" and not way.beside.walk_right[beyond].all():
        return None
    before = way.window(enter_m, 4.0, -1.0)
    if not street.arm and kind == "lights" and not way.beside.walk_right[before].all():
        return None
    return Spot(stretch=way, trigger_m=enter_m - pair.lead_m, at_m=enter_m)


def route_of(pair: Pair, spot: Spot, shift: bool) -> Route:
    """One half of a pair."""
    way = spot.stretch
    number = pair.number + (SHIFT_OFFSET if shift else 0)
    scenes = pair.shift if shift else pair.base
    return Route(
        attributes=(("id", str(number)), ("town", way.town.name), ("vehicles", str(VEHICLES))),
        keypoints=tuple(
            Keypoint(
                attributes=tuple(
                    (key, f"{value:.3f}") for key, value in zip("xyz", point, strict=True)
                )
            )
            for point in way.points
        ),
        weathers=(
            WeatherPoint(
                attributes=_attributes(route_percentage=0.0, **CLEAR_DAY_WEATHERS["noon"])
            ),
        ),
        scenarios=(
            *(_spec(scene, spot, spot.trigger_m, k) for k, scene in enumerate(scenes)),
            *_green(pair, spot, len(scenes)),
        ),
    )


def _green(pair: Pair, spot: Spot, first: int) -> list[ScenarioElement]:
    """The ego has green at every light but those a scenario is about: waiting tells nothing."""
    way = spot.stretch
    held = any(
        scene.type == "PriorityAtJunction" or "Vehicle" in scene.type for scene in pair.shift
    )
    elements: list[ScenarioElement] = []
    leave_m = 0.0
    for number, (enter_m, end_m) in enumerate(way.junctions):
        mine = held and number == 0 and bool(pair.street.junction)
        if way.has_lights(number) and not mine:
            at_m = max(leave_m + 2.0, enter_m - _GREEN_M)
            scene = Scene(type="PriorityAtJunction", name=f"green_{number}")
            elements.append(_spec(scene, spot, at_m, first + len(elements)))
        leave_m = end_m
    return elements


def _spec(scene: Scene, spot: Spot, trigger_m: float, number: int) -> ScenarioElement:
    way = spot.stretch
    at = int(np.searchsorted(way.along_m, trigger_m))
    x, y, z = way.dense.position_m[at]
    yaw = way.dense.rotation_deg[at, 1]
    parameters = dict(scene.parameters)
    if scene.built:
        place = int(np.searchsorted(way.along_m, spot.at_m))
        left_m, right_m = way.beside.kerb_left_m[place], way.beside.kerb_right_m[place]
        parameters["objects"] = block(scene.built, float(left_m), float(right_m))
    name = scene.name or ("first" if number == 0 else f"scenario_{number}")
    return ScenarioElement(
        attributes=(("name", name), ("type", scene.type)),
        elements=(
            Node("trigger_point", _attributes(x=x, y=y, z=z, yaw=yaw)),
            *(_parameter(tag, value) for tag, value in parameters.items()),
        ),
    )


def _attributes(**values: float) -> Attributes:
    return tuple((key, str(round(float(value), 4))) for key, value in values.items())


def _parameter(tag: str, value: Value) -> Node:
    if isinstance(value, dict):
        return Node(tag, tuple(value.items()))
    if isinstance(value, tuple):
        return Node(tag, (("from", f"{value[0]:g}"), ("to", f"{value[1]:g}")))
    return Node(tag, (("value", value if isinstance(value, str) else f"{value:g}"),))


def main() -> None:
    """Write the file."""
    pairs = all_pairs()
    towns = sorted({pair.street.town for pair in pairs})
    finder = Finder({name: stretches(load_town(name)) for name in towns})
    base, shift, failed = [], [], []
    for pair in pairs:
        try:
            spot = finder.find(pair)
        except DataError as problem:
            failed.append(str(problem))
            continue
        base.append(route_of(pair, spot, shift=False))
        shift.append(route_of(pair, spot, shift=True))
        sys.stdout.write(
            f"{pair.number:04d} {pair.street.town} {spot.stretch.length_m:.0f} m, trigger at "
            f"{spot.trigger_m:.0f} m\n"
        )
    if failed:
        raise SystemExit("\n".join(failed))
    write_routes(FILE, RouteFile(routes=(*base, *shift)))


if __name__ == "__main__":
    main()
