"""Several servers, and servers that stop.

In a process of their own: the wheel may crash when it drops an episode, or a server that is gone,
after other clients of the same process.
"""

from __future__ import annotations

import time

import carla
from live_server import live_server
from scene import Scene


def test_joining_and_loading_do_not_wait_for_the_grace_of_a_fresh_episode() -> None:
    with live_server("--town", "Harbour", waits={"server._GRACE_S": 1e6}) as server:
        client = carla.Client(server.host, server.port)
        client.set_timeout(60.0)
        client.get_world()
        world = client.load_world("Harbour")
        # What follows finds a world that stands still, so that runs begin alike.
        before = world.get_snapshot().frame
        time.sleep(0.3)  # gives a world that runs on time to show it
        assert world.get_snapshot().frame == before


def test_several_servers_run_side_by_side(scene: Scene) -> None:
    with live_server("--town", "Orchard") as other:
        client = carla.Client(other.host, other.port)
        client.set_timeout(60.0)
        elsewhere = client.get_world()
        assert elsewhere.get_map().name.endswith("Orchard")
        here = scene.world.get_snapshot().frame
        elsewhere.wait_for_tick(60.0)
        assert scene.world.get_snapshot().frame == here
        assert scene.tick() == here + 1
        del elsewhere, client
