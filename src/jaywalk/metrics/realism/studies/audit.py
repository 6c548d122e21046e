"""Label noise: events in the log itself, and how much of the score they decide.

Rollouts are rewarded for repeating a logged collision or off-road step. In normal traffic most of
these are errors of boxes and maps, not of drivers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from jaywalk.metrics.realism._features import CaseFeatures, Features, case_features
from jaywalk.metrics.realism.bounds import UPPER, replaced
from jaywalk.metrics.realism.challenge import EVENTS, ChallengeConfig
from jaywalk.metrics.realism.scene import Case
from jaywalk.metrics.realism.score import (
    RATE_OF,
    SceneScore,
    aggregate,
    event_mask,
    happened,
    score_features,
)
from jaywalk.metrics.realism.studies.studies import without_events
from jaywalk.stats.intervals import Interval, wilson


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedEvents:
    """Frequency of an event in the log."""

    agents: int
    scenarios: int
    share: float
    interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """Logged events and their effect on the metametric.

    Attributes:
        events: By rate name.
        n_scenarios: Scenes looked at; ``n_agents`` evaluated agents in them.
        n_agents: See ``n_scenarios``.
        log_replay: Metametric of the log repeated.
        superhuman: The same without collisions and off-road steps: what a flawless driver loses.
        score: Metametric of the given rollouts.
        score_unlabelled: The same without the logged collisions and off-road steps.
        clean: Names of the scenes without any logged collision or off-road step.
    """

    events: dict[str, LoggedEvents]
    n_scenarios: int
    n_agents: int
    log_replay: float
    superhuman: float
    score: float
    score_unlabelled: float
    clean: tuple[str, ...]


def _unlabelled(features: CaseFeatures) -> CaseFeatures:
    """Return the features with collisions and off-road steps removed from the log."""
    swapped = without_events(replace(features, sim=features.log))
    return replace(features, log=Features(series=features.log.series, events=swapped.sim.events))


def _counted(flags: list[np.ndarray[tuple[int], np.dtype[np.bool_]]]) -> LoggedEvents:
    agents, total = sum(int(f.sum()) for f in flags), sum(len(f) for f in flags)
    return LoggedEvents(
        agents=agents,
        scenarios=sum(bool(f.any()) for f in flags),
        share=agents / total,
        interval=wilson(agents, total),
    )


def audit(cases: Sequence[Case], config: ChallengeConfig) -> Audit:
    """Count logged events and score with and without them."""
    given, unlabelled, replay, flawless = [], [], [], []
    flags: dict[str, list[np.ndarray[tuple[int], np.dtype[np.bool_]]]] = {e: [] for e in EVENTS}
    for case, repeated in zip(cases, replaced(cases, UPPER), strict=True):
        n = len(case.rollouts)
        features, logged = case_features(case, config), case_features(repeated, config)
        for event in EVENTS:
            flags[event].append(happened(features.log, event, event_mask(event, features))[0])

        def scored(of: CaseFeatures, name: str = case.scene.name, n: int = n) -> SceneScore:
            return score_features(name, of, config, n)

        given.append(scored(features))
        unlabelled.append(scored(_unlabelled(features)))
        replay.append(scored(logged))
        flawless.append(scored(without_events(logged)))
    noisy = [
        bool(a.any() or b.any())
        for a, b in zip(flags["collision_indication"], flags["offroad_indication"], strict=True)
    ]
    return Audit(
        events={RATE_OF[event]: _counted(found) for event, found in flags.items()},
        n_scenarios=len(cases),
        n_agents=sum(s.n_agents for s in given),
        log_replay=aggregate(replay, config).metametric,
        superhuman=aggregate(flawless, config).metametric,
        score=aggregate(given, config).metametric,
        score_unlabelled=aggregate(unlabelled, config).metametric,
        clean=tuple(s.name for s, bad in zip(given, noisy, strict=True) if not bad),
    )
