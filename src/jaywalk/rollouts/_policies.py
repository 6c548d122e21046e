"""Policies that need no server, by name, and the lane-following policy.

Lane following works for any scene with lanes. Vehicles follow the scene's lanes with the
intelligent driver model, choose at forks at random, and stop for lights, which run as logged.
People, and vehicles off the lanes, move on with a randomly changing speed and direction; actors
that stand keep standing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.core.seeds import stream
from jaywalk.metrics.realism.baselines import (
    N_ROLLOUTS,
    constant_velocity,
    last_step,
    log_replay,
    random_driving,
)
from jaywalk.metrics.realism.scene import (
    CURRENT_STEP,
    CYCLIST,
    N_FUTURE,
    PEDESTRIAN,
    STEP_S,
    LoggedScene,
    Rollouts,
)
from jaywalk.rollouts._lane_kernels import FREE, ON_LANE, STANDING, roll_out
from jaywalk.rollouts._lane_paths import LIGHTS, PATH_POINTS, lane_graph, lane_places, write_way

_STANDS_MPS = 0.2
_WANTED_MPS = (7.0, 15.0)
_CYCLING_MPS = (3.5, 7.0)
_MANNER = ((1.0, 2.2), (1.5, 2.8), (0.9, 1.8))  # acceleration, braking, headway
_MEMORY = float(np.exp(-STEP_S / 1.0))  # correlation of the noise: one second
_DRIVING_NOISE = (0.25, 0.0)
_WALKING_NOISE = (0.25, 0.15)


def _noise(random: np.random.Generator, people: NDArray[np.bool_]) -> FloatArray:
    """Draw time-correlated noise (n, steps, 2)."""
    size = np.where(people[:, None], _WALKING_NOISE, _DRIVING_NOISE)
    drawn = random.normal(0.0, 1.0, (N_FUTURE, len(people), 2)) * np.sqrt(1.0 - _MEMORY**2)
    noise = np.zeros((len(people), N_FUTURE, 2))
    value = random.normal(0.0, 1.0, (len(people), 2))
    for step in range(N_FUTURE):
        value = _MEMORY * value + drawn[step]
        noise[:, step] = value * size
    return noise


def _manner(
    random: np.random.Generator, speed_mps: FloatArray, cycling: NDArray[np.bool_]
) -> FloatArray:
    """Draw wanted speed (at least 0.95 times the present), acceleration, braking and headway."""
    slowest, fastest = np.where(cycling[:, None], _CYCLING_MPS, _WANTED_MPS).T
    wanted = random.uniform(slowest, fastest)
    kept = speed_mps * random.uniform(0.95, 1.1, len(speed_mps))
    rest = [random.uniform(low, high, len(speed_mps)) for low, high in _MANNER]
    return np.column_stack([np.maximum(wanted, kept), *rest])


def lane_follow(scene: LoggedScene, n: int = N_ROLLOUTS, seed: int = 0) -> Rollouts:
    """Roll a scene out ``n`` times; rollout ``i`` does not depend on ``n``."""
    rows = scene.simulated_index
    graph = lane_graph(scene)
    people = scene.object_type[rows] == PEDESTRIAN
    moved = last_step(scene)[:, :2].astype(np.float64)
    speed = np.hypot(moved[:, 0], moved[:, 1]) / STEP_S
    seen = scene.valid[rows, CURRENT_STEP - 1]
    start = np.column_stack(
        [v[rows, CURRENT_STEP] for v in (scene.x_m, scene.y_m, scene.z_m, scene.heading_rad)]
    ).astype(np.float64)
    # People walk in their direction of motion, not in that of their body.
    walks = people & (speed >= _STANDS_MPS)
    start[walks, 3] = np.arctan2(moved[walks, 1], moved[walks, 0])
    size = np.column_stack([v[rows, CURRENT_STEP] for v in (scene.length_m, scene.width_m)])
    places = np.where(people[:, None], -1.0, lane_places(scene, graph, rows))
    mode = np.where(places[:, 0] >= 0, ON_LANE, np.where(speed < _STANDS_MPS, STANDING, FREE))
    late = (mode == ON_LANE) & ~seen  # appear only now: assume the speed of the others
    if late.any() and (others := (mode == ON_LANE) & seen).any():
        speed[late] = np.median(speed[others])
    out = np.zeros((n, len(rows), N_FUTURE, 4))
    paths = np.zeros((len(rows), PATH_POINTS, 5))
    counts, lights = np.ones(len(rows), np.int64), np.full((len(rows), LIGHTS, 2), -1.0)
    for number in range(n):
        random = stream(seed, "realism", "lanes", scene.name, number)
        for i in np.flatnonzero(mode == ON_LANE):
            lane, point = int(places[i, 0]), int(places[i, 1])
            counts[i] = write_way(graph, lane, point, random, paths[i], lights[i])
        roll_out(
            paths,
            counts,
            lights,
            graph.light,
            mode.astype(np.int64),
            start,
            speed,
            size.astype(np.float64),
            _manner(random, speed, scene.object_type[rows] == CYCLIST),
            _noise(random, people),
            out[number],
        )
    columns = np.moveaxis(out.astype(np.float32), -1, 0)
    return Rollouts(
        **{
            name: np.ascontiguousarray(columns[k])
            for k, name in enumerate(("x_m", "y_m", "z_m", "heading_rad"))
        }
    )


Policy = Callable[[LoggedScene, int, int], Rollouts]
"""Scene, number of rollouts, seed."""

POLICIES: Mapping[str, tuple[Policy, str]] = MappingProxyType(
    {
        "log-replay": (lambda scene, n, seed: log_replay(scene, n), "the log itself, n times"),
        "constant-velocity": (
            lambda scene, n, seed: constant_velocity(scene, n),
            "everybody goes on as in the last step",
        ),
        "random": (random_driving, "a new acceleration and yaw rate at every step"),
        "lanes": (lane_follow, "vehicles follow lanes and each other, people walk on"),
    }
)


def roll_out_scene(scene: LoggedScene, policy: str, n: int, seed: int) -> Rollouts:
    """Roll a scene out with one of these policies."""
    if policy not in POLICIES:
        raise UsageError(f"Unknown policy '{policy}'; expected one of {', '.join(POLICIES)}.")
    return POLICIES[policy][0](scene, n, seed)
