"""Loading towns through the real wheel.

In a process of their own: the wheel may crash when it drops an episode, or a server that is gone,
after other clients of the same process.
"""

from __future__ import annotations

import math

import carla
import pytest
from scene import Scene, straight_road, xyz


def test_load_world_goes_from_town_to_town(client: carla.Client) -> None:
    names = [name.rsplit("/", 1)[-1] for name in client.get_available_maps()]
    assert {"Harbour", "Orchard", "Ridge"} <= set(names)
    last_id = client.get_world().id
    for town in ("Orchard", "Ridge", "Ridge", "Harbour"):
        world = client.load_world(town)
        assert world.get_map().name.endswith(town)
        assert world.id != last_id
        last_id = world.id
        assert world.get_settings().synchronous_mode is False
        point = world.get_map().get_spawn_points()[0]
        assert (
            world.get_map().get_waypoint(point.location).transform.location.distance(point.location)
            < 3.0
        )


def test_actors_of_a_fresh_asynchronous_world_are_seen_and_can_be_destroyed(
    client: carla.Client,
) -> None:
    world = client.load_world("Orchard")
    point = world.get_map().get_spawn_points()[0]
    car = world.spawn_actor(world.get_blueprint_library().find("vehicle.audi.tt"), point)
    world.wait_for_tick()
    world.wait_for_tick()
    assert car.get_location().distance(point.location) < 1.0
    assert car.destroy() is True


def test_reload_world_forgets_actors_and_can_keep_settings(client: carla.Client) -> None:
    scene = Scene.load(client, "Harbour")
    car = scene.car()
    before = scene.world.get_snapshot().frame
    world = client.reload_world(False)
    assert world.get_settings().synchronous_mode is True
    world.tick()
    assert world.get_snapshot().frame > before
    assert car.id not in {actor.id for actor in world.get_actors()}
    again = world.spawn_actor(
        world.get_blueprint_library().find("vehicle.audi.tt"), world.get_map().get_spawn_points()[0]
    )
    assert again.id > car.id  # ids are never used twice
    world = client.reload_world(True)
    assert world.get_settings().synchronous_mode is False


def test_unknown_town_is_a_clear_error_and_changes_nothing(client: carla.Client) -> None:
    name = client.get_world().get_map().name
    for bad in ("Atlantis", "../../etc/passwd", "/tmp/x.xodr"):
        with pytest.raises(RuntimeError):
            client.load_world(bad)
    assert client.get_world().get_map().name == name


def test_generate_opendrive_world_makes_the_road_it_was_given(client: carla.Client) -> None:
    world = client.generate_opendrive_world(straight_road(500.0))
    road = world.get_map()
    assert road.name.endswith("OpenDriveMap")
    middle = road.get_waypoint(carla.Location(250.0, 1.75, 0.0))
    assert middle.road_id == 1
    assert middle.lane_id == -1
    assert middle.lane_width == pytest.approx(3.5)
    assert xyz(middle.transform.location) == pytest.approx((250.0, 1.75, 0.0), abs=0.01)
    assert world.get_map().to_opendrive() == straight_road(500.0)
    with pytest.raises(RuntimeError):
        client.generate_opendrive_world("<OpenDRIVE><road></OpenDRIVE>")
    assert math.isfinite(client.get_world().get_snapshot().timestamp.elapsed_seconds)
    assert client.load_world("Harbour").get_map().name.endswith("Harbour")
