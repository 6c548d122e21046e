"""Generalization gap of pairs: both halves and their change, by class and by category.

All rows of all seeds are pooled, as in the benchmark's parser. Intervals draw whole pairs with all
their seeds, so that changes stay paired and similar seeds do not count as independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NotRequired, TypedDict

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.metrics.generalization.split import CATEGORIES, SPLITS
from jaywalk.stats.bootstrap import bca
from jaywalk.stats.clustered import clustered_wilson
from jaywalk.stats.intervals import FEW_CLUSTERS, rule_of_three

Rounding = Literal["none", "parser"]
_Statistic = Callable[[FloatArray], FloatArray]

KEYS: Final[tuple[Literal["ds", "sr", "hm"], ...]] = ("ds", "sr", "hm")
_BOUNDS: Final = (0.0, 100.0)  # of all three
_OF_DIFFERENCE: Final = (-100.0, 100.0)
OTHER: Final = "other"  # category of classes that the benchmark does not have
CATEGORY_OF: Final[Mapping[str, str]] = {
    name: category for category, names in CATEGORIES.items() for name in names
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedRow:
    """One driven route of a pair. ``half`` is one of ``SPLITS``."""

    pair: str
    half: str
    class_name: str
    driving_score: float
    success: bool
    seed: str = ""
    score_no_min_speed: float = math.nan

    @property
    def category(self) -> str:
        """Category of the class."""
        return CATEGORY_OF.get(self.class_name, OTHER)


class HalfScores(TypedDict):
    """Scores of one half of the pairs, in percent; NaN without a row."""

    ds: float  # mean driving score
    ds_no_min_speed: float
    sr: float  # success rate
    hm: float  # harmonic mean of the two
    n: int  # rows


class _Figures(TypedDict):
    base: HalfScores
    generalization: HalfScores
    change_percent: dict[str, float]  # by ``KEYS``, relative to the base half
    difference: dict[str, float]  # by ``KEYS``, in points


class GapIntervals(TypedDict):
    """95 % intervals as lower and upper end, by ``KEYS``; whole pairs are drawn."""

    level: float
    clusters: int  # pairs
    few_clusters: bool  # fewer than 20 pairs
    base: dict[str, list[float]]
    generalization: dict[str, list[float]]
    change_percent: dict[str, list[float]]
    difference: dict[str, list[float]]


class GroupGap(TypedDict):
    """Gap of one class or category that has both halves."""

    category: str
    base_hm: float
    generalization_hm: float
    change_percent: float  # of the harmonic mean
    base_n: int
    generalization_n: int
    base: HalfScores
    generalization: HalfScores
    changes_percent: dict[str, float]
    difference: dict[str, float]
    intervals: GapIntervals


class PairCounts(TypedDict):
    """Number of pairs, and the names of those that lack a half for some seed."""

    n: int
    unpaired: list[str]


class Gap(_Figures):
    """Scores of both halves and their change, as JSON prints them.

    ``headline`` and ``all_pairs`` are set by :func:`headline_gap`.
    """

    categories: dict[str, GroupGap]
    classes: dict[str, GroupGap]
    intervals: GapIntervals
    pairs: PairCounts
    headline: NotRequired[Literal["strong", "all"]]
    all_pairs: NotRequired[Gap]


def gap_of(
    rows: Sequence[PairedRow], *, rounding: Rounding = "none", resamples: int = 10_000
) -> Gap:
    """Return scores of both halves and their change, with 95 % intervals; NaN where undefined.

    Args:
        rows: Driven routes of both halves, any number of seeds.
        rounding: ``parser`` rounds driving score and success rate of the two halves to one
            decimal before the harmonic mean and the changes, as the benchmark's parser does.
        resamples: Bootstrap samples of an interval.
    """
    figures = _figures(rows, rounding)
    return {
        "base": figures["base"],
        "generalization": figures["generalization"],
        "change_percent": figures["change_percent"],
        "difference": figures["difference"],
        "categories": _groups(rows, [*CATEGORIES, OTHER], _by_category, resamples),
        "classes": _groups(rows, sorted({r.class_name for r in rows}), _by_class, resamples),
        "intervals": _intervals(rows, resamples),
        "pairs": _pair_counts(rows),
    }


def headline_gap(
    rows: Sequence[PairedRow],
    strong: Collection[tuple[str, str]] | None,
    *,
    rounding: Rounding = "none",
    resamples: int = 10_000,
) -> Gap:
    """Return the gap over strong pairs, with the gap over all pairs as ``all_pairs``.

    A weak pair shares only its start, so its gap includes differences of the traffic. The
    published protocol does not distinguish weak pairs and averages all pairs.

    Args:
        rows: Driven routes of both halves.
        strong: Pair and seed of the strong pairs; None: unknown, as without records.
        rounding: As for :func:`gap_of`.
        resamples: Bootstrap samples of an interval.

    Returns:
        As :func:`gap_of`, plus ``headline`` (``strong`` or ``all``) and ``all_pairs``. Without a
        strong pair, or where strength is unknown, the headline is over all pairs.
    """
    everything = gap_of(rows, rounding=rounding, resamples=resamples)
    kept = [row for row in rows if strong is not None and (row.pair, row.seed) in strong]
    if not kept:
        return {**everything, "headline": "all", "all_pairs": everything}
    shown = everything
    if len(kept) < len(rows):
        shown = gap_of(kept, rounding=rounding, resamples=resamples)
    return {**shown, "headline": "strong", "all_pairs": everything}


def harmonic_mean(a: float, b: float) -> float:
    """Harmonic mean; 0 if either is 0, NaN if either is negative or NaN."""
    if math.isnan(a) or math.isnan(b) or a < 0.0 or b < 0.0:
        return math.nan
    if a == 0.0 or b == 0.0:
        return 0.0
    return 2.0 / (1.0 / a + 1.0 / b)


def change_percent(old: float, new: float) -> float:
    """Relative change in percent; NaN if the old value is 0."""
    return 100.0 * new / old - 100.0 if old != 0.0 else math.nan


def _by_category(row: PairedRow) -> str:
    return row.category


def _by_class(row: PairedRow) -> str:
    return row.class_name


def _figures(rows: Sequence[PairedRow], rounding: Rounding) -> _Figures:
    base, shift = (_half([r for r in rows if r.half == name], rounding) for name in SPLITS)
    return {
        "base": base,
        "generalization": shift,
        "change_percent": {key: change_percent(base[key], shift[key]) for key in KEYS},
        "difference": {key: shift[key] - base[key] for key in KEYS},
    }


def _half(rows: Sequence[PairedRow], rounding: Rounding) -> HalfScores:
    if not rows:
        nan = math.nan
        return {"ds": nan, "ds_no_min_speed": nan, "sr": nan, "hm": nan, "n": 0}
    ds = float(np.mean([row.driving_score for row in rows]))
    sr = 100.0 * float(np.mean([row.success for row in rows]))
    if rounding == "parser":
        ds, sr = float(np.round(ds, 1)), float(np.round(sr, 1))
    no_speed = float(np.mean([row.score_no_min_speed for row in rows]))
    return {
        "ds": ds,
        "ds_no_min_speed": no_speed,
        "sr": sr,
        "hm": harmonic_mean(ds, sr),
        "n": len(rows),
    }


def _groups(
    rows: Sequence[PairedRow], names: Sequence[str], key: Callable[[PairedRow], str], resamples: int
) -> dict[str, GroupGap]:
    """Each group that has both halves; never rounded."""
    out: dict[str, GroupGap] = {}
    for name in names:
        group = [row for row in rows if key(row) == name]
        figures = _figures(group, "none")
        base, shift = figures["base"], figures["generalization"]
        if not (base["n"] and shift["n"]):
            continue
        out[name] = {
            "category": group[0].category,
            "base_hm": base["hm"],
            "generalization_hm": shift["hm"],
            "change_percent": figures["change_percent"]["hm"],
            "base_n": base["n"],
            "generalization_n": shift["n"],
            "base": base,
            "generalization": shift,
            "changes_percent": figures["change_percent"],
            "difference": figures["difference"],
            "intervals": _intervals(group, resamples),
        }
    return out


def _pair_counts(rows: Sequence[PairedRow]) -> PairCounts:
    """Return the number of pairs, and the pairs that lack a half for some seed."""
    seen: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        seen.setdefault((row.pair, row.seed), set()).add(row.half)
    lonely = sorted({pair for (pair, _), halves in seen.items() if len(halves) < 2})
    return {"n": len({row.pair for row in rows}), "unpaired": lonely}


def _intervals(rows: Sequence[PairedRow], resamples: int) -> GapIntervals:
    """95 % intervals; whole pairs are drawn. ``few_clusters``: fewer than 20 pairs."""
    pairs = sorted({row.pair for row in rows})
    code = {pair: index for index, pair in enumerate(pairs)}
    sums = {name: np.zeros((3, len(pairs))) for name in SPLITS}
    for row in rows:
        values = (row.driving_score, 100.0 * row.success, 1.0)
        sums[row.half][:, code[row.pair]] += values

    def ends_of(statistic: _Statistic, bounds: tuple[float, float] = _BOUNDS) -> list[float]:
        interval = bca(statistic, len(pairs), resamples=resamples, bounds=bounds).interval
        return [interval.low, interval.high]

    values_of = {name: _statistics(sums[name]) for name in SPLITS}
    halves: dict[str, dict[str, list[float]]] = {}
    for name in SPLITS:
        half = [row for row in rows if row.half == name]
        rate = clustered_wilson([r.success for r in half], [code[r.pair] for r in half])
        scaled = rate.scaled(100.0)
        halves[name] = {
            "ds": ends_of(values_of[name]["ds"]),
            "sr": [scaled.low, scaled.high],
            "hm": ends_of(values_of[name]["hm"]),
        }
    base, shift = (values_of[name] for name in SPLITS)
    changes: dict[str, list[float]] = {}
    for key in KEYS:
        ends = ends_of(_relative(base[key], shift[key]), (-100.0, math.inf))
        if not math.isfinite(ends[1]):
            ends = _change_if_equal(base[key], shift[key], len(pairs))
        changes[key] = ends
    return {
        "level": 0.95,
        "clusters": len(pairs),
        "few_clusters": len(pairs) < FEW_CLUSTERS,
        "base": halves[SPLITS[0]],
        "generalization": halves[SPLITS[1]],
        "change_percent": changes,
        "difference": {key: ends_of(_minus(shift[key], base[key]), _OF_DIFFERENCE) for key in KEYS},
    }


def _change_if_equal(old: _Statistic, new: _Statistic, pairs: int) -> list[float]:
    """Interval of a relative change when all pairs agree: both halves by the rule of three."""
    before, after = (float(half(np.ones((1, pairs)))[0]) for half in (old, new))
    if pairs < 2 or not (math.isfinite(before) and math.isfinite(after)):
        return [math.nan, math.nan]
    first, second = (rule_of_three(value, pairs, _BOUNDS) for value in (before, after))
    return [change_percent(first.high, second.low), change_percent(first.low, second.high)]


def _statistics(sums: FloatArray) -> dict[str, _Statistic]:
    """Driving score, success rate and harmonic mean as functions of multiplicities."""

    def mean(row: int) -> _Statistic:
        def statistic(weights: FloatArray) -> FloatArray:
            n = weights @ sums[2]
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.where(n > 0.0, (weights @ sums[row]) / n, np.nan)

        return statistic

    ds, sr = mean(0), mean(1)

    def hm(weights: FloatArray) -> FloatArray:
        a, b = ds(weights), sr(weights)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where((a > 0.0) & (b > 0.0), 2.0 * a * b / (a + b), a * b * 0.0)

    return {"ds": ds, "sr": sr, "hm": hm}


def _relative(old: _Statistic, new: _Statistic) -> _Statistic:
    def statistic(weights: FloatArray) -> FloatArray:
        below = old(weights)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(below > 0.0, 100.0 * new(weights) / below - 100.0, np.nan)

    return statistic


def _minus(a: _Statistic, b: _Statistic) -> _Statistic:
    def statistic(weights: FloatArray) -> FloatArray:
        return a(weights) - b(weights)

    return statistic
