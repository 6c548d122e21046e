"""The one renderer of commands: tables, TSV, CSV, LaTeX, Markdown and JSON.

A command returns a :class:`Result`; :func:`add_output_options` gives it ``--format`` and ``--json``
and prints what it returns.

Without ``--format``, rows are a table on a terminal and tab-separated lines in a pipe. Stdout holds
the result alone once a format for machines is asked for; remarks then go to stderr.

Names and messages can come from agents, servers and files. So control characters are escaped and
nothing is interpreted as rich's markup.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from jaywalk.cli.table_formats import (
    Cell,
    joined,
    split_columns,
    write_csv,
    write_latex,
    write_markdown,
    write_tsv,
)
from jaywalk.core.errors import PrerequisiteError, UsageError
from jaywalk.core.heartbeat import Heartbeat
from jaywalk.core.text import did_you_mean, printable, suggestion


class Format(StrEnum):
    """Formats of printed results."""

    TABLE = "table"
    TSV = "tsv"
    CSV = "csv"
    LATEX = "latex"
    MD = "md"
    JSON = "json"


_FOR_PROGRAMS: Final = (Format.CSV, Format.TSV)  # if asked for; TSV in a pipe is for people


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts below headings.

    Attributes:
        columns: Headings; none, or only empty ones, give no heading.
        rows: Texts of the cells.
        name: Name for ``--table`` and for comments of formats for machines.
        header_in_pipe: Whether lines in a pipe begin with the headings when no format was asked
            for.
        keys: Names of the rows for ``--metrics``, beside the texts of their first cells.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    name: str = ""
    header_in_pipe: bool = True
    keys: Sequence[str] = ()

    def only(self, names: Sequence[str]) -> Table:
        """Return a table of the rows with these names, in their order.

        Raises:
            UsageError: No row has a name.
        """
        found: dict[str, Sequence[str]] = {}
        for key, row in zip(self.keys or [row[0] for row in self.rows], self.rows, strict=True):
            found |= {key: row, row[0].removesuffix(" *"): row}
        for name in names:
            if name not in found:
                known = suggestion(name, self.keys or found)
                raise UsageError(f"--metrics names '{name}', which the table does not have.{known}")
        return replace(self, rows=[found[name] for name in names])


@dataclass(frozen=True, slots=True)
class FindingLine:
    """Line of a check: its state, what was found, and what to do about it."""

    state: str
    text: str
    fix: str


@dataclass(frozen=True, slots=True)
class Note:
    """Remark about the result, for stderr."""

    text: str


Part = Table | FindingLine | Note | str  # a text is one line


@dataclass(frozen=True, slots=True)
class Result:
    """Result of a command.

    Attributes:
        value: The value for JSON. Without a table among the parts, other formats for machines print
            its rows.
        parts: The tables and lines that a person reads, in order.
        next_command: What to run next; "" if nothing follows.
        exit_code: Exit code of the command.
        table: Print only the table of this name, and the notes; "" prints all.
        metrics: Print only these rows, with commas, of that or the first table; "" prints all.
    """

    value: Any
    parts: Sequence[Part] = ()
    next_command: str = ""
    exit_code: int = 0
    table: str = ""
    metrics: str = ""

    def shown(self) -> list[Part]:
        """Return the parts to print.

        Raises:
            UsageError: The result has no table of the name that was asked for.
        """
        parts: list[Part] = list(self.parts)
        tables = [one for one in parts if isinstance(one, Table)]
        if self.table or (self.metrics and tables):
            chosen = [one for one in tables if one.name == (self.table or tables[0].name)]
            if not chosen:
                known = list(dict.fromkeys(one.name for one in tables if one.name))
                near = did_you_mean(self.table, known)
                expected = f"expected one of: {', '.join(known) or 'none'}."
                raise UsageError(f"--table is '{self.table}', {expected}{near}")
            names = [name.strip() for name in self.metrics.split(",") if name.strip()]
            notes = [one for one in parts if isinstance(one, Note)]
            return [*(one.only(names) if names else one for one in chosen), *notes]
        if self.next_command:
            parts.append(next_line(self.next_command))
        return parts


@dataclass(slots=True)
class _Asked:
    """The format that the running command was asked for."""

    format: Format | None = None
    tables: int = 0  # printed so far
    waiting: list[tuple[str, list[str], list[list[str]]]] = field(default_factory=list)

    @property
    def for_machines(self) -> bool:
        return self.format not in (None, Format.TABLE)


_ASKED: Final = _Asked()


def _choose(ctx: typer.Context, chosen: Format | None) -> Format | None:
    """Print in this format until the command ends."""
    _ASKED.format, _ASKED.tables = chosen, 0
    ctx.call_on_close(_forget)
    return chosen


def _forget() -> None:
    waiting, chosen = list(_ASKED.waiting), _ASKED.format
    _ASKED.format, _ASKED.tables = None, 0
    _ASKED.waiting.clear()
    if waiting:
        heading, rows = joined(waiting)
        (write_csv if chosen is Format.CSV else write_tsv)([heading] if any(heading) else [], rows)


def _wants_json(ctx: typer.Context, given: bool) -> bool:
    if given:
        _choose(ctx, Format.JSON)
    return _ASKED.format is Format.JSON


def _wants_value(ctx: typer.Context, given: bool) -> bool:
    return _wants_json(ctx, given) or _ASKED.for_machines


_JSON_HELP: Final = "Print JSON; short for --format json."
# For commands that print tables.
AsJson = Annotated[bool, typer.Option("--json", help=_JSON_HELP, callback=_wants_json)]
# For commands that print sentences: rows of other formats come from the value for JSON.
AsValue = Annotated[bool, typer.Option("--json", help=_JSON_HELP, callback=_wants_value)]


def add_output_options(command: Any) -> None:
    """Prepare every command below for printing.

    Commands that return a :class:`Result` get ``--json``, and the renderer prints what they return.
    Commands that take ``--json`` get ``--format``. Where ``--format`` already means the format of
    files, the option is ``--print-format``.
    """
    for below in getattr(command, "commands", {}).values():
        add_output_options(below)
    outputs = {
        parameter.name: parameter.opts[0]
        for parameter in command.params
        if _OUTPUTS & set(parameter.opts)
    }
    if outputs:
        command.callback = _checking_outputs(command.callback, outputs)
    if getattr(command.callback, "__annotations__", {}).get("return") not in (None, "None"):
        command.params.append(_json_option())
        command.callback = _rendered(command.callback)
    names = {name for parameter in command.params for name in parameter.opts}
    if "--json" in names:
        name = "--print-format" if "--format" in names else "--format"
        where = next(i for i, option in enumerate(command.params) if "--json" in option.opts)
        command.params.insert(where, _format_option(name))


_OUTPUTS: Final = {"--out", "--png", "--mp4", "--gif", "--rerun", "--scores", "--overlay"}


def _checking_outputs(callback: Callable[..., Any], outputs: dict[str, str]) -> Callable[..., Any]:
    """Find out before the work whether its outputs can be written."""

    @wraps(callback)
    def checked(*arguments: Any, **options: Any) -> Any:
        for name, option in outputs.items():
            path = options.get(name)
            if isinstance(path, Path):
                check_writable(path, option)
        return callback(*arguments, **options)

    return checked


def check_writable(path: Path, option: str) -> None:
    """Raise unless a file or folder of this name can be written; nothing is made.

    Raises:
        PrerequisiteError: It cannot; the message names the place and the option.
    """
    there = path.absolute()
    while not there.exists() and there != there.parent:
        there = there.parent
    if there != path.absolute() and not there.is_dir():
        reason = f"'{there.name}' is a file"
    elif not os.access(there, os.W_OK):
        reason = f"no permission for '{there}'"
    else:
        return
    raise PrerequisiteError(
        f"Cannot write '{path}': {reason}. Give {option} a name in a folder you may write to."
    )


def _rendered(callback: Callable[..., Result]) -> Callable[..., None]:
    @wraps(callback)
    def render_result(*arguments: Any, **options: Any) -> None:
        result: Result = callback(*arguments, **options)
        render(result)
        if result.exit_code:
            raise typer.Exit(result.exit_code)

    return render_result


def _json_option() -> Any:
    holder = typer.Typer()

    @holder.command()
    def _(as_json: AsJson = False) -> None: ...

    option = typer.main.get_command(holder).params[0]
    option.expose_value = False
    return option


def _format_option(name: str) -> Any:
    holder = typer.Typer()

    @holder.command()
    def _(
        chosen: Format | None = typer.Option(
            None,
            name,
            help="How to print the result.",
            show_default="table on a terminal, tsv in a pipe",
            callback=_choose,
            is_eager=True,  # before --json
        ),
    ) -> None: ...

    option = typer.main.get_command(holder).params[0]
    option.expose_value = False
    return option


def render(result: Result) -> None:
    """Print a result in the format that was asked for."""
    parts = [] if _ASKED.format is Format.JSON else result.shown()
    if _ASKED.for_machines and not any(isinstance(part, Table) for part in parts):
        print_json(result.value)
        return
    for part in parts:
        if isinstance(part, Table):
            _print_table(part)
        elif isinstance(part, FindingLine):
            print_finding(part.state, part.text, part.fix)
        elif isinstance(part, Note):
            say(part.text)
        else:
            print_line(part)


def for_machines() -> bool:
    """Return whether stdout is to hold the result alone."""
    return _ASKED.for_machines


def print_json(value: Any) -> None:
    """Write a value as JSON on stdout, or its rows in the format that was asked for."""
    if not _ASKED.for_machines or _ASKED.format is Format.JSON:
        sys.stdout.write(json.dumps(value, indent=2) + "\n")
    else:
        print_table(*_rows_of(value))


def _rows_of(value: Any) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of a JSON value: its list of objects, or one row for each key."""
    if isinstance(value, dict):
        lists = [one for one in value.values() if _is_rows(one)]
        if len(lists) != 1:
            return ["key", "value"], [[key, cell_text(one)] for key, one in value.items()]
        value = lists[0]
    if not _is_rows(value):
        return ["value"], [[cell_text(one)] for one in value]
    columns = list(dict.fromkeys(key for row in value for key in row))
    return columns, [[cell_text(row.get(key, "")) for key in columns] for row in value]


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def cell_text(value: Any) -> str:
    """Text of a value in a cell; what has parts stays JSON."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return json.dumps(value) if isinstance(value, dict | list) else str(value)


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, header_in_pipe: bool = True
) -> None:
    """Write rows in the format that was asked for."""
    _print_table(Table(columns, rows, header_in_pipe=header_in_pipe))


def _print_table(table: Table) -> None:
    chosen, header = _ASKED.format, table.header_in_pipe
    if chosen in (None, Format.JSON):
        chosen = Format.TABLE if sys.stdout.isatty() else Format.TSV
    else:
        header = True
        if _ASKED.tables and chosen not in _FOR_PROGRAMS:
            sys.stdout.write("\n")
    _ASKED.tables += 1
    if _ASKED.format in _FOR_PROGRAMS:  # written when the command ends, all tables as one
        columns, rows = split_columns(table.columns, table.rows)
        clean = [[printable(cell, layout=False) for cell in row] for row in rows]
        _ASKED.waiting.append((table.name or str(_ASKED.tables), columns, clean))
        return
    heading = [list(table.columns)] if any(table.columns) and header else []
    if chosen is Format.TABLE:
        _print_rich(table.columns, table.rows)
        return
    clean = [[printable(cell, layout=False) for cell in row] for row in table.rows]
    if chosen is Format.LATEX:
        write_latex(heading, clean, table.name)
    elif chosen is Format.MD:
        write_markdown(heading, clean)
    else:
        write_tsv(heading, clean)


def _print_rich(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False, show_header=any(columns))
    for column in columns or [""] * max(map(len, rows), default=0):
        table.add_column(Text(column), overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    Console(width=None if sys.stdout.isatty() else 10_000).print(table)


_BEAT: Heartbeat | None = None


@contextmanager
def heartbeat(verb: str) -> Iterator[None]:
    """Say every 20 seconds that a verb still works, if it is silent and stderr is no terminal."""
    global _BEAT
    if sys.stderr.isatty():
        yield
        return
    with Heartbeat(f"{verb} still works", _write_progress) as _BEAT:
        try:
            yield
        finally:
            _BEAT = None


def say(text: str) -> None:
    """Write a line about progress to stderr, so that stdout stays what was asked for."""
    touch()
    _write_progress(text)


def touch() -> None:
    """Note that something was written: the next line of the heartbeat comes later."""
    if _BEAT is not None:
        _BEAT.touch()


def _write_progress(text: str) -> None:
    sys.stderr.write(f"jaywalk: {printable(text)}\n")
    sys.stderr.flush()


def print_line(text: str) -> None:
    """Write a sentence about the result: to stdout, or to stderr beside a format for machines."""
    stream = sys.stderr if _ASKED.for_machines else sys.stdout
    stream.write(printable(text) + "\n")


_COLOURS: Final = {
    "ok": "green",
    "pass": "green",
    "note": "yellow",
    "warn": "yellow",
    "fix": "bold red",
    "fail": "bold red",
    "skip": "dim",
}


def print_finding(state: str, text: str, fix: str) -> None:
    """Write a line of a check: its state, what was found, and what to do about it."""
    from rich.console import Console
    from rich.text import Text

    line = Text.assemble(
        (f"{state:<5}", _COLOURS[state]),
        printable(text),
        (printable(f"  ->  {fix}") if fix else "", "bold"),
    )
    Console(soft_wrap=True, highlight=False).print(line)


def next_line(command: str) -> str:
    """Last line of a command: what to run next."""
    return f"next: {command}"


def finish(lines: list[str], next_command: str) -> None:
    """End a verb: where its output is, and what to run next."""
    for line in lines:
        print_line(line)
    print_line(next_line(next_command))


def with_interval(
    value: float | None, interval: list[float | None], unit: str = "", digits: int = 1
) -> str:
    """Text of a value with the ends of its interval."""
    low, high = (number(end, digits) for end in interval)
    values = dict(zip(("", "low", "high"), (value, *interval), strict=True))
    return Cell(f"{number(value, digits)}{unit} [{low}, {high}]", values)


def number(value: float | None, digits: int = 1) -> str:
    """A number, or a dash where there is none."""
    return Cell("-" if value is None else f"{value:z.{digits}f}", {"": value})


def interval_text(low: float, high: float, digits: int) -> str:
    """Text of the ends of an interval."""
    text = f"[{number_or_dash(low, digits)}, {number_or_dash(high, digits)}]"
    return Cell(text, {"low": low, "high": high})


def number_or_dash(value: float, digits: int = 1) -> str:
    """A number, or a dash where there is none."""
    return Cell(f"{value:.{digits}f}" if math.isfinite(value) else "-", {"": value})


def count_of(count: int, of: int) -> str:
    """Text such as ``3/4``; for programs the count, and the whole in a column ``n``."""
    return Cell(f"{count}/{of}", {"": count, "n": of})
