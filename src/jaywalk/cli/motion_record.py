"""``jaywalk motion quality`` and ``life``: posed people of records, measured and drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from jaywalk.cli.output import AsJson, AsValue, finish, print_json, print_table, say
from jaywalk.core.errors import DataError, UsageError

_SHOWN = (
    "people",
    "person_minutes",
    "pops",
    "bone_step_deg_max",
    "step_m_max",
    "stance_slip_mps",
    "slide_share",
    "sunk_share",
    "floating_share",
    "sole_height_m",
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(quality)
    app.command()(life)


def quality(
    runs: Annotated[list[Path], typer.Argument(help="Folders of recorded runs.", metavar="RUN...")],
    motions: Annotated[
        Path | None, typer.Option(help="Library the people were posed by, if not ours.")
    ] = None,
    most: Annotated[int, typer.Option(min=0, help="Episodes at most; 0: all.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Measure how posed people of records moved: pops, sliding feet, soles off the ground.

    Exit code 1 if anybody popped.

    Example: jaywalk motion quality runs/habit-expert --json
    """
    from jaywalk.metrics.motion.quality import summarise_quality
    from jaywalk.record import find_records

    folders = [folder for run in runs for folder in find_records(run)]
    if not folders:
        raise DataError(f"{', '.join(map(str, runs))}: no recorded episode there.")
    chosen = folders[:most] if most else folders
    people = _measure(chosen, motions)
    if not people:
        raise UsageError("Nobody in these episodes was posed by clips; record a run of habit.")
    summary: dict[str, Any] = {"episodes": len(chosen), **summarise_quality(people)}
    if as_json:
        print_json(summary)
    else:
        groups = summary["groups"]
        print_table(
            ["", *groups],
            [[name, *(_number(group[name]) for group in groups.values())] for name in _SHOWN],
        )
        print_table(
            ["worst", "episode", "person", "clip", "value"],
            [
                [
                    what,
                    one["episode"],
                    str(one["actor"]),
                    one["clip"],
                    _number(one["bone_step_deg" if what == "pops" else what]),
                ]
                for what, rows in summary["worst"].items()
                for one in rows[:3]
            ],
        )
        finish([f"{len(people)} people of {len(chosen)} episodes"], f"jaywalk score {runs[0]}")
    if summary["groups"]["all"]["pops"]:
        raise typer.Exit(1)


def _measure(folders: list[Path], motions: Path | None) -> list[Any]:
    from jaywalk.metrics.motion.quality import measure_record
    from jaywalk.metrics.safety.posed import bank_for
    from jaywalk.record import open as open_record
    from jaywalk.report.ground_plan import town_of

    people: list[Any] = []
    bank = None
    for folder in folders:
        record = open_record(folder)
        bank = bank or bank_for(record, motions)
        town = town_of(record)
        if town is None:
            say(f"{folder.name} keeps no map and is left out")
            continue
        people += measure_record(record, bank, town.ground)
    return people


def _number(value: Any) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int | str) else f"{value:.4g}"


def life(
    run: Annotated[Path, typer.Argument(help="Folder of a recorded run.", metavar="RUN")],
    episode: Annotated[str, typer.Argument(help="Id of an episode, e.g. habit-002-s1.")],
    person: Annotated[
        int | None, typer.Option(help="Number in the record.", show_default="whoever lived most")
    ] = None,
    png: Annotated[Path | None, typer.Option("--png", help="Strip of moments to write.")] = None,
    mp4: Annotated[Path | None, typer.Option("--mp4", help="Video to write.")] = None,
    motions: Annotated[
        Path | None, typer.Option(help="Library the people were posed by, if not ours.")
    ] = None,
    seconds: Annotated[
        float, typer.Option(min=1.0, help="Length of the video, around what happens.")
    ] = 20.0,
    as_json: AsValue = False,
) -> None:
    """Draw a posed person's life from the kerb and from above: idle, trigger, blend, way, contact.

    Example: jaywalk motion life runs/habit-bold habit-002-s1 --png life.png --mp4 life.mp4
    """
    from jaywalk.metrics.safety.posed import bank_for
    from jaywalk.report.person_life import read_life, write_life_film, write_life_strip
    from jaywalk.report.replay import find_episode

    if png is None and mp4 is None:
        raise UsageError("Say what to write: --png FILE, --mp4 FILE, or both.")
    record = find_episode(run, episode)
    lived = read_life(record, bank_for(record, motions), person)
    if png is not None:
        write_life_strip(lived, png)
    frames = 0 if mp4 is None else write_life_film(lived, mp4, seconds)
    moments = [{"what": m.what, "time_s": m.time_s} for m in lived.moments]
    files = [str(file) for file in (png, mp4) if file is not None]
    if as_json:
        print_json(
            {"person": lived.person.actor, "moments": moments, "frames": frames, "files": files}
        )
        return
    for moment in moments:
        say(f"{moment['time_s']:7.2f} s  {moment['what']}")
    finish(files, f"jaywalk replay {run} {episode} --mp4 episode.mp4")
