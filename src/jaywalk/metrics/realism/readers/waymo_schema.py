"""Field numbers of the Waymo messages that are read here; all other fields are skipped."""

from __future__ import annotations

from types import MappingProxyType

from jaywalk.metrics.realism.readers.protobuf import Field, Schema

_OBJECT_TYPES = ("TYPE_UNSET", "TYPE_VEHICLE", "TYPE_PEDESTRIAN", "TYPE_CYCLIST", "TYPE_OTHER")
_LANE_TYPES = ("TYPE_UNDEFINED", "TYPE_FREEWAY", "TYPE_SURFACE_STREET", "TYPE_BIKE_LANE")
_SIGNAL_STATES = tuple(
    f"LANE_STATE_{name}"
    for name in (
        "UNKNOWN", "ARROW_STOP", "ARROW_CAUTION", "ARROW_GO", "STOP", "CAUTION", "GO",
        "FLASHING_STOP", "FLASHING_CAUTION",
    )
)  # fmt: skip

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
