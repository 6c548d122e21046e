"""Reading of motion libraries."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.files import open_file, read_text
from jaywalk.core.text import suggestion
from jaywalk.geometry.rotation import normalise
from jaywalk.motion.clip import Clip
from jaywalk.motion.library.writing import INDEX, META, VERSION, frame_columns
from jaywalk.motion.retarget import RigClip, RootPolicy

#: Name and version of the library of everyday people, in records of people that it posed.
EVERYDAY: Final = "everyday-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class MotionLibrary:
    """An open library; the frames of a clip are read from disk on request.

    Attributes:
        folder: Folder of the library.
        meta: Contents of ``library.json``.
        columns: Columns of the index, with one entry per clip.
        rows: Row of each clip in the index, by name.
    """

    folder: Path
    meta: Mapping[str, Any]
    columns: Mapping[str, list[Any]]
    rows: Mapping[str, int]
    _frames: Mapping[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def names(self) -> list[str]:
        """Names of the clips in order."""
        return self.columns["name"]

    def motion(self, name: str) -> Clip:
        """Return one clip on the SMPL skeleton."""
        row = self._row(name)
        c = self.columns
        return Clip(
            name=name,
            rotations=normalise(self._cut("smpl_rotations", row)),
            root_m=self._cut("smpl_root", row),
            rate_hz=float(self.meta["rate_hz"]),
            body_scale=c["body_scale"][row],
            caption=c["caption"][row],
            source=c["source"][row],
            licence=c["licence"][row],
            label=c["label"][row],
            mirrored=c["mirrored"][row],
            augmented=c["augmented"][row],
        )

    def on_rig(self, name: str, rig: str) -> RigClip:
        """Return one clip as poses of a walker with this rig."""
        row = self._row(name)
        if rig not in self.meta["policies"]:
            raise UsageError(f"unknown rig {rig!r}; expected {', '.join(self.meta['policies'])}")
        return RigClip(
            rig=rig,
            policy=RootPolicy(self.meta["policies"][rig]),
            actor=self._cut(f"{rig}_actor", row),
            hips_m=self._cut(f"{rig}_hips", row),
            turns=normalise(self._cut(f"{rig}_turns", row)),
            rate_hz=float(self.meta["rate_hz"]),
        )

    def way(self, name: str, rig: str) -> FloatArray:
        """Return the path (frames, 4) of a walker in one clip, ``x y z yaw``, without its poses."""
        return self._cut(f"{rig}_actor", self._row(name))

    def _row(self, name: str) -> int:
        if name not in self.rows:
            raise UsageError(
                f"no clip '{name}' in {self.folder}.{suggestion(name, self.rows)} "
                "'jaywalk motion search LIBRARY WORDS' finds clips."
            )
        return self.rows[name]

    def _cut(self, column: str, row: int) -> FloatArray:
        first, count = self.columns["first_frame"][row], self.columns["frames"][row]
        return np.array(self._frames[column][first : first + count], dtype=np.float64)


def open_library(folder: Path) -> MotionLibrary:
    """Open a library folder.

    Raises:
        DataError: The folder is not a library, is incomplete, or its files are inconsistent.
    """
    try:
        meta = json.loads(read_text(folder / META, f"a library with {META}"))
        table = feather.read_table(str(folder / INDEX), memory_map=True)
    except (DataError, OSError, ValueError, pa.ArrowException) as problem:
        raise DataError(f"{folder}: is not a complete motion library ({problem})") from problem
    version = meta.get("version") if isinstance(meta, dict) else None
    if version != VERSION:
        raise DataError(
            f"{folder}: library version {version}; this program reads {VERSION}. Build it again."
        )
    if table.num_rows != meta.get("clips") or not isinstance(meta.get("frames"), int):
        raise DataError(f"{folder}: {META} and {INDEX} do not fit; build the library again")
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    columns.setdefault("augmented", [""] * table.num_rows)  # missing in old libraries
    frames = {}
    for name, shape in frame_columns().items():
        path = folder / f"{name}.f32"
        size = int(np.prod(shape)) * 4 * meta["frames"]
        if not path.exists() or path.stat().st_size != size:
            raise DataError(f"{path}: missing or not {size} bytes long; build the library again")
        frames[name] = (
            np.memmap(path, dtype="<f4", mode="r", shape=(meta["frames"], *shape))
            if size
            else np.zeros((0, *shape), dtype=np.float32)
        )
    return MotionLibrary(
        folder=folder,
        meta=meta,
        columns=columns,
        rows={name: row for row, name in enumerate(columns["name"])},
        _frames=frames,
    )


def library_digest(folder: Path) -> str:
    """SHA-256 of the content of a library, independent of its folder; equal ones pose alike."""
    open_library(folder)
    total = hashlib.sha256()
    for name in (META, INDEX, *(f"{column}.f32" for column in frame_columns())):
        with open_file(folder / name, "a motion library", 2**40) as file:
            total.update(f"{name}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return total.hexdigest()
