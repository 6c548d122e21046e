"""Limited perception: range by weather, and what hides what."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import shapely
from driver_fakes import ClosedLoop, FakeActor, FakeWorld, route_along_x

from jaywalk.agents.baselines.baselines import Cruise
from jaywalk.agents.driving.perception import LimitedPerception, Perception, sight_m, visible

CLEAR = SimpleNamespace(sun_altitude_angle=45.0, fog_density=0.0, precipitation=0.0)


def look(*others: FakeActor, range_m: float = 80.0) -> list[int]:
    ego = FakeActor(1, "vehicle.ego", 0.0, 0.0)
    world = FakeWorld([ego, *others])
    perception = Perception(world, ego)
    seen = visible(perception.own(world.snapshot()), perception.look(world.snapshot()), range_m)
    return seen.actor_id.tolist()


def person(key: int, x: float, y: float, tall: float = 0.9) -> FakeActor:
    return FakeActor(key, "walker.pedestrian.1", x, y, half=(0.2, 0.2, tall))


def test_weather_shortens_the_range() -> None:
    night = SimpleNamespace(sun_altitude_angle=-10.0, fog_density=0.0, precipitation=0.0)
    fog = SimpleNamespace(sun_altitude_angle=45.0, fog_density=100.0, precipitation=50.0)
    assert sight_m(CLEAR) == 80.0
    assert sight_m(fog) < sight_m(night) < sight_m(CLEAR)
    assert sight_m(SimpleNamespace(**{**vars(fog), "sun_altitude_angle": -90.0})) >= 12.0


def test_what_is_far_or_hidden_is_not_seen() -> None:
    van = FakeActor(2, "vehicle.van", 20.0, 0.0, half=(2.5, 1.0, 1.2))
    assert look(van, person(3, 30.0, 0.0), person(4, 30.0, 6.0), person(5, 90.0, 30.0)) == [2, 4]
    assert look(van, person(3, 30.0, 0.0), range_m=10.0) == []


def test_a_head_shows_over_a_car_and_a_child_does_not() -> None:
    car = FakeActor(2, "vehicle.car", 20.0, 0.0, half=(2.2, 0.95, 0.75))
    assert look(car, person(3, 26.0, 0.0)) == [2, 3]
    assert look(car, person(3, 26.0, 0.0, tall=0.55)) == [2]


def test_two_things_may_hide_a_third_together() -> None:
    left = FakeActor(2, "static.prop.wall", 20.0, -1.0, half=(0.2, 1.05, 1.5))
    right = FakeActor(3, "static.prop.wall", 20.0, 1.0, half=(0.2, 1.05, 1.5))
    bus = FakeActor(4, "vehicle.bus", 30.0, 0.0, half=(1.0, 1.2, 1.5))
    assert look(left, right, bus) == [2, 3]
    assert look(left, bus) == [2, 4]


def test_hiding_agrees_with_lines_of_sight() -> None:
    random = np.random.default_rng(8)
    actors = [
        FakeActor(
            2 + k,
            "vehicle.v",
            float(random.uniform(8, 60)),
            float(random.uniform(-25, 25)),
            float(random.uniform(0, 360)),
            half=(2.2, 1.0, 0.8),
        )
        for k in range(25)
    ]

    def shape(actor: FakeActor) -> shapely.Polygon:
        box = shapely.box(-actor.half[0], -actor.half[1], actor.half[0], actor.half[1])
        box = shapely.affinity.rotate(box, actor.yaw_deg, origin=(0, 0))
        return shapely.affinity.translate(box, actor.x, actor.y)

    shapes = {actor.id: shape(actor) for actor in actors}
    truth = []
    for actor in actors:
        mine = shapes[actor.id]
        points = [(actor.x, actor.y), *list(mine.exterior.coords)[:4]]
        others = [one for key, one in shapes.items() if key != actor.id]
        rays = [shapely.LineString([(0.0, 0.0), point]) for point in points]
        if not all(any(ray.intersects(other) for other in others) for ray in rays):
            truth.append(actor.id)
    assert look(*actors) == truth
    assert len(truth) < len(actors)


def test_drivers_take_the_argument() -> None:
    route = route_along_x(100.0)
    with pytest.raises(Exception, match="expected full or limited"):
        ClosedLoop(Cruise(), [], route, perception="some")
    FakeWorld.get_weather = lambda self: CLEAR  # type: ignore[attr-defined]
    loop = ClosedLoop(
        Cruise(), [FakeActor(5, "vehicle.x", 60.0, 1.75)], route, perception="limited"
    )
    assert isinstance(loop.driver.perception, LimitedPerception)
    assert loop.run(15.0).contacts == set()
