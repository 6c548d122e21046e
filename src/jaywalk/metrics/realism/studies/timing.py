"""The right thing at the wrong time: features of the repeated log moved in time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.seeds import stream
from jaywalk.metrics.realism.better.likeness import timing_cost
from jaywalk.metrics.realism.bounds import UPPER, replaced
from jaywalk.metrics.realism.challenge import FEATURES, ChallengeConfig
from jaywalk.metrics.realism.features import CaseFeatures, Features, case_features
from jaywalk.metrics.realism.likelihoods import event_mask, series_mask
from jaywalk.metrics.realism.scene import STEP_S, BoolArray, Case
from jaywalk.metrics.realism.score import aggregate, score_features
from jaywalk.metrics.realism.studies.curve import Curve, Study

_SHIFTS_STEPS = (0, 1, 2, 5, 10, 15, 20, 30, 40)


Order = Callable[[int], NDArray[np.int64]]
"""An order of so many steps."""


def _moved(values: NDArray[Any], mask: BoolArray, order: Order) -> NDArray[Any]:
    """Values [rollout, object, step] with each object's counted steps in another order."""
    out = values.copy()
    for e, counted in enumerate(mask):
        steps = np.flatnonzero(counted)
        out[:, e, steps] = values[:, e, steps[order(len(steps))]]
    return out


def reordered(features: CaseFeatures, order: Order) -> CaseFeatures:
    """Simulated features with the steps that count for the score in another order."""
    series = {
        name: _moved(values, series_mask(name, features), order)
        for name, values in features.sim.series.items()
    }
    events = {
        name: _moved(flags, event_mask(name, features), order)
        for name, flags in features.sim.events.items()
    }
    return replace(features, sim=Features(series=series, events=events))


def study_timing(cases: Sequence[Case], config: ChallengeConfig) -> Study:
    """Rotate the features of the repeated log in time, and shuffle them."""
    repeated = [
        (c.scene.name, len(c.rollouts), case_features(c, config)) for c in replaced(cases, UPPER)
    ]

    def totals(order: Order) -> tuple[float, float]:
        moved = [(name, n, reordered(f, order)) for name, n, f in repeated]
        scenes = [score_features(name, f, config, n) for name, n, f in moved]
        costs = [timing_cost(f) for _, _, f in moved]
        return aggregate(scenes, config).metametric, float(np.nanmean(costs))

    def rotation(shift: int) -> Order:
        return lambda n: np.roll(np.arange(n), shift)

    found = [totals(rotation(shift)) for shift in _SHIFTS_STEPS]
    shuffled = totals(lambda n: stream(0, "realism", "study_timing", n).permutation(n))
    x = tuple(shift * STEP_S for shift in _SHIFTS_STEPS)
    scale = max(cost for _, cost in found) or 1.0
    return Study(
        name="timing",
        title="What the log did, at another time",
        x_label="shift in time (s)",
        y_label="score",
        curves=(
            Curve(name=f"metametric {config.name}", x=x, y=tuple(meta for meta, _ in found)),
            Curve(
                name="timing of jaywalk-1 (1: the log, 0: worst shift)",
                x=x,
                y=tuple(1.0 - cost / scale for _, cost in found),
            ),
        ),
        finding=(
            f"Shuffling all {len(FEATURES)} features in time changes the metametric from "
            f"{found[0][0]:.4f} to {shuffled[0]:.4f}; the time-aware cost goes from "
            f"{found[0][1]:.3f} to {shuffled[1]:.3f} feature scales."
        ),
        numbers={
            "metametric": found[0][0],
            "metametric_shuffled": shuffled[0],
            "timing_cost": found[0][1],
            "timing_cost_shuffled": shuffled[1],
        },
    )
