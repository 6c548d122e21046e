"""Validation of a leaderboard entry: schema, completeness, file names and odd records.

A problem makes an entry invalid. A suspicion does not; it is shown next to the entry's figures.
Files must match their names: no links, and each file holds the route in its name.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path, PurePosixPath
from typing import Any, Final

from jaywalk.core.errors import DataError, JaywalkError
from jaywalk.core.files import read_bytes
from jaywalk.metrics.driving._checks import CONTRADICTIONS, Flag
from jaywalk.metrics.driving.files import printable
from jaywalk.metrics.driving.results import ResultSet, RouteRecord, read_results
from jaywalk.metrics.driving.summary import finding_lines, listed
from jaywalk.metrics.generalization import _public as fail2drive
from jaywalk.metrics.generalization._result_schema import check_schema
from jaywalk.metrics.generalization.entry import (
    ENTRY_FILE,
    PUBLIC,
    RESULTS_FOLDER,
    Entry,
    read_entry,
)
from jaywalk.metrics.generalization.split import published_split

RECORDS_FILE: Final = "records.json"  # hashes of the records of one of our own runs
_SEED: Final = re.compile(r"(\d+)$")
_ROUTE_ID: Final = re.compile(r"^RouteScenario_(\d+)_")
_NAMED: Final = re.compile(r"^(Base|Generalization)_\w+_\d+$")
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_NUMBERED: Final = 0.9  # share of ids that are route numbers from which all should be


def seed_number(record: RouteRecord) -> int | None:
    """The seed that a record's folder names."""
    found = _SEED.search(record.seed)
    return int(found[1]) if found else None


def link_problems(folder: Path) -> list[str]:
    """Return problems of links: an entry must contain its files, without links out of it."""
    results = folder / RESULTS_FOLDER
    paths = [folder / ENTRY_FILE, results, *sorted(results.rglob("*"))]
    names = [printable(path.relative_to(folder).as_posix()) for path in paths if path.is_symlink()]
    return [f"links: {listed(names)}; put the files themselves there"] if names else []


def route_problems(records: Sequence[RouteRecord]) -> list[str]:
    """Return files whose name or record belongs to another route than the one they count for.

    Some evaluators renumber their routes, so ids are held against file names only in sets in
    which nearly all agree.
    """
    split = published_split()
    known = [record for record in records if record.number in split]
    misnamed = [
        record.source
        for record in known
        if _NAMED.match(stem := PurePosixPath(record.source.split("#")[0]).stem)
        and record.number is not None
        and stem != split[record.number].name
    ]
    numbers = [
        (int(found[1]), record) for record in known if (found := _ROUTE_ID.match(record.route_id))
    ]
    strange = [record.source for number, record in numbers if number != record.number]
    problems = []
    if misnamed:
        problems.append(f"no route has this name and number: {listed(misnamed)}")
    if strange and len(strange) <= (1.0 - _NUMBERED) * len(numbers):
        problems.append(f"the record is of another route, by its route_id: {listed(strange)}")
    return problems


def hash_problems(entry: Entry, records: Sequence[RouteRecord]) -> list[str]:
    """Check for entries of Jaywalk's suites that every result has the hash of its record."""
    if entry.benchmark == PUBLIC:
        return []
    path = entry.folder / RECORDS_FILE
    expected = "expected an object of record names and their hashes"
    try:
        table = json.loads(read_bytes(path, "a table of hashes"))
    except (DataError, ValueError, RecursionError):
        return [f"{RECORDS_FILE}: missing or not JSON; {expected}"]
    if not isinstance(table, dict):
        return [f"{RECORDS_FILE}: not a JSON object; {expected}"]
    split = published_split()
    names = [
        f"{split[record.number].name}-s{seed_number(record)}"
        for record in records
        if record.number in split
    ]
    gone = [name for name in names if not _is_hash(table.get(name))]
    return [f"{RECORDS_FILE}: no hash of {listed(gone)}"] if gone else []


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


# Its turning class counts every hit twice: that is the benchmark's doing, not the entry's.
_COUNTED_TWICE: Final = frozenset({76, 79, 80})
_REMEDY: Final = {
    fail2drive.NOT_SET_UP: "run these routes again",
    fail2drive.NOT_IN_SPLIT: "run the benchmark's routes and take these files out",
}
_PARTNER: Final = re.compile(r"\b(as|to) .+?\.json(#\d+)?")
_IDENTICAL: Final = "identical to"
_BY_CHANCE: Final = 0.01  # share of records
_ALIKE: Final = 0.95  # share of equal routes from which two seeds are one


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Problems and suspicions of an entry.

    Attributes:
        problems: Reasons why the entry is invalid.
        suspicions: Signs of aborted, doubled or post-processed records.
        score: Output of ``jaywalk score`` for its results; None if they cannot be read.
    """

    entry: Entry
    problems: tuple[str, ...]
    suspicions: tuple[str, ...]
    flags: dict[str, int] = field(default_factory=dict)
    score: dict[str, Any] | None = None
    completed_sr: tuple[float, float] | None = None  # success rates if the end must be reached

    @property
    def is_valid(self) -> bool:
        """Return whether the entry has no problems."""
        return not self.problems

    def as_dict(self) -> dict[str, Any]:
        """Return the output of ``jaywalk leaderboard validate --json``."""
        score = self.score
        return {
            "entry": str(self.entry.folder),
            "method": self.entry.method,
            "benchmark": self.entry.benchmark,
            "valid": self.is_valid,
            "problems": list(self.problems),
            "suspicions": list(self.suspicions),
            "flags": self.flags,
            "n_records": score["n_records"] if score else 0,
            "base": score["base"] if score else None,
            "generalization": score["generalization"] if score else None,
            "headline": score["headline"] if score else None,
            "all_pairs": {half: score["all_pairs"][half] for half in ("base", "generalization")}
            if score
            else None,
        }


def validate_entry(folder: Path, *, resamples: int = 10_000) -> Verdict:
    """Check an entry.

    Args:
        folder: Folder of the entry.
        resamples: Bootstrap samples of the intervals of a valid entry.

    Raises:
        DataError: The folder is not an entry.
    """
    entry, problems = read_entry(folder)
    place = folder / RESULTS_FOLDER
    if not place.is_dir():
        problems.append(f"{RESULTS_FOLDER}: there is no such folder with result files")
        return Verdict(entry=entry, problems=tuple(problems), suspicions=())
    try:
        results = read_results(place)
        # Folders name methods in archives of several; an entry is one method.
        results = _as_one(results, entry.method)
        score = fail2drive.score(results, weak=entry.weak_pairs, resamples=1)
    except JaywalkError as problem:
        problems.append(f"{RESULTS_FOLDER}: {problem}")
        return Verdict(entry=entry, problems=tuple(problems), suspicions=())
    problems += _seed_problems(entry, results.records)
    problems += _completeness(entry, results.records)
    problems += link_problems(folder) + hash_problems(entry, results.records)
    problems += route_problems(results.records)
    broken, odd_files = check_schema(place, results)
    problems += broken
    problems += [
        line
        for line in finding_lines(results.findings)
        if line.startswith(("not read", "not scored"))
    ]
    problems += _disagreements(score)
    doubled, suspicions, flags = _suspicions(entry, score, results.records, odd_files)
    if resamples > 1 and not (problems or doubled):
        score = fail2drive.score(results, weak=entry.weak_pairs, resamples=resamples)
    strict = fail2drive.score(
        results, success_requires_completion=True, weak=entry.weak_pairs, resamples=1
    )
    return Verdict(
        entry=entry,
        problems=tuple(problems + doubled),
        suspicions=tuple(suspicions),
        flags=flags,
        score=score,
        completed_sr=(strict["base"]["sr"], strict["generalization"]["sr"]),
    )


def _as_one(results: ResultSet, method: str) -> ResultSet:
    records = tuple(replace(record, method=method) for record in results.records)
    return replace(results, records=records)


def _seed_problems(entry: Entry, records: Sequence[RouteRecord]) -> list[str]:
    there = {seed_number(record) for record in records}
    problems = []
    if None in there:
        names = sorted(
            {
                str(PurePosixPath(record.source).parent)
                for record in records
                if seed_number(record) is None
            }
        )
        problems.append(
            f"{RESULTS_FOLDER}: a seed's folder has no number: {listed(names)}; "
            f"expected {RESULTS_FOLDER}/1, {RESULTS_FOLDER}/2 and {RESULTS_FOLDER}/3"
        )
    extra = sorted(one for one in there if one is not None and one not in entry.seeds)
    if extra and entry.seeds:
        problems.append(f"{RESULTS_FOLDER}: seeds that entry.toml does not list: {_listed(extra)}")
    return problems


def _completeness(entry: Entry, records: Sequence[RouteRecord]) -> list[str]:
    """Routes without a record that is scored, or with several, and records that are not scored."""
    split = published_split()
    kept, left_out = fail2drive.select_records(records, split)
    have = Counter((seed_number(record), number) for number, record in kept)
    # A second record of a route is reported with the doubled ones.
    problems = [
        f"{line}; {_REMEDY[text]}"
        for text in _REMEDY
        for line in finding_lines(one for one in left_out if one.text == text)
    ]
    for seed in entry.seeds:
        gone = [split[number].name for number in sorted(split) if (seed, number) not in have]
        if gone:
            names = ", ".join(gone[:3]) + (", ..." if len(gone) > 3 else "")
            problems.append(f"seed {seed}: {len(gone)} of 200 routes are missing: {names}")
        again = [split[number].name for number in sorted(split) if have[seed, number] > 1]
        if again:
            problems.append(
                f"seed {seed}: scored more than once, by repetitions or a second folder of this "
                f"seed: {listed(again)}; keep one record of each route"
            )
    return problems


def _disagreements(score: dict[str, Any]) -> list[str]:
    by_kind: dict[str, list[str]] = defaultdict(list)
    for one in score["disagreements"]:
        by_kind[one["what"]].append(one["record"])
    return [
        f"{what} does not follow from the record's own messages: {listed(names)}"
        for what, names in by_kind.items()
    ]


def _suspicions(
    entry: Entry, score: dict[str, Any], records: Sequence[RouteRecord], odd_files: Sequence[Flag]
) -> tuple[list[str], list[str], dict[str, int]]:
    """Return problems, suspicions and the number of flagged records by kind.

    Doubled records and statuses that contradict their own record are problems.
    """
    number = {record.source: record.number or 0 for record in records}
    problems: list[str] = []
    suspicions: list[str] = []
    flags: dict[str, int] = {}
    for kind, flagged in score["flags"].items():
        reasons: dict[str, list[str]] = defaultdict(list)
        partners: dict[str, str] = {}
        of_files = [
            {"record": odd.source, "reason": odd.reason} for odd in odd_files if odd.kind == kind
        ]
        for flag in [*flagged, *of_files]:
            reason = _PARTNER.sub(r"\1 another record", flag["reason"])
            if reason.startswith("the same entry twice") and (
                number.get(flag["record"], 0) % 1000 in _COUNTED_TWICE
            ):
                continue
            reasons[reason].append(flag["record"])
            partners.setdefault(reason, flag["reason"])
        if entry.benchmark != PUBLIC:
            _forget_chance(reasons, len(records))
        flags[kind] = len({name for names in reasons.values() for name in names})
        words = kind.replace("_", "-")
        for reason, names in reasons.items():
            # For a single record the message can name the other one.
            explanation = partners[reason] if len(names) == 1 else reason
            line = f"looks {words}: {listed(names)}: {explanation}"
            hard = reason in CONTRADICTIONS or reason.startswith(("the same route", _IDENTICAL))
            (problems if hard else suspicions).append(line)
    alike = _alike_seeds(records)
    flags["doubled"] = flags.get("doubled", 0) + len(alike)
    return problems, suspicions + alike, flags


def _forget_chance(reasons: dict[str, list[str]], records: int) -> None:
    """Drop matches by chance: drives of about a second on a Jaywalk server may share wall times."""
    for reason in [one for one in reasons if one.startswith(_IDENTICAL)]:
        if len(reasons[reason]) <= _BY_CHANCE * records:
            del reasons[reason]


def _alike_seeds(records: Sequence[RouteRecord]) -> list[str]:
    """Return pairs of seeds whose records are nearly all equal except for the wall time."""
    by_seed: dict[str, dict[int, object]] = defaultdict(dict)
    for record in records:
        if record.number is not None:
            content = (
                record.driving_score,
                record.duration_game_s,
                tuple(record.infractions.items()),
            )
            by_seed[record.seed][record.number] = content
    lines = []
    for a, b in combinations(sorted(by_seed), 2):
        both = by_seed[a].keys() & by_seed[b].keys()
        same = Counter(by_seed[a][k] == by_seed[b][k] for k in both)[True]
        if len(both) >= 20 and same >= _ALIKE * len(both):
            lines.append(
                f"looks doubled: {same} of {len(both)} routes of seeds {a} and {b} are "
                "equal in score, messages and duration"
            )
    return lines


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
