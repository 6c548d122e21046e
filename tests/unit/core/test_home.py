"""Processes without ``HOME``: the wheel would crash on import."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from live_server import environment

from jaywalk.core import process as home


def test_our_programs_get_a_home_before_the_wheel_is_imported() -> None:
    bare = {key: value for key, value in environment().items() if key != "HOME"}
    code = "import jaywalk, carla, os; print(os.environ['HOME'])"
    done = subprocess.run(
        [sys.executable, "-c", code], env=bare, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).is_dir()


def test_a_home_that_is_set_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/nowhere")
    home.ensure_home()
    assert os.environ["HOME"] == "/nowhere"


@pytest.mark.parametrize("known", ["/nowhere/at/all", "~"])
def test_users_without_a_folder_get_a_private_one(
    known: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os.path, "expanduser", lambda path: known)
    monkeypatch.setattr(home.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.delenv("HOME")
    home.ensure_home()
    folder = Path(os.environ["HOME"])
    assert folder.parent == tmp_path
    assert folder.stat().st_mode & 0o077 == 0


def test_a_folder_of_somebody_else_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "target").mkdir()
    (tmp_path / f"jaywalk-home-{os.getuid()}").symlink_to(tmp_path / "target")
    monkeypatch.setattr(os.path, "expanduser", lambda path: "~")
    monkeypatch.setattr(home.tempfile, "gettempdir", lambda: str(tmp_path))
    assert home._own_home().resolve() != tmp_path / "target"
