"""Studies of the realism score by name; each returns curves to draw and one sentence.

- Jumps at bin edges: likelihoods of the repeated log when its simulated values shift a little.
- One collision in each of many rollouts against many collisions in one rollout.
- Correct behaviour at the wrong time: features of the repeated log, shifted in time.
- A driver that behaves exactly like the given rollouts but never collides or leaves the road.
- A flawless driver against one that repeats the log's errors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import BoolArray, Float32Array
from jaywalk.core.seeds import stream
from jaywalk.metrics.realism._estimators import series_log_likelihood
from jaywalk.metrics.realism._features import CaseFeatures, Features, case_features
from jaywalk.metrics.realism._smooth_density import SCALES, clipped, smooth_log_density
from jaywalk.metrics.realism.bounds import UPPER, replaced
from jaywalk.metrics.realism.challenge import FEATURES, ChallengeConfig
from jaywalk.metrics.realism.jaywalk_score._likeness import timing_cost
from jaywalk.metrics.realism.scene import STEP_S, Case
from jaywalk.metrics.realism.score import (
    aggregate,
    event_mask,
    happened,
    score_features,
    series_mask,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One line of a figure."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """Curves over one axis, with a finding.

    Attributes:
        name: Name of the study.
        title: Title of the figure.
        x_label: Label of the varied quantity.
        y_label: Label of the measured quantity.
        curves: The lines, over the same ``x`` where ``connected`` is false.
        finding: One sentence with the numbers.
        numbers: The numbers themselves.
        connected: False if ``x`` counts things without an in-between, such as scenes.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    finding: str
    numbers: dict[str, float]
    connected: bool = True


FEATURE = "distance_to_nearest_object"
_SHIFTS_M = np.round(np.arange(0.0, 3.0001, 0.05), 6)
_HALVINGS = 6

Likelihoods = Callable[[float], NDArray[np.float64]]
"""The likelihood of every agent, given the shift."""


def _by_agent(log_p: NDArray[np.float64], mask: BoolArray) -> NDArray[np.float64]:
    total = np.where(mask, log_p, 0.0).sum(axis=1)
    return np.asarray(np.exp(total / np.maximum(mask.sum(axis=1), 1)))


def _all_agents(
    cases: list[CaseFeatures], log_p: Callable[[Float32Array, Float32Array], NDArray[np.float64]]
) -> Likelihoods:
    def at(shift: float) -> NDArray[np.float64]:
        parts = [
            _by_agent(
                log_p(
                    f.log.series[FEATURE][0],
                    (f.sim.series[FEATURE] + np.float32(shift)).astype(np.float32),
                ),
                series_mask(FEATURE, f),
            )
            for f in cases
        ]
        return np.concatenate(parts)

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


_STEPS_TO_ADD = (0, 1, 2, 4, 8, 16, 24, 32, 48, 64, 80)


def with_collisions(features: CaseFeatures, *, rollouts: int, steps: int) -> CaseFeatures:
    """Add collisions of every agent: in the first rollouts, at the first logged steps of each."""
    flags = features.sim.events["collision_indication"].copy()
    early = np.cumsum(features.log_valid, axis=1) <= steps
    flags[:rollouts] |= features.log_valid & early
    events = {**features.sim.events, "collision_indication": flags}
    return replace(features, sim=Features(series=features.sim.series, events=events))


def study_collisions(cases: Sequence[Case], config: ChallengeConfig) -> Study:
    """Inject collisions into the repeated log, both ways, and score."""
    repeated = [
        (c.scene.name, len(c.rollouts), case_features(c, config)) for c in replaced(cases, UPPER)
    ]
    n = min(count for _, count, _ in repeated)

    def total(rollouts: int, steps: int) -> float:
        scenes = [
            score_features(
                name, with_collisions(features, rollouts=rollouts, steps=steps), config, count
            )
            for name, count, features in repeated
        ]
        return aggregate(scenes, config).metametric

    spread_x = sorted({k for k in _STEPS_TO_ADD if k <= n} | {n})
    spread = [total(k, 1) for k in spread_x]
    packed = [total(1 if k else 0, k) for k in _STEPS_TO_ADD]
    return Study(
        name="collisions",
        title="Collisions added to the repeated log",
        x_label="collisions added",
        y_label="metametric",
        curves=(
            Curve(name="one per rollout", x=tuple(map(float, spread_x)), y=tuple(spread)),
            Curve(name="all in one rollout", x=tuple(map(float, _STEPS_TO_ADD)), y=tuple(packed)),
        ),
        finding=(
            f"One collision in each of {n} rollouts takes the score from {spread[0]:.3f} to "
            f"{spread[-1]:.3f}; {_STEPS_TO_ADD[-1]} in a single rollout only to {packed[-1]:.3f}, "
            f"no lower than one collision does ({packed[1]:.3f})."
        ),
        numbers={"none": spread[0], "one_per_rollout": spread[-1], "all_in_one": packed[-1]},
    )


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

    results = [totals(rotation(shift)) for shift in _SHIFTS_STEPS]
    shuffled = totals(lambda n: stream(0, "realism", "study_timing", n).permutation(n))
    x = tuple(shift * STEP_S for shift in _SHIFTS_STEPS)
    scale = max(cost for _, cost in results) or 1.0
    return Study(
        name="timing",
        title="What the log did, at another time",
        x_label="shift in time (s)",
        y_label="score",
        curves=(
            Curve(name=f"metametric {config.name}", x=x, y=tuple(meta for meta, _ in results)),
            Curve(
                name="timing of jaywalk-1 (1: the log, 0: worst shift)",
                x=x,
                y=tuple(1.0 - cost / scale for _, cost in results),
            ),
        ),
        finding=(
            f"Shuffling all {len(FEATURES)} features in time changes the metametric from "
            f"{results[0][0]:.4f} to {shuffled[0]:.4f}; the time-aware cost goes from "
            f"{results[0][1]:.3f} to {shuffled[1]:.3f} feature scales."
        ),
        numbers={
            "metametric": results[0][0],
            "metametric_shuffled": shuffled[0],
            "timing_cost": results[0][1],
            "timing_cost_shuffled": shuffled[1],
        },
    )


SAFETY_EVENTS = ("collision_indication", "offroad_indication")


def without_events(features: CaseFeatures) -> CaseFeatures:
    """Return the features with all simulated collisions and off-road steps removed."""
    events = {
        name: np.zeros_like(flags) if name in SAFETY_EVENTS else flags
        for name, flags in features.sim.events.items()
    }
    return replace(features, sim=Features(series=features.sim.series, events=events))


def study_superhuman(cases: Sequence[Case], config: ChallengeConfig) -> Study:
    """Score the repeated log with and without its own collisions and off-road steps."""
    pattern, flawless, noisy = [], [], []
    for case in replaced(cases, UPPER):
        features, name, n = case_features(case, config), case.scene.name, len(case.rollouts)
        pattern.append(score_features(name, features, config, n).metametric)
        flawless.append(score_features(name, without_events(features), config, n).metametric)
        noisy.append(
            any(
                happened(features.log, event, event_mask(event, features)).any()
                for event in SAFETY_EVENTS
            )
        )
    order = np.argsort(pattern)
    x = tuple(float(i + 1) for i in range(len(order)))
    a, b = float(np.mean(pattern)), float(np.mean(flawless))
    return Study(
        name="superhuman",
        title="A driver like the log, but without its logged errors",
        x_label="scene (ordered by the score of the repeated log)",
        y_label="metametric",
        curves=(
            Curve(name="repeats the log", x=x, y=tuple(pattern[i] for i in order)),
            Curve(
                name="never collides or leaves the road", x=x, y=tuple(flawless[i] for i in order)
            ),
        ),
        finding=(
            f"Never erring lowers the mean score from {a:.3f} to {b:.3f}; {sum(noisy)} of "
            f"{len(noisy)} scenes have a logged collision or off-road step."
        ),
        connected=False,
        numbers={"log_replay": a, "superhuman": b, "noisy_scenes": float(sum(noisy))},
    )


STUDIES: dict[str, Callable[[Sequence[Case], ChallengeConfig], Study]] = {
    "collisions": study_collisions,
    "superhuman": study_superhuman,
    "timing": study_timing,
    "bins": study_bins,
}
