"""``jaywalk motion video``: people of a clip as motions; and how well that works."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from jaywalk.cli.output import AsJson, AsValue, finish, print_json, print_table, say


def video(
    clip: Annotated[Path, typer.Argument(help="Video of a camera that does not move.")],
    ground: Annotated[
        Path,
        typer.Option("--ground", help="JSON of four or more points on the ground, in px and m."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the library.")],
    caption: Annotated[str, typer.Option(help="What the people do; of every clip.")] = "",
    licence: Annotated[str, typer.Option(help="Terms of the footage, kept with every clip.")] = "",
    shortest_s: Annotated[
        float, typer.Option("--shortest-s", help="Leave out people seen for less (s).")
    ] = 1.0,
    smallest_px: Annotated[
        float, typer.Option("--smallest-px", help="Leave out people smaller in the picture (px).")
    ] = 50.0,
    rate_hz: Annotated[
        float | None,
        typer.Option("--rate-hz", help="True frames a second, if the clip plays too fast or slow."),
    ] = None,
    overlay: Annotated[
        Path | None, typer.Option(help="Also draw the fitted people into the clip (.mp4).")
    ] = None,
    as_json: AsValue = False,
) -> None:
    """Find and follow the people of a video and write their motions to a library.

    Needs the extra 'video' (MediaPipe). The ground file is a JSON object of two lists of four or
    more pairs: image_px (u to the right, v down) and ground_m (metres).
    The format is in docs/reference/motion.md.

    Example: jaywalk motion video street.mp4 --ground four-points.json --out lib
    """
    from jaywalk.core.errors import DataError, UsageError
    from jaywalk.motion.library.building import write_library
    from jaywalk.motion.library.reading import open_library
    from jaywalk.motion.library.writing import check_folder
    from jaywalk.motion.video.ground import read_ground
    from jaywalk.motion.video.mediapipe_pose import MediaPipeSource
    from jaywalk.motion.video.reading import VideoOptions, find_people, fit_people

    options = VideoOptions(
        shortest_s=shortest_s,
        smallest_px=smallest_px,
        caption=caption,
        licence=licence,
        rate_hz=rate_hz,
    )
    if not clip.is_file():
        raise UsageError(f"clip {clip} does not exist or is no file")
    check_folder(out)
    points = read_ground(ground)
    started = time.monotonic()
    with MediaPipeSource() as source:
        reading = find_people(clip, points, source, options, say=say)
    looked_s = time.monotonic() - started
    say(
        f"{reading.frames} frames in {looked_s:.0f} s ({reading.frames / looked_s:.1f} a second); "
        f"{len(reading.tracks)} people followed; fitting"
    )
    people, unfit = fit_people(reading, clip, options, say=say)
    problems = write_library([*(one.motion for one in people), *unfit], out, say=say)
    library = open_library(out)
    if len(library) == 0:
        raise DataError(
            f"{clip}: nobody could be used ({len(problems)} left out); see the lines above"
        )
    if overlay is not None:
        from jaywalk.motion.video.mediapipe_pose import draw_overlay

        draw_overlay(clip, overlay, people, reading, rate_hz=rate_hz)
    if as_json:
        print_json(_result(library, problems, reading, looked_s))
        return
    lines = [f"{out}: {len(library)} clips, {len(problems)} left out"]
    if overlay is not None:
        lines.append(str(overlay))
    finish(lines, f"jaywalk motion check {out}")


def _result(library: Any, problems: list[Any], reading: Any, looked_s: float) -> dict[str, Any]:
    columns = library.columns
    keys = ("name", "class", "frames", "body_scale", "net_m", "source", "licence")
    return {
        "clips": [{key: columns[key][row] for key in keys} for row in range(len(columns["name"]))],
        "left_out": [{"name": one.name, "reason": one.reason} for one in problems],
        "camera": {
            "height_m": float(reading.camera.place_m[1]),
            "focal_px": reading.camera.focal_px,
            "focal_guessed": reading.camera.guessed_focal,
            "ground_miss_px": reading.camera.fit_px,
        },
        "frames": reading.frames,
        "frames_per_s": reading.frames / looked_s,
    }


def video_accuracy(
    clips: Annotated[int, typer.Option(min=1, help="Clips to film.")] = 20,
    noise_px: Annotated[
        list[float] | None, typer.Option("--noise-px", help="Noise of landmarks in the picture.")
    ] = None,
    library: Annotated[
        Path | None, typer.Option(help="Library to film; the default one if none.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the noise.")] = 1,
    as_json: AsJson = False,
) -> None:
    """How well 'motion video' fits: known motions through a known camera, with noise.

    Needs no MediaPipe: landmarks are computed. The first row has no error of any kind, the others
    all those docs/reference/motion.md names.

    Example: jaywalk motion video-accuracy --clips 20 --noise-px 0 --noise-px 2 --noise-px 5
    """
    from jaywalk.metrics.motion.video_accuracy import PERFECT, Noise
    from jaywalk.metrics.motion.video_accuracy import video_accuracy as measured
    from jaywalk.motion import default_library
    from jaywalk.motion.library.reading import open_library

    chosen = default_library(say=say) if library is None else open_library(library)
    noises = [PERFECT, *(Noise(image_px=value) for value in noise_px or [0.0, 2.0, 5.0])]
    rows = measured(chosen, noises, clips=clips, seed=seed, say=say)
    if as_json:
        print_json(rows)
        return
    print_table(
        ["noise px", "MPJPE mm", "PA-MPJPE mm", "path mm", "path shape mm", "size %", "clips"],
        [
            [
                "none at all" if i == 0 else f"{row['noise']['image_px']:g}",
                *(
                    f"{1000 * row[key]:.0f}"
                    for key in ("mpjpe_m", "pa_mpjpe_m", "path_m", "path_shape_m")
                ),
                f"{100 * row['scale_error']:.1f}",
                str(row["clips"]),
            ]
            for i, row in enumerate(rows)
        ],
    )


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(video)
    app.command(name="video-accuracy")(video_accuracy)
