"""Deterministic script: PORT TICKS -> hash of every snapshot, and the moving actors' distance."""

import hashlib
import json
import math
import struct
import sys

import carla


def main():
    port, ticks = int(sys.argv[1]), int(sys.argv[2])
    client = carla.Client("127.0.0.1", port)
    client.set_timeout(60.0)
    world = client.get_world()
    settings = world.get_settings()
    settings.synchronous_mode, settings.fixed_delta_seconds = True, 0.05
    world.apply_settings(settings)
    library = world.get_blueprint_library()
    points = world.get_map().get_spawn_points()
    cars = sorted((b for b in library.filter("vehicle.*")), key=lambda b: b.id)
    people = sorted((b for b in library.filter("walker.pedestrian.*")), key=lambda b: b.id)
    commands = [carla.command.SpawnActor(cars[k % len(cars)], points[k]) for k in range(30)]
    for k in range(30):
        place = points[60 + k].location + points[60 + k].get_right_vector() * 3.0
        place.z += 1.0
        commands.append(carla.command.SpawnActor(people[k % len(people)], carla.Transform(place)))
    results = client.apply_batch_sync(commands, True)
    ids = [result.actor_id for result in results if not result.has_error()]
    vehicles = [i for i in ids if world.get_actor(i).type_id.startswith("vehicle.")]
    walkers = [i for i in ids if i not in vehicles]
    digest = hashlib.sha256()
    # Until a client makes it synchronous the server follows the wall clock, so the script begins
    # at an arbitrary simulated time: lights start anew and time counts from here.
    world.reset_all_traffic_lights()
    begin_s = world.get_snapshot().timestamp.elapsed_seconds
    lights = sorted(world.get_actors().filter("traffic.traffic_light"), key=lambda one: one.id)
    start = {i: world.get_snapshot().find(i).get_transform().location for i in ids}
    for tick in range(ticks):
        batch = []
        for n, i in enumerate(vehicles):
            phase = 0.05 * tick + n
            control = carla.VehicleControl(
                throttle=0.5 + 0.4 * math.sin(0.3 * phase),
                steer=0.4 * math.sin(phase),
                brake=1.0 if (tick // 40 + n) % 7 == 0 else 0.0,
            )
            batch.append(carla.command.ApplyVehicleControl(i, control))
        for n, i in enumerate(walkers):
            angle = 0.01 * tick + n
            way = carla.Vector3D(math.cos(angle), math.sin(angle), 0.0)
            batch.append(carla.command.ApplyWalkerControl(i, carla.WalkerControl(way, 1.3)))
        client.apply_batch_sync(batch, False)
        world.tick()
        snapshot = world.get_snapshot()
        stamp = snapshot.timestamp
        since_s = round(stamp.elapsed_seconds - begin_s, 6)
        digest.update(struct.pack("<dd", since_s, stamp.delta_seconds))
        digest.update(bytes(int(light.get_state()) for light in lights))
        for record in sorted(snapshot, key=lambda one: one.id):
            pose = record.get_transform()
            values = [
                pose.location,
                record.get_velocity(),
                record.get_acceleration(),
                record.get_angular_velocity(),
            ]
            numbers = [n for v in values for n in (v.x, v.y, v.z)]
            turn = pose.rotation
            numbers += [turn.pitch, turn.yaw, turn.roll]
            digest.update(struct.pack("<I15d", record.id, *numbers))
    end = world.get_snapshot()
    moved = [start[i].distance(end.find(i).get_transform().location) for i in ids]
    result = {"hash": digest.hexdigest(), "vehicles": len(vehicles), "walkers": len(walkers)}
    result["moved"] = sum(d > 3.0 for d in moved)
    print(json.dumps(result), flush=True)


main()
