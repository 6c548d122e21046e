"""``jaywalk list``: what there is, by kind."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Annotated, Any

import typer

from jaywalk.cli.catalogue import KINDS, rows_of
from jaywalk.cli.output import print_json, print_table


def list_things(
    kind: Annotated[str, typer.Argument(help="What to list; without it: the kinds.")] = "",
    pattern: Annotated[
        str, typer.Option("--filter", help="Only names that match, for example 'vehicle.*'.")
    ] = "*",
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False,
) -> None:
    """List towns, blueprints, sensors and whatever else has a name.

    Example: jaywalk list blueprints --filter 'vehicle.*'
    """
    rows: list[dict[str, Any]]
    if kind:
        rows = rows_of(kind)
    else:
        rows = [{"name": entry.name, "summary": entry.summary} for entry in KINDS]
    rows = [row for row in rows if fnmatchcase(str(row["name"]), pattern)]
    if as_json:
        print_json(rows)
        return
    columns = list(rows[0]) if rows else []
    cells = [[_text(row[column]) for column in columns] for row in rows]
    print_table(columns, cells, header_in_pipe=False)  # names for scripts


def _text(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
