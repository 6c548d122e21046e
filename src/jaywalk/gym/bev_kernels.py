"""The inner loop of the picture from above; in a file of its own, so that it stays compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel
from jaywalk.town.raster import ROAD, ROAD_LINE, SIDEWALK

Image = NDArray[np.uint8]


@kernel
def draw_ground(
    out: Image, labels: Image, x0_m: float, y0_m: float, cell_m: float,
    x_m: float, y_m: float, yaw_rad: float, pixel_m: float, origin_row: int,
) -> None:  # fmt: skip
    """Cut the ground out of the town, turned."""
    rows, columns = labels.shape
    cos, sin = np.cos(yaw_rad), np.sin(yaw_rad)
    for row in range(out.shape[1]):
        ahead = (origin_row - row - 0.5) * pixel_m
        for column in range(out.shape[2]):
            right = (column + 0.5 - out.shape[2] / 2.0) * pixel_m
            i = int(np.floor((y_m + ahead * sin + right * cos - y0_m) / cell_m))
            k = int(np.floor((x_m + ahead * cos - right * sin - x0_m) / cell_m))
            if 0 <= i < rows and 0 <= k < columns:
                label = labels[i, k]
                if label == ROAD_LINE:
                    out[0, row, column] = 255
                    out[1, row, column] = 255
                elif label == ROAD:
                    out[0, row, column] = 255
                elif label == SIDEWALK:
                    out[2, row, column] = 255
