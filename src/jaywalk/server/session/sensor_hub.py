"""The sensors of an episode: who listens, what they get, on which frame.

What lies along one ray, for programs that ask the world instead of a sensor.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, Final

import msgpack
import numpy as np

from jaywalk.core.carla_enums import SemanticTag
from jaywalk.core.errors import JaywalkError
from jaywalk.server.encoding.codec import Dialect
from jaywalk.server.encoding.sensor_frames import SensorType, pack_header, pose_of
from jaywalk.server.sensors.base import Sensor
from jaywalk.server.sensors.catalogue import Stage
from jaywalk.server.sensors.obstacle import ObstacleDetector
from jaywalk.server.sensors.positioning import Gnss, Imu
from jaywalk.server.sensors.rig import make_sensor
from jaywalk.server.sensors.scan import cast_rays
from jaywalk.server.sensors.scene import Scene, without_rows
from jaywalk.server.sensors.shading import ground_label
from jaywalk.server.sensors.visibility import GROUND, SKY
from jaywalk.server.session.world_view import WorldView
from jaywalk.server.world.blueprints import INVALID_DESCRIPTION
from jaywalk.server.world.tables import Actor, SpawnError
from jaywalk.server.world.world import World
from jaywalk.town.scenery import KINDS

if TYPE_CHECKING:
    from jaywalk.server.protocol.server import CarlaServer
    from jaywalk.server.session.episode import Episode

Point = tuple[float, float, float]

_MOST: Final = 64
_BEYOND_M: Final = 1e-3  # the next ray starts so far behind what the last one met


def things_along_ray(scene: Scene, start: Point, end: Point) -> list[tuple[Point, int]]:
    """Place and semantic label of everything between two points, near to far.

    A thing of several solids (the body and cabin of a car) is met once, where the ray enters it;
    the ground ends the ray.
    """
    origin = np.array(start, dtype=np.float64)
    way = np.array(end, dtype=np.float64) - origin
    left_m = float(np.linalg.norm(way))
    if not math.isfinite(left_m) or left_m <= 0.0:
        return []
    way /= left_m
    found: list[tuple[Point, int]] = []
    met: set[tuple[int, int]] = set()
    for _ in range(_MOST):
        distance, surface = cast_rays(
            scene.solids, scene.relief, origin, way[None], np.array([left_m]), -2
        )
        if surface[0] == SKY:
            break
        place = origin + float(distance[0]) * way
        here = (float(place[0]), float(place[1]), float(place[2]))
        if surface[0] == GROUND:
            found.append((here, int(ground_label(scene.paint, here[0], here[1]))))
            break
        solid = int(surface[0]) >> 3
        # Scenery has no owner; each of its solids stands for itself.
        owner = int(scene.solids.owner[solid])
        thing = (owner, -1) if owner >= 0 else (-1, solid)
        if thing not in met:
            met.add(thing)
            found.append((here, int(scene.solids.label[solid])))
        step_m = float(distance[0]) + _BEYOND_M
        origin, left_m = origin + step_m * way, left_m - step_m
        if left_m <= 0.0:
            break
    return found


COLLISION: Final = "sensor.other.collision"
_LABEL_NAMES: Final[dict[int, str]] = {
    tag: tag.name.lower()
    for tag in (
        SemanticTag.BUILDING,
        SemanticTag.WALL,
        SemanticTag.FENCE,
        SemanticTag.POLE,
        SemanticTag.VEGETATION,
    )
}
# Stream numbers are never reused, also not by the next episode: old readers may still be there.
_STREAM_IDS = itertools.count(2)


class SensorHub:
    """Keeps the sensor actors of one world and measures for those that have readers."""

    def __init__(self, world: World, seed: int) -> None:
        self._world = world
        self._seed = seed
        self._sensors: dict[int, tuple[Actor, Sensor]] = {}
        self._view = WorldView(world)
        self._ignored: dict[int, list[int]] = {}
        self.gravity_mps2 = 9.81

    def add(self, actor: Actor, frame: int) -> None:
        """Take a new sensor actor and give it a stream."""
        values = {name: value for name, (_, value) in actor.attributes.items()}
        try:
            # Noise depends on the sensor's place among its kind, not on its actor id: the same
            # scene built again in the same server repeats itself.
            taken = {s.sensor_id for a, s in self._sensors.values() if a.type_id == actor.type_id}
            rank = next(number for number in itertools.count() if number not in taken)
            sensor = make_sensor(actor.type_id, values, rank, self._seed)
            sensor.born_frame = frame
        except JaywalkError as problem:
            raise SpawnError(f"{INVALID_DESCRIPTION}: {problem}") from problem
        if sensor.stage is not Stage.CLIENT:
            actor.stream_id = next(_STREAM_IDS)
            self._sensors[actor.id] = (actor, sensor)

    def has_stream(self, stream_id: int) -> bool:
        """Whether a sensor of this episode sends on that stream."""
        return any(actor.stream_id == stream_id for actor, _ in self._sensors.values())

    def remove(self, actor_id: int) -> None:
        """Forget a sensor."""
        self._sensors.pop(actor_id, None)
        self._ignored.pop(actor_id, None)

    def set_ignored(self, actor_id: int, vehicles: list[int]) -> None:
        """Vehicles that a sensor does not see from now on."""
        self._ignored[actor_id] = vehicles

    def measure(self, episode: Episode, server: CarlaServer, *, prompt: bool) -> None:
        """Deliver this frame to everybody who listens: the prompt sensors, or all the others.

        Collisions, obstacles, IMU and GNSS cost little and go out before the tick is answered, so
        that whoever looks after a tick finds them. Pictures and scans go out after the answer: a
        client that does something else first does it while they are drawn.
        """
        scene: Scene | None = None
        for actor, sensor in list(self._sensors.values()):
            if (sensor.stage is Stage.PROMPT) != prompt:
                continue
            dialects = server.dialects_listening(actor.stream_id)
            if not dialects:
                continue
            if actor.type_id == COLLISION:
                self._report_collisions(actor, dialects, episode, server)
                continue
            if isinstance(sensor, Imu | Gnss):
                seen = self._view.bare_scene()
            else:
                scene = self._view.scene(episode.weather) if scene is None else scene
                seen = self._seen_by(actor, scene)
            if isinstance(sensor, Imu):
                sensor.gravity_mps2 = self.gravity_mps2
            if isinstance(sensor, ObstacleDetector):
                self._report_obstacle(actor, sensor, seen, dialects, episode, server)
                continue
            payload = sensor.measure(
                seen, actor.row, episode.frame, self._world.time_s, episode.delta_s
            )
            if payload is not None:
                forms = {d: _in_dialect(sensor, payload, d) for d in dialects}
                server.publish(actor.stream_id, forms)

    def _seen_by(self, sensor: Actor, scene: Scene) -> Scene:
        ignored = self._ignored.get(sensor.id)
        if not ignored:
            return scene
        known = (self._world.actors.get(actor_id) for actor_id in ignored)
        return without_rows(scene, [actor.row for actor in known if actor is not None])

    def along_ray(self, episode: Episode, start: Point, end: Point) -> list[tuple[Point, int]]:
        """Place and label of all that lies between two points, near to far; actors too."""
        return things_along_ray(self._view.scene(episode.weather), start, end)

    def try_out(self, actor: Actor, episode: Episode) -> None:
        """Measure once for nobody: compiles what the sensor needs."""
        sensor = self._sensors.get(actor.id)
        if sensor is None:
            return
        scene = self._view.scene(episode.weather)
        if isinstance(sensor[1], ObstacleDetector):
            sensor[1].detect(scene, actor.row, self._world.time_s)
        for frame in (1, 2):  # the second one compares with the first
            sensor[1].measure(scene, actor.row, frame, 0.05 * frame, 0.05)

    def _header(self, actor: Actor, kind: SensorType, frame: int) -> bytes:
        pose = pose_of(self._world.columns.table, actor.row)
        return pack_header(kind, frame, self._world.time_s, pose)

    def _report_obstacle(
        self,
        actor: Actor,
        sensor: ObstacleDetector,
        scene: Scene,
        dialects: set[Dialect],
        episode: Episode,
        server: CarlaServer,
    ) -> None:
        found = sensor.detect(scene, actor.row, self._world.time_s)
        if found is None:
            return
        header = self._header(actor, SensorType.OBSTACLE, episode.frame)
        owner = self._world.actors.get(actor.parent_id, actor)
        payloads = {}
        for dialect in dialects:
            if found.row >= 0:
                other = self._world.actors[int(self._world.columns.id[found.row])]
                struct_ = episode.encode_actor(other, dialect)
            else:
                struct_ = _scenery_actor(_LABEL_NAMES.get(found.label, "other"), found.label)
            body = [episode.encode_actor(owner, dialect), struct_, found.distance_m]
            payloads[dialect] = header + msgpack.packb(body)
        server.publish(actor.stream_id, payloads)

    def _report_collisions(
        self, actor: Actor, dialects: set[Dialect], episode: Episode, server: CarlaServer
    ) -> None:
        parent = self._world.actors.get(actor.parent_id)
        if parent is None:
            return
        for contact in self._world.collisions.contacts:
            if parent.row == contact["row_a"]:
                sign = 1.0
            elif parent.row == contact["row_b"]:
                sign = -1.0
            else:
                continue
            impulse = [sign * float(contact[name]) for name in ("ix", "iy", "iz")]
            header = self._header(actor, SensorType.COLLISION, episode.frame)
            payloads = {}
            for dialect in dialects:
                other = self._other(contact, sign, episode, dialect)
                body = [episode.encode_actor(parent, dialect), other, impulse]
                payloads[dialect] = header + msgpack.packb(body)
            server.publish(actor.stream_id, payloads)

    def _other(self, contact: Any, sign: float, episode: Episode, dialect: Dialect) -> list[Any]:
        row = int(contact["row_b"] if sign > 0 else contact["row_a"])
        if row >= 0:
            actor_id = int(self._world.columns.id[row])
            return episode.encode_actor(self._world.actors[actor_id], dialect)
        item = self._world.scenery.visible_object(int(contact["scenery"]))
        kind = KINDS[int(item["kind"])].replace("_", "")
        return _scenery_actor(kind, int(item["label"]))


def _scenery_actor(kind: str, label: int) -> list[Any]:
    """An Actor struct for something that is not an actor."""
    box = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], 0]
    return [0, 0, [0, f"static.{kind}", []], box, bytes([label]), b""]


def _in_dialect(sensor: Sensor, payload: bytes, dialect: Dialect) -> bytes:
    return sensor.for_0915(payload) if dialect.gnss_north_is_minus_y else payload
