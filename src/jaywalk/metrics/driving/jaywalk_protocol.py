"""Protocol ``jaywalk``: our own rules for one recorded episode, and the default.

Hard safety is kept apart from comfort and progress; there is no composed driving score. Success:
the route completed, no collision, no red light, no stop sign passed, nobody endangered, no scenario
that timed out, no failure of the agent. Nothing is counted twice.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np
import polars as pl

from jaywalk.metrics.driving.summary import EpisodeScore, Infraction
from jaywalk.metrics.safety.collisions import (
    Collision,
    CollisionRules,
    expected_injuries,
    find_collisions,
)
from jaywalk.metrics.safety.comfort import Comfort, ComfortBounds, measure_comfort
from jaywalk.metrics.safety.endangerment import (
    HORIZON_S,
    SHORT_S,
    Dangers,
    EndangermentRules,
    TimeToCollision,
    find_dangers,
    time_to_collision,
)
from jaywalk.metrics.safety.false_braking import FalseBraking, FalseBrakingRules, judge_braking
from jaywalk.metrics.safety.forecast_error import ForecastError, forecast_errors
from jaywalk.metrics.safety.person_hits import PersonHit, judge_hits
from jaywalk.metrics.safety.progress import Progress, measure_progress
from jaywalk.metrics.safety.signals import (
    SignalRules,
    SignalViolation,
    find_red_lights,
    find_stop_violations,
    read_stop_controls,
)
from jaywalk.record import Record
from jaywalk.record import columns as c
from jaywalk.record.tracks import EpisodeTracks, load_tracks

PROTOCOL: Final = "jaywalk"
VERSION: Final = 2  # a change that can move a score raises it

COLLISION_KINDS: Final = (
    "collisions_person",
    "collisions_animal",
    "collisions_vehicle",
    "collisions_static",
)
UNAVOIDABLE: Final = "unavoidable_person"  # of the collisions with people
SIDE_CONTACT: Final = "side_contact_person"  # of these, too: somebody walked into the slow ego
SCENARIO_TIMEOUT: Final = "scenario_timeout"  # also the kind of the record's event
COUNT_NAMES: Final = (
    *COLLISION_KINDS,
    UNAVOIDABLE,
    SIDE_CONTACT,
    "red_light",
    "stop",
    "endangered",
    SCENARIO_TIMEOUT,
    "hit_while_standing",
    "braking_events",
    "false_braking_events",
    "all_braking_events",
    "all_braking_without_person",
)
ROUTE_INCOMPLETE, AGENT_FAILURE = "route_incomplete", "agent_failure"


@dataclass(frozen=True, slots=True, kw_only=True)
class JaywalkRules:
    """All thresholds of the protocol."""

    collisions: CollisionRules = field(default_factory=CollisionRules)
    signals: SignalRules = field(default_factory=SignalRules)
    danger: EndangermentRules = field(default_factory=EndangermentRules)
    braking: FalseBrakingRules = field(default_factory=FalseBrakingRules)
    comfort: ComfortBounds = field(default_factory=ComfortBounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Findings:
    hits: list[Collision]
    people: list[PersonHit]
    red_lights: list[SignalViolation]
    stops: list[SignalViolation]
    dangers: Dangers
    braking: FalseBraking
    forecasts: list[ForecastError]
    comfort: Comfort
    progress: Progress
    ttc: TimeToCollision
    timeouts: list[tuple[int, str]]  # tick, name of the scenario


def score_episode(record: Record, rules: JaywalkRules | None = None) -> EpisodeScore:
    """Score one recorded episode; a record without an ego fails with that as its cause."""
    tracks = load_tracks(record)
    if tracks is None:
        return _no_ego(record)
    found = _find(record, tracks, rules or JaywalkRules())
    failure = _failure(record)
    infractions = _infractions(record, tracks, found, failure)
    counts = _counts(found)
    causes = _causes(counts, found.progress, failure)
    return EpisodeScore(
        episode_id=record.episode.episode_id,
        protocol=PROTOCOL,
        suite=record.episode.suite,
        scenario=record.episode.scenario,
        seed=record.episode.seed,
        agent=record.episode.agent.name,
        status=f"Failed - {', '.join(causes)}" if causes else "Success",
        success=not causes,
        metrics=_metrics(found, not causes),
        counts=counts,
        infractions=infractions,
        failure=failure,
        detail=_detail(record, tracks, found),
    )


def _find(record: Record, tracks: EpisodeTracks, rules: JaywalkRules) -> _Findings:
    hits = find_collisions(record, tracks, rules.collisions)
    hit = {one.other for one in hits if one.other is not None and not one.ego_stood}
    return _Findings(
        hits=hits,
        people=judge_hits(record, tracks, hits),
        red_lights=find_red_lights(record, tracks, rules.signals),
        stops=find_stop_violations(record, tracks, rules.signals),
        dangers=find_dangers(tracks, hit, rules.danger, read_stop_controls(record, tracks)),
        braking=judge_braking(record, tracks, rules.braking),
        forecasts=forecast_errors(record, tracks),
        comfort=measure_comfort(tracks, rules.comfort, record.episode.step_s),
        progress=measure_progress(record, tracks),
        ttc=time_to_collision(tracks),
        timeouts=_timeouts(record),
    )


def _timeouts(record: Record) -> list[tuple[int, str]]:
    """Scenarios that were removed because the ego did not get past them in time."""
    rows = record.events.filter(pl.col(c.KIND) == SCENARIO_TIMEOUT).sort(c.TICK, c.EVENT).collect()
    return [(int(tick), str(name or "")) for tick, name in rows.select(c.TICK, c.NAME).iter_rows()]


def _counts(found: _Findings) -> dict[str, int]:
    counts = Counter(dict.fromkeys(COUNT_NAMES, 0))
    counts.update(
        "hit_while_standing" if h.ego_stood else f"collisions_{h.what}" for h in found.hits
    )
    counts[UNAVOIDABLE] = sum(one.unavoidable for one in found.people)
    counts[SIDE_CONTACT] = sum(one.walked_into for one in found.hits)
    counts["red_light"] = len(found.red_lights)
    counts["stop"] = len(found.stops)
    counts["endangered"] = len(found.dangers.counted)
    counts[SCENARIO_TIMEOUT] = len(found.timeouts)
    counts["braking_events"] = found.braking.events
    counts["false_braking_events"] = found.braking.false_events
    counts["all_braking_events"] = len(found.braking.judged)
    counts["all_braking_without_person"] = found.braking.without_person
    return dict(counts)


def _metrics(found: _Findings, success: bool) -> dict[str, float]:
    progress, comfort = found.progress, found.comfort
    mean_risk, injured = expected_injuries(found.hits)
    km = progress.driven_km
    counted = [hit for hit in found.hits if not hit.ego_stood]
    people = sum(hit.what == "person" for hit in counted)
    return {
        "driving_score": math.nan,  # hard safety is not traded against progress
        "success": float(success),
        "route_completion": progress.route_completion,
        "driven_km": km,
        "duration_s": progress.duration_s,
        "mean_speed_mps": progress.mean_mps,
        "standing_share": progress.standing_share,
        "collisions_per_km": _per_km(len(counted), km),
        "collisions_person_per_km": _per_km(people, km),
        "pmais3_mean": mean_risk,
        "serious_injuries_expected": injured,
        "serious_injuries_per_km": _per_km(injured, km),
        "fpbr": found.braking.rate,
        "fpbr_habit": found.braking.habit_rate,
        "min_ttc_s": found.ttc.restricted_s,
        "short_ttc_drive": found.ttc.is_short,
        "short_ttc_time_share": found.ttc.short_share,
        "min_pet_s": found.dangers.min_pet_s,
        **_forecast_metrics(found.forecasts),
        "max_braking_mps2": comfort.max_braking_mps2,
        "max_lateral_mps2": comfort.max_lateral_mps2,
        "max_jerk_mps3": comfort.max_jerk_mps3,
        "rms_jerk_mps3": comfort.rms_jerk_mps3,
        "uncomfortable_share": comfort.out_any,
        "uncomfortable_braking_share": comfort.out_braking,
        "uncomfortable_speeding_up_share": comfort.out_speeding_up,
        "uncomfortable_lateral_share": comfort.out_lateral,
        "uncomfortable_jerk_share": comfort.out_jerk,
    }


def _forecast_metrics(errors: list[ForecastError]) -> dict[str, float]:
    """Over all forecasts of all sources; an agent usually has one."""
    total = sum(one.forecasts for one in errors)

    def pooled(name: str) -> float:
        if not total:
            return math.nan
        parts = [getattr(one, name) * one.forecasts for one in errors if one.forecasts]
        return float(sum(parts)) / total

    return {
        "forecast_ade_m": pooled("ade_m"),
        "forecast_fde_m": pooled("fde_m"),
        "forecast_best_ade_m": pooled("best_ade_m"),
    }


def _per_km(value: float, km: float) -> float:
    return value / km if km > 0.0 else math.nan


def _failure(record: Record) -> str:
    """The agent's failure in one line; the last line of a traceback names the error."""
    lines = [line.strip() for line in record.episode.failure.splitlines() if line.strip()]
    if lines:
        return lines[-1]
    events = record.events.collect()
    failed = events.filter(events["kind"] == "agent_failure")
    return str(failed["name"][0] or "agent failed") if failed.height else ""


def _causes(counts: Mapping[str, int], progress: Progress, failure: str) -> list[str]:
    causes = ["agent failed"] if failure else []
    words = {
        "collisions_person": "hit a person",
        "collisions_animal": "hit an animal",
        "collisions_vehicle": "hit a vehicle",
        "collisions_static": "hit an object",
        "red_light": "ran a red light",
        "stop": "passed a stop sign",
        "endangered": "endangered somebody",
        SCENARIO_TIMEOUT: "scenario timed out",
    }
    causes += [word for name, word in words.items() if counts[name]]
    if math.isnan(progress.route_completion):
        causes.append("no route known")
    elif not progress.is_complete:
        causes.append(f"route not completed ({progress.route_completion:.1f} %)")
    return causes


def _infractions(
    record: Record, tracks: EpisodeTracks, found: _Findings, failure: str
) -> tuple[Infraction, ...]:
    listed = [
        Infraction(
            kind="hit_while_standing" if hit.ego_stood else f"collisions_{hit.what}",
            tick=hit.tick,
            time_s=hit.time_s,
            x_m=hit.x_m,
            y_m=hit.y_m,
            message=hit.message,
            other=hit.other,
            value=hit.speed_mps,
        )
        for hit in found.hits
    ]
    for kind, violations in (("red_light", found.red_lights), ("stop", found.stops)):
        listed += [
            Infraction(
                kind=kind,
                tick=one.tick,
                time_s=one.time_s,
                x_m=one.x_m,
                y_m=one.y_m,
                message=one.message,
                other=one.actor,
                value=one.speed_mps,
            )
            for one in violations
        ]
    listed += [
        Infraction(
            kind="endangered",
            tick=one.tick,
            time_s=one.time_s,
            x_m=one.x_m,
            y_m=one.y_m,
            message=one.message,
            other=int(tracks.number[one.other]),
            value=one.value,
        )
        for one in found.dangers.counted
    ]
    listed += [_timed_out(tracks, tick, name) for tick, name in found.timeouts]
    listed += _at_the_end(record, tracks, found.progress, failure)
    return tuple(sorted(listed, key=lambda one: (one.tick, one.kind, one.other or 0)))


def _timed_out(tracks: EpisodeTracks, tick: int, name: str) -> Infraction:
    at = int(np.clip(np.searchsorted(tracks.tick, tick), 0, len(tracks.tick) - 1))
    x, y = (float(value) for value in tracks.ego_pose[at, :2])
    return Infraction(
        kind=SCENARIO_TIMEOUT,
        tick=tick,
        time_s=float(tracks.time_s[at]),
        x_m=x,
        y_m=y,
        message=f"Did not get past scenario '{name}' before it timed out and was removed",
    )


def _at_the_end(
    record: Record, tracks: EpisodeTracks, progress: Progress, failure: str
) -> list[Infraction]:
    x, y = (float(value) for value in tracks.ego_pose[-1, :2])
    tick, time_s = int(tracks.tick[-1]), float(tracks.time_s[-1])
    listed: list[tuple[str, str, float | None]] = []
    if failure:
        listed.append((AGENT_FAILURE, f"Agent failed: {failure}", None))
    if not progress.is_complete and not math.isnan(progress.route_completion):
        text = f"Route driven to {progress.route_completion:.1f} %"
        if record.episode.end_reason:
            text += f" ({record.episode.end_reason})"
        if progress.stood_last_s >= 1.0:
            text += f"; stood for the last {progress.stood_last_s:.0f} s"
        listed.append((ROUTE_INCOMPLETE, text, progress.route_completion))
    return [
        Infraction(kind=kind, tick=tick, time_s=time_s, x_m=x, y_m=y, message=text, value=value)
        for kind, text, value in listed
    ]


def _detail(record: Record, tracks: EpisodeTracks, found: _Findings) -> dict[str, Any]:
    judged = [
        {
            "tick": int(tracks.tick[one.event.start]),
            "end_tick": int(tracks.tick[one.event.end]),
            "speed_mps": one.event.speed_mps,
            "lost_mps": one.event.lost_mps,
            "explained_by": one.explained_by,
            "person": int(tracks.number[one.person]) if one.person >= 0 else None,
            "false": one.is_false,
            "person_came": one.person_came,
        }
        for one in found.braking.judged
    ]
    return {
        "protocol_version": VERSION,
        "end_reason": record.episode.end_reason,
        "step_s": record.episode.step_s,
        "posed": record.episode.parameters.get("posed") or 0,
        "ttc": {
            "min_s": found.ttc.min_s,
            "capped_at_s": HORIZON_S,
            "short_s": SHORT_S,
            "moving_s": _moving_s(tracks, found.ttc),
        },
        "hits": [asdict(hit) for hit in found.hits],
        "people_hit": [_told(one) for one in found.people],
        "braking": judged,
        "comfort": asdict(found.comfort),
        "progress": asdict(found.progress),
        "forecasts": [asdict(one) for one in found.forecasts],
    }


def _moving_s(tracks: EpisodeTracks, ttc: TimeToCollision) -> float:
    """Time the ego drove: each tick stands for the step to the next one."""
    steps = np.diff(tracks.time_s, append=tracks.time_s[-1:])
    return float(steps[ttc.moving].sum())


def _told(one: PersonHit) -> dict[str, Any]:
    """A hit of a person with its story, for pages."""
    story = one.story
    return {
        "actor": story.actor,
        "tick": one.hit.tick,
        "time_s": one.hit.time_s,
        "speed_mps": one.hit.speed_mps,
        "injury_risk": one.hit.injury_risk,
        "walked_into": one.hit.walked_into,
        "unavoidable": one.unavoidable,
        "since_trigger_s": one.since_trigger_s,
        "since_road_s": one.since_road_s,
        "began_s": one.began_s,
        "began_in": one.began_in,
        "clip": one.clip or story.clip,
        "clip_phase": one.clip_phase,
        "weather": one.weather,
        "intended": story.intended,
        "subcategory": story.subcategory,
        "side": story.side,
        "age": story.age,
        "place": story.place,
    }


def _no_ego(record: Record) -> EpisodeScore:
    failure = _failure(record)
    episode = record.episode
    causes = ["agent failed"] if failure else []
    names = ("driving_score", "route_completion", "driven_km", "duration_s", "fpbr", "pmais3_mean")
    return EpisodeScore(
        episode_id=episode.episode_id,
        protocol=PROTOCOL,
        suite=episode.suite,
        scenario=episode.scenario,
        seed=episode.seed,
        agent=episode.agent.name,
        status=f"Failed - {', '.join([*causes, 'no ego in the record'])}",
        success=False,
        metrics={"success": 0.0, **dict.fromkeys(names, math.nan)},
        counts=dict.fromkeys(COUNT_NAMES, 0),
        failure=failure,
        detail={"protocol_version": VERSION, "end_reason": episode.end_reason},
    )
