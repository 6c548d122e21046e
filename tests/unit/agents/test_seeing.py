"""Perception and corridors on hand-made snapshots."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapely
from driver_fakes import FakeActor, FakeWorld, route_along_x, straight_map

from jaywalk.agents.driving._following import first_along, speed_along
from jaywalk.agents.driving.perception import PERSON, PROP, VEHICLE, Perception
from jaywalk.agents.driving.route_line import STEP_M, make_line


@pytest.fixture
def world() -> FakeWorld:
    return FakeWorld(
        [
            FakeActor(1, "vehicle.ego", 50.0, 1.75, speed_mps=8.0),
            FakeActor(2, "vehicle.van", 70.0, 1.75, speed_mps=5.0),
            FakeActor(
                3, "walker.pedestrian.0001", 60.0, 8.0, 90.0, 1.5, half=(0.2, 0.2, 0.9), z=0.9
            ),
            FakeActor(4, "static.prop.box", 80.0, 1.0, half=(0.5, 0.5, 0.5)),
            FakeActor(5, "static.prop.plate", 75.0, 1.75, half=(0.5, 0.5, 0.05)),
            FakeActor(6, "sensor.other.collision", 50.0, 1.75),
            FakeActor(7, "traffic.traffic_light", 60.0, 1.75),
        ]
    )


def test_sees_what_can_be_hit_and_not_the_rest(world: FakeWorld) -> None:
    perception = Perception(world, world.actors[0])
    seen = perception.look(world.snapshot())
    assert seen.actor_id.tolist() == [2, 3, 4]
    assert seen.kind.tolist() == [VEHICLE, PERSON, PROP]
    assert seen.half_m[1] == pytest.approx([0.3, 0.3])
    assert seen.velocity_mps[1] == pytest.approx([0.0, 1.5], abs=1e-12)
    assert seen.z_m.tolist() == pytest.approx([0.0, 0.9, 0.0])
    own = perception.own(world.snapshot())
    assert (own.x_m, own.speed_mps, own.front_m, own.rear_m) == pytest.approx(
        (50.0, 8.0, 2.3, -2.3)
    )


def test_asks_the_server_only_about_new_actors(world: FakeWorld) -> None:
    perception = Perception(world, world.actors[0])
    for tick in range(5):
        perception.look(world.snapshot(0.05 * tick))
    assert world.questions == 1
    assert [actor.box_reads for actor in world.actors[1:5]] == [1, 1, 1, 1]
    world.actors[1] = FakeActor(9, "vehicle.new", 90.0, 1.75)  # one gone, one come: same count
    assert perception.look(world.snapshot(0.25)).actor_id.tolist() == [3, 4, 9]
    assert world.questions == 2
    assert [actor.box_reads for actor in world.actors[1:4]] == [1, 1, 1]


def test_acceleration_is_how_fast_the_speed_grows(world: FakeWorld) -> None:
    perception = Perception(world, world.actors[0])
    for tick in range(12):
        world.actors[1].speed_mps = 5.0 + 3.0 * 0.05 * tick
        world.actors[1].yaw_deg = 6.0 * tick  # turning adds nothing
        seen = perception.look(world.snapshot(0.05 * tick))
    assert seen.acceleration_mps2 == pytest.approx([3.0, 0.0, 0.0], abs=0.01)


def test_a_thing_moved_without_velocity_is_seen_to_move(world: FakeWorld) -> None:
    perception = Perception(world, world.actors[0])
    walker = world.actors[2]
    walker.speed_mps = 0.0
    perception.look(world.snapshot(0.0))
    walker.y -= 0.06
    seen = perception.look(world.snapshot(0.05))
    assert seen.velocity_mps[1] == pytest.approx([0.0, -1.2])
    walker.y -= 20.0  # a teleport is no speed
    assert perception.look(world.snapshot(0.1)).velocity_mps[1] == pytest.approx([0.0, 0.0])


def test_first_along_agrees_with_shapely() -> None:
    line = make_line(route_along_x(120.0), straight_map(), 8.0)
    random = np.random.default_rng(5)
    others = [
        FakeActor(
            key,
            "vehicle.other",
            float(random.uniform(5.0, 130.0)),
            float(random.uniform(-6.0, 9.0)),
            float(random.uniform(0.0, 360.0)),
            half=(float(random.uniform(0.3, 4.0)), float(random.uniform(0.2, 1.2)), 0.8),
        )
        for key in range(2, 60)
    ]
    actors = [FakeActor(1, "vehicle.ego", 20.0, 1.75), *others]
    world = FakeWorld(actors)
    seen = Perception(world, actors[0]).look(world.snapshot())
    side = np.full(len(seen), 1.3)
    at, least = first_along(line, 20, 180, seen, side)
    samples = np.arange(20, 180, 2)
    for k, actor in enumerate(actors[1:]):
        box = shapely.affinity.translate(
            shapely.affinity.rotate(
                shapely.box(-actor.half[0], -actor.half[1], actor.half[0], actor.half[1]),
                actor.yaw_deg,
                origin=(0, 0),
            ),
            actor.x,
            actor.y,
        )
        gaps = np.array([box.distance(shapely.Point(*line.xy_m[s])) for s in samples])
        hit = np.flatnonzero(gaps <= 1.3)
        assert at[k] == (samples[hit[0]] * STEP_M if len(hit) else math.inf)
        assert least[k] == pytest.approx(gaps.min(), abs=1e-9)


def test_things_on_a_bridge_do_not_count() -> None:
    line = make_line(route_along_x(120.0), straight_map(), 8.0)
    world = FakeWorld(
        [
            FakeActor(1, "vehicle.ego", 20.0, 1.75),
            FakeActor(2, "vehicle.above", 60.0, 1.75, z=6.0),
            FakeActor(3, "vehicle.oncoming", 60.0, 1.75, yaw_deg=180.0, speed_mps=5.0),
        ]
    )
    seen = Perception(world, world.actors[0]).look(world.snapshot())
    at, _ = first_along(line, 0, 200, seen, np.full(2, 1.0))
    assert at.tolist() == [math.inf, pytest.approx(47.0, abs=1.0)]
    assert speed_along(line, at, seen.velocity_mps) == pytest.approx([0.0, 0.0])
