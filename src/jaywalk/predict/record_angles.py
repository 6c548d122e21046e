"""Heads and bodies of posed people in records: from clip, phase and rig to angles in the plane."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import polars as pl

from jaywalk.core.errors import UsageError
from jaywalk.metrics.habit.posed import posed_people
from jaywalk.motion import default_library
from jaywalk.motion.facing import facing
from jaywalk.motion.library.reading import library_digest, open_library
from jaywalk.motion.playing.bank import ClipBank
from jaywalk.record.reader import Record

_SCHEMA = pl.Schema(
    {"actor": pl.UInt32, "tick": pl.Int32, "head_rad": pl.Float64, "body_rad": pl.Float64}
)
_SHOWN_DIGITS = 16  # of a digest, in records


class PosingLibraries:
    """The motion libraries that records name, each opened once: ours and any the user gives."""

    def __init__(self, folders: Iterable[Path] = ()) -> None:
        self._folders = {library_digest(folder)[:_SHOWN_DIGITS]: folder for folder in folders}
        self._banks: dict[str, ClipBank] = {}

    def bank(self, record: Record) -> ClipBank | None:
        """The clips of a record's people; None if their library was not given."""
        told = str(record.episode.parameters.get("motions") or "")
        digest = told.rpartition("sha256:")[2]
        if told and digest not in self._folders:
            return None
        if digest not in self._banks:
            library = open_library(self._folders[digest]) if told else default_library()
            self._banks[digest] = ClipBank(library)
        return self._banks[digest]

    def check_all_used(self) -> None:
        """Raise for a library that nobody was posed by."""
        for digest, folder in self._folders.items():
            if digest not in self._banks:
                raise UsageError(
                    f"nobody in these records was posed by '{folder}' (sha256:{digest}); give "
                    "the library the run was made with, or none for our own."
                )


def angle_rows(record: Record, libraries: PosingLibraries, excluded: Counter[str]) -> pl.DataFrame:
    """Angles of everybody posed by clips, by actor and tick: right-handed radians, null if none.

    Where two clips are joined, bones are blended as they were shown, and angles taken from them.
    """
    posed = record.states.filter(pl.col("clip").is_not_null()).select("actor").collect()
    if len(posed) == 0:
        return pl.DataFrame(schema=_SCHEMA)
    bank = libraries.bank(record)
    if bank is None:
        told = record.episode.parameters["motions"]
        why = f"person without head and body angles: give --motions the library '{told}'"
        excluded[why] += posed["actor"].n_unique()
        return pl.DataFrame(schema=_SCHEMA)
    parts = [pl.DataFrame(schema=_SCHEMA)]
    for person in posed_people(record, bank):
        seen = facing(person.motion)
        rows = {
            "actor": np.full(len(person.tick), person.actor, np.uint32),
            "tick": person.tick.astype(np.int32),
            "head_rad": -seen.head_rad,  # CARLA's yaws are those of a mirrored plane
            "body_rad": -seen.body_rad,
        }
        parts.append(pl.DataFrame(rows, schema=_SCHEMA))
    return pl.concat(parts).with_columns(pl.col("head_rad", "body_rad").fill_nan(None))
