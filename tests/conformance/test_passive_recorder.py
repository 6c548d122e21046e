"""``jaywalk record`` beside a program that drives: what it writes is what the program saw."""

import json
import signal
import subprocess
import sys
import threading
from functools import partial

import carla
import numpy as np
import polars as pl
import pytest
from child import wait_for
from live_server import environment
from scene import Scene

import jaywalk.record

_COMMAND = "from jaywalk.cli.main import main; main()"


class Watcher:
    """The command in its own process."""

    def __init__(self, server, out, *options):
        command = [sys.executable, "-c", _COMMAND, "record", "--json", "--out", str(out)]
        command += ["--server", f"{server.host}:{server.port}", *options]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
        )
        self.seen = []
        # Whatever it waits for in vain ends a test instead of hanging it.
        self.limit = threading.Timer(300.0, self.process.kill)
        self.limit.start()
        self.wait_for("watching")

    def wait_for(self, word, times=1):
        """Read on until it has said something so many times since the start."""
        while sum(word in line for line in self.seen) < times:
            line = self.process.stderr.readline()
            assert line, f"the recorder never said '{word}': {self.seen}"
            self.seen.append(line)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        said, errors = self.process.communicate(timeout=120)
        assert said, errors
        return [jaywalk.record.open(path) for path in json.loads(said)["episodes"]]


@pytest.fixture
def watcher(harbour, scene, tmp_path, request):
    options = getattr(request, "param", [])
    watcher = Watcher(harbour, tmp_path / "run", *options)
    yield watcher
    watcher.limit.cancel()
    if watcher.process.poll() is None:
        watcher.process.kill()
        watcher.process.communicate()


def seen_by_client(scene, actors):
    """Pose, velocity and control of some actors now, as the client reads them."""
    rows = {}
    for actor in actors:
        t, v = actor.get_transform(), actor.get_velocity()
        rows[actor.id] = (t.location.x, t.location.y, t.location.z, t.rotation.yaw, v.x, v.y, v.z)
    return rows


def drive_into_a_person(scene, client_rows, watched, ticks=60):
    """A hero that runs somebody over once it is watched; returns hero and person."""
    lane = scene.straight_lane(40.0)
    start = lane.transform
    start.location.z += 0.3
    person_at = lane.next(14.0)[0].transform.location
    person = scene.walker(person_at)
    hero = scene.spawn("vehicle.lincoln.mkz_2020", start, role_name="hero")
    watched()
    hero.enable_constant_velocity(carla.Vector3D(9.0, 0.0, 0.0))
    for _ in range(ticks):
        frame = scene.tick()
        client_rows[frame] = seen_by_client(scene, (hero, person))
    return hero, person


def test_it_records_what_the_driving_program_saw(scene, watcher):
    expected = {}
    begun = partial(watcher.wait_for, "episode 0001 begun")
    hero, person = drive_into_a_person(scene, expected, begun)
    ids = {"hero": hero.id, "person": person.id}
    hero.destroy()
    scene.tick(2)
    watcher.wait_for("written (ego removed)")
    (record,) = watcher.stop()
    actors = record.actors.collect()
    number = dict(zip(actors["server_id"], actors["actor"], strict=True))
    assert record.episode.ego_actor == number[ids["hero"]]
    assert record.episode.town == "Harbour"
    assert record.episode.step_s == pytest.approx(0.05)
    first = record.episode.wall.first_frame
    states = record.states.collect()
    columns = ["x_m", "y_m", "z_m", "yaw_deg", "vx_mps", "vy_mps", "vz_mps"]
    found = {
        (row[0], row[1] + first): row[2:]
        for row in states.select("actor", "tick", *columns).iter_rows()
    }
    for frame, rows in expected.items():
        for server_id, values in rows.items():
            got = np.float32(found[number[server_id], frame])
            assert got.tobytes() == np.float32(values).tobytes()
    ticks = record.ticks.collect()["tick"].to_numpy()
    assert (np.diff(ticks) == 1).all()
    check_the_contact(record, number[ids["person"]])
    check_the_surroundings(record)


def check_the_contact(record, person):
    contacts = record.events.filter(pl.col("kind") == "contact").collect()
    # The car keeps its speed and catches up with the person it threw ahead: never more than two.
    assert contacts.height in (1, 2)
    assert set(contacts["actor"]) == {record.episode.ego_actor}
    assert set(contacts["other"]) == {person}
    hit = contacts.row(0, named=True)
    assert hit["speed_mps"] == pytest.approx(9.0, abs=0.3)
    assert hit["closing_mps"] == pytest.approx(9.0, abs=0.5)
    assert hit["other_speed_mps"] < 0.5


def check_the_surroundings(record):
    ego = record.actors.filter(pl.col("role_name") == "hero").collect().row(0, named=True)
    if ego["front_axle_x_m"] is not None:  # null when the recorder lagged behind the moving car
        assert ego["front_axle_x_m"] - ego["rear_axle_x_m"] == pytest.approx(2.85, abs=0.4)
    assert ego["half_x_m"] > 2.0
    landmarks = record.landmarks.collect()
    lights = landmarks.filter(pl.col("type_id") == "traffic.traffic_light")
    assert lights.height > 0
    assert lights["stop_waypoints"].list.len().min() > 0
    assert set(record.signals.collect()["actor"]) == set(lights["actor"])
    assert record.weather.collect().height >= 1
    text = record.shared_file("opendrive").read_text()
    assert "<OpenDRIVE" in text


def test_a_new_world_is_a_new_episode_and_sigint_saves(scene, client, watcher):
    def drive(here, ticks, name):
        car = here.car(role_name="hero")
        watcher.wait_for(f"episode {name} begun")
        car.apply_control(carla.VehicleControl(throttle=0.7))
        here.tick(ticks)

    drive(scene, 30, "0001")
    scene.spawned.clear()
    second = Scene.load(client, "Harbour")
    scene.world, scene.map = second.world, second.map
    watcher.wait_for("watching Harbour", times=2)
    watcher.wait_for("written (world changed)")
    drive(scene, 25, "0002")
    records = watcher.stop()
    assert [record.episode.end_reason for record in records] == [
        "world changed",
        "recorder stopped",
    ]
    assert [record.ticks.collect().height for record in records] == [
        pytest.approx(38, abs=2),
        pytest.approx(33, abs=2),
    ]
    for record in records:
        control = record.ego_states().collect()
        assert control["throttle"].max() == pytest.approx(0.7, abs=1e-6)


@pytest.mark.parametrize("watcher", [["--collision-sensor"]], indirect=True)
def test_the_collision_sensor_adds_impulses(scene, watcher, harbour):
    sockets = harbour.open_files()

    def sensor_listens():
        watcher.wait_for("episode 0001 begun")
        wait_for(lambda: scene.tick() > 0 and harbour.open_files() > sockets, "its stream")

    drive_into_a_person(scene, {}, sensor_listens)
    (record,) = watcher.stop()
    hit = record.events.filter(pl.col("kind") == "contact").collect().row(0, named=True)
    assert hit["source"] == "geometry"
    assert hit["impulse_ns"] > 0.0
