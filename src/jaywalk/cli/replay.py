"""``jaywalk replay``: an episode as film, picture, Rerun recording or sensor data."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jaywalk.cli.output import finish
from jaywalk.core.errors import UsageError

if TYPE_CHECKING:
    from jaywalk.record import Record
    from jaywalk.rendering.replay_camera import ReplayCamera


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
    sensors: Annotated[
        Path | None,
        typer.Option(help="Write camera, LiDAR and boxes (.mcap) for Foxglove; extra 'viz'."),
    ] = None,
    at: Annotated[
        float | None, typer.Option("--at", "--time", help="Game time of the picture in seconds.")
    ] = None,
    camera: Annotated[
        str,
        typer.Option(
            help="Render the world: front, chase, top or person:NUMBER.",
            show_default="a map seen from above",
        ),
    ] = "",
    size: Annotated[str, typer.Option(help="Pixels of rendered pictures.")] = "1280x720",
    fov: Annotated[float, typer.Option(help="Horizontal field of view in degrees.")] = 90.0,
    motions: Annotated[
        Path | None, typer.Option(help="Motion library of the people, if not ours.")
    ] = None,
) -> None:
    """Draw an episode from its record alone: no simulator, no agent.

    Example: jaywalk replay runs/smoke-blind 01-harbour-hidden-s1 --camera front --mp4 crash.mp4
    """
    from jaywalk.report.replay import find_episode
    from jaywalk.report.rerun_file import write_rerun

    if mp4 is None and png is None and rerun is None and sensors is None:
        raise UsageError("Say what to write: --mp4, --png, --rerun or --sensors with a FILE.")
    if at is not None and png is None:
        raise UsageError("--at belongs to --png.")
    record = find_episode(run, episode)
    if camera or sensors is not None:
        done = _render(record, camera, size, fov, motions, mp4, png, at, sensors)
    else:
        done = _draw(record, mp4, png, at)
    if rerun is not None:
        bodies = write_rerun(record, rerun)
        done.append(f"{rerun} ({bodies} bodies)")
    finish(done, f"jaywalk report {run} -o report.html")


def _draw(record: Record, mp4: Path | None, png: Path | None, at_s: float | None) -> list[str]:
    """Draw maps seen from above; return what was written."""
    from jaywalk.report.replay import write_film, write_still

    done = []
    if png is not None:
        _, words = write_still(record, png, at_s)
        done.append(f"{png} ({words})")
    if mp4 is not None:
        frames = write_film(record, mp4, _progress())
        done.append(f"{mp4} ({frames} frames)")
    return done


def _render(
    record: Record,
    camera: str,
    size: str,
    fov_deg: float,
    motions: Path | None,
    mp4: Path | None,
    png: Path | None,
    at_s: float | None,
    sensors: Path | None,
) -> list[str]:
    """Render through a camera in the world of the record; return what was written."""
    from jaywalk.rendering.recorded_world import RecordedWorld
    from jaywalk.rendering.replay_camera import ReplayCamera, parse_camera, parse_size
    from jaywalk.rendering.sensor_file import write_sensors
    from jaywalk.report.replay import critical_time_s

    choice, size_px = parse_camera(camera or "front"), parse_size(size)
    world = RecordedWorld(record, motions)
    eye: ReplayCamera = ReplayCamera(world, choice, size_px=size_px, fov_deg=fov_deg)
    done = []
    if png is not None:
        time_s = eye.write_picture(png, critical_time_s(record) if at_s is None else at_s)
        done.append(f"{png} ({time_s:.1f} s)")
    if mp4 is not None:
        frames = eye.write_film(mp4, _progress())
        done.append(f"{mp4} ({frames} frames)")
    if sensors is not None:
        frames = write_sensors(eye, sensors, _progress())
        done.append(f"{sensors} ({frames} frames)")
    if world.unknown_types:
        done.append(f"left out, not known here: {', '.join(sorted(world.unknown_types))}")
    return done


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
