"""Environment that Leaderboard agents expect: old numpy names and tables of speed limits."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np

from jaywalk.agents.driving._speed_limits import limits_along
from jaywalk.agents.driving.route_driver import DEFAULT_LIMIT_MPS
from jaywalk.core.units import MPS_TO_KMH

# Names that numpy has removed and that agents written before 2020 still use.
_OLD_NAMES: Final[dict[str, Any]] = {
    "float": float,
    "int": int,
    "object": object,
    "str": str,
    "complex": complex,
    "float_": np.float64,
    "complex_": np.complex128,
    "unicode_": np.str_,
    "NaN": np.nan,
    "Inf": np.inf,
    "infty": np.inf,
    "product": np.prod,
    "cumproduct": np.cumprod,
    "alltrue": np.all,
    "sometrue": np.any,
}
_ROOT: Final = "SCENARIO_RUNNER_ROOT"
_EVERY_M: Final = 5.0


def restore_numpy_names() -> None:
    """Restore names that numpy has removed; existing names stay unchanged."""
    for name, value in _OLD_NAMES.items():
        if name not in vars(np):
            setattr(np, name, value)


class _OldNumpy(ModuleType):
    """Numpy for modules written before 1.24: rows of unequal length give an array of objects."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    @staticmethod
    def array(rows: Any, *args: Any, **options: Any) -> Any:
        """Create an array as numpy does, but accept rows of unequal length."""
        try:
            return np.array(rows, *args, **options)
        except ValueError as problem:
            if "inhomogeneous" not in str(problem):
                raise
            return np.array(rows, dtype=object)


def give_old_numpy(folder: Path) -> None:
    """Give the old numpy to the modules imported from a folder, and only to them."""
    old = _OldNumpy("numpy")
    for module in list(sys.modules.values()):
        source = getattr(module, "__file__", None)
        if source is None or folder not in Path(source).parents:
            continue
        for name in [name for name, value in vars(module).items() if value is np]:
            setattr(module, name, old)


class SpeedTables:
    """Table of speed limits that Fail2Drive's PDM-Lite reads, for towns without such a table.

    PDM-Lite looks for it at ``$SCENARIO_RUNNER_ROOT/speed_limits``. If the user has set that
    variable, this class does nothing.
    """

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def offer(self, carla_map: Any) -> None:
        """Write the table of a map and set the variable."""
        if os.environ.get(_ROOT):
            return
        self._folder = tempfile.TemporaryDirectory(prefix="jaywalk-limits-")
        folder = Path(self._folder.name) / "speed_limits"
        folder.mkdir()
        poses = [waypoint.transform.location for waypoint in carla_map.generate_waypoints(_EVERY_M)]
        places = np.array([(p.x, p.y, p.z) for p in poses]).reshape(-1, 3)
        limit_mps, _, _ = limits_along(carla_map, places, DEFAULT_LIMIT_MPS)
        table: Any = {"locations": places, "speed_limits": MPS_TO_KMH * limit_mps}
        name = carla_map.name.rsplit("/", 1)[-1]
        np.save(folder / f"{name}_speed_limits.npy", table, allow_pickle=True)
        os.environ[_ROOT] = self._folder.name

    def withdraw(self) -> None:
        """Remove the table and the variable."""
        if self._folder is not None:
            del os.environ[_ROOT]
            self._folder.cleanup()
            self._folder = None
