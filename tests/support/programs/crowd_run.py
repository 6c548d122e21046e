"""A crowd, and traffic with it: PORT SECONDS PEOPLE CARS SEED MODEL -> one JSON line of results.

Who is where is measured from the server's snapshots alone.
"""

import hashlib
import json
import struct
import sys
import time

import carla
import numpy as np

from jaywalk.actors.crowd.crowd import Crowd
from jaywalk.actors.crowd.places import walk_network_of
from jaywalk.actors.crowd.state import CROSSING, DOWN, STANDING, WAITING, WALKING
from jaywalk.actors.traffic.traffic import Traffic, network_of
from jaywalk.town.town import town_from_opendrive
from jaywalk.town.walkways import solid_gap, underfoot

DELTA_S = 0.05
BODIES_M = 0.376  # two bodies of 0.188 m


class Watch:
    def __init__(self, world, crowd, network):
        self.world, self.crowd, self.grid = world, crowd, network.grid
        count = len(crowd.ids)
        self.last, self.walked = None, np.zeros(count)
        self.idle, self.longest_idle = np.zeros(count), 0.0
        self.surface, self.ticks, self.overlaps, self.pairs = np.zeros(5), 0, 0, 0
        self.speeds, self.gap, self.off_road = [], 9.0, 0
        self.digest = hashlib.blake2b(digest_size=8)

    def look(self):
        snapshot = self.world.get_snapshot()
        places = []
        for key in self.crowd.ids:
            place = snapshot.find(key).get_transform().location
            self.digest.update(struct.pack("<3f", place.x, place.y, place.z))
            places.append((place.x, place.y))
        places = np.array(places)
        states = np.array([self.crowd.state_of(key) for key in self.crowd.ids])
        if self.last is not None:
            moved = np.hypot(*(places - self.last).T)
            self.walked += moved
            leads = np.isin(states, (WALKING, CROSSING))
            self.speeds.append(moved[leads] / DELTA_S)
            self.idle = np.where(leads & (moved < 0.005), self.idle + DELTA_S, 0.0)
            self.longest_idle = max(self.longest_idle, float(self.idle.max()))
        self.last = places
        self.ticks += 1
        for (x, y), state in zip(places, states, strict=True):
            what = underfoot(self.grid, x, y)
            self.surface[what] += 1
            self.off_road += int(what == 4 and state not in (CROSSING, DOWN))
            self.gap = min(self.gap, solid_gap(self.grid, x, y))
        apart = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
        near = int((np.triu(apart < BODIES_M, 1)).sum())
        self.overlaps += int(near > 0)
        self.pairs += near

    def result(self):
        speeds = np.concatenate(self.speeds)
        names = ("nowhere", "sidewalk", "crosswalk", "verge", "road")
        shares = self.surface / self.surface.sum()
        return {
            "people": len(self.crowd.ids),
            "walked_m": float(self.walked.sum()),
            "least_m": float(self.walked.min()),
            "share": dict(zip(names, shares, strict=True)),
            "on_road_not_crossing": self.off_road,
            "nearest_solid_m": float(self.gap),
            "overlap_ticks": self.overlaps / self.ticks,
            "overlap_pairs": self.pairs,
            "speed_mps": np.percentile(speeds, [5, 50, 95]).tolist(),
            "idle_s": self.longest_idle,
            "hash": self.digest.hexdigest(),
            "down": sum(self.crowd.state_of(key) == DOWN for key in self.crowd.ids),
            "crossed": sum(self.crowd.crossings_made(key) for key in self.crowd.ids),
            "resting": sum(self.crowd.state_of(k) in (STANDING, WAITING) for k in self.crowd.ids),
        }


def main():
    port, seconds, wanted, cars, seed = (int(value) for value in sys.argv[1:6])
    client = carla.Client("127.0.0.1", port)
    client.set_timeout(60.0)
    world = client.get_world()
    world.apply_settings(carla.WorldSettings(synchronous_mode=True, fixed_delta_seconds=DELTA_S))
    town = town_from_opendrive(world.get_map().to_opendrive())
    lanes = network_of(world, town)
    network = walk_network_of(world, town, lanes)
    traffic = Traffic(client, world, seed=seed, network=lanes)
    if cars:
        traffic.spawn(cars)
    crowd = Crowd(client, world, seed=seed, network=network, people_model=sys.argv[6])
    crowd.spawn(wanted)
    world.tick()
    watch = Watch(world, crowd, network)
    cpu = []
    for _ in range(int(seconds / DELTA_S)):
        start = time.thread_time()
        crowd.step()
        cpu.append(time.thread_time() - start)
        traffic.step()
        world.tick()
        watch.look()
    people = [(p.blueprint, p.intended, p.place, round(p.speed_mps, 3)) for p in crowd.people]
    result = {
        **watch.result(),
        "cars": len(traffic.ids),
        "cpu_ms": 1000.0 * float(np.mean(cpu[100:])),
        "who": hash_of(people),
    }
    crowd.destroy()
    traffic.destroy()
    world.tick()
    result["left"] = len(world.get_actors().filter("walker.*"))
    print(json.dumps(result))


def hash_of(value):
    return hashlib.blake2b(repr(value).encode(), digest_size=8).hexdigest()


main()
