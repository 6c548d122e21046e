"""How foreign agents are made, what they find, and what is looked for on disk."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from jaywalk.agents.adapters._leaderboard import LeaderboardManner, _is_there, manner_of
from jaywalk.agents.adapters._leaderboard_environment import (
    SpeedTables,
    give_old_numpy,
    restore_numpy_names,
)
from jaywalk.agents.adapters.sensor_rig import (
    LOCAL_RADIUS_M,
    SensorError,
    check_sensors,
    check_track,
)
from jaywalk.agents.load import make_driver
from jaywalk.town.town import load_town


class _Hosted:
    def __init__(self, carla_host: str, carla_port: int, debug: bool = False) -> None: ...


class _Local:
    def __init__(self, path_to_conf_file: str, route_index: Any = None) -> None: ...


class _Old:
    def __init__(self, path_to_conf_file: str) -> None: ...


class _HandsOn(_Local):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)


@pytest.mark.parametrize(
    ("kind", "manner"),
    [
        (_Hosted, LeaderboardManner.HOSTED),
        (_Local, LeaderboardManner.LOCAL),
        (_Old, LeaderboardManner.CONFIGURED),
        (_HandsOn, LeaderboardManner.LOCAL),
    ],
)
def test_the_constructor_tells_the_evaluator(kind: type, manner: LeaderboardManner) -> None:
    assert manner_of(kind) is manner


def test_a_folder_with_a_packages_name_is_no_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "leaderboard" / "autoagents" / "autonomous_agent.py"
    module.parent.mkdir(parents=True)
    module.write_text("")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert not _is_there("leaderboard.autoagents.autonomous_agent")
    (tmp_path / "leaderboard" / "__init__.py").write_text("")
    assert _is_there("leaderboard.autoagents.autonomous_agent")
    assert not _is_there("leaderboard.autoagents.other")
    assert "leaderboard" not in sys.modules


def test_only_the_agents_modules_get_the_numpy_of_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module: Any = ModuleType("team_module")
    module.__file__ = str(tmp_path / "team_module.py")
    module.np = np
    monkeypatch.setitem(sys.modules, "team_module", module)
    give_old_numpy(tmp_path)
    ragged = module.np.array([1.0, np.array([2.0, 3.0])])
    assert ragged.dtype == object
    assert module.np.array([[1, 2]]).shape == (1, 2)
    assert module.np.pi == np.pi
    with pytest.raises(ValueError, match="inhomogeneous"):
        np.array([1.0, np.array([2.0, 3.0])])


def test_names_that_numpy_dropped_are_back() -> None:
    restore_numpy_names()
    assert vars(np)["float"] is float
    assert np.bool is np.bool_  # what numpy has is left alone


def test_a_table_of_limits_is_there_while_the_agent_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCENARIO_RUNNER_ROOT", raising=False)
    town_map = load_town("Ridge").carla_map
    tables = SpeedTables()
    tables.offer(town_map)
    folder = Path(os.environ["SCENARIO_RUNNER_ROOT"])
    name = town_map.name.rsplit("/", 1)[-1]
    table = np.load(folder / "speed_limits" / f"{name}_speed_limits.npy", allow_pickle=True).item()
    assert table["locations"].shape == (len(table["speed_limits"]), 3)
    assert set(np.round(table["speed_limits"]).astype(int)) <= set(range(20, 131))
    tables.withdraw()
    assert not folder.exists()
    assert "SCENARIO_RUNNER_ROOT" not in os.environ


def test_a_local_evaluator_lets_sensors_be_far_away() -> None:
    far = [{"type": "sensor.camera.rgb", "id": "above", "x": 0.0, "y": 0.0, "z": 50.0}]
    check_sensors(far, "MAP", LOCAL_RADIUS_M)
    with pytest.raises(SensorError, match=r"Max allowed radius is 3.0m"):
        check_sensors(far, "MAP")


def test_the_wrong_track_is_told_in_the_leaderboards_words() -> None:
    with pytest.raises(SensorError, match=r"You are submitting to the wrong track \[Track.MAP\]!"):
        check_track("SENSORS", "MAP")


def test_the_imports_of_public_agents_work(tmp_path: Path) -> None:
    path = tmp_path / "imports.py"
    path.write_text(
        "from agents.navigation.basic_agent import BasicAgent\n"
        "from agents.navigation.global_route_planner import GlobalRoutePlanner\n"
        "from agents.navigation.local_planner import LocalPlanner, RoadOption\n"
        "from agents.navigation.controller import VehiclePIDController\n"
        "from agents.tools.misc import (compute_distance, get_speed, is_within_distance,\n"
        "    get_trafficlight_trigger_location)\n"
        "from leaderboard.autoagents import autonomous_agent, autonomous_agent_local\n"
        "from leaderboard.autoagents.agent_wrapper import (AgentError,\n"
        "    validate_sensor_configuration)\n"
        "from leaderboard.autoagents.agent_wrapper_local import AgentError as Same\n"
        "from leaderboard.envs.sensor_interface import SensorConfigurationInvalid\n"
        "from leaderboard.envs.sensor_interface import SensorInterface\n"
        "from leaderboard.utils.route_manipulation import (_get_latlon_ref, downsample_route,\n"
        "    interpolate_trajectory)\n"
        "from srunner.scenariomanager.carla_data_provider import CarlaDataProvider\n"
        "from srunner.scenariomanager.timer import GameTime\n"
        "def get_entry_point():\n"
        "    return 'Mine'\n"
        "class Mine(autonomous_agent_local.AutonomousAgent):\n"
        "    def run_step(self, *_):\n"
        "        return None\n"
        "CarlaDataProvider.active_scenarios, AgentError, Same\n"
        "try:\n"
        "    validate_sensor_configuration([], autonomous_agent.Track.MAP, 'SENSORS')\n"
        "except SensorConfigurationInvalid as problem:\n"
        "    told = str(problem)\n"
    )
    driver = make_driver(str(path))
    assert driver.name == "leaderboard-agent"
    modules = [one for name, one in sys.modules.items() if name.startswith("jaywalk_user_imports")]
    assert modules[0].told == "You are submitting to the wrong track [Track.SENSORS]!"
