"""Tables of a run: hits of people per km and per meeting, by class, side, speed, weather, age."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from jaywalk.core.errors import DataError, UsageError
from jaywalk.metrics.driving.scorecard import scenario_of
from jaywalk.metrics.habit.hits import PersonHit, find_person_hits, weather_of
from jaywalk.metrics.habit.stories import read_stories
from jaywalk.metrics.safety.progress import measure_progress
from jaywalk.metrics.safety.tracks import load_tracks
from jaywalk.record import Record, find_records
from jaywalk.record import open as open_record
from jaywalk.stats.clustered import clustered_rate
from jaywalk.stats.intervals import FEW_CLUSTERS, Interval

GROUPS: Final = (
    "class", "subcategory", "clip", "side", "place", "age", "did", "speed", "weather", "phase",
)  # fmt: skip
_OF_HITS: Final = ("speed", "phase")  # groups that only a hit has: no meetings to divide by


@dataclass(frozen=True, slots=True, kw_only=True)
class HabitRow:
    """One group of people of a run.

    Attributes:
        people: People of the group whom the ego met (who began to move when it came).
        hits: People of the group hit by the moving ego.
        unavoidable: Of those, who stepped out inside any braking distance.
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
    """Rows of a run, most hits first, and ``all`` as the last one.

    Raises:
        UsageError: There is no such grouping.
        DataError: The folder holds no record.
    """
    if by not in GROUPS:
        raise UsageError(f"--by is '{by}', expected one of {', '.join(GROUPS)}.")
    folders = list(find_records(run))
    if not folders:
        raise DataError(f"'{run}' holds no record.")
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
        hits=find_person_hits(record), people=people, km=km, weather=weather,
        route=scenario_of(record.episode),
    )  # fmt: skip


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
