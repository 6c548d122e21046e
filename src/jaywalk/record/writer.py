"""Writes one episode: collects by tick, and at the end puts a whole folder in place or none."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import pyarrow as pa

from jaywalk.core.errors import UsageError
from jaywalk.record import columns as c
from jaywalk.record.episode import EPISODE_FILE, Episode
from jaywalk.record.schema import BY_NAME, STATES, TABLES
from jaywalk.record.state_rows import Rows, StateSpool, states_to_table
from jaywalk.record.storage import open_table, rows_to_table, sync_file, write_table

_TEMPORARY: Final = ".unfinished-"


class EpisodeWriter:
    """Collects an episode and writes its folder atomically.

    Nothing is at ``folder`` until :meth:`finish` returns; a process that dies leaves a hidden
    folder beside it, which :func:`remove_unfinished` clears away.

    Example:
        >>> with EpisodeWriter(run / "episodes" / "smoke-01") as writer:  # doctest: +SKIP
        ...     writer.add_tick(0, 0.0, 0.05)
        ...     writer.add("weather", tick=0, cloudiness=10.0)
        ...     writer.finish(Episode(episode_id="smoke-01", end_reason="route completed"))
    """

    def __init__(self, folder: Path, *, chunk_rows: int = 200_000) -> None:
        """Begin an episode.

        Args:
            folder: Where the record shall be; nothing may be there.
            chunk_rows: State rows kept in memory before they are spilled.
        """
        if folder.exists():
            raise UsageError(f"{folder} exists already. Remove it or choose another place.")
        folder.parent.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._temporary = Path(
            tempfile.mkdtemp(prefix=f"{_TEMPORARY}{folder.name}-", dir=folder.parent)
        )
        self._rows: dict[str, list[dict[str, Any]]] = {t.name: [] for t in TABLES if t != STATES}
        self._states = StateSpool(self._temporary, chunk_rows)
        self._clips: dict[str, int] = {}
        self._last_tick = -1
        self._states_file: Path | None = None

    @property
    def ticks(self) -> int:
        """Ticks added so far."""
        return len(self._rows["ticks"])

    def add_tick(self, tick: int, time_s: float, delta_s: float) -> None:
        """Begin a tick; ticks must come in order."""
        if tick <= self._last_tick:
            raise ValueError(f"tick {tick} after tick {self._last_tick}, expected a later one")
        self._last_tick = tick
        # A nanosecond grid: the same step gives the same number whatever the clock began with.
        self.add("ticks", tick=tick, time_s=round(time_s, 9), delta_s=delta_s)

    def add(self, table: str, **row: Any) -> None:
        """Add a row to any table but the states; columns left out are null."""
        self._rows[table].append(row)

    def add_event(self, *, tick: int, kind: str, source: str, **row: Any) -> None:
        """Add an event; it is a moment unless ``end_tick`` is given."""
        rows = self._rows["events"]
        row = {c.END_TICK: tick} | row
        rows.append({c.EVENT: len(rows), c.TICK: tick, c.KIND: kind, c.SOURCE: source} | row)

    def add_states(self, rows: Rows) -> None:
        """Add the states of one tick (``STATE_DTYPE``); the array is kept, not copied."""
        self._states.add(rows)

    def clip_number(self, name: str) -> int:
        """Number that stands for a motion clip in state rows."""
        return self._clips.setdefault(name, len(self._clips))

    def table(self, name: str) -> pa.Table:
        """What has been collected of a small table."""
        return rows_to_table(BY_NAME[name], self._rows[name])

    def finish(self, episode: Episode) -> Path:
        """Write everything and put the folder in place; returns it."""
        sync_file(self.write_states())
        counts = {STATES.name: self._states.rows}
        for name in self._rows:
            path = self._temporary / BY_NAME[name].file_name
            data = self.table(name)
            write_table(path, BY_NAME[name], data)
            sync_file(path)
            counts[name] = int(data.num_rows)
        text = episode.model_copy(update={"rows": counts}).to_json()
        with (self._temporary / EPISODE_FILE).open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(self._temporary, 0o755)
        sync_file(self._temporary)
        try:
            os.rename(self._temporary, self.folder)
        except OSError as problem:
            raise UsageError(
                f"{self.folder} appeared meanwhile; the episode was not written over it."
            ) from problem
        sync_file(self.folder.parent)
        return self.folder

    def write_states(self) -> Path:
        """Write the states now, so that they can be read; none may be added afterwards."""
        if self._states_file is None:
            path = self._temporary / STATES.file_name
            clips = list(self._clips)
            with open_table(path, STATES) as file:
                for rows in self._states.batches(len(self._rows["actors"])):
                    file.write_table(states_to_table(rows, clips))
            self._states.discard_parts()
            self._states_file = path
        return self._states_file

    def discard(self) -> None:
        """Throw the episode away."""
        shutil.rmtree(self._temporary, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.discard()


def remove_unfinished(folder: Path) -> int:
    """Remove what writers that died left in a folder; call it when none is at work there."""
    left = [path for path in folder.glob(f"{_TEMPORARY}*") if path.is_dir()]
    for path in left:
        shutil.rmtree(path, ignore_errors=True)
    return len(left)
