"""``jaywalk behaviour export``: the three tasks from records of our own runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from jaywalk.cli.output import finish, print_json


def export(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")],
    out: Annotated[Path, typer.Option(help="Folder to write to.")],
    fov_deg: Annotated[
        float, typer.Option("--fov", min=20.0, max=150.0, help="Field of view, degrees.")
    ] = 90.0,
    range_m: Annotated[
        float, typer.Option("--range", min=5.0, help="People farther away are not boxed, metres.")
    ] = 60.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make a dataset of people seen by a camera on the ego, from runs of the suite habit.

    All other commands take it as --dataset sim --annotations OUT.

    Example: jaywalk behaviour export runs/habit-expert runs/habit-cruise --out people
    """
    from jaywalk.behaviour.sim_camera import Camera
    from jaywalk.behaviour.sim_export import export_runs
    from jaywalk.datasets.behaviour_store import write_tables

    camera = Camera(fov_deg=fov_deg, range_m=range_m)
    data = export_runs(runs, camera)
    about: dict[str, Any] = {
        "camera": {"fov_deg": fov_deg, "range_m": range_m, "up_m": camera.up_m},
        "runs": [run.resolve().name for run in runs],
    }
    write_tables(data, out, about)
    report = {
        "out": str(out),
        "videos": data.videos.height,
        "pedestrians": data.pedestrians.height,
        "boxes": data.boxes.height,
        "crossing": int((data.pedestrians["crossing"] == 1).sum()),
        "splits": {name: len(videos) for name, videos in data.splits.items()},
    }
    if as_json:
        print_json(report)
        return
    finish(
        [
            f"{report['pedestrians']} people in {report['videos']} episodes, "
            f"{report['crossing']} step onto the road; {report['boxes']} boxes"
        ],
        f"jaywalk behaviour counts --task action --dataset sim --annotations {out}",
    )
