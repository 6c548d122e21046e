"""Our own traffic: PORT SECONDS CARS SEED -> one JSON line with what happened."""

import hashlib
import json
import math
import struct
import sys
import time

import carla
import numpy as np

from jaywalk.geometry.boxes import box_box_overlap
from jaywalk.scenarios.traffic import Traffic

DELTA_S = 0.05


def stop_lines(world):
    """For every light: stop points with their directions."""
    lights = sorted(world.get_actors().filter("traffic.traffic_light"), key=lambda a: a.id)
    rows = []
    for light in lights:
        for waypoint in light.get_stop_waypoints():
            pose = waypoint.transform
            yaw = math.radians(pose.rotation.yaw)
            rows.append((light, pose.location.x, pose.location.y, math.cos(yaw), math.sin(yaw)))
    return rows


def main():
    port, seconds, wanted, seed = (int(value) for value in sys.argv[1:5])
    client = carla.Client("127.0.0.1", port)
    client.set_timeout(60.0)
    world = client.get_world()
    world.apply_settings(carla.WorldSettings(synchronous_mode=True, fixed_delta_seconds=DELTA_S))
    traffic = Traffic(client, world, seed=seed)
    ids = traffic.spawn(wanted)
    actors = {actor.id: actor for actor in world.get_actors(ids)}
    boxes = [actors[key].bounding_box for key in ids]
    lines = stop_lines(world)
    metres, last, still = np.zeros(len(ids)), None, np.zeros(len(ids))
    touching, collisions, red, digest, cpu = set(), [], [], hashlib.blake2b(digest_size=8), []
    behind = {}
    waited = set()
    for tick in range(int(seconds / DELTA_S)):
        start = time.process_time()
        traffic.step()
        cpu.append(time.process_time() - start)
        world.tick()
        snapshot = world.get_snapshot()
        shapes, places, tails = [], [], []
        for key, box in zip(ids, boxes, strict=True):
            pose = snapshot.find(key).get_transform()
            digest.update(struct.pack("<3f", pose.location.x, pose.location.y, pose.rotation.yaw))
            yaw, middle = math.radians(pose.rotation.yaw), pose.transform(box.location)
            cos, sin = math.cos(yaw), math.sin(yaw)
            shapes.append((middle.x, middle.y, cos, sin, box.extent.x, box.extent.y))
            places.append((pose.location.x, pose.location.y))
            tails.append((middle.x - box.extent.x * cos, middle.y - box.extent.x * sin, cos, sin))
        places = np.array(places)
        if last is not None:
            moved = np.hypot(*(places - last).T)
            metres += moved
            still = np.where(moved < 0.005, still + DELTA_S, 0.0)
        last = places
        for i, first in enumerate(shapes):
            for j in range(i + 1, len(shapes)):
                if np.hypot(*(places[i] - places[j])) > 14.0:
                    continue
                if box_box_overlap(*first, *shapes[j])[0] > 0.0:
                    if (i, j) not in touching:
                        collisions.append((tick, i, j, *map(float, places[i])))
                    touching.add((i, j))
                else:
                    touching.discard((i, j))
        for k, (light, x, y, cos, sin) in enumerate(lines):
            state = light.state
            for i, (tx, ty, tc, ts) in enumerate(tails):
                dx, dy = tx - x, ty - y
                along, side = dx * cos + dy * sin, -dx * sin + dy * cos
                if abs(side) > 1.5 or abs(along) > 6.0 or tc * cos + ts * sin < 0.7:
                    behind.pop((k, i), None)
                    continue
                if behind.get((k, i)) and along >= 0.0 and state == carla.TrafficLightState.Red:
                    # The nose must have been behind the line while it was red, not only the tail.
                    red.append((tick, i, light.id, float(x), float(y)))
                behind[k, i] = along < 0.0
                nose = along + 2.0 * boxes[i].extent.x
                if state == carla.TrafficLightState.Red and -5.0 < nose < 1.0 and still[i] > 0.5:
                    waited.add(i)
    print(json.dumps({
        "cars": len(ids), "km": float(metres.sum()) / 1000.0, "least_m": float(metres.min()),
        "mean_m": float(metres.mean()), "moved": int((metres > 20.0).sum()),
        "collisions": collisions, "red": red, "waited_at_red": len(waited),
        "longest_stand_s": float(still.max()), "standing": int((still > 20.0).sum()),
        "stuck": [(int(i), *map(float, places[i])) for i in np.flatnonzero(still > 25.0)],
        "cpu_ms": 1000.0 * float(np.mean(cpu[20:])), "hash": digest.hexdigest(),
    }), flush=True)  # fmt: skip
    traffic.destroy()


main()
