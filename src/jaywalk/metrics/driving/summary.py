"""What the scores of all protocols share: warnings from findings, flags and disagreements."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from jaywalk.core.errors import DataError, UsageError
from jaywalk.metrics.driving.checks import Flag, check_records
from jaywalk.metrics.driving.penalties import Protocol, disagreements
from jaywalk.metrics.driving.results import NOTE, UNREAD, UNSCORED, Finding, ResultSet, RouteRecord
from jaywalk.stats.intervals import Interval

_NAMED = 3
_PREFIX = {UNREAD: "not read", UNSCORED: "not scored", NOTE: "note"}


def one_method(results: ResultSet) -> str:
    """The method of a set; a set with none or several cannot be one score."""
    methods = results.methods
    if not methods:
        reasons = "; ".join(finding_lines(results.findings)[:5])
        raise DataError(f"No result record found in '{results.name}'. {reasons}")
    if len(methods) > 1:
        raise UsageError(
            f"'{results.name}' holds results of several methods ({', '.join(methods)}). "
            "Choose one with --method."
        )
    return methods[0]


def finding_lines(findings: Iterable[Finding]) -> list[str]:
    """One line for each kind of finding, naming the first few files."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for finding in findings:
        groups[finding.kind, finding.text].append(finding.source)
    return [
        f"{_PREFIX[kind]}: {listed(sources)}: {text}" for (kind, text), sources in groups.items()
    ]


def listed(names: Sequence[str]) -> str:
    """The names, or how many and the first few."""
    if len(names) <= _NAMED:
        return ", ".join(names)
    return f"{len(names)} ({', '.join(names[:_NAMED])}, ...)"


def flags_and_warnings(
    protocol: Protocol, results: ResultSet, scored: Sequence[RouteRecord]
) -> tuple[dict[str, list[dict[str, str]]], list[dict[str, Any]], list[str]]:
    """Flags by kind, disagreements, and one warning line for each sort of either."""
    flags: dict[str, list[dict[str, str]]] = {"aborted": [], "doubled": [], "post_processed": []}
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for flag in check_records(results.records):
        flags[flag.kind].append({"record": flag.source, "reason": flag.reason})
        groups[flag.kind, _without_names(flag)].append(flag.source)
    warnings = finding_lines(results.findings)
    warnings += [
        f"looks {kind.replace('_', '-')}: {listed(sources)}: {reason}"
        for (kind, reason), sources in groups.items()
    ]
    found = disagreements(protocol, scored)
    by_kind: dict[str, list[str]] = defaultdict(list)
    for entry in found:
        by_kind[entry.what].append(entry.source)
    warnings += [
        f"disagrees with its own messages in {what} (rules of {protocol.name}): {listed(sources)}"
        for what, sources in by_kind.items()
    ]
    listing = [
        {"record": d.source, "what": d.what, "recorded": d.recorded, "derived": d.derived}
        for d in found
    ]
    return flags, listing, warnings


def _without_names(flag: Flag) -> str:
    # "identical to FILE": the file differs in each, so that grouping needs it gone.
    for start in ("identical to another record", "the same route, seed and repetition as another"):
        if flag.reason.startswith(start.split(" another")[0]):
            return start
    return flag.reason


def jsonable(value: Any) -> Any:
    """A copy that is valid JSON: NaN and infinity become null."""
    if isinstance(value, dict):
        return {str(key): jsonable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def ends(interval: Interval) -> list[float]:
    """An interval as a pair."""
    return [interval.low, interval.high]
