from __future__ import annotations

import numpy as np
import pytest

from jaywalk.server.encoding.codec import CARLA_0_9_16
from jaywalk.server.session._publisher import NoPublisher
from jaywalk.server.session._simulation import Simulation
from jaywalk.server.world._tables import SpawnError
from jaywalk.town.scenery import KINDS
from jaywalk.town.town import load_town

CAR = "vehicle.lincoln.mkz_2020"


@pytest.fixture(scope="module")
def harbour() -> Simulation:
    return Simulation(load_town("Harbour"), NoPublisher())


def test_nobody_spawns_inside_a_building(harbour: Simulation) -> None:
    scenery = harbour.world.town.scenery
    building = scenery[np.flatnonzero(scenery["kind"] == KINDS.index("building"))[0]]
    inside = ((float(building["x"]), float(building["y"]), 0.5), (0.0, 0.0, 0.0))
    with pytest.raises(SpawnError, match="collision at spawn position"):
        harbour.spawn(CARLA_0_9_16, CAR, {}, inside)
    above = ((inside[0][0], inside[0][1], 200.0), inside[1])
    harbour.destroy(harbour.spawn(CARLA_0_9_16, CAR, {}, above).id)


def test_every_spawn_point_is_free(harbour: Simulation) -> None:
    ids = [harbour.spawn(CARLA_0_9_16, CAR, {}, place).id for place in harbour.world.spawn_points]
    assert len(ids) == len(set(ids)) > 100
    for actor_id in ids:
        harbour.destroy(actor_id)


def test_ackermann_control_releases_the_hand_brake(harbour: Simulation) -> None:
    world = harbour.world
    car = harbour.spawn(CARLA_0_9_16, CAR, {}, world.spawn_points[0])
    world.control_vehicle(car, 0.0, 0.0, 1.0, True, False, False, 0)
    for _ in range(20):
        world.step(0.05, 1)
    world.control_ackermann(car, [0.0, 0.0, 5.0, 3.0, 0.0])
    for _ in range(60):
        world.step(0.05, 1)
    assert float(np.hypot(world.columns.vx[car.row], world.columns.vy[car.row])) == pytest.approx(
        5.0, abs=0.5
    )
    harbour.destroy(car.id)
