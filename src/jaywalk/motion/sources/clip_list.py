"""Lists of clips: which frames of which sequence, with caption and class."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from jaywalk.core.errors import DataError
from jaywalk.core.files import csv_lines

_COLUMNS = ("sequence", "humanml3d_id", "habit_class", "start_frame_20hz", "end_frame_20hz")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipRow:
    """One clip; frames are counted at 20 Hz, the end is exclusive, -1 stands for the last."""

    sequence: str
    name: str
    label: str
    start_20hz: int
    end_20hz: int
    caption: str

    @property
    def mirrored(self) -> bool:
        """HumanML3D marks mirror images by an M before the number."""
        return self.name.startswith("M")


def read_clip_list(path: Path) -> list[ClipRow]:
    """Read a CSV with the columns of ``habit_clips.csv``.

    Raises:
        DataError: Names the file, the line and what is wrong.
    """
    try:
        with csv_lines(path, "a list of clips (.csv)", "utf-8") as file:
            reader = csv.DictReader(file)
            missing = [c for c in _COLUMNS if c not in (reader.fieldnames or ())]
            if missing:
                raise DataError(f"{path}: lacks the columns {', '.join(missing)}")
            return [_row(path, reader.line_num, row) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise DataError(f"{path}: cannot be read as a list of clips ({problem})") from problem


def _row(path: Path, line: int, row: dict[str, str]) -> ClipRow:
    try:
        return ClipRow(
            sequence=row["sequence"],
            name=row["humanml3d_id"],
            label=row["habit_class"],
            start_20hz=int(row["start_frame_20hz"]),
            end_20hz=int(row["end_frame_20hz"]),
            caption=row.get("caption") or "",
        )
    except (TypeError, ValueError) as problem:
        raise DataError(f"{path}: line {line} has no frame numbers ({problem})") from problem
