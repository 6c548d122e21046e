"""Cars of an asynchronous Traffic Manager drive while the same client loads another town."""

from __future__ import annotations

import json
import os
import sys
import time

import carla

CARS = 15


def main(port: int, manager_port: int, loads: int) -> None:
    """Load towns in turn; the last line tells how many loads this process survived."""
    client = carla.Client("127.0.0.1", port)
    client.set_timeout(60.0)
    world = client.get_world()
    manager = client.get_trafficmanager(manager_port)
    for number in range(loads):
        drive(client, world, manager)
        world = client.load_world("Orchard" if number % 2 == 0 else "Harbour")
        frame = world.get_snapshot().frame
        while world.get_snapshot().frame < frame + 5:
            time.sleep(0.02)
    print(json.dumps({"loads": loads, "town": world.get_map().name}), flush=True)
    os._exit(0)  # what the wheel does at the end of an interpreter is not the question here


def drive(client: carla.Client, world: carla.World, manager: carla.TrafficManager) -> None:
    """Put cars on the road and let them drive for a second."""
    model = world.get_blueprint_library().find("vehicle.audi.tt")
    model.set_attribute("role_name", "autopilot")
    autopilot = carla.command.SetAutopilot(carla.command.FutureActor, True, manager.get_port())
    points = world.get_map().get_spawn_points()[:CARS]
    batch = [carla.command.SpawnActor(model, point).then(autopilot) for point in points]
    client.apply_batch_sync(batch, False)
    time.sleep(1.0)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
