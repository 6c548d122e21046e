"""Flags of records that look aborted, doubled or post-processed.

A flag is a suspicion with a reason; it never changes a score.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from jaywalk.metrics.driving.results import RouteRecord

ABORTED, DOUBLED, POST_PROCESSED = "aborted", "doubled", "post_processed"

_ABORTED_STATUS = (
    "Failed - Agent crashed",
    "Failed - Simulation crashed",
    "Failed - Agent couldn't be set up",
    "Failed - Agent's sensors were invalid",
)
_ENDINGS = ("route_dev", "vehicle_blocked", "route_timeout")
_ENDING_OF = {
    "Failed - Agent deviated from the route": "route_dev",
    "Failed - Agent got blocked": "vehicle_blocked",
    "Failed - Agent timed out": "route_timeout",
}
# Contradictions between a status and the other fields of its record: no evaluator writes these.
CONTRADICTIONS = (
    "free of infractions, not 'Perfect'",
    "'Perfect' with infractions",
    "completed below 100 %",
    "'Failed' at 100 %",
    "a reason to fail that its lists do not have",
)
# One or two records without a repeated last checkpoint prove nothing (a crash writes it once).
_MIN_CHECKPOINT_RECORDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """A record that looks odd.

    Attributes:
        kind: `ABORTED`, `DOUBLED` or `POST_PROCESSED`.
        source: Which record.
        reason: Reason of the suspicion.
    """

    kind: str
    source: str
    reason: str


def check_records(records: Sequence[RouteRecord]) -> list[Flag]:
    """Flags of all records, in their order."""
    flags = []
    for record in records:
        flags += [
            Flag(kind=kind, source=record.source, reason=reason)
            for kind, reasons in (
                (ABORTED, _aborted(record)),
                (DOUBLED, _doubled(record)),
                (POST_PROCESSED, _post_processed(record)),
            )
            for reason in reasons
        ]
    return flags + _same_route_twice(records) + _copies(records) + _checkpoints(records)


def _aborted(record: RouteRecord) -> list[str]:
    if record.status in _ABORTED_STATUS:
        return [record.status]
    ended = any(record.messages(key) for key in _ENDINGS)
    if record.status == "Failed" and record.completion_percent < 100.0 and not ended:
        return ["'Failed' without a time-out, deviation or blocked entry"]
    return []


def _doubled(record: RouteRecord) -> list[str]:
    # Minimum speed writes its last checkpoint twice in every run; that is the protocol.
    return [
        f"the same entry twice under {key}"
        for key, messages in record.infractions.items()
        if key != "min_speed_infractions" and len(set(messages)) < len(messages)
    ]


def _post_processed(record: RouteRecord) -> list[str]:
    done = record.completion_percent >= 100.0
    ending = _ENDING_OF.get(record.status, "")
    free, marred, below, failed, unsaid = CONTRADICTIONS
    signs = [
        (record.status == "Completed" and record.count == 0, free),
        (record.status == "Perfect" and record.count > 0, marred),
        (record.status in ("Completed", "Perfect") and not done, below),
        (record.status.startswith("Failed") and done, failed),
        (ending != "" and not record.messages(ending), unsaid),
        (record.route_length_m == 0.0, "a route length of 0"),
        (record.duration_game_s == 0.0 and record.completion_percent > 0.0, "a duration of 0"),
        (not record.route_id.startswith("RouteScenario_"), "a route id in free text"),
    ]
    return [reason for found, reason in signs if found]


def _same_route_twice(records: Sequence[RouteRecord]) -> list[Flag]:
    seen: dict[tuple[str, str, int, int], str] = {}
    flags = []
    for record in records:
        if record.number is None:
            continue
        key = (record.method, record.seed, record.number, record.repetition)
        first = seen.setdefault(key, record.source)
        if first != record.source:
            reason = f"the same route, seed and repetition as {first}"
            flags.append(Flag(kind=DOUBLED, source=record.source, reason=reason))
    return flags


def _copies(records: Sequence[RouteRecord]) -> list[Flag]:
    """Records equal in all messages, scores and durations: no two runs take the same time.

    Of the same route, or under the name of another one but with the id of their own.
    """
    seen: dict[object, str] = {}
    flags = []
    for record in records:
        if not record.duration_system_s > 0.0:
            continue
        content = (
            tuple(record.infractions.items()),
            record.driving_score,
            record.duration_game_s,
            record.duration_system_s,
        )
        keys = ((record.number, content), (record.route_id, content))
        first = next((seen[key] for key in keys if key in seen), record.source)
        for key in keys:
            seen.setdefault(key, first)
        if first != record.source:
            reason = f"identical to {first}, wall time included"
            flags.append(Flag(kind=DOUBLED, source=record.source, reason=reason))
    return flags


def _checkpoints(records: Sequence[RouteRecord]) -> list[Flag]:
    """Methods in which no record repeats its last minimum-speed entry, as evaluators do."""
    by_method = defaultdict(list)
    for record in records:
        messages = record.messages("min_speed_infractions")
        if len(messages) >= 2 and record.completion_percent >= 100.0:
            by_method[record.method].append((record.source, messages[-1] == messages[-2]))
    return [
        Flag(
            kind=POST_PROCESSED,
            source=source,
            reason=f"none of {len(entries)} completed records repeats its last minimum-speed entry",
        )
        for entries in by_method.values()
        if len(entries) >= _MIN_CHECKPOINT_RECORDS and not any(twice for _, twice in entries)
        for source, _ in entries
    ]
