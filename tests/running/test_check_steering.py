"""``jaywalk check`` and agents that know only GNSS: correct ones pass, mirrored ones are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaywalk.checks import drive as drive_room
from jaywalk.checks.drive import check_drive
from jaywalk.checks.rules import judge
from jaywalk.runner.plan import AgentSpec
from jaywalk.runner.session import SimulatorSession

_EXAMPLE = Path(__file__).parents[2] / "examples" / "tutorials" / "gnss_agent.py"
# Aims straight at the next point of the plan that is not reached yet; for a dense plan, ahead.
_AIMING = """
import math
import carla
from leaderboard.autoagents.autonomous_agent import AutonomousAgent, Track

def get_entry_point():
    return "Aiming"

class Aiming(AutonomousAgent):
    def setup(self, path_to_conf_file):
        self.track, self.done = Track.SENSORS, 0
    def sensors(self):
        place = {"x": 0.0, "y": 0.0, "z": 0.0, "roll": 0.0, "pitch": 0.0, "yaw": 0.0}
        return [{"type": "sensor.other.gnss", "id": "gps", **place},
                {"type": "sensor.other.imu", "id": "imu", **place},
                {"type": "sensor.speedometer", "id": "speed"}]
    def run_step(self, data, timestamp):
        plan = self._plan_gps_HACK if DENSE else self._global_plan
        start, scale = plan[0][0], math.radians(1.0) * 6378137.0
        def metres(lat, lon):
            east = (lon - start["lon"]) * scale * math.cos(math.radians(start["lat"]))
            return east, (start["lat"] - lat) * scale
        x, y = metres(*data["gps"][1][:2])
        points = [metres(p["lat"], p["lon"]) for p, _ in plan]
        while self.done < len(points) - 1 and math.dist(points[self.done], (x, y)) < 6.0:
            self.done += 1
        to_x, to_y = points[self.done]
        turn = math.atan2(to_y - y, to_x - x) - (data["imu"][1][-1] - math.pi / 2)
        turn = (turn + math.pi) % (2 * math.pi) - math.pi
        slower = 6.0 - data["speed"][1]["speed"]
        return carla.VehicleControl(
            throttle=min(0.7, max(0.0, 0.4 * slower)), brake=min(1.0, max(0.0, -0.4 * slower)),
            steer=min(1.0, max(-1.0, turn)))
"""
_AGENTS = {
    "sparse": _AIMING.replace("DENSE", "False"),
    "dense": _AIMING.replace("DENSE", "True"),
    "example": _EXAMPLE.read_text(),
}
_STEER = "steer=min(1.0, max(-1.0, turn))"
_COMPASS = '(data["imu"][1][-1] - math.pi / 2)'
# Mistake -> text in the agent and its replacement.
_MIRRORED = {
    "steer": (_STEER, _STEER.replace("turn", "-turn")),
    "compass": (_COMPASS, '(data["imu"][1][-1])'),
    "north": ('(start["lat"] - lat)', '(lat - start["lat"])'),
}
_STAGES = [
    ("Harbour", 0),
    pytest.param("Harbour", 1, marks=pytest.mark.slow),
    ("Orchard", 0),
    pytest.param("Ridge", 0, marks=pytest.mark.slow),
]


@pytest.fixture(autouse=True)
def _no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drive_room, "DRIVE_WALL_S", 1e6)


def _findings(
    world: SimulatorSession, folder: Path, text: str, town: str, number: int
) -> dict[str, tuple[str, str]]:
    path = folder / "agent.py"
    path.write_text(text)
    drive = check_drive(AgentSpec(name=str(path)), world, town, 1, number=number)
    assert not drive.failed_in, drive.failure
    assert len(drive.samples) > 30
    return {one.check: (one.state, one.detail) for one in judge(drive, None, 1e6)}


@pytest.mark.parametrize("kind", list(_AGENTS))
@pytest.mark.parametrize(("town", "number"), _STAGES)
def test_correct_agents_pass(
    world: SimulatorSession, tmp_path: Path, kind: str, town: str, number: int
) -> None:
    findings = _findings(world, tmp_path, _AGENTS[kind], town, number)
    assert findings["steering"][0] == "pass", findings
    assert findings["route"][0] in ("pass", "warn"), findings
    assert "fail" not in {state for state, _ in findings.values()}, findings


@pytest.mark.parametrize("kind", list(_AGENTS))
@pytest.mark.parametrize(("town", "number"), _STAGES)
def test_mirrored_steering_fails_and_is_named(
    world: SimulatorSession, tmp_path: Path, kind: str, town: str, number: int
) -> None:
    text, changed = _MIRRORED["steer"]
    findings = _findings(world, tmp_path, _AGENTS[kind].replace(text, changed), town, number)
    state, detail = findings["steering"]
    assert state == "fail"
    assert detail.startswith("mirrored: it steers left where the route goes right")


@pytest.mark.slow
@pytest.mark.parametrize("mistake", ["compass", "north"])
@pytest.mark.parametrize("kind", ["sparse", "dense"])
@pytest.mark.parametrize(("town", "number"), _STAGES)
def test_turned_compass_and_mirrored_positions_do_not_pass(
    world: SimulatorSession, tmp_path: Path, kind: str, mistake: str, town: str, number: int
) -> None:
    text, changed = _MIRRORED[mistake]
    findings = _findings(world, tmp_path, _AGENTS[kind].replace(text, changed), town, number)
    assert "fail" in {findings["steering"][0], findings["route"][0]}, findings
