"""Contacts: who is told, of what, and what it does to the bodies."""

from __future__ import annotations

import itertools

import carla
import numpy as np
import pytest
from child import wait_for
from scene import Scene, xyz


def _on_lane(scene: Scene, ahead_m: float, type_id: str) -> carla.Actor:
    lane = scene.straight_lane(80.0)
    point = lane if ahead_m == 0.0 else lane.next(ahead_m)[0]
    pose = point.transform
    pose.location.z += 0.2
    return scene.spawn(type_id, pose, settle=8)


def _listen(scene: Scene, parent: carla.Actor) -> list[carla.CollisionEvent]:
    sensor = scene.spawn("sensor.other.collision", carla.Transform(), parent)
    events: list[carla.CollisionEvent] = []
    sensor.listen(events.append)
    return events


def _push(car: carla.Vehicle, speed_mps: float) -> None:
    way = car.get_transform().get_forward_vector()
    car.set_target_velocity(carla.Vector3D(way.x * speed_mps, way.y * speed_mps, 0.0))


def test_rear_end_crash_tells_both_and_exchanges_momentum(scene: Scene) -> None:
    rear = _on_lane(scene, 0.0, "vehicle.lincoln.mkz_2020")
    front = _on_lane(scene, 9.0, "vehicle.tesla.model3")
    behind, ahead = _listen(scene, rear), _listen(scene, front)
    scene.tick()
    assert not behind
    _push(rear, 10.0)
    frame = scene.tick()
    way = xyz(rear.get_transform().get_forward_vector())
    scene.until_heard(behind, 60)
    wait_for(lambda: bool(ahead), "the event of the other car")  # two streams, any order
    event = behind[0]
    assert event.actor.id == rear.id
    assert event.other_actor.id == front.id
    assert event.other_actor.type_id == "vehicle.tesla.model3"
    assert event.frame > frame
    assert ahead[0].other_actor.id == rear.id
    assert ahead[0].frame == event.frame
    impulse = xyz(event.normal_impulse)
    assert impulse[:2] @ way[:2] < -1000.0  # it is pushed back
    assert xyz(ahead[0].normal_impulse) == pytest.approx(-impulse, rel=0.05, abs=1.0)
    scene.tick(2)
    speeds = xyz(rear.get_velocity()) @ way, xyz(front.get_velocity()) @ way
    assert speeds[1] > speeds[0] - 0.5
    assert speeds[0] < 8.0
    assert speeds[1] > 2.0
    assert np.linalg.norm(impulse) < 3.0 * 1845.0 * 10.0


def test_events_stop_when_the_contact_ends(scene: Scene) -> None:
    rear = _on_lane(scene, 0.0, "vehicle.lincoln.mkz_2020")
    _on_lane(scene, 9.0, "vehicle.lincoln.mkz_2020")
    events = _listen(scene, rear)
    _push(rear, 8.0)
    scene.until_heard(events, 60)
    rear.apply_control(carla.VehicleControl(brake=1.0))
    scene.tick(40)
    back = rear.get_transform()
    back.location -= back.get_forward_vector() * 6.0
    rear.set_transform(back)
    apart = scene.tick(3)
    scene.tick(20)
    frames = [event.frame for event in events]
    assert max(frames) <= apart
    assert len(set(frames)) == len(frames)  # once per frame and pair


def test_prop_stops_a_car_and_flat_debris_does_not(scene: Scene) -> None:
    car = _on_lane(scene, 0.0, "vehicle.lincoln.mkz_2020")
    events = _listen(scene, car)
    _on_lane(scene, 12.0, "static.prop.dirtdebris01")
    _push(car, 8.0)
    car.apply_control(carla.VehicleControl(throttle=0.6))
    scene.tick(35)
    assert not events
    assert car.get_velocity().length() > 5.0
    car.apply_control(carla.VehicleControl(brake=1.0))
    scene.tick(30)
    ahead = car.get_transform()
    ahead.location += ahead.get_forward_vector() * 8.0
    block = scene.spawn("static.prop.streetbarrier", ahead)
    car.apply_control(carla.VehicleControl(throttle=0.6))
    _push(car, 8.0)
    scene.until_heard(events, 40)
    assert events[0].other_actor.id == block.id
    assert events[0].other_actor.type_id == "static.prop.streetbarrier"


def test_building_stops_a_car_and_is_named_static(scene: Scene) -> None:
    boxes = scene.world.get_level_bbs(carla.CityObjectLabel.Buildings)
    assert boxes
    boxes.sort(key=lambda b: -b.extent.x * b.extent.y)
    events = []
    for box, sign in itertools.product(boxes[:10], (1.0, -1.0)):
        yaw = np.radians(box.rotation.yaw)
        way = sign * np.array([np.cos(yaw), np.sin(yaw)])
        away = box.extent.x + 8.0
        spot = carla.Location(
            box.location.x + float(way[0]) * away, box.location.y + float(way[1]) * away, 0.5
        )
        heading = float(np.degrees(np.arctan2(-way[1], -way[0])))
        pose = carla.Transform(spot, carla.Rotation(yaw=heading))
        try:
            car = scene.spawn("vehicle.lincoln.mkz_2020", pose, settle=10)
        except RuntimeError:
            continue  # another building stands there
        events = _listen(scene, car)
        _push(car, 9.0)
        car.apply_control(carla.VehicleControl(throttle=0.7))
        scene.tick(40)
        if car.get_velocity().length() < 3.0:
            break  # it would be faster than when it began
    wait_for(lambda: bool(events), "an event of the car that stopped")
    assert events[0].other_actor.type_id.startswith("static.")
    assert car.get_velocity().length() < 3.0
    inside = np.array(
        [car.get_location().x - box.location.x, car.get_location().y - box.location.y]
    )
    assert (
        abs(inside @ way) > box.extent.x - 0.5 or events[0].other_actor.type_id != "static.building"
    )


def test_collisions_can_be_switched_off(scene: Scene) -> None:
    rear = _on_lane(scene, 0.0, "vehicle.lincoln.mkz_2020")
    front = _on_lane(scene, 9.0, "vehicle.lincoln.mkz_2020")
    front.set_collisions(False)
    events = _listen(scene, rear)
    _push(rear, 10.0)
    rear.apply_control(carla.VehicleControl(throttle=0.7))
    scene.tick(40)
    assert not events
    assert front.get_velocity().length() == 0.0


def test_lane_invasion_names_the_line_crossed(scene: Scene) -> None:
    lane = scene.straight_lane(150.0)
    start = lane.next(5.0)[0].transform
    start.location.z += 0.2
    car = scene.spawn("vehicle.lincoln.mkz_2020", start, settle=8)
    sensor = scene.spawn("sensor.other.lane_invasion", carla.Transform(), car)
    events: list[carla.LaneInvasionEvent] = []
    sensor.listen(events.append)
    scene.tick(2)
    assert not events
    _push(car, 6.0)
    car.apply_control(carla.VehicleControl(throttle=0.5, steer=-0.12))
    scene.until_heard(events, 60)  # their .actor raises in this wheel, whatever the server does
    assert events[0].crossed_lane_markings
