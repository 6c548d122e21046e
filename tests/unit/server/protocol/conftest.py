"""A simulation without sockets, on one straight road."""

from __future__ import annotations

from typing import Any

import pytest
from scene import straight_road

from jaywalk.server.encoding.codec import CARLA_0_9_16, Dialect
from jaywalk.server.protocol._server import CarlaServer
from jaywalk.server.session._simulation import Simulation
from jaywalk.server.world._tables import Actor
from jaywalk.town.town import Town, town_from_opendrive


class Listener:
    """Publisher that reads every stream and keeps the last frame of each."""

    def __init__(self) -> None:
        self.last: dict[int, bytes] = {}

    def listeners(self, stream_id: int) -> set[Dialect]:
        return {CARLA_0_9_16}

    def publish(self, stream_id: int, payloads: dict[Dialect, bytes]) -> None:
        self.last[stream_id] = payloads[CARLA_0_9_16]

    def stream_token(self, stream_id: int, dialect: Dialect) -> bytes:
        return b""


class Stage:
    """A simulation, its listener, and short ways to fill it."""

    def __init__(self, town: Town) -> None:
        self.listener = Listener()
        self.simulation = Simulation(town, self.listener)

    def server(self) -> CarlaServer:
        """A server of this simulation, which publishes to the listener all the same."""
        return CarlaServer("127.0.0.1", 0, CARLA_0_9_16, lambda _: self.simulation)

    def spawn(
        self, type_id: str, x: float = 0.0, z: float = 0.1, parent: int = 0, **values: str
    ) -> Actor:
        pose = ((x, 1.75 if not parent else 0.0, z), (0.0, 0.0, 0.0))
        return self.simulation.spawn(CARLA_0_9_16, type_id, values, pose, parent)

    def tick(self, count: int = 1) -> None:
        for _ in range(count):
            self.simulation.tick()
            self.simulation.measure_late_sensors()

    def payload(self, sensor: Actor) -> bytes:
        """What the sensor sent last, without its header."""
        return self.listener.last[sensor.stream_id][48:]

    def drive(self, actor: Actor, throttle: float = 0.7, steer: float = 0.0) -> None:
        self.simulation.world.control_vehicle(actor, throttle, steer, 0.0, False, False, False, 1)


@pytest.fixture(scope="session")
def straight_town() -> Town:
    return town_from_opendrive(straight_road())


@pytest.fixture
def stage(straight_town: Town) -> Any:
    return Stage(straight_town)
