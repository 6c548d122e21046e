"""``jaywalk figure``: figures of runs for publications."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from jaywalk.cli.output import Result, Table
from jaywalk.core.errors import UsageError

_INCOMPLETE = 4


class FigureWidth(StrEnum):
    """Width of a figure in print."""

    column = "column"
    page = "page"


def figure(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="Figure; without a name, all are listed.")
    ] = "",
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RUN ...]", help="Run folders; the first is the baseline."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File to write, .pdf, .svg or .png."),
    ] = None,
    protocol: Annotated[
        str, typer.Option(help="Whose rules; 'jaywalk list protocols' names them.")
    ] = "jaywalk",
    episode: Annotated[str, typer.Option(help="Episode id, for figures of one episode.")] = "",
    width: Annotated[
        FigureWidth, typer.Option(help="As wide as a column (3.5 in) or a page (7.16 in).")
    ] = FigureWidth.column,
) -> Result:
    """Draw a figure of runs for a publication. Exit code 4 if episodes are missing.

    Example: jaywalk figure

    Example: jaywalk figure scores runs/smoke-cruise runs/smoke-blind -o scores.pdf
    """
    from jaywalk.report.paper import check_suffix, draw_figure, save_figure
    from jaywalk.report.scored_runs import score_folders

    if not name:
        return _list_of_figures()
    if output is None:
        raise UsageError("Where shall the figure go? Give -o FILE.pdf, .svg or .png.")
    check_suffix(output)
    scored = score_folders(runs or [], protocol)
    save_figure(draw_figure(name, scored, episode=episode, width=width.value), output)
    complete = all(run.score.is_complete for run in scored)
    state = "" if complete else " (INCOMPLETE: episodes are missing)"
    return Result(
        {
            "figure": name,
            "file": str(output),
            "bytes": output.stat().st_size,
            "complete": complete,
        },
        [f"{output}{state}"],
        exit_code=0 if complete else _INCOMPLETE,
    )


def _list_of_figures() -> Result:
    from jaywalk.report.paper import FIGURES

    listed = list(FIGURES.values())
    rows = [[one.name, one.about, one.needs or "any run"] for one in listed]
    return Result(
        [{"name": one.name, "about": one.about, "needs": one.needs or None} for one in listed],
        [Table(["figure", "shows", "needs"], rows)],
        "jaywalk figure scores RUN -o scores.pdf",
    )
