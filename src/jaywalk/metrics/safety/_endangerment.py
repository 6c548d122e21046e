"""Endangerment by the ego, and its time to collision with bodies ahead, tick by tick.

The ego endangers a person or vehicle when it crosses too closely behind, cuts in or forces others
to brake hard. Following never counts, nor do people who step out behind the ego. A person or
vehicle that the ego hit is not also endangered.

Time to collision assumes that both bodies keep their present speed, vehicles along the path they
took and people straight on (see :mod:`jaywalk.geometry.encroachment`). Ticks at which the ego
stands, and touches of its rear half, do not count, because the other body causes them.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field, replace

import numpy as np

from jaywalk.core.arrays import BoolArray, FloatArray, IntArray
from jaywalk.geometry.encroachment import times_to_touch
from jaywalk.metrics.driving.summary import EpisodeScore
from jaywalk.metrics.pooling import SHARE, weighted_by
from jaywalk.metrics.safety._collisions import hits_of
from jaywalk.metrics.safety._encounters import EgoEncounter, EncounterRules, find_encounters
from jaywalk.metrics.safety._imposed_braking import (
    ImposedBraking,
    ImposedBrakingRules,
    find_imposed_braking,
)
from jaywalk.metrics.safety._signals import StopControls, read_stop_controls
from jaywalk.metrics.spec import MetricInput, MetricResult, count, metric
from jaywalk.record.tracks import EpisodeTracks

HORIZON_S = 10.0
SHORT_S = 1.5  # the usual limit of a conflict in traffic-conflict studies
MOVING_MPS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeToCollision:
    """Nearest conflict at each tick.

    Attributes:
        ttc_s: (n,) seconds, infinite beyond the horizon.
        other: (n,) index of the other body, -1 for none.
        moving: (n,) whether the ego drove; a standing ego causes no conflict.
    """

    ttc_s: FloatArray
    other: IntArray
    moving: BoolArray

    @property
    def min_s(self) -> float:
        """Smallest of all; nan without any conflict within the horizon."""
        least = float(self.ttc_s.min(initial=np.inf))
        return least if np.isfinite(least) else float("nan")

    @property
    def restricted_s(self) -> float:
        """Smallest of all, capped at the horizon, so that calm drives count; nan if it stood."""
        if not self.moving.any():
            return float("nan")
        return min(float(self.ttc_s.min(initial=np.inf)), HORIZON_S)

    @property
    def is_short(self) -> float:
        """1 if it ever fell below 1.5 s, else 0; nan if the ego stood."""
        return float(self.restricted_s < SHORT_S) if self.moving.any() else float("nan")

    @property
    def short_share(self) -> float:
        """Share of the driving time below 1.5 s; nan if the ego stood."""
        if not self.moving.any():
            return float("nan")
        return float(np.mean(self.ttc_s[self.moving] < SHORT_S))


def time_to_collision(
    tracks: EpisodeTracks, horizon_s: float = HORIZON_S, *, among: Collection[int] | None = None
) -> TimeToCollision:
    """Compute the smallest time to collision with any body, or with some, at each tick."""
    n = len(tracks.time_s)
    best, who = np.full(n, np.inf), np.full(n, -1, np.int64)
    ego = tracks.ego_pose
    moving = tracks.speed_mps(tracks.ego) > MOVING_MPS
    for other in tracks.others if among is None else among:
        wanted = moving & tracks.present[other] & tracks.present[tracks.ego]
        times_s = times_to_touch(
            ego,
            tracks.shape[tracks.ego],
            tracks.pose[other],
            tracks.shape[other],
            wanted,
            horizon_s,
            tracks.kind[other] == "walker",
        )
        nearer = times_s < best
        best[nearer], who[nearer] = times_s[nearer], other
    return TimeToCollision(ttc_s=best, other=who, moving=moving & tracks.present[tracks.ego])


CROSSED_BEHIND, CUT_IN, FORCED_TO_BRAKE = "crossed behind", "cut in", "forced to brake"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndangermentRules:
    """Limits; reasons are in docs/reference/safety.md.

    Attributes:
        pet_s: Smaller post-encroachment times endanger.
        merge_s: Dangers to the same body less than this apart are one.
        meeting: Which meetings count.
        braking: Which braking is imposed.
    """

    pet_s: float = 1.0
    merge_s: float = 5.0
    meeting: EncounterRules = field(default_factory=EncounterRules)
    braking: ImposedBrakingRules = field(default_factory=ImposedBrakingRules)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endangerment:
    """One danger to one body. ``value`` is the PET in s, or the braking in m/s2."""

    other: int
    how: str
    value: float
    tick_at: int
    tick: int
    time_s: float
    x_m: float
    y_m: float
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dangers:
    """Counted dangers, and all encounters for the figures."""

    counted: tuple[Endangerment, ...]
    encounters: tuple[EgoEncounter, ...]

    @property
    def min_pet_s(self) -> float:
        """Smallest PET of the ego's encounters; nan without encounters."""
        return min((met.pet_s for met in self.encounters), default=math.nan)


def find_dangers(
    tracks: EpisodeTracks,
    hit: Collection[int] = (),
    rules: EndangermentRules | None = None,
    controls: StopControls | None = None,
) -> Dangers:
    """Dangers in order of time.

    Args:
        tracks: The episode.
        hit: Numbers of the actors the ego collided with; they are not counted again.
        rules: Limits.
        controls: Lights and signs, which explain braking of others.
    """
    rules = rules or EndangermentRules()
    meeting = replace(rules.meeting, limit_s=rules.pet_s)
    encounters = find_encounters(tracks, meeting)
    found = [_from_encounter(tracks, met) for met in encounters if met.pet_s < rules.pet_s]
    imposed = find_imposed_braking(tracks, rules.braking, controls)
    found += [_from_braking(tracks, one) for one in imposed]
    spared = [one for one in found if int(tracks.number[one.other]) not in hit]
    return Dangers(counted=tuple(_merge(spared, rules.merge_s)), encounters=tuple(encounters))


def _from_encounter(tracks: EpisodeTracks, met: EgoEncounter) -> Endangerment:
    name, speed = tracks.name(met.other), tracks.speed_mps(tracks.ego)[met.tick_at]
    if met.ego_first:
        text = f"Cut in on {name}, which reached the same ground {met.pet_s:.2f} s later"
    else:
        text = f"Crossed {met.pet_s:.2f} s behind {name} at {speed:.1f} m/s"
    return Endangerment(
        other=met.other,
        how=CUT_IN if met.ego_first else CROSSED_BEHIND,
        value=met.pet_s,
        tick_at=met.tick_at,
        tick=int(tracks.tick[met.tick_at]),
        time_s=float(tracks.time_s[met.tick_at]),
        x_m=met.x_m,
        y_m=met.y_m,
        message=text,
    )


def _from_braking(tracks: EpisodeTracks, braking: ImposedBraking) -> Endangerment:
    return Endangerment(
        other=braking.other,
        how=FORCED_TO_BRAKE,
        value=braking.braking_mps2,
        tick_at=braking.tick_at,
        tick=int(tracks.tick[braking.tick_at]),
        time_s=float(tracks.time_s[braking.tick_at]),
        x_m=braking.x_m,
        y_m=braking.y_m,
        message=f"Made {tracks.name(braking.other)} brake with {braking.braking_mps2:.1f} m/s2",
    )


def _merge(endangerments: list[Endangerment], merge_s: float) -> list[Endangerment]:
    """One per body and moment; the first is kept."""
    kept: list[Endangerment] = []
    latest: dict[int, float] = {}
    for one in sorted(endangerments, key=lambda one: (one.time_s, one.other, one.how)):
        if one.time_s - latest.get(one.other, -math.inf) >= merge_s:
            kept.append(one)
        latest[one.other] = one.time_s
    return kept


def dangers_of(episode: MetricInput) -> Dangers:
    """Return the dangers of a scored episode; people and vehicles hit are not counted again."""
    hits = episode.shared(hits_of)
    hit = {one.other for one in hits if one.other is not None and not one.ego_stood}
    controls = read_stop_controls(episode.record, episode.tracks)
    return find_dangers(episode.tracks, hit, episode.rules_of(EndangermentRules), controls)


def ttc_of(episode: MetricInput) -> TimeToCollision:
    """Return the times to collision of a scored episode."""
    return time_to_collision(episode.tracks)


def _moving_s(score: EpisodeScore) -> float:
    """Time in which the ego drove, so that it could have a time to collision."""
    moving_s = score.detail.get("ttc", {}).get("moving_s")
    return moving_s if moving_s is not None and math.isfinite(moving_s) else 0.0


@count("endangered", label="People and others endangered", group="endangerment")
def _endangered(episode: MetricInput) -> int:
    """Dangers: crossed too closely behind, cut in on, or forced to brake hard."""
    return len(episode.shared(dangers_of).counted)


@metric(
    "min_ttc_s",
    unit="s",
    direction="higher",
    label="Least time to collision, capped",
    group="time to collision",
    requires="an ego that drove",
)
def _min_ttc_s(episode: MetricInput) -> MetricResult:
    """Smallest time to collision with anybody; 10 s without a conflict."""
    return MetricResult.of(episode.shared(ttc_of).restricted_s)


@metric(
    "short_ttc_drive",
    unit="share",
    direction="lower",
    label="Share of drives with a time to collision below 1.5 s",
    group="time to collision",
    requires="an ego that drove",
)
def _short_ttc_drive(episode: MetricInput) -> MetricResult:
    """1 if the time to collision ever fell below 1.5 s, else 0."""
    return MetricResult.of(episode.shared(ttc_of).is_short)


@metric(
    "short_ttc_time_share",
    unit="share",
    direction="lower",
    label="Share of driving time with a time to collision below 1.5 s",
    group="time to collision",
    requires="an ego that drove",
    pooling=weighted_by(_moving_s, words="driving time", over_time=True, bounds=SHARE),
)
def _short_ttc_time_share(episode: MetricInput) -> MetricResult:
    """Share of the driving time with a time to collision below 1.5 s."""
    return MetricResult.of(episode.shared(ttc_of).short_share)


@metric(
    "min_pet_s",
    unit="s",
    direction="higher",
    label="Least post-encroachment time",
    group="time to collision",
    requires="a meeting with somebody who crossed or was coming",
)
def _min_pet_s(episode: MetricInput) -> MetricResult:
    """Smallest post-encroachment time of any meeting that the ego had a part in."""
    return MetricResult.of(episode.shared(dangers_of).min_pet_s)
