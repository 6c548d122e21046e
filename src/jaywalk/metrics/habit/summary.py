"""A run of the suite ``habit`` in the figures of HABIT's tables, pooled over the run.

Everything is a ratio of sums over the run, as `driving.rates` defines it: hits and injuries per km,
risk per hit, needless share of all braking for people, error per forecast. The figures are those of
``jaywalk score``; IRS has intervals over people.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from jaywalk.metrics.driving.rates import (
    NOTHING,
    PER_KM,
    POOLED,
    RESAMPLES,
    Figure,
    Pooled,
    figure_json,
    km_of,
    pooled,
    pooled_rule,
)
from jaywalk.metrics.driving.scorecard import EpisodeScore, RunScore, scenario_of
from jaywalk.metrics.driving.summary import jsonable
from jaywalk.metrics.habit.foresight import GROUPS, SCHEMA, irs_of, read_foresight
from jaywalk.metrics.prediction.irs import FPR_TARGETS
from jaywalk.metrics.safety.tracks import load_tracks
from jaywalk.record import open as open_record

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
_IRS_RESAMPLES: Final = 4000


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
            **jsonable({name: figure_json(figure) for name, figure in self.figures.items()}),
            "irs_by": {by: irs_groups(self.foresight, by) for by in GROUPS},
        }


def is_habit(run: RunScore) -> bool:
    """Whether people of a run were posed by clips, and our protocol tells what became of them."""
    return any(one.detail.get("posed") for one in run.episodes)


def summarise_habit(
    run: RunScore, folder: Path, *, resamples: int = RESAMPLES, irs_resamples: int = _IRS_RESAMPLES
) -> HabitSummary:
    """Figures of a run that was scored under our protocol.

    Args:
        run: The scores.
        folder: Where the run's records are, for what the agent foresaw.
        resamples: Bootstrap replicates.
        irs_resamples: Those of IRS, which is slow to compute.
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
    return HabitSummary(
        variant=", ".join(dict.fromkeys(variants)),
        episodes=len(episodes),
        km=math.fsum(km_of(one) for one in episodes),
        figures=_figures(episodes, foresight, resamples, irs_resamples),
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
    episodes: Sequence[EpisodeScore], foresight: pl.DataFrame, resamples: int, irs_resamples: int
) -> dict[str, Figure]:
    rules = {
        "collisions_per_km": _per_km("collisions_person"),
        "avoidable_per_km": Pooled(top=_avoidable, bottom=km_of, kind="events"),
        "unavoidable_per_km": _per_km("unavoidable_person"),
        "pmais3_percent": POOLED["pmais3_mean"],
        "injuries_per_km": POOLED["serious_injuries_per_km"],
        "fpbr": POOLED["fpbr"],
        "fpbr_habit": POOLED["fpbr_habit"],
        "ade_m": POOLED["forecast_ade_m"],
    }
    found = {
        name: pooled(rule, episodes, resamples=resamples).scaled(
            100.0 if name.endswith("_percent") else 1.0
        )
        for name, rule in rules.items()
    }
    if not any(km_of(one) > 0.0 for one in episodes):
        found |= {name: NOTHING for name in found if name.endswith(PER_KM)}
    for horizon_s in FPR_TARGETS:
        found[f"irs_{horizon_s:.0f}s"] = _irs(foresight, horizon_s, irs_resamples)
    return found


def _per_km(count: str) -> Pooled:
    rule = pooled_rule(f"{count}{PER_KM}", (count,))
    assert rule is not None
    return rule


def _avoidable(one: EpisodeScore) -> float:
    return float(one.counts.get("collisions_person", 0) - one.counts.get("unavoidable_person", 0))


def _irs(foresight: pl.DataFrame, horizon_s: float, resamples: int) -> Figure:
    if foresight.filter(pl.col("horizon_s") == horizon_s).is_empty():
        return NOTHING
    found = irs_of(foresight, horizon_s, resamples=resamples)
    return Figure(
        value=found.value, low=found.interval.low, high=found.interval.high, n=found.n_samples,
        warning="; ".join(found.warnings), clusters=found.n_tracks,
    )  # fmt: skip
