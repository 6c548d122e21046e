"""Which adapter reads what: every format of pedestrian tracks behind one name."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from jaywalk.core.errors import PrerequisiteError, UsageError
from jaywalk.core.registry import Registry, Spec
from jaywalk.datasets.trajectories import Trajectories

TRAJECTORY_FORMATS: Final[Registry[Spec]] = Registry("trajectory format")
TRAJECTORY_FORMATS.add(
    "jaywalk",
    "jaywalk.datasets.trajectories:read_trajectories",
    "folder of exported tables",
)
TRAJECTORY_FORMATS.add(
    "vci", "jaywalk.datasets.vci:read_vci", "DUT and CITR, people and vehicles from above"
)
TRAJECTORY_FORMATS.add(
    "eth-ucy", "jaywalk.datasets.eth_ucy:read_eth_ucy", "ETH and UCY text files, people only"
)
TRAJECTORY_FORMATS.add(
    "argoverse2", "jaywalk.datasets.argoverse2:read_argoverse2", "Argoverse 2 scenarios"
)
TRAJECTORY_FORMATS.add(
    "waymo-json", "jaywalk.datasets.waymo_json:read_waymo_json", "Waymo scenarios as JSON"
)


def open_trajectories(path: Path, format_name: str = "") -> Trajectories:
    """Read a dataset; without a format name by what the path holds."""
    if not path.exists():
        raise PrerequisiteError(f"'{path}' does not exist. Give a folder, file or archive.")
    reader = TRAJECTORY_FORMATS.get(format_name or guess_format(path)).load()
    data: Trajectories = reader(path)
    return data


def guess_format(path: Path) -> str:
    """The format a path seems to hold, or an error that lists them."""
    names = [path.name] if path.is_file() else [entry.name for entry in sorted(path.iterdir())]
    if "tracks.parquet" in names and path.is_dir():
        return "jaywalk"
    if any(name.startswith("scenario_") and name.endswith(".parquet") for name in names):
        return "argoverse2"
    if any(name.endswith(".json") for name in names):
        return "waymo-json"
    if path.is_dir() and next(path.rglob("trajectories_filtered"), None) is not None:
        return "vci"
    if any(name.endswith((".tar", ".tar.xz", ".tar.gz", ".zip")) for name in names):
        return "vci"
    if any(name.endswith(".txt") for name in names):
        return "eth-ucy"
    if path.is_dir() and next(path.rglob("scenario_*.parquet"), None) is not None:
        return "argoverse2"
    known = ", ".join(entry.name for entry in TRAJECTORY_FORMATS)
    raise UsageError(f"Cannot tell the format of '{path}'; name it with --format: {known}.")
