"""What both wheels must do alike: PORT MODE -> one JSON line. Runs on Python 3.8 too."""

import json
import queue
import sys
import time

import carla


def batch(client, world, commands):
    """With its own tick the wheel holds the GIL while listening sensors wait for it: a deadlock."""
    results = client.apply_batch_sync(commands, False)
    world.tick()
    return results


def vector(v):
    return [round(v.x, 3), round(v.y, 3), round(v.z, 3)]


def drive(client, world):
    out = {}
    settings = world.get_settings()
    settings.synchronous_mode, settings.fixed_delta_seconds = True, 0.05
    world.apply_settings(settings)
    library = world.get_blueprint_library()
    out["blueprints"] = len(library)
    out["newer_sensors"] = [b.id for b in library if "v2x" in b.id or "cosmos" in b.id]
    out["color_ok"] = library.find("vehicle.lincoln.mkz_2020").has_attribute("color")
    road = world.get_map()
    point = road.get_spawn_points()[0]
    blueprint = library.find("vehicle.lincoln.mkz_2020")
    blueprint.set_attribute("role_name", "hero")
    car = world.spawn_actor(blueprint, point)
    sensors, boxes = [], {}
    for name in ("sensor.camera.rgb", "sensor.other.imu", "sensor.other.gnss"):
        sensor = world.spawn_actor(library.find(name), carla.Transform(), attach_to=car)
        box = queue.Queue()
        sensor.listen(box.put)
        sensors.append(sensor)
        boxes[name] = box
    hit = world.spawn_actor(
        library.find("sensor.other.collision"), carla.Transform(), attach_to=car
    )
    hits = queue.Queue()
    hit.listen(lambda event: hits.put((event.other_actor.type_id, event.other_actor.attributes)))
    for _ in range(10):
        frame = world.tick()
    for name, box in boxes.items():
        data = box.get(timeout=60)
        while data.frame < frame:
            data = box.get(timeout=60)
        out[name] = data.frame == frame
        if name.endswith("gnss"):
            geo = road.transform_to_geolocation(car.get_location())
            out["gnss_error"] = abs(data.latitude - geo.latitude) + abs(
                data.longitude - geo.longitude
            )
            out["latitude"], out["map_latitude"] = data.latitude, geo.latitude
            out["location_y"] = car.get_location().y
    out["role"] = car.attributes["role_name"]
    out["extent"] = vector(car.bounding_box.extent)
    car.apply_control(carla.VehicleControl(throttle=0.7))
    for _ in range(20):
        world.tick()
    out["speed"] = round(car.get_velocity().length(), 3)
    way = car.get_transform().get_forward_vector()
    ahead = car.get_transform()
    ahead.location += carla.Location(way.x * 9.0, way.y * 9.0, 0.3)
    block = world.spawn_actor(library.find("vehicle.audi.tt"), ahead)
    for _ in range(40):
        world.tick()
    try:
        kind, attributes = hits.get(timeout=60)
        out["hit"], out["hit_wheels"] = kind, attributes.get("number_of_wheels")
    except queue.Empty:
        out["hit"] = None
    commands = [
        carla.command.SpawnActor(library.find("vehicle.audi.a2"), p)
        for p in road.get_spawn_points()[20:24]
    ]
    results = batch(client, world, commands)
    out["batch"] = [r.has_error() for r in results]
    made = [r.actor_id for r in results]
    walker = world.spawn_actor(
        library.find("walker.pedestrian.0001"),
        carla.Transform(world.get_random_location_from_navigation() + carla.Location(z=1.0)),
    )
    world.tick()
    out["bones"] = len(walker.get_bones().bone_transforms)
    out["lights"] = len(world.get_actors().filter("traffic.traffic_light"))
    for sensor in [*sensors, hit]:
        sensor.stop()
    ids = [a.id for a in [*sensors, hit, car, block, walker]] + made
    batch(client, world, [carla.command.DestroyActor(i) for i in ids])
    settings.synchronous_mode, settings.fixed_delta_seconds = False, None
    world.apply_settings(settings)
    return out


def watch(world, seconds):
    """Look on while another client drives: frames rise, the hero is seen with its attributes."""
    seen, frames, deadline = None, [], time.time() + seconds
    while time.time() < deadline and seen is None:
        snapshot = world.get_snapshot()
        frames.append(snapshot.frame)
        for actor in world.get_actors().filter("vehicle.*"):
            if actor.attributes.get("role_name") == "hero":
                seen = vector(actor.bounding_box.extent)
        time.sleep(0.002)
    return {"saw_hero": seen, "monotonic": frames == sorted(frames)}


def main():
    client = carla.Client("127.0.0.1", int(sys.argv[1]))
    client.set_timeout(60.0)
    world = client.get_world()
    out = {"client": client.get_client_version(), "server": client.get_server_version()}
    if sys.argv[2] == "drive":
        out.update(drive(client, world))
    elif sys.argv[2] == "load":
        for town in ("Orchard", "Harbour"):
            world = client.load_world(town)
            out[town] = world.get_map().name
    else:
        out.update(watch(world, 120.0))
    print(json.dumps(out), flush=True)


main()
