"""An episode without sockets, on one straight road."""

from __future__ import annotations

from typing import Any

import pytest
from scene import straight_road

from jaywalk.server.encoding.codec import CARLA_0_9_16, Dialect
from jaywalk.server.protocol.traffic_managers import TrafficManagers
from jaywalk.server.session.episode import Episode
from jaywalk.server.world.tables import Actor
from jaywalk.town.town import Town, town_from_opendrive


class Listener:
    """Stands in for the server: reads every stream and keeps what was sent last."""

    def __init__(self) -> None:
        self.traffic_managers = TrafficManagers()
        self.last: dict[int, bytes] = {}

    def dialects_listening(self, stream_id: int) -> set[Dialect]:
        return {CARLA_0_9_16}

    def publish(self, stream_id: int, payloads: dict[Dialect, bytes]) -> None:
        self.last[stream_id] = payloads[CARLA_0_9_16]

    def hold_free_run(self) -> None:
        pass

    def begin_free_run(self) -> None:
        pass


class Stage:
    """An episode, who listens to it, and short ways to fill it."""

    def __init__(self, town: Town) -> None:
        self.episode = Episode(town)
        self.listener = Listener()
        self.episode.attach(self.listener)  # type: ignore[arg-type]

    def spawn(
        self, type_id: str, x: float = 0.0, z: float = 0.1, parent: int = 0, **values: str
    ) -> Actor:
        pose = ((x, 1.75 if not parent else 0.0, z), (0.0, 0.0, 0.0))
        return self.episode.spawn(CARLA_0_9_16, type_id, values, pose, parent)

    def tick(self, count: int = 1) -> None:
        for _ in range(count):
            self.episode.tick()
            self.episode.send_pictures()

    def payload(self, sensor: Actor) -> bytes:
        """What the sensor sent last, without its header."""
        return self.listener.last[sensor.stream_id][48:]

    def drive(self, actor: Actor, throttle: float = 0.7, steer: float = 0.0) -> None:
        self.episode.world.control_vehicle(actor, throttle, steer, 0.0, False, False, False, 1)


@pytest.fixture(scope="session")
def straight_town() -> Town:
    return town_from_opendrive(straight_road())


@pytest.fixture
def stage(straight_town: Town) -> Any:
    return Stage(straight_town)
