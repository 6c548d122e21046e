"""All features of a scene's log and of its rollouts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jaywalk.metrics.realism import kinematics, road_edge
from jaywalk.metrics.realism.challenge import ChallengeConfig
from jaywalk.metrics.realism.displacement import displacement
from jaywalk.metrics.realism.object_distance import distance_to_nearest_object
from jaywalk.metrics.realism.red_light import (
    SignalledLanes,
    red_light_violations,
    signalled_lanes,
)
from jaywalk.metrics.realism.road_edge import EdgeSegments, distance_to_road_edge, edge_segments
from jaywalk.metrics.realism.scene import (
    CURRENT_STEP,
    N_HISTORY,
    VEHICLE,
    BoolArray,
    Case,
    FloatArray,
    IntArray,
)
from jaywalk.metrics.realism.time_to_collision import time_to_collision
from jaywalk.metrics.realism.trajectories import (
    Trajectories,
    logged_trajectories,
    simulated_trajectories,
)

PUFFER_CYCLE_TOLERANCE_M = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """Series and events per step, each [rollout, evaluated object, step]."""

    series: Mapping[str, FloatArray]
    events: Mapping[str, BoolArray]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFeatures:
    """Features of the log (one rollout) and of the rollouts, and what the masks need."""

    log: Features
    sim: Features
    log_valid: BoolArray
    is_vehicle: BoolArray
    displacement_m: NDArray[np.float64]
    """Mean displacement to the log, [rollout, evaluated object]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the features of a scene need to know about its map, prepared once."""

    edges: EdgeSegments | None
    lanes: SignalledLanes | None
    rows: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Which steps are scored, whether heights count and from where differences may reach."""

    first_step: int
    from_step: int
    in_space: bool


OFFICIAL = Window(first_step=N_HISTORY, from_step=0, in_space=True)
PUFFER = Window(first_step=CURRENT_STEP, from_step=CURRENT_STEP, in_space=False)


def track_features(tracks: Trajectories, around: Surroundings, window: Window) -> Features:
    """Features of some trajectories of all simulated objects."""
    rows, first, origin = around.rows, window.first_step, window.from_step
    x, y, z, heading = (
        values[:, rows, origin:]
        for values in (tracks.x_m, tracks.y_m, tracks.z_m, tracks.heading_rad)
    )
    speed = kinematics.linear_speed(x, y, z if window.in_space else None)
    kinematic = {
        "linear_speed": speed,
        "linear_acceleration": kinematics.linear_acceleration(speed),
        "angular_speed": kinematics.angular_speed(heading),
        "angular_acceleration": kinematics.angular_acceleration(heading),
    }
    object_m = distance_to_nearest_object(tracks, rows, first)
    edge_m = distance_to_road_edge(tracks, around.edges, rows, first)
    return Features(
        series={
            **{name: values[..., first - origin :] for name, values in kinematic.items()},
            "distance_to_nearest_object": object_m,
            "time_to_collision": time_to_collision(tracks, rows, first, origin),
            "distance_to_road_edge": edge_m,
        },
        events={
            "collision_indication": object_m < 0.0,
            "offroad_indication": edge_m > 0.0,
            "traffic_light_violation": red_light_violations(tracks, around.lanes, rows, first),
        },
    )


def surroundings(case: Case, *, per_agent: bool = False) -> Surroundings:
    """Prepare map and signals of a case."""
    edges = case.scene.road_edges
    if per_agent:
        found = edge_segments(edges, z_stretch=0.0, cycle_tolerance_m=PUFFER_CYCLE_TOLERANCE_M)
    else:
        found = edge_segments(edges, z_stretch=road_edge.Z_STRETCH)
    return Surroundings(
        edges=found,
        lanes=None if per_agent else signalled_lanes(case.scene),
        rows=case.scene.evaluated_row,
    )


def case_features(case: Case, config: ChallengeConfig) -> CaseFeatures:
    """Compute all features of a case; the challenge years share them, PufferDrive's differ."""
    window = PUFFER if config.per_agent else OFFICIAL
    around = surroundings(case, per_agent=config.per_agent)
    log = logged_trajectories(case.scene)
    sim = simulated_trajectories(case.scene, case.rollouts)
    evaluated = case.scene.evaluated_index
    return CaseFeatures(
        log=track_features(log, around, window),
        sim=track_features(sim, around, window),
        log_valid=case.scene.valid[evaluated, window.first_step :],
        is_vehicle=case.scene.object_type[evaluated] == VEHICLE,
        displacement_m=displacement(
            log, sim, around.rows, from_step=window.from_step, in_space=window.in_space
        ),
    )
