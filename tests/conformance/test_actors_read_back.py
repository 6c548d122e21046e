"""Spawning, destroying, teleporting, attaching, batches."""

from __future__ import annotations

import carla
import numpy as np
import pytest
from scene import DELTA_S, Scene, angle_between_deg, xyz

SpawnActor, Destroy = carla.command.SpawnActor, carla.command.DestroyActor
Future = carla.command.FutureActor


def test_teleport_reads_back_after_one_tick(scene: Scene) -> None:
    car = scene.car()
    target = scene.map.get_spawn_points()[40]
    car.set_transform(target)
    scene.tick()
    got = car.get_transform()
    assert xyz(got.location)[:2] == pytest.approx(xyz(target.location)[:2], abs=0.02)
    assert angle_between_deg(got.rotation.yaw, target.rotation.yaw) < 0.1
    assert abs(got.location.z - target.location.z) < 1.0
    scene.tick(20)
    ground = scene.map.get_waypoint(target.location).transform.location.z
    assert car.get_location().z == pytest.approx(ground, abs=0.06)


def test_teleport_with_physics_off_is_exact_everywhere(scene: Scene) -> None:
    car = scene.car()
    car.set_simulate_physics(False)
    pose = carla.Transform(carla.Location(33.0, 44.0, -250.0), carla.Rotation(10.0, 123.0, -5.0))
    car.set_transform(pose)
    scene.tick(5)
    got = car.get_transform()
    assert xyz(got.location) == pytest.approx((33.0, 44.0, -250.0), abs=1e-3)
    rotation = (got.rotation.pitch, got.rotation.yaw, got.rotation.roll)
    assert rotation == pytest.approx((10.0, 123.0, -5.0), abs=1e-3)
    assert xyz(car.get_velocity()).tolist() == [0.0, 0.0, 0.0]


def test_physics_off_velocity_is_the_displacement(scene: Scene) -> None:
    car = scene.car()
    car.set_simulate_physics(False)
    scene.tick()
    start = car.get_location()
    for step in range(1, 6):
        car.set_location(start + carla.Location(x=0.3 * step, y=-0.2 * step))
        scene.tick()
        wanted = (0.3 / DELTA_S, -0.2 / DELTA_S, 0.0)
        assert xyz(car.get_velocity()) == pytest.approx(wanted, abs=1e-2)
    scene.tick()
    assert xyz(car.get_velocity()).tolist() == [0.0, 0.0, 0.0]
    car.set_location(start + carla.Location(x=200.0))  # a jump is no motion
    scene.tick()
    assert xyz(car.get_velocity()).tolist() == [0.0, 0.0, 0.0]


def test_velocity_is_the_finite_difference_of_positions(scene: Scene) -> None:
    lane = scene.straight_lane(80.0).transform
    lane.location.z += 0.3
    car = scene.spawn("vehicle.tesla.model3", lane, settle=10)
    car.apply_control(carla.VehicleControl(throttle=0.8, steer=0.05))
    places, velocities, turns, rates = [], [], [], []
    for _ in range(60):
        scene.tick()
        places.append(xyz(car.get_location()))
        velocities.append(xyz(car.get_velocity()))
        turns.append(car.get_transform().rotation.yaw)
        rates.append(car.get_angular_velocity().z)
    slope = np.gradient(np.array(places), DELTA_S, axis=0)[5:-1]
    assert np.abs(slope - np.array(velocities)[5:-1]).max() < 0.15
    turning = np.gradient(np.unwrap(turns, period=360.0), DELTA_S)[5:-1]
    assert np.abs(turning - np.array(rates)[5:-1]).max() < 2.0
    pushes = np.gradient(np.array(velocities), DELTA_S, axis=0)[10:-2]
    car.apply_control(carla.VehicleControl(brake=1.0))
    assert np.abs(pushes).max() > 0.5
    scene.until(lambda: car.get_velocity().length() == 0.0, 100)
    scene.tick(20)
    assert xyz(car.get_velocity()).tolist() == [0.0, 0.0, 0.0]
    assert xyz(car.get_acceleration()).tolist() == [0.0, 0.0, 0.0]
    assert xyz(car.get_angular_velocity()).tolist() == [0.0, 0.0, 0.0]


def test_acceleration_follows_the_change_of_velocity(scene: Scene) -> None:
    lane = scene.straight_lane(80.0).transform
    lane.location.z += 0.3
    car = scene.spawn("vehicle.lincoln.mkz_2020", lane, settle=10)
    car.apply_control(carla.VehicleControl(throttle=1.0))
    scene.tick(20)
    before, samples = car.get_velocity().length(), []
    for _ in range(10):
        scene.tick()
        samples.append(car.get_acceleration().length())
    change = (car.get_velocity().length() - before) / (10 * DELTA_S)
    assert np.mean(samples) == pytest.approx(change, rel=0.1)


def test_spawning_into_something_fails_as_in_carla(scene: Scene) -> None:
    car = scene.car()
    blueprint = scene.blueprint("vehicle.audi.tt")
    with pytest.raises(RuntimeError, match="Spawn failed because of collision at spawn position"):
        scene.world.spawn_actor(blueprint, car.get_transform())
    assert scene.world.try_spawn_actor(blueprint, car.get_transform()) is None
    below = car.get_transform()
    below.location.z -= 100.0
    free = scene.world.try_spawn_actor(blueprint, below)  # the test is three-dimensional
    assert free is not None
    scene.spawned.append(free)
    prop = scene.spawn("static.prop.barrel", car.get_transform())  # props are never refused
    assert prop.is_alive


def test_destroyed_actors_are_gone_and_ids_stay_unused(scene: Scene) -> None:
    car = scene.car()
    assert car.destroy() is True
    scene.spawned.clear()
    scene.tick()
    assert scene.world.get_actors().find(car.id) is None
    assert car.id not in {record.id for record in scene.world.get_snapshot()}
    assert scene.car().id > car.id


def test_attached_actor_follows_its_parent_and_outlives_it(scene: Scene) -> None:
    car = scene.car()
    offset = carla.Transform(carla.Location(x=1.5, y=-0.4, z=2.0), carla.Rotation(yaw=30.0))
    camera = scene.spawn("sensor.camera.rgb", offset, car)
    assert camera.parent.id == car.id
    car.apply_control(carla.VehicleControl(throttle=0.6, steer=0.2))
    for _ in range(20):
        scene.tick()
        frame = car.get_transform()
        wanted = frame.transform(carla.Location(x=1.5, y=-0.4, z=2.0))
        assert xyz(camera.get_location()) == pytest.approx(xyz(wanted), abs=0.01)
        yaw = camera.get_transform().rotation.yaw
        assert angle_between_deg(yaw, frame.rotation.yaw + 30.0) < 0.5
    car.destroy()
    scene.spawned.remove(car)
    scene.tick()
    assert scene.world.get_actors().find(camera.id) is not None
    assert camera.destroy() is True
    scene.spawned.clear()


def test_moving_an_attached_actor_changes_its_place_on_the_parent(scene: Scene) -> None:
    car = scene.car()
    camera = scene.spawn("sensor.camera.rgb", carla.Transform(carla.Location(z=2.0)), car)
    place = car.get_transform().transform(carla.Location(x=-3.0, z=3.0))
    camera.set_location(place)
    scene.tick()
    assert camera.get_location().distance(place) < 0.05


def test_batch_spawns_runs_follow_ups_and_destroys(scene: Scene) -> None:
    points = scene.map.get_spawn_points()
    blueprint = scene.blueprint("vehicle.audi.tt")
    control = carla.VehicleControl(throttle=0.9)
    commands = [
        SpawnActor(blueprint, point).then(carla.command.ApplyVehicleControl(Future, control))
        for point in points[:5]
    ]
    commands.append(SpawnActor(blueprint, points[0]))  # occupied
    results = scene.client.apply_batch_sync(commands, True)
    assert [result.has_error() for result in results] == [False] * 5 + [True]
    assert results[5].error == "Spawn failed because of collision at spawn position"
    cars = [scene.world.get_actor(result.actor_id) for result in results[:5]]
    scene.tick(30)
    assert all(car.get_control().throttle == pytest.approx(0.9) for car in cars)
    assert all(car.get_velocity().length() > 1.0 for car in cars)
    results = scene.client.apply_batch_sync(
        [Destroy(car) for car in cars] + [Destroy(999999)], True
    )
    assert [result.has_error() for result in results] == [False] * 5 + [True]
    left = {actor.id for actor in scene.world.get_actors()}
    assert not left & {car.id for car in cars}


def test_batch_spawn_attaches_to_a_parent(scene: Scene) -> None:
    car = scene.car()
    offset = carla.Transform(carla.Location(x=2.0, z=1.0))
    command = SpawnActor(scene.blueprint("sensor.other.gnss"), offset, car)
    [result] = scene.client.apply_batch_sync([command], True)
    sensor = scene.world.get_actor(result.actor_id)
    scene.spawned.append(sensor)
    assert sensor.parent.id == car.id
    wanted = car.get_transform().transform(carla.Location(x=2.0, z=1.0))
    assert sensor.get_location().distance(wanted) < 0.02


def test_every_batch_command_python_can_build_has_its_effect(scene: Scene) -> None:
    car, person = scene.car(), None
    walk = scene.world.get_random_location_from_navigation()
    person = scene.walker(walk)
    command = carla.command
    parked = scene.car(6)
    scene.client.apply_batch_sync([command.SetSimulatePhysics(parked, False)], True)
    place = parked.get_location() + carla.Location(z=-60.0)
    commands = [
        command.ApplyVehicleControl(car, carla.VehicleControl(throttle=0.5, steer=-0.2)),
        command.ApplyWalkerControl(person, carla.WalkerControl(carla.Vector3D(1, 0, 0), 1.2)),
        command.ApplyTransform(parked, carla.Transform(place)),
        command.SetVehicleLightState(car, carla.VehicleLightState.LowBeam),
        command.SetEnableGravity(car, True),
        command.ApplyTargetAngularVelocity(car, carla.Vector3D()),
        command.ApplyImpulse(car, carla.Vector3D()),
        command.ApplyForce(car, carla.Vector3D()),
        command.ApplyAngularImpulse(car, carla.Vector3D()),
        command.ApplyTorque(car, carla.Vector3D()),
        command.ApplyVehicleAckermannControl(parked, carla.VehicleAckermannControl()),
        command.ApplyVehiclePhysicsControl(car, car.get_physics_control()),
    ]
    results = scene.client.apply_batch_sync(commands, True)
    assert [result.error for result in results if result.has_error()] == []
    scene.tick(10)
    assert car.get_control().throttle == pytest.approx(0.5)
    assert car.get_control().steer == pytest.approx(-0.2)
    assert person.get_velocity().x == pytest.approx(1.2, abs=0.05)
    assert parked.get_location().distance(place) < 0.01
    # The wheel turns the flags of this command into a truth value before it sends them.
    assert int(car.get_light_state()) == 1


def test_props_stand_where_they_are_put(scene: Scene) -> None:
    place = scene.map.get_spawn_points()[9].location
    pose = carla.Transform(place, carla.Rotation(yaw=77.0))
    prop = scene.spawn("static.prop.constructioncone", pose)
    scene.tick(20)
    assert prop.get_location().distance(place) < 0.8  # it may settle on the ground
    assert angle_between_deg(prop.get_transform().rotation.yaw, 77.0) < 0.1
    mesh = scene.spawn(
        "static.prop.mesh",
        carla.Transform(place + carla.Location(z=-50.0)),
        mesh_path="/Game/Carla/Static/Car/4Wheeled/ParkedVehicles/TeslaM3/TeslaM3.TeslaM3",
        scale=0.9,
    )
    assert xyz(mesh.bounding_box.extent) == pytest.approx(
        np.array((2.396, 1.082, 0.744)) * 0.9, rel=0.1
    )


def test_impulse_and_force_push_a_car(scene: Scene) -> None:
    car = scene.car()
    ahead = car.get_transform().get_forward_vector()
    mass = car.get_physics_control().mass
    car.add_impulse(carla.Vector3D(ahead.x * mass * 4.0, ahead.y * mass * 4.0, 0.0))
    scene.tick()
    assert car.get_velocity().length() == pytest.approx(4.0, abs=0.6)
    car.set_target_velocity(carla.Vector3D())
    car.apply_control(carla.VehicleControl(brake=1.0))
    scene.tick(5)
    assert car.get_velocity().length() == 0.0
