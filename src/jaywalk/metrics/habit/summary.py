"""A run of the suite ``habit`` in the figures of HABIT's tables, pooled over the run.

Everything is a ratio of sums over the run, not a mean of episodes: hits and injuries per km, risk
per hit, needless share of all braking for people, error per forecast. Intervals are exact Poisson
for hits per km, BCa over routes for other ratios, and over people for IRS.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from jaywalk.metrics.driving.aggregate import Figure
from jaywalk.metrics.driving.scorecard import EpisodeScore, RunScore, scenario_of
from jaywalk.metrics.habit.foresight import GROUPS, SCHEMA, irs_of, read_foresight
from jaywalk.metrics.prediction.irs import FPR_TARGETS
from jaywalk.metrics.safety.tracks import load_tracks
from jaywalk.record import open as open_record
from jaywalk.stats import bootstrap
from jaywalk.stats.intervals import poisson_rate

NAMES: Final = {
    "collisions_per_km": "Collisions with people per km",
    "avoidable_per_km": "of these avoidable by braking",
    "unavoidable_per_km": "of these unavoidable",
    "pmais3_percent": "Mean pMAIS3+ of a hit, %",
    "injuries_per_km": "Serious injuries expected per km",
    "fpbr": "Needless share of braking for people (our FPBR)",
    "fpbr_habit": "Share of all braking without a person (HABIT's FPBR)",
    "ade_m": "Error of forecasts (ADE), m",
    **{f"irs_{horizon_s:.0f}s": f"IRS at {horizon_s:.0f} s" for horizon_s in FPR_TARGETS},
}
_RESAMPLES: Final = 4000
_NONE: Final = Figure(value=math.nan, low=math.nan, high=math.nan, n=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class HabitSummary:
    """One run.

    Attributes:
        figures: By the names of ``NAMES``; ``n`` counts hits, braking events, forecasts or samples.
        foresight: Samples of what the agent foresaw; empty when it predicts nobody.
        hits: Every person hit, as the protocol tells it, with ``episode``.
    """

    variant: str
    episodes: int
    km: float
    figures: dict[str, Figure]
    foresight: pl.DataFrame
    hits: list[dict[str, Any]]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "variant": self.variant,
            "km": self.km,
            "hits": len(self.hits),
            "unavoidable_hits": sum(bool(hit["unavoidable"]) for hit in self.hits),
            **{name: _plain(figure) for name, figure in self.figures.items()},
            "irs_by": {by: irs_groups(self.foresight, by) for by in GROUPS},
        }


def is_habit(run: RunScore) -> bool:
    """Whether people of a run were posed by clips, and our protocol tells what became of them."""
    return any(one.detail.get("posed") for one in run.episodes)


def summarise_habit(run: RunScore, folder: Path, *, resamples: int = _RESAMPLES) -> HabitSummary:
    """Figures of a run that was scored under our protocol.

    Args:
        run: The scores.
        folder: Where the run's records are, for what the agent foresaw.
        resamples: Bootstrap replicates.
    """
    episodes = [one for one in run.episodes if "people_hit" in one.detail]
    hits = [
        {**hit, "episode": one.episode_id} for one in episodes for hit in one.detail["people_hit"]
    ]
    samples, variants = [pl.DataFrame(schema=SCHEMA)], []
    for one in episodes:
        if not (one.folder and (folder / one.folder).is_dir()):
            continue
        record = open_record(folder / one.folder)
        variants.append(record.episode.variant)
        tracks = load_tracks(record) if one.detail.get("forecasts") else None
        if tracks is not None:
            samples.append(read_foresight(record, tracks, scenario_of(one)))
    foresight = pl.concat(samples)
    km = math.fsum(_km(one) for one in episodes)
    return HabitSummary(
        variant=", ".join(dict.fromkeys(variants)),
        episodes=len(episodes),
        km=km,
        figures=_figures(episodes, hits, foresight, km, resamples),
        foresight=foresight,
        hits=hits,
    )


def irs_groups(foresight: pl.DataFrame, by: str) -> dict[str, dict[str, float | None]]:
    """IRS at each horizon by class or side; None where too few were inside or outside."""
    found: dict[str, dict[str, float | None]] = {}
    for (group,), rows in foresight.sort(GROUPS[by]).group_by(GROUPS[by], maintain_order=True):
        values = {}
        for horizon_s in sorted(rows["horizon_s"].unique()):
            value = irs_of(rows, horizon_s, resamples=0).value
            values[f"irs_{horizon_s:.0f}s"] = value if math.isfinite(value) else None
        found[str(group)] = values
    return found


def _figures(
    episodes: Sequence[EpisodeScore], hits: list[dict[str, Any]], foresight: pl.DataFrame,
    km: float, resamples: int,
) -> dict[str, Figure]:  # fmt: skip
    routes = [scenario_of(one) for one in episodes]
    kms = [_km(one) for one in episodes]
    route_of = {one.episode_id: scenario_of(one) for one in episodes}
    risky = [hit for hit in hits if math.isfinite(hit["injury_risk"])]
    risks = [100.0 * hit["injury_risk"] for hit in risky]
    injured = [
        math.fsum(h["injury_risk"] for h in one.detail["people_hit"] if h["injury_risk"] >= 0.0)
        for one in episodes
    ]
    unavoidable = sum(bool(hit["unavoidable"]) for hit in hits)
    braked = [float(one.counts.get("braking_events", 0)) for one in episodes]
    needless = [float(one.counts.get("false_braking_events", 0)) for one in episodes]
    foreseen = [_forecasts(one) for one in episodes]
    found = {
        "collisions_per_km": _per_km(len(hits), km),
        "avoidable_per_km": _per_km(len(hits) - unavoidable, km),
        "unavoidable_per_km": _per_km(unavoidable, km),
        "pmais3_percent": _ratio(
            risks, [1.0] * len(risks), [route_of[h["episode"]] for h in risky], resamples
        ),
        "injuries_per_km": _ratio(injured, kms, routes, resamples),
        "fpbr": _ratio(needless, braked, routes, resamples),
        "fpbr_habit": _ratio(
            [float(one.counts.get("all_braking_without_person", 0)) for one in episodes],
            [float(one.counts.get("all_braking_events", 0)) for one in episodes],
            routes,
            resamples,
        ),
        "ade_m": _ratio(
            [error for error, _ in foreseen], [n for _, n in foreseen], routes, resamples
        ),
    }
    for horizon_s in FPR_TARGETS:
        found[f"irs_{horizon_s:.0f}s"] = _irs(foresight, horizon_s, resamples)
    return found


def _irs(foresight: pl.DataFrame, horizon_s: float, resamples: int) -> Figure:
    if foresight.filter(pl.col("horizon_s") == horizon_s).is_empty():
        return _NONE
    found = irs_of(foresight, horizon_s, resamples=resamples)
    return Figure(
        value=found.value, low=found.interval.low, high=found.interval.high, n=found.n_samples,
        warning="; ".join(found.warnings),
    )  # fmt: skip


def _forecasts(one: EpisodeScore) -> tuple[float, float]:
    """Sum of errors and number of forecasts of an episode."""
    told = [part for part in one.detail.get("forecasts", ()) if part["forecasts"]]
    total = math.fsum(part["ade_m"] * part["forecasts"] for part in told)
    return total, float(sum(part["forecasts"] for part in told))


def _per_km(events: int, km: float) -> Figure:
    if km <= 0.0:
        return _NONE
    interval = poisson_rate(events, km)
    return Figure(value=events / km, low=interval.low, high=interval.high, n=events)


def _ratio(
    parts: Sequence[float], wholes: Sequence[float], routes: Sequence[str], resamples: int
) -> Figure:
    """Ratio of sums with its BCa interval over routes; nan where there is nothing to divide by."""
    whole = np.array(wholes, np.float64)
    if not whole.sum() > 0.0:
        return _NONE
    found = bootstrap.ratio(parts, wholes, routes, resamples=resamples)
    return Figure(
        value=found.value, low=found.interval.low, high=found.interval.high,
        n=round(float(whole.sum())), warning=found.warning or "",
    )  # fmt: skip


def _km(one: EpisodeScore) -> float:
    km = one.metrics.get("driven_km", 0.0)
    return km if math.isfinite(km) else 0.0


def _plain(figure: Figure) -> dict[str, Any]:
    values = {"value": figure.value, "low": figure.low, "high": figure.high}
    plain = {name: value if math.isfinite(value) else None for name, value in values.items()}
    return {**plain, "n": figure.n} | ({"warning": figure.warning} if figure.warning else {})
