"""What keeps a server from starting is said in one line, with exit code 3."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import pytest
from live_server import environment, serve_command


def _fail(*options: str) -> str:
    done = subprocess.run(
        serve_command(*options),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env=environment(),
    )
    assert done.returncode == 3, (done.returncode, done.stderr)
    assert done.stdout == ""
    [line] = done.stderr.strip().splitlines()
    assert line.startswith("jaywalk: ")
    return line


def test_busy_port() -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        port = sock.getsockname()[1]
        assert str(port) in _fail("--port", str(port))


def test_unknown_town() -> None:
    line = _fail("--port", "0", "--town", "Atlantis")
    assert "Atlantis" in line
    assert "Harbour" in line  # says what there is


@pytest.mark.parametrize(
    "text",
    [
        "",
        "this is not XML",
        "<OpenDRIVE><road></OpenDRIVE>",
        "<html><body/></html>",
        "<OpenDRIVE></OpenDRIVE>",
        '<!DOCTYPE a [<!ENTITY b "c">]><OpenDRIVE>&b;</OpenDRIVE>',
        '<OpenDRIVE><header/><road id="1" length="abc" junction="-1"/></OpenDRIVE>',
    ],
)
def test_broken_opendrive_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broken.xodr"
    path.write_text(text)
    assert "broken" in _fail("--port", "0", "--xodr", str(path))


def test_missing_opendrive_file(tmp_path: Path) -> None:
    assert "nowhere.xodr" in _fail("--port", "0", "--xodr", str(tmp_path / "nowhere.xodr"))


def test_binary_opendrive_file(tmp_path: Path) -> None:
    path = tmp_path / "noise.xodr"
    path.write_bytes(bytes(range(256)) * 40)
    assert "noise" in _fail("--port", "0", "--xodr", str(path))
