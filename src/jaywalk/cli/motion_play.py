"""``jaywalk motion play``: clips on a walker of a server, as a client sees them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from jaywalk.cli.motion_choice import library_at
from jaywalk.cli.output import AsJson, finish, print_json, print_table


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(play)


def play(
    library: Annotated[Path, typer.Argument(help="Folder of a motion library, or 'default'.")],
    clips: Annotated[
        list[str], typer.Argument(help="Clips, played one after the other.", metavar="CLIP...")
    ],
    rig: Annotated[str, typer.Option(help="man, woman, girl or boy.")] = "man",
    gif: Annotated[Path | None, typer.Option("--gif", help="Animation to write.")] = None,
    png: Annotated[Path | None, typer.Option("--png", help="Strip of poses to write.")] = None,
    seconds: Annotated[
        float, typer.Option(min=0.0, help="How long; 0: until the last clip ends.")
    ] = 0.0,
    loop: Annotated[bool, typer.Option("--loop", help="Play the last clip for ever.")] = False,
    town: Annotated[str, typer.Option(help="Town of the server that is started.")] = "Harbour",
    server: Annotated[
        str, typer.Option(help="HOST:PORT of a running server instead of one of our own.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Play clips on a walker through a server; draw and measure what comes back.

    Clips are joined without pops. All pictures and figures are made from get_bones and snapshots.

    Example: jaywalk motion play default notcrossing-look-0005 crossing-walk-0020 --gif walk.gif
    """
    from jaywalk.core.errors import UsageError
    from jaywalk.metrics.motion.library_check import played_figures
    from jaywalk.motion.picture import MotionFilm, animate, draw_strip

    if loop and not seconds:
        raise UsageError("--loop never ends; say how long with --seconds")
    seen = _seen(library_at(library), clips, rig, seconds, loop, town, server)
    figures = played_figures(
        rig=rig,
        bones_m=seen.bones_m,
        relative=seen.relative,
        actor=seen.actor,
        velocity_mps=seen.velocity_mps,
        delta_s=seen.delta_s,
    )
    notes = [
        f"{clip}{' (joining)' if join else ''}"
        for clip, join in zip(seen.clips, seen.joining.tolist(), strict=True)
    ]
    film = MotionFilm(
        rig=rig, joints_m=seen.bones_m, actor=seen.actor, rate_hz=1.0 / seen.delta_s, notes=notes
    )
    title = f"{', '.join(clips)} on {rig}, as the server shows it"
    if gif is not None:
        animate(film, gif, title=title)
    if png is not None:
        draw_strip(film, png, title=title)
    if as_json:
        print_json({"rig": rig, "clips": clips, **figures})
        return
    print_table(["figure", "value"], [[name, _shown(value)] for name, value in figures.items()])
    finish(
        [str(file) for file in (gif, png) if file is not None],
        f"jaywalk motion check {library} --clip {clips[-1]}",
    )


def _shown(value: Any) -> str:
    return "-" if value is None else f"{value:.4g}"


def _seen(
    lib: Any, clips: list[str], rig: str, seconds: float, loop: bool, town: str, server: str
) -> Any:
    from jaywalk.actors.posed.clip_trial import play_clips
    from jaywalk.core.address import parse_address
    from jaywalk.motion.playback.bank import ClipBank
    from jaywalk.motion.playback.players import Cue
    from jaywalk.runner.session import SimulatorSession

    bank = ClipBank(lib)
    for clip in clips:
        bank.index(clip, rig)  # unknown names are told before a server is started
    cues = [Cue(clip=clip, loop=loop and clip is clips[-1]) for clip in clips]
    if server:
        world = SimulatorSession.attach(*parse_address(server))
    else:
        world = SimulatorSession.embedded(town)
    with world:
        fresh = world.fresh(town)
        return play_clips(world.client, world.bone_line, fresh, bank, rig, cues, seconds)
