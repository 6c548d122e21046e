"""The sensors of an episode: their streams and the choice of those that measure in a tick."""

from __future__ import annotations

import itertools
from typing import Final

from jaywalk.core.errors import JaywalkError, UsageError
from jaywalk.server.encoding._sensor_frames import encode_reading, pack_header
from jaywalk.server.encoding._structs import ActorEncoder
from jaywalk.server.sensors._base import Sensor
from jaywalk.server.sensors._camera import CameraSensor
from jaywalk.server.sensors._raycast import Point, raycast_all
from jaywalk.server.sensors._rig import make_sensor
from jaywalk.server.sensors._scene import GRAVITY_MPS2, SensorScene, without_rows
from jaywalk.server.sensors.catalogue import SensorStage
from jaywalk.server.session._publisher import Publisher
from jaywalk.server.session._world_view import WorldView
from jaywalk.server.world._tables import Actor, SpawnError
from jaywalk.server.world._world import World
from jaywalk.server.world.blueprints import INVALID_DESCRIPTION

# Stream numbers are never reused, not even by the next episode: old readers may still be there.
_STREAM_IDS = itertools.count(2)
MOST_PIXELS: Final = 9_000_000  # 3840 x 2160 fits; all clients wait while an image is drawn


def _check_pixels(type_id: str, sensor: Sensor) -> None:
    """Refuse a camera whose images would delay all clients."""
    if isinstance(sensor, CameraSensor) and sensor.width * sensor.height > MOST_PIXELS:
        raise UsageError(
            f"{type_id}: image_size_x={sensor.width} and image_size_y={sensor.height} make "
            f"images of {sensor.width * sensor.height:,} pixels, which would delay all clients; at "
            f"most {MOST_PIXELS:,} (3840 x 2160) are drawn."
        )


class SensorHub:
    """Sensor actors of one world; only sensors with readers measure."""

    def __init__(
        self, world: World, publisher: Publisher, encoder: ActorEncoder, seed: int
    ) -> None:
        self._world = world
        self._publisher = publisher
        self._encoder = encoder
        self._seed = seed
        self._sensors: dict[int, tuple[Actor, Sensor]] = {}
        self._view = WorldView(world)
        self._ignored: dict[int, list[int]] = {}
        self.weather: list[float] = []
        self.gravity_mps2 = GRAVITY_MPS2

    def add(self, actor: Actor, frame: int) -> None:
        """Make the sensor of a new sensor actor and give it a stream."""
        values = {name: value for name, (_, value) in actor.attributes.items()}
        try:
            # Noise depends on the sensor's rank among its type, not on its actor id: the same
            # scene built again in the same server repeats itself.
            taken = {s.sensor_id for a, s in self._sensors.values() if a.type_id == actor.type_id}
            rank = next(number for number in itertools.count() if number not in taken)
            sensor = make_sensor(actor.type_id, values, rank, self._seed)
            _check_pixels(actor.type_id, sensor)
            sensor.born_frame = frame
        except JaywalkError as error:
            raise SpawnError(f"{INVALID_DESCRIPTION}: {error}") from error
        if sensor.stage is not SensorStage.CLIENT:
            actor.stream_id = next(_STREAM_IDS)
            self._sensors[actor.id] = (actor, sensor)

    def has_stream(self, stream_id: int) -> bool:
        """Return whether a sensor of this episode sends on the stream."""
        return any(actor.stream_id == stream_id for actor, _ in self._sensors.values())

    def remove(self, actor_id: int) -> None:
        """Forget a sensor."""
        self._sensors.pop(actor_id, None)
        self._ignored.pop(actor_id, None)

    def set_ignored(self, actor_id: int, vehicles: list[int]) -> None:
        """Make vehicles invisible to a sensor from now on."""
        self._ignored[actor_id] = vehicles

    def measure(self, stage: SensorStage, frame: int, delta_s: float) -> None:
        """Measure with the sensors of a stage that have readers, and publish the readings."""
        publisher, time_s = self._publisher, self._world.time_s
        scenes: dict[bool, SensorScene] = {}  # by whether the sensor sees; built when one needs it
        for actor, sensor in list(self._sensors.values()):
            if sensor.stage is not stage:
                continue
            dialects = publisher.listeners(actor.stream_id)
            if not dialects:
                continue
            if sensor.sees not in scenes:
                scenes[sensor.sees] = self._scene(sensor.sees)
            scene = self._without_ignored(actor, scenes[sensor.sees])
            readings = sensor.measure(scene, actor.row, frame, time_s, delta_s)
            if not readings:
                continue
            header = pack_header(sensor.kind, frame, time_s, sensor.pose)
            for reading in readings:
                payloads = {
                    dialect: header + encode_reading(reading, dialect, self._encoder)
                    for dialect in dialects
                }
                publisher.publish(actor.stream_id, payloads)

    def _scene(self, solid: bool) -> SensorScene:
        if solid:
            return self._view.scene(self.weather)
        return self._view.bare_scene(self.gravity_mps2)

    def _without_ignored(self, sensor: Actor, scene: SensorScene) -> SensorScene:
        ignored = self._ignored.get(sensor.id)
        if not ignored:
            return scene
        known = (self._world.actors.get(actor_id) for actor_id in ignored)
        return without_rows(scene, [actor.row for actor in known if actor is not None])

    def raycast_all(self, start: Point, end: Point) -> list[tuple[Point, int]]:
        """Return place and label of everything between two points, near to far; actors too."""
        return raycast_all(self._view.scene(self.weather), start, end)

    def warm_up(self, actor: Actor) -> None:
        """Measure without readers, which compiles the kernels of the sensor."""
        _, sensor = self._sensors.get(actor.id, (None, None))
        if sensor is None:
            return
        scene = self._view.scene(self.weather)
        for frame in (1, 2):  # the second one compares with the first
            sensor.measure(scene, actor.row, frame, 0.05 * frame, 0.05)
