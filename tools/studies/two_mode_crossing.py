"""A made-up set with a known answer: people turn left or right to where the zebra is.

The past says nothing about the side, the map says it all but for a share of people who take the
other one. A model with the map must win; with the maps shuffled over the tracks it must not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.seeds import stream
from jaywalk.datasets.semantic_map import NETWORK_CLASSES
from jaywalk.forecasting.cvae.config import STEPS
from jaywalk.forecasting.cvae.samples import CvaeSamples

_SIDE_M, _CELL_M, _MAPS = 44.0, 0.1, 256
_WALK_M, _ZEBRA_M = 3.0, 4.0
_SEEN_M = 0.02  # noise of the past
_SWAY_M = 0.2  # of the future, times the root of the seconds: nobody walks by a ruler
_ROAD, _SIDEWALK, _ZEBRA = NETWORK_CLASSES[1], NETWORK_CLASSES[2], NETWORK_CLASSES[6]


def two_mode_crossing(
    tracks: int, *, seed: int, wrong_share: float = 0.05, shuffled: bool = False
) -> CvaeSamples:
    """One window a track. Streets on both sides of a walk, a zebra across one of them."""
    rng = stream(seed, "two-mode-crossing")
    rasters, angle, ahead, side = _maps(rng)
    which = rng.integers(0, _MAPS, tracks)
    # The side people take.
    turn = np.where(rng.random(tracks) < wrong_share, -side[which], side[which])
    speed = rng.normal(1.35, 0.15, tracks)
    # All stand in the middle of their map: where in it they stand must tell nothing by itself.
    along = 0.1 * speed[:, None] * np.arange(-STEPS, 41)
    past_turn = np.maximum(along - ahead[which][:, None], 0.0)
    x = np.minimum(along, ahead[which][:, None])
    noise = rng.normal(0.0, _SEEN_M, (tracks, STEPS + 41, 2))
    later_s = 0.1 * np.arange(1, 41)
    noise[:, STEPS + 1 :] += rng.normal(0.0, _SWAY_M, (tracks, 40, 2)) * np.sqrt(later_s)[:, None]
    path = np.stack([x, turn[:, None] * past_turn], axis=2) + noise
    cos, sin = np.cos(angle[which]), np.sin(angle[which])
    rotation = np.stack([np.stack([cos, -sin], 1), np.stack([sin, cos], 1)], 1)
    path = np.einsum("nij,ntj->nti", rotation, path)
    steps = np.zeros((tracks, STEPS, 8), dtype=np.float32)
    steps[:, :, :2] = np.diff(path[:, : STEPS + 1], axis=1)
    now = path[:, STEPS]
    horizons = STEPS + np.array([10, 20, 30, 40])
    shown = rng.permutation(which) if shuffled else which
    return CvaeSamples(
        steps=steps,
        future=(path[:, horizons] - now[:, None]).astype(np.float32),
        place_m=now + _SIDE_M / 2,
        raster=shown.astype(np.int64),
        track=np.arange(tracks),
        rasters=rasters,
        origins_m=np.zeros((_MAPS, 2)),
        cell_m=_CELL_M,
    )


def _maps(
    rng: np.random.Generator,
) -> tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Rasters, heading of the walk, distance of the zebra ahead and its side (+1 left)."""
    angle = rng.uniform(0.0, 2.0 * np.pi, _MAPS)
    ahead = rng.uniform(0.5, 4.0, _MAPS)
    side = np.where(np.arange(_MAPS) % 2 == 0, 1.0, -1.0)
    cells = round(_SIDE_M / _CELL_M)
    axis = (np.arange(cells) + 0.5) * _CELL_M - _SIDE_M / 2
    east, north = axis[None, :], axis[:, None]
    rasters = np.zeros((_MAPS, cells, cells), dtype=np.uint8)
    for i in range(_MAPS):
        along = np.cos(angle[i]) * east + np.sin(angle[i]) * north
        across = -np.sin(angle[i]) * east + np.cos(angle[i]) * north
        zebra = (np.abs(along - ahead[i]) < _ZEBRA_M / 2) & (across * side[i] > _WALK_M / 2)
        rasters[i] = np.where(
            np.abs(across) < _WALK_M / 2, _SIDEWALK, np.where(zebra, _ZEBRA, _ROAD)
        )
    return rasters, angle, ahead, side
