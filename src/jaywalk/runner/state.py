"""``run.sqlite``: the state of every episode of a run. Only the scheduling process writes it."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

from jaywalk.core.errors import DataError
from jaywalk.record.run import RunFolder
from jaywalk.runner.plan import EpisodeOutcome

PENDING: Final = "pending"
RUNNING: Final = "running"
DONE: Final = "done"
FAILED: Final = "failed-infrastructure"

_TABLE: Final = """
CREATE TABLE IF NOT EXISTS episodes (
    episode_id TEXT PRIMARY KEY,
    state TEXT NOT NULL DEFAULT 'pending'
        CHECK (state IN ('pending', 'running', 'done', 'failed-infrastructure')),
    attempts INTEGER NOT NULL DEFAULT 0,
    end_reason TEXT NOT NULL DEFAULT '',
    failure TEXT NOT NULL DEFAULT '',
    record_hash TEXT NOT NULL DEFAULT '',
    simulated_s REAL,
    wall_s REAL,
    worker TEXT NOT NULL DEFAULT '',
    error TEXT NOT NULL DEFAULT '',
    success INTEGER,
    driving_score REAL,
    no_min_speed REAL,
    updated_utc TEXT NOT NULL DEFAULT ''
)
"""
_LATER: Final = {"no_min_speed": "REAL"}  # columns that older runs lack


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeRow:
    """One row; ``success`` and the two scores are those of the live table, or None."""

    episode_id: str
    state: str
    attempts: int
    end_reason: str
    failure: str
    record_hash: str
    simulated_s: float | None
    wall_s: float | None
    worker: str
    error: str
    success: bool | None
    driving_score: float | None
    no_min_speed: float | None
    updated_utc: str


class RunState:
    """Table of episodes; every change is on the disk when the call returns."""

    def __init__(self, run_folder: Path) -> None:
        self.path = RunFolder(run_folder).state_file
        try:
            self._db = sqlite3.connect(self.path, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.execute(_TABLE)
            known = {row[1] for row in self._db.execute("PRAGMA table_info(episodes)")}
            for name, kind in _LATER.items():
                if name not in known:
                    self._db.execute(f"ALTER TABLE episodes ADD COLUMN {name} {kind}")
        except sqlite3.DatabaseError as problem:
            raise DataError(
                f"{self.path} cannot be read ({problem}). Remove it: finished episodes are found "
                "by their records, only the count of attempts is lost."
            ) from problem

    def announce(self, episode_ids: Iterable[str]) -> None:
        """Add episodes that are not listed yet, as pending."""
        with self._db:
            self._db.executemany(
                "INSERT OR IGNORE INTO episodes (episode_id, updated_utc) VALUES (?, ?)",
                [(episode_id, _now()) for episode_id in episode_ids],
            )

    def rows(self) -> dict[str, EpisodeRow]:
        """All episodes by id, in the order they were announced."""
        names = EpisodeRow.__slots__
        cursor = self._db.execute(f"SELECT {', '.join(names)} FROM episodes ORDER BY rowid")
        rows = [dict(zip(names, row, strict=True)) for row in cursor]
        for row in rows:
            row["success"] = None if row["success"] is None else bool(row["success"])
        return {row["episode_id"]: EpisodeRow(**row) for row in rows}

    def begin(self, episode_id: str, worker: str) -> None:
        """Mark the start of an attempt."""
        self._update(
            episode_id, "state = ?, worker = ?, attempts = attempts + 1", (RUNNING, worker)
        )

    def finish(self, outcome: EpisodeOutcome) -> None:
        """Mark an episode as recorded, whatever the driver did; earlier errors are kept."""
        self._update(
            outcome.episode_id,
            "state = ?, end_reason = ?, failure = ?, record_hash = ?, simulated_s = ?, wall_s = ?",
            (
                DONE,
                outcome.end_reason,
                outcome.failure,
                outcome.record_hash,
                outcome.simulated_s,
                outcome.wall_s,
            ),
        )

    def note_score(
        self, episode_id: str, success: bool, driving_score: float, no_min_speed: float = math.nan
    ) -> None:
        """Keep the scores of the live table, so that a resumed run need not compute them again."""
        values = [None if math.isnan(value) else value for value in (driving_score, no_min_speed)]
        self._update(
            episode_id, "success = ?, driving_score = ?, no_min_speed = ?", (int(success), *values)
        )

    def put_back(self, episode_id: str, error: str = "") -> None:
        """Mark an episode as pending again after a failed attempt."""
        self._update(
            episode_id,
            "state = ?, error = CASE ? WHEN '' THEN error ELSE ? END",
            (PENDING, error, error),
        )

    def give_up(self, episode_id: str, error: str) -> None:
        """Mark an episode as failed: no more attempts in this session."""
        self._update(episode_id, "state = ?, error = ?", (FAILED, error))

    def _update(self, episode_id: str, assignments: str, values: tuple[Any, ...]) -> None:
        changed = self._db.execute(
            f"UPDATE episodes SET {assignments}, updated_utc = ? WHERE episode_id = ?",
            (*values, _now(), episode_id),
        )
        if changed.rowcount != 1:
            raise KeyError(f"episode '{episode_id}' was never announced")

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
