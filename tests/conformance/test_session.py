"""Connecting, settings, weather, time, snapshots, several clients and servers, loading towns."""

from __future__ import annotations

import socket
import struct
import time

import carla
import numpy as np
import pytest
from child import PATIENCE_S, run_program, wait_for
from live_server import LiveServer
from rpc_socket import RpcSocket
from scene import DELTA_S, Scene, xyz


def test_client_and_server_agree_on_the_version(client: carla.Client) -> None:
    assert client.get_server_version() == client.get_client_version() == "0.9.16"


def test_a_stream_id_may_arrive_in_pieces(harbour: LiveServer, scene: Scene) -> None:
    with RpcSocket(harbour.port) as rpc:
        _, [token] = rpc.call("get_episode_info")
    stream_id, port = struct.unpack_from("<IH", token)
    with socket.create_connection(("127.0.0.1", port), 60.0) as sock:
        for part in struct.pack("<I", stream_id):
            sock.sendall(bytes([part]))
            time.sleep(0.02)
        size = sock.recv(4, socket.MSG_WAITALL)
        assert struct.unpack("<I", size)[0] > 48  # the present snapshot, at once


def test_map_has_a_name_and_spawn_points_on_driving_lanes(scene: Scene) -> None:
    assert scene.map.name == "Carla/Maps/Harbour"
    points = scene.map.get_spawn_points()
    assert len(points) >= 100
    for point in points[::10]:
        lane = scene.map.get_waypoint(point.location, project_to_road=False)
        assert lane is not None
        assert lane.lane_type & (carla.LaneType.Driving | carla.LaneType.Parking)


def test_all_settings_survive_a_round_trip(scene: Scene) -> None:
    before = scene.world.get_settings()
    wanted = {
        "synchronous_mode": True,
        "no_rendering_mode": True,
        "fixed_delta_seconds": 0.1,
        "substepping": False,
        "max_substep_delta_time": 0.02,
        "max_substeps": 7,
        "max_culling_distance": 123.0,
        "deterministic_ragdolls": False,
        "tile_stream_distance": 1500.0,
        "actor_active_distance": 900.0,
        "spectator_as_ego": False,
    }
    settings = carla.WorldSettings()
    for name, value in wanted.items():
        setattr(settings, name, value)
    scene.world.apply_settings(settings)
    got = scene.world.get_settings()
    assert {name: getattr(got, name) for name in wanted} == pytest.approx(wanted)
    scene.world.apply_settings(before)
    assert scene.world.get_settings() == before


def test_weather_survives_a_round_trip(scene: Scene) -> None:
    names = [
        "cloudiness",
        "precipitation",
        "precipitation_deposits",
        "wind_intensity",
        "sun_azimuth_angle",
        "sun_altitude_angle",
        "fog_density",
        "fog_distance",
        "fog_falloff",
        "wetness",
        "scattering_intensity",
        "mie_scattering_scale",
        "rayleigh_scattering_scale",
        "dust_storm",
    ]
    wanted = {name: 1.5 + 0.25 * index for index, name in enumerate(names)}
    assert len(wanted) == 14
    scene.world.set_weather(carla.WeatherParameters(**wanted))
    scene.tick()
    got = scene.world.get_weather()
    assert {name: getattr(got, name) for name in names} == wanted
    scene.world.set_weather(carla.WeatherParameters.ClearNoon)
    scene.tick()
    assert scene.world.get_weather() == carla.WeatherParameters.ClearNoon


def test_ticks_count_frames_and_simulated_time_exactly(scene: Scene) -> None:
    first = scene.world.get_snapshot()
    frames = [scene.world.tick() for _ in range(20)]
    assert frames == list(range(first.frame + 1, first.frame + 21))
    last = scene.world.get_snapshot()
    assert last.frame == frames[-1]
    assert last.timestamp.delta_seconds == pytest.approx(DELTA_S)
    elapsed = last.timestamp.elapsed_seconds - first.timestamp.elapsed_seconds
    assert elapsed == pytest.approx(20 * DELTA_S, abs=1e-9)


def test_world_stands_still_between_synchronous_ticks(scene: Scene) -> None:
    before = scene.world.get_snapshot().frame
    scene.pause()
    assert scene.world.get_snapshot().frame == before
    assert scene.world.tick() == before + 1


@pytest.mark.parametrize("delta_s", [0.1, 0.02])
def test_fixed_delta_sets_the_step(scene: Scene, delta_s: float) -> None:
    settings = scene.world.get_settings()
    settings.fixed_delta_seconds = delta_s
    scene.world.apply_settings(settings)
    car = scene.car(1)
    car.enable_constant_velocity(carla.Vector3D(x=5.0))
    scene.tick(2)
    start = car.get_location()
    scene.tick(5)
    assert car.get_location().distance(start) == pytest.approx(5 * delta_s * 5.0, rel=0.02)
    stamp = scene.world.get_snapshot().timestamp
    assert stamp.delta_seconds == pytest.approx(delta_s)
    settings.fixed_delta_seconds = DELTA_S
    scene.world.apply_settings(settings)


def test_substepping_does_not_change_a_drive_much(scene: Scene) -> None:
    """Ten substeps or none: the same car ends within centimetres."""
    ends = []
    start = scene.straight_lane(80.0).transform
    start.location.z += 0.3
    for substepping in (True, False):
        settings = scene.world.get_settings()
        settings.substepping = substepping
        settings.max_substep_delta_time, settings.max_substeps = 0.005, 10
        scene.world.apply_settings(settings)
        car = scene.spawn("vehicle.lincoln.mkz_2020", start, settle=10)
        car.apply_control(carla.VehicleControl(throttle=0.7))
        scene.tick(60)
        ends.append(xyz(car.get_location()))
        scene.clear()
    assert np.linalg.norm(ends[0] - xyz(start.location)) > 10.0
    assert np.linalg.norm(ends[0] - ends[1]) < 0.3


def test_asynchronous_mode_ticks_by_itself(scene: Scene) -> None:
    """How fast it ticks is a matter of the clock: tests/unit/server/protocol/test_free_run.py."""
    settings = scene.world.get_settings()
    settings.synchronous_mode = False
    scene.world.apply_settings(settings)
    seen = [scene.world.wait_for_tick(PATIENCE_S) for _ in range(13)]
    assert len({one.frame for one in seen}) == 13
    frames = seen[-1].frame - seen[0].frame
    simulated_s = seen[-1].timestamp.elapsed_seconds - seen[0].timestamp.elapsed_seconds
    assert simulated_s == pytest.approx(frames * DELTA_S, abs=1e-6)
    settings.synchronous_mode = True
    scene.world.apply_settings(settings)


def test_on_tick_callbacks_get_every_frame(scene: Scene, harbour: LiveServer) -> None:
    result = run_program("on_tick_run", harbour.host, harbour.port, timeout_s=300.0)
    assert len(result["frames"]) == 10
    assert result["seen"][-10:] == result["frames"]


def test_snapshot_contains_every_actor(scene: Scene) -> None:
    car = scene.car(2)
    camera = scene.spawn("sensor.camera.rgb", carla.Transform(), car)
    prop = scene.spawn("static.prop.trafficcone01", carla.Transform(carla.Location(0, 0, -80)))
    snapshot = scene.world.get_snapshot()
    listed = {actor.id for actor in scene.world.get_actors()}
    assert {record.id for record in snapshot} == listed
    assert {car.id, camera.id, prop.id, scene.world.get_spectator().id} <= listed
    kinds = {actor.type_id for actor in scene.world.get_actors()}
    assert {"traffic.traffic_light", "spectator"} <= kinds
    for record in snapshot:
        actor = scene.world.get_actor(record.id)
        assert actor.actor_state == carla.ActorState.Active
        assert xyz(record.get_transform().location) == pytest.approx(xyz(actor.get_location()))
        assert np.isfinite(xyz(record.get_velocity())).all()


def test_spectator_goes_where_it_is_sent(scene: Scene) -> None:
    spectator = scene.world.get_spectator()
    pose = carla.Transform(carla.Location(12.0, -34.0, 56.0), carla.Rotation(-30.0, 40.0, 0.0))
    spectator.set_transform(pose)
    scene.tick()
    got = spectator.get_transform()
    assert xyz(got.location) == pytest.approx((12.0, -34.0, 56.0), abs=1e-4)
    assert (got.rotation.pitch, got.rotation.yaw) == pytest.approx((-30.0, 40.0), abs=1e-3)


def test_several_clients_share_one_world(scene: Scene, harbour: LiveServer) -> None:
    observers = []
    for _ in range(4):
        other = carla.Client(harbour.host, harbour.port)
        other.set_timeout(60.0)
        observers.append(other.get_world())
    car = scene.car(3)
    car.enable_constant_velocity(carla.Vector3D(x=3.0))
    frame = scene.tick(5)
    for world in observers:
        wait_for(lambda world=world: world.get_snapshot().frame >= frame, "the frame")
        twin = world.get_actor(car.id)
        assert twin.type_id == car.type_id
        assert xyz(twin.get_location()) == pytest.approx(xyz(car.get_location()))
        assert xyz(twin.get_velocity()) == pytest.approx(xyz(car.get_velocity()))
    assert observers[0].tick() == frame + 1  # any client may tick
