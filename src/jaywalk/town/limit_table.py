"""Speed limits of a town as the table that PDM-Lite and Fail2Drive's traffic read.

Both look their limits up in a file of the town's lane points, which public repositories have for
CARLA's towns only. The steps and the five metres around are those of the published tables.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from jaywalk.town.town import Town

STEPS_KMH: Final = (50.0, 80.0, 100.0, 120.0)  # a limit is rounded up to one of these
UNSAID_KMH: Final = 50.0  # where a road says nothing
_SPACING_M: Final = 1.0
_AROUND_M: Final = 5.0  # the highest limit this near counts, so that lanes do not flicker


def limit_table(town: Town) -> dict[str, NDArray[np.float64]]:
    """``locations`` (n, 3) of lane points in CARLA's frame and their ``speed_limits`` in km/h."""
    places = []
    said = []
    for waypoint in town.carla_map.generate_waypoints(_SPACING_M):
        at, yaw_deg = waypoint.transform.location, waypoint.transform.rotation.yaw
        places.append((at.x, at.y, at.z))
        said.append(town.speed_limit_kmh(at.x, at.y, at.z, yaw_deg))
    locations = np.array(places, np.float64).reshape(-1, 3)
    limits = np.nan_to_num(np.array(said, np.float64), nan=UNSAID_KMH)
    if not len(limits):
        return {"speed_limits": limits, "locations": locations}
    near = cKDTree(locations[:, :2]).query_ball_point(locations[:, :2], _AROUND_M, p=np.inf)
    highest = np.array([limits[some].max() for some in near])
    step = np.searchsorted(STEPS_KMH, highest).clip(max=len(STEPS_KMH) - 1)
    return {"speed_limits": np.array(STEPS_KMH)[step], "locations": locations}


def write_limit_table(town: Town, folder: Path) -> Path:
    """Write ``<town>_speed_limits.npy`` into a folder and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{town.name}_speed_limits.npy"
    # A pickled dict: that is what the programs load.
    np.save(path, np.array(limit_table(town), dtype=object), allow_pickle=True)
    return path
