"""Ticks a synchronous world and prints the frames that an ``on_tick`` callback saw.

A process of its own, because the wheel crashes when an episode that had a callback is dropped.
"""

import json
import os
import sys
import time

import carla

client = carla.Client(sys.argv[1], int(sys.argv[2]))
client.set_timeout(60.0)
world = client.get_world()
seen = []
world.on_tick(lambda snapshot: seen.append(snapshot.frame))
frames = [world.tick() for _ in range(10)]
deadline = time.monotonic() + 30.0
while (not seen or seen[-1] < frames[-1]) and time.monotonic() < deadline:
    time.sleep(0.01)
print(json.dumps({"frames": frames, "seen": seen}), flush=True)
os._exit(0)
