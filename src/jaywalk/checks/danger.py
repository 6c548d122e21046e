"""Danger of a scenario to one driver: contacts and times to collision with the scenario's actors.

Background traffic and ambient people do not count. A scenario without actors of its own, such as a
light that turns red, is dangerous through infractions while it is active.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from jaywalk.actors.events import END, START
from jaywalk.metrics.driving.summary import EpisodeScore
from jaywalk.metrics.safety._collisions import find_collisions
from jaywalk.metrics.safety._endangerment import SHORT_S, time_to_collision
from jaywalk.record import Record
from jaywalk.record import columns as c
from jaywalk.record.queries import actor_values, event_rows
from jaywalk.record.tracks import read_tracks

AFFECTED_S: Final = 3.0  # a larger time to collision asks for no reaction
_ROLE: Final = "scenario"  # role names of a scenario's actors begin with it
_HARMLESS: Final = ("min_speed_infractions", "outside_route_lanes")
NONE, SLIGHT, NEAR_MISS, RULE, COLLISION, PERSON_HIT = (
    "none",
    "slight",
    "near miss",
    "infraction",
    "collision",
    "person hit",
)
LEVELS: Final = (NONE, SLIGHT, NEAR_MISS, RULE, COLLISION, PERSON_HIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioDanger:
    """Danger of the scenarios of one episode to its driver.

    Attributes:
        min_ttc_s: Smallest time to collision with an actor of a scenario; nan if there is none.
        impact_mps: Highest closing speed of a contact with one; nan without contact.
        hit: What was hit: person, animal, vehicle or static; empty if nothing.
        infractions: Infractions during scenarios that have no actors.
    """

    min_ttc_s: float = math.nan
    impact_mps: float = math.nan
    hit: str = ""
    infractions: tuple[str, ...] = ()

    @property
    def level(self) -> str:
        """Danger in one word or two, one of :data:`LEVELS`."""
        if self.hit:
            return PERSON_HIT if self.hit == "person" else COLLISION
        if self.infractions:
            return RULE
        if self.min_ttc_s < SHORT_S:
            return NEAR_MISS
        return SLIGHT if self.min_ttc_s < AFFECTED_S else NONE

    def as_dict(self) -> dict[str, Any]:
        """Return JSON values; numbers that do not apply are None."""
        return {
            "level": self.level,
            "min_ttc_s": _number(self.min_ttc_s),
            "impact_speed_mps": _number(self.impact_mps),
            "person_hit": self.hit == "person",
            "hit": self.hit,
            "infractions": list(self.infractions),
        }


def scenario_danger(record: Record, score: EpisodeScore) -> ScenarioDanger:
    """Return the danger of an episode's scenarios.

    Args:
        record: The episode.
        score: The episode under a public protocol, for its infractions.
    """
    tracks = read_tracks(record)
    theirs = _scenario_actors(record)
    if not theirs:
        return ScenarioDanger(infractions=_while_active(record, score))
    bodies = [k for k in tracks.others if int(tracks.number[k]) in theirs]
    ttc = time_to_collision(tracks, among=bodies)
    hits = [
        hit for hit in find_collisions(record, tracks) if hit.other in theirs and not hit.ego_stood
    ]
    worst = max(hits, key=lambda hit: (hit.what == "person", _impact(hit)), default=None)
    return ScenarioDanger(
        min_ttc_s=0.0 if hits else ttc.min_s,
        impact_mps=max((_impact(hit) for hit in hits), default=math.nan),
        hit="" if worst is None else worst.what,
    )


def worst_of(dangers: Sequence[ScenarioDanger]) -> ScenarioDanger:
    """Return the worst of some dangers; of equal ones that with the highest impact."""
    return max(
        dangers,
        key=lambda one: (
            LEVELS.index(one.level),
            np.nan_to_num(one.impact_mps, nan=-1.0),
            -np.nan_to_num(one.min_ttc_s, nan=math.inf),
        ),
    )


def in_words(danger: ScenarioDanger, driver: str) -> str:
    """Return the danger to a driver as one sentence."""
    if danger.level == NONE:
        ttc_s = danger.min_ttc_s
        near = "" if math.isnan(ttc_s) else f" (time to collision {ttc_s:.1f} s)"
        return f"a careless driver ({driver}) is not affected{near}"
    if danger.hit:
        what = {"static": "an object"}.get(danger.hit, f"a {danger.hit}")
        what = what.replace("a animal", "an animal")
        speed = "" if math.isnan(danger.impact_mps) else f" at {danger.impact_mps:.1f} m/s"
        return f"danger: {danger.level}; a careless driver ({driver}) hits {what}{speed}"
    if danger.infractions:
        kinds = ", ".join(kind.replace("_", " ") for kind in danger.infractions)
        return f"danger: {danger.level}; a careless driver ({driver}): {kinds}"
    return (
        f"danger: {danger.level}; a careless driver ({driver}) comes within "
        f"{danger.min_ttc_s:.1f} s of a collision"
    )


def _impact(hit: Any) -> float:
    known = [v for v in (hit.closing_mps, hit.speed_mps) if not math.isnan(v)]
    return float(known[0]) if known else 0.0


def _scenario_actors(record: Record) -> set[int]:
    roles = actor_values(record, c.ROLE_NAME)
    return {actor for actor, role in roles.items() if str(role).startswith(_ROLE)}


def _while_active(record: Record, score: EpisodeScore) -> tuple[str, ...]:
    events = event_rows(record, START, END)
    first = events.filter(pl.col(c.KIND) == START)[c.TICK].to_list()
    last = events.filter(pl.col(c.KIND) == END)[c.TICK].to_list()
    if not first:
        return ()
    until = last[-1] if len(last) >= len(first) else math.inf
    kinds = [
        one.kind
        for one in score.infractions
        if one.kind not in _HARMLESS and first[0] <= one.tick <= until
    ]
    return tuple(dict.fromkeys(kinds))


def _number(value: float) -> float | None:
    return round(float(value), 3) if math.isfinite(value) else None
