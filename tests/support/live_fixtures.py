"""Fixtures around a real server and the real wheel, for tests that drive the one with the other."""

from __future__ import annotations

from collections.abc import Iterator

import carla
import pytest
from live_server import LiveServer, live_server
from scene import Scene


@pytest.fixture(scope="session")
def harbour() -> Iterator[LiveServer]:
    """A server in Harbour.

    Its ticks wait longer than usual for a client that is about to listen: on a busy machine a
    sensor's first frame would be lost otherwise.
    """
    with live_server("--town", "Harbour", waits={"streams._SUBSCRIBE_WAIT_S": 5.0}) as server:
        yield server


@pytest.fixture(scope="session")
def client(harbour: LiveServer) -> carla.Client:
    """A client of the Harbour server."""
    client = carla.Client(harbour.host, harbour.port)
    client.set_timeout(60.0)
    return client


@pytest.fixture(scope="module")
def fresh(client: carla.Client) -> Iterator[Scene]:
    """Harbour, newly loaded, synchronous at 20 Hz."""
    scene = Scene.load(client, "Harbour")
    yield scene
    scene.leave()


@pytest.fixture
def scene(fresh: Scene) -> Iterator[Scene]:
    """The module's scene; what a test spawns is gone after it."""
    yield fresh
    fresh.clear()
