"""Soak a server: spawn, drive, listen, destroy for many ticks; prints JSON.

python tests/faults/soak.py [--ticks 100000]

Run it with a warm kernel cache: a server that had to compile holds hundreds of megabytes of freed
compiler memory, in which a leak would not show.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from pathlib import Path
from typing import Any

import carla

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from live_server import LiveServer, live_server
from scene import Scene


def churn(scene: Scene, ticks: int, rng: random.Random) -> None:
    """Every 20 ticks a third of the traffic goes and new traffic comes, with a listening sensor."""
    library = scene.world.get_blueprint_library()
    cars, people = list(library.filter("vehicle.*")), list(library.filter("walker.pedestrian.*"))
    points = scene.map.get_spawn_points()
    alive: list[int] = []
    spawn, destroy = carla.command.SpawnActor, carla.command.DestroyActor
    for step in range(ticks // 20):
        gone = rng.sample(alive, len(alive) // 3)
        commands: list[Any] = [destroy(actor) for actor in gone]
        commands += [spawn(rng.choice(cars), rng.choice(points)) for _ in range(5)]
        for _ in range(5):
            pose = rng.choice(points)
            place = pose.location + pose.get_right_vector() * 4.0 + carla.Location(z=1.0)
            commands.append(spawn(rng.choice(people), carla.Transform(place)))
        results = scene.client.apply_batch_sync(commands, False)
        alive = [actor for actor in alive if actor not in gone]
        new = [result.actor_id for result in results[len(gone) :] if not result.has_error()]
        alive += new
        scene.tick()
        controls = []
        for actor in scene.world.get_actors(new):
            if isinstance(actor, carla.Vehicle):
                controls.append(
                    carla.command.ApplyVehicleControl(actor, carla.VehicleControl(throttle=0.6))
                )
            else:
                way = carla.WalkerControl(carla.Vector3D(1, 0, 0), 1.3)
                controls.append(carla.command.ApplyWalkerControl(actor, way))
        scene.client.apply_batch_sync(controls, False)
        sensor = None
        if step % 10 == 0 and alive:
            parent = scene.world.get_actor(alive[0])
            blueprint = library.find("sensor.other.imu")
            sensor = scene.world.spawn_actor(blueprint, carla.Transform(), attach_to=parent)
            sensor.listen(lambda data: None)
        scene.tick(19)
        if sensor is not None:
            sensor.stop()
            sensor.destroy()
    scene.client.apply_batch_sync([destroy(actor) for actor in alive], False)
    scene.tick()


def soak(server: LiveServer, ticks: int, warm_up_ticks: int) -> dict[str, float]:
    """Run and measure; memory counts from after the warm-up."""
    client = carla.Client(server.host, server.port)
    client.set_timeout(60.0)
    scene = Scene.load(client, "Harbour")
    rng = random.Random(5)
    churn(scene, warm_up_ticks, rng)
    actors = len(scene.world.get_actors())
    start_mb, began = server.resident_mb(), time.perf_counter()
    churn(scene, ticks, rng)
    wall_s, end_mb = time.perf_counter() - began, server.resident_mb()
    left = len(scene.world.get_actors()) - actors
    scene.leave()
    return {
        "ticks": ticks,
        "warm_up_ticks": warm_up_ticks,
        "rss_start_mb": round(start_mb, 1),
        "rss_end_mb": round(end_mb, 1),
        "growth_percent": round(100.0 * (end_mb / start_mb - 1.0), 2),
        "actors_left_over": left,
        "wall_s": round(wall_s, 1),
    }


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ticks", type=int, default=100_000)
    parser.add_argument("--warm-up", type=int, default=2000)
    options = parser.parse_args()
    with live_server("--town", "Harbour") as server:
        print(json.dumps(soak(server, options.ticks, options.warm_up)), flush=True)


if __name__ == "__main__":
    main()
