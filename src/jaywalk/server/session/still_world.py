"""A world that does not advance: its actors stand where they are put, and sensors measure it.

Records are rendered with it. Nothing in it is simulated, and no client is connected.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.core.units import DEG_TO_RAD
from jaywalk.server.encoding.codec import DIALECTS
from jaywalk.server.sensors._base import Sensor
from jaywalk.server.sensors._readings import Reading
from jaywalk.server.sensors._rig import make_sensor
from jaywalk.server.sensors._scene import SensorScene, without_rows
from jaywalk.server.session._publisher import NoPublisher
from jaywalk.server.session._simulation import DEFAULT_DELTA_S, Simulation
from jaywalk.server.session._world_view import WorldView
from jaywalk.server.world._tables import Kind, SpawnError
from jaywalk.server.world._walker_dynamics import stride_length_m
from jaywalk.server.world._world import Transform
from jaywalk.town.town import Town

_FIRST_SENSOR_ID: Final = 2**31  # no server gives an actor so high a number
_FAR_M: Final = 1e6  # actors appear there, apart from each other, and are put in their places later
_APART_M: Final = 100.0
_ANGLES: Final = ("pitch", "yaw", "roll")
_HEAD: Final = "crl_Head__C"


class _NextId(Iterator[int]):
    """Ids of new actors; ``value`` is the id of the next one."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __next__(self) -> int:
        self.value += 1
        return self.value - 1


class StillWorld:
    """Actors of a town, placed by hand."""

    def __init__(self, town: Town, first_id: int = 1) -> None:
        """Make the town's fixed actors.

        Args:
            town: The town.
            first_id: Id of the spectator; lights and signs have the ids that follow. Looks of
                people depend on the difference between their id and this one.
        """
        self._ids = _NextId(first_id)
        self._simulation = Simulation(town, NoPublisher(), actor_ids=self._ids)
        self._world = self._simulation.world
        self._view = WorldView(self._world)
        self._sensors: dict[int, Sensor] = {}

    @property
    def time_s(self) -> float:
        """Simulated time."""
        return self._world.time_s

    @time_s.setter
    def time_s(self, value: float) -> None:
        self._world.time_s = value

    def add(self, actor_id: int, type_id: str, attributes: Mapping[str, str]) -> bool:
        """Create an actor of a given id far away; return False if its type is not known here."""
        self._ids.value = actor_id
        pose = ((_FAR_M, _FAR_M + _APART_M * (actor_id % 9973), 0.0), (0.0, 0.0, 0.0))
        for dialect in DIALECTS.values():
            for values in (dict(attributes), {}):
                try:
                    self._simulation.spawn(dialect, type_id, values, pose)
                except SpawnError:
                    continue
                return True
        return False

    def remove(self, actor_id: int) -> None:
        """Remove an actor."""
        self._simulation.destroy(actor_id)

    def put(self, actor_id: int, pose: Transform, **values: float) -> None:
        """Set the pose of an actor (metres, degrees) and other columns of the actor table."""
        actor, columns = self._world.actor(actor_id), self._world.columns
        columns.x[actor.row], columns.y[actor.row], columns.z[actor.row] = pose[0]
        for name, angle in zip(_ANGLES, pose[1], strict=True):
            getattr(columns, name)[actor.row] = angle * DEG_TO_RAD
        for name, value in values.items():
            getattr(columns, name)[actor.row] = value

    def roll(self, actor_id: int, way_m: float) -> None:
        """Set how far an actor came along its own axis, which turns wheels and moves legs."""
        self._world.set_rolled_m(self._world.actor(actor_id).row, way_m)

    def steer(self, actor_id: int, share: float) -> None:
        """Turn the front wheels of a vehicle by a share of the full lock."""
        actor = self._world.actor(actor_id)
        gain = float(self._world.model(actor)["steer_gain_rad"][0])
        self._world.columns.wheel_angle[actor.row] = share * gain

    def show_pose(self, actor_id: int, pose: FloatArray | None) -> None:
        """Show a pose (bones, 7) of a person in place of the animation; None: the animation."""
        self._world.people.show(actor_id, pose)

    def head_m(self, actor_id: int) -> tuple[float, float, float]:
        """Return the place of a walker's head joint; of an animal, the middle of its box."""
        actor = self._world.actor_of_kind(actor_id, Kind.WALKER)
        bones = self._world.bones(actor)
        x, y, z = bones.transforms[bones.names.index(_HEAD), 0, 0]
        return float(x), float(y), float(z)

    def set_lights(self, states: Sequence[int]) -> None:
        """Set the states of all traffic lights, in the order of their ids."""
        for index, state in enumerate(states[: len(self._world.lights.lights)]):
            self._world.lights.set_state(index, state)

    def add_sensor(self, type_id: str, attributes: Mapping[str, str], rank: int, seed: int) -> int:
        """Create a sensor and return its number for :meth:`measure`.

        Args:
            type_id: Blueprint.
            attributes: Those of the blueprint that differ from their defaults.
            rank: Number of the sensor among those of its type in the episode, for its noise.
            seed: Run seed of the noise.
        """
        self._ids.value = _FIRST_SENSOR_ID + len(self._sensors)
        dialect = DIALECTS["0.9.16"]
        nowhere = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        try:
            actor = self._simulation.spawn(dialect, type_id, dict(attributes), nowhere)
        except SpawnError as problem:
            raise UsageError(str(problem)) from problem
        self._sensors[actor.id] = make_sensor(type_id, attributes, rank, seed)
        return actor.id

    def scene(self, weather: Sequence[float]) -> SensorScene:
        """Return everything there is to see; it is valid until the next call.

        Args:
            weather: CARLA's weather parameters in their order.
        """
        return self._view.scene(list(weather))

    def measure(
        self,
        sensor: int,
        pose: Transform,
        scene: SensorScene,
        frame: int,
        hidden: Collection[int] = (),
    ) -> Sequence[Reading]:
        """Return the readings of a sensor at a pose (metres, degrees).

        Args:
            sensor: From :meth:`add_sensor`.
            pose: Its place and rotation.
            scene: From :meth:`scene`.
            frame: Number of the frame, for noise.
            hidden: Ids of actors that the sensor does not see.
        """
        self.put(sensor, pose)
        if hidden:
            scene = without_rows(scene, [self._world.actor(one).row for one in hidden])
        row = self._world.actor(sensor).row
        time_s = self._world.time_s
        return self._sensors[sensor].measure(scene, row, frame, time_s, DEFAULT_DELTA_S)


def gait_phases(speed_mps: FloatArray, is_down: NDArray[np.bool_], step_s: float) -> FloatArray:
    """Return the phase of the built-in walk cycle at every state, as the server counts it."""
    phases, phase = np.zeros(len(speed_mps)), 0.0
    for row, speed in enumerate(speed_mps.tolist()):
        if speed > 0.0 and not is_down[row]:
            phase = (phase + speed * step_s / stride_length_m(speed)) % 1.0
        phases[row] = phase
    return phases
