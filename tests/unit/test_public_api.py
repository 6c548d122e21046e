"""Every room declares its public names; this file pins them."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import jaywalk

PACKAGE = Path(jaywalk.__file__).parent
ROOMS = sorted(
    path.parent.name
    for path in PACKAGE.glob("*/__init__.py")
    if path.parent.name not in ("cli", "gym")
)
PINNED = {
    "api": ["Run", "drive", "load"],
    "actors": [
        "Crowd",
        "EgoMoment",
        "HabitPeople",
        "Pilot",
        "Pilots",
        "PosedPeople",
        "ScenarioEvent",
        "Traffic",
    ],
    "agents": [
        "AGENTS",
        "Briefing",
        "Decision",
        "Driver",
        "DriverSpec",
        "Forecast",
        "Moment",
        "Plan",
        "driver",
        "driver_version",
        "make_driver",
    ],
    "checks": ["Finding", "check_drive", "check_reach", "judge"],
    "client": ["BoneLine", "pick_model", "place_on_route", "spawn_all", "spawn_first_that_fits"],
    "core": [
        "AttributeType",
        "BoolArray",
        "DataError",
        "Float32Array",
        "FloatArray",
        "InfrastructureError",
        "IntArray",
        "JaywalkError",
        "PrerequisiteError",
        "Registry",
        "RegistryError",
        "SemanticTag",
        "Spec",
        "UsageError",
        "derive_seed",
        "load_plugins",
        "stream",
    ],
    "datasets": [
        "BehaviourData",
        "BehaviourDatasetSpec",
        "Trajectories",
        "TrajectoryFormatSpec",
        "open_trajectories",
        "read_trajectories",
        "write_trajectories",
    ],
    "forecasting": [
        "PREDICTORS",
        "Predictor",
        "PredictorSpec",
        "Windows",
        "build_windows",
        "make_predictor",
        "predictor",
        "score",
    ],
    "geometry": [
        "CarlaPose",
        "ComfortZone",
        "Path",
        "box_distance",
        "box_points",
        "boxes_touch",
        "carla_to_right_handed",
        "carla_yaw_to_rad",
        "comfort_zone",
        "make_path",
        "project",
    ],
    "metrics": [
        "EpisodeScore",
        "METRICS",
        "MetricInput",
        "MetricResult",
        "MetricSpec",
        "NOT_APPLICABLE",
        "PROTOCOL_SPECS",
        "ProtocolSpec",
        "RunScore",
        "aggregate",
        "count",
        "metric",
        "score_episode",
        "score_run",
    ],
    "motion": [
        "Clip",
        "ClipBank",
        "Cue",
        "MotionLibrary",
        "RigClip",
        "default_library",
        "everyday_library",
        "library_digest",
        "open_library",
        "packaged_library",
    ],
    "record": [
        "Episode",
        "EpisodeTracks",
        "EpisodeWriter",
        "Record",
        "RunFolder",
        "SharedFiles",
        "find_records",
        "load_tracks",
        "open",
        "record_hash",
        "remove_unfinished",
    ],
    "rendering": ["RecordedWorld", "ReplayCamera"],
    "report": ["Comparison", "compare_runs", "write_film", "write_page", "write_still"],
    "rollouts": ["RolloutRequest", "read_cases", "run_rollouts"],
    "runner": [
        "AgentSpec",
        "EpisodePlan",
        "RunRequest",
        "RunSummary",
        "SimulatorSession",
        "run_request",
    ],
    "scenarios": [
        "Parameters",
        "Route",
        "RouteFile",
        "SCENARIOS",
        "SUITES",
        "Scenario",
        "ScenarioContext",
        "ScenarioSpec",
        "Shift",
        "StreetNeeds",
        "Suite",
        "SuiteRoute",
        "SuiteSpec",
        "load_suite",
        "make_scenario",
        "read_routes",
        "scenario",
        "write_routes",
    ],
    "server": ["ServerProcess", "free_port"],
    "stats": [
        "Estimate",
        "Interval",
        "bca",
        "clopper_pearson",
        "clustered_rate",
        "clustered_wilson",
        "compare_paired",
        "design_effect",
        "holm",
        "mcnemar",
        "poisson_rate",
        "ratio_of_sums",
        "rule_of_three",
        "wilson",
    ],
    "suites": ["BuildRequest", "build_suite"],
    "town": [
        "DenseRoute",
        "RoutePlanner",
        "Town",
        "available_towns",
        "check_opendrive",
        "load_town",
        "town_from_opendrive",
    ],
}


def test_the_package_itself_exports_the_python_api():
    assert sorted(jaywalk.__all__) == PINNED["api"]
    for name in PINNED["api"]:
        assert getattr(jaywalk, name) is getattr(import_module("jaywalk.api"), name)


def test_every_room_is_pinned():
    assert sorted(PINNED) == ROOMS


@pytest.mark.parametrize("room", ROOMS)
def test_public_names(room):
    module = import_module(f"jaywalk.{room}")
    assert sorted(module.__all__) == PINNED[room]
    for name in module.__all__:
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'absent'"):
        module.absent  # noqa: B018


@pytest.mark.parametrize("room", ROOMS)
def test_type_checkers_see_the_same_names(room):
    tree = ast.parse((PACKAGE / room / "__init__.py").read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    typed = {alias.asname for node in block.body for alias in node.names if alias.asname}
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert typed | (defined - {"__getattr__"}) == set(PINNED[room])
