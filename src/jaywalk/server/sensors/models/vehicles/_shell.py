"""The shell of cars, vans, buses and cabs: painted body, windows, roof, wheel arches and doors.

A shell is described along its length by fractions: 0 is the front, 1 the rear; heights are shares
of the height of the shell. Its lower body ends at the belt, the windows lie between belt and roof.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Final

import numpy as np

from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors.models.vehicles._shape import Line, VehicleShape
from jaywalk.server.sensors.models.vehicles._surfaces import BODY, DOORS, Surfaces

_POWER: Final = 2.6  # of the bow of front and rear, seen from above
_RUN_M: Final = 0.55  # from the front and the rear in which their lean fades
_ROWS: Final = ((0.0, 0.1, 0.3, 0.55, 0.8, 0.93, 1.0), (0.0, 0.12, 0.6, 1.0), (0.0, 0.6, 1.0))
_PANES: Final = ((0.0, 0.06, 0.5, 0.92, 1.0), (0.0, 0.06, 0.92, 1.0), (0.0, 0.92, 1.0))
_COLUMNS: Final = (12, 5, 3)  # of the side, without arches and doors
_ARCH: Final = (9, 6, 4)
_ACROSS: Final = (
    (-1.0, -0.93, -0.7, -0.35, 0.0, 0.35, 0.7, 0.93, 1.0),
    (-1.0, -0.93, -0.45, 0.45, 0.93, 1.0),
    (-1.0, -0.92, -0.4, 0.4, 0.92, 1.0),
)
_PEAK: Final = 0.45
_GAP_M: Final = 0.007  # half width of the joint of a door
_PAINT: Final = int(Material.PAINT)
_GLASS: Final = int(Material.GLASS)
_DARK: Final = int(Material.INTERIOR)
_PLASTIC: Final = int(Material.PLASTIC)


class Shell:
    """The shell of one vehicle at one level of detail, and places on it for lamps and fittings."""

    def __init__(
        self,
        shape: VehicleShape,
        front_m: float,
        rear_m: float,
        half_m: float,
        height_m: float,
        level: int,
    ) -> None:
        """Describe a shell.

        Args:
            shape: Its proportions.
            front_m: Coordinate of its front.
            rear_m: Coordinate of its rear.
            half_m: Half of its width without mirrors.
            height_m: Height of its roof.
            level: Level of detail: 0 near, 1 middle, 2 far.
        """
        self.shape, self.level = shape, level
        self.front_m, self.long_m = front_m, front_m - rear_m
        self.half_m, self.height_m = half_m, height_m
        self.first, self.last = (
            shape.front_bow_m / self.long_m,
            1.0 - shape.rear_bow_m / self.long_m,
        )
        self.hood = shape.cowl[0] > self.first + 0.02
        self.boot = shape.deck[0] < self.last - 0.02
        self.cowl = shape.cowl[0] if self.hood else self.first
        self.deck = shape.deck[0] if self.boot else self.last
        self.screen_bow_m = 0.16 if self.hood else shape.front_bow_m
        self.window_bow_m = 0.10 if self.boot else shape.rear_bow_m
        self.arch_m = shape.wheel_m + 0.055
        self.axles = [axle for axle in shape.axles if self.first < axle < self.last]

    def x(self, f: float) -> float:
        """Coordinate of a place along the length."""
        return self.front_m - f * self.long_m

    def belt(self, f: float) -> float:
        """Height of the belt."""
        s = self.shape
        places = [self.first, self.cowl, self.deck, self.last]
        heights = [s.nose if self.hood else s.cowl[1], s.cowl[1], s.deck[1]]
        heights.append(s.tail if self.boot else s.deck[1])
        return float(np.interp(f, places, heights)) * self.height_m

    def _lean(self, f: float, share: float) -> float:
        fore = max(0.0, 1.0 - (f - self.first) * self.long_m / _RUN_M)
        aft = max(0.0, 1.0 - (self.last - f) * self.long_m / _RUN_M)
        front = _at(self.shape.front_lean, share)
        rear = _at(self.shape.rear_lean, share)
        return rear * min(aft, 1.0) - front * min(fore, 1.0)

    def half(self, f: float, share: float) -> float:
        """Half width of the lower body at a height given as a share of the lower body."""
        s = self.shape
        fore, aft = f * self.long_m / 1.0, (1.0 - f) * self.long_m / 0.8
        wide = 1.0 - s.taper[0] * max(0.0, 1.0 - fore) ** 2 - s.taper[1] * max(0.0, 1.0 - aft) ** 2
        return self.half_m * wide * _at(s.side, share)

    def side(self, f: float, z: float, lift: float = 0.0) -> tuple[float, float, float]:
        """Point on the right side of the lower body."""
        low = self.shape.clearance_m
        share = min(max((z - low) / (self.belt(f) - low), 0.0), 1.0)
        return self.x(f) + self._lean(f, share), self.half(f, share) + lift, z

    def end(
        self, u: float, share: float, *, rear: bool = False, lift: float = 0.0
    ) -> tuple[float, float, float]:
        """Point on the front or the rear; u runs from -1 (left) to 1 (right)."""
        s = self.shape
        f = self.last if rear else self.first
        low = s.clearance_m
        bow = (s.rear_bow_m if rear else s.front_bow_m) * (1.0 - abs(u) ** _POWER) + lift
        x = self.x(f) + self._lean(f, share) + (-bow if rear else bow)
        return x, u * (self.half(f, share) + lift), low + share * (self.belt(f) - low)

    def roof(self, f: float, u: float) -> tuple[float, float, float]:
        """Point on the roof."""
        s = self.shape
        (f0, z0), (f1, z1) = s.roof_front, s.roof_rear
        t = (f - f0) / (f1 - f0)
        # A parabola through both ends that reaches the full height a little before the middle.
        lift = max(1.0 - z0 - (z1 - z0) * _PEAK, 0.0) / (_PEAK * (1.0 - _PEAK))
        z = z0 + (z1 - z0) * t + lift * t * (1.0 - t)
        bow = 0.12 * (1.0 - t) ** 2 * (1.0 - u * u) - self.window_bow_m * t * t * (1.0 - u * u)
        wide = self.half_m * s.roof_width * (1.0 - 0.05 * (2.0 * t - 1.0) ** 2)
        wide *= self.half(f, 0.5) / self.half_m
        return self.x(f) + bow, u * wide, z * self.height_m - s.roof_crown_m * u * u

    def screen(self, u: float, t: float) -> tuple[float, float, float]:
        """Point on the windscreen; t runs from 0 (foot) to 1 (roof)."""
        low, high = (
            self._foot(u, self.cowl, self.screen_bow_m),
            self.roof(self.shape.roof_front[0], u),
        )
        return _between(low, high, t, 0.03 * (1.0 - u * u))

    def window(self, u: float, t: float) -> tuple[float, float, float]:
        """Point on the rear window."""
        low, high = (
            self._foot(u, self.deck, -self.window_bow_m),
            self.roof(self.shape.roof_rear[0], u),
        )
        return _between(low, high, t, -0.02 * (1.0 - u * u))

    def _foot(self, u: float, f: float, bow: float) -> tuple[float, float, float]:
        power = 2.0 if (self.boot if bow < 0.0 else self.hood) else _POWER
        x = self.x(f) + self._lean(f, 1.0) + bow * (1.0 - abs(u) ** power)
        return x, u * self.half(f, 1.0), self.belt(f) + self._crown(f) * (1.0 - abs(u) ** 2.2)

    def _crown(self, f: float) -> float:
        """By which bonnet and boot are higher in the middle."""
        if f <= self.cowl:
            return 0.07 * (f - self.first) / (self.cowl - self.first) if self.hood else 0.0
        if f >= self.deck:
            return 0.05 * (self.last - f) / (self.last - self.deck) if self.boot else 0.0
        return 0.0

    def heights(self, low: float, high: float) -> list[float]:
        """Return two shares of the lower body and the rows of the shell between them."""
        return [low, *(share for share in _ROWS[self.level] if low < share < high), high]

    def build(self, out: Surfaces) -> None:
        """Add the whole shell."""
        self._sides(out)
        self._ends(out)
        self._cabin(out)
        self._arches(out)
        self._floor(out)

    def _bottom(self, f: float) -> float:
        low = self.shape.clearance_m
        for axle in self.axles:
            away = abs(f - axle) * self.long_m
            if away < self.arch_m:
                low = max(low, self.shape.wheel_m + math.sqrt(self.arch_m**2 - away**2))
        return low

    def _arch_places(self, axle: float) -> list[float]:
        angles = np.linspace(-0.5 * math.pi, 0.5 * math.pi, _ARCH[self.level])
        inner = axle + self.arch_m / self.long_m * np.sin(angles)
        edge = self.arch_m / self.long_m * 1.002
        inner[0] += 1e-5
        inner[-1] -= 1e-5
        return [axle - edge, *inner.tolist(), axle + edge]

    def door_edges(self) -> list[tuple[float, float]]:
        """Front and rear edge of each door of the right side."""
        s = self.shape
        if not s.doors:
            return []
        clear = self.arch_m / self.long_m + 0.012
        first = max(self.cowl + 0.012, s.axles[0] + clear) if self.hood else s.axles[0] - clear
        first = first if first > self.cowl else self.cowl + 0.02
        edges = [first, *s.pillars[: s.doors // 2]]
        return list(pairwise(edges))

    def hinges(self) -> tuple[tuple[float, float], ...]:
        """Coordinates x and y of the hinges of all doors, in the order of ``DOORS``."""
        edges = [(self.x(start), self.half(start, 0.6)) for start, _ in self.door_edges()]
        return tuple((x, side * y) for x, y in edges for side in (-1.0, 1.0))

    def _sides(self, out: Surfaces) -> None:
        s, level = self.shape, self.level
        gap = _GAP_M / self.long_m
        edges = sorted({edge for pair in self.door_edges() for edge in pair})
        fixed = [self.first, self.cowl, self.deck, self.last]
        for axle in self.axles:
            fixed += self._arch_places(axle)
        for edge in edges:
            fixed += [edge - gap, edge + gap] if level == 0 else [edge]
        places = sorted(set(fixed))
        for f in np.linspace(self.first, self.last, _COLUMNS[level] + 1).tolist():
            if min(abs(f - other) for other in places) > 0.4 / _COLUMNS[level] / 2.0:
                places.append(f)
        places.sort()
        rows = _ROWS[level]
        points = np.empty((len(rows), len(places), 3))
        for c, f in enumerate(places):
            low, high = self._bottom(f), self.belt(f)
            for r, share in enumerate(rows):
                points[r, c] = self.side(f, low + share * (high - low))
        middle = 0.5 * (np.array(places[1:]) + np.array(places[:-1]))
        kind = np.full((len(rows) - 1, len(middle)), _PAINT)
        part = np.full(kind.shape, BODY)
        if level < 2:
            kind[0] = s.low
        first_row = 1 if level < 2 else 0
        for number, (start, stop) in enumerate(self.door_edges()):
            panel = (middle > start) & (middle < stop)
            kind[first_row:, panel] = s.belt
            part[first_row:, panel] = DOORS[2 * number + 1]
        for edge in edges if level == 0 else []:
            kind[first_row:, np.abs(middle - edge) < gap] = _PLASTIC
        out.grid(points, kind, part=part, mirror=True, outward=(0.0, 1.0, 0.0))

    def _ends(self, out: Surfaces) -> None:
        s, rows = self.shape, _ROWS[self.level]
        across = _ACROSS[self.level]
        for rear in (False, True):
            points = np.array([[self.end(u, share, rear=rear) for u in across] for share in rows])
            kind = np.full((len(rows) - 1, len(across) - 1), _PAINT)
            if self.level < 2:
                kind[0] = s.low if s.low != _PAINT else _PLASTIC
            out.grid(points, kind, outward=(-1.0 if rear else 1.0, 0.0, 0.0))
        steps = (6, 4, 3)[self.level]
        for start, stop, there in (
            (self.first, self.cowl, self.hood),
            (self.deck, self.last, self.boot),
        ):
            if not there:
                continue
            bonnet = start == self.first
            points = np.empty((steps, len(across), 3))
            for r, t in enumerate(np.linspace(0.0, 1.0, steps)):
                f = start + (stop - start) * t
                if bonnet:
                    bow = (1.0 - t) * s.front_bow_m
                    screen = t * self.screen_bow_m
                else:
                    bow = -t * s.rear_bow_m
                    screen = -(1.0 - t) * self.window_bow_m
                for c, u in enumerate(across):
                    x = self.x(f) + self._lean(f, 1.0) + bow * (1.0 - abs(u) ** _POWER)
                    x += screen * (1.0 - u * u)
                    z = self.belt(f) + self._crown(f) * (1.0 - abs(u) ** 2.2)
                    points[r, c] = x, u * self.half(f, 1.0), z
            out.grid(points, _PAINT, outward=(0.0, 0.0, 1.0))

    def _cabin(self, out: Surfaces) -> None:
        s, across = self.shape, _ACROSS[self.level]
        heights = _PANES[self.level]
        for face, glass in ((self.screen, True), (self.window, s.rear_glass)):
            points = np.array([[face(u, t) for u in across] for t in heights])
            kind = np.full((len(heights) - 1, len(across) - 1), s.upper)
            if glass:
                kind[:-1, 1:-1] = _GLASS
                if self.level < 2:
                    kind[0, 1:-1] = _PLASTIC if face == self.screen else s.upper
            out.grid(points, kind, outward=(1.0 if face == self.screen else -1.0, 0.0, 0.6))
        rows = np.linspace(s.roof_front[0], s.roof_rear[0], (7, 5, 3)[self.level])
        points = np.array([[self.roof(f, u) for u in across] for f in rows.tolist()])
        out.grid(points, s.roof, outward=(0.0, 0.0, 1.0))
        self._side_windows(out)

    def _side_windows(self, out: Surfaces) -> None:
        s = self.shape
        first, last = (width / self.long_m for width in s.pillar_m)
        half = 0.045 / self.long_m
        columns = [(self.cowl, s.roof_front[0]), (self.cowl + first, s.roof_front[0] + 0.6 * first)]
        for pillar in s.pillars:
            edges = (pillar - half, pillar + half)
            columns += [(f, min(max(f, s.roof_front[0] + first), s.roof_rear[0])) for f in edges]
        columns += [(self.deck - last, s.roof_rear[0] - last), (self.deck, s.roof_rear[0])]
        heights = _PANES[self.level]
        points = np.empty((len(heights), len(columns), 3))
        for c, (low, high) in enumerate(columns):
            a = (self.x(low) + self._lean(low, 1.0), self.half(low, 1.0), self.belt(low))
            b = self.roof(high, 1.0)
            for r, t in enumerate(heights):
                points[r, c] = _between(a, b, t, 0.0)
                points[r, c, 1] += 0.06 * (a[1] - b[1]) * 4.0 * t * (1.0 - t)
        kind = np.full((len(heights) - 1, len(columns) - 1), s.upper)
        for number in range(len(s.pillars) + 1):
            if number not in s.blind:
                kind[(1 if self.level < 2 else 0) : -1, 1 + 2 * number] = _GLASS
        part = np.full(kind.shape, BODY)
        for number in range(len(self.door_edges())):
            part[:, 1 + 2 * number] = DOORS[2 * number + 1]
        out.grid(points, kind, part=part, mirror=True, outward=(0.0, 1.0, 0.2))

    def _arches(self, out: Surfaces) -> None:
        s = self.shape
        deep = 0.34
        for axle in self.axles:
            places = self._arch_places(axle)[1:-1]
            rim = np.array([self.side(f, self._bottom(f), -0.004) for f in places])
            foot = rim[[0, -1]].copy()
            foot[:, 2] = s.clearance_m
            rim = np.concatenate([foot[:1], rim, foot[1:]])
            inner = rim.copy()
            inner[:, 1] = np.maximum(inner[:, 1] - deep, 0.1)
            out.grid(np.stack([rim, inner]), _DARK, mirror=True, outward=(0.0, 0.0, -1.0))
            if self.level == 0 and s.trim != _PAINT:
                outer = rim.copy()
                middle = np.array([self.x(axle), 0.0, s.wheel_m])
                way = rim - middle
                way[:, 1] = 0.0
                outer += 0.05 * way / np.linalg.norm(way, axis=1, keepdims=True)
                band = np.stack([rim, outer])
                band[..., 1] += 0.018
                out.grid(band, s.trim, mirror=True, outward=(0.0, 1.0, 0.0))

    def _floor(self, out: Surfaces) -> None:
        """Add the dark inside that is seen below the body and through wheel arches and doors."""
        s = self.shape
        low, top = s.clearance_m, s.clearance_m + 0.02
        wide = 0.93 * self.half_m
        front, rear = self.x(self.first), self.x(self.last)
        out.quad(
            [(front, -wide, low), (front, wide, low), (rear, wide, low), (rear, -wide, low)],
            _DARK,
            outward=(0.0, 0.0, -1.0),
        )
        inner = self.half_m - 0.30
        for axle in self.axles:
            x0, x1 = self.x(axle) + self.arch_m, self.x(axle) - self.arch_m
            reach = self.arch_m / self.long_m
            high = min(self.belt(axle - reach), self.belt(axle + reach)) - 0.04
            for side in (-inner, inner):
                corners = [(x0, side, low), (x1, side, low), (x1, side, high), (x0, side, high)]
                out.quad(corners, _DARK, outward=(0.0, side, 0.0))
        if s.doors and self.level == 0:
            start = self.door_edges()[0][0]
            stop = self.door_edges()[-1][1]
            wall = self.half_m - 0.22
            out.box(
                (self.x(stop), -wall, top),
                (self.x(start), wall, self.belt(start) - 0.08),
                _DARK,
                open_below=True,
            )


def _at(line: Line, place: float) -> float:
    """Value of a line of straight pieces."""
    places, values = [point[0] for point in line], [point[1] for point in line]
    return float(np.interp(place, places, values))


def _between(
    a: tuple[float, float, float], b: tuple[float, float, float], t: float, bow: float
) -> tuple[float, float, float]:
    """Point between two others, moved along x in the middle."""
    swell = bow * 4.0 * t * (1.0 - t)
    x, y, z = (a[i] + (b[i] - a[i]) * t for i in range(3))
    return x + swell, y, z
