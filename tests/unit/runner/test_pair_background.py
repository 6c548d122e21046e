"""Both routes of a pair get the same background, whatever only one of them has on its context.

Scenarios on the real map of a town, before a world that has no server behind it.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import carla
import numpy as np
import pytest

from jaywalk.actors.lane_network import build_network
from jaywalk.actors.traffic._placing import PlacementRules, closed_segments, free_places
from jaywalk.core.errors import DataError
from jaywalk.runner import spawning
from jaywalk.runner.plan import AgentSpec, EpisodePlan
from jaywalk.scenarios import reserved_space
from jaywalk.scenarios.base import ScenarioContext, make_scenario
from jaywalk.scenarios.reserved_space import APART_M, ReservedSpace, find_reserved_space
from jaywalk.scenarios.suite import load_suite
from jaywalk.town.routes import RoutePlanner
from jaywalk.town.town import load_town

# Pairs of Orchard whose halves once had other cars.
ONCE_DIFFERENT = (30, 33, 53, 63)


class Blueprint:
    def __init__(self, name):
        self.id = name

    def has_attribute(self, name):
        return name in ("role_name", "base_type")

    def set_attribute(self, name, value):
        pass

    def get_attribute(self, name):
        return SimpleNamespace(as_str=lambda: "car")


class Library(list):
    def find(self, name):
        return Blueprint(name)

    def filter(self, pattern):
        return Library(Blueprint(f"{pattern.rstrip('*').rstrip('.')}.{k}") for k in range(3))


class Spawn:
    """In place of the client's command, which takes blueprints of a server only."""

    def __init__(self, model, transform):
        self.model, self.transform = model, transform


class Server:
    """Counts what is put into the world."""

    def __init__(self, town_map):
        self.map, self.spawned = town_map, []

    def get_map(self):
        return self.map

    def get_blueprint_library(self):
        return Library([Blueprint("vehicle.car.one")])

    def get_actors(self):
        return []

    def get_traffic_lights_in_junction(self, number):
        return []

    def try_spawn_actor(self, model, pose):
        self.spawned.append(pose)
        box = carla.BoundingBox(carla.Location(), carla.Vector3D(1.0, 1.0, 1.0))
        return SimpleNamespace(id=len(self.spawned), bounding_box=box)

    def apply_batch_sync(self, commands):
        found = []
        for one in commands:
            if isinstance(one, Spawn):
                self.spawned.append(one.transform)
            found.append(SimpleNamespace(error="", actor_id=len(self.spawned)))
        return found


@pytest.fixture(scope="module")
def orchard():
    town = load_town("Orchard")
    town_map = carla.Map("Orchard", town.opendrive)
    return SimpleNamespace(
        map=town_map,
        planner=RoutePlanner(town_map),
        network=build_network(town, [], []),
        places=[point.transform for point in town_map.generate_waypoints(12.0)],
    )


@pytest.fixture(autouse=True)
def no_client(monkeypatch):
    monkeypatch.setattr(carla.command, "SpawnActor", Spawn)


def halves(number, variant=""):
    items = load_suite("fail2drive", variant).routes
    return [one for one in items if int(one.route.id) % 1000 == number]


def route_of(item, orchard):
    return orchard.planner.plan([point.position_m for point in item.route.keypoints])


def background(item, orchard, seed=1):
    """Closed lanes and places of cars, as an episode finds them."""
    plan = EpisodePlan(suite="S", variant="", item=item, seed=seed, agent=AgentSpec(name="expert"))
    closed = []

    def close(ways, pace_of=None):
        closed.append(closed_segments(orchard.network, ways, pace_of))

    actors = spawning.EpisodeActors(ego=None, traffic=SimpleNamespace(close=close))
    server, route = Server(orchard.map), route_of(item, orchard)
    reserved = spawning._set_up_scenarios(
        plan, SimpleNamespace(client=server, bank=None), server, route, "Orchard", seed, actors
    )
    wishes = PlacementRules(
        clear=tuple(reserved.circles()), near_m=route.position_m[:, :2], only_near=True
    )
    random = np.random.default_rng(seed)
    places = free_places(orchard.places, random, wishes, orchard.network, closed[0])
    spots = [(p.pose.location.x, p.pose.location.y) for p in places]
    return closed[0], spots, [(p.location.x, p.location.y) for p in server.spawned]


@pytest.mark.parametrize("number", ONCE_DIFFERENT)
def test_both_halves_close_the_same_lanes_and_put_cars_in_the_same_places(orchard, number):
    base, shift = (background(item, orchard) for item in halves(number))
    assert base[0] == shift[0]
    assert base[1] == shift[1]
    assert len(base[1]) > 5
    assert base[2] != shift[2]  # the scenarios themselves differ
    for x, y in (*base[2], *shift[2]):  # and nobody starts where anything of either stands
        assert min(np.hypot(x - a, y - b) for a, b in base[1]) >= APART_M


def test_alone_they_would_not(orchard):
    """What the shift closes is more than the base does, so each must know of the other."""
    alone = [replace(item, pair_scenarios=()) for item in halves(30)]
    assert background(alone[0], orchard)[0] != background(alone[1], orchard)[0]


def test_a_half_that_runs_alone_knows_its_partner(orchard):
    both = halves(53)
    for item, variant in zip(both, ("base", "shift"), strict=True):
        assert halves(53, variant) == [item]
    assert both[0].pair_scenarios == both[1].pair_scenarios
    assert set(both[1].route.scenarios) <= set(both[0].pair_scenarios)


def test_reserved_space_is_that_of_a_real_setup_and_nothing_is_spawned(orchard):
    item = halves(30)[1]
    server, aside = Server(orchard.map), Server(orchard.map)
    context = ScenarioContext(
        client=server, world=server, map=orchard.map, route=route_of(item, orchard), seed=1
    )
    spec = item.route.scenarios[0]
    scenario = make_scenario(spec, context)
    scenario.setup()
    reserved = find_reserved_space([spec], replace(context, client=aside, world=aside))
    assert not aside.spawned
    assert reserved.spots_m == tuple((p.location.x, p.location.y) for p in server.spawned)
    for found, expected in zip(reserved.paths, scenario.closed(), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_the_dry_run_has_an_ego_that_stays_in_place(orchard):
    world = reserved_space._World(Server(orchard.map), reserved_space._Client([]))
    (hero,) = world.get_actors().filter("vehicle.*")
    assert hero.attributes["role_name"] == "hero"
    hero.set_transform(carla.Transform())
    with pytest.raises(AttributeError):
        world.tick()


def test_a_scenario_that_does_not_fit_is_an_error_in_both_halves(orchard):
    base, shift = halves(30)
    elsewhere = halves(33)[1].route.scenarios[0]
    for item in (base, shift):
        with pytest.raises(DataError, match="trigger is not on the route"):
            background(replace(item, pair_scenarios=(elsewhere,)), orchard)


def test_routes_of_no_pair_need_nothing_more(orchard):
    item = replace(halves(30)[1], pair="", pair_scenarios=())
    plan = EpisodePlan(suite="S", variant="", item=item, seed=1, agent=AgentSpec(name="expert"))
    asked = []
    actors = spawning.EpisodeActors(
        ego=None, traffic=SimpleNamespace(close=lambda *args: asked.append(args))
    )
    server = Server(orchard.map)
    reserved = spawning._set_up_scenarios(
        plan,
        SimpleNamespace(client=server, bank=None),
        server,
        route_of(item, orchard),
        "Orchard",
        1,
        actors,
    )
    assert reserved == ReservedSpace()
    assert len(asked[0]) == 1  # no pace, no lanes of the route
