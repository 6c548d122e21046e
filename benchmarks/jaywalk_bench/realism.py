"""How fast the realism score is: a large synthetic scene on one core."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from jaywalk.core.seeds import stream
from jaywalk.metrics.realism.baselines import N_ROLLOUTS, random_driving
from jaywalk.metrics.realism.challenge import challenge_config
from jaywalk.metrics.realism.scene import (
    N_STEPS,
    STEP_S,
    SURFACE_STREET,
    VEHICLE,
    Case,
    LoggedScene,
    Polylines,
    SceneLanes,
    SceneSignals,
)
from jaywalk.metrics.realism.score import score_case

AIM_S = 1.0
_LINE_SEGMENTS = 200
_SIGNALS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class RealismBench:
    """CPU time of one scene, in seconds: the best of several after warm-up."""

    agents: int
    evaluated: int
    edge_segments: int
    rollouts: int
    first_s: float
    score_s: float
    aim_s: float = AIM_S

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def _lines(rng: np.random.Generator, n_segments: int) -> Polylines:
    """Winding lines of half-metre segments over a square of 600 m."""
    lines = []
    for _ in range(n_segments // _LINE_SEGMENTS):
        heading = rng.uniform(-np.pi, np.pi) + np.cumsum(rng.normal(0.0, 0.03, _LINE_SEGMENTS))
        steps = 0.5 * np.column_stack([np.cos(heading), np.sin(heading), np.zeros(len(heading))])
        start = np.append(rng.uniform(-300.0, 300.0, 2), 0.0)
        lines.append(start + np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)]))
    return Polylines.of(lines)


def bench_scene(
    agents: int = 50, evaluated: int = 50, edge_segments: int = 20_000, seed: int = 0
) -> LoggedScene:
    """A synthetic scene: straight drives over a map of winding edges and lanes, lights all red."""
    rng = stream(seed, "bench", "realism")
    lines = _lines(rng, edge_segments)
    n_lines = len(lines)
    heading = rng.uniform(-3.0, 3.0, (agents, 1))
    reach = rng.uniform(0.0, 12.0, (agents, 1)) * np.arange(N_STEPS) * STEP_S
    start = rng.uniform(-150.0, 150.0, (2, agents, 1))

    def filled(values: Any) -> Any:
        return np.ascontiguousarray(np.broadcast_to(values, (agents, N_STEPS)), dtype=np.float32)

    step, lane = (grid.ravel() for grid in np.mgrid[:N_STEPS, : min(_SIGNALS, n_lines)])
    middle = lines.offsets[lane] + _LINE_SEGMENTS // 2
    return LoggedScene(
        name="bench",
        object_id=np.arange(agents),
        object_type=np.full(agents, VEHICLE),
        x_m=filled(start[0] + reach * np.cos(heading)),
        y_m=filled(start[1] + reach * np.sin(heading)),
        z_m=filled(0.75),
        heading_rad=filled(heading),
        length_m=filled(4.5),
        width_m=filled(2.0),
        height_m=filled(1.5),
        valid=np.ones((agents, N_STEPS), dtype=np.bool_),
        sdc_index=0,
        predict_index=np.arange(evaluated),
        road_edges=lines,
        lanes=SceneLanes(
            lines=lines, lane_id=np.arange(n_lines), lane_type=np.full(n_lines, SURFACE_STREET)
        ),
        signals=SceneSignals(
            n_steps=N_STEPS,
            step=step,
            lane_id=lane,
            state=np.full(len(step), 4),
            stop_point_m=lines.points_m[middle],
        ),
    )


def bench_realism(*, evaluated: int = 50, say: Callable[[str], None]) -> RealismBench:
    """Score one large scene several times."""
    scene = bench_scene(evaluated=evaluated)
    case = Case(scene=scene, rollouts=random_driving(scene))
    config = challenge_config("2025")
    times = []
    say("compiling and warming up")
    for _ in range(4):
        start = time.process_time()
        score_case(case, config)
        times.append(time.process_time() - start)
    return RealismBench(
        agents=len(scene.object_id),
        evaluated=evaluated,
        edge_segments=len(scene.road_edges.points_m) - len(scene.road_edges),
        rollouts=N_ROLLOUTS,
        first_s=times[0],
        score_s=min(times[1:]),
    )
