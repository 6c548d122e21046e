"""Position of a score between that of the log itself and those of uninformed drivers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jaywalk.metrics.realism.baselines import BASELINES
from jaywalk.metrics.realism.challenge import ChallengeConfig
from jaywalk.metrics.realism.intervals import over_scenes
from jaywalk.metrics.realism.scene import Case
from jaywalk.metrics.realism.score import RealismScore, score_cases
from jaywalk.stats.bootstrap import Estimate

UPPER = "log_replay"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Scores of the baselines on the same scenes.

    Attributes:
        scores: By baseline; ``log_replay`` is the upper bound, the others are lower ones.
        normalised: The score as a share of the way from a lower bound (0) to the upper one (1).
    """

    scores: Mapping[str, RealismScore]
    normalised: Mapping[str, Estimate]


def replaced(cases: Sequence[Case], baseline: str) -> list[Case]:
    """Return the cases with their rollouts replaced by as many rollouts of a baseline."""
    make = BASELINES[baseline]
    return [Case(scene=c.scene, rollouts=make(c.scene, len(c.rollouts))) for c in cases]


def bounds(cases: Sequence[Case], score: RealismScore, config: ChallengeConfig) -> Bounds:
    """Score the baselines on the scenes of a score and place it between them."""
    scores = {name: score_cases(replaced(cases, name), config) for name in BASELINES}
    upper = [scene.metametric for scene in scores[UPPER].scenes]
    ours = [scene.metametric for scene in score.scenes]
    normalised = {}
    for name, found in scores.items():
        if name != UPPER:
            lower = [scene.metametric for scene in found.scenes]
            normalised[name] = over_scenes(
                [a - b for a, b in zip(ours, lower, strict=True)],
                [a - b for a, b in zip(upper, lower, strict=True)],
            )
    return Bounds(scores=scores, normalised=normalised)
