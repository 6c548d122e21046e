import pytest

from jaywalk.core.carla_enums import AttributeType
from jaywalk.core.errors import RegistryError, UsageError
from jaywalk.server.sensors._base import Sensor
from jaywalk.server.sensors._rig import make_sensor
from jaywalk.server.sensors.catalogue import (
    SENSORS,
    TICK,
    Attributes,
    SensorStage,
    floats,
    sensor,
    sensor_library,
)


def defaults(type_id: str) -> dict[str, str]:
    return {item.id: item.default for item in SENSORS.get(type_id).attributes}


def test_every_sensor_of_the_library_is_there_once():
    ids = [blueprint.name for blueprint in SENSORS]
    assert len(ids) == len(set(ids)) == 19
    newer = {blueprint.name for blueprint in SENSORS if blueprint.only_0916}
    assert newer == {
        "sensor.camera.cosmos_visualization",
        "sensor.other.v2x",
        "sensor.other.v2x_custom",
    }
    for blueprint in SENSORS:
        names = [item.id for item in blueprint.attributes]
        assert len(names) == len(set(names)), blueprint.name
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
    types = {item.id: item.type for item in SENSORS.get("sensor.lidar.ray_cast").attributes}
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
        SENSORS.get("sensor.camera.rbg")


def test_the_library_keeps_the_order_of_carla():
    ids = [spec.name for spec in sensor_library()]
    assert ids[0] == "sensor.camera.rgb"
    assert ids[-1] == "sensor.other.v2x_custom"
    assert [spec.order for spec in sensor_library()] == list(range(1, 20))


def test_stages():
    stages = {spec.name: spec.stage for spec in SENSORS}
    client = {name for name, stage in stages.items() if stage is SensorStage.CLIENT}
    assert client == {"sensor.other.lane_invasion", "sensor.other.rss"}
    prompt = {
        name.rpartition(".")[2] for name, stage in stages.items() if stage is SensorStage.PROMPT
    }
    assert prompt == {"collision", "gnss", "imu", "obstacle"}


def test_one_decorated_class_adds_a_sensor(monkeypatch):
    assert len(SENSORS) == 19
    monkeypatch.setattr(SENSORS, "_specs", dict(SENSORS._specs))

    @sensor("other.thermometer", TICK, floats(offset="1.5"), summary="temperature")
    class Thermometer(Sensor):
        def _readings(self, scene, row, pose, frame, time_s, dt_s):
            return []

    assert sensor_library()[-1].name == "sensor.other.thermometer"
    made = make_sensor("sensor.other.thermometer", {"sensor_tick": "0.5"}, 1, 0)
    assert isinstance(made, Thermometer)
    assert made.stage is SensorStage.LATE
    assert made.period_s == 0.5
    assert made.attributes.number("offset") == 1.5
