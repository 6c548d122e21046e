"""What programs of others need: CARLA's launcher, a slower clock, and a load under autopilot."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from child import run_program
from live_server import START_TIMEOUT_S, environment, live_server, serve_command
from rpc_socket import RpcSocket

from jaywalk.server.process import free_port


def _launcher(folder: Path, *options: str) -> Path:
    command = serve_command("--as-carla", str(folder), *options)
    subprocess.run(command, env=environment(), check=True, capture_output=True)
    return folder / "CarlaUE4.sh"


def _connect(port: int, process: subprocess.Popen[str]) -> RpcSocket:
    until = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError):
            return RpcSocket(port)
        time.sleep(0.2)
    raise AssertionError(f"nobody listens on {port}: {process.communicate()[1]}")


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_an_evaluator_starts_us_as_it_starts_carla(tmp_path: Path, ending: signal.Signals) -> None:
    script = _launcher(tmp_path / "carla root", "--town", "Orchard", "--wet-grip")
    port = free_port()
    # As Bench2Drive does: through a shell, in a session of its own, from somewhere else; and with
    # Python settings that are not for us.
    process = subprocess.Popen(
        f"'{script}' -RenderOffScreen -nosound -carla-rpc-port={port} -graphicsadapter=0 -Odd=1",
        shell=True,
        start_new_session=True,
        cwd="/",
        text=True,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": "/nowhere", "PYTHONHOME": "/nowhere"},
    )
    try:
        with _connect(port, process) as rpc:
            assert rpc.call("get_map_info")[0].endswith("Orchard")
            assert rpc.call("jaywalk_wet_grip") is True
    finally:
        os.killpg(process.pid, ending)
    said = process.communicate(timeout=60.0)[1]
    assert "ignored -Odd=1" in said
    assert "ignored -nosound" not in said
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), 2.0)


def test_a_carla_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "CarlaUE4.sh").write_text("#!/bin/sh\n./CarlaUE4/Binaries/Linux/CarlaUE4\n")
    command = serve_command("--as-carla", str(tmp_path))
    done = subprocess.run(
        command, env=environment(), check=False, capture_output=True, text=True, timeout=120.0
    )
    assert done.returncode == 2
    assert "was not written by Jaywalk" in done.stderr
    assert "Binaries" in (tmp_path / "CarlaUE4.sh").read_text()


def _tick(rpc: RpcSocket, count: int) -> float:
    """Seconds that so many ticks take."""
    settings = rpc.call("get_episode_settings")
    settings[0], settings[2] = True, [True, 0.05]
    rpc.call("set_episode_settings", settings)
    began = time.monotonic()
    frames = [rpc.call("tick_cue") for _ in range(count)]
    assert frames == list(range(frames[0], frames[0] + count))
    return time.monotonic() - began


def test_the_speed_of_synchronous_ticks_can_be_capped() -> None:
    with live_server("--max-speed-factor", "2.0") as server, RpcSocket(server.port) as rpc:
        # One second of simulated time; the first tick need not wait. Slower is always allowed.
        assert _tick(rpc, 21) >= 0.5
        with RpcSocket(server.port) as other:  # nobody else waits
            wanted = rpc.send("tick_cue")
            assert other.call("version")
            assert rpc.receive()[1] == wanted


def test_a_load_does_not_crash_a_client_with_an_asynchronous_traffic_manager() -> None:
    with live_server("--town", "Harbour") as server:
        found = run_program("autopilot_load", server.port, free_port(), 2, timeout_s=240.0)
    assert found["loads"] == 2
