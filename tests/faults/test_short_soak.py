"""A short soak; ``soak.py`` runs the long one."""

from __future__ import annotations

import pytest
from live_server import live_server
from soak import soak


@pytest.mark.slow
def test_memory_does_not_grow_with_spawning_and_destroying() -> None:
    with live_server("--town", "Harbour") as server:
        result = soak(server, 3000, 1000)
        assert server.alive
    print(result)
    assert result["growth_percent"] < 5.0
    assert result["actors_left_over"] == 0
    assert result["rss_end_mb"] < 600.0
