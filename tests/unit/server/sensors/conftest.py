from typing import NamedTuple

import numpy as np
import pytest

from jaywalk.geometry.geodesy import GeoReference
from jaywalk.server.sensors._scene import SceneBuilder, SensorScene
from jaywalk.server.world._tables import ACTOR, Kind
from jaywalk.town.ground import Ground, flat_ground
from jaywalk.town.scenery import SCENERY


class Raster(NamedTuple):
    x0_m: float
    y0_m: float
    cell_m: float
    columns: int
    rows: int
    labels: np.ndarray


class World:
    """A small hand-made world for sensors."""

    def __init__(self) -> None:
        labels = np.full((800, 800), 10, np.uint8)
        y_m = (np.arange(800) + 0.5) * 0.25 - 100.0
        labels[np.abs(y_m) < 8.0] = 2
        labels[np.abs(y_m) < 4.0] = 1
        self.raster = Raster(-100.0, -100.0, 0.25, 800, 800, labels)
        self.ground: Ground = flat_ground()
        self.scenery = np.zeros(0, SCENERY)
        self.actors = np.zeros(16, ACTOR)
        self.labels = np.zeros(16, np.uint8)
        self.colors = np.full((16, 3), 120, np.uint8)
        self.actors["parent_row"] = -1
        self.rows = 0

    def box(self, x, y, z, half, yaw=0.0, label=3):
        item = np.zeros(1, SCENERY)
        item["x"], item["y"], item["z"], item["yaw"] = x, y, z, yaw
        item["ex"], item["ey"], item["ez"] = half
        item["label"], item["solid"], item["kind"] = label, 1, 20
        item["red"] = item["green"] = item["blue"] = 150
        self.scenery = np.concatenate([self.scenery, item])

    def shape(self, shape, x, y, z, radius, half_height=0.0, label=9):
        self.box(x, y, z, (radius, radius, half_height), label=label)
        self.scenery[-1]["shape"] = shape

    def add(self, kind, x, y, z, yaw=0.0, half=(0.0, 0.0, 0.0), centre_z=0.0, label=0, **fields):
        row = self.rows
        self.rows += 1
        actor = self.actors[row]
        actor["id"], actor["kind"] = 300 + row, kind
        actor["x"], actor["y"], actor["z"], actor["yaw"] = x, y, z, yaw
        actor["ex"], actor["ey"], actor["ez"] = half
        actor["cz"] = centre_z
        for name, value in fields.items():
            actor[name] = value
        self.labels[row] = label
        return row

    def car(self, x, y, yaw=0.0, **fields):
        return self.add(Kind.VEHICLE, x, y, 0.0, yaw, (2.4, 0.92, 0.74), 0.74, label=14, **fields)

    def person(self, x, y, yaw=0.0, **fields):
        return self.add(Kind.WALKER, x, y, 0.93, yaw, (0.19, 0.19, 0.93), label=12, **fields)

    def sensor(self, x, y, z, **fields):
        return self.add(Kind.SENSOR, x, y, z, **fields)

    def scene(self, **options) -> SensorScene:
        builder = SceneBuilder(self.scenery, self.ground, self.raster, GeoReference(0.0, 0.0))
        return builder.build(self.actors, self.rows, self.labels, self.colors, **options)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture(scope="session")
def hills() -> Ground:
    count, cell = 101, 2.0
    place = -100.0 + np.arange(count) * cell
    x, y = np.meshgrid(place, place)
    heights = 2.5 * np.sin(x / 23.0) * np.cos(y / 31.0)
    starts = np.arange(count * count + 1, dtype=np.int32)
    return Ground(
        -100.0, -100.0, cell, count, count, starts, heights.astype(np.float32).ravel(), 0.0
    )
