"""Figures of HABIT's tables for a run of the suite ``habit``, pooled over the run.

All figures are ratios of sums over the run, as `driving.rates` defines them: hits and injuries per
km, risk per hit, needless share of all braking for people, error per forecast. They equal those of
``jaywalk score``; IRS has intervals over people. Tables list hits of people per km and per
encounter, by class, side, speed, weather and age.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from jaywalk.core.errors import DataError, UsageError
from jaywalk.metrics.driving.rates import NOTHING, PER_KM, RESAMPLES, Figure, figure_json, pooled
from jaywalk.metrics.driving.summary import EpisodeScore, RunScore, jsonable, scenario_of
from jaywalk.metrics.pooling import Pooling, km_of, per_km
from jaywalk.metrics.prediction.irs import FPR_TARGETS
from jaywalk.metrics.safety._progress import measure_progress
from jaywalk.metrics.safety.foresight import GROUPS as FORESIGHT_GROUPS
from jaywalk.metrics.safety.foresight import SCHEMA, irs_of, read_foresight
from jaywalk.metrics.safety.person_hits import PersonHit, find_person_hits, read_stories, weather_of
from jaywalk.metrics.spec import spec_of
from jaywalk.record import Record, find_records
from jaywalk.record import open as open_record
from jaywalk.record.run import RunFolder, checked_hash
from jaywalk.record.tracks import load_tracks
from jaywalk.stats.clustered import clustered_rate
from jaywalk.stats.intervals import FEW_CLUSTERS, Interval

_METRIC_OF: Final = {  # figure -> the registered metric or count that it pools
    "collisions_per_km": "collisions_person_per_km",
    "avoidable_per_km": "",
    "unavoidable_per_km": "unavoidable_person",
    "pmais3_percent": "pmais3_mean",
    "injuries_per_km": "serious_injuries_per_km",
    "fpbr": "fpbr",
    "fpbr_reactions": "fpbr_reactions",
    "fpbr_habit": "fpbr_habit",
    "ade_m": "forecast_ade_m",
}
_PARTS: Final = {  # figures that stand below the one they are a part of
    "avoidable_per_km": "of these avoidable by braking",
    "unavoidable_per_km": "of these unavoidable",
}
_IRS: Final = {f"irs_{horizon_s:.0f}s": horizon_s for horizon_s in FPR_TARGETS}
FIGURES: Final = (*_METRIC_OF, *_IRS)
_PERCENT: Final = "_percent"
_IRS_RESAMPLES: Final = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class HabitSummary:
    """HABIT's figures of one run.

    Attributes:
        figures: Figures by the names of ``FIGURES``; ``n`` counts hits, braking events, forecasts
            or samples.
        foresight: Samples of the agent's forecasts; empty if it gives no forecasts.
        hits: Every person hit, as the protocol describes it, with ``episode``.
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
            "irs_by": {by: irs_groups(self.foresight, by) for by in FORESIGHT_GROUPS},
        }


def is_habit(run: RunScore) -> bool:
    """Return whether a run has posed people, scored by Jaywalk's protocol."""
    return any(episode.detail.get("posed") for episode in run.episodes)


def summarise_habit(
    run: RunScore, folder: Path, *, resamples: int = RESAMPLES, irs_resamples: int = _IRS_RESAMPLES
) -> HabitSummary:
    """Return the figures of a run that was scored under Jaywalk's protocol.

    Args:
        run: The scores.
        folder: Folder of the run's records, for the agent's forecasts.
        resamples: Bootstrap replicates.
        irs_resamples: Those of IRS, which is slow to compute.
    """
    episodes = [episode for episode in run.episodes if "people_hit" in episode.detail]
    hits = [
        {**hit, "episode": episode.episode_id}
        for episode in episodes
        for hit in episode.detail["people_hit"]
    ]
    samples, variants = [pl.DataFrame(schema=SCHEMA)], []
    for episode in episodes:
        if not (episode.folder and (folder / episode.folder).is_dir()):
            continue
        record = open_record(folder / episode.folder)
        variants.append(record.episode.variant)
        tracks = load_tracks(record) if episode.detail.get("forecasts") else None
        if tracks is not None:
            samples.append(read_foresight(record, tracks, scenario_of(episode)))
    foresight = pl.concat(samples)
    return HabitSummary(
        variant=", ".join(dict.fromkeys(variants)),
        episodes=len(episodes),
        km=math.fsum(km_of(episode) for episode in episodes),
        figures=_figures(episodes, foresight, resamples, irs_resamples),
        foresight=foresight,
        hits=hits,
    )


def irs_groups(foresight: pl.DataFrame, by: str) -> dict[str, dict[str, float | None]]:
    """IRS at each horizon by class or side; None where too few were inside or outside."""
    groups: dict[str, dict[str, float | None]] = {}
    column = FORESIGHT_GROUPS[by]
    for (group,), rows in foresight.sort(column).group_by(column, maintain_order=True):
        values = {}
        for horizon_s in sorted(rows["horizon_s"].unique()):
            value = irs_of(rows, horizon_s, resamples=0).value
            values[f"irs_{horizon_s:.0f}s"] = value if math.isfinite(value) else None
        groups[str(group)] = values
    return groups


def _figures(
    episodes: Sequence[EpisodeScore], foresight: pl.DataFrame, resamples: int, irs_resamples: int
) -> dict[str, Figure]:
    figures = {
        name: pooled(_pooling(name), episodes, resamples=resamples).scaled(
            100.0 if name.endswith(_PERCENT) else 1.0
        )
        for name in _METRIC_OF
    }
    if not any(km_of(episode) > 0.0 for episode in episodes):
        figures |= {name: NOTHING for name in figures if name.endswith(PER_KM)}
    for name, horizon_s in _IRS.items():
        figures[name] = _irs(foresight, horizon_s, irs_resamples)
    return figures


def figure_label(name: str) -> str:
    """Words and unit of a figure for tables."""
    if name in _IRS:
        return f"IRS at {_IRS[name]:.0f} s"
    if name in _PARTS:
        return _PARTS[name]
    spec = spec_of(_METRIC_OF[name])
    if name.endswith(PER_KM):
        return f"{spec.label} per km"
    unit = "%" if name.endswith(_PERCENT) else spec.shown_unit
    return f"{spec.label}, {unit}" if unit else spec.label


def _pooling(name: str) -> Pooling:
    metric = _METRIC_OF[name]
    return spec_of(metric).pooling if metric else per_km(_avoidable, "avoidable collisions")


def _avoidable(one: EpisodeScore) -> float:
    return float(one.counts.get("collisions_person", 0) - one.counts.get("unavoidable_person", 0))


def _irs(foresight: pl.DataFrame, horizon_s: float, resamples: int) -> Figure:
    if foresight.filter(pl.col("horizon_s") == horizon_s).is_empty():
        return NOTHING
    sensitivity = irs_of(foresight, horizon_s, resamples=resamples)
    return Figure(
        value=sensitivity.value,
        low=sensitivity.interval.low,
        high=sensitivity.interval.high,
        n=sensitivity.n_samples,
        warning="; ".join(sensitivity.warnings),
        clusters=sensitivity.n_tracks,
    )


GROUPS: Final = (
    "class",
    "subcategory",
    "clip",
    "side",
    "place",
    "age",
    "did",
    "speed",
    "weather",
    "phase",
)
_OF_HITS: Final = ("speed", "phase")  # groups that only a hit has: no meetings to divide by


@dataclass(frozen=True, slots=True, kw_only=True)
class HabitRow:
    """One group of people of a run.

    Attributes:
        people: People of the group whom the ego met (who began to move when it came).
        hits: People of the group hit by the moving ego.
        unavoidable: Of those, people who stepped out within the braking distance.
        per_km: Hits per km driven (of the whole run; of the group's episodes for weathers).
        interval: Exact Poisson interval, 95 %, widened by the design effect of routes.
        few_clusters: Whether there are fewer than 20 routes.
        injury_risk: Mean P(MAIS 3+) over the hits; nan without any.
        injured_per_km: Expected seriously injured people per km.
        began_s: Mean time before the hit at which braking would last have done.
    """

    group: str
    people: int
    hits: int
    unavoidable: int
    driven_km: float
    per_km: float
    interval: Interval
    few_clusters: bool
    injury_risk: float
    injured_per_km: float
    began_s: float

    def as_dict(self) -> dict[str, Any]:
        """For JSON; nan becomes None."""
        values = asdict(self) | {"interval": [self.interval.low, self.interval.high]}
        return {
            key: None if isinstance(value, float) and math.isnan(value) else value
            for key, value in values.items()
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Met:
    hits: list[PersonHit]
    people: Counter[str]
    km: float
    weather: str
    route: str


def habit_table(run: Path, by: str) -> list[HabitRow]:
    """Return the rows of a run, most hits first, with ``all`` as the last row.

    Raises:
        UsageError: The grouping does not exist.
        DataError: The folder holds no record, or a record was changed after it was written.
    """
    if by not in GROUPS:
        raise UsageError(f"--by is '{by}', expected one of {', '.join(GROUPS)}.")
    folders = list(find_records(run))
    if not folders:
        raise DataError(f"'{run}' holds no record.")
    hashes = RunFolder(run).written_hashes()
    for folder in folders:
        if folder.name in hashes:
            checked_hash(folder, hashes[folder.name])
    met = [_meet(open_record(folder), by) for folder in folders]
    return table_of(met, by)


def _meet(record: Record, by: str) -> _Met:
    people: Counter[str] = Counter()
    weather, _ = weather_of(record)
    for story in read_stories(record).values():
        if story.trigger_tick is None or by in _OF_HITS:
            continue
        named = {"class": story.intended, "did": story.did, "weather": weather}.get(by)
        people[str(getattr(story, by) if named is None else named) or "unknown"] += 1
    tracks = load_tracks(record)
    km = measure_progress(record, tracks).driven_km if tracks is not None else 0.0
    return _Met(
        hits=find_person_hits(record),
        people=people,
        km=km,
        weather=weather,
        route=scenario_of(record.episode),
    )


def table_of(met: Sequence[_Met], by: str) -> list[HabitRow]:
    """Rows of episodes that were read already."""
    hits = [hit for one in met for hit in one.hits]
    people: Counter[str] = Counter()
    for one in met:
        people.update(one.people)
    names = sorted({hit.group(by) for hit in hits} | set(people))
    rows = []
    for name in names:
        own = [one for one in met if by != "weather" or one.weather == name]
        chosen = [[hit for hit in one.hits if hit.group(by) == name] for one in own]
        rows.append(_row(name, people[name], own, chosen))
    rows.sort(key=lambda row: (-row.hits, row.group))
    return [*rows, _row("all", sum(people.values()), met, [one.hits for one in met])]


def _row(
    name: str, people: int, met: Sequence[_Met], chosen: Sequence[list[PersonHit]]
) -> HabitRow:
    """A row of the episodes ``met``, of whose hits only ``chosen`` count."""
    hits = [hit for of_episode in chosen for hit in of_episode]
    kms, routes = [one.km for one in met], [one.route for one in met]
    km = math.fsum(kms)
    interval = clustered_rate([len(of) for of in chosen], kms, routes) if km > 0.0 else None
    risks = [hit.hit.injury_risk for hit in hits if not math.isnan(hit.hit.injury_risk)]
    nan = math.nan
    return HabitRow(
        group=name,
        people=people,
        hits=len(hits),
        unavoidable=sum(hit.unavoidable for hit in hits),
        driven_km=km,
        per_km=len(hits) / km if km > 0.0 else nan,
        interval=interval or Interval(nan, nan, 0.95),
        few_clusters=len(set(routes)) < FEW_CLUSTERS,
        injury_risk=sum(risks) / len(risks) if risks else nan,
        injured_per_km=sum(risks) / km if km > 0.0 else nan,
        began_s=sum(hit.began_s for hit in hits) / len(hits) if hits else nan,
    )
