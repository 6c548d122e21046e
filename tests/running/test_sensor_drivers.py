"""Drivers with sensors: readings come with every moment, and a driver can end its episode."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from short_plans import short_plan

from jaywalk.record import open as open_record
from jaywalk.runner._episode import run_episode
from jaywalk.runner.session import SimulatorSession

DRIVER = """
import carla
import json
from jaywalk.agents.base import Decision, Driver


class Seeing(Driver):
    name = "seeing"

    def setup(self, briefing):
        self.briefing, self.seen = briefing, []

    def sensors(self):
        return [
            {"type": "sensor.camera.rgb", "id": "front", "x": 1.3, "z": 1.7,
             "width": 64, "height": 48, "fov": 100},
            {"type": "sensor.lidar.ray_cast", "id": "top", "z": 2.0,
             "attributes": {"channels": 8, "points_per_second": 8000}},
        ]

    def decide(self, moment):
        from lamp import BRIGHT  # a module next to this file, imported late
        front, top = moment.readings["front"], moment.readings["top"]
        self.seen.append([list(front.shape), int(front[..., :3].max() > BRIGHT), len(top)])
        over = len(self.seen) == 5
        return Decision(
            control=carla.VehicleControl(throttle=0.5), end_reason="enough seen" if over else ""
        )

    def close(self):
        briefing = self.briefing
        briefing.output.mkdir(parents=True)
        facts = {"id": briefing.episode_id, "seed": briefing.episode_seed, "seen": self.seen}
        (briefing.output / "seen.json").write_text(json.dumps(facts))
"""


def write(folder: Path, text: str = DRIVER) -> str:
    folder.mkdir(exist_ok=True)
    (folder / "lamp.py").write_text("BRIGHT = 20\n")
    path = folder / "seeing.py"
    path.write_text(text)
    return str(path)


def test_readings_come_from_the_first_decision_on(world: SimulatorSession, tmp_path: Path) -> None:
    plan = short_plan(world, write(tmp_path / "agent"))
    outcome = run_episode(plan, world, tmp_path / "run")
    assert (outcome.end_reason, outcome.failure) == ("ended by the agent: enough seen", "")
    output = tmp_path / "run" / "agent" / plan.episode_id / "seen.json"
    facts = json.loads(output.read_text())
    assert facts["id"] == plan.episode_id
    assert [row[:2] for row in facts["seen"]] == [[[48, 64, 4], 1]] * 5
    assert all(count > 20 for _, _, count in facts["seen"])
    events = open_record(outcome.folder).events.collect()
    assert "enough seen" in events["name"].to_list()
    after = world.client.get_world()
    after.tick()
    kinds = {actor.type_id for actor in after.get_actors().filter("sensor.*")}
    assert kinds == {"sensor.other.collision"}  # the episode has one; nothing else stays mounted
    again = run_episode(plan, world, tmp_path / "again")
    assert again.record_hash == outcome.record_hash
    other = run_episode(replace(plan, seed=plan.seed + 1), world, tmp_path / "other")
    said = next((tmp_path / "other" / "agent").glob("*/seen.json"))
    assert json.loads(said.read_text())["seed"] != facts["seed"]
    assert not other.failure


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"type": "sensor.camera.rgb"}', "Sensor 1 has no text 'id'"),
        ('{"type": "sensor.camera.xray", "id": "x"}', "type 'sensor.camera.xray'"),
        (
            '{"type": "sensor.other.imu", "id": "x"}, {"type": "sensor.camera.rgb", "id": "x"}',
            "Two sensors have the id 'x'",
        ),
    ],
)
def test_wrong_sensors_are_refused(
    world: SimulatorSession, tmp_path: Path, line: str, expected: str
) -> None:
    start = DRIVER.index("        return [\n")
    end = DRIVER.index("        ]\n") + len("        ]\n")
    text = DRIVER[:start] + f"        return [{line}]\n" + DRIVER[end:]
    text = text.replace("briefing.output.mkdir", "return\n        briefing.output.mkdir")
    plan = short_plan(world, write(tmp_path / "agent", text))
    outcome = run_episode(plan, world, tmp_path / "run")
    assert outcome.end_reason == "agent sensors invalid"
    assert expected in outcome.failure
