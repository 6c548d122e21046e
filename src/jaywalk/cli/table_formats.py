"""Tables as tab-separated lines, CSV, LaTeX and Markdown, on stdout."""

from __future__ import annotations

import csv
import re
import sys
from typing import Final

from jaywalk.core.text import printable


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
