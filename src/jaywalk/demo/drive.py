"""The driving part of the demo, in a process of its own: a plain CARLA client.

``python -m jaywalk.demo.drive PORT TM_PORT SECONDS CARS PEOPLE SEED FILE.npz``. It
prints one line per simulated second; its parent watches, and ends it should the wheel's Traffic
Manager hang.
"""

from __future__ import annotations

import math
import os
import random
import sys
from pathlib import Path
from typing import Any, Final

import carla
import numpy as np

from jaywalk.demo.traces import Traces

_STEP_S: Final = 0.05
_SETTLE_TICKS: Final = 60  # cars get going before the film begins
_ARRIVED_M: Final = 2.0
_PLACING_ATTEMPTS: Final = 20
_CARS: Final = (
    "vehicle.lincoln.mkz_2020", "vehicle.tesla.model3", "vehicle.audi.tt", "vehicle.mini.cooper_s",
    "vehicle.nissan.patrol", "vehicle.mercedes.sprinter", "vehicle.toyota.prius",
)  # fmt: skip


class Scene:
    """Thirty cars under the Traffic Manager, thirty people under walker controllers."""

    def __init__(self, port: int, tm_port: int, cars: int, people: int, seed: int) -> None:
        self._choose = random.Random(seed)
        self._client = carla.Client("127.0.0.1", port)
        self._client.set_timeout(30.0)
        self.world: Any = self._client.get_world()
        self.world.apply_settings(
            carla.WorldSettings(synchronous_mode=True, fixed_delta_seconds=_STEP_S)
        )
        self.world.set_pedestrians_seed(seed)
        self._manager = self._client.get_trafficmanager(tm_port)
        self._manager.set_synchronous_mode(True)
        self._manager.set_random_device_seed(seed)
        self.cars = self._place_cars(cars, tm_port)
        self.people, self._guides = self._place_people(people)
        self.lights = list(self.world.get_actors().filter("traffic.traffic_light"))

    def _batch(self, commands: list[Any]) -> list[int]:
        return [r.actor_id for r in self._client.apply_batch_sync(commands) if not r.error]

    def _place_cars(self, count: int, tm_port: int) -> list[Any]:
        places = self.world.get_map().get_spawn_points()
        # The middle of the town is where things happen.
        middle = np.median([(p.location.x, p.location.y) for p in places], axis=0)
        places.sort(key=lambda p: math.hypot(p.location.x - middle[0], p.location.y - middle[1]))
        places = places[: 3 * count]
        self._choose.shuffle(places)
        library = self.world.get_blueprint_library()
        ids: list[int] = []
        for place in places:
            if len(ids) == count:
                break
            blueprint = library.find(self._choose.choice(_CARS))
            ids += self._batch([carla.command.SpawnActor(blueprint, place)])
        self._batch([carla.command.SetAutopilot(car, True, tm_port) for car in ids])
        self.world.tick()
        return list(self.world.get_actors(ids))

    def _place_people(self, count: int) -> tuple[list[Any], list[Any]]:
        library = self.world.get_blueprint_library()
        bodies = sorted(library.filter("walker.pedestrian.*"), key=lambda item: item.id)
        guide = library.find("controller.ai.walker")
        centre = np.mean([(c.get_location().x, c.get_location().y) for c in self.cars], axis=0)
        ids: list[int] = []
        for _ in range(_PLACING_ATTEMPTS):
            # Of many places take those nearest to the cars: the two are to meet.
            found = [self.world.get_random_location_from_navigation() for _ in range(8 * count)]
            places = [place for place in found if place is not None]
            places.sort(key=lambda p: math.hypot(p.x - centre[0], p.y - centre[1]))
            ids += self._batch([
                carla.command.SpawnActor(
                    self._choose.choice(bodies), carla.Transform(place + carla.Location(z=1.0))
                )
                for place in places[: count - len(ids)]
            ])  # fmt: skip
            if len(ids) == count or not places:
                break
        guides = self._batch(
            [carla.command.SpawnActor(guide, carla.Transform(), person) for person in ids]
        )
        self.world.tick()
        people, controllers = (list(self.world.get_actors(group)) for group in (ids, guides))
        for controller in controllers:
            controller.start()
            controller.set_max_speed(self._choose.uniform(1.1, 1.8))
            self._send_somewhere(controller)
        return people, controllers

    def _send_somewhere(self, controller: Any) -> None:
        place = self.world.get_random_location_from_navigation()
        if place is not None:
            controller.go_to_location(place)

    def run(self, ticks: int) -> Traces:
        """Tick and write down where everybody is."""
        for _ in range(_SETTLE_TICKS):
            self.world.tick()
        cars = np.zeros((ticks, len(self.cars), 3))
        people = np.zeros((ticks, len(self.people), 2))
        lights = np.zeros((ticks, len(self.lights)), np.int64)
        for tick in range(ticks):
            self.world.tick()
            snapshot = self.world.get_snapshot()
            for row, car in enumerate(self.cars):
                pose = snapshot.find(car.id).get_transform()
                cars[tick, row] = pose.location.x, pose.location.y, math.radians(pose.rotation.yaw)
            for row, person in enumerate(self.people):
                place = snapshot.find(person.id).get_transform().location
                people[tick, row] = place.x, place.y
            lights[tick] = [int(light.get_state()) for light in self.lights]
            if tick % round(1.0 / _STEP_S) == 0:
                sys.stdout.write(f"second {tick * _STEP_S:.0f}\n")
                sys.stdout.flush()
        boxes = [car.bounding_box.extent for car in self.cars]
        places = [light.get_location() for light in self.lights]
        return Traces(
            step_s=_STEP_S,
            cars=cars,
            car_half_m=np.array([(box.x, box.y) for box in boxes]).reshape(-1, 2),
            people=people,
            lights=lights,
            light_places_m=np.array([(place.x, place.y) for place in places]).reshape(-1, 2),
        )


def main(port: str, tm_port: str, seconds: str, cars: str, people: str, seed: str, to: str) -> None:
    """Set up, run, save."""
    scene = Scene(int(port), int(tm_port), int(cars), int(people), int(seed))
    scene.run(round(float(seconds) / _STEP_S)).save(Path(to))
    sys.stdout.write("done\n")
    sys.stdout.flush()
    # The Traffic Manager's threads may be asleep for ever: leave without joining them.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
