"""Schema of the result files of the benchmark's evaluator, field by field.

Scoring uses all fields that a file has; an entry must have every field that the evaluator writes.
Deviations of public result sets are allowed: a missing ``entry_status``, or one left at
``Started``.
"""

from __future__ import annotations

import json
import math
import reprlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from jaywalk.metrics.driving._checks import ABORTED, POST_PROCESSED, Flag
from jaywalk.metrics.driving.criteria._ending import (
    AGENT_CRASHED,
    AGENT_NOT_SET_UP,
    SENSORS_INVALID,
    SIMULATION_CRASHED,
)
from jaywalk.metrics.driving.files import read_files
from jaywalk.metrics.driving.results import INFRACTIONS, UNREAD, ResultSet, finite_number
from jaywalk.metrics.driving.summary import listed

_FAILURES: Final = (
    "Agent timed out",
    "Agent deviated from the route",
    "Agent got blocked",
    AGENT_CRASHED,
    AGENT_NOT_SET_UP,
    SENSORS_INVALID,
    SIMULATION_CRASHED,
)
_STATUSES: Final = frozenset(
    {"Perfect", "Completed", "Failed", *(f"Failed - {reason}" for reason in _FAILURES)}
)
_SCORES: Final = {"score_route": 100, "score_penalty": 1, "score_composed": 100}
_META: Final = ("route_length", "duration_game", "duration_system")
_UNFINISHED: Final = ("Started", "Rejected", "Crashed", "Invalid")
_MISSING: Final = "missing"
_ROUNDING: Final = 2e-6  # of means and scores, both written with six decimals


class _Fault(NamedTuple):
    rule: str
    value: str


def check_schema(place: Path, results: ResultSet) -> tuple[list[str], list[Flag]]:
    """Check the fields of result files against those that the evaluator writes.

    Args:
        place: Folder of the files.
        results: Results read from the folder; its findings name the files that cannot be read.

    Returns:
        A line for each broken rule, with the first value and the first records; and flags of files
        that report a bad end of their run.
    """
    unread = {finding.source for finding in results.findings if finding.kind == UNREAD}
    broken: dict[str, list[str]] = defaultdict(list)
    first: dict[str, str] = {}
    flags: list[Flag] = []
    for file in read_files(place, ".json"):
        if file.content is None or file.name in unread:
            continue
        keys: list[str] = []
        document = json.loads(file.content, object_pairs_hook=partial(_object, keys))
        records = document["_checkpoint"]["records"]
        for fault in (*_twice(keys), *_summary_faults(document["_checkpoint"])):
            broken[fault.rule].append(file.name)
            first.setdefault(fault.rule, fault.value)
        flags += _file_flags(document, len(records), file.name)
        for index, record in enumerate(records):
            source = file.name if len(records) == 1 else f"{file.name}#{index}"
            for fault in _faults(record):
                broken[fault.rule].append(source)
                first.setdefault(fault.rule, fault.value)
            flags += _negative(record, source)
    lines = [f"{rule} (first: {first[rule]}): {listed(names)}" for rule, names in broken.items()]
    return lines, flags


def _object(twice: list[str], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice += [key for key, count in counts.items() if count > 1]
    return made


def _twice(keys: list[str]) -> Iterator[_Fault]:
    if keys:
        yield _Fault("a field is written twice", reprlib.repr(keys[0]))


def _summary_faults(checkpoint: Mapping[str, Any]) -> Iterator[_Fault]:
    """Means that the file itself gives and its records do not have: one of both was changed."""
    summary, records = checkpoint.get("global_record"), checkpoint["records"]
    means = summary.get("scores_mean") if isinstance(summary, dict) else None
    if not isinstance(means, dict):
        return  # files of runs that were broken off have none
    for key in _SCORES:
        scores = [
            _number(record.get("scores"), key) for record in records if isinstance(record, dict)
        ]
        total = max(len(records), _announced(checkpoint.get("progress")))
        mean = _number(means, key)
        if not math.isclose(mean, math.fsum(scores) / total, rel_tol=0.0, abs_tol=_ROUNDING):
            rule = f"global_record.scores_mean.{key}: does not follow from the records"
            yield _Fault(rule, _shown(means, key))


def _announced(progress: Any) -> int:
    good = isinstance(progress, list) and len(progress) == 2 and type(progress[1]) is int
    return int(progress[1]) if good else 0


def _faults(record: Any) -> Iterator[_Fault]:
    if not isinstance(record, dict):
        return  # reported by the reader
    yield from _infraction_faults(record.get("infractions"))
    count = record.get("num_infractions")
    if type(count) is not int or count < 0:
        yield _Fault("num_infractions: expected a whole number", _shown(record, "num_infractions"))
    status = record.get("status")
    if not isinstance(status, str) or status not in _STATUSES:
        yield _Fault("status: none that the evaluator writes", _shown(record, "status"))
    scores, meta = record.get("scores"), record.get("meta")
    for key, most in _SCORES.items():
        if not 0.0 <= _number(scores, key) <= most:
            rule = f"scores.{key}: expected a number from 0 to {most}"
            yield _Fault(rule, _shown(scores, key))
    for key in _META:
        if math.isnan(_number(meta, key)):
            yield _Fault(f"meta.{key}: expected a finite number", _shown(meta, key))


def _infraction_faults(lists: Any) -> Iterator[_Fault]:
    if not isinstance(lists, dict):
        shown = _MISSING if lists is None else reprlib.repr(lists)
        yield _Fault(f"infractions: expected an object of {len(INFRACTIONS)} lists", shown)
        return
    # Evaluators write no further lists either, but they can only cost the entry its successes.
    for key in (*INFRACTIONS, *(key for key in lists if key not in INFRACTIONS)):
        messages = lists.get(key)
        if not isinstance(messages, list) or any(
            not isinstance(message, str) for message in messages
        ):
            known = key if key in INFRACTIONS else "a further key"
            yield _Fault(f"infractions.{known}: expected a list of messages", _shown(lists, key))


def _file_flags(document: Mapping[str, Any], records: int, name: str) -> Iterator[Flag]:
    """Yield flags from a file's statements about its run; a missing status is not flagged."""
    progress = document["_checkpoint"].get("progress")
    if progress != [records, records]:
        reason = "'progress' is not the number of records, so the run was not over"
        yield Flag(kind=ABORTED, source=name, reason=reason)
    status = document.get("entry_status")
    if status is None:
        return
    if status not in ("Finished", *_UNFINISHED):
        reason = "an 'entry_status' that no evaluator writes"
        yield Flag(kind=POST_PROCESSED, source=name, reason=reason)
    elif status not in ("Finished", "Started"):
        yield Flag(kind=ABORTED, source=name, reason=f"'entry_status' is {status}")
    if document.get("eligible") is not (status == "Finished"):
        reason = "'eligible' contradicts 'entry_status'"
        yield Flag(kind=POST_PROCESSED, source=name, reason=reason)


def _negative(record: Any, source: str) -> Iterator[Flag]:
    meta = record.get("meta") if isinstance(record, dict) else None
    if any(_number(meta, key) < 0.0 for key in _META):
        reason = "a length or duration below 0"
        yield Flag(kind=POST_PROCESSED, source=source, reason=reason)


def _number(table: Any, key: str) -> float:
    return finite_number(table.get(key)) if isinstance(table, dict) else math.nan


def _shown(table: Any, key: str) -> str:
    if not isinstance(table, dict) or key not in table:
        return _MISSING
    return reprlib.repr(table[key])
