"""Checks of the reactive model against recorded people, with intervals over people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.stats import wasserstein_distance

from jaywalk.actors.reactive.traits import ATTENTIVE, OBLIVIOUS, PRESETS, ReactionSettings
from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.metrics.realism.people.encounters import Encounter
from jaywalk.rollouts.people.aimed import DRIVES, aimed_contacts
from jaywalk.rollouts.people.fitting import HELD_OUT
from jaywalk.rollouts.people.replay import ReplayCase, Replayed, Replayer, recorded_contact
from jaywalk.stats.bootstrap import Estimate, bca, cluster_codes
from jaywalk.stats.intervals import UNBOUNDED, Interval, clopper_pearson

Said = Callable[[str], None]

RECORDED: Final = "recorded"
STRAIGHT: Final = "scripted"
"""People who walk straight on at their own speed, as those of HABIT's protocol do."""

MEASURES: Final = (
    "contacts",
    "gap_wasserstein_s",
    "gap_ks",
    "distance_wasserstein_m",
    "slows_to",
    "slows_below_0.6",
    "deviation_m",
    "pet_below_1s",
    "pet_below_2s",
    "order_as_recorded",
)
"""``slows_to`` and ``deviation_m`` are medians where the vehicle is first by at most 3 s."""

_CLOSE_S: Final = 3.0
_SHARES: Final = (
    "contacts",
    "gap_ks",
    "slows_below_0.6",
    "pet_below_1s",
    "pet_below_2s",
    "order_as_recorded",
)
_BOUNDS: Final = dict.fromkeys(_SHARES, (0.0, 1.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRow:
    """Results of one model in one part of the data."""

    part: str
    held_out: bool
    model: str
    encounters: int
    found: int
    values: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True, kw_only=True)
class AimedRow:
    """Contacts in drawn encounters that are aimed at the side of a vehicle."""

    model: str
    vehicle: str
    people: str
    drawn: int
    side: int
    front: int
    side_share: Interval


def models(fitted: ReactionSettings | None = None) -> dict[str, ReactionSettings | None]:
    """Return the models that are compared; None stands for walking straight on."""
    known: dict[str, ReactionSettings | None] = {STRAIGHT: None, **PRESETS}
    return known if fitted is None else known | {"fitted": fitted}


def replay_rows(
    cases: Sequence[ReplayCase],
    compared: Mapping[str, ReactionSettings | None],
    said: Said,
    *,
    seed: int = 0,
    resamples: int = 1000,
) -> list[ReplayRow]:
    """Replay every part of the data with every model."""
    rows = []
    parts = sorted({(case.source, case.course) for case in cases})
    for part in parts:
        chosen = [case for case in cases if (case.source, case.course) == part]
        replayer = Replayer(chosen, seed)
        rows.append(_row(part, RECORDED, chosen, _as_recorded(chosen), resamples))
        for name, settings in compared.items():
            said(f"replaying {' '.join(part)} with {name}")
            preset = PRESETS["reactive"] if settings is None else settings
            done = replayer.run(preset, reacts=settings is not None)
            rows.append(_row(part, name, chosen, done, resamples))
    return rows


def _as_recorded(cases: Sequence[ReplayCase]) -> list[Replayed]:
    return [
        Replayed(walk=case.walk, met=case.recorded, contact=recorded_contact(case))
        for case in cases
    ]


def _row(
    part: tuple[str, str],
    model: str,
    cases: Sequence[ReplayCase],
    replayed: Sequence[Replayed],
    resamples: int,
) -> ReplayRow:
    codes, people = cluster_codes([f"{case.scene}#{case.track}" for case in cases])
    functions = _functions(cases, replayed, recorded=model == RECORDED)
    return ReplayRow(
        part=" ".join(part),
        held_out=part == HELD_OUT,
        model=model,
        encounters=len(cases),
        found=sum(one.met is not None for one in replayed),
        values={
            name: bca(
                _over(function, codes),
                people,
                resamples=resamples,
                bounds=_BOUNDS.get(name, UNBOUNDED),
            )
            for name, function in functions.items()
        },
    )


def _over(
    function: Callable[[IntArray], float], codes: IntArray
) -> Callable[[FloatArray], FloatArray]:
    """Make a function of chosen cases one of the numbers of times that each person is drawn."""
    every = np.arange(len(codes))

    def statistic(counts: FloatArray) -> FloatArray:
        times = counts.astype(np.int64)[:, codes]
        return np.array([function(np.repeat(every, row)) for row in times])

    return statistic


def _functions(
    cases: Sequence[ReplayCase], replayed: Sequence[Replayed], *, recorded: bool
) -> dict[str, Callable[[IntArray], float]]:
    met = [one.met for one in replayed]
    contact = np.array([one.contact for one in replayed], np.float64)
    gap = _column(met, "gap_s")
    true_gap = _column([case.recorded for case in cases], "gap_s")
    distance = _column(met, "distance_m")
    true_distance = _column([case.recorded for case in cases], "distance_m")
    close = (gap <= 0.0) & (gap > -_CLOSE_S) & ~_flags(met, "person_first")
    slowest = np.where(close, _column(met, "slowest_share"), np.nan)
    deviation = np.where(close, _column(met, "deviation_m"), np.nan)
    first = _flags(met, "person_first") == _flags([case.recorded for case in cases], "person_first")
    agrees = np.where(np.isnan(gap), np.nan, first.astype(np.float64))
    functions: dict[str, Callable[[IntArray], float]] = {
        "contacts": lambda rows: float(contact[rows].mean()),
        "slows_to": lambda rows: _median(slowest[rows]),
        "slows_below_0.6": lambda rows: _share(slowest[rows], 0.6),
        "deviation_m": lambda rows: _median(deviation[rows]),
        "pet_below_1s": lambda rows: _share(np.abs(gap[rows]), 1.0),
        "pet_below_2s": lambda rows: _share(np.abs(gap[rows]), 2.0),
    }
    if not recorded:
        functions |= {
            "gap_wasserstein_s": lambda rows: _wasserstein(gap[rows], true_gap[rows]),
            "gap_ks": lambda rows: _ks(gap[rows], true_gap[rows]),
            "distance_wasserstein_m": lambda rows: _wasserstein(
                distance[rows], true_distance[rows]
            ),
            "order_as_recorded": lambda rows: _mean(agrees[rows]),
        }
    return functions


def _column(met: Sequence[Encounter | None], name: str) -> FloatArray:
    return np.array([np.nan if one is None else getattr(one, name) for one in met], np.float64)


def _flags(met: Sequence[Encounter | None], name: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return np.array([one is not None and bool(getattr(one, name)) for one in met], np.bool_)


def _known(values: FloatArray) -> FloatArray:
    return np.asarray(values[~np.isnan(values)])


def _mean(values: FloatArray) -> float:
    known = _known(values)
    return float(known.mean()) if len(known) else np.nan


def _median(values: FloatArray) -> float:
    known = _known(values)
    return float(np.median(known)) if len(known) else np.nan


def _share(values: FloatArray, below: float) -> float:
    known = _known(values)
    return float((known < below).mean()) if len(known) else np.nan


def _wasserstein(ours: FloatArray, recorded: FloatArray) -> float:
    a, b = _known(ours), _known(recorded)
    return float(wasserstein_distance(a, b)) if len(a) and len(b) else np.nan


def _ks(ours: FloatArray, recorded: FloatArray) -> float:
    """Statistic of Kolmogorov and Smirnov: scipy's also computes a p-value each time."""
    a, b = _known(ours), _known(recorded)
    if not len(a) or not len(b):
        return np.nan
    a, b = np.sort(a), np.sort(b)
    both = np.concatenate([a, b])
    below_a = np.searchsorted(a, both, side="right") / len(a)
    below_b = np.searchsorted(b, both, side="right") / len(b)
    return float(np.abs(below_a - below_b).max())


def aimed_rows(
    compared: Mapping[str, ReactionSettings | None], drawn: int, said: Said, seed: int = 0
) -> list[AimedRow]:
    """Draw encounters in which a person who does not react walks into a vehicle."""
    rows = []
    for model, settings in compared.items():
        if settings is None:
            continue
        for vehicle in DRIVES:
            said(f"aimed encounters, {vehicle}, {model}")
            rows.append(_aimed_row(model, settings, vehicle, drawn, seed))
    for vehicle in DRIVES:
        said(f"aimed encounters, {vehicle}, oblivious")
        preset, count = PRESETS["reactive"], min(drawn, 500)
        rows.append(_aimed_row("reactive", preset, vehicle, count, seed, OBLIVIOUS))
    return rows


def _aimed_row(
    model: str,
    settings: ReactionSettings,
    vehicle: str,
    count: int,
    seed: int,
    attention: int = ATTENTIVE,
) -> AimedRow:
    contacts = aimed_contacts(vehicle, count, settings, seed=seed, attention=attention)
    return AimedRow(
        model=model,
        vehicle=vehicle,
        people="oblivious" if attention == OBLIVIOUS else "attentive",
        drawn=count,
        side=contacts.side,
        front=contacts.front,
        side_share=clopper_pearson(contacts.side, count),
    )
