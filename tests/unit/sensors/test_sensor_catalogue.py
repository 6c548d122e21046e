import pytest

from jaywalk.core.carla_enums import AttributeType
from jaywalk.core.errors import RegistryError, UsageError
from jaywalk.server.sensors.catalogue import SENSORS, Attributes, sensor_blueprint


def defaults(type_id: str) -> dict[str, str]:
    return {item.id: item.default for item in sensor_blueprint(type_id).attributes}


def test_every_sensor_of_the_library_is_there_once():
    ids = [blueprint.id for blueprint in SENSORS]
    assert len(ids) == len(set(ids)) == 19
    newer = {blueprint.id for blueprint in SENSORS if blueprint.only_0916}
    assert newer == {
        "sensor.camera.cosmos_visualization",
        "sensor.other.v2x",
        "sensor.other.v2x_custom",
    }
    for blueprint in SENSORS:
        names = [item.id for item in blueprint.attributes]
        assert len(names) == len(set(names)), blueprint.id
        assert "role_name" in names


def test_defaults_are_those_of_the_real_library():
    lidar = defaults("sensor.lidar.ray_cast")
    assert lidar["channels"] == "32"
    assert lidar["dropoff_general_rate"] == "0.45"
    assert "dropoff_general_rate" not in defaults("sensor.lidar.ray_cast_semantic")
    assert defaults("sensor.camera.rgb")["fov"] == "90.0"
    assert "gamma" not in defaults("sensor.camera.depth")
    assert defaults("sensor.other.radar")["range"] == "100"
    assert defaults("sensor.other.imu")["role_name"] == "default"
    types = {item.id: item.type for item in sensor_blueprint("sensor.lidar.ray_cast").attributes}
    assert types["channels"] is AttributeType.INT


def test_integers_may_arrive_as_floats():
    values = Attributes("sensor.lidar.ray_cast", {"channels": "64.0"})
    assert values.integer("channels", 1, 1024) == 64
    assert values.number("range") == 10.0
    assert Attributes("sensor.camera.dvs", {"use_log": "True"}).flag("use_log")
    for text in ("nan", "inf", "sixty", "0"):
        with pytest.raises(UsageError, match="channels"):
            Attributes("sensor.lidar.ray_cast", {"channels": text}).integer("channels", 1, 1024)
    with pytest.raises(RegistryError, match=r"sensor\.camera\.rgb"):
        sensor_blueprint("sensor.camera.rbg")
