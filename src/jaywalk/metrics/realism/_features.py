"""Features of a scene's log and of its rollouts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import BoolArray, Float32Array, IntArray
from jaywalk.metrics.realism import _kinematics as kinematics
from jaywalk.metrics.realism import _road_edge as road_edge
from jaywalk.metrics.realism._kinematics import displacement
from jaywalk.metrics.realism._object_distance import distance_to_nearest_object
from jaywalk.metrics.realism._road_edge import EdgeSegments, distance_to_road_edge, edge_segments
from jaywalk.metrics.realism._time_to_collision import time_to_collision
from jaywalk.metrics.realism._trajectories import (
    BoxSizes,
    SceneTrajectories,
    generated_log,
    generated_trajectories,
    logged_trajectories,
    simulated_trajectories,
)
from jaywalk.metrics.realism.challenge import ChallengeConfig
from jaywalk.metrics.realism.red_light import SignalledLanes, red_light_violations, signalled_lanes
from jaywalk.metrics.realism.scene import (
    CURRENT_STEP,
    N_HISTORY,
    N_STEPS,
    VEHICLE,
    Case,
    LoggedScene,
)

PUFFER_CYCLE_TOLERANCE_M = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """Series and events per step, each [rollout, evaluated object, step]."""

    series: Mapping[str, Float32Array]
    events: Mapping[str, BoolArray]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFeatures:
    """Features of the log (one rollout) and of the rollouts, and inputs of the masks."""

    log: Features
    sim: Features
    log_valid: BoolArray
    is_vehicle: BoolArray
    displacement_m: NDArray[np.float64]
    """Mean displacement to the log, [rollout, evaluated object]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneSurroundings:
    """Map data that the features of a scene need, prepared once."""

    edges: EdgeSegments | None
    lanes: SignalledLanes | None
    rows: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Scored steps, first step of differences, and whether heights count."""

    first_step: int
    from_step: int
    in_space: bool


OFFICIAL = Window(first_step=N_HISTORY, from_step=0, in_space=True)
PUFFER = Window(first_step=CURRENT_STEP, from_step=CURRENT_STEP, in_space=False)
GENERATION = Window(first_step=0, from_step=0, in_space=True)


def track_features(
    tracks: SceneTrajectories, around: SceneSurroundings, window: Window
) -> Features:
    """Features of some trajectories of all simulated objects."""
    rows, first, origin = around.rows, window.first_step, window.from_step
    return _features(
        tracks,
        around,
        window,
        object_m=distance_to_nearest_object(tracks, rows, first),
        edge_m=distance_to_road_edge(tracks, around.edges, rows, first),
        ttc_s=time_to_collision(tracks, rows, first, origin),
    )


def generated_features(
    tracks: SceneTrajectories, sizes: BoxSizes, around: SceneSurroundings
) -> Features:
    """Features of generated scenes, whose boxes may change their size from step to step."""
    rows, n = around.rows, len(tracks.x_m)
    shape = (n, len(rows), N_STEPS)
    object_m, edge_m, ttc_s = (np.empty(shape, np.float32) for _ in range(3))
    speed = kinematics.linear_speed(tracks.x_m, tracks.y_m)
    alike = len(sizes.length_m) == 1
    for part in [slice(0, n)] if alike else [slice(k, k + 1) for k in range(n)]:
        for step in range(N_STEPS):
            now = tracks.at(part, step, sizes)
            speeds = np.ascontiguousarray(speed[part, :, step : step + 1])
            one = (part, slice(None), slice(step, step + 1))
            object_m[one] = distance_to_nearest_object(now, rows, 0)
            edge_m[one] = distance_to_road_edge(now, around.edges, rows, 0)
            ttc_s[one] = time_to_collision(now, rows, 0, speed=speeds)
    return _features(tracks, around, GENERATION, object_m=object_m, edge_m=edge_m, ttc_s=ttc_s)


def _features(
    tracks: SceneTrajectories,
    around: SceneSurroundings,
    window: Window,
    *,
    object_m: Float32Array,
    edge_m: Float32Array,
    ttc_s: Float32Array,
) -> Features:
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
    return Features(
        series={
            **{name: values[..., first - origin :] for name, values in kinematic.items()},
            "distance_to_nearest_object": object_m,
            "time_to_collision": ttc_s,
            "distance_to_road_edge": edge_m,
        },
        events={
            "collision_indication": object_m < 0.0,
            "offroad_indication": edge_m > 0.0,
            "traffic_light_violation": red_light_violations(tracks, around.lanes, rows, first),
        },
    )


def scored_tracks(scene: LoggedScene, config: ChallengeConfig) -> IntArray:
    """Return the tracks of a scene that a configuration scores."""
    if config.is_generation:
        return scene.simulated_index
    if config.is_flat and len(scene.predict_index):
        return np.unique(scene.predict_index)
    return scene.evaluated_index


def surroundings(case: Case, config: ChallengeConfig) -> SceneSurroundings:
    """Prepare map and signals of a case."""
    edges = case.scene.road_edges
    if config.is_flat:
        segments = edge_segments(edges, z_stretch=0.0, cycle_tolerance_m=PUFFER_CYCLE_TOLERANCE_M)
    else:
        segments = edge_segments(edges, z_stretch=road_edge.Z_STRETCH)
    return SceneSurroundings(
        edges=segments,
        lanes=None if config.is_flat else signalled_lanes(case.scene),
        rows=case.scene.rows_of(scored_tracks(case.scene, config)),
    )


def case_features(case: Case, config: ChallengeConfig) -> CaseFeatures:
    """Compute all features of a case; the years share them, other configurations differ."""
    scene, scored = case.scene, scored_tracks(case.scene, config)
    around = surroundings(case, config)
    if config.is_generation:
        window = GENERATION
        log_side = generated_features(*generated_log(scene), around)
        sim_side = generated_features(*generated_trajectories(scene, case.rollouts), around)
        # No generated object corresponds to a logged one. The official code writes 0 here.
        moved_m = np.full((len(case.rollouts), len(scored)), np.nan)
    else:
        window = PUFFER if config.is_flat else OFFICIAL
        log, sim = logged_trajectories(scene), simulated_trajectories(scene, case.rollouts)
        log_side, sim_side = (track_features(side, around, window) for side in (log, sim))
        moved_m = displacement(
            log, sim, around.rows, from_step=window.from_step, in_space=window.in_space
        )
    return CaseFeatures(
        log=log_side,
        sim=sim_side,
        log_valid=scene.valid[scored, window.first_step :],
        is_vehicle=scene.object_type[scored] == VEHICLE,
        displacement_m=moved_m,
    )
