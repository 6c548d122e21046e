"""People: control, navigation, bones, falling down."""

from __future__ import annotations

import carla
import numpy as np
import pytest
from scene import DELTA_S, Scene, angle_between_deg, xyz

ADULT_HALF_HEIGHT_M = 0.93


def _place(scene: Scene) -> carla.Location:
    """A sidewalk point with several metres of free sidewalk around it."""
    for _ in range(200):
        place = scene.world.get_random_location_from_navigation()
        if place is None:
            continue
        lane = scene.map.get_waypoint(place, lane_type=carla.LaneType.Sidewalk)
        if lane is not None and lane.transform.location.distance(place) < 1.5:
            return place
    raise AssertionError("no sidewalk point")


def test_random_locations_lie_on_sidewalks(scene: Scene) -> None:
    distances = []
    for _ in range(60):
        place = scene.world.get_random_location_from_navigation()
        assert place is not None
        lane = scene.map.get_waypoint(place, lane_type=carla.LaneType.Sidewalk)
        flat = xyz(lane.transform.location)[:2] - xyz(place)[:2]
        distances.append(np.linalg.norm(flat) - lane.lane_width / 2.0)
    assert np.percentile(distances, 90) < 0.6


def test_walker_stands_with_its_origin_at_mid_body(scene: Scene) -> None:
    place = _place(scene)
    person = scene.walker(place)
    scene.tick(20)
    assert person.get_location().z == pytest.approx(place.z + ADULT_HALF_HEIGHT_M, abs=0.12)
    child = scene.walker(place + carla.Location(x=1.5), "walker.pedestrian.0048")
    scene.tick(20)
    assert child.get_location().z == pytest.approx(place.z + 0.55, abs=0.15)
    assert xyz(person.get_velocity()).tolist() == [0.0, 0.0, 0.0]


def test_control_moves_a_walker_and_reads_back(scene: Scene) -> None:
    person = scene.walker(_place(scene))
    control = carla.WalkerControl(carla.Vector3D(0.6, 0.8, 0.0), 1.5, False)
    person.apply_control(control)
    scene.tick(3)
    start = xyz(person.get_location())
    scene.tick(20)
    moved = xyz(person.get_location()) - start
    assert moved[:2] == pytest.approx(np.array((0.6, 0.8)) * 1.5 * 20 * DELTA_S, abs=0.05)
    assert xyz(person.get_velocity())[:2] == pytest.approx((0.9, 1.2), abs=0.02)
    assert angle_between_deg(person.get_transform().rotation.yaw, 53.13) < 2.0
    got = person.get_control()
    assert xyz(got.direction) == pytest.approx((0.6, 0.8, 0.0), abs=1e-6)
    assert got.speed == pytest.approx(1.5)
    person.apply_control(carla.WalkerControl(carla.Vector3D(1, 0, 0), 0.0))
    scene.tick(10)
    assert xyz(person.get_velocity()).tolist() == [0.0, 0.0, 0.0]


def test_jump_leaves_the_ground_and_returns(scene: Scene) -> None:
    person = scene.walker(_place(scene))
    ground = person.get_location().z
    person.apply_control(carla.WalkerControl(carla.Vector3D(1, 0, 0), 0.0, True))
    heights = []
    for _ in range(40):
        scene.tick()
        heights.append(person.get_location().z - ground)
    assert max(heights) > 0.3
    assert heights[-1] == pytest.approx(0.0, abs=0.05)


def test_ai_walkers_follow_the_mesh_to_their_goals(scene: Scene) -> None:
    people, goals, starts = [], [], []
    scene.world.set_pedestrians_cross_factor(0.3)
    for _ in range(40):
        if len(people) == 12:
            break
        pose = carla.Transform(_place(scene) + carla.Location(z=1.0))
        blueprint = scene.blueprint(f"walker.pedestrian.{len(people) + 1:04d}")
        person = scene.world.try_spawn_actor(blueprint, pose)
        if person is not None:
            scene.spawned.append(person)
            people.append(person)
        scene.tick()
    assert len(people) == 12
    controllers = [
        scene.spawn("controller.ai.walker", carla.Transform(), person) for person in people
    ]
    for person, controller in zip(people, controllers, strict=True):
        assert controller.parent.id == person.id
        controller.start()
        goal = scene.world.get_random_location_from_navigation()
        controller.go_to_location(goal)
        controller.set_max_speed(1.4)
        goals.append(goal)
        starts.append(xyz(person.get_location()))
    tracks = []
    for _ in range(400):
        scene.tick()
        tracks.append([xyz(person.get_location()) for person in people])
    tracks = np.array(tracks)
    path = np.linalg.norm(np.diff(tracks[:, :, :2], axis=0), axis=2)
    assert (path.sum(axis=0) > 5.0).sum() >= 10
    assert path.max() < 3.0 * DELTA_S + 0.05  # they walk, they do not jump
    speeds = [person.get_velocity().length() for person in people]
    assert max(speeds) < 3.0
    outside = 0
    crosswalks = np.array([xyz(corner)[:2] for corner in scene.map.get_crosswalks()])
    for place in tracks[::40].reshape(-1, 3):
        here = carla.Location(*map(float, place))
        lane = scene.map.get_waypoint(here, lane_type=carla.LaneType.Sidewalk)
        aside = np.linalg.norm(xyz(lane.transform.location)[:2] - place[:2]) - lane.lane_width / 2
        near_crosswalk = np.linalg.norm(crosswalks - place[:2], axis=1).min() < 8.0
        outside += aside > 0.8 and not near_crosswalk
        ground = lane.transform.location.z
        assert abs(place[2] - ground - ADULT_HALF_HEIGHT_M) < 0.6
    assert outside <= 0.05 * tracks[::40].shape[0] * len(people)
    closer = 0
    for start, goal, end in zip(starts, goals, tracks[-1], strict=True):
        closer += np.linalg.norm(end[:2] - xyz(goal)[:2]) < np.linalg.norm(
            start[:2] - xyz(goal)[:2]
        )
    assert closer >= 8
    for controller in controllers:
        controller.stop()
    scene.tick(5)


def test_bones_have_the_rig_of_carla_and_stand_on_the_ground(scene: Scene) -> None:
    person = scene.walker(_place(scene))
    scene.tick(10)
    bones = {bone.name: bone for bone in person.get_bones().bone_transforms}
    assert len(bones) >= 60
    assert {"crl_root", "crl_hips__C", "crl_thigh__L", "crl_foot__R", "crl_Head__C"} <= set(bones)
    feet = person.get_location().z - ADULT_HALF_HEIGHT_M
    assert bones["crl_Head__C"].world.location.z - feet == pytest.approx(1.55, abs=0.25)
    for side in "LR":
        assert bones[f"crl_foot__{side}"].world.location.z - feet == pytest.approx(0.1, abs=0.12)
    centre = person.get_location()
    for bone in bones.values():
        assert bone.world.location.distance(centre) < 1.6


def _foot_gap_m(person: carla.Walker) -> float:
    bones = {bone.name: bone.world.location for bone in person.get_bones().bone_transforms}
    ahead = person.get_transform().get_forward_vector()
    gap = xyz(bones["crl_foot__L"]) - xyz(bones["crl_foot__R"])
    return float(gap @ xyz(ahead))


def test_legs_swing_when_walking_and_rest_when_standing(scene: Scene) -> None:
    person = scene.walker(_place(scene))
    scene.tick(5)
    still = []
    for _ in range(20):
        scene.tick()
        still.append(_foot_gap_m(person))
    person.apply_control(carla.WalkerControl(carla.Vector3D(1, 0, 0), 1.4))
    scene.tick(10)
    walking = []
    for _ in range(40):
        scene.tick()
        walking.append(_foot_gap_m(person))
    assert np.ptp(still) < 0.1
    assert max(walking) > 0.25
    assert min(walking) < -0.25
    crossings = np.count_nonzero(np.diff(np.sign(walking)))
    assert 2 <= crossings <= 8  # about one gait cycle a second


def test_set_bones_blend_and_pose_from_animation(scene: Scene) -> None:
    person = scene.walker(_place(scene))
    scene.tick(5)
    rest = {bone.name: bone.relative for bone in person.get_bones().bone_transforms}
    lifted = rest["crl_arm__L"]
    lifted = carla.Transform(
        lifted.location,
        carla.Rotation(lifted.rotation.pitch + 60.0, lifted.rotation.yaw, lifted.rotation.roll),
    )
    control = carla.WalkerBoneControlIn([("crl_arm__L", lifted)])

    def hand() -> np.ndarray:
        bones = {bone.name: bone.world.location for bone in person.get_bones().bone_transforms}
        return xyz(bones["crl_hand__L"])

    before = hand()
    person.set_bones(control)
    person.show_pose()
    scene.tick()
    posed = hand()
    assert np.linalg.norm(posed - before) > 0.2
    shown = {bone.name: bone.relative for bone in person.get_bones().bone_transforms}
    assert shown["crl_arm__L"].rotation.pitch == pytest.approx(lifted.rotation.pitch, abs=1.0)
    person.blend_pose(0.5)
    scene.tick()
    half = hand()
    assert 0.05 < np.linalg.norm(half - before) < np.linalg.norm(posed - before)
    person.hide_pose()
    scene.tick()
    assert np.linalg.norm(hand() - before) < 0.08
    person.get_pose_from_animation()
    person.show_pose()
    scene.tick()
    assert np.linalg.norm(hand() - before) < 0.08


def test_pose_moves_with_its_walker(scene: Scene) -> None:
    person = scene.walker(_place(scene))
    person.apply_control(carla.WalkerControl(carla.Vector3D(0, 1, 0), 1.2))
    for _ in range(10):
        scene.tick()
        bones = {bone.name: bone.world.location for bone in person.get_bones().bone_transforms}
        hips = xyz(bones["crl_hips__C"])
        assert np.linalg.norm((hips - xyz(person.get_location()))[:2]) < 0.2


def test_car_knocks_a_walker_down(scene: Scene) -> None:
    lane = scene.straight_lane(80.0)
    start = lane.transform
    start.location.z += 0.2
    car = scene.spawn("vehicle.lincoln.mkz_2020", start, settle=10)
    person = scene.walker(lane.next(20.0)[0].transform.location)
    sensor = scene.spawn("sensor.other.collision", carla.Transform(), person)
    hits: list[carla.CollisionEvent] = []
    sensor.listen(hits.append)
    before = {b.name: b.world.location.z for b in person.get_bones().bone_transforms}
    where = xyz(person.get_location())
    way = start.get_forward_vector()
    car.set_target_velocity(carla.Vector3D(way.x * 9.0, way.y * 9.0, 0.0))
    car.apply_control(carla.VehicleControl(throttle=0.5))
    scene.tick(60)
    car.apply_control(carla.VehicleControl(brake=1.0))
    scene.tick(30)
    scene.until_heard(hits, 1)
    assert hits[0].other_actor.id == car.id
    assert np.linalg.norm(xyz(person.get_location()) - where) > 1.0
    head = {b.name: b.world.location.z for b in person.get_bones().bone_transforms}["crl_Head__C"]
    assert head < before["crl_Head__C"] - 0.7  # lying
