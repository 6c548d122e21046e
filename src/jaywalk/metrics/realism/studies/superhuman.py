"""A flawless driver against one who repeats the log's errors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaywalk.metrics.realism.bounds import UPPER, replaced
from jaywalk.metrics.realism.challenge import ChallengeConfig
from jaywalk.metrics.realism.features import case_features
from jaywalk.metrics.realism.likelihoods import event_mask, happened
from jaywalk.metrics.realism.scene import Case
from jaywalk.metrics.realism.score import score_features
from jaywalk.metrics.realism.studies.curve import Curve, Study
from jaywalk.metrics.realism.superhuman import SAFETY_EVENTS, without_events


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
