"""How verbs print: tables and progress on a terminal, plain lines in a pipe, JSON for machines.

Names and messages can come from agents, servers and files. So control characters are escaped and
nothing is taken for rich's markup.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from jaywalk.core.text import printable


def print_json(value: Any) -> None:
    """Write a value as JSON on stdout."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def print_table(columns: list[str], rows: list[list[str]], *, header_in_pipe: bool = True) -> None:
    """Write rows as a table on a terminal, as tab-separated lines in a pipe."""
    if not sys.stdout.isatty():
        for row in [columns, *rows] if header_in_pipe and any(columns) else rows:
            sys.stdout.write("\t".join(printable(cell, layout=False) for cell in row) + "\n")
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(Text(column), overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    Console().print(table)


def say(text: str) -> None:
    """A line about progress, on stderr so that stdout stays what was asked for."""
    sys.stderr.write(f"jaywalk: {printable(text)}\n")
    sys.stderr.flush()


def finish(lines: list[str], next_command: str) -> None:
    """End a verb: where its output is, and what to run next."""
    for line in lines:
        sys.stdout.write(printable(line) + "\n")
    sys.stdout.write(f"next: {printable(next_command)}\n")
