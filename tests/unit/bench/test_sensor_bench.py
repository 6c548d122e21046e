"""The benchmark of sensors: its sets, and how it compares with the aims."""

from jaywalk.server.sensors.catalogue import sensor_library
from jaywalk_bench.sensors import AIM_RSS_MB, AIMS, RIGS, RigCost, SensorBenchmark


def cost(name: str, cores: int, ticks_per_s: float) -> RigCost:
    return RigCost(
        name=name,
        cores=cores,
        ticks_per_s=ticks_per_s,
        server_cpu_ms_per_tick=9.0,
        sensor_cpu_ms_per_tick=8.0,
    )


def test_sets_consist_of_sensors_that_exist_with_their_attributes() -> None:
    known = {spec.name: {item.id for item in spec.attributes} for spec in sensor_library()}
    for rig in RIGS.values():
        for name, attributes in rig:
            assert set(attributes) <= known[name]
    assert set(AIMS) <= set(RIGS)


def test_aims_are_compared_with_the_figures_on_most_cores() -> None:
    name = "RGB 1024x512"
    result = SensorBenchmark(
        calibration_ms=14.0,
        calibration_after_ms=15.0,
        load_1_min=0.5,
        vehicles=30,
        walkers=30,
        rigs=(cost(name, 1, 99.0), cost(name, 2, AIMS[name] - 1.0), cost("radar", 2, 500.0)),
        rss_mb=AIM_RSS_MB - 1.0,
    )
    assert result.reached() == {name: AIMS[name] - 1.0}
    told = result.as_dict()
    assert told["aims"] == {
        name: {"at_least": AIMS[name], "measured": AIMS[name] - 1.0, "met": False}
    }
    assert told["memory_aim"]["met"] is True
    assert told["rigs"][0]["cores"] == 1
