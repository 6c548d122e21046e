"""Pictures rendered from a record afterwards are those that a camera sent during the episode."""

from __future__ import annotations

import base64
import json
import queue
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import carla
import numpy as np
import pytest
from live_server import LiveServer
from scene import Scene
from scipy.spatial.transform import Rotation

from jaywalk.actors import PosedPeople
from jaywalk.client.bones import BoneLine
from jaywalk.core.errors import UsageError
from jaywalk.motion import default_library
from jaywalk.motion.playback.bank import ClipBank
from jaywalk.motion.playback.players import Cue
from jaywalk.record import Episode, SharedFiles
from jaywalk.record import open as open_record
from jaywalk.record.capture import EpisodeCapture
from jaywalk.record.columns import WEATHER_FIELDS
from jaywalk.rendering import sensor_file
from jaywalk.rendering.recorded_world import RecordedWorld
from jaywalk.rendering.replay_camera import ReplayCamera, parse_camera, parse_size

LENS = {"image_size_x": "480", "image_size_y": "270", "fov": "90"}
MOUNT = carla.Transform(carla.Location(x=-6.0, z=3.0), carla.Rotation(pitch=-12.0))
COMPARED = (0, 12, 30, 59)
# Records keep places as 32-bit numbers, so that edges may fall on the neighbouring pixel.
MOST_OTHER_PIXELS = 0.004
CLEAR = 12  # levels of 255


def pixels(image: carla.Image) -> np.ndarray:
    shape = (image.height, image.width, 4)
    return np.frombuffer(image.raw_data, np.uint8).reshape(shape).copy()


def beside(waypoint: carla.Waypoint, metres: float, up_m: float = 1.0) -> carla.Transform:
    pose = waypoint.transform
    pose.location += metres * pose.get_right_vector() + carla.Location(z=up_m)
    return pose


def test_a_record_gives_the_pictures_of_its_episode(
    scene: Scene, harbour: LiveServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lane = scene.straight_lane(80.0)
    start = lane.transform
    start.location.z += 0.2
    ego = scene.spawn("vehicle.lincoln.mkz_2020", start, settle=10, color="40,60,150")
    van = scene.spawn("vehicle.ford.ambulance", beside(lane.next(30.0)[0], 3.0), settle=10)
    scene.spawn("static.prop.trafficcone01", beside(lane.next(9.0)[0], 2.0, 0.0))
    struck = scene.spawn("walker.pedestrian.0004", beside(lane.next(18.0)[0], 0.4), settle=5)
    walker = scene.spawn("walker.pedestrian.0012", beside(lane.next(14.0)[0], -3.0), settle=5)
    dog = scene.spawn("walker.animal.1001", beside(lane.next(10.0)[0], 3.5), settle=5)
    posed = scene.spawn("walker.pedestrian.0008", beside(lane.next(12.0)[0], 3.0), settle=5)
    bank = ClipBank(default_library())
    line = BoneLine(harbour.host, harbour.port)
    people = PosedPeople(scene.client, line, bank)
    name = next(name for name in bank.library.names if "walk" in name)
    people.take(posed, Cue(clip=name, loop=True))
    images: queue.Queue[carla.Image] = queue.Queue()
    camera = scene.spawn("sensor.camera.rgb", MOUNT, parent=ego, settle=0, **LENS)
    camera.listen(images.put)
    folder = tmp_path / "run" / "episodes" / "one"
    capture = EpisodeCapture(folder, scene.world.get_actors, ego.id)
    flags = carla.VehicleLightState
    van.set_light_state(carla.VehicleLightState(flags.Position | flags.Brake))
    capture.lamps = {van.id: int(flags.Position | flags.Brake)}
    along, across = start.get_forward_vector(), start.get_right_vector()
    walker.apply_control(carla.WalkerControl(across, 1.4))
    dog.apply_control(carla.WalkerControl(-1.0 * across, 2.0))
    ego.set_target_velocity(9.0 * along)
    live = {}
    for tick in range(60):
        people.step(scene.world.get_snapshot())
        ego.apply_control(carla.VehicleControl(throttle=0.5, steer=0.02))
        frame = scene.tick()
        capture.pose_states = people.phases()
        capture.observe(scene.world.get_snapshot())
        image = images.get(timeout=30.0)
        while image.frame < frame:
            image = images.get(timeout=30.0)
        pose = image.transform
        live[tick] = (
            pixels(image),
            (
                (pose.location.x, pose.location.y, pose.location.z),
                (pose.rotation.pitch, pose.rotation.yaw, pose.rotation.roll),
            ),
        )
    line.close()
    weather = scene.world.get_weather()
    capture.writer.add(
        "weather", tick=0, **{name: getattr(weather, name) for name in WEATHER_FIELDS}
    )
    text = scene.map.to_opendrive().encode()
    files = {"opendrive": SharedFiles(tmp_path / "run").add(text, ".xodr")}
    record = open_record(capture.finish(Episode(episode_id="one", town="Harbour", files=files)))

    world = RecordedWorld(record)
    sensor = world.add_sensor("sensor.camera.rgb", LENS)
    lives = {life.server_id: life for life in world.lives.values()}
    assert not lives[walker.id].is_down.any()
    assert lives[struck.id].is_down[-1]
    assert not lives[struck.id].is_down[0]
    for tick in COMPARED:
        seen, pose = live[tick]
        (reading,) = world.measure(sensor, pose, world.show(tick))
        other = np.abs(reading.pixels[..., :3].astype(int) - seen[..., :3]).max(axis=2)
        assert (other > CLEAR).mean() <= MOST_OTHER_PIXELS, tick
        assert other.mean() < 0.1
    assert not world.unknown_types
    # and it is not blind: without the ego, or one second later, the picture is another
    seen, pose = live[COMPARED[1]]
    scene_then = world.show(COMPARED[1])
    (reading,) = world.measure(sensor, pose, scene_then, [record.episode.ego_actor or 0])
    assert (np.abs(reading.pixels.astype(int) - seen).max(axis=2) > CLEAR).mean() > 0.02

    check_sensor_file(world, van.id, tmp_path / "one.mcap", monkeypatch)


class KeptMessages:
    """Stands in for the writer of MCAP files and keeps what it is given."""

    messages: ClassVar[list[tuple[str, int, dict]]] = []

    def __init__(self, stream: object) -> None:
        self.topics: list[str] = []

    def start(self, library: str) -> None:
        assert library == "jaywalk"

    def register_schema(self, name: str, encoding: str, data: bytes) -> int:
        assert encoding == "jsonschema"
        assert json.loads(data)["type"] == "object"
        assert name.startswith("foxglove.")
        return 1

    def register_channel(self, topic: str, message_encoding: str, schema_id: int) -> int:
        assert (message_encoding, schema_id) == ("json", 1)
        self.topics.append(topic)
        return len(self.topics) - 1

    def add_message(self, channel_id: int, log_time: int, publish_time: int, data: bytes) -> None:
        assert log_time == publish_time
        self.messages.append((self.topics[channel_id], log_time, json.loads(data)))

    def finish(self) -> None:
        self.topics.clear()


def placed(pose: dict) -> tuple[np.ndarray, np.ndarray]:
    """Place and rotation matrix of a pose with the keys of a transform or of a cube."""
    place = pose.get("position") or pose["translation"]
    turn = pose.get("orientation") or pose["rotation"]
    quaternion = [turn[axis] for axis in "xyzw"]
    return np.array([place[axis] for axis in "xyz"]), Rotation.from_quat(quaternion).as_matrix()


def check_sensor_file(
    world: RecordedWorld, van_id: int, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Points of the LiDAR lie on the boxes of the same tick, and pictures come at every tick."""
    monkeypatch.setattr(sensor_file, "import_mcap", lambda: SimpleNamespace(Writer=KeptMessages))
    camera = ReplayCamera(world, parse_camera("front"), size_px=(64, 48))
    assert sensor_file.write_sensors(camera, path, lambda share: None) == 60
    by_topic: dict[str, list[tuple[int, dict]]] = {}
    for topic, time_ns, message in KeptMessages.messages:
        by_topic.setdefault(topic, []).append((time_ns, message))
    assert len(by_topic["/camera"]) == len(by_topic["/boxes"]) == 60
    assert len(by_topic["/lidar"]) == 30
    picture = base64.b64decode(by_topic["/camera"][0][1]["data"])
    assert picture[:3] == b"\xff\xd8\xff"
    van = next(life for life in world.lives.values() if life.server_id == van_id)
    time_ns, scan = by_topic["/lidar"][0]
    points = np.frombuffer(base64.b64decode(scan["data"]), np.float32).reshape(-1, 4)[:, :3]
    frames = [one["transforms"][0] for at, one in by_topic["/frames"] if at == time_ns]
    shift, turn = placed(next(one for one in frames if one["child_frame_id"] == "lidar"))
    boxes = next(one["entities"] for at, one in by_topic["/boxes"] if at == time_ns)
    cube = next(one["cubes"][0] for one in boxes if one["id"] == str(van.number))
    centre, axes = placed(cube["pose"])
    inside = np.abs((points @ turn.T + shift - centre) @ axes)
    half = 0.5 * np.array([cube["size"][axis] for axis in "xyz"])
    on_van = (inside <= half + 0.05).all(axis=1)
    assert on_van.sum() > 5  # the scan meets the van where its box is,
    deep = (inside <= half - 0.6).all(axis=1)
    assert deep.sum() < 0.2 * on_van.sum()  # and its surface, not its middle


def test_cameras_that_cannot_be_are_refused(tmp_path: Path) -> None:
    assert parse_camera("person:12").person == 12
    assert parse_size("640x360") == (640, 360)
    for text in ("side", "person:", "person:x", "person:-1"):
        with pytest.raises(UsageError, match="front, chase, top or person:NUMBER"):
            parse_camera(text)
    for text in ("640", "641x360", "0x0", "9000x9000", "axb"):
        with pytest.raises(UsageError, match="WIDTHxHEIGHT"):
            parse_size(text)
