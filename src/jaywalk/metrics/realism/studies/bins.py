"""Jumps at bin edges: the score of the repeated log when its simulated values shift a little."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from jaywalk.metrics.realism.bounds import UPPER, replaced
from jaywalk.metrics.realism.challenge import ChallengeConfig
from jaywalk.metrics.realism.estimators import series_log_likelihood
from jaywalk.metrics.realism.features import CaseFeatures, case_features
from jaywalk.metrics.realism.likelihoods import series_mask
from jaywalk.metrics.realism.scene import Case
from jaywalk.metrics.realism.smooth_density import SCALES, clipped, smooth_log_density
from jaywalk.metrics.realism.studies.curve import Curve, Study

FEATURE = "distance_to_nearest_object"
_HALVINGS = 6
_SHIFTS_M = np.round(np.arange(0.0, 3.0001, 0.05), 6)


def _histogram(features: CaseFeatures, shift: float, config: ChallengeConfig) -> float:
    mask = series_mask(FEATURE, features)
    sim = (features.sim.series[FEATURE] + np.float32(shift)).astype(np.float32)
    log_p = series_log_likelihood(features.log.series[FEATURE][0], sim, config.histograms[FEATURE])
    return float(np.exp(log_p[mask].mean()))


def _smooth(features: CaseFeatures, shift: float) -> float:
    mask = series_mask(FEATURE, features)
    sim = clipped(FEATURE, features.sim.series[FEATURE] + np.float32(shift))
    log = clipped(FEATURE, features.log.series[FEATURE][0])
    log_p = smooth_log_density(log, sim, SCALES[FEATURE])
    return float(np.exp(log_p[mask].mean()))


def _largest_jump(of: Callable[[float], float], values: list[float]) -> float:
    """Largest change within about a millimetre, found by halving the steepest interval."""
    k = int(np.abs(np.diff(values)).argmax())
    low, high = (float(_SHIFTS_M[k]), values[k]), (float(_SHIFTS_M[k + 1]), values[k + 1])
    for _ in range(_HALVINGS):
        x = (low[0] + high[0]) / 2.0
        middle = (x, of(x))
        if abs(middle[1] - low[1]) > abs(high[1] - middle[1]):
            high = middle
        else:
            low = middle
    return abs(high[1] - low[1])


def study_bins(cases: Sequence[Case], config: ChallengeConfig) -> Study:
    """Shift the simulated distance to the nearest object and watch the likelihood."""
    repeated = [case_features(c, config) for c in replaced(cases, UPPER)]
    usable = [f for f in repeated if series_mask(FEATURE, f).any()]

    def jumpy(shift: float) -> float:
        return float(np.mean([_histogram(f, shift, config) for f in usable]))

    def smooth(shift: float) -> float:
        return float(np.mean([_smooth(f, shift) for f in usable]))

    first, second = [jumpy(s) for s in _SHIFTS_M], [smooth(s) for s in _SHIFTS_M]
    x = tuple(float(s) for s in _SHIFTS_M)
    jump, step = _largest_jump(jumpy, first), _largest_jump(smooth, second)
    return Study(
        name="bins",
        title="The same rollouts, all a little farther from the nearest object",
        x_label="shift (m)",
        y_label="likelihood of the distance to the nearest object",
        curves=(
            Curve(name="histogram (challenge)", x=x, y=tuple(first)),
            Curve(name="smooth density (jaywalk-1)", x=x, y=tuple(second)),
        ),
        finding=(
            f"A shift of a millimetre changes the histogram's likelihood by up to {jump:.4f}, "
            f"the smooth density's by up to {step:.4f}."
        ),
        numbers={"largest_jump_histogram": jump, "largest_step_smooth": step},
    )
