"""Collisions of the ego, each hit counted once, and the injury risk of a person hit.

The record holds contact intervals. Intervals of the same pair belong to one hit while the pair
stays together: a car that pushes a person along, or scrapes along a wall, has one hit.

The injury risk is the probability of MAIS 3 or more by impact speed. It is equation 8 of HABIT, a
logistic fit by Yanagisawa et al. over frontal crashes: 4 % at 0 m/s, 15 % at 5 m/s, 50 % at 11 m/s.
The value at walking pace is an artefact of the fit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.metrics.driving.summary import EpisodeScore
from jaywalk.metrics.pooling import SHARE, per_km, ratio
from jaywalk.metrics.safety._progress import progress_of
from jaywalk.metrics.spec import NOT_APPLICABLE, MetricInput, MetricResult, count, metric
from jaywalk.record import Record
from jaywalk.record import columns as c
from jaywalk.record.queries import Contact, actor_values, contacts
from jaywalk.record.tracks import COS, SIN, VX, VY, EpisodeTracks

INTERCEPT: Final = 3.164
PER_MPS: Final = 0.288


def serious_injury_risk(impact_mps: float) -> float:
    """P(MAIS 3+) of a person struck at this speed; nan for an unknown speed."""
    return 1.0 / (1.0 + math.exp(INTERCEPT - PER_MPS * impact_mps))


PERSON, ANIMAL, VEHICLE, STATIC = "person", "animal", "vehicle", "static"
# Ground under the wheels; a sensor may name it, but it is not a collision.
GROUND: Final = (
    "static.road",
    "static.roadline",
    "static.sidewalk",
    "static.ground",
    "static.terrain",
)
_FRONT_COS: Final = math.cos(math.radians(60.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class CollisionRules:
    """Rules that merge contacts into hits and decide which body hit the other.

    Attributes:
        together_s: Contacts of a pair less than this apart are one hit. The Leaderboard remembers
            the last actor hit for five seconds, too.
        standing_mps: A slower body is standing.
        standing_s: An ego that stood this long before a contact was hit by the other body ...
        setting_off_mps: ... unless it set off during the contact, faster than a push moves it.
        walking_mps: A person who touches the side or rear of an ego this slow walked into it ...
        towards_mps: ... unless the ego moved towards the person faster than this.
    """

    together_s: float = 5.0
    standing_mps: float = 0.1
    standing_s: float = 1.0
    setting_off_mps: float = 1.0
    walking_mps: float = 2.0
    towards_mps: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Collision:
    """One hit. Speeds are those at the last tick before it; nan where unknown.

    Attributes:
        what: person, animal, vehicle or static.
        side: front, side or rear of the ego; empty if unknown.
        ego_stood: The ego had been standing: it did not cause this, and no protocol count of ours
            holds it against the ego.
        walked_into: A person walked into the side or rear of an ego at walking pace. It counts as
            a collision, but the injury curve, which is one of frontal crashes, does not apply.
        injury_risk: P(MAIS 3+); nan unless a person was hit by a moving ego.
    """

    tick: int
    end_tick: int
    time_s: float
    what: str
    other: int | None
    other_type_id: str
    x_m: float
    y_m: float
    speed_mps: float
    other_speed_mps: float
    closing_mps: float
    side: str
    ego_stood: bool
    walked_into: bool
    injury_risk: float

    @property
    def message(self) -> str:
        """The hit in plain words."""
        name = self.other_type_id or "something"
        which = name if self.other is None else f"{self.what} {self.other} ({name})"
        if self.ego_stood:
            return f"{which} ran into the standing ego at {_text(self.other_speed_mps)} m/s"
        speeds = f"at {_text(self.speed_mps)} m/s"
        if self.side in {"side", "rear"}:
            where = "in the side" if self.side == "side" else "from behind"
            return (
                f"Was hit {where} by {which} {speeds}, the other at {_text(self.other_speed_mps)}"
            )
        return f"Hit {which} {speeds}"


def find_collisions(
    record: Record, tracks: EpisodeTracks, rules: CollisionRules | None = None
) -> list[Collision]:
    """Hits of the ego in order of time, those on a standing ego included and marked."""
    rules = rules or CollisionRules()
    ego = int(tracks.number[tracks.ego])
    kinds = actor_values(record, c.KIND)
    collisions = []
    for contact in contacts(record, ego):
        # Writers other than recorders may name the ego second.
        seen = contact if contact.actor == ego else contact.swapped()
        if seen.other_type_id not in GROUND:
            collisions.append(_collision(seen, kinds, tracks, rules))
    return _merge(collisions, tracks, rules)


def expected_injuries(collisions: Iterable[Collision]) -> tuple[float, float]:
    """Mean risk over the people hit (nan if none), and its sum: seriously injured, expected."""
    risks = [hit.injury_risk for hit in collisions if not math.isnan(hit.injury_risk)]
    return (sum(risks) / len(risks) if risks else math.nan), float(sum(risks))


def _text(value: float) -> str:
    return "unknown" if math.isnan(value) else f"{value:.1f}"


def _collision(
    contact: Contact, kinds: dict[int, str], tracks: EpisodeTracks, rules: CollisionRules
) -> Collision:
    at = int(np.clip(np.searchsorted(tracks.tick, contact.tick), 0, len(tracks.tick) - 1))
    other = contact.other
    type_id = contact.other_type_id or _type_of(tracks, other)
    what = _what(kinds.get(other, "") if other is not None else "", type_id)
    speed = tracks.speed_mps(tracks.ego)
    stood = _stood(speed, tracks, at, contact.end_tick, rules)
    known = contact.speed_mps
    impact = float(speed[max(at - 1, 0)]) if math.isnan(known) else known
    pose = tracks.ego_pose[at]
    normal = contact.normal_x, contact.normal_y
    side = _side(*normal, pose[COS], pose[SIN])
    walked = what == PERSON and not stood and side in {"side", "rear"}
    before = tracks.ego_pose[max(at - 1, 0)]
    towards = -float(before[VX] * normal[0] + before[VY] * normal[1])
    walked = walked and impact <= rules.walking_mps and towards <= rules.towards_mps
    at_risk = what == PERSON and not stood and not walked
    x, y = contact.x_m, contact.y_m
    return Collision(
        tick=contact.tick,
        end_tick=contact.end_tick,
        time_s=float(tracks.time_s[at]),
        what=what,
        other=other,
        other_type_id=type_id,
        x_m=float(pose[0]) if math.isnan(x) else x,
        y_m=float(pose[1]) if math.isnan(y) else y,
        speed_mps=impact,
        other_speed_mps=contact.other_speed_mps,
        closing_mps=contact.closing_mps,
        side=side,
        ego_stood=stood,
        walked_into=walked,
        injury_risk=serious_injury_risk(impact) if at_risk else math.nan,
    )


def _stood(
    speed: FloatArray, tracks: EpisodeTracks, at: int, end_tick: int, rules: CollisionRules
) -> bool:
    """Return whether the ego stood before the contact and did not set off during it."""
    recent = tracks.time_s >= tracks.time_s[at] - rules.standing_s
    recent &= np.arange(len(speed)) < max(at, 1)
    during = (tracks.tick >= tracks.tick[at]) & (tracks.tick <= end_tick)
    return bool(
        np.all(speed[recent] < rules.standing_mps) and np.all(speed[during] < rules.setting_off_mps)
    )


def _type_of(tracks: EpisodeTracks, other: int | None) -> str:
    at = np.flatnonzero(tracks.number == (-1 if other is None else other))
    return tracks.type_id[int(at[0])] if len(at) else ""


def _what(kind: str, type_id: str) -> str:
    if type_id.startswith("walker.animal"):
        return ANIMAL
    if kind == "walker" or type_id.startswith("walker"):
        return PERSON
    return VEHICLE if kind == "vehicle" or type_id.startswith("vehicle") else STATIC


def _side(normal_x: float, normal_y: float, cos: float, sin: float) -> str:
    """Return the touched side of the ego; the normal points from the other body to the ego."""
    ahead = -(normal_x * cos + normal_y * sin)
    if math.isnan(ahead):
        return ""
    if ahead >= _FRONT_COS:
        return "front"
    return "rear" if ahead <= -_FRONT_COS else "side"


def _merge(
    collisions: list[Collision], tracks: EpisodeTracks, rules: CollisionRules
) -> list[Collision]:
    times = dict(zip(tracks.tick.tolist(), tracks.time_s.tolist(), strict=True))
    latest: dict[tuple[int | None, str], int] = {}
    hits: list[Collision] = []
    for hit in collisions:
        # Scenery has no number: contacts with the same sort of thing in a row are one scrape.
        pair = (hit.other, "" if hit.other is not None else hit.other_type_id)
        at = latest.get(pair)
        if at is not None:
            ended_s = times.get(hits[at].end_tick, hits[at].time_s)
            if hit.time_s - ended_s < rules.together_s and hits[at].ego_stood == hit.ego_stood:
                # A person who walked into its side and then was run over was hit, at that speed.
                kept = hit if hits[at].walked_into and not hit.walked_into else hits[at]
                hits[at] = replace(kept, end_tick=max(hits[at].end_tick, hit.end_tick))
                continue
        latest[pair] = len(hits)
        hits.append(hit)
    return sorted(hits, key=lambda one: one.tick)


def hits_of(episode: MetricInput) -> list[Collision]:
    """Return the hits of a scored episode, including those on a standing ego."""
    return find_collisions(episode.record, episode.tracks, episode.rules_of(CollisionRules))


def _counted_hits(episode: MetricInput, what: str = "") -> int:
    """Return hits that count against the ego, of one kind or of all kinds."""
    hits = (hit for hit in episode.shared(hits_of) if not hit.ego_stood)
    return sum(not what or hit.what == what for hit in hits)


def _per_km(value: float, episode: MetricInput) -> MetricResult:
    km = episode.shared(progress_of).driven_km
    return MetricResult(value / km) if km > 0.0 else NOT_APPLICABLE


def _all_collisions(score: EpisodeScore) -> float:
    return float(sum(n for name, n in score.counts.items() if name.startswith("collisions_")))


def _judged_hits(score: EpisodeScore) -> float:
    """Hits with a known risk of injury."""
    hits = score.detail.get("hits")
    if hits is not None:
        return float(sum(math.isfinite(hit["injury_risk"]) for hit in hits))
    risk, injured = (score.result(name).value for name in ("pmais3_mean", _INJURIES))
    return round((injured or 0.0) / risk) if risk is not None and risk > 0 else 0.0


_INJURIES: Final = "serious_injuries_expected"


@count("collisions_person", label="Collisions with people", group="collisions", primary=True)
def _collisions_person(episode: MetricInput) -> int:
    """People hit by the moving ego."""
    return _counted_hits(episode, PERSON)


@count("collisions_animal", label="Collisions with animals", group="collisions")
def _collisions_animal(episode: MetricInput) -> int:
    """Animals hit by the moving ego."""
    return _counted_hits(episode, ANIMAL)


@count("collisions_vehicle", label="Collisions with vehicles", group="collisions")
def _collisions_vehicle(episode: MetricInput) -> int:
    """Vehicles hit by the moving ego."""
    return _counted_hits(episode, VEHICLE)


@count("collisions_static", label="Collisions with objects", group="collisions")
def _collisions_static(episode: MetricInput) -> int:
    """Props and scenery hit by the moving ego."""
    return _counted_hits(episode, STATIC)


@count(
    "hit_while_standing",
    label="Hit while standing",
    group="hit while standing",
    direction="none",
)
def _hit_while_standing(episode: MetricInput) -> int:
    """Bodies that ran into the standing ego; not held against it."""
    return sum(hit.ego_stood for hit in episode.shared(hits_of))


@metric(
    "collisions_per_km",
    unit="per km",
    direction="lower",
    label="Collisions",
    group="collisions",
    requires="a driven distance",
    pooling=per_km(_all_collisions, "all collisions"),
)
def _collisions_per_km(episode: MetricInput) -> MetricResult:
    """Hits of any kind by the moving ego, per km driven."""
    return _per_km(_counted_hits(episode), episode)


@metric(
    "collisions_person_per_km",
    unit="per km",
    direction="lower",
    label="Collisions with people",
    group="collisions",
    requires="a driven distance",
    pooling=per_km("collisions_person"),
    primary=True,
)
def _collisions_person_per_km(episode: MetricInput) -> MetricResult:
    """People hit by the moving ego, per km driven."""
    return _per_km(_counted_hits(episode, PERSON), episode)


@metric(
    "pmais3_mean",
    unit="probability",
    direction="lower",
    label="Injury risk of a hit (pMAIS3+)",
    group="collisions",
    requires="a hit person with a known risk",
    pooling=ratio(_INJURIES, _judged_hits, words=f"{_INJURIES} / people hit", bounds=SHARE),
)
def _pmais3_mean(episode: MetricInput) -> MetricResult:
    """Mean probability of a serious injury over the people hit."""
    return MetricResult.of(expected_injuries(episode.shared(hits_of))[0])


@metric(
    _INJURIES,
    unit="people",
    direction="lower",
    label="Serious injuries expected",
    group="collisions",
)
def _serious_injuries_expected(episode: MetricInput) -> MetricResult:
    """Expected number of seriously injured people: sum of the risks of all hits."""
    return MetricResult(expected_injuries(episode.shared(hits_of))[1])


@metric(
    "serious_injuries_per_km",
    unit="per km",
    direction="lower",
    label="Serious injuries expected",
    group="collisions",
    requires="a driven distance",
    pooling=ratio(_INJURIES, "driven_km"),
)
def _serious_injuries_per_km(episode: MetricInput) -> MetricResult:
    """Expected number of seriously injured people per km driven."""
    return _per_km(expected_injuries(episode.shared(hits_of))[1], episode)
