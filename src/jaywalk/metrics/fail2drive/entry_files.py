"""Whether the files of an entry are what their names say: no links, each of its own route."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from jaywalk.core.errors import DataError
from jaywalk.core.files import read_bytes
from jaywalk.metrics.driving.fail2drive_split import published_split
from jaywalk.metrics.driving.files import printable
from jaywalk.metrics.driving.results import RouteRecord
from jaywalk.metrics.driving.summary import listed
from jaywalk.metrics.fail2drive.entry import ENTRY_FILE, PUBLIC, RESULTS_FOLDER, Entry

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
    """Links: an entry must hold its files itself, and none may lead out of it."""
    results = folder / RESULTS_FOLDER
    paths = [folder / ENTRY_FILE, results, *sorted(results.rglob("*"))]
    names = [printable(path.relative_to(folder).as_posix()) for path in paths if path.is_symlink()]
    return [f"links: {listed(names)}; put the files themselves there"] if names else []


def route_problems(records: Sequence[RouteRecord]) -> list[str]:
    """Files whose name or record is of another route than the one they count for.

    Some evaluators number their routes anew, so ids are held against file names only in sets in
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
    numbers = [(int(found[1]), record) for record in known
               if (found := _ROUTE_ID.match(record.route_id))]  # fmt: skip
    strange = [record.source for number, record in numbers if number != record.number]
    problems = []
    if misnamed:
        problems.append(f"no route has this name and number: {listed(misnamed)}")
    if strange and len(strange) <= (1.0 - _NUMBERED) * len(numbers):
        problems.append(f"the record is of another route, by its route_id: {listed(strange)}")
    return problems


def hash_problems(entry: Entry, records: Sequence[RouteRecord]) -> list[str]:
    """Entries of our own suites: whether every result has the hash of its record."""
    if entry.benchmark == PUBLIC:
        return []
    path = entry.folder / RECORDS_FILE
    expected = "expected an object of record names and their hashes"
    try:
        table = json.loads(read_bytes(path, "a table of hashes"))
    except (DataError, ValueError, RecursionError):
        return [f"{RECORDS_FILE}: missing or no JSON; {expected}"]
    if not isinstance(table, dict):
        return [f"{RECORDS_FILE}: no JSON object; {expected}"]
    split = published_split()
    names = [f"{split[record.number].name}-s{seed_number(record)}" for record in records
             if record.number in split]  # fmt: skip
    gone = [name for name in names if not _is_hash(table.get(name))]
    return [f"{RECORDS_FILE}: no hash of {listed(gone)}"] if gone else []


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and _HASH.fullmatch(value) is not None
