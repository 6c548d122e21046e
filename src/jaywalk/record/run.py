"""Folder of a run: its layout, its episodes and the list of planned episodes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jaywalk.core.errors import DataError
from jaywalk.record.episode import EPISODE_FILE
from jaywalk.record.reader import find_records
from jaywalk.record.writer import record_hash

STATE_FILE: Final = "run.sqlite"
CONFIG_FILE: Final = "config.json"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Names of everything in a run's folder. Nothing is created or checked before it is used."""

    path: Path

    @property
    def episodes(self) -> Path:
        """Folder of the records."""
        return self.path / "episodes"

    @property
    def logs(self) -> Path:
        """Folder of the workers' logs."""
        return self.path / "logs"

    @property
    def rollouts(self) -> Path:
        """Folder of the rollouts of the run's scenes, by policy."""
        return self.path / "realism"

    @property
    def config_file(self) -> Path:
        """File with all settings that determine the episodes."""
        return self.path / CONFIG_FILE

    @property
    def state_file(self) -> Path:
        """Database with the state of every episode."""
        return self.path / STATE_FILE

    @property
    def lock_file(self) -> Path:
        """File that the scheduler locks."""
        return self.path / "run.lock"

    @property
    def sessions_file(self) -> Path:
        """File with a line for each session of the run: its command and environment."""
        return self.path / "sessions.jsonl"

    def episode(self, episode_id: str) -> Path:
        """Return the folder of the record of an episode, which need not exist."""
        return self.episodes / episode_id

    def agent_output(self, episode_id: str) -> Path:
        """Return the folder for files that the driver of an episode writes itself."""
        return self.path / "agent" / episode_id

    def records(self) -> Iterator[Path]:
        """Folders of all finished records, sorted."""
        return find_records(self.path)

    @property
    def is_run(self) -> bool:
        """Return whether the folder is a run, or the record of one episode."""
        return self.path.is_dir() and (
            self.state_file.is_file()
            or (self.path / EPISODE_FILE).is_file()
            or next(self.episodes.glob(f"*/{EPISODE_FILE}"), None) is not None
        )

    def announced(self) -> list[str] | None:
        """Return the ids of the planned episodes of a run, in its order; None if it announces none.

        Raises:
            DataError: The state file cannot be read.
        """
        if not self.state_file.is_file():
            return None
        return [str(row[0]) for row in self._select("episode_id FROM episodes ORDER BY rowid")]

    def written_hashes(self) -> dict[str, str]:
        """Return the hash of each finished record when it was written, by episode.

        Empty if the run keeps no state file.

        Raises:
            DataError: The state file cannot be read.
        """
        if not self.state_file.is_file():
            return {}
        rows = self._select("episode_id, record_hash FROM episodes WHERE state = 'done'")
        return {str(name): str(digest) for name, digest in rows if digest}

    def _select(self, what: str) -> list[tuple[Any, ...]]:
        try:
            with closing(sqlite3.connect(f"file:{self.state_file}?mode=ro", uri=True)) as base:
                return base.execute(f"SELECT {what}").fetchall()
        except sqlite3.Error as problem:
            raise DataError(
                f"{self.state_file} cannot be read as the list of a run: {problem}."
            ) from problem


def checked_hash(folder: Path, expected: str) -> str:
    """Return the hash of a record.

    Args:
        folder: Folder of the record.
        expected: Hash of the record when it was written; "" if unknown.

    Raises:
        DataError: The record is damaged, or its content has another hash.
    """
    digest = record_hash(folder)
    if expected and digest != expected:
        raise DataError(
            f"{folder} was changed after it was written: its content has the hash {digest[:12]}, "
            f"{STATE_FILE} says {expected[:12]}. 'jaywalk run' with the same options drives it "
            "again."
        )
    return digest
