"""Our own traffic: PORT SECONDS CARS SEED -> one JSON line with what happened.

What it watches (contacts, red lights, stop signs) is measured from the server's answers alone.
"""

import hashlib
import json
import math
import struct
import sys
import time

import carla
import numpy as np

from jaywalk.actors.traffic.traffic import Traffic
from jaywalk.geometry.box import box_box_overlap

DELTA_S = 0.05


def copied(place):
    """``Transform.transform`` of the wheel changes its argument, so never give it a box's own."""
    return carla.Location(place.x, place.y, place.z)


def stop_lines(world):
    """Every stop point of every light: the light, x, y and direction."""
    lights = sorted(world.get_actors().filter("traffic.traffic_light"), key=lambda a: a.id)
    poses = [(light, point.transform) for light in lights for point in light.get_stop_waypoints()]
    rows = [(p.location.x, p.location.y, math.radians(p.rotation.yaw)) for _, p in poses]
    return [light for light, _ in poses], np.array(rows).reshape(-1, 3)


def stop_signs(world):
    """Triggers of the stop signs: x, y and direction of their lane."""
    rows = []
    for sign in sorted(world.get_actors().filter("traffic.stop"), key=lambda a: a.id):
        place = copied(sign.trigger_volume.location)
        sign.get_transform().transform(place)
        pose = world.get_map().get_waypoint(place).transform
        rows.append((pose.location.x, pose.location.y, math.radians(pose.rotation.yaw)))
    return np.array(rows).reshape(-1, 3)


def relative(x, y, cos, sin, lines):
    """A point seen from directed lines: along, aside, and whether its heading agrees."""
    c, s = np.cos(lines[:, 2]), np.sin(lines[:, 2])
    dx, dy = x - lines[:, 0], y - lines[:, 1]
    return dx * c + dy * s, -dx * s + dy * c, c * cos + s * sin > 0.75


class Watch:
    def __init__(self, world, ids):
        self.world, self.ids = world, ids
        actors = {actor.id: actor for actor in world.get_actors(ids)}
        self.boxes = [actors[key].bounding_box for key in ids]
        self.lights, self.lines = stop_lines(world)
        self.signs = stop_signs(world)
        self.metres, self.still = np.zeros(len(ids)), np.zeros(len(ids))
        self.speed, self.last = np.zeros(len(ids)), None
        self.touching, self.collisions, self.red, self.waited = set(), [], [], set()
        self.tail_before, self.approach = {}, {}
        self.passed_stop, self.ran_stop = 0, []
        self.digest = hashlib.blake2b(digest_size=8)

    def look(self, tick):
        snapshot, shapes = self.world.get_snapshot(), []
        for key, box in zip(self.ids, self.boxes, strict=True):
            pose = snapshot.find(key).get_transform()
            place, yaw = pose.location, math.radians(pose.rotation.yaw)
            self.digest.update(struct.pack("<3f", place.x, place.y, pose.rotation.yaw))
            middle = pose.transform(copied(box.location))
            extent = box.extent
            shapes.append((middle.x, middle.y, math.cos(yaw), math.sin(yaw), extent.x, extent.y))
        places = np.array(shapes)[:, :2]
        if self.last is not None:
            moved = np.hypot(*(places - self.last).T)
            self.metres += moved
            self.speed = moved / DELTA_S
            self.still = np.where(moved < 0.005, self.still + DELTA_S, 0.0)
        self.last = places
        self.contacts(tick, shapes)
        for row, shape in enumerate(shapes):
            self.at_lights(tick, row, shape)
            self.at_signs(tick, row, shape)

    def contacts(self, tick, shapes):
        for i, first in enumerate(shapes):
            for j in np.flatnonzero(np.hypot(*(self.last - self.last[i]).T) < 14.0):
                if j <= i:
                    continue
                if box_box_overlap(*first, *shapes[j])[0] > 0.0:
                    if (i, j) not in self.touching:
                        self.collisions.append((tick, i, int(j), *map(float, self.last[i])))
                    self.touching.add((i, j))
                else:
                    self.touching.discard((i, j))

    def at_lights(self, tick, row, shape):
        x, y, cos, sin, half, _ = shape
        along, side, agrees = relative(x - half * cos, y - half * sin, cos, sin, self.lines)
        near = agrees & (np.abs(side) < 1.5) & (np.abs(along) < 8.0)
        for k in np.flatnonzero(near):
            red = self.lights[k].state == carla.TrafficLightState.Red
            if red and along[k] >= 0.0 and self.tail_before.get((row, k), 0.0) < 0.0:
                self.red.append((tick, row, self.lights[k].id, float(self.speed[row])))
            self.tail_before[row, k] = along[k]
            if red and -5.0 < along[k] + 2.0 * half < 1.0 and self.still[row] > 0.5:
                self.waited.add(row)

    def at_signs(self, tick, row, shape):
        x, y, cos, sin, half, _ = shape
        along, side, agrees = relative(x + half * cos, y + half * sin, cos, sin, self.signs)
        near = agrees & (np.abs(side) < 1.3) & (along > -5.0) & (along < 3.0)
        for k in np.flatnonzero(near):
            self.approach[row, k] = min(self.approach.get((row, k), np.inf), self.speed[row])
        for k in [k for i, k in self.approach if i == row and not near[k]]:
            slowest = self.approach.pop((row, k))
            if along[k] >= 3.0:
                self.passed_stop += 1
                if slowest > 0.3:
                    self.ran_stop.append((tick, row, float(slowest)))

    def result(self):
        return {
            "cars": len(self.ids),
            "km": float(self.metres.sum()) / 1000.0,
            "mean_m": float(self.metres.mean()),
            "least_m": float(self.metres.min()),
            "collisions": self.collisions,
            "red": self.red,
            "waited_at_red": len(self.waited),
            "passed_stop": self.passed_stop,
            "ran_stop": self.ran_stop,
            "standing_s": float(self.still.max()),
            "hash": self.digest.hexdigest(),
        }


def main():
    port, seconds, wanted, seed = (int(value) for value in sys.argv[1:5])
    client = carla.Client("127.0.0.1", port)
    client.set_timeout(60.0)
    world = client.get_world()
    world.apply_settings(carla.WorldSettings(synchronous_mode=True, fixed_delta_seconds=DELTA_S))
    world.reset_all_traffic_lights()  # they ran by the wall clock until now
    traffic = Traffic(client, world, seed=seed)
    watch = Watch(world, traffic.spawn(wanted))
    cpu = []
    for tick in range(int(seconds / DELTA_S)):
        start = time.process_time()
        traffic.step()
        cpu.append(time.process_time() - start)
        world.tick()
        watch.look(tick)
    result = {**watch.result(), "cpu_ms": 1000.0 * float(np.median(cpu[20:]))}
    print(json.dumps(result), flush=True)
    traffic.destroy()


main()
