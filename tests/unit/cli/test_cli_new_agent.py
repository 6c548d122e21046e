"""``jaywalk new agent``: what it writes works as it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import jaywalk_agent
from jaywalk.cli.main import app
from jaywalk.core.errors import UsageError


def _new(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(app, ["new", "agent", *words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("words", [("my_agent",), ("far-one", "--remote")])
def test_the_written_test_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    output = _new(tmp_path, monkeypatch, *words)
    name = words[0]
    assert f"wrote {name}.py and test_{name}.py" in output
    lines = (tmp_path / f"{name}.py").read_text().splitlines()
    assert len([line for line in lines if line.strip()]) < 40
    environment = {**os.environ, "PYTHONPATH": str(Path(jaywalk_agent.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"test_{name}.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "2 passed" in done.stdout, done.stdout + done.stderr


def test_nothing_is_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "test_mine.py").write_text("keep")
    with pytest.raises(UsageError, match=r"test_mine\.py exists already"):
        _new(tmp_path, monkeypatch, "mine")
    assert (tmp_path / "test_mine.py").read_text() == "keep"
    assert not (tmp_path / "mine.py").exists()


@pytest.mark.parametrize("name", ["../up", "a/b", "1st", "", "a b"])
def test_names_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    with pytest.raises(UsageError, match="not a valid agent name"):
        _new(tmp_path, monkeypatch, name)
