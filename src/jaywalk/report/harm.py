"""Harm to people in a run: those the ego hit or endangered, under any protocol of the page.

It is always counted by the rules of Jaywalk's protocol, since public protocols count no danger
without contact and do not say who was hit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from jaywalk.metrics.driving.rates import Figure, pooled
from jaywalk.metrics.driving.summary import EpisodeScore
from jaywalk.metrics.pooling import km_of, per_km
from jaywalk.metrics.safety.person_hits import read_stories
from jaywalk.record import open as open_record
from jaywalk.report.labels import number
from jaywalk.report.scored_runs import ScoredRun

HARM_PROTOCOL: Final = "jaywalk"
HIT: Final = "collisions_person"
ENDANGERED: Final = "people_endangered"
_CHILD: Final = "child"


@dataclass(frozen=True, slots=True, kw_only=True)
class HarmEvent:
    """A person who was hit or endangered.

    Attributes:
        who: ``child`` or ``person``.
        was_hit: Hit by the moving ego; otherwise endangered.
        walked_into: The person walked into the side of the ego.
        injury_risk: Probability of a serious injury (MAIS3+); NaN for a person not hit.
        message: What happened, in the protocol's words.
    """

    episode_id: str
    time_s: float
    who: str
    was_hit: bool
    walked_into: bool
    injury_risk: float
    message: str

    @property
    def is_child(self) -> bool:
        """Return whether the person is a child."""
        return self.who == _CHILD

    @property
    def words(self) -> str:
        """What happened in a few words."""
        if not self.was_hit:
            return f"endangered a {self.who}"
        if self.walked_into:
            return f"a {self.who} walked into the ego"
        risk = f", {number(100.0 * self.injury_risk)} % risk of a serious injury"
        return f"hit a {self.who}" + (risk if math.isfinite(self.injury_risk) else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHarm:
    """Harm to people in one run; the gravest event first.

    Attributes:
        hit: People hit per km driven.
        endangered: People endangered per km driven.
    """

    events: tuple[HarmEvent, ...]
    episodes: int
    km: float
    hit: Figure
    endangered: Figure

    def count(self, *, was_hit: bool, children: bool = False) -> int:
        """Number of people hit or endangered, or of the children among them."""
        return sum(one.was_hit == was_hit and (one.is_child or not children) for one in self.events)

    @property
    def injuries(self) -> float:
        """Expected number of serious injuries."""
        risks = [one.injury_risk for one in self.events if one.was_hit]
        return math.fsum(risk for risk in risks if math.isfinite(risk))


def harm_of(run: ScoredRun) -> RunHarm:
    """Return the harm to people in a run that was scored under ``HARM_PROTOCOL``."""
    events, counted = [], []
    for episode in run.score.episodes:
        mine = _events_of(run, episode)
        events += mine
        endangered = sum(not event.was_hit for event in mine)
        hit = sum(event.was_hit for event in mine)
        counted.append(
            replace(episode, counts={**episode.counts, HIT: hit, ENDANGERED: endangered})
        )
    return RunHarm(
        events=tuple(sorted(events, key=_gravity)),
        episodes=len(counted),
        km=math.fsum(km_of(one) for one in counted),
        hit=pooled(per_km(HIT), counted),
        endangered=pooled(per_km(ENDANGERED), counted),
    )


def _gravity(event: HarmEvent) -> tuple[bool, float, bool, str, float]:
    risk = event.injury_risk if math.isfinite(event.injury_risk) else 0.0
    return (not event.was_hit, -risk, not event.is_child, event.episode_id, event.time_s)


def _events_of(run: ScoredRun, episode: EpisodeScore) -> list[HarmEvent]:
    hits = {(hit["actor"], hit["tick"]): hit for hit in episode.detail.get("people_hit", ())}
    relevant = [event for event in episode.infractions if event.kind in (HIT, "endangered")]
    if not relevant:
        return []
    ages = _ages(run, episode, hits.values())
    events = []
    for event in relevant:
        was_hit = event.kind == HIT
        if not was_hit and event.other not in ages:
            continue  # a vehicle was endangered
        hit = hits.get((event.other, event.tick), {})
        age = ages.get(event.other, "")
        events.append(
            HarmEvent(
                episode_id=episode.episode_id,
                time_s=event.time_s,
                who=_CHILD if age == _CHILD else "person",
                was_hit=was_hit,
                walked_into=bool(hit.get("walked_into")),
                injury_risk=float(hit.get("injury_risk", math.nan)),
                message=event.message,
            )
        )
    return events


def _ages(
    run: ScoredRun, one: EpisodeScore, hits: Iterable[Mapping[str, Any]]
) -> dict[int | None, str]:
    """Age of each person of an episode by the number in the record."""
    folder = run.episode_folder(one)
    if folder is not None:
        return {actor: story.age for actor, story in read_stories(open_record(folder)).items()}
    return {hit["actor"]: str(hit.get("age", "")) for hit in hits}
