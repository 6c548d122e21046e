"""Reader of a model's outputs: one row per sample in benchmark order, or with ``sample_id``."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError, PrerequisiteError
from jaywalk.core.files import read_bytes
from jaywalk.forecasting.behaviour.tasks import Task

MAX_BYTES = 512 * 2**20
SUM_TOLERANCE = 1e-3  # outputs printed from 32-bit softmax are within 1e-6
_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """Cells of a file, with the line number of each row for messages."""

    cells: list[list[str]]
    lines: list[int]
    ids: list[str] | None


def read_predictions(
    path: Path, task: Task, samples: pl.DataFrame, excluded: frozenset[str] = frozenset()
) -> tuple[pl.DataFrame, FloatArray]:
    """Read outputs and match them with samples.

    Args:
        path: CSV, gzipped or not. Without a header: one row per sample in benchmark order, with
            one probability (action) or one per class. With a header: a column ``sample_id`` and
            the probabilities, in any order of rows.
        task: The task.
        samples: The benchmark's samples in order.
        excluded: Sample ids that are left out. A file without header may lack their rows.

    Returns:
        The samples that are scored, and their probabilities ``(n, task.n_columns)``.
    """
    rows = _read_rows(path)
    values = _check_values(path, rows, task)
    kept = samples.filter(~pl.col("sample_id").is_in(list(excluded)))
    if rows.ids is not None:
        return kept, values[_rows_by_id(path, rows, samples, kept)]
    if len(values) == kept.height:
        return kept, values
    if len(values) == samples.height:
        mask = ~samples["sample_id"].is_in(list(excluded)).to_numpy()
        return kept, values[mask]
    raise DataError(
        f"'{path}' has {len(values)} rows; {task.task_id} has {samples.height} samples"
        + (f", {kept.height} without the excluded ones" if excluded else "")
        + f". {_row_advice(len(values), kept.height)}"
    )


def read_exclusions(path: Path, samples: pl.DataFrame) -> frozenset[str]:
    """Read sample ids to leave out, one per line; a pedestrian's id means all their samples."""
    if not path.is_file():
        raise PrerequisiteError(f"'{path}' does not exist. Give a file with one sample id a line.")
    known = set(samples["sample_id"])
    people = set(samples["pedestrian_id"])
    excluded: set[str] = set()
    unknown: list[str] = []
    for number, line in enumerate(_exclusions(path).splitlines(), 1):
        name = line.split("#")[0].strip()
        if name in known:
            excluded.add(name)
        elif name in people:
            excluded |= set(samples.filter(pl.col("pedestrian_id") == name)["sample_id"])
        elif name and name != "sample_id":
            unknown.append(f"line {number}: '{name}'")
    if unknown:
        raise DataError(
            f"'{path}': {_some(unknown)} is not a sample of this task. Ids look like "
            f"'{samples['sample_id'][0]}'; jaywalk behaviour samples lists them."
        )
    return frozenset(excluded)


def _exclusions(path: Path) -> str:
    return read_bytes(path, "a file with one sample id a line").decode("utf-8", "replace")


def _read_rows(path: Path) -> _Rows:
    text = _read_text(path)
    cells: list[list[str]] = []
    lines: list[int] = []
    header: list[str] | None = None
    reader = csv.reader(io.StringIO(text))
    for row in reader:
        if not row or (len(row) == 1 and not row[0].strip()):
            continue
        if not cells and header is None and _is_header(row):
            header = [cell.strip() for cell in row]
            continue
        cells.append([cell.strip() for cell in row])
        lines.append(reader.line_num)
    if not cells:
        raise DataError(f"'{path}' has no rows; expected one row of probabilities per sample.")
    if header is None:
        return _Rows(cells=cells, lines=lines, ids=None)
    if "sample_id" not in header:
        return _Rows(cells=cells, lines=lines, ids=None)
    place = header.index("sample_id")
    short = [line for row, line in zip(cells, lines, strict=True) if len(row) != len(header)]
    if short:
        raise DataError(
            f"'{path}': {_row_list(short)} differ from the header's {len(header)} columns."
        )
    ids = [row.pop(place) for row in cells]
    return _Rows(cells=cells, lines=lines, ids=ids)


def _read_text(path: Path) -> str:
    if not path.is_file():
        raise PrerequisiteError(f"'{path}' does not exist. Give a CSV file of predictions.")
    data = read_bytes(path, "a CSV file of predictions", MAX_BYTES)
    if data[:2] == _GZIP_MAGIC:
        try:
            with gzip.open(io.BytesIO(data)) as stream:
                data = stream.read(MAX_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"'{path}' is a broken gzip file: {error}.") from error
    if len(data) > MAX_BYTES:
        raise DataError(
            f"'{path}' has more than {MAX_BYTES} bytes; no prediction file is so large."
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"'{path}' is not a text file: {error}.") from error


def _is_header(row: list[str]) -> bool:
    if "sample_id" in [cell.strip() for cell in row]:
        return True
    # A header has words only; a row with some numbers has a mistake, which is reported below.
    return not any(_is_number(cell) for cell in row)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell.strip() == ""
    return True


def _check_values(path: Path, rows: _Rows, task: Task) -> FloatArray:
    wanted = task.n_columns
    wrong = [line for row, line in zip(rows.cells, rows.lines, strict=True) if len(row) != wanted]
    if wrong:
        found = sorted({len(row) for row in rows.cells if len(row) != wanted})
        raise DataError(
            f"'{path}': {_row_list(wrong)} have {_some([str(n) for n in found])} columns of "
            f"probabilities; {task.task_id} expects {wanted} ({_columns_of(task)})."
        )
    values = np.full((len(rows.cells), wanted), np.nan)
    for i, row in enumerate(rows.cells):
        for j, cell in enumerate(row):
            if _is_number(cell) and cell:
                values[i, j] = float(cell)
    lines = np.array(rows.lines)
    finite = np.isfinite(values).all(1)
    _raise_at(path, lines[~finite], "have a value that is not a number (NaN, empty or text)")
    inside = ((values >= 0.0) & (values <= 1.0)).all(1)
    _raise_at(path, lines[~inside], "have a probability outside of 0 to 1")
    if wanted > 1:
        off = np.abs(values.sum(1) - 1.0) > SUM_TOLERANCE
        _raise_at(path, lines[off], "have probabilities that do not sum to 1")
    return values


def _columns_of(task: Task) -> str:
    if task.n_columns == 1:
        return f"the probability of {task.class_names[1]}"
    return ", ".join(task.class_names)


def _raise_at(path: Path, lines: NDArray[np.int64], what: str) -> None:
    if lines.size:
        raise DataError(f"'{path}': {_row_list(lines.tolist())} {what}.")


def _rows_by_id(
    path: Path, rows: _Rows, samples: pl.DataFrame, kept: pl.DataFrame
) -> NDArray[np.int64]:
    assert rows.ids is not None
    place: dict[str, int] = {}
    doubled: list[int] = []
    for i, name in enumerate(rows.ids):
        if name in place:
            doubled.append(rows.lines[i])
        place[name] = i
    _raise_at(path, np.array(doubled, np.int64), "repeat a sample_id")
    known = set(samples["sample_id"])
    strange = [rows.lines[i] for name, i in place.items() if name not in known]
    if strange:
        raise DataError(
            f"'{path}': {_row_list(strange)} have a sample_id that this task does not have. "
            f"Ids look like '{samples['sample_id'][0]}'."
        )
    missing = [
        f"{name} (row {number})"
        for number, name in enumerate(kept["sample_id"], 1)
        if name not in place
    ]
    if missing:
        raise DataError(
            f"'{path}' lacks {len(missing)} of {kept.height} samples: {_some(missing)}. Predict "
            "them, or name them in a file for --exclude-samples."
        )
    return np.array([place[name] for name in kept["sample_id"]], np.int64)


def _row_list(lines: list[int]) -> str:
    return f"{len(lines)} rows (line {_some([str(line) for line in lines])})"


def _some(items: list[str]) -> str:
    return ", ".join(items[:5]) + (f" and {len(items) - 5} more" if len(items) > 5 else "")


def _row_advice(got: int, expected: int) -> str:
    if got < expected:
        return (
            f"Rows {got + 1} to {expected} are missing, or others before them: add a sample_id "
            "column, or name the lost samples in a file for --exclude-samples."
        )
    return f"Rows from {expected + 1} on are too many: check the task, the dataset and the split."
