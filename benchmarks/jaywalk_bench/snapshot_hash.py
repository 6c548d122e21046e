"""Runs one scripted world and prints a fingerprint of every snapshot, in a process of its own.

Called by :mod:`jaywalk_bench.determinism` as
``python -m jaywalk_bench.snapshot_hash MODE PORT TICKS TM_PORT``; prints one line of JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import struct
import sys
from typing import Any, Final

import carla

from jaywalk_bench.scenes import hand_to_traffic_manager, place_vehicles, place_walkers

_TIMEOUT_S: Final = 60.0
_STEP_S: Final = 0.05
_SEED: Final = 11
_ACTORS: Final = 30
_CONTROL_PERIOD: Final = 20  # ticks between two new controls


def run(mode: str, port: int, ticks: int, tm_port: int) -> list[str]:
    """Tick a scene of 30 cars and 30 people; returns one hash per tick.

    Args:
        mode: ``scripted`` (seeded controls) or ``traffic-manager``.
        port: RPC port of a freshly started server.
        ticks: How many.
        tm_port: Port for the Traffic Manager.
    """
    client = carla.Client("127.0.0.1", port)
    client.set_timeout(_TIMEOUT_S)
    world = client.get_world()
    world.apply_settings(carla.WorldSettings(synchronous_mode=True, fixed_delta_seconds=_STEP_S))
    cars = place_vehicles(client, world, _ACTORS)
    people = place_walkers(client, world, _ACTORS)
    world.tick()
    if mode == "traffic-manager":
        hand_to_traffic_manager(client, cars, tm_port)
    choose = random.Random(_SEED)
    hashes = []
    for tick in range(ticks):
        if mode == "scripted" and tick % _CONTROL_PERIOD == 0:
            client.apply_batch_sync(_controls(choose, cars, people))
        world.tick()
        hashes.append(_fingerprint(world.get_snapshot()))
    return hashes


def _controls(choose: random.Random, cars: list[int], people: list[int]) -> list[Any]:
    commands: list[Any] = [
        carla.command.ApplyVehicleControl(
            car,
            carla.VehicleControl(
                throttle=choose.uniform(0.0, 0.8),
                steer=choose.uniform(-0.5, 0.5),
                brake=choose.choice([0.0, 0.0, 0.0, 1.0]),
            ),
        )
        for car in cars
    ]
    for person in people:
        way = carla.Vector3D(choose.uniform(-1, 1), choose.uniform(-1, 1), 0.0)
        control = carla.WalkerControl(way.make_unit_vector(), choose.uniform(0.0, 3.0), False)
        commands.append(carla.command.ApplyWalkerControl(person, control))
    return commands


def _fingerprint(snapshot: Any) -> str:
    """Hash of pose, velocity, turn rate and acceleration of every actor."""
    digest = hashlib.blake2b(digest_size=8)
    digest.update(struct.pack("<d", snapshot.timestamp.elapsed_seconds))
    for actor in sorted(snapshot, key=lambda entry: entry.id):
        pose = actor.get_transform()
        digest.update(struct.pack("<I6f", actor.id, *_xyz(pose.location), *_angles(pose.rotation)))
        for vector in (
            actor.get_velocity(),
            actor.get_angular_velocity(),
            actor.get_acceleration(),
        ):
            digest.update(struct.pack("<3f", *_xyz(vector)))
    return digest.hexdigest()


def _xyz(vector: Any) -> tuple[float, float, float]:
    return vector.x, vector.y, vector.z


def _angles(rotation: Any) -> tuple[float, float, float]:
    return rotation.pitch, rotation.yaw, rotation.roll


if __name__ == "__main__":
    result = run(sys.argv[1], *(int(argument) for argument in sys.argv[2:]))
    sys.stdout.write(json.dumps(result) + "\n")
    sys.stdout.flush()
    # The Traffic Manager's threads may be asleep for ever: leave without joining them.
    os._exit(0)
