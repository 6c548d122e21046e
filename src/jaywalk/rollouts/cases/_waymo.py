"""Reader of Waymo Open Motion scenarios: TFRecord files, single messages, or their JSON form.

The tables list the field numbers that are read; all other fields are skipped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from jaywalk.core.errors import DataError
from jaywalk.core.files import DATA_BYTES, open_file, read_bytes, read_text
from jaywalk.metrics.realism.scene import (
    CURRENT_STEP,
    N_STEPS,
    LoggedScene,
    Polylines,
    SceneLanes,
    SceneSignals,
)
from jaywalk.rollouts.cases._protobuf import (
    Field,
    Schema,
    decode,
    from_json,
    looks_like_tfrecord,
    read_tfrecord,
)

_OBJECT_TYPES = ("TYPE_UNSET", "TYPE_VEHICLE", "TYPE_PEDESTRIAN", "TYPE_CYCLIST", "TYPE_OTHER")
_LANE_TYPES = ("TYPE_UNDEFINED", "TYPE_FREEWAY", "TYPE_SURFACE_STREET", "TYPE_BIKE_LANE")
_SIGNAL_STATES = tuple(
    f"LANE_STATE_{name}"
    for name in (
        "UNKNOWN",
        "ARROW_STOP",
        "ARROW_CAUTION",
        "ARROW_GO",
        "STOP",
        "CAUTION",
        "GO",
        "FLASHING_STOP",
        "FLASHING_CAUTION",
    )
)

WAYMO: Schema = MappingProxyType(
    {
        "Scenario": {
            2: Field("tracks", "Track", repeated=True),
            5: Field("scenario_id", "string"),
            6: Field("sdc_track_index", "int"),
            7: Field("dynamic_map_states", "DynamicMapState", repeated=True),
            8: Field("map_features", "MapFeature", repeated=True),
            10: Field("current_time_index", "int"),
            11: Field("tracks_to_predict", "RequiredPrediction", repeated=True),
        },
        "Track": {
            1: Field("id", "int"),
            2: Field("object_type", "int", enum=_OBJECT_TYPES),
            3: Field("states", "ObjectState", repeated=True),
        },
        "ObjectState": {
            2: Field("center_x", "double"),
            3: Field("center_y", "double"),
            4: Field("center_z", "double"),
            5: Field("length", "float"),
            6: Field("width", "float"),
            7: Field("height", "float"),
            8: Field("heading", "float"),
            11: Field("valid", "bool"),
        },
        "DynamicMapState": {1: Field("lane_states", "LaneState", repeated=True)},
        "LaneState": {
            1: Field("lane", "int"),
            2: Field("state", "int", enum=_SIGNAL_STATES),
            3: Field("stop_point", "MapPoint"),
        },
        "RequiredPrediction": {1: Field("track_index", "int")},
        "MapFeature": {
            1: Field("id", "int"),
            3: Field("lane", "LaneCenter"),
            5: Field("road_edge", "RoadEdge"),
        },
        "LaneCenter": {
            2: Field("type", "int", enum=_LANE_TYPES),
            8: Field("polyline", "MapPoint", repeated=True),
        },
        "RoadEdge": {2: Field("polyline", "MapPoint", repeated=True)},
        "MapPoint": {
            1: Field("x", "double"),
            2: Field("y", "double"),
            3: Field("z", "double"),
        },
        "Submission": {1: Field("scenario_rollouts", "ScenarioRollouts", repeated=True)},
        "ScenarioRollouts": {
            1: Field("scenario_id", "string"),
            2: Field("joint_scenes", "JointScene", repeated=True),
        },
        "JointScene": {1: Field("simulated_trajectories", "SimulatedTrajectory", repeated=True)},
        "SimulatedTrajectory": {
            2: Field("center_x", "float", repeated=True),
            3: Field("center_y", "float", repeated=True),
            4: Field("center_z", "float", repeated=True),
            5: Field("heading", "float", repeated=True),
            6: Field("object_id", "int"),
            7: Field("width", "float", repeated=True),
            8: Field("length", "float", repeated=True),
            9: Field("height", "float", repeated=True),
        },
    }
)


_STATE_FIELDS = {
    "x_m": "center_x",
    "y_m": "center_y",
    "z_m": "center_z",
    "heading_rad": "heading",
    "length_m": "length",
    "width_m": "width",
    "height_m": "height",
}


def _point(message: dict[str, Any] | None) -> list[float]:
    return [message["x"], message["y"], message["z"]] if message else [0.0, 0.0, 0.0]


def _signals(scenario: dict[str, Any]) -> SceneSignals:
    rows = [
        (step, lane["lane"], lane["state"], _point(lane["stop_point"]))
        for step, states in enumerate(scenario["dynamic_map_states"][:N_STEPS])
        for lane in states["lane_states"]
    ]
    return SceneSignals(
        n_steps=len(scenario["dynamic_map_states"]),
        step=np.array([row[0] for row in rows], dtype=np.int64),
        lane_id=np.array([row[1] for row in rows], dtype=np.int64),
        state=np.array([row[2] for row in rows], dtype=np.int64),
        stop_point_m=np.array([row[3] for row in rows], dtype=np.float32).reshape(-1, 3),
    )


def _lines(messages: list[dict[str, Any]]) -> Polylines:
    return Polylines.of([[_point(point) for point in m["polyline"]] for m in messages])


def _check(scenario: dict[str, Any], name: str) -> None:
    steps = {len(track["states"]) for track in scenario["tracks"]}
    if steps != {N_STEPS}:
        raise DataError(
            f"Scenario '{name}' has tracks of {sorted(steps)} steps, expected {N_STEPS}: only "
            "scenarios with their future (training or validation) can be scored."
        )
    if scenario["current_time_index"] != CURRENT_STEP:
        raise DataError(
            f"Scenario '{name}': current_time_index is {scenario['current_time_index']}, "
            f"expected {CURRENT_STEP}."
        )


def scene_of(scenario: dict[str, Any]) -> LoggedScene:
    """Turn a decoded Scenario message into a scene."""
    name = scenario["scenario_id"] or "scenario"
    _check(scenario, name)
    tracks = scenario["tracks"]
    arrays = {
        ours: np.array(
            [[state[theirs] for state in track["states"]] for track in tracks], dtype=np.float32
        )
        for ours, theirs in _STATE_FIELDS.items()
    }
    lanes = [f for f in scenario["map_features"] if f["lane"]]
    return LoggedScene(
        name=name,
        object_id=np.array([track["id"] for track in tracks], dtype=np.int64),
        object_type=np.array([track["object_type"] for track in tracks], dtype=np.int64),
        valid=np.array([[s["valid"] for s in track["states"]] for track in tracks], dtype=np.bool_),
        sdc_index=scenario["sdc_track_index"],
        predict_index=np.array(
            [p["track_index"] for p in scenario["tracks_to_predict"]], dtype=np.int64
        ),
        road_edges=_lines([f["road_edge"] for f in scenario["map_features"] if f["road_edge"]]),
        lanes=SceneLanes(
            lines=_lines([f["lane"] for f in lanes]),
            lane_id=np.array([f["id"] for f in lanes], dtype=np.int64),
            lane_type=np.array([f["lane"]["type"] for f in lanes], dtype=np.int64),
        ),
        signals=_signals(scenario),
        **arrays,
    )


def _messages(path: Path) -> Iterator[dict[str, Any]]:
    if path.suffix == ".json":
        value = json.loads(read_text(path, "a scenario (.json)", DATA_BYTES))
        for item in value if isinstance(value, list) else [value]:
            yield from_json(WAYMO, "Scenario", item)
        return
    with open_file(path, "a scenario or a TFRecord file", 2**40) as file:
        head = file.read(12)
    whole = not looks_like_tfrecord(head)
    records = iter([read_bytes(path, "a scenario", DATA_BYTES)]) if whole else read_tfrecord(path)
    for record in records:
        yield decode(WAYMO, "Scenario", memoryview(record))


def read_waymo_scenes(path: Path) -> Iterator[LoggedScene]:
    """Yield the scenes of a TFRecord file, a file with one message, or a JSON file."""
    try:
        for message in _messages(path):
            yield scene_of(message)
    except json.JSONDecodeError as problem:
        raise DataError(f"'{path}' is not JSON: {problem}.") from problem
    except OSError as problem:
        raise DataError(f"Cannot read '{path}': {problem.strerror}.") from problem
    except DataError as problem:
        if str(path) in str(problem):
            raise
        raise DataError(f"'{path}' is not a readable Waymo scenario: {problem}") from problem
