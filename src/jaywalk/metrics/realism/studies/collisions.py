"""One collision in each of many rollouts, against many collisions in one rollout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from jaywalk.metrics.realism.bounds import UPPER, replaced
from jaywalk.metrics.realism.challenge import ChallengeConfig
from jaywalk.metrics.realism.features import CaseFeatures, Features, case_features
from jaywalk.metrics.realism.scene import Case
from jaywalk.metrics.realism.score import aggregate, score_features
from jaywalk.metrics.realism.studies.curve import Curve, Study

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
