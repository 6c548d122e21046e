"""Sample weights: early decisions about actions count more, and so do risks ahead of the car."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

EARLINESS_SIGMA = 0.3
CENTRALITY_SIGMA = 0.5


def earliness_weights(tte_frames: NDArray[np.int64], sigma: float = EARLINESS_SIGMA) -> FloatArray:
    """Return weights that fall as the event comes nearer, 1 at the longest time to event given.

    >>> earliness_weights(np.array([90, 60])).round(4).tolist()
    [1.0, 0.5394]
    """
    longest = float(tte_frames.max())
    nearness = (longest - tte_frames.astype(np.float64)) / longest
    return np.exp(-0.5 * (nearness / sigma) ** 2)


def centrality_weights(
    regions: NDArray[np.int64], n_regions: int, sigma: float = CENTRALITY_SIGMA
) -> FloatArray:
    """Return weights that fall from the middle of the picture to its sides.

    With an even number of regions the two in the middle both have weight 1.

    >>> centrality_weights(np.arange(12), 12).round(3).tolist()[:6]
    [0.249, 0.411, 0.607, 0.801, 0.946, 1.0]
    """
    half = -(-n_regions // 2)
    place = regions.astype(np.float64)
    middle = (n_regions - 1) / 2.0
    # Half a region less for an even number, so that the distance of both middle ones is 0.
    distance = np.abs(place - middle) - (0.5 if n_regions % 2 == 0 else 0.0)
    return np.exp(-0.5 * ((distance / half) / sigma) ** 2)
