"""Writing of motion libraries clip by clip, without all frames in memory.

Files of a library folder:

``library.json``  version, rate, root policy of each rig, problems found during the build
``clips.arrow``   one row per clip: name, base, class, caption, ..., first frame and count
``*.f32``         little-endian float32, one row per frame, all clips one after another
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather

from jaywalk.core.errors import UsageError
from jaywalk.motion.carla_rigs import RIG_NAMES
from jaywalk.motion.clip import LIBRARY_RATE_HZ, Clip
from jaywalk.motion.library.classes import classify, displacement_m
from jaywalk.motion.retarget import DRIVEN_COUNT, RigClip, RootPolicy
from jaywalk.motion.smpl import JOINT_COUNT

VERSION: Final = 1
META: Final = "library.json"
INDEX: Final = "clips.arrow"


def frame_columns() -> dict[str, tuple[int, ...]]:
    """Names of the files of frames, with the shape of one frame."""
    columns: dict[str, tuple[int, ...]] = {"smpl_rotations": (JOINT_COUNT, 4), "smpl_root": (3,)}
    for rig in RIG_NAMES:
        columns[f"{rig}_turns"] = (DRIVEN_COUNT, 4)
        columns[f"{rig}_hips"] = (3,)
        columns[f"{rig}_actor"] = (4,)
    return columns


def check_folder(folder: Path) -> None:
    """Refuse a folder to which a library must not be written; call it before long work.

    Raises:
        UsageError: The path is a file, or the folder holds files that do not belong to a library.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; give a folder for the library")
    if folder.exists() and not _is_ours(folder):
        raise UsageError(f"{folder} holds other files; give a new folder for the library")


class LibraryWriter:
    """Writer of a library, as a context manager; the library is complete on exit without error.

    Args:
        folder: New or empty folder, or one that holds a library, which is then replaced.
        policies: Root policy of each rig.
        notes: Further facts for ``library.json``.
    """

    def __init__(
        self, folder: Path, policies: Mapping[str, RootPolicy], notes: Mapping[str, Any]
    ) -> None:
        check_folder(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / META).unlink(missing_ok=True)  # an interrupted build must not look complete
        self._folder = folder
        self._policies = dict(policies)
        self._notes = dict(notes)
        self._rows: list[dict[str, Any]] = []
        self._names: set[str] = set()
        self._frames = 0
        self.problems: list[dict[str, str]] = []
        self._stack = ExitStack()
        self._files = {
            name: self._stack.enter_context((folder / f"{name}.f32").open("wb"))
            for name in frame_columns()
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()
        if kind is None:
            self._finish()

    @property
    def clips(self) -> int:
        """Number of clips written so far."""
        return len(self._rows)

    def add(self, motion: Clip, rigs: Mapping[str, RigClip]) -> None:
        """Append a clip with its poses on all rigs."""
        if motion.name in self._names:
            raise UsageError(f"clip {motion.name!r} was added twice; names must be unique")
        if motion.rate_hz != LIBRARY_RATE_HZ:
            raise UsageError(f"clip {motion.name!r} has {motion.rate_hz} Hz; resample it to 20 Hz")
        arrays = {"smpl_rotations": motion.rotations, "smpl_root": motion.root_m}
        for rig in RIG_NAMES:
            posed = rigs[rig]
            arrays[f"{rig}_turns"], arrays[f"{rig}_hips"] = posed.turns, posed.hips_m
            arrays[f"{rig}_actor"] = posed.actor
        for name, array in arrays.items():
            self._files[name].write(np.ascontiguousarray(array, dtype="<f4").tobytes())
        self._rows.append(self._row(motion))
        self._names.add(motion.name)
        self._frames += motion.frames

    def _row(self, motion: Clip) -> dict[str, Any]:
        net, excursion = displacement_m(motion)
        return {
            "name": motion.name,
            "base": motion.base_name,
            "mirrored": motion.mirrored,
            "augmented": motion.augmented,
            "class": str(classify(motion)),
            "label": motion.label,
            "caption": motion.caption,
            "source": motion.source,
            "licence": motion.licence,
            "hash": motion.content_hash(),
            "first_frame": self._frames,
            "frames": motion.frames,
            "body_scale": motion.body_scale,
            "net_m": net,
            "excursion_m": excursion,
        }

    def _finish(self) -> None:
        names = list(_SCHEMA.names)
        table = pa.Table.from_pydict(
            {name: [row[name] for row in self._rows] for name in names}, schema=_SCHEMA
        )
        feather.write_feather(table, str(self._folder / INDEX), compression="uncompressed")
        meta = {
            "version": VERSION,
            "rate_hz": LIBRARY_RATE_HZ,
            "clips": len(self._rows),
            "frames": self._frames,
            "policies": {rig: str(policy) for rig, policy in self._policies.items()},
            **self._notes,
            "problems": self.problems,
        }
        text = json.dumps(meta, indent=2) + "\n"
        (self._folder / META).write_text(text, encoding="utf-8")


def _is_ours(folder: Path) -> bool:
    """Return True if a folder is empty or holds a complete or partial library."""
    own = {META, INDEX, *(f"{name}.f32" for name in frame_columns())}
    return (folder / META).exists() or all(path.name in own for path in folder.iterdir())


_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("name", "base")),
        ("mirrored", pa.bool_()),
        ("augmented", pa.string()),
        *(
            (name, pa.string())
            for name in ("class", "label", "caption", "source", "licence", "hash")
        ),
        ("first_frame", pa.int64()),
        ("frames", pa.int64()),
        *((name, pa.float64()) for name in ("body_scale", "net_m", "excursion_m")),
    ]
)
