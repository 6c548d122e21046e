"""States on their way to the disk: numpy rows as they come, by actor and tick as they go.

Rows come tick by tick and leave sorted by actor, so something has to hold them all. That is the
disk: full chunks are sorted and spilled, and the file is put together a few actors at a time, so
memory does not grow with the length of an episode.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from jaywalk.record import columns as c
from jaywalk.record.schema import STATES, TEXT

NO_CLIP: Final = -1
KIND_OTHER, KIND_VEHICLE, KIND_WALKER = 0, 1, 2

_NUMPY: Final = {
    "float": "f4",
    "uint32": "u4",
    "int32": "i4",
    "int8": "i1",
    "uint8": "u1",
    "bool": "?",
}
STATE_DTYPE: Final = np.dtype(
    [("family", "u1")]
    + [(k.name, "i4" if k.type == TEXT else _NUMPY[str(k.type)]) for k in STATES.columns]
)
"""A row of states: the table's columns, the clip as a number (-1: none), and whose they are."""

_VEHICLE_ONLY: Final = frozenset({
    c.THROTTLE, c.STEER, c.BRAKE, c.HAND_BRAKE, c.REVERSE, c.MANUAL_GEAR, c.GEAR,
    c.SPEED_LIMIT_KMH, c.AT_LIGHT, c.LIGHT_STATE, c.LAMPS,
})  # fmt: skip
_WALKER_ONLY: Final = frozenset({c.WALK_X, c.WALK_Y, c.WALK_Z, c.WALK_SPEED_MPS, c.JUMP})
_CLIP_ONLY: Final = frozenset({c.CLIP_PHASE, c.CLIP_BLEND})

Rows = NDArray[np.void]


class StateSpool:
    """Collects state rows in ticks' order and gives them back in actors' order."""

    def __init__(self, folder: Path, chunk_rows: int = 200_000) -> None:
        self._folder = folder
        self._chunk_rows = chunk_rows
        self._open: list[Rows] = []
        self._open_rows = 0
        self._parts: list[Path] = []
        self.rows = 0

    def add(self, rows: Rows) -> None:
        """Take rows; they must not be changed afterwards."""
        self._open.append(rows)
        self._open_rows += len(rows)
        self.rows += len(rows)
        if self._open_rows >= self._chunk_rows:
            self._spill()

    def _sorted_chunk(self) -> Rows:
        rows = np.concatenate(self._open) if self._open else np.empty(0, STATE_DTYPE)
        self._open, self._open_rows = [], 0
        # Ticks come in order, so that a stable sort by actor is one by actor and tick.
        return rows[np.argsort(rows[c.ACTOR], kind="stable")]

    def _spill(self) -> None:
        path = self._folder / f"states-{len(self._parts)}.npy"
        np.save(path, self._sorted_chunk())
        self._parts.append(path)

    def batches(self, actors: int) -> Iterator[Rows]:
        """All rows sorted by actor and tick, in pieces of whole actors."""
        parts = [np.load(path, mmap_mode="r") for path in self._parts]
        parts.append(self._sorted_chunk())
        if self.rows <= self._chunk_rows:
            yield from (part for part in parts if len(part))
            return
        step = max(1, actors * self._chunk_rows // self.rows)
        for first in range(0, actors, step):
            pieces = []
            for part in parts:
                low, high = np.searchsorted(part[c.ACTOR], [first, first + step])
                pieces.append(np.asarray(part[low:high]))
            rows = np.concatenate(pieces)
            yield rows[np.argsort(rows[c.ACTOR], kind="stable")]

    def discard_parts(self) -> None:
        """Remove what was spilled."""
        for path in self._parts:
            path.unlink(missing_ok=True)


def states_to_table(rows: Rows, clips: list[str]) -> pa.Table:
    """Rows to the typed table; columns that do not concern an actor become null."""
    family = rows["family"]
    no_clip = rows[c.CLIP] == NO_CLIP
    arrays: list[Any] = []
    for column in STATES.columns:
        values = np.ascontiguousarray(rows[column.name])
        mask = None
        if column.name in _VEHICLE_ONLY:
            mask = family != KIND_VEHICLE
        elif column.name in _WALKER_ONLY:
            mask = family != KIND_WALKER
        elif column.name in _CLIP_ONLY:
            mask = no_clip
        if column.name == c.CLIP:
            indices = pa.array(np.where(no_clip, 0, values), pa.int32(), mask=no_clip)
            names = pa.array(clips or [""], TEXT)
            arrays.append(pa.DictionaryArray.from_arrays(indices, names).cast(TEXT))
        else:
            arrays.append(pa.array(values, column.type, mask=mask))
    return pa.table(arrays, schema=STATES.arrow)
