"""Windows to what the network reads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import UsageError
from jaywalk.datasets.semantic_map import SemanticMap, network_labels
from jaywalk.predict.cvae_config import STEPS
from jaywalk.predict.cvae_samples import CvaeSamples, no_rasters
from jaywalk.predict.windows import Windows


def samples_of(windows: Windows) -> CvaeSamples:
    """Steps, futures and maps of windows; what is missing is 0."""
    rasters, origins = no_rasters()
    cell_m, raster = 0.1, np.full(len(windows), -1, dtype=np.int64)
    if windows.context is not None and windows.context.maps:
        maps = windows.context.maps
        cell_m, raster = maps[0].cell_m, windows.context.map_index
        rasters, origins = _stacked(maps)
    now = windows.history_m[:, -1]
    return CvaeSamples(
        steps=history_steps(windows),
        future=(windows.truth_m - now[:, None]).astype(np.float32),
        place_m=now,
        raster=raster,
        track=windows.track,
        rasters=rasters,
        origins_m=origins,
        cell_m=cell_m,
    )


def history_steps(windows: Windows) -> NDArray[np.float32]:
    """Columns of `feature_sets.STEP_COLUMNS` at the last ten steps: ``(N, 10, 8)``."""
    if windows.history_m.shape[1] != STEPS + 1 or abs(windows.step_s - 0.1) > 1e-9:
        raise UsageError(
            f"the network reads {STEPS} steps of 0.1 s; these windows have "
            f"{windows.history_m.shape[1] - 1} steps of {windows.step_s:g} s"
        )
    steps = np.zeros((len(windows), STEPS, 8), dtype=np.float32)
    steps[:, :, :2] = np.diff(windows.history_m, axis=1)
    context = windows.context
    if context is not None:
        steps[:, :, 2:4] = context.ego_m[:, 1:] - windows.history_m[:, 1:]
        for column, angle in ((4, context.head_rad[:, 1:]), (6, context.body_rad[:, 1:])):
            steps[:, :, column] = np.cos(angle)
            steps[:, :, column + 1] = np.sin(angle)
    return np.nan_to_num(steps)


def _stacked(
    maps: tuple[SemanticMap, ...],
) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    if len({one.cell_m for one in maps}) > 1:
        raise UsageError("the maps have cells of different size; export them with one size")
    rows = max(one.labels.shape[0] for one in maps)
    columns = max(one.labels.shape[1] for one in maps)
    rasters = np.zeros((len(maps), rows, columns), dtype=np.uint8)
    for i, one in enumerate(maps):
        rasters[i, : one.labels.shape[0], : one.labels.shape[1]] = network_labels(one.labels)
    return rasters, np.array([one.origin_m for one in maps])
