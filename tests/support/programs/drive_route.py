"""A driver on a random route: PORT DRIVER SECONDS CARS PEOPLE SEED LENGTH -> one JSON line.

What it tells (contacts, red lights, stop signs, distance from the lane) is measured here, from the
server's answers alone.
"""

import json
import math
import sys
import time

import carla
import numpy as np

from jaywalk.actors.traffic.traffic import Traffic
from jaywalk.agents.base import Briefing, Moment
from jaywalk.agents.catalogue import AGENTS
from jaywalk.agents.driving.perception import PERSON, Perception
from jaywalk.core.errors import DataError
from jaywalk.core.seeds import stream
from jaywalk.geometry.box import box_box_overlap
from jaywalk.town.routes import RoutePlanner

DELTA_S = 0.05
KINDS = ("vehicle", "person", "prop")


def choose_route(planner, places, random, length_m):
    """A route over random spawn points, as many as its length takes."""
    for _ in range(60):
        points, route = [places[int(random.integers(len(places)))].location], None
        while route is None or route.along_m[-1] < length_m:
            end = places[int(random.integers(len(places)))].location
            if points[-1].distance(end) < 60.0:
                continue
            try:
                longer = planner.plan([(p.x, p.y, p.z) for p in (*points, end)])
            except DataError:  # a lane that leads nowhere
                break
            if turns_back(longer):
                break
            route = longer
            points.append(end)
            if len(points) > 12:
                break
        if route is not None and route.along_m[-1] >= length_m:
            return route
    raise AssertionError("no route found")


def turns_back(route):
    """Whether the route leaps or turns on the spot where two legs meet, as no car can."""
    steps = np.diff(route.position_m[:, :2], axis=0)
    turn = np.abs(np.diff(np.unwrap(np.deg2rad(route.rotation_deg[:, 1]))))
    return bool(np.any(np.hypot(*steps.T) > 9.0) or np.any(turn > 1.0))


def cut(route, length_m):
    """The first part of a route."""
    keep = route.along_m <= length_m
    names = ("position_m", "rotation_deg", "option", "lane", "in_junction")
    return type(route)(**{name: getattr(route, name)[keep] for name in names})


def put_people(client, world, route, count, random, seed):
    """People under walker controllers, near the route, who cross roads now and then."""
    if not count:
        return lambda: None
    world.set_pedestrians_seed(seed)
    world.set_pedestrians_cross_factor(0.3)
    library = world.get_blueprint_library()
    bodies = sorted(library.filter("walker.pedestrian.*"), key=lambda item: item.id)
    found = [world.get_random_location_from_navigation() for _ in range(12 * count)]
    found = [place for place in found if place is not None]
    line = route.position_m[:, :2]
    found.sort(key=lambda p: float(np.min(np.hypot(line[:, 0] - p.x, line[:, 1] - p.y))))
    commands = [
        carla.command.SpawnActor(
            bodies[int(random.integers(len(bodies)))],
            carla.Transform(place + carla.Location(z=1.0)),
        )
        for place in found[:count]
    ]
    ids = [r.actor_id for r in client.apply_batch_sync(commands) if not r.error]
    guide = library.find("controller.ai.walker")
    commands = [carla.command.SpawnActor(guide, carla.Transform(), person) for person in ids]
    guides = [r.actor_id for r in client.apply_batch_sync(commands) if not r.error]
    world.tick()
    controllers = list(world.get_actors(guides))
    for controller in controllers:
        controller.start()
        controller.set_max_speed(float(random.uniform(1.0, 1.8)))

    def send():
        """Nobody is to stand about on the road for ever."""
        for controller in controllers:
            place = world.get_random_location_from_navigation()
            if place is not None:
                controller.go_to_location(place)

    send()
    return send


class Watch:
    """Measures one drive."""

    def __init__(self, world, ego, route):
        self.world, self.ego, self.route = world, ego, route
        self.perception = Perception(world, ego)
        self.place, self.along = 0, route.along_m
        self.touching, self.contacts, self.red = set(), [], []
        self.aside, self.speed, self.pushes = [], [], []
        self.metres, self.last, self.still_s, self.longest_s = 0.0, None, 0.0, 0.0
        lights = sorted(world.get_actors().filter("traffic.traffic_light"), key=lambda a: a.id)
        self.lines = [(light, w.transform) for light in lights for w in light.get_stop_waypoints()]
        self.rows = np.array(
            [(p.location.x, p.location.y, math.radians(p.rotation.yaw)) for _, p in self.lines]
        ).reshape(-1, 3)
        self.tail_before = {}
        self.near_people = []

    def look(self, tick):
        snapshot = self.world.get_snapshot()
        own, seen = self.perception.own(snapshot), self.perception.look(snapshot)
        here = np.array([own.x_m, own.y_m])
        if self.last is not None:
            moved = float(np.hypot(*(here - self.last)))
            self.metres += moved
            self.still_s = self.still_s + DELTA_S if moved < 0.005 else 0.0
            self.longest_s = max(self.longest_s, self.still_s)
        self.last = here
        self.speed.append(own.speed_mps)
        low = max(self.place - 2, 0)
        part = self.route.position_m[low : self.place + 14, :2]
        gaps = np.hypot(*(part - here).T)
        self.place = low + int(np.argmin(gaps))
        yaw = math.radians(self.route.rotation_deg[self.place, 1])
        d = here - self.route.position_m[self.place, :2]
        if not self.near_change():
            self.aside.append(float(-d[0] * math.sin(yaw) + d[1] * math.cos(yaw)))
        self.touch(tick, own, seen)
        self.lights(tick, own)

    def near_change(self):
        option = self.route.option[max(self.place - 45, 0) : self.place + 8]
        return bool(np.any(option >= 5))

    def touch(self, tick, own, seen):
        cos, sin = math.cos(own.yaw_rad), math.sin(own.yaw_rad)
        middle = own.front_m - own.half_length_m
        mine = (
            own.x_m + middle * cos,
            own.y_m + middle * sin,
            cos,
            sin,
            own.half_length_m,
            own.half_width_m,
        )
        near = np.flatnonzero(np.hypot(seen.xy_m[:, 0] - mine[0], seen.xy_m[:, 1] - mine[1]) < 14)
        for k in near:
            if abs(seen.z_m[k] - own.z_m) > 3.0:
                continue
            other = (*seen.xy_m[k], seen.cos[k], seen.sin[k], *seen.half_m[k])
            key = int(seen.actor_id[k])
            if box_box_overlap(*mine, *other)[0] > 0.0:
                if key not in self.touching:
                    self.contacts.append(
                        {
                            "t": round(tick * DELTA_S, 2),
                            "kind": KINDS[seen.kind[k]],
                            "id": key,
                            "speed": round(own.speed_mps, 2),
                            "other": round(float(seen.speed_mps[k]), 2),
                            "at": [round(own.x_m, 1), round(own.y_m, 1)],
                            "along": round(float(self.along[self.place]), 1),
                        }
                    )
                self.touching.add(key)
            else:
                self.touching.discard(key)
        people = near[seen.kind[near] == PERSON]
        if own.speed_mps > 3.0:
            self.near_people += [float(np.hypot(*(seen.xy_m[k] - mine[:2]))) for k in people]

    def lights(self, tick, own):
        if not len(self.rows):
            return
        cos, sin = math.cos(own.yaw_rad), math.sin(own.yaw_rad)
        x, y = own.x_m + own.rear_m * cos, own.y_m + own.rear_m * sin
        c, s = np.cos(self.rows[:, 2]), np.sin(self.rows[:, 2])
        dx, dy = x - self.rows[:, 0], y - self.rows[:, 1]
        along, side = dx * c + dy * s, -dx * s + dy * c
        near = (c * cos + s * sin > 0.75) & (np.abs(side) < 1.5) & (np.abs(along) < 8.0)
        for k in np.flatnonzero(near):
            light = self.lines[k][0]
            red = light.state == carla.TrafficLightState.Red
            if red and along[k] >= 0.0 and self.tail_before.get(k, 0.0) < 0.0:
                self.red.append([round(tick * DELTA_S, 2), light.id])
            self.tail_before[k] = float(along[k])

    def result(self):
        aside = np.abs(self.aside) if self.aside else np.zeros(1)
        return {
            "done": bool(self.along[self.place] >= self.along[-1] - 5.0),
            "route_m": round(float(self.along[-1]), 1),
            "completed": round(100.0 * float(self.along[self.place] / self.along[-1]), 1),
            "driven_m": round(self.metres, 1),
            "seconds": round(len(self.speed) * DELTA_S, 1),
            "mean_mps": round(float(np.mean(self.speed)), 2),
            "aside_mean_m": round(float(aside.mean()), 3),
            "aside_p99_m": round(float(np.percentile(aside, 99)), 3),
            "aside_max_m": round(float(aside.max()), 3),
            "contacts": self.contacts,
            "red": self.red,
            "longest_stand_s": round(self.longest_s, 1),
        }


def main():
    port, name = int(sys.argv[1]), sys.argv[2]
    seconds, cars, people, seed = (int(value) for value in sys.argv[3:7])
    length_m = float(sys.argv[7])
    arguments = json.loads(sys.argv[8]) if len(sys.argv) > 8 else {}
    client = carla.Client("127.0.0.1", port)
    client.set_timeout(60.0)
    world = client.get_world()
    world.apply_settings(carla.WorldSettings(synchronous_mode=True, fixed_delta_seconds=DELTA_S))
    town_map = world.get_map()
    random = stream(seed, "drive-route")
    places = town_map.get_spawn_points()
    route = cut(choose_route(RoutePlanner(town_map), places, random, length_m), length_m)
    model = world.get_blueprint_library().find("vehicle.lincoln.mkz_2020")
    model.set_attribute("role_name", "hero")
    x, y, z = (float(value) for value in route.position_m[0])
    yaw = float(route.rotation_deg[0, 1])
    ego = world.spawn_actor(
        model, carla.Transform(carla.Location(x, y, z + 0.5), carla.Rotation(yaw=yaw))
    )
    world.tick()
    traffic = Traffic(client, world, seed=seed)
    traffic.spawn(cars, [(x, y, 15.0)])
    send_people = put_people(client, world, route, people, random, seed)
    started = time.perf_counter()
    driver = AGENTS.get(name).load()()
    driver.setup(
        Briefing(
            client=client,
            world=world,
            map=town_map,
            ego=ego,
            route=route,
            seed=seed,
            delta_s=DELTA_S,
            arguments=arguments,
        )
    )
    setup_s = time.perf_counter() - started
    watch, cost, reasons, log = Watch(world, ego, route), [], {}, []
    for tick in range(int(seconds / DELTA_S)):
        snapshot = world.get_snapshot()
        start = time.thread_time()
        moment = Moment(frame=snapshot.frame, elapsed_s=tick * DELTA_S, snapshot=snapshot)
        decision = driver.decide(moment)
        cost.append(time.thread_time() - start)
        ego.apply_control(decision.control)
        if cars:
            traffic.step()
        if tick % 600 == 599:
            send_people()
        world.tick()
        watch.look(tick)
        reason = decision.debug.get("longitudinal", {}).get("reason", "?")
        reasons[reason] = reasons.get(reason, 0) + 1
        control = decision.control
        log.append(
            (
                tick,
                round(watch.speed[-1], 2),
                round(control.throttle, 2),
                round(control.brake, 2),
                round(control.steer, 3),
                reason,
                *(round(float(v), 1) for v in watch.last),
            )
        )
        if watch.along[watch.place] >= watch.along[-1] - 3.0:
            break
    driver.close()
    result = {
        "driver": name,
        "seed": seed,
        **watch.result(),
        "setup_s": round(setup_s, 2),
        "ms": round(1000.0 * float(np.mean(cost[20:])), 3),
        "ms_p99": round(1000.0 * float(np.percentile(cost[20:], 99)), 3),
        "reasons": reasons,
    }
    if len(sys.argv) > 9:
        with open(sys.argv[9], "w") as stream_out:
            for row in log:
                stream_out.write(json.dumps(row) + "\n")
    print(json.dumps(result), flush=True)
    world.apply_settings(carla.WorldSettings(synchronous_mode=False))


main()
