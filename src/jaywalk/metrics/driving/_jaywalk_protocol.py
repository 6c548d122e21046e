"""Protocol ``jaywalk``: Jaywalk's rules for one recorded episode, and the default protocol.

Safety, comfort and progress are separate; there is no composite driving score. An episode is a
success if the route is completed without a collision, a red light or stop sign passed, an
endangered person or vehicle, a scenario time-out or a failure of the agent. Nothing is counted
twice.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final

import numpy as np

from jaywalk.core.errors import JaywalkError, RegistryError
from jaywalk.metrics.driving.summary import EpisodeScore, Infraction
from jaywalk.metrics.pooling import SAMPLES
from jaywalk.metrics.safety._collisions import CollisionRules, hits_of
from jaywalk.metrics.safety._comfort import ComfortBounds, comfort_of
from jaywalk.metrics.safety._endangerment import (
    HORIZON_S,
    SHORT_S,
    EndangermentRules,
    TimeToCollision,
    dangers_of,
    ttc_of,
)
from jaywalk.metrics.safety._false_braking import FalseBrakingRules, braking_of
from jaywalk.metrics.safety._forecast_error import forecast_errors_of
from jaywalk.metrics.safety._progress import SCENARIO_TIMEOUT, Progress, progress_of, timeouts_of
from jaywalk.metrics.safety._signals import SignalRules, red_lights_of, stops_of
from jaywalk.metrics.safety.person_hits import PersonHit, person_hits_of
from jaywalk.metrics.spec import (
    METRICS,
    NOT_APPLICABLE,
    PROTOCOL_SPECS,
    MetricInput,
    MetricResult,
    MetricSpec,
    ProtocolSpec,
    computed_metrics,
    metric,
)
from jaywalk.record import Record
from jaywalk.record.queries import announcements
from jaywalk.record.tracks import EpisodeTracks, load_tracks

PROTOCOL: Final = "jaywalk"
VERSION: Final = 2  # a change that can move a score raises it
SUCCESS_RATE: Final = "success_rate"
ROUTE_INCOMPLETE, AGENT_FAILURE = "route_incomplete", "agent_failure"
_CAUSES: Final = {  # counts that spoil a success, in words
    "collisions_person": "hit a person",
    "collisions_animal": "hit an animal",
    "collisions_vehicle": "hit a vehicle",
    "collisions_static": "hit an object",
    "red_light": "ran a red light",
    "stop": "passed a stop sign",
    "endangered": "endangered somebody",
    SCENARIO_TIMEOUT: "scenario timed out",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JaywalkRules:
    """All thresholds of the protocol."""

    collisions: CollisionRules = field(default_factory=CollisionRules)
    signals: SignalRules = field(default_factory=SignalRules)
    danger: EndangermentRules = field(default_factory=EndangermentRules)
    braking: FalseBrakingRules = field(default_factory=FalseBrakingRules)
    comfort: ComfortBounds = field(default_factory=ComfortBounds)


def score_episode(record: Record, rules: JaywalkRules | None = None) -> EpisodeScore:
    """Score one recorded episode; a record without an ego fails with that as its cause."""
    tracks = load_tracks(record)
    if tracks is None:
        return _no_ego(record)
    chosen = rules or JaywalkRules()
    by_type = {type(value): value for value in (getattr(chosen, f.name) for f in fields(chosen))}
    episode = MetricInput(record=record, tracks=tracks, rules=by_type)
    results = compute_metrics(episode)
    causes = episode.shared(_causes)
    return EpisodeScore(
        episode_id=record.episode.episode_id,
        protocol=PROTOCOL,
        suite=record.episode.suite,
        scenario=record.episode.scenario,
        seed=record.episode.seed,
        agent=record.episode.agent.name,
        status=f"Failed - {', '.join(causes)}" if causes else "Success",
        success=not causes,
        metrics={name: result.or_nan for name, result in results.items()},
        counts=episode.shared(compute_counts),
        infractions=_infractions(episode),
        failure=_failure(record),
        detail=_detail(episode) | {SAMPLES: {name: one.n for name, one in results.items()}},
    )


@metric(
    "driving_score",
    unit="points",
    direction="higher",
    label="Driving score",
    group="score",
    requires="a protocol that trades safety against progress, which `jaywalk` does not",
    bounds=(0.0, 100.0),
    primary=True,
    zero_if_missing=True,
)
def _driving_score(episode: MetricInput) -> MetricResult:
    """Route completion times infraction score, in public protocols."""
    return NOT_APPLICABLE


@metric("success", unit="share", direction="higher", label="Success", group="score")
def _success(episode: MetricInput) -> MetricResult:
    """1 if the protocol calls the episode a success, else 0."""
    return MetricResult(float(not episode.shared(_causes)))


METRICS.register(
    MetricSpec(
        name=SUCCESS_RATE,
        summary="Share of successful episodes of a run, in percent.",
        unit="%",
        direction="higher",
        label="Success rate",
        group="score",
        bounds=(0.0, 100.0),
        primary=True,
    )
)
PROTOCOL_SPECS.register(
    ProtocolSpec(
        name=PROTOCOL,
        version=VERSION,
        summary="ours, of recorded runs: hard safety apart from comfort and progress",
        target=score_episode,
    )
)


def compute_counts(episode: MetricInput) -> dict[str, int]:
    """All registered counts of an episode."""
    return {
        spec.name: _counted(spec, _called(spec, episode)) for spec in computed_metrics(counts=True)
    }


def compute_metrics(episode: MetricInput) -> dict[str, MetricResult]:
    """All registered metrics of an episode."""
    return {spec.name: _result(spec, _called(spec, episode)) for spec in computed_metrics()}


def _called(spec: MetricSpec, episode: MetricInput) -> Any:
    try:
        return spec.target(episode)
    except Exception as problem:
        if isinstance(problem, JaywalkError) or spec.package == "jaywalk":
            raise
        raise RegistryError(
            f"The metric '{spec.name}' of the package '{spec.package}' failed on episode "
            f"'{episode.record.episode.episode_id}': {type(problem).__name__}: {problem}. "
            f"Fix or uninstall '{spec.package}'."
        ) from problem


def _result(spec: MetricSpec, value: Any) -> MetricResult:
    if isinstance(value, MetricResult):
        return value
    if value is None:
        return NOT_APPLICABLE
    try:
        return MetricResult(float(value))
    except (TypeError, ValueError) as problem:
        raise RegistryError(
            f"The metric '{spec.name}' of the package '{spec.package}' returned {value!r}, "
            "expected a MetricResult, a finite number, or None where it does not apply."
        ) from problem


def _counted(spec: MetricSpec, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or value < 0:
        raise RegistryError(
            f"The count '{spec.name}' of the package '{spec.package}' returned {value!r}, "
            "expected a whole number of events."
        )
    return int(value)


def _failure(record: Record) -> str:
    """The agent's failure in one line; the last line of a traceback names the error."""
    lines = [line.strip() for line in record.episode.failure.splitlines() if line.strip()]
    if lines:
        return lines[-1]
    failures = announcements(record, kind="agent_failure")
    return next((event.name or "agent failed" for event in failures), "")


def _causes(episode: MetricInput) -> list[str]:
    """Return the reasons why an episode is not a success, in words; empty for a success."""
    causes = ["agent failed"] if _failure(episode.record) else []
    counts, progress = episode.shared(compute_counts), episode.shared(progress_of)
    causes += [words for name, words in _CAUSES.items() if counts[name]]
    if math.isnan(progress.route_completion):
        causes.append("no route known")
    elif not progress.is_complete:
        causes.append(f"route not completed ({progress.route_completion:.1f} %)")
    return causes


def _infractions(episode: MetricInput) -> tuple[Infraction, ...]:
    record, tracks = episode.record, episode.tracks
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
        for hit in episode.shared(hits_of)
    ]
    signals = (("red_light", episode.shared(red_lights_of)), ("stop", episode.shared(stops_of)))
    for kind, violations in signals:
        listed += [
            Infraction(
                kind=kind,
                tick=violation.tick,
                time_s=violation.time_s,
                x_m=violation.x_m,
                y_m=violation.y_m,
                message=violation.message,
                other=violation.actor,
                value=violation.speed_mps,
            )
            for violation in violations
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
        for one in episode.shared(dangers_of).counted
    ]
    listed += [_timed_out(tracks, tick, name) for tick, name in episode.shared(timeouts_of)]
    listed += _at_the_end(record, tracks, episode.shared(progress_of), _failure(record))
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


def _detail(episode: MetricInput) -> dict[str, Any]:
    record, tracks, ttc = episode.record, episode.tracks, episode.shared(ttc_of)
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
            "changed_mind": one.changed_mind,
        }
        for one in episode.shared(braking_of).judged
    ]
    return {
        "protocol_version": VERSION,
        "end_reason": record.episode.end_reason,
        "step_s": record.episode.step_s,
        "posed": record.episode.parameters.get("posed") or 0,
        "ttc": {
            "min_s": ttc.min_s,
            "capped_at_s": HORIZON_S,
            "short_s": SHORT_S,
            "moving_s": _moving_s(tracks, ttc),
        },
        "hits": [asdict(hit) for hit in episode.shared(hits_of)],
        "people_hit": [_person_hit(hit) for hit in episode.shared(person_hits_of)],
        "braking": judged,
        "comfort": asdict(episode.shared(comfort_of)),
        "progress": asdict(episode.shared(progress_of)),
        "forecasts": [asdict(one) for one in episode.shared(forecast_errors_of)],
    }


def _moving_s(tracks: EpisodeTracks, ttc: TimeToCollision) -> float:
    """Return the time for which the ego drove; each tick counts the step to the next tick."""
    steps = np.diff(tracks.time_s, append=tracks.time_s[-1:])
    return float(steps[ttc.moving].sum())


def _person_hit(person_hit: PersonHit) -> dict[str, Any]:
    """A hit of a person with its story, for pages."""
    story = person_hit.story
    return {
        "actor": story.actor,
        "tick": person_hit.hit.tick,
        "time_s": person_hit.hit.time_s,
        "speed_mps": person_hit.hit.speed_mps,
        "injury_risk": person_hit.hit.injury_risk,
        "walked_into": person_hit.hit.walked_into,
        "unavoidable": person_hit.unavoidable,
        "since_trigger_s": person_hit.since_trigger_s,
        "since_road_s": person_hit.since_road_s,
        "began_s": person_hit.began_s,
        "began_in": person_hit.began_in,
        "clip": person_hit.clip or story.clip,
        "clip_phase": person_hit.clip_phase,
        "weather": person_hit.weather,
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
    return EpisodeScore(
        episode_id=episode.episode_id,
        protocol=PROTOCOL,
        suite=episode.suite,
        scenario=episode.scenario,
        seed=episode.seed,
        agent=episode.agent.name,
        status=f"Failed - {', '.join([*causes, 'no ego in the record'])}",
        success=False,
        metrics={spec.name: math.nan for spec in computed_metrics()} | {"success": 0.0},
        counts={spec.name: 0 for spec in computed_metrics(counts=True)},
        failure=failure,
        detail={"protocol_version": VERSION, "end_reason": episode.end_reason},
    )
