"""Drives routes of a suite: PORT SUITE IDS DRIVER SEED [TRACES] -> one JSON line.

IDS is a comma list of route ids or "all". Drivers, all on physics and none of them teleporting:
``steady`` follows the route and ignores everything; ``careful`` also brakes for what is in its
lane; ``passing`` goes round obstacles and waits for a gap, with knowledge no agent has. They are
instruments: what is judged is whether each scenario happens.
"""

import hashlib
import json
import math
import os
import struct
import sys
import time
from pathlib import Path

import carla
import numpy as np

from jaywalk.actors._surroundings import Surroundings
from jaywalk.actors.events import EgoMoment
from jaywalk.actors.pilots import follow
from jaywalk.actors.traffic.traffic import Traffic, network_of
from jaywalk.geometry.box import box_box_overlap
from jaywalk.scenarios.base import Phase, ScenarioContext, make_scenario
from jaywalk.scenarios.obstacles._on_lane import OnLane
from jaywalk.scenarios.obstacles._two_ways import OnLaneTwoWays
from jaywalk.scenarios.suite import load_suite
from jaywalk.town.routes import RoutePlanner

DELTA_S = 0.05
EGO_CLEAR_M = 15.0  # no car appears so near to the ego
REACH_M = 120.0
LONGEST_S = 120.0
TOP_MPS = 10.0
KEPT = []  # the wheel can crash when it drops a world that its threads still use
BODY = np.array([2.45, 0.92, 0.0])


def populate(traffic, route, scenarios, count):
    """Spawn background cars near the route, off lanes that scenarios need; returns their ids."""
    traffic.close(way for scenario in scenarios for way in scenario.closed())
    x_m, y_m = (float(value) for value in route.position_m[0, :2])
    return traffic.spawn(
        count,
        keep_clear_m=[(x_m, y_m, EGO_CLEAR_M)],
        near_m=route.position_m[:, :2],
        reach_m=REACH_M,
    )


class Ego:
    """A car on the route; ``kind`` says what it minds."""

    def __init__(self, world, route, kind, scenario):
        model = world.get_blueprint_library().find("vehicle.lincoln.mkz_2020")
        model.set_attribute("role_name", "hero")
        x, y, z = map(float, route.position_m[0])
        yaw = float(route.rotation_deg[0, 1])
        pose = carla.Transform(carla.Location(x, y, z + 0.3), carla.Rotation(yaw=yaw))
        self.actor = world.spawn_actor(model, pose)
        keep = np.concatenate([[True], np.diff(route.along_m) > 0.05])
        self.line, self.arc = route.position_m[keep], route.along_m[keep]
        self.yaw = np.deg2rad(route.rotation_deg[keep, 1])
        self.kind, self.at, self.out = kind, 0, np.zeros(5)
        self.scenario, self.waits = scenario, False
        if kind == "passing" and isinstance(scenario, OnLane):
            self.shift(scenario)
        self.around = Surroundings(world, [])
        self.speed = 0.0

    def shift(self, scenario):
        """Bend the path to the lane on the left of the obstacle, back behind it."""
        along, at = self.arc, scenario.at_m
        rise = np.clip((along - (at - 22.0)) / 12.0, 0.0, 1.0)
        fall = np.clip(((at + 26.0) - along) / 12.0, 0.0, 1.0)
        aside = -3.1 * np.minimum(rise, fall)
        self.line[:, 0] -= aside * np.sin(self.yaw)
        self.line[:, 1] += aside * np.cos(self.yaw)
        self.waits = isinstance(scenario, OnLaneTwoWays)

    def gap(self):
        """Whether nobody comes for as long as passing takes."""
        flow = self.scenario.flow
        beside = flow.path.nearest_m(self.scenario_place)
        for car in flow.pilots.cars:
            left = beside + 20.0 - car.along_m
            if left > 0.0 and left < 40.0 + 6.5 * flow.speed_mps:
                return False
        return True

    def control(self, snapshot):
        state = snapshot.find(self.actor.id)
        pose, velocity = state.get_transform(), state.get_velocity()
        self.speed = math.hypot(velocity.x, velocity.y)
        here = np.array(
            [pose.location.x, pose.location.y, math.radians(pose.rotation.yaw), self.speed]
        )
        boxes, people = self.around.look(snapshot)
        blind = self.kind == "steady"
        self.at = follow(
            self.line,
            self.arc,
            self.at,
            here,
            BODY,
            0.0 if blind else 8.0 + 3.0 * self.speed,
            boxes[:0] if blind else boxes,
            people[:0] if blind else people,
            self.out,
        )
        limit = self.actor.get_speed_limit() / 3.6
        wanted = min(limit if limit > 1.0 else 8.0, TOP_MPS)
        gap, lead = float(self.out[2]), max(float(self.out[3]), 0.0)
        if self.waits and self.scenario.phase is Phase.RUNNING:
            left = self.scenario.at_m - 24.0 - self.along
            if -4.0 < left < 30.0:
                if self.scenario.reacted and left < 6.0 and self.gap():
                    self.waits = False
                else:
                    gap, lead = min(gap, left), 0.0
        if math.isfinite(gap):
            room = max(gap - 3.0, 0.0)
            wanted = min(wanted, math.sqrt(2.0 * 3.0 * room) + lead)
        error = wanted - self.speed
        steer = float(self.out[1])
        if error < -0.3 or wanted < 0.2:
            return carla.VehicleControl(steer=steer, brake=min(max(-0.4 * error, 0.3), 1.0))
        return carla.VehicleControl(throttle=min(max(0.4 + 0.25 * error, 0.0), 0.9), steer=steer)

    @property
    def along(self):
        return float(self.out[0])


def boxes_of(actors):
    return {
        actor.id: (
            actor.bounding_box.extent.x,
            actor.bounding_box.extent.y,
            actor.bounding_box.location.x,
        )
        for actor in actors
    }


def outline(pose, box, rows=7):
    """Points around and in a body, for distances that are good to some centimetres."""
    a, b = np.meshgrid(np.linspace(-1, 1, 2 * rows), np.linspace(-1, 1, rows))
    yaw = math.radians(pose.rotation.yaw)
    u, v = a.ravel() * box[0] + box[2], b.ravel() * box[1]
    return np.column_stack(
        [
            pose.location.x + u * math.cos(yaw) - v * math.sin(yaw),
            pose.location.y + u * math.sin(yaw) + v * math.cos(yaw),
        ]
    )


def touches(me, pose, box):
    """Whether the ego's box, a little larger, overlaps another: the server parts those that do."""
    shapes = []
    for where, (length, width, ahead) in ((me, (2.5, 0.97, 0.0)), (pose, box)):
        cos = math.cos(math.radians(where.rotation.yaw))
        sin = math.sin(math.radians(where.rotation.yaw))
        x, y = where.location.x + ahead * cos, where.location.y + ahead * sin
        shapes += [x, y, cos, sin, length, width]
    return box_box_overlap(*shapes)[0] > 0.0


class Watch:
    """Everything about the scenario's actors, from the server's answers alone."""

    def __init__(self, world, ego):
        self.world, self.ego = world, ego
        self.boxes, self.tracks, self.kinds = {}, {}, {}
        self.digest = hashlib.blake2b(digest_size=8)
        self.least_m, self.least_s = math.inf, 0.0
        self.ego_track, self.hits = [], set()

    def look(self, snapshot, scenario, elapsed_s):
        fresh = [key for key in scenario.actor_ids + flow_ids(scenario) if key not in self.boxes]
        if fresh:
            found = [a for a in self.world.get_actors(fresh) if snapshot.has_actor(a.id)]
            self.boxes.update(boxes_of(found))
            self.kinds.update({actor.id: actor.type_id for actor in found})
        me = snapshot.find(self.ego.actor.id).get_transform()
        mine = outline(me, (2.45, 0.92, 0.0))
        self.ego_track.append(
            (
                elapsed_s,
                me.location.x,
                me.location.y,
                me.rotation.yaw,
                self.ego.speed,
                self.ego.along,
            )
        )
        for number, key in enumerate(self.boxes):
            state = snapshot.find(key)
            if state is None:
                continue
            pose, speed = state.get_transform(), state.get_velocity().length()
            self.digest.update(
                struct.pack(
                    "<i4f", number, pose.location.x, pose.location.y, pose.rotation.yaw, speed
                )
            )
            gap = math.inf
            if me.location.distance(pose.location) < 25.0:
                theirs = outline(pose, self.boxes[key])
                if touches(me, pose, self.boxes[key]):
                    self.hits.add(self.kinds[key])
                gap = float(
                    np.hypot(
                        mine[:, None, 0] - theirs[None, :, 0], mine[:, None, 1] - theirs[None, :, 1]
                    ).min()
                )
                if gap < self.least_m and not self.kinds[key].startswith("static"):
                    self.least_m, self.least_s = gap, elapsed_s
            self.tracks.setdefault(key, []).append(
                (elapsed_s, pose.location.x, pose.location.y, pose.rotation.yaw, speed, gap)
            )


def flow_ids(scenario):
    flows = [scenario.flow] if isinstance(scenario, OnLaneTwoWays) else []
    flows += getattr(scenario, "flows", [])
    return [key for flow in flows for key in flow.actor_ids]


def drive(client, item, kind, seed, towns, traces):
    town = item.route.town
    world = client.load_world(town)
    world.apply_settings(carla.WorldSettings(synchronous_mode=True, fixed_delta_seconds=DELTA_S))
    world.reset_all_traffic_lights()  # they ran by the wall clock until now
    if town not in towns:
        towns[town] = (RoutePlanner(world.get_map()), network_of(world))
    planner, network = towns[town]
    route = planner.plan([point.position_m for point in item.route.keypoints])
    traffic = Traffic(client, world, seed, DELTA_S, network=network)
    context = ScenarioContext(
        client=client, world=world, map=world.get_map(), route=route, seed=seed, traffic=traffic
    )
    (spec,) = item.route.scenarios
    began = time.perf_counter()
    scenario = make_scenario(spec, context)
    scenario.setup()
    setup_ms = 1000.0 * (time.perf_counter() - began)
    began = time.perf_counter()
    ego = Ego(world, route, kind, scenario)
    cars = populate(traffic, route, [scenario], item.vehicles)
    populate_ms = 1000.0 * (time.perf_counter() - began)
    if isinstance(scenario, OnLane):
        at = int(np.searchsorted(route.along_m, scenario.at_m))
        ego.scenario_place = carla.Location(*map(float, route.position_m[at]))
    KEPT.append((world, context, scenario, traffic, ego))
    for _ in range(5):
        world.tick()
    watch, costs, length = Watch(world, ego), [], float(route.along_m[-1])
    tick = 0
    for tick in range(int(LONGEST_S / DELTA_S)):
        snapshot, elapsed_s = world.get_snapshot(), tick * DELTA_S
        watch.look(snapshot, scenario, elapsed_s)
        control = ego.control(snapshot)
        moment = EgoMoment(
            elapsed_s=elapsed_s,
            snapshot=snapshot,
            ego_id=ego.actor.id,
            ego_along_m=ego.along,
            ego_speed_mps=ego.speed,
        )
        began = time.thread_time()
        scenario.advance(moment)
        costs.append(time.thread_time() - began)
        traffic.step()
        ego.actor.apply_control(control)
        world.tick()
        if ego.along > length - 3.0:
            break
    if traces:
        save(Path(traces), item, route, watch, scenario, traffic, world)
    ran = np.array(costs) * 1000.0
    return {
        "id": item.id,
        "driver": kind,
        "length_m": length,
        "cars": len(cars),
        "drove_m": ego.along,
        "took_s": tick * DELTA_S,
        "phase": scenario.phase.value,
        "events": [(round(e.time_s, 2), e.kind, e.name, dict(e.detail)) for e in scenario.events],
        "least_m": watch.least_m,
        "least_s": watch.least_s,
        "hits": sorted(watch.hits),
        "movers": len([k for k, t in watch.tracks.items() if max(r[4] for r in t) > 0.5]),
        "hash": watch.digest.hexdigest(),
        "setup_ms": setup_ms,
        "populate_ms": populate_ms,
        "tick_ms": float(np.median(ran)),
        "tick_busy_ms": float(np.percentile(ran, 95)),
        "tick_worst_ms": float(ran.max()),
    }


def save(folder, item, route, watch, scenario, traffic, world):
    folder.mkdir(parents=True, exist_ok=True)
    snapshot = world.get_snapshot()
    cars = [snapshot.find(key).get_transform() for key in traffic.ids if snapshot.has_actor(key)]
    np.savez(
        folder / f"{item.id}.npz",
        ego=np.array(watch.ego_track),
        route=route.position_m,
        cars=np.array([(c.location.x, c.location.y, c.rotation.yaw) for c in cars]).reshape(-1, 3),
        ids=np.array(list(watch.tracks)),
        sizes=np.array([watch.boxes[k] for k in watch.tracks]),
        kinds=np.array([watch.kinds[k] for k in watch.tracks]),
        least_s=watch.least_s,
        **{f"track{k}": np.array(rows) for k, rows in watch.tracks.items()},
    )


def main():
    port, suite, ids, kind, seed = sys.argv[1:6]
    client = carla.Client("127.0.0.1", int(port))
    client.set_timeout(60.0)
    items = load_suite(suite).routes
    if ids != "all":
        wanted = ids.split(",")
        items = [item for item in items if item.id in wanted or item.id[:2] in wanted]
    towns, results = {}, []
    for item in items:
        driver = kind
        results.append(
            drive(client, item, driver, int(seed), towns, sys.argv[6] if len(sys.argv) > 6 else "")
        )
        print(json.dumps(results[-1]), file=sys.stderr, flush=True)
    print(json.dumps({"routes": results}), flush=True)
    os._exit(0)  # for the same reason


main()
