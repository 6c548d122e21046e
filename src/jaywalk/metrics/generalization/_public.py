"""Fail2Drive: driving score, success rate and their harmonic mean on pairs of routes.

Every route of the Base split has a partner in the Generalization split whose number is 1000 higher.
All rows of all seeds are pooled; routes without a row are left out of the means and reported.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from jaywalk.metrics.driving.penalties import PROTOCOLS, is_success, score_without_min_speed
from jaywalk.metrics.driving.results import UNSCORED, ResultFinding, ResultSet, RouteRecord
from jaywalk.metrics.driving.summary import finding_lines, flags_and_warnings, listed, one_method
from jaywalk.metrics.generalization._cues import cue_table
from jaywalk.metrics.generalization.gap import PairedRow, Rounding, headline_gap
from jaywalk.metrics.generalization.split import GENERALIZATION_OFFSET, SplitRoute, published_split

_PROTOCOL = PROTOCOLS["fail2drive"]
_SETUP_FAILED = "Failed - Agent couldn't be set up"

# Why a record does not count.
NOT_SET_UP = "the agent could not be set up; the protocol leaves such routes out"
NOT_IN_SPLIT = "its route is not in the split"
SECOND = "a second record of the same route and seed; the first counts"


def score(
    results: ResultSet,
    *,
    routes: Mapping[int, SplitRoute] | None = None,
    rounding: Rounding = "none",
    success_requires_completion: bool = False,
    weak: Collection[tuple[str, str]] | None = None,
    resamples: int = 10_000,
) -> dict[str, Any]:
    """Score a set of Fail2Drive results.

    Args:
        results: Records of one method.
        routes: Routes of the split by number; default: the published 200.
        rounding: ``parser`` rounds driving score and success rate of the two halves to one
            decimal before the harmonic mean and the changes, as the benchmark's parser does.
        success_requires_completion: Count only routes driven to their end as successes.
        weak: Pair and seed of the weak pairs, as in ``("0012", "1")``, where records showed them;
            the headline then leaves them out. None: result files cannot tell, all pairs count.
        resamples: Bootstrap samples of the intervals.

    Returns:
        The scores as plain values, ready for JSON except that NaN is still NaN.
    """
    split = published_split() if routes is None else routes
    method = one_method(results)
    kept, findings = select_records(results.records, split)
    rows = [_row(split[number], record, success_requires_completion) for number, record in kept]
    pairs = {(row.pair, row.seed) for row in rows}
    strong = None if weak is None else pairs - set(weak)
    flags, disagreeing, warnings = flags_and_warnings(
        _PROTOCOL, results, [record for _, record in kept]
    )
    missing, seeds = _missing(kept, split, results.records)
    warnings = finding_lines(findings) + _missing_warning(missing) + _id_warning(kept) + warnings
    return {
        "protocol": _PROTOCOL.name,
        "protocol_version": _PROTOCOL.version,
        "method": method,
        "n_records": len(rows),
        "missing": missing,
        **headline_gap(rows, strong, rounding=rounding, resamples=resamples),
        "cues": cue_table(rows),
        "warnings": warnings,
        "seeds": seeds,
        "rounding": rounding,
        "success_requires_completion": success_requires_completion,
        "flags": flags,
        "disagreements": disagreeing,
    }


def select_records(
    records: Sequence[RouteRecord], split: Mapping[int, SplitRoute]
) -> tuple[list[tuple[int, RouteRecord]], list[ResultFinding]]:
    """Records that count, with the numbers of their routes, and a finding for each other one."""
    kept: list[tuple[int, RouteRecord]] = []
    findings: list[ResultFinding] = []
    seen: set[tuple[str, int, int]] = set()
    for record in records:
        number = record.number
        if record.status == _SETUP_FAILED:
            problem = NOT_SET_UP
        elif number is None or number not in split:
            problem = NOT_IN_SPLIT
        elif (record.seed, number, record.repetition) in seen:
            problem = SECOND
        else:
            seen.add((record.seed, number, record.repetition))
            kept.append((number, record))
            continue
        findings.append(ResultFinding(kind=UNSCORED, source=record.source, text=problem))
    return kept, findings


def _missing(
    kept: Sequence[tuple[int, RouteRecord]],
    split: Mapping[int, SplitRoute],
    records: Sequence[RouteRecord],
) -> tuple[list[str], list[str]]:
    """Routes without a row, seed by seed, and the names of the seeds."""
    seeds = sorted({_seed_name(record) for record in records})
    have = {(_seed_name(record), number) for number, record in kept}
    missing = [
        f"{seed}/{route.name}" if seed else route.name
        for seed in seeds
        for number, route in sorted(split.items())
        if (seed, number) not in have
    ]
    return missing, seeds


def _seed_name(record: RouteRecord) -> str:
    return record.seed if record.repetition == 0 else f"{record.seed}rep{record.repetition}"


def _missing_warning(missing: Sequence[str]) -> list[str]:
    if not missing:
        return []
    return [f"INCOMPLETE: no record of {listed(missing)}; they are left out of the means"]


def _id_warning(kept: Sequence[tuple[int, RouteRecord]]) -> list[str]:
    other = [
        record.source
        for number, record in kept
        if (match := re.match(r"^RouteScenario_(\d+)_", record.route_id)) is not None
        and int(match[1]) != number
    ]
    if not other:
        return []
    return [f"note: the route id differs from the file name, which is used: {listed(other)}"]


def _row(route: SplitRoute, record: RouteRecord, requires_completion: bool) -> PairedRow:
    return PairedRow(
        pair=f"{route.number % GENERALIZATION_OFFSET:04d}",
        half=route.split,
        class_name=route.class_name,
        driving_score=record.driving_score,
        success=is_success(_PROTOCOL, record, requires_completion=requires_completion),
        seed=_seed_name(record),
        score_no_min_speed=score_without_min_speed(_PROTOCOL, record),
    )
