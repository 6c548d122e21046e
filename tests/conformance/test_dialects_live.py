"""The 0.9.15 wheel against the same server, alone and beside a 0.9.16 client."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from child import other_python, run_program, wait_for
from live_server import live_server

pytestmark = [pytest.mark.wheel15, pytest.mark.slow]
_IMPORT = "import carla; carla.Client"


@pytest.fixture(scope="session")
def wheel15() -> str:
    """A Python that has the 0.9.15 wheel."""
    python = other_python("carla-0.9.15", ("3.10", "3.8"), ("carla==0.9.15",), _IMPORT)
    if python is None:
        pytest.skip("no Python 3.8 or 3.10 into which pip can install carla==0.9.15")
    return python


def _environment() -> dict[str, str]:
    # The other interpreter must not see this one's packages.
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def _check(result: dict[str, Any], version: str) -> None:
    assert result["client"] == result["server"] == version
    assert result["extent"] == [2.446, 0.918, 0.74]
    assert result["role"] == "hero"
    assert result["color_ok"]
    for sensor in ("sensor.camera.rgb", "sensor.other.imu", "sensor.other.gnss"):
        assert result[sensor], sensor
    assert result["gnss_error"] < 1e-6
    assert result["speed"] > 3.0
    assert result["hit"] == "vehicle.audi.tt"
    assert result["hit_wheels"] == "4"
    assert result["batch"] == [False] * 4
    assert result["bones"] >= 60
    assert result["lights"] >= 20


def test_both_wheels_drive_alike(wheel15: str) -> None:
    with live_server("--town", "Harbour") as server:
        new = run_program("dialect_run", server.port, "drive", timeout_s=300, python=sys.executable)
        old = run_program(
            "dialect_run", server.port, "drive", timeout_s=300, python=wheel15, env=_environment()
        )
        loaded = run_program(
            "dialect_run", server.port, "load", timeout_s=300, python=wheel15, env=_environment()
        )
        assert server.alive
    _check(new, "0.9.16")
    _check(old, "0.9.15")
    assert old["newer_sensors"] == []
    assert new["newer_sensors"]
    assert old["speed"] == pytest.approx(new["speed"], abs=0.01)
    # The two wheels project differently; each sensor agreed with its own wheel's map above.
    assert old["latitude"] == pytest.approx(old["map_latitude"], abs=1e-6)
    print({key: (old[key], new[key]) for key in ("latitude", "map_latitude", "location_y")})
    assert loaded["Orchard"].endswith("Orchard")
    assert loaded["Harbour"].endswith("Harbour")


def test_both_wheels_share_one_world(wheel15: str) -> None:
    with live_server("--town", "Harbour") as server, ThreadPoolExecutor(2) as pool:
        idle = server.open_files()
        for driver, watcher in ((wheel15, sys.executable), (sys.executable, wheel15)):
            wait_for(lambda: server.open_files() <= idle, "the clients before to be gone")
            looking = pool.submit(
                run_program,
                "dialect_run",
                server.port,
                "watch",
                timeout_s=300,
                python=watcher,
                env=_environment(),
            )
            # It has its connection and its stream, so it looks on from the beginning.
            wait_for(lambda: server.open_files() >= idle + 2, "the one who looks on")
            driven = pool.submit(
                run_program,
                "dialect_run",
                server.port,
                "drive",
                timeout_s=300,
                python=driver,
                env=_environment(),
            )
            _check(driven.result(), "0.9.15" if driver == wheel15 else "0.9.16")
            seen = looking.result()
            assert seen["monotonic"]
            assert seen["saw_hero"] == [2.446, 0.918, 0.74]
            assert seen["client"] != driven.result()["client"]
        assert server.alive
