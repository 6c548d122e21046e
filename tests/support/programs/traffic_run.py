"""Traffic Manager run: PORT SECONDS CARS TM_PORT -> one JSON line.

A process of its own, because it may hang.
"""

import json
import math
import sys

import carla

DELTA_S = 0.05


def corners(x, y, yaw, ex, ey):
    c, s = math.cos(yaw), math.sin(yaw)
    return [
        (x + a * ex * c - b * ey * s, y + a * ex * s + b * ey * c)
        for a, b in ((1, 1), (1, -1), (-1, -1), (-1, 1))
    ]


def overlap(first, second):
    """Separating axes of two rectangles given by their corners."""
    for shape in (first, second):
        for k in range(2):
            ax, ay = shape[k + 1][0] - shape[k][0], shape[k + 1][1] - shape[k][1]
            one = [ax * px + ay * py for px, py in first]
            two = [ax * px + ay * py for px, py in second]
            if max(one) < min(two) or max(two) < min(one):
                return False
    return True


def main():
    port, seconds, wanted, tm_port = (int(value) for value in sys.argv[1:5])
    client = carla.Client("127.0.0.1", port)
    client.set_timeout(60.0)
    world = client.get_world()
    settings = world.get_settings()
    settings.synchronous_mode, settings.fixed_delta_seconds = True, DELTA_S
    world.apply_settings(settings)
    manager = client.get_trafficmanager(tm_port)
    manager.set_synchronous_mode(True)
    manager.set_random_device_seed(1)
    library = world.get_blueprint_library().filter("vehicle.*")
    cars = sorted((b for b in library if b.get_attribute("base_type") == "car"), key=lambda b: b.id)
    spawn, autopilot = carla.command.SpawnActor, carla.command.SetAutopilot
    points = world.get_map().get_spawn_points()
    points = points[:: max(1, len(points) // wanted)][:wanted]
    batch = [
        spawn(cars[k % len(cars)], point).then(
            autopilot(carla.command.FutureActor, True, manager.get_port())
        )
        for k, point in enumerate(points)
    ]
    results = client.apply_batch_sync(batch, True)
    ids = [result.actor_id for result in results if not result.has_error()]
    actors = {actor.id: actor for actor in world.get_actors(ids)}
    boxes = {key: actor.bounding_box for key, actor in actors.items()}
    metres = dict.fromkeys(ids, 0.0)
    touching, collisions, ran_red, stopped_at_red = set(), 0, 0, set()
    last, was_at = {}, {}
    for _ in range(int(seconds / DELTA_S)):
        world.tick()
        snapshot = world.get_snapshot()
        shapes = {}
        for key in ids:
            record = snapshot.find(key)
            if record is None:
                continue
            pose, box = record.get_transform(), boxes[key]
            where = (pose.location.x, pose.location.y)
            if key in last:
                metres[key] += math.dist(where, last[key])
            last[key] = where
            # A copy: the wheel's transform changes its argument.
            offset = carla.Location(box.location.x, box.location.y, box.location.z)
            middle = pose.transform(offset)
            shapes[key] = corners(
                middle.x, middle.y, math.radians(pose.rotation.yaw), box.extent.x, box.extent.y
            )
            actor = actors[key]
            at = actor.is_at_traffic_light()
            red = at and actor.get_traffic_light_state() == carla.TrafficLightState.Red
            speed = record.get_velocity().length()
            if red and speed < 0.1:
                stopped_at_red.add(key)
            # Leaving a stop line at speed while its light has been red all along.
            if was_at.get(key, 0) > 20 and not at and speed > 2.0:
                ran_red += 1
            was_at[key] = was_at.get(key, 0) + 1 if red else 0
        now = set()
        keys = sorted(shapes)
        for i, first in enumerate(keys):
            for second in keys[i + 1 :]:
                near = math.dist(last[first], last[second]) < 14.0
                if near and overlap(shapes[first], shapes[second]):
                    now.add((first, second))
        collisions += len(now - touching)
        touching = now
    client.apply_batch_sync([carla.command.DestroyActor(key) for key in ids], True)
    manager.set_synchronous_mode(False)
    settings.synchronous_mode, settings.fixed_delta_seconds = False, None
    world.apply_settings(settings)
    km = sum(metres.values()) / 1000.0
    print(
        json.dumps(
            {
                "cars": len(ids),
                "km": km,
                "collisions": collisions,
                "per_km": collisions / max(km, 1e-9),
                "moved": sum(value > 20.0 for value in metres.values()),
                "stopped_at_red": len(stopped_at_red),
                "ran_red": ran_red,
            }
        ),
        flush=True,
    )


main()
