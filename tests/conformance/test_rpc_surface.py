"""Every RPC method of the protocol answers in CARLA's form, also those Python cannot call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import carla
import pytest
from live_server import LiveServer, live_server
from rpc_socket import RpcError, RpcSocket
from scene import Scene

POSE = [[0.0, 0.0, -90.0], [0.0, 0.0, 0.0]]
ZERO = [0.0, 0.0, 0.0]
TRANSFORM = [ZERO, ZERO]

# name -> arguments; "V" vehicle, "W" walker, "S" sensor, "T" traffic light ids are filled in.
VALUES: dict[str, list[Any]] = {
    "version": [],
    "get_episode_info": [],
    "get_sensor_token": [1],
    "get_episode_settings": [],
    "tick_cue": [],
    "get_map_info": [],
    "get_map_data": [],
    "get_required_files": ["Nav"],
    "get_available_maps": [],
    "get_actor_definitions": [],
    "get_spectator": [],
    "get_actors_by_id": [["V", 123456789]],
    "get_weather_parameters": [],
    "query_lights_state": ["127.0.0.1:2000"],
    "get_all_level_BBs": [3],
    "get_environment_objects": [255],
    "project_point": [[0.0, 0.0, 50.0], [0.0, 0.0, -1.0], 100.0],
    "cast_ray": [[0.0, 0.0, 50.0], [0.0, 0.0, -50.0]],
    "get_navigation_mesh": [],
    "get_names_of_all_objects": [],
    "get_imui_gravity": [],
    "get_actor_bounding_box": ["V"],
    "get_actor_component_names": ["V"],
    "get_actor_bone_names": ["W"],
    "get_actor_socket_names": ["V"],
    "get_actor_component_world_transform": ["V", "Body"],
    "get_actor_component_relative_transform": ["V", "Body"],
    "get_actor_bone_world_transforms": ["W"],
    "get_actor_bone_relative_transforms": ["W"],
    "get_actor_socket_world_transforms": ["V"],
    "get_actor_socket_relative_transforms": ["V"],
    "get_vehicle_bone_world_transforms": ["V"],
    "get_ackermann_controller_settings": ["V"],
    "get_physics_control": ["V"],
    "get_telemetry_data": ["V"],
    "get_vehicle_light_state": ["V"],
    "get_vehicle_light_states": [],
    "get_wheel_steer_angle": ["V", 0],
    "get_wheel_pitch_angle": ["V", 0],
    "get_bones_transform": ["W"],
    "get_group_traffic_lights": ["T"],
    "get_light_boxes": ["T"],
    "are_gbuffers_enabled": ["S"],
    "get_gbuffer_token": ["S", 0],
    "is_sensor_enabled_for_ros": [2],
    "start_recorder": ["x.log", False],
    "show_recorder_file_info": ["x.log", True],
    "show_recorder_collisions": ["x.log", 97, 97],
    "show_recorder_actors_blocked": ["x.log", 1.0, 1.0],
    "is_traffic_manager_running": [8123],
    "get_traffic_manager_running": [8123],
    "add_traffic_manager_running": [["127.0.0.1", 8123]],
    "destroy_traffic_manager": [8123],
}
VOIDS: dict[str, list[Any]] = {
    "set_weather_parameters": [[0.0] * 14],
    "update_lights_state": ["127.0.0.1:2000", [], False],
    "update_day_night_cycle": ["127.0.0.1:2000", False],
    "enable_environment_objects": [[], True],
    "load_map_layer": [1],
    "unload_map_layer": [0],
    "apply_color_texture_to_objects": [[], 2, [1, 1, [[0, 0, 0, 0]]]],
    "apply_float_color_texture_to_objects": [[], 2, [1, 1, [[0.0] * 4]]],
    "set_imui_gravity": [9.81],
    "set_annotations_traverse_translucency": [True],
    "draw_debug_shape": [[[0, [ZERO, 0.1]], [255, 0, 0], 1.0, False]],
    "clear_debug_shape": [],
    "clear_debug_string": [],
    "set_actor_transform": ["V", POSE],
    "set_actor_location": ["V", POSE[0]],
    "set_actor_target_velocity": ["V", ZERO],
    "set_actor_target_angular_velocity": ["V", ZERO],
    "enable_actor_constant_velocity": ["V", ZERO],
    "disable_actor_constant_velocity": ["V"],
    "add_actor_impulse": ["V", ZERO],
    "add_actor_force": ["V", ZERO],
    "add_actor_angular_impulse": ["V", ZERO],
    "add_actor_torque": ["V", ZERO],
    "add_actor_impulse_at_location": ["V", ZERO, ZERO],
    "add_actor_force_at_location": ["V", ZERO, ZERO],
    "set_actor_simulate_physics": ["V", False],
    "set_actor_collisions": ["V", True],
    "set_actor_enable_gravity": ["V", True],
    "set_actor_dead": ["W"],
    "set_actor_autopilot": ["V", False],
    "apply_control_to_vehicle": ["V", [0.0, 0.0, 0.0, False, False, False, 0]],
    "apply_ackermann_control_to_vehicle": ["V", [0.0] * 5],
    "apply_ackermann_controller_settings": ["V", [0.1] * 6],
    "show_vehicle_debug_telemetry": ["V", False],
    "set_vehicle_light_state": ["V", [1]],
    "open_vehicle_door": ["V", 0],
    "close_vehicle_door": ["V", 6],
    "set_wheel_steer_direction": ["V", 0, 5.0],
    "set_wheel_pitch_angle": ["V", 0, 5.0],
    "restore_physx_physics": ["V"],
    "apply_control_to_walker": ["W", [[1.0, 0.0, 0.0], 0.0, False]],
    "set_bones_transform": ["W", [[["crl_arm__L", TRANSFORM]]]],
    "blend_pose": ["W", 0.0],
    "get_pose_from_animation": ["W"],
    "set_traffic_light_state": ["T", 0],
    "set_traffic_light_green_time": ["T", 10.0],
    "set_traffic_light_yellow_time": ["T", 3.0],
    "set_traffic_light_red_time": ["T", 2.0],
    "freeze_all_traffic_lights": [False],
    "freeze_traffic_light": ["T", False],
    "reset_traffic_light_group": ["T"],
    "reset_all_traffic_lights": [],
    "enable_gbuffers": ["S", False],
    "set_ignored_vehicles": ["S", ["V"]],
    "disable_sensor_for_ros": [2],
    "stop_recorder": [],
    "stop_replayer": [False],
    "set_replayer_time_factor": [1.0],
    "set_replayer_ignore_hero": [False],
    "set_replayer_ignore_spectator": [False],
}
# What this world honestly does not have: an error that says so.
REFUSALS: dict[str, list[Any]] = {
    "replay_file": ["x.log", 0.0, 0.0, 0, False, TRANSFORM],
    "enable_carsim": ["V", "x"],
    "use_carsim_road": ["V", True],
    "enable_chrono_physics": ["V", 10, 0.01, "", "", "", ""],
    "enable_sensor_for_ros": [2],
    "send": ["S", "hello"],
    "request_file": ["no/such/file"],
}


@pytest.fixture(scope="module")
def ids(fresh: Scene) -> Iterator[dict[str, int]]:
    pose = carla.Transform(carla.Location(0, 0, -90))
    vehicle = fresh.spawn("vehicle.audi.tt", pose)
    vehicle.set_simulate_physics(False)
    pose.location.x = 20.0
    walker = fresh.spawn("walker.pedestrian.0001", pose)
    sensor = fresh.spawn("sensor.camera.rgb", carla.Transform(), vehicle)
    light = fresh.world.get_actors().filter("traffic.traffic_light")[0]
    yield {"V": vehicle.id, "W": walker.id, "S": sensor.id, "T": light.id}
    fresh.clear()


@pytest.fixture(scope="module")
def rpc(harbour: LiveServer) -> Iterator[RpcSocket]:
    with RpcSocket(harbour.port) as connection:
        yield connection


def _filled(arguments: Any, ids: dict[str, int]) -> Any:
    if isinstance(arguments, list):
        return [_filled(item, ids) for item in arguments]
    return ids.get(arguments, arguments) if isinstance(arguments, str) else arguments


@pytest.mark.parametrize("method", VALUES)
def test_method_returns_a_value(rpc: RpcSocket, ids: dict[str, int], method: str) -> None:
    [inner] = rpc.raw(method, *_filled(VALUES[method], ids))
    assert inner[0] == 1
    assert inner[0] is not True
    assert len(inner) == 2


@pytest.mark.parametrize("method", VOIDS)
def test_method_answers_void(rpc: RpcSocket, ids: dict[str, int], method: str) -> None:
    assert rpc.raw(method, *_filled(VOIDS[method], ids)) == [[False]]


@pytest.mark.parametrize("method", REFUSALS)
def test_method_refuses_with_a_reason(rpc: RpcSocket, ids: dict[str, int], method: str) -> None:
    with pytest.raises(RpcError, match=r"\w+ \w+"):
        rpc.call(method, *_filled(REFUSALS[method], ids))


def test_recorder_calls_through_the_wheel_are_clear(fresh: Scene) -> None:
    assert "recorder" in fresh.client.start_recorder("x.log")
    fresh.client.stop_recorder()
    assert "recorder" in fresh.client.show_recorder_file_info("x.log", False)
    with pytest.raises(RuntimeError, match="replay"):
        fresh.client.replay_file("x.log", 0.0, 0.0, 0)


def test_navigation_file_is_what_it_says(rpc: RpcSocket) -> None:
    [name] = rpc.call("get_required_files", "Nav")
    data = rpc.call("request_file", name)
    assert data[:4] == b"TESM"  # 'MSET', little endian
    assert data == rpc.call("get_navigation_mesh")
    assert rpc.call("get_required_files", "TM") == []


def test_batch_commands_that_python_cannot_build(rpc: RpcSocket, ids: dict[str, int]) -> None:
    vehicle, light = ids["V"], ids["T"]
    commands = [
        [[19, [vehicle, [5.0, 6.0, -90.0]]]],
        [[21, [light, 2]]],
        [[18, [vehicle, 34]]],
        [[17, [vehicle, False]]],
        [[16, [vehicle, True]]],
        [[20, ["quit"]]],
        [[99, [vehicle]]],
        [[6, [987654321, POSE]]],
    ]
    results = rpc.raw("apply_batch", commands, False)
    assert results[:5] == [[[1, vehicle]], [[1, light]], *[[[1, vehicle]]] * 3]
    assert [result[0][0] for result in results[5:]] == [0, 0, 0]
    assert rpc.call("get_vehicle_light_state", vehicle) == [34]


def test_a_bad_command_does_not_cost_the_others_their_answers(
    rpc: RpcSocket, ids: dict[str, int]
) -> None:
    physics = rpc.call("get_physics_control", ids["V"])
    physics[11] = float("nan")  # mass
    commands = [[[5, [ids["V"], physics]]], [[6, [ids["V"], POSE]]]]
    refused, done = rpc.raw("apply_batch", commands, False)
    assert refused[0][0] == 0
    assert "mass" in refused[0][1][0]
    assert done == [[1, ids["V"]]]


def test_fire_and_forget_batch_can_tick(rpc: RpcSocket, fresh: Scene) -> None:
    before = rpc.call("tick_cue")
    assert rpc.raw("apply_batch", [], True) == []
    assert rpc.call("tick_cue") == before + 2


def test_tokens_of_streams_that_do_not_exist_delay_nobody() -> None:
    # A tick that waits for a reader never ends here.
    with live_server("--town", "Harbour", waits={"streams._SUBSCRIBE_WAIT_S": 1e6}) as server:
        with RpcSocket(server.port, timeout_s=60.0) as rpc:
            settings = list(rpc.call("get_episode_settings"))
            settings[0], settings[2] = True, [True, 0.05]
            rpc.call("set_episode_settings", settings)
            for stream_id in range(10**6, 10**6 + 6):
                rpc.call("get_sensor_token", stream_id)
                rpc.call("tick_cue")


def test_unknown_method_is_an_rpc_error_and_the_connection_lives(rpc: RpcSocket) -> None:
    with pytest.raises(RpcError, match="no_such_method"):
        rpc.raw("no_such_method")
    assert rpc.call("version")


def test_rays_meet_actors_and_tell_sidewalk_from_road(scene: Scene) -> None:
    car = scene.car()
    scene.tick(20)
    place = car.get_location()
    up, down = place + carla.Location(z=20.0), place - carla.Location(z=2.0)
    hits = scene.world.cast_ray(up, down)
    assert [hit.label for hit in hits][-2:-1] == [carla.CityObjectLabel.Car]
    assert hits[-1].label in (carla.CityObjectLabel.Roads, carla.CityObjectLabel.RoadLines)
    assert hits[-2].location.z == pytest.approx(place.z + 1.5, abs=0.4)
    first = scene.world.project_point(up, carla.Vector3D(0.0, 0.0, -1.0), 30.0)
    assert first.label == carla.CityObjectLabel.Car
    kerb = next(
        lane
        for point in scene.map.get_spawn_points()
        if (lane := _sidewalk_of(scene.map.get_waypoint(point.location))) is not None
    )
    ground = scene.world.ground_projection(kerb + carla.Location(z=1.5), 5.0)
    assert ground.label == carla.CityObjectLabel.Sidewalks


def _sidewalk_of(lane: carla.Waypoint) -> carla.Location | None:
    while lane is not None and lane.lane_type != carla.LaneType.Sidewalk:
        lane = lane.get_right_lane()
    return None if lane is None else lane.transform.location


def test_map_queries_through_the_wheel(fresh: Scene) -> None:
    world = fresh.world
    point = fresh.map.get_spawn_points()[0].location
    hit = world.ground_projection(point + carla.Location(z=5.0), 20.0)
    ground = fresh.map.get_waypoint(point).transform.location.z
    assert hit.location.z == pytest.approx(ground, abs=0.1)
    assert hit.label in (carla.CityObjectLabel.Roads, carla.CityObjectLabel.RoadLines)
    boxes = world.get_level_bbs(carla.CityObjectLabel.Buildings)
    objects = world.get_environment_objects(carla.CityObjectLabel.Buildings)
    assert len(boxes) == len(objects) > 10
    high = boxes[0].location + carla.Location(z=boxes[0].extent.z + 30.0)
    hits = world.cast_ray(high, boxes[0].location - carla.Location(z=boxes[0].extent.z + 1.0))
    assert any(point.label == carla.CityObjectLabel.Buildings for point in hits)
    world.enable_environment_objects({objects[0].id}, False)
    world.enable_environment_objects({objects[0].id}, True)
    world.debug.draw_point(point)
    world.debug.draw_string(point, "here")
    lamps = world.get_lightmanager().get_all_lights()
    assert len(lamps) > 0
    fresh.tick()


def test_errors_are_told_in_carlas_words(scene: Scene, client: carla.Client) -> None:
    car, gone = scene.car(), 10_000_000
    model = scene.world.get_blueprint_library().find("vehicle.audi.tt")
    with pytest.raises(
        RuntimeError, match=r"^Spawn failed because of collision at spawn position$"
    ):
        scene.world.spawn_actor(model, car.get_transform())
    with pytest.raises(RuntimeError, match=r"^Map 'Atlantis' not found"):
        client.load_world("Atlantis")
    missing = f"Actor could not be found in the registry.  Actor Id: {gone}"
    commands = {
        carla.command.DestroyActor(gone): "unable to destroy actor: not found",
        carla.command.ApplyVehicleControl(gone, carla.VehicleControl()): (
            f"Responding error from function apply_control_to_vehicle: {missing}"
        ),
        carla.command.ApplyTransform(gone, carla.Transform()): (
            f"Responding error from function set_actor_transform: {missing}"
        ),
        carla.command.ApplyWalkerControl(car.id, carla.WalkerControl()): (
            "Responding error from function apply_control_to_walker: "
            f"Actor is not a Walker.  Actor Id: {car.id}"
        ),
        carla.command.SpawnActor(model, carla.Transform(carla.Location(z=300.0)), gone): (
            "unable to attach actor: parent actor not found"
        ),
    }
    answers = client.apply_batch_sync(list(commands), False)
    assert [answer.error for answer in answers] == list(commands.values())


def test_environment_objects_have_the_label_they_are_asked_by(scene: Scene) -> None:
    everything = scene.world.get_environment_objects(carla.CityObjectLabel.Any)
    assert len({one.id for one in everything}) == len(everything)
    for name in ("Buildings", "Poles", "TrafficSigns", "TrafficLight", "Vegetation"):
        label = carla.CityObjectLabel.names[name]
        found = scene.world.get_environment_objects(label)
        assert found, name
        assert {one.type for one in found} == {label}
        assert {one.id for one in found} == {one.id for one in everything if one.type == label}
    lights = scene.world.get_actors().filter("traffic.traffic_light")
    heads = scene.world.get_environment_objects(carla.CityObjectLabel.TrafficLight)
    assert len(heads) == len(lights)


def test_speed_limit_signs_are_actors_that_name_their_limit(scene: Scene) -> None:
    signs = scene.world.get_actors().filter("traffic.speed_limit.*")
    assert {sign.type_id.rsplit(".", 1)[1] for sign in signs} == {"30", "40", "50"}
    assert all(isinstance(sign, carla.TrafficSign) for sign in signs)
    assert all(sign.trigger_volume.extent.x > 0.0 for sign in signs)
