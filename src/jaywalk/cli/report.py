"""``jaywalk report``: one self-contained page about runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jaywalk.cli.output import AsValue, finish, print_json, say
from jaywalk.core.errors import UsageError

if TYPE_CHECKING:
    from jaywalk.rendering.driver_view import DriverViews

_MEGABYTE = 1_000_000


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN [...]", help="Run folders; the first is the baseline."),
    ],
    output: Annotated[
        Path, typer.Option("--out", "--output", "-o", help="The page to write, .html.")
    ],
    protocol: Annotated[
        str,
        typer.Option(
            help="Whose rules; 'jaywalk list protocols' names them.",
            show_default="jaywalk; fail2drive for runs of pairs",
        ),
    ] = "",
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "",
    most_episodes: Annotated[
        int, typer.Option(min=0, help="Episodes to draw and replay, failures first.")
    ] = 60,
    allow_mixed: Annotated[
        bool, typer.Option(help="Show runs of different suites or scenario versions together.")
    ] = False,
    motions: Annotated[
        Path | None,
        typer.Option(help="Motion library of the people, for animations, if not ours."),
    ] = None,
    views: Annotated[
        bool, typer.Option(help="Render what the driver saw at the moment of each failure.")
    ] = True,
    as_json: AsValue = False,
) -> None:
    """Write one HTML file with figures, failures, pictures and replays; it needs no network.

    Example: jaywalk report runs/smoke-blind runs/smoke-cruise -o report.html
    """
    from jaywalk.report.harm import HARM_PROTOCOL
    from jaywalk.report.page import write_page
    from jaywalk.report.scored_runs import choose_protocol, score_folders
    from jaywalk.report.svg import claim

    if output.is_dir():
        raise UsageError(f"--out is the folder '{output}', expected a file, .html.")
    choice = choose_protocol(runs, protocol)
    scored = score_folders(runs, choice.protocol)
    claim(output)
    say(f"protocol {choice.protocol}: {choice.reason}")
    write_page(
        scored,
        output,
        title=title,
        allow_mixed=allow_mixed,
        most_episodes=most_episodes,
        motions=motions,
        people=scored if choice.protocol == HARM_PROTOCOL else score_folders(runs, HARM_PROTOCOL),
        reason=choice.reason,
        view=_driver_views(motions) if views else None,
    )
    size = output.stat().st_size
    complete = all(run.score.is_complete for run in scored)
    if as_json:
        print_json(
            {
                "page": str(output),
                "protocol": choice.protocol,
                "protocol_reason": choice.reason,
                "bytes": size,
                "complete": complete,
                "episodes": sum(len(run.score.episodes) for run in scored),
                "mixed_code": any(run.score.mixed_code for run in scored),
            }
        )
        return
    state = "" if complete else ", INCOMPLETE"
    finish(
        [f"{output} ({size / _MEGABYTE:.1f} MB{state})"],
        f"open {output} in a browser, or: jaywalk replay {runs[0]} EPISODE --mp4 FILE",
    )


def _driver_views(motions: Path | None) -> DriverViews | None:
    """Return the renderer of the driver's views; None without the extras that it needs."""
    try:
        from jaywalk.rendering.driver_view import DriverViews
    except ImportError:
        return None
    return DriverViews(motions)
