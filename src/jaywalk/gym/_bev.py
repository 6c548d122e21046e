"""The observation ``bev``: the surroundings from above, with the ego's heading upwards."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.agents.driving.perception import PERSON, VEHICLE
from jaywalk.agents.driving.route_line import STEP_M
from jaywalk.core.arrays import FloatArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.box import box_points
from jaywalk.gym._views import TickState
from jaywalk.town.raster import ROAD, ROAD_LINE, SIDEWALK, SemanticRaster, fill_polygon, fill_strip
from jaywalk.town.town import town_from_opendrive

Image = NDArray[np.uint8]


@kernel
def draw_ground(
    out: Image,
    labels: Image,
    x0_m: float,
    y0_m: float,
    cell_m: float,
    x_m: float,
    y_m: float,
    yaw_rad: float,
    pixel_m: float,
    origin_row: int,
) -> None:
    """Draw the ground of the town around the ego, turned to its heading."""
    rows, columns = labels.shape
    cos, sin = np.cos(yaw_rad), np.sin(yaw_rad)
    for row in range(out.shape[1]):
        ahead = (origin_row - row - 0.5) * pixel_m
        for column in range(out.shape[2]):
            right = (column + 0.5 - out.shape[2] / 2.0) * pixel_m
            i = int(np.floor((y_m + ahead * sin + right * cos - y0_m) / cell_m))
            k = int(np.floor((x_m + ahead * cos - right * sin - x0_m) / cell_m))
            if 0 <= i < rows and 0 <= k < columns:
                label = labels[i, k]
                if label == ROAD_LINE:
                    out[0, row, column] = 255
                    out[1, row, column] = 255
                elif label == ROAD:
                    out[0, row, column] = 255
                elif label == SIDEWALK:
                    out[2, row, column] = 255


BEV_CHANNELS: Final = (
    "road",
    "line",
    "sidewalk",
    "route",
    "vehicles",
    "people",
    "props",
    "stop",
)
_ROUTE, _VEHICLES, _PEOPLE, _PROPS, _STOP = range(3, 8)
_BEHIND: Final = 0.25  # share of the picture behind the ego's origin
_ROUTE_HALF_M: Final = 1.0
_BAR_HALF_M: Final = 0.6
_FULL: Final = 255
_SIGN: Final = 128  # a stop sign's bar; a red light's is full
_BACKGROUND: Final = (228, 232, 222)
_EGO: Final = (20, 20, 24)
# One colour per channel, drawn in this order; people last.
_COLOURS: Final = (
    ("sidewalk", (196, 194, 188)),
    ("road", (92, 94, 100)),
    ("line", (225, 225, 225)),
    ("route", (86, 132, 196)),
    ("stop", (200, 40, 40)),
    ("props", (222, 160, 60)),
    ("vehicles", (40, 160, 120)),
    ("people", (230, 60, 150)),
)


@lru_cache(maxsize=4)
def _ground_of(opendrive: bytes) -> SemanticRaster:
    return town_from_opendrive(opendrive.decode()).raster


class BevView:
    """Draws the surroundings of one episode's ego."""

    def __init__(self, opendrive: bytes, size_px: int, pixel_m: float) -> None:
        self._ground = _ground_of(opendrive)
        self._size, self._pixel_m = size_px, pixel_m
        self._origin_row = round((1.0 - _BEHIND) * size_px)

    def draw(self, look: TickState) -> Image:
        """Return the channels ``BEV_CHANNELS``, each (rows, columns) of 0 and 255."""
        out = np.zeros((len(BEV_CHANNELS), self._size, self._size), np.uint8)
        ground, own = self._ground, look.own
        draw_ground(
            out,
            ground.labels,
            ground.x0_m,
            ground.y0_m,
            ground.cell_m,
            own.x_m,
            own.y_m,
            own.yaw_rad,
            self._pixel_m,
            self._origin_row,
        )
        self._draw_route(out, look)
        self._draw_stops(out, look)
        self._draw_bodies(out, look)
        return out

    def picture(self, look: TickState) -> Image:
        """Return the channels and the ego as a colour picture (rows, columns, 3)."""
        bev = self.draw(look)
        picture = np.full((self._size, self._size, 3), _BACKGROUND, np.uint8)
        for name, colour in _COLOURS:
            picture[bev[BEV_CHANNELS.index(name)] > 0] = colour
        own = look.own
        cos, sin = np.array([np.cos(own.yaw_rad)]), np.array([np.sin(own.yaw_rad)])
        ahead = own.front_m - own.half_length_m
        middle = np.array([[own.x_m + ahead * cos[0], own.y_m + ahead * sin[0]]])
        corners = box_points(middle, cos, sin, np.array([[own.half_length_m, own.half_width_m]]))
        mask = np.zeros((self._size, self._size), np.uint8)
        fill_polygon(mask, 0.0, 0.0, 1.0, self._pixels(look, corners[0]), _FULL)
        picture[mask > 0] = _EGO
        return picture

    def _pixels(self, look: TickState, xy_m: FloatArray) -> FloatArray:
        """Return column and row of places, as floats."""
        place = look.to_ego(xy_m) / self._pixel_m
        return np.column_stack([self._size / 2.0 + place[:, 1], self._origin_row - place[:, 0]])

    def _draw_route(self, out: Image, look: TickState) -> None:
        reach = int(self._size * self._pixel_m / STEP_M)
        first = max(int(look.along_m / STEP_M) - reach // 4, 0)
        part = slice(first, first + reach, 2)
        yaw = look.line.yaw_rad[part]
        side = _ROUTE_HALF_M * np.column_stack([-np.sin(yaw), np.cos(yaw)])
        middle = look.line.xy_m[part]
        left, right = self._pixels(look, middle - side), self._pixels(look, middle + side)
        fill_strip(out[_ROUTE], 0.0, 0.0, 1.0, left, right, _FULL)

    def _draw_stops(self, out: Image, look: TickState) -> None:
        for places, value in ((look.sign_lines_m(), _SIGN), (look.red_lines_m(), _FULL)):
            for along in places:
                if abs(along - look.along_m) < self._size * self._pixel_m:
                    self._bar(out, look, along, value)

    def _bar(self, out: Image, look: TickState, along_m: float, value: int) -> None:
        line = look.line
        k = min(int(along_m / STEP_M), len(line) - 1)
        cos, sin = np.cos(line.yaw_rad[k]), np.sin(line.yaw_rad[k])
        half = np.array([[_BAR_HALF_M, 0.5 * line.lane_width_m[k]]])
        middle = line.xy_m[k : k + 1]
        corners = box_points(middle, np.array([cos]), np.array([sin]), half)
        fill_polygon(out[_STOP], 0.0, 0.0, 1.0, self._pixels(look, corners[0]), value)

    def _draw_bodies(self, out: Image, look: TickState) -> None:
        seen = look.seen
        reach = self._size * self._pixel_m
        gaps = seen.xy_m - (look.own.x_m, look.own.y_m)
        near = np.flatnonzero(np.abs(gaps).max(axis=1, initial=0.0) < reach)
        if not len(near):
            return
        # At least one and a half pixels, so that no actor falls between pixels.
        half = np.maximum(seen.half_m[near], 0.75 * self._pixel_m)
        corners = box_points(seen.xy_m[near], seen.cos[near], seen.sin[near], half)
        pixels = self._pixels(look, corners.reshape(-1, 2)).reshape(-1, 4, 2)
        channels = np.select(
            [seen.kind[near] == VEHICLE, seen.kind[near] == PERSON], [_VEHICLES, _PEOPLE], _PROPS
        )
        for channel, outline in zip(channels.tolist(), pixels, strict=True):
            fill_polygon(out[channel], 0.0, 0.0, 1.0, outline, _FULL)
