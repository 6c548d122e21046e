"""Decisions of a review, kept in a CSV file with name, decision and note."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.files import csv_lines, replacing
from jaywalk.motion.library.building import on_rigs
from jaywalk.motion.library.reading import MotionLibrary
from jaywalk.motion.library.writing import LibraryWriter
from jaywalk.motion.retarget import RootPolicy

COLUMNS: Final = ("name", "decision", "note")


class ReviewVerdict(StrEnum):
    """Verdict of a review on a clip."""

    ACCEPT = "accept"
    REJECT = "reject"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDecision:
    """Verdict on a clip, with an optional reason."""

    name: str
    verdict: ReviewVerdict
    note: str = ""


def read_decisions(path: Path) -> dict[str, ReviewDecision]:
    """Read decisions; a missing file gives none. The last decision on a clip counts.

    Raises:
        DataError: The file is broken; the message names the file, the line and the error.
    """
    if not path.exists():
        return {}
    decisions: dict[str, ReviewDecision] = {}
    try:
        with csv_lines(path, "a list of decisions (.csv)", "utf-8-sig") as file:
            reader = csv.DictReader(file)
            if not {"name", "decision"} <= set(reader.fieldnames or ()):
                raise DataError(f"{path}: lacks the columns name and decision")
            for row in reader:
                if row["decision"] not in list(ReviewVerdict):
                    raise DataError(
                        f"{path}: line {reader.line_num} decides {row['decision']!r}; "
                        "expected accept or reject"
                    )
                name = row["name"]
                verdict, note = ReviewVerdict(row["decision"]), row.get("note") or ""
                decisions[name] = ReviewDecision(name=name, verdict=verdict, note=note)
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise DataError(f"{path}: cannot be read as decisions ({problem})") from problem
    return decisions


def write_decisions(decisions: Iterable[ReviewDecision], path: Path) -> None:
    """Write decisions; an interrupted write keeps the old file."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    for decision in decisions:
        writer.writerow([decision.name, str(decision.verdict), decision.note])
    with replacing(path) as file:
        file.write(table.getvalue().encode())


def accepted_names(library: MotionLibrary, decisions: Mapping[str, ReviewDecision]) -> list[str]:
    """Names of the library's clips that were accepted.

    Raises:
        UsageError: A decision names a clip that the library does not have, or no clip was accepted.
    """
    strange = sorted(set(decisions) - set(library.names))
    if strange:
        raise UsageError(
            f"{len(strange)} decisions are about clips that are not in {library.folder}, "
            f"e.g. {strange[0]!r}; is this the library that was reviewed?"
        )
    names = [
        name
        for name in library.names
        if name in decisions and decisions[name].verdict is ReviewVerdict.ACCEPT
    ]
    if not names:
        raise UsageError("no clip was accepted; review some first")
    return names


def apply_decisions(
    library: MotionLibrary,
    decisions: Mapping[str, ReviewDecision],
    out: Path,
    *,
    say: Callable[[str], None] = lambda _: None,
) -> int:
    """Write a library of the accepted clips; returns their number."""
    if out.resolve() == library.folder.resolve():
        raise UsageError(f"{out} is the library itself; give another folder")
    names = accepted_names(library, decisions)
    policies = {rig: RootPolicy(text) for rig, text in library.meta["policies"].items()}
    notes = {"reviewed": {"decided": len(decisions), "accepted": len(names)}}
    with LibraryWriter(out, policies, notes) as writer:
        for name in names:
            motion = library.motion(name)
            writer.add(motion, on_rigs(motion, policies))
            if writer.clips % 100 == 0:
                say(f"{writer.clips} clips")
    return len(names)
