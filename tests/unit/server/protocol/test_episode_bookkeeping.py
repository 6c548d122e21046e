"""State that a simulation keeps, forgets and repeats."""

import math
import struct

import numpy as np
import pytest

from jaywalk.server.encoding._snapshot import VEHICLE_RECORD
from jaywalk.server.encoding.codec import CARLA_0_9_16
from jaywalk.server.session._publisher import WORLD_STREAM, NoPublisher
from jaywalk.server.session._simulation import Simulation
from jaywalk.town.town import load_town


def test_what_outlives_its_parent_stands_still(stage):
    car = stage.spawn("vehicle.lincoln.mkz_2020", 50.0)
    camera = stage.spawn("sensor.camera.rgb", z=1.5, parent=car.id)
    stage.drive(car)
    stage.tick(40)
    columns = stage.simulation.world.columns
    place = columns.x[camera.row]
    assert columns.vx[camera.row] > 3.0
    stage.simulation.destroy(car.id)
    stage.tick(2)
    assert columns.x[camera.row] == place
    assert [float(columns.table[camera.row][name]) for name in ("vx", "ax", "wz")] == [0, 0, 0]


@pytest.mark.parametrize(("yaw", "read"), [(270.0, -90.0), (-725.0, -5.0), (180.0, 180.0)])
def test_yaw_is_read_back_within_half_a_turn(stage, yaw, read):
    pose = ((50.0, 1.75, 5.0), (0.0, yaw, 0.0))
    sensor = stage.simulation.spawn(CARLA_0_9_16, "sensor.other.gnss", {}, pose)
    stage.tick()
    records = np.frombuffer(stage.listener.last[WORLD_STREAM][84:], VEHICLE_RECORD)
    assert records["yaw"][records["id"] == sensor.id] == pytest.approx(read, abs=1e-3)
    header = struct.unpack("<QQd6f", stage.listener.last[sensor.stream_id][:48])
    assert math.remainder(header[7] - read, 360.0) == pytest.approx(0.0, abs=1e-3)
    assert abs(header[7]) <= 180.0


def test_the_same_scene_played_again_has_the_same_people(stage):
    def looks() -> tuple[object, float]:
        person = stage.spawn("walker.pedestrian.0001", 30.0, z=1.0)
        return person.color, stage.simulation.world.people._people[person.id].style

    first = looks()
    stage.simulation.load("", reset_settings=True)
    assert looks() == first


def test_signals_carry_their_semantic_tag():
    simulation = Simulation(load_town("Harbour"), NoPublisher())
    tags = {
        actor.type_id.split(".")[1]: simulation.encoder.actor(actor, CARLA_0_9_16)[4]
        for actor in simulation.world.actors.values()
        if actor.type_id.startswith("traffic.")
    }
    assert tags == {"traffic_light": b"\x07", "speed_limit": b"\x08"}
