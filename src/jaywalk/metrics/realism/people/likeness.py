"""Similarity of the behaviour of two sets of people, placed between bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import DataError
from jaywalk.core.seeds import stream
from jaywalk.metrics.realism.people.behaviour import (
    FEATURES,
    PeopleSet,
    PersonTrack,
    Samples,
    behaviour,
)
from jaywalk.stats.bootstrap import Estimate, bca

_BINS = 400
_SPLITS = 50
_RESAMPLES = 2000
_MIN_PEOPLE = 5

Cumulative = NDArray[np.float64]
"""Distribution functions [person, grid]: every person counts the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureLikeness:
    """One feature.

    Attributes:
        likeness: 1 as near as two halves of the reference are to each other, 0 as far as people
            who walk at random; with its interval over people.
        distance: Wasserstein distance to the reference, in the feature's unit.
        halves: Distance between halves of the reference; ``random`` and ``straight`` that of
            people who draw a new speed and direction all the time, or keep their first ones.
        random: See ``halves``.
        straight: See ``halves``.
        median: Of the set; ``median_reference`` of the reference.
        median_reference: See ``median``.
        n: People with the feature; ``n_reference`` in the reference.
        n_reference: See ``n``.
    """

    likeness: Estimate
    distance: float
    halves: float
    random: float
    straight: float
    median: float
    median_reference: float
    n: int
    n_reference: int


def _edges(feature: str) -> NDArray[np.float64]:
    return np.linspace(*FEATURES[feature], _BINS + 1)


def _cumulative(samples: list[Samples], feature: str) -> Cumulative:
    edges = _edges(feature)
    rows = []
    for person in samples:
        values = np.clip(person[feature], edges[0], edges[-1])
        if len(values):
            rows.append((np.sort(values).searchsorted(edges, side="right")) / len(values))
    return np.array(rows, dtype=np.float64).reshape(-1, len(edges))


def _distance(a: NDArray[np.float64], b: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    return np.asarray(np.abs(a - b).sum(axis=-1) * step)


def _median(curve: NDArray[np.float64], feature: str) -> float:
    return float(_edges(feature)[min(int((curve >= 0.5).argmax()), _BINS)])


def _halves(rows: Cumulative, step: float, feature: str) -> float:
    rng = stream(0, "realism", "people_halves", feature)
    halves = []
    for _ in range(_SPLITS):
        order = rng.permutation(len(rows))
        a, b = rows[order[: len(rows) // 2]], rows[order[len(rows) // 2 :]]
        halves.append(float(_distance(a.mean(axis=0), b.mean(axis=0), step)))
    return float(np.mean(halves))


def straight_people(reference: PeopleSet) -> PeopleSet:
    """Return the people with each keeping the velocity of their first half second."""
    people = []
    for track in reference.people:
        t = track.time_s - track.time_s[0]
        k = max(1, int(np.searchsorted(t, 0.5)))
        k = min(k, len(t) - 1)
        velocity = (track.xy_m[k] - track.xy_m[0]) / t[k]
        xy = track.xy_m[0] + t[:, None] * velocity
        people.append(PersonTrack(clip=track.clip, time_s=track.time_s, xy_m=xy))
    return PeopleSet(name="straight", people=tuple(people), vehicles=reference.vehicles)


def random_people(reference: PeopleSet, seed: int = 0) -> PeopleSet:
    """Return people with the same starts who draw speed (<= 3 m/s) and direction every 0.5 s."""
    rng = stream(seed, "realism", "random_people")
    people = []
    for track in reference.people:
        t = np.arange(track.time_s[0], track.time_s[-1] + 0.1, 0.1)
        n = len(t) // 5 + 1
        speed, heading = rng.uniform(0.0, 3.0, n), rng.uniform(-np.pi, np.pi, n)
        moves = np.stack([speed * np.cos(heading), speed * np.sin(heading)], axis=1).repeat(5, 0)
        xy = track.xy_m[0] + np.cumsum(moves[: len(t)], axis=0) * 0.1
        people.append(PersonTrack(clip=track.clip, time_s=t, xy_m=xy))
    return PeopleSet(name="random", people=tuple(people), vehicles=reference.vehicles)


def _compare(
    feature: str, ours: Cumulative, reference: Cumulative, random: Cumulative, straight: Cumulative
) -> FeatureLikeness:
    low, high = FEATURES[feature]
    step = (high - low) / _BINS
    truth = reference.mean(axis=0)
    halves = _halves(reference, step, feature)
    worst = float(_distance(random.mean(axis=0), truth, step)) if len(random) else float("nan")
    kept = float(_distance(straight.mean(axis=0), truth, step)) if len(straight) else float("nan")

    def likeness(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        total = weights.sum(axis=1, keepdims=True)
        distance = _distance((weights @ ours) / total, truth, step)
        return np.asarray(1.0 - (distance - halves) / (worst - halves))

    mean = ours.mean(axis=0)
    return FeatureLikeness(
        likeness=bca(likeness, len(ours), resamples=_RESAMPLES),
        distance=float(_distance(mean, truth, step)),
        halves=halves,
        random=worst,
        straight=kept,
        median=_median(mean, feature),
        median_reference=_median(truth, feature),
        n=len(ours),
        n_reference=len(reference),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Recorded people and the bounds derived from them, prepared once."""

    name: str
    recorded: list[Samples]
    random: list[Samples]
    straight: list[Samples]


def reference_of(recorded: PeopleSet) -> Reference:
    """Look at recorded people."""
    return Reference(
        name=recorded.name,
        recorded=behaviour(recorded),
        random=behaviour(random_people(recorded)),
        straight=behaviour(straight_people(recorded)),
    )


def likeness_to(
    name: str, ours: list[Samples], reference: Reference
) -> Mapping[str, FeatureLikeness]:
    """Compare people with recorded ones; features that fewer than five people show are left out."""
    sets = (ours, reference.recorded, reference.random, reference.straight)
    likeness = {}
    for feature in FEATURES:
        a, b, c, d = (_cumulative(s, feature) for s in sets)
        if min(len(a), len(b)) >= _MIN_PEOPLE and len(c):
            likeness[feature] = _compare(feature, a, b, c, d)
    if not likeness:
        raise DataError(
            f"'{name}' and '{reference.name}' have too few people with long tracks: "
            f"{len(ours)} and {len(reference.recorded)}; each needs at least {_MIN_PEOPLE}."
        )
    return likeness


def people_likeness(ours: PeopleSet, reference: PeopleSet) -> Mapping[str, FeatureLikeness]:
    """Compare two sets of people."""
    return likeness_to(ours.name, behaviour(ours), reference_of(reference))
