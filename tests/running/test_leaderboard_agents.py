"""A Leaderboard agent as it is: its plan, its sensors, its failures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from short_plans import short_plan

from jaywalk import record
from jaywalk.metrics.driving.criteria._ending import how_it_broke_off
from jaywalk.runner._episode import run_episode
from jaywalk.runner.session import SimulatorSession

_AGENT = """
import json, math, pathlib
import carla
import numpy as np
from agents.navigation.local_planner import RoadOption
from leaderboard.autoagents.autonomous_agent import AutonomousAgent, Track
from srunner.scenariomanager.carla_data_provider import CarlaDataProvider

def get_entry_point():
    return "Mine"

class Mine(AutonomousAgent):
    def setup(self, path_to_conf_file):
        self.track = Track.MAP
        self.seen = []
    def sensors(self):
        return [
            {"type": "sensor.camera.rgb", "id": "cam", "x": 0.7, "y": 0.0, "z": 1.6, "roll": 0.0,
             "pitch": 0.0, "yaw": 0.0, "width": 64, "height": 48, "fov": 100},
            {"type": "sensor.lidar.ray_cast", "id": "lidar", "x": 0.7, "y": 0.0, "z": 1.6,
             "roll": 0.0, "pitch": 0.0, "yaw": 0.0},
            {"type": "sensor.other.radar", "id": "radar", "x": 0.7, "y": 0.0, "z": 1.6, "roll": 0.0,
             "pitch": 0.0, "yaw": 0.0, "horizontal_fov": 30, "vertical_fov": 30},
            {"type": "sensor.other.gnss", "id": "gps", "x": 0.0, "y": 0.0, "z": 0.0},
            {"type": "sensor.other.imu", "id": "imu", "x": 0.0, "y": 0.0, "z": 0.0},
            {"type": "sensor.speedometer", "id": "speed", "reading_frequency": 20},
            {"type": "sensor.opendrive_map", "id": "map", "reading_frequency": 1},
        ]
    def run_step(self, input_data, timestamp):
        ego = CarlaDataProvider.get_hero_actor()
        if not self.seen:
            gps, plan = self._global_plan[0][0], self._global_plan_world_coord
            self.seen = {
                "shapes": {k: list(np.shape(v[1])) for k, v in input_data.items()},
                "gps": input_data["gps"][1].tolist(), "plan_gps": [gps["lat"], gps["lon"]],
                "options": [o.name for _, o in plan],
                "end": [plan[-1][0].location.x, plan[-1][0].location.y],
                "map": input_data["map"][1]["opendrive"][:5],
                "frames": len({v[0] for v in input_data.values()}),
                "timestamp": timestamp,
            }
            pathlib.Path(__file__ + ".json").write_text(json.dumps(self.seen))
        if timestamp > LIMIT:
            raise KeyError("lost")
        target = self._global_plan_world_coord[-1][0].location
        pose = CarlaDataProvider.get_transform(ego)
        turn = math.atan2(target.y - pose.location.y, target.x - pose.location.x)
        turn = (turn - math.radians(pose.rotation.yaw) + math.pi) % (2 * math.pi) - math.pi
        speed = input_data["speed"][1]["speed"]
        return carla.VehicleControl(throttle=0.6 if speed < 8 else 0.0, steer=max(-1, min(1, turn)))
    def jaywalk_plan(self):
        return [(p.location.x, p.location.y) for p, _ in self._global_plan_world_coord]
    def jaywalk_forecasts(self):
        people = CarlaDataProvider.get_world().get_actors().filter("walker.*")
        places = [one.get_location() for one in people]
        return [{"position_m": [p.x, p.y], "time_s": [1.0], "mean_m": [[[p.x, p.y]]]}
                for p in places if abs(p.x) + abs(p.y) > 0.0]
"""


def _run(
    world: SimulatorSession, folder: Path, limit: float, people: int = 0
) -> tuple[object, dict[str, object]]:
    path = folder / "agent.py"
    path.write_text(_AGENT.replace("LIMIT", str(limit)))
    outcome = run_episode(short_plan(world, str(path), people=people), world, folder / "run")
    return outcome, json.loads(Path(f"{path}.json").read_text())


def test_a_leaderboard_agent_drives_as_it_is(world: SimulatorSession, tmp_path: Path) -> None:
    outcome, seen = _run(world, tmp_path, 1e9)
    assert (outcome.end_reason, outcome.failure) == ("route completed", "")
    shapes = seen["shapes"]
    assert shapes["cam"] == [48, 64, 4]
    assert shapes["lidar"][1] == shapes["radar"][1] == 4
    assert shapes["lidar"][0] > 1000
    assert (shapes["gps"], shapes["imu"]) == ([3], [7])
    assert seen["map"] == "<?xml"
    assert seen["frames"] == 1
    assert abs(seen["gps"][0] - seen["plan_gps"][0]) < 5e-4
    assert abs(seen["gps"][1] - seen["plan_gps"][1]) < 5e-4
    assert set(seen["options"]) == {"LANEFOLLOW"}
    assert 0.4 < seen["timestamp"] < 0.6  # ten ticks for the sensors first


def test_its_exception_is_its_failure_and_its_forecasts_are_kept(
    world: SimulatorSession, tmp_path: Path
) -> None:
    outcome, _ = _run(world, tmp_path, 2.0, people=3)
    assert outcome.end_reason == "agent failed"
    assert "KeyError: 'lost'" in outcome.failure
    kept = record.open(outcome.folder)
    forecasts = kept.forecasts.collect()
    assert len(forecasts) > 20
    assert set(forecasts["source"]) == {"Mine"}
    assert kept.ego.collect()["path_x_m"].drop_nulls().len() > 10


def test_the_wrong_track_is_rejected(
    world: SimulatorSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHALLENGE_TRACK_CODENAME", "SENSORS")
    path = tmp_path / "agent.py"
    path.write_text(_AGENT)
    outcome = run_episode(short_plan(world, str(path)), world, tmp_path / "run")
    assert outcome.end_reason == "agent sensors invalid"
    assert "You are submitting to the wrong track [Track.SENSORS]!" in outcome.failure
    episode = record.open(outcome.folder).episode
    assert how_it_broke_off(episode) == "Agent's sensors were invalid"
