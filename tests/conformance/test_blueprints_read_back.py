"""The blueprint library as scripts use it, and the boxes of what it spawns."""

from __future__ import annotations

import carla
import pytest
from scene import Scene, xyz

# Half extents in metres from published dumps of the simulator.
BOXES = {
    "vehicle.audi.a2": (1.853, 0.894, 0.775),
    "vehicle.bh.crossbike": (0.744, 0.430, 0.540),
    "vehicle.carlamotors.firetruck": (4.234, 1.446, 1.914),
    "vehicle.dodge.charger_2020": (2.504, 0.941, 0.767),
    "vehicle.ford.ambulance": (3.183, 1.176, 1.216),
    "vehicle.harley-davidson.low_rider": (1.178, 0.382, 0.638),
    "vehicle.lincoln.mkz_2017": (2.451, 1.064, 0.755),
    "vehicle.lincoln.mkz_2020": (2.446, 0.918, 0.740),
    "vehicle.mercedes.sprinter": (2.958, 0.994, 1.280),
    "vehicle.micro.microlino": (1.104, 0.740, 0.688),
    "vehicle.mitsubishi.fusorosa": (5.136, 1.972, 2.120),
    "vehicle.tesla.cybertruck": (3.137, 1.195, 1.049),
    "vehicle.tesla.model3": (2.396, 1.082, 0.744),
    "vehicle.volkswagen.t2_2021": (2.221, 0.887, 0.995),
    "walker.pedestrian.0001": (0.188, 0.188, 0.93),
    "walker.pedestrian.0012": (0.188, 0.188, 0.65),
    "walker.pedestrian.0048": (0.25, 0.25, 0.55),
    "static.prop.trafficwarning": (1.187, 1.435, 1.785),
    "static.prop.constructioncone": (0.172, 0.172, 0.293),
    "static.prop.streetbarrier": (0.607, 0.186, 0.535),
    "static.prop.vendingmachine": (0.436, 0.551, 1.054),
    "static.prop.busstop": (1.938, 0.947, 1.369),
}


@pytest.mark.parametrize("type_id", BOXES)
def test_bounding_box_is_that_of_the_simulator(scene: Scene, type_id: str) -> None:
    pose = carla.Transform(carla.Location(0.0, 0.0, -120.0))
    box = scene.spawn(type_id, pose).bounding_box
    assert xyz(box.extent) == pytest.approx(BOXES[type_id], abs=2e-3)
    if type_id.startswith("vehicle."):
        assert box.location.z == pytest.approx(box.extent.z, abs=0.1)
        assert abs(box.location.x) < 0.5


def test_every_vehicle_has_the_attributes_that_scripts_filter_on(scene: Scene) -> None:
    vehicles = scene.world.get_blueprint_library().filter("vehicle.*")
    assert len(vehicles) >= 41
    needed = {
        "role_name",
        "number_of_wheels",
        "base_type",
        "generation",
        "special_type",
        "has_lights",
        "has_dynamic_doors",
        "sticky_control",
    }
    for blueprint in vehicles:
        assert needed <= {attribute.id for attribute in blueprint}, blueprint.id
        wheels = int(blueprint.get_attribute("number_of_wheels"))
        two = blueprint.get_attribute("base_type") in ("bicycle", "motorcycle")
        assert wheels == (2 if two else 4) or blueprint.get_attribute("base_type") == "truck"
    bases = {str(blueprint.get_attribute("base_type").as_str()) for blueprint in vehicles}
    assert bases == {"car", "truck", "van", "bus", "motorcycle", "bicycle"}


def test_filters_take_wildcards_tags_and_attributes(scene: Scene) -> None:
    library = scene.world.get_blueprint_library()
    assert {b.id for b in library.filter("vehicle.tesla.*")} == {
        "vehicle.tesla.model3",
        "vehicle.tesla.cybertruck",
    }
    assert {b.id for b in library.filter("model3")} == {"vehicle.tesla.model3"}
    emergency = {b.id for b in library.filter_by_attribute("special_type", "emergency")}
    assert "vehicle.carlamotors.firetruck" in emergency
    assert "vehicle.audi.tt" not in emergency
    second = {b.id for b in library.filter("vehicle.*").filter_by_attribute("generation", "2")}
    assert "vehicle.lincoln.mkz_2020" in second
    assert "vehicle.lincoln.mkz_2017" not in second
    assert len(library.filter("walker.pedestrian.*")) >= 52
    assert len(library.filter("static.prop.*")) >= 97
    with pytest.raises(IndexError):
        library.find("vehicle.no.such")


def test_attributes_travel_to_the_actor_and_back(scene: Scene) -> None:
    blueprint = scene.blueprint("vehicle.lincoln.mkz_2020", role_name="hero", color="10,20,30")
    car = scene.world.spawn_actor(blueprint, scene.map.get_spawn_points()[0])
    scene.spawned.append(car)
    scene.tick()
    assert car.attributes["role_name"] == "hero"
    assert car.attributes["color"] == "10,20,30"
    assert set(car.attributes) == {attribute.id for attribute in blueprint}
    assert [int(tag) for tag in car.semantic_tags] == [14]
    with pytest.raises(ValueError, match="number_of_wheels"):
        blueprint.set_attribute("number_of_wheels", "6")


def test_walker_speeds_are_stop_walk_run(scene: Scene) -> None:
    for blueprint in scene.world.get_blueprint_library().filter("walker.pedestrian.*"):
        stop, walk, run = map(float, blueprint.get_attribute("speed").recommended_values[:3])
        assert stop == 0.0 < walk < run
        assert {"is_invincible", "gender", "age", "generation"} <= {a.id for a in blueprint}


def test_integer_attributes_may_be_written_as_floats(scene: Scene) -> None:
    car = scene.car()
    lidar = scene.spawn("sensor.lidar.ray_cast", carla.Transform(), car, channels="64.0")
    assert float(lidar.attributes["channels"]) == 64.0


def test_every_sensor_of_the_examples_exists(scene: Scene) -> None:
    library = {b.id for b in scene.world.get_blueprint_library().filter("sensor.*")}
    wanted = [
        "camera.rgb",
        "camera.depth",
        "camera.semantic_segmentation",
        "camera.instance_segmentation",
        "camera.dvs",
        "camera.optical_flow",
        "camera.normals",
        "camera.cosmos_visualization",
        "lidar.ray_cast",
        "lidar.ray_cast_semantic",
        "other.radar",
        "other.collision",
        "other.lane_invasion",
        "other.obstacle",
        "other.imu",
        "other.gnss",
    ]
    assert {f"sensor.{name}" for name in wanted} <= library
