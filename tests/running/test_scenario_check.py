"""``jaywalk scenario check`` drives the expert and a careless driver."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from jaywalk.cli.main import app

_LANE = ("--town", "Harbour", "--from", "8.0,-114.3", "--to", "190.0,-127.1")


def _checked(folder: Path, *settings: str) -> dict[str, Any]:
    file = folder / "barrels.toml"
    words = ["new", "barrels", "--type", "CustomObstacle", *_LANE, "--out", str(file)]
    for setting in settings:
        words += ["--set", setting]
    made = CliRunner().invoke(app, ["scenario", *words])
    assert made.exit_code == 0, made.output
    out = str(folder / "run")
    done = CliRunner().invoke(app, ["scenario", "check", str(file), "--json", "--out", out])
    assert done.exit_code in (0, 1), done.output
    result: dict[str, Any] = json.loads(done.stdout)
    assert Path(result["danger"]["run"]) == folder / "run-blind"
    return result


def test_a_blocked_lane_is_dangerous(tmp_path: Path) -> None:
    danger = _checked(tmp_path)["danger"]
    assert (danger["level"], danger["hit"], danger["affected"]) == ("collision", "static", True)
    assert 3.0 < danger["impact_speed_mps"] < 14.0
    assert danger["min_ttc_s"] == 0.0
    assert [one["level"] for one in danger["episodes"]] == ["collision"]


@pytest.mark.slow
def test_objects_beside_the_road_are_harmless(tmp_path: Path) -> None:
    aside = [f"objects.{number}.y=9.0" for number in (1, 2, 3)]
    result = _checked(tmp_path, *aside)
    assert result["solvable"] is True
    assert (result["danger"]["level"], result["danger"]["affected"]) == ("none", False)
    assert "a careless driver (blind) is not affected" in result["danger"]["words"]
