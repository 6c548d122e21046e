"""Safety as hard constraints (rates, severity and time of events), and distance to the road edge.

Safety is never mixed into likeness. Driving off the road is a matter of safety; the distance kept
to the nearest edge, on either side, is a matter of likeness. This distance has no jumps, unlike the
signed distance of the challenge, which jumps where the nearest edge changes from one on the left to
one on the right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import BoolArray, IntArray
from jaywalk.core.kernels import kernel
from jaywalk.metrics.realism._features import CaseFeatures
from jaywalk.metrics.realism._object_distance import FAN
from jaywalk.metrics.realism._road_edge import EdgeSegments, edge_gap
from jaywalk.metrics.realism._trajectories import SceneTrajectories
from jaywalk.metrics.realism.challenge import EVENTS
from jaywalk.metrics.realism.scene import STEP_S
from jaywalk.metrics.realism.score import RATE_OF
from jaywalk.stats.clustered import clustered_rate
from jaywalk.stats.intervals import Interval, clopper_pearson

NAME = "road_edge_gap_m"
_NO_EDGE_M = 1e10


@kernel
def _gaps(
    edges: EdgeSegments,
    x: NDArray[np.float32],
    y: NDArray[np.float32],
    z: NDArray[np.float32],
    heading: NDArray[np.float32],
    length: NDArray[np.float32],
    width: NDArray[np.float32],
    height: NDArray[np.float32],
    rows: NDArray[np.int64],
    first: int,
) -> NDArray[np.float32]:
    n_rollouts, _, n_steps = x.shape
    out = np.empty((n_rollouts, len(rows), n_steps - first), dtype=np.float32)
    stack = np.empty(FAN * 16, dtype=np.int64)
    hint = 0
    for row in range(len(rows)):
        e = rows[row]
        for k in range(n_rollouts):
            for step in range(first, n_steps):
                yaw = float(heading[k, e, step])
                c, s = math.cos(yaw), math.sin(yaw)
                ez = float(z[k, e, step]) - float(height[e]) / 2.0
                best = np.inf
                for corner in range(4):
                    fx = (0.5 if corner & 1 else -0.5) * float(length[e])
                    fy = (0.5 if corner & 2 else -0.5) * float(width[e])
                    px = float(x[k, e, step]) + fx * c - fy * s
                    py = float(y[k, e, step]) + fx * s + fy * c
                    gap, hint = edge_gap(edges, px, py, ez, hint, stack)
                    best = min(best, gap)
                out[k, row, step - first] = best
    return out


def road_edge_gap_m(
    tracks: SceneTrajectories, edges: EdgeSegments | None, rows: IntArray, first_step: int
) -> NDArray[np.float32]:
    """Distance [rollout, row, step] of the nearest corner to any road edge; 1e10 without edges."""
    if edges is None:
        shape = (tracks.x_m.shape[0], len(rows), tracks.x_m.shape[2] - first_step)
        return np.full(shape, _NO_EDGE_M, dtype=np.float32)
    return _gaps(
        edges,
        tracks.x_m,
        tracks.y_m,
        tracks.z_m,
        tracks.heading_rad,
        tracks.length_m,
        tracks.width_m,
        tracks.height_m,
        rows,
        first_step,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSafety:
    """Frequency and severity of one kind of event in rollouts.

    Attributes:
        rate: Share of (agent, rollout) pairs with an event; ``interval`` is the exact one that
            takes the pairs as independent.
        interval: See ``rate``.
        events_per_hour: Separate events per hour of simulated driving, with its Poisson interval
            widened by the design effect of scenes.
        events_per_hour_interval: See ``events_per_hour``.
        time_share: Share of simulated time in the event.
        worst_m: Deepest overlap, or farthest off the road; NaN for red lights or without events.
        first_event_s: Median time of the first event; NaN without events.
        logged_rate: Rate in the log, where most events are label noise.
        n: Number of pairs.
    """

    rate: float
    interval: Interval
    events_per_hour: float
    events_per_hour_interval: Interval
    time_share: float
    worst_m: float
    first_event_s: float
    logged_rate: float
    n: int


def onsets(flags: BoolArray) -> int:
    """Number of separate events along the last axis."""
    starts = flags & ~np.concatenate([np.zeros_like(flags[..., :1]), flags[..., :-1]], axis=-1)
    return int(starts.sum())


def _depth(features: CaseFeatures, event: str) -> NDArray[np.float64]:
    flags = features.sim.events[event]
    if event == "collision_indication":
        values = -features.sim.series["distance_to_nearest_object"]
    elif event == "offroad_indication":
        values = features.sim.series["distance_to_road_edge"]
    else:
        return np.zeros(0)
    return np.asarray(values[flags], dtype=np.float64)


def event_safety(cases: Sequence[CaseFeatures], event: str) -> EventSafety:
    """Safety of all rollouts for one kind of event; every simulated step counts."""
    flags = [c.sim.events[event] for c in cases]
    pairs = sum(f.shape[0] * f.shape[1] for f in flags)
    steps = sum(f.size for f in flags)
    hit = sum(int(f.any(axis=2).sum()) for f in flags)
    counts, hours = [onsets(f) for f in flags], [f.size * STEP_S / 3600.0 for f in flags]
    first = np.concatenate([f.argmax(axis=2)[f.any(axis=2)] for f in flags])
    depth = np.concatenate([_depth(c, event) for c in cases])
    logged = np.concatenate([(c.log.events[event][0] & c.log_valid).any(axis=1) for c in cases])
    return EventSafety(
        rate=hit / pairs,
        interval=clopper_pearson(hit, pairs),
        events_per_hour=sum(counts) / sum(hours),
        events_per_hour_interval=clustered_rate(counts, hours, np.arange(len(flags))),
        time_share=sum(int(f.sum()) for f in flags) / steps,
        worst_m=float(depth.max()) if len(depth) else float("nan"),
        first_event_s=float(np.median(first) + 1) * STEP_S if len(first) else float("nan"),
        logged_rate=float(logged.mean()),
        n=pairs,
    )


def safety(cases: Sequence[CaseFeatures]) -> dict[str, EventSafety]:
    """Safety by kind of event."""
    return {RATE_OF[event]: event_safety(cases, event) for event in EVENTS}
