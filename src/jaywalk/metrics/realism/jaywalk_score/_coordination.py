"""Coordination where paths cross or merge: order of passage, time gap and delay.

An encounter is a pair of objects (including people) that in the log both reach the same place
within five seconds of each other, neither being there at the start. Times of passage are soft, so
that they are continuous in the rollouts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel
from jaywalk.metrics.realism.jaywalk_score._likeness import crps
from jaywalk.metrics.realism.scene import (
    CURRENT_STEP,
    N_FUTURE,
    N_HISTORY,
    PEDESTRIAN,
    STEP_S,
    Case,
)

REACH_M = 1.5
MAX_GAP_S = 5.0
_SOFT_M = 1.0
_SOFT_S = 0.5
_YIELD_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Encounters:
    """Encounters of a scene; the first of each pair passed first in the log.

    Attributes:
        pairs: Rows of the two objects among the simulated ones, [encounter, 2].
        with_pedestrian: Whether a pedestrian takes part.
        gap_log_s: Time between the two passings; ``gap_sim_s`` [rollout, encounter] likewise,
            negative where the order is the other way round.
        gap_sim_s: See ``gap_log_s``.
        delay_log_s: Delay of the second object's passage relative to constant velocity.
        delay_sim_s: The same in the rollouts, [rollout, encounter].
    """

    pairs: NDArray[np.int64]
    with_pedestrian: NDArray[np.bool_]
    gap_log_s: NDArray[np.float64]
    gap_sim_s: NDArray[np.float64]
    delay_log_s: NDArray[np.float64]
    delay_sim_s: NDArray[np.float64]


@kernel
def _arrivals(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    valid: NDArray[np.bool_],
    a: int,
    b: int,
    reach_m: float,
) -> tuple[int, int]:
    """First steps at which a is on b's path and b on a's; -1 if never."""
    n = x.shape[1]
    first_a, first_b = -1, -1
    for i in range(n):
        if not valid[a, i] or (first_a >= 0 and first_b == 0):
            continue
        for j in range(n):
            if valid[b, j]:
                dx, dy = x[a, i] - x[b, j], y[a, i] - y[b, j]
                if dx * dx + dy * dy < reach_m * reach_m:
                    if first_a < 0:
                        first_a = i
                    if first_b < 0 or j < first_b:
                        first_b = j
    return first_a, first_b


@kernel
def find_encounters(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    valid: NDArray[np.bool_],
    evaluated: NDArray[np.bool_],
    reach_m: float,
    max_gap_steps: int,
) -> NDArray[np.int64]:
    """Rows [encounter, 4]: first and second object, and their steps of arrival."""
    pairs = []
    for a in range(x.shape[0]):
        for b in range(a + 1, x.shape[0]):
            if not (evaluated[a] or evaluated[b]):
                continue
            i, j = _arrivals(x, y, valid, a, b, reach_m)
            if i > 0 and j > 0 and i != j and abs(i - j) <= max_gap_steps:
                pairs.append((a, b, i, j) if i < j else (b, a, j, i))
    out = np.empty((len(pairs), 4), dtype=np.int64)
    for k in range(len(pairs)):
        out[k, 0], out[k, 1], out[k, 2], out[k, 3] = pairs[k]
    return out


def _passing_s(
    x: NDArray[np.float64], y: NDArray[np.float64], place: tuple[float, float, float]
) -> NDArray[np.float64]:
    """Soft time [...] until tracks [..., step] pass a place (x, y, heading of passing)."""
    px, py, yaw = place
    ahead = (x - px) * math.cos(yaw) + (y - py) * math.sin(yaw)
    return np.asarray((1.0 / (1.0 + np.exp(np.clip(ahead / _SOFT_M, -50, 50)))).sum(-1) * STEP_S)


def _direction(x: NDArray[np.float64], y: NDArray[np.float64], step: int) -> float:
    return math.atan2(y[step] - y[step - 1], x[step] - x[step - 1])


class _Passings:
    """Soft times of passing a place: in the log, in the rollouts, at constant velocity."""

    def __init__(self, case: Case, row: int, step: int) -> None:
        scene, index = case.scene, int(case.scene.simulated_index[row])
        x = scene.x_m[index].astype(np.float64)
        y = scene.y_m[index].astype(np.float64)
        at = N_HISTORY + step
        place = (float(x[at]), float(y[at]), _direction(x, y, at))
        self.log_s = float(_passing_s(x[N_HISTORY:], y[N_HISTORY:], place))
        self.sim_s = _passing_s(
            case.rollouts.x_m[:, row].astype(np.float64),
            case.rollouts.y_m[:, row].astype(np.float64),
            place,
        )
        steps = np.arange(1.0, N_FUTURE + 1.0)
        seen = bool(scene.valid[index, CURRENT_STEP - 1])
        dx, dy = (float(v[CURRENT_STEP] - v[CURRENT_STEP - 1]) if seen else 0.0 for v in (x, y))
        self.straight_s = float(
            _passing_s(
                np.asarray(x[CURRENT_STEP] + dx * steps, dtype=np.float64),
                np.asarray(y[CURRENT_STEP] + dy * steps, dtype=np.float64),
                place,
            )
        )


def encounters(case: Case) -> Encounters:
    """Find the log's encounters and look at the same places in the rollouts."""
    scene, rows, n = case.scene, case.scene.simulated_index, len(case.rollouts)
    valid = scene.valid[rows, N_HISTORY:]
    evaluated = np.zeros(len(rows), dtype=np.bool_)
    evaluated[scene.evaluated_row] = True
    candidates = find_encounters(
        scene.x_m[rows, N_HISTORY:].astype(np.float64),
        scene.y_m[rows, N_HISTORY:].astype(np.float64),
        valid,
        evaluated,
        REACH_M,
        round(MAX_GAP_S / STEP_S),
    )
    # Passing times need the whole track.
    whole = np.asarray(valid.all(axis=1))
    candidates = candidates[whole[candidates[:, 0]] & whole[candidates[:, 1]]]
    both = [(_Passings(case, a, i), _Passings(case, b, j)) for a, b, i, j in candidates.tolist()]
    types = scene.object_type[rows]
    return Encounters(
        pairs=candidates[:, :2],
        with_pedestrian=(types[candidates[:, :2]] == PEDESTRIAN).any(axis=1),
        gap_log_s=np.array([b.log_s - a.log_s for a, b in both], dtype=np.float64),
        gap_sim_s=np.array([b.sim_s - a.sim_s for a, b in both]).reshape(-1, n).T,
        delay_log_s=np.array([b.log_s - b.straight_s for _, b in both], dtype=np.float64),
        delay_sim_s=np.array([b.sim_s - b.straight_s for _, b in both]).reshape(-1, n).T,
    )


def coordination_cost(encounters: Encounters) -> float:
    """CRPS of gap and delay (s) and error of the soft order; NaN without encounters."""
    if not len(encounters.pairs):
        return math.nan

    def first(gap_s: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(1.0 / (1.0 + np.exp(-gap_s / _SOFT_S)))

    order = (first(encounters.gap_sim_s).mean(axis=0) - first(encounters.gap_log_s)) ** 2
    gap = crps(encounters.gap_log_s, encounters.gap_sim_s)
    delay = crps(encounters.delay_log_s, encounters.delay_sim_s)
    return float((gap + delay + order).mean())


def coordination_summary(encounters: list[Encounters]) -> dict[str, float]:
    """Return figures over all encounters, for log and rollouts; counts only without encounters."""
    n = sum(len(e.pairs) for e in encounters)
    counts = {
        "n_encounters": float(n),
        "n_with_pedestrian": float(sum(int(e.with_pedestrian.sum()) for e in encounters)),
    }
    if not n:
        return counts
    log_gap = np.concatenate([e.gap_log_s for e in encounters])
    sim_gap = np.concatenate([e.gap_sim_s.ravel() for e in encounters])
    log_delay = np.concatenate([e.delay_log_s for e in encounters])
    sim_delay = np.concatenate([e.delay_sim_s.ravel() for e in encounters])
    kept = [np.sign(e.gap_sim_s) == np.sign(e.gap_log_s) for e in encounters]
    return counts | {
        "order_kept": float(np.concatenate([k.ravel() for k in kept]).mean()),
        "accepted_gap_log_s": float(np.median(np.abs(log_gap))),
        "accepted_gap_sim_s": float(np.median(np.abs(sim_gap))),
        "yield_rate_log": float((log_delay > _YIELD_S).mean()),
        "yield_rate_sim": float((sim_delay > _YIELD_S).mean()),
        "delay_log_s": float(log_delay.mean()),
        "delay_sim_s": float(sim_delay.mean()),
    }
