from __future__ import annotations

import math

import pytest

from jaywalk.core.errors import UsageError
from jaywalk.server.encoding._vehicle_physics import decode_physics, encode_physics
from jaywalk.server.world._tables import Kind
from jaywalk.server.world._vehicle_physics import default_physics
from jaywalk.server.world.blueprints import find, library


def test_every_vehicle_has_physics_that_survive_the_wire() -> None:
    for item in library("0.9.16"):
        if item.kind is not Kind.VEHICLE:
            continue
        physics = default_physics(item)
        record = encode_physics(physics)
        assert len(record) == 17
        assert decode_physics(record) == physics
        assert len(physics.wheels) == 4  # bikes too, as in the simulator
        assert physics.mass_kg == item.body.mass_kg
        front = [wheel for wheel in physics.wheels if wheel.max_steer_angle_deg > 0.0]
        assert len(front) * 2 == len(physics.wheels)
        assert all(20.0 < wheel.radius_cm <= 50.0 for wheel in physics.wheels)


def test_wire_types_are_what_the_client_insists_on() -> None:
    record = encode_physics(default_physics(find("vehicle.lincoln.mkz_2020")))
    assert isinstance(record[6], bool)
    assert isinstance(record[16], bool)
    wheels = record[15]
    assert isinstance(wheels, list)
    assert all(len(wheel) == 10 and len(wheel[9]) == 3 for wheel in wheels)
    assert record[14] == [[0.0, 1.0], [20.0, 0.9], [60.0, 0.8], [120.0, 0.7]]


def test_wheelbase_of_the_ego_car() -> None:
    wheels = default_physics(find("vehicle.lincoln.mkz_2020")).wheels
    assert wheels[0].position_cm[0] - wheels[2].position_cm[0] == pytest.approx(285.2, abs=0.2)
    assert wheels[0].position_cm[1] < 0.0 < wheels[1].position_cm[1]


def test_wheels_at_a_pose_are_in_world_centimetres() -> None:
    physics = default_physics(find("vehicle.tesla.model3"))
    placed = physics.at_pose((10.0, 20.0, 1.0), pitch_rad=0.0, yaw_rad=math.pi / 2, roll_rad=0.0)
    x, y, z = physics.wheels[0].position_cm
    # A quarter turn to the right: forward becomes +y, right becomes -x.
    assert placed.wheels[0].position_cm == pytest.approx((1000.0 - y, 2000.0 + x, 100.0 + z))
    assert placed.gears == physics.gears


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        (1, math.nan, "max_rpm"),
        (11, "heavy", "mass"),
        (13, [0.0, 1.0], "center_of_mass"),
        (14, [[0.0]], "steering_curve"),
        (15, [[1.0]], "10"),
        (10, [[1.0]], "gear"),
        (0, 3, "list"),
    ],
)
def test_broken_records_are_refused(field: int, value: object, text: str) -> None:
    record = encode_physics(default_physics(find("vehicle.audi.tt")))
    record[field] = value
    with pytest.raises(UsageError, match=text):
        decode_physics(record)


def test_short_records_and_props_are_refused() -> None:
    with pytest.raises(UsageError, match="3 fields"):
        decode_physics([1, 2, 3])
    with pytest.raises(UsageError, match="expected a vehicle"):
        default_physics(find("static.prop.bin"))
