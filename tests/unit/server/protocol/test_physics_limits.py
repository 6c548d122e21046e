"""Tyres, masses and wheels that programs set: nothing that cannot be driven."""

import math

import pytest

from jaywalk.server.encoding._vehicle_physics import decode_physics, encode_physics
from jaywalk.server.encoding.codec import CARLA_0_9_16
from jaywalk.server.world._vehicle_models import physics_in_world, set_physics_control, telemetry


@pytest.mark.parametrize(("friction", "grip"), [("-5.0", 0.0), ("7.0", 2.0), ("1.75f", 0.5)])
def test_friction_volumes_keep_grip_sane_and_give_it_back(stage, friction, grip):
    car = stage.spawn("vehicle.lincoln.mkz_2020", 50.0)
    model = stage.simulation.world.model(car)
    stock = float(model["grip_mu"][0])
    size = {f"extent_{axis}": "100000" for axis in "xyz"}
    volume = stage.spawn("static.trigger.friction", 50.0, friction=friction, **size)
    stage.drive(car, steer=0.5)
    stage.tick(20)
    assert float(model["grip_mu"][0]) == pytest.approx(grip * stock)
    assert all(math.isfinite(value) for part in stage.simulation.world.pose(car) for value in part)
    stage.simulation.destroy(volume.id)
    stage.tick()
    assert float(model["grip_mu"][0]) == pytest.approx(stock)


def test_a_physics_control_without_wheels_leaves_them(stage):
    car = stage.spawn("vehicle.lincoln.mkz_2020", 50.0)
    world = stage.simulation.world
    record = encode_physics(physics_in_world(world, car))
    wheels = record[15]
    changed = decode_physics([*record[:11], 1e300, *record[12:15], [], False])
    set_physics_control(world, car, changed)
    after = encode_physics(physics_in_world(world, car))
    assert after[15] == wheels
    assert world.columns.mass[car.row] == 1e6


def test_telemetry_is_along_the_vehicle_not_along_the_world(stage):
    pose = ((50.0, 1.75, 0.1), (0.0, 180.0, 0.0))
    car = stage.simulation.spawn(CARLA_0_9_16, "vehicle.lincoln.mkz_2020", {}, pose)
    stage.drive(car)
    stage.tick(20)
    wheels = telemetry(stage.simulation.world, car).wheels
    assert (
        wheels[0].tire_long_force_n > 100.0
    )  # it accelerates: the force on a wheel points forwards
