"""A small world for physics tests: tables, models, ground, scenery and one tick of everything."""

from __future__ import annotations

import numpy as np
import pytest

from jaywalk.server.world._collisions import resolve_contacts
from jaywalk.server.world._contacts import CONTACT, find_contacts
from jaywalk.server.world._scenery_index import build_static_grid
from jaywalk.server.world._tables import ACTOR, Kind
from jaywalk.server.world._vehicle_models import VEHICLE_MODEL, vehicle_model
from jaywalk.server.world._walker_dynamics import step_props, step_walkers
from jaywalk.server.world.vehicle_dynamics import set_velocity, step_vehicles
from jaywalk.town.ground import Ground, flat_ground
from jaywalk.town.scenery import SCENERY, Shape


def sloped_ground(rise: float) -> Ground:
    """Ground that climbs by ``rise`` per metre along x, 400 m wide."""
    size, cell = 201, 2.0
    heights = np.tile((np.arange(size) * cell - 200.0) * rise, size).astype(np.float32)
    starts = np.arange(size * size + 1, dtype=np.int32)
    return Ground(-200.0, -200.0, cell, size, size, starts, heights, 0.0)


class PhysicsWorld:
    """Adds actors, ticks all kernels in the server's order, and keeps every contact."""

    def __init__(self, ground: Ground | None = None, dt_s: float = 0.05) -> None:
        self.actors = np.zeros(64, ACTOR)
        self.n_rows = 0
        self.models = np.zeros(3, VEHICLE_MODEL)
        self.models[0] = vehicle_model("vehicle.lincoln.mkz_2020", "car", 2.446, 0.918, 0.740)
        self.models[1] = vehicle_model("vehicle.bh.crossbike", "bicycle", 0.744, 0.430, 0.540)
        self.models[2] = vehicle_model(
            "vehicle.carlamotors.firetruck", "truck", 4.234, 1.446, 1.914
        )
        self.ground = flat_ground() if ground is None else ground
        self.dt_s = dt_s
        self.wetness = 0.0
        self.substeps = 1
        self.scenery = np.zeros(0, SCENERY)
        self.grid = build_static_grid(self.scenery)
        self.contacts = np.zeros(256, CONTACT)
        self.count = 0
        self.log: list[np.ndarray] = []

    def _add(self, kind: Kind, mass: float, half: tuple[float, float, float], **fields) -> np.void:
        row = self.actors[self.n_rows]
        self.n_rows += 1
        row["id"], row["kind"], row["parent_row"], row["mass"] = self.n_rows, kind, -1, mass
        row["physics"] = row["collides"] = row["gravity"] = row["settled"] = 1
        row["ex"], row["ey"], row["ez"] = half
        for name, value in fields.items():
            row[name] = value
        return row

    def car(self, speed_mps: float = 0.0, model: int = 0, **fields) -> np.void:
        half = ((2.446, 0.918, 0.740), (0.744, 0.43, 0.54), (4.234, 1.446, 1.914))[model]
        mass = float(self.models[model]["mass_kg"])
        row = self._add(Kind.VEHICLE, mass, half, cz=half[2], model=model, **fields)
        set_velocity(
            row, speed_mps * np.cos(row["yaw"]), speed_mps * np.sin(row["yaw"]), float(row["vz"])
        )
        return row

    def person(self, **fields) -> np.void:
        fields = {"z": 0.93} | fields
        return self._add(Kind.WALKER, 75.0, (0.188, 0.188, 0.93), **fields)

    def prop(self, mass: float, half: tuple[float, float, float], **fields) -> np.void:
        return self._add(Kind.PROP, mass, half, cz=half[2], **fields)

    def wall(self, x: float, y: float, ex: float, ey: float, *, pole: bool = False, **fields):
        solid = np.zeros(1, SCENERY)
        solid["solid"], solid["x"], solid["y"], solid["ex"], solid["ey"] = 1, x, y, ex, ey
        solid["ez"], solid["z"] = 3.0, 3.0
        solid["shape"] = Shape.CYLINDER if pole else Shape.BOX
        for name, value in fields.items():
            solid[name] = value
        self.scenery = np.concatenate([self.scenery, solid])
        self.grid = build_static_grid(self.scenery)

    def tick(self, count: int = 1) -> None:
        for _ in range(count):
            self.move()
            self.count = find_contacts(self.actors, self.n_rows, self.grid, self.contacts)
            resolve_contacts(self.actors, self.contacts, self.count, self.dt_s)
            self.log.append(self.contacts[: self.count].copy())

    def move(self) -> None:
        step_vehicles(
            self.actors,
            self.n_rows,
            self.models,
            self.ground,
            self.wetness,
            self.dt_s,
            self.substeps,
        )
        step_walkers(self.actors, self.n_rows, self.ground, self.dt_s)
        step_props(self.actors, self.n_rows, self.ground, self.dt_s)


@pytest.fixture(scope="session")
def make_world():
    return PhysicsWorld


@pytest.fixture(scope="session")
def make_slope():
    return sloped_ground
