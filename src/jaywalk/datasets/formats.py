"""Reader of pedestrian tracks in any registered format."""

from __future__ import annotations

from pathlib import Path

from jaywalk.core.errors import PrerequisiteError, UsageError
from jaywalk.datasets.catalogue import TRAJECTORY_FORMATS
from jaywalk.datasets.trajectories import Trajectories


def open_trajectories(path: Path, format_name: str = "") -> Trajectories:
    """Read a dataset; without a format name, guess it from the files."""
    if not path.exists():
        raise PrerequisiteError(f"'{path}' does not exist. Give a folder, file or archive.")
    reader = TRAJECTORY_FORMATS.get(format_name or guess_format(path)).load()
    data: Trajectories = reader(path)
    return data


def guess_format(path: Path) -> str:
    """Return the name of the format that fits a path.

    Raises:
        UsageError: No format fits; the message lists the formats.
    """
    names = [path.name] if path.is_file() else [entry.name for entry in sorted(path.iterdir())]
    for spec in sorted(TRAJECTORY_FORMATS, key=lambda spec: spec.rank):
        if spec.recognise(path, names):
            return spec.name
    known = ", ".join(spec.name for spec in TRAJECTORY_FORMATS)
    raise UsageError(f"Cannot tell the format of '{path}'; name it with --format: {known}.")
