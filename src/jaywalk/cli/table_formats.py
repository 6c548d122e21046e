"""Tables as tab-separated lines, CSV, LaTeX and Markdown, on stdout.

In CSV and TSV made for programs, a value and the ends of its interval have a column each
(:func:`split_columns`), and several tables are one with the column ``table`` (:func:`joined`).
"""

from __future__ import annotations

import csv
import math
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, Self

from jaywalk.core.text import printable

_END: Final = r"[-+]?\d[\d.e+-]*|-"
_INTERVAL: Final = re.compile(rf"(?P<value>[-+<]?\d[\d.e+-]*|-)?%? ?\[({_END}), ({_END})\]")
_LEVEL: Final = re.compile(r" ?\[\d+ %\]$| \(\* primary\)$")


class Cell(str):
    """Text of a cell, with its values for programs.

    Attributes:
        values: Values by the column that each has in CSV and TSV; "" is the column of the cell.
    """

    __slots__ = ("values",)
    values: dict[str, str]

    def __new__(cls, text: str, values: Mapping[str, float | str | None]) -> Self:
        """Join the text that people read with the values."""
        cell = super().__new__(cls, text)
        cell.values = {key: _value_text(value) for key, value in values.items()}
        return cell


def positive_text(positive: int, n: int) -> str:
    """Text of a column ``pos/n``."""
    return Cell(f"{positive}/{n}", {"pos": positive, "n": n})


def _value_text(value: float | str | None) -> str:
    """All digits of a number; nothing where there is none."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    return str(float(value) if isinstance(value, float) else value)  # numpy's floats too


def _values_of(text: str) -> dict[str, str]:
    """Values of a cell by column; texts with an interval are taken apart."""
    if isinstance(text, Cell):
        return text.values
    found = _INTERVAL.fullmatch(text)
    if found is None:
        return {"": "" if text in ("-", "(no interval)") else text}
    value, low, high = ("" if one == "-" else one for one in found.groups())
    ends = {"low": low, "high": high}
    return ends if value is None else {"": value, **ends}


def split_columns(
    columns: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[list[str], list[list[str]]]:
    """Return heading and rows with one value in each cell.

    Columns ``low`` and ``high`` follow a value that has an interval; where several columns have
    them, the name of the column comes first.
    """
    split = [[_values_of(cell) for cell in row] for row in rows]
    width = max([len(columns), *map(len, split)])
    keys: list[list[str]] = []
    for place in range(width):
        cells = [row[place] for row in split if place < len(row)]
        used = dict.fromkeys(key for cell in cells for key in cell if key or cell[key])
        keys.append(list(used) or [""])
    shared = Counter(key for names in keys for key in names)
    titles = [_LEVEL.sub("", column) for column in columns] + [""] * (width - len(columns))
    heading = [
        title if not key else f"{title} {key}".strip() if shared[key] > 1 else key
        for title, names in zip(titles, keys, strict=True)
        for key in names
    ]
    body = [
        [cell.get(key, "") for cell, names in zip(row, keys, strict=False) for key in names]
        for row in split
    ]
    return heading, body


def joined(
    tables: Sequence[tuple[str, list[str], list[list[str]]]],
) -> tuple[list[str], list[list[str]]]:
    """Return tables (name, heading, rows) as one; several get a first column with the name."""
    if len(tables) == 1:
        return tables[0][1], tables[0][2]
    columns = list(dict.fromkeys(title for _, heading, _ in tables for title in heading))
    rows = []
    for name, heading, body in tables:
        for row in body:
            by_column = dict(zip(heading, row, strict=False))
            rows.append([name, *(by_column.get(title, "") for title in columns)])
    return ["table", *columns], rows


def write_tsv(heading: list[list[str]], rows: list[list[str]]) -> None:
    """Write lines whose cells are separated by tabs."""
    for row in heading + rows:
        sys.stdout.write("\t".join(printable(cell, layout=False) for cell in row) + "\n")


def write_csv(heading: list[list[str]], rows: list[list[str]]) -> None:
    """Write comma-separated values."""
    csv.writer(sys.stdout, lineterminator="\n").writerows(heading + rows)


_LATEX: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }
)

_NUMBER: Final = re.compile(r"[-+<]?\d+(\.\d+)?%?( \[[-+]?\d.*\])?|-")
_MINUS: Final = re.compile(r"-(\d)")
_MARKDOWN: Final = str.maketrans({sign: f"\\{sign}" for sign in "\\|`*_<"})


def write_latex(heading: list[list[str]], rows: list[list[str]], name: str) -> None:
    """Write a tabular with the rules of the package booktabs; columns of numbers end flush."""
    width = max((len(row) for row in heading + rows), default=1)
    columns = [[row[i] for row in rows if i < len(row) and row[i]] for i in range(width)]
    places = "".join("r" if column and all(map(_is_number, column)) else "l" for column in columns)
    head, body = (
        [" & ".join(map(_latex_cell, row)) + r" \\" for row in part] for part in (heading, rows)
    )
    lines = [rf"\begin{{tabular}}{{{places}}}", r"\toprule", *head]
    lines += [r"\midrule", *body] if head else body
    sys.stdout.write("% \\usepackage{booktabs}" + (f"; {name}" if name else "") + "\n")
    sys.stdout.write("\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n")


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell) is not None


def _latex_cell(cell: str) -> str:
    """Text of a cell; the minus of a number is a minus, not a hyphen."""
    text = cell.translate(_LATEX)
    return _MINUS.sub(r"$-$\1", text) if _is_number(cell) or cell.startswith("[") else text


def write_markdown(heading: list[list[str]], rows: list[list[str]]) -> None:
    """Write a table of Markdown."""
    width = max((len(row) for row in heading + rows), default=1)
    head = heading[0] if heading else [""] * width  # a Markdown table needs a heading
    for row in [head, ["---"] * width, *rows]:
        sys.stdout.write("| " + " | ".join(map(_markdown_cell, row)) + " |\n")


def _markdown_cell(text: str) -> str:
    """Text of a cell without markup; brackets of intervals stay readable, links do not work."""
    return text.translate(_MARKDOWN).replace("](", "]\\(")
