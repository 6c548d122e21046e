"""Jumps at bin edges: likelihoods of the repeated log when its simulated values shift a little."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from jaywalk.metrics.realism.bounds import UPPER, replaced
from jaywalk.metrics.realism.challenge import ChallengeConfig
from jaywalk.metrics.realism.estimators import series_log_likelihood
from jaywalk.metrics.realism.features import CaseFeatures, case_features
from jaywalk.metrics.realism.likelihoods import series_mask
from jaywalk.metrics.realism.scene import BoolArray, Case, FloatArray
from jaywalk.metrics.realism.smooth_density import SCALES, clipped, smooth_log_density
from jaywalk.metrics.realism.studies.curve import Curve, Study

FEATURE = "distance_to_nearest_object"
_SHIFTS_M = np.round(np.arange(0.0, 3.0001, 0.05), 6)
_HALVINGS = 6

Likelihoods = Callable[[float], NDArray[np.float64]]
"""The likelihood of every agent, given the shift."""


def _by_agent(log_p: NDArray[np.float64], mask: BoolArray) -> NDArray[np.float64]:
    total = np.where(mask, log_p, 0.0).sum(axis=1)
    return np.asarray(np.exp(total / np.maximum(mask.sum(axis=1), 1)))


def _all_agents(
    cases: list[CaseFeatures], log_p: Callable[[FloatArray, FloatArray], NDArray[np.float64]]
) -> Likelihoods:
    def at(shift: float) -> NDArray[np.float64]:
        found = [
            _by_agent(
                log_p(
                    f.log.series[FEATURE][0],
                    (f.sim.series[FEATURE] + np.float32(shift)).astype(np.float32),
                ),
                series_mask(FEATURE, f),
            )
            for f in cases
        ]
        return np.concatenate(found)

    return at


def _largest_jump(of: Likelihoods, curve: NDArray[np.float64], agent: int) -> float:
    """Largest change of an agent within about a millimetre, by halving the steepest interval."""
    k = int(np.abs(np.diff(curve[:, agent])).argmax())
    low, high = (
        (float(_SHIFTS_M[k]), curve[k, agent]),
        (float(_SHIFTS_M[k + 1]), curve[k + 1, agent]),
    )
    for _ in range(_HALVINGS):
        x = (low[0] + high[0]) / 2.0
        middle = (x, float(of(x)[agent]))
        if abs(middle[1] - low[1]) > abs(high[1] - middle[1]):
            high = middle
        else:
            low = middle
    return float(abs(high[1] - low[1]))


def study_bins(cases: Sequence[Case], config: ChallengeConfig) -> Study:
    """Shift the simulated distance to the nearest object and watch the agent that jumps most."""
    repeated = [case_features(c, config) for c in replaced(cases, UPPER)]
    histogram = _all_agents(
        repeated, lambda log, sim: series_log_likelihood(log, sim, config.histograms[FEATURE])
    )
    smooth = _all_agents(
        repeated,
        lambda log, sim: smooth_log_density(
            clipped(FEATURE, log), clipped(FEATURE, sim), SCALES[FEATURE]
        ),
    )
    first = np.array([histogram(float(s)) for s in _SHIFTS_M])
    second = np.array([smooth(float(s)) for s in _SHIFTS_M])
    agent = int(np.abs(np.diff(first, axis=0)).max(axis=0).argmax())
    x = tuple(float(s) for s in _SHIFTS_M)
    jump, step = _largest_jump(histogram, first, agent), _largest_jump(smooth, second, agent)
    fall, slope = (float(np.abs(np.diff(y[:, agent])).max()) for y in (first, second))
    return Study(
        name="bins",
        title="The same rollouts, a little farther from the nearest object",
        x_label="shift (m)",
        y_label="likelihood, the agent that jumps most",
        curves=(
            Curve(name="histogram (challenge)", x=x, y=tuple(first[:, agent].tolist())),
            Curve(name="smooth density (jaywalk-1)", x=x, y=tuple(second[:, agent].tolist())),
        ),
        finding=(
            f"5 cm change the histogram's likelihood by up to {fall:.3f} and one millimetre by "
            f"{jump:.4f}, the smooth density's by {slope:.3f} and {step:.4f}."
        ),
        numbers={
            "largest_jump_histogram": jump,
            "largest_step_smooth": step,
            "largest_fall_5cm_histogram": fall,
            "largest_fall_5cm_smooth": slope,
        },
    )
