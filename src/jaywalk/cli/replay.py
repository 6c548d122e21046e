"""``jaywalk replay``: an episode as film, picture or Rerun recording."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from jaywalk.cli.output import finish
from jaywalk.core.errors import UsageError


def replay(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    episode: Annotated[str, typer.Argument(help="Id of one of its episodes.")],
    mp4: Annotated[Path | None, typer.Option(help="Write a film.")] = None,
    png: Annotated[
        Path | None, typer.Option(help="Write a picture: the first contact or the closest call.")
    ] = None,
    rerun: Annotated[
        Path | None, typer.Option(help="Write a Rerun recording (.rrd); extra 'viz'.")
    ] = None,
    time: Annotated[float | None, typer.Option(help="Game time of the picture in seconds.")] = None,
) -> None:
    """Draw an episode from its record alone: no simulator, no agent.

    Example: jaywalk replay runs/smoke-blind 01-harbour-hidden-s1 --mp4 crash.mp4
    """
    from jaywalk.report.replay import find_episode, write_film, write_still
    from jaywalk.report.rerun_file import write_rerun

    if mp4 is None and png is None and rerun is None:
        raise UsageError("Say what to write: --mp4 FILE, --png FILE or --rerun FILE.")
    if time is not None and png is None:
        raise UsageError("--time belongs to --png.")
    record = find_episode(run, episode)
    done = []
    if png is not None:
        _, words = write_still(record, png, time)
        done.append(f"{png} ({words})")
    if mp4 is not None:
        frames = write_film(record, mp4, _progress())
        done.append(f"{mp4} ({frames} frames)")
    if rerun is not None:
        bodies = write_rerun(record, rerun)
        done.append(f"{rerun} ({bodies} bodies)")
    finish(done, f"jaywalk report {run} -o report.html")


def _progress() -> Callable[[float], None]:
    """Percent on a terminal, nothing in a pipe."""
    shown = -1

    def tell(share: float) -> None:
        nonlocal shown
        percent = int(100.0 * share)
        if sys.stderr.isatty() and percent != shown:
            shown = percent
            sys.stderr.write(f"\rdrawing {percent:3d} %" + ("\n" if share >= 1.0 else ""))
            sys.stderr.flush()

    return tell
