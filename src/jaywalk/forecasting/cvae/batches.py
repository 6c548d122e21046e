"""Batches gathered on the network's device: windows and map crops turned by an angle.

Crops are never stored: the class rasters are on the device, and one gather makes a batch of crops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jaywalk.forecasting.cvae.config import STEP_SCALES, STEPS_PER_HORIZON, CvaeConfig
from jaywalk.forecasting.cvae.samples import CvaeSamples
from jaywalk.forecasting.torch_needed import torch

Tensor = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceSamples:
    """Arrays of `CvaeSamples` as tensors; places in cells of their raster."""

    steps: Tensor
    future: Tensor
    place_px: Tensor
    raster: Tensor
    rasters: Tensor
    columns: Tensor
    scales: Tensor


def to_device(samples: CvaeSamples, config: CvaeConfig, device: str) -> DeviceSamples:
    """Copy samples to a device, with the columns of one feature set."""
    origin = samples.origins_m[np.maximum(samples.raster, 0)]
    # Places by cell index keep single precision exact to a hundredth of a cell in any town.
    place = (samples.place_m - origin) / samples.cell_m
    scaled = config.map_cell_m / samples.cell_m
    return DeviceSamples(
        steps=torch.as_tensor(samples.steps, dtype=torch.float32, device=device),
        future=torch.as_tensor(samples.future, dtype=torch.float32, device=device),
        place_px=torch.as_tensor(place / scaled, dtype=torch.float32, device=device),
        raster=torch.as_tensor(samples.raster, dtype=torch.int64, device=device),
        rasters=torch.as_tensor(_resampled(samples.rasters, scaled), device=device),
        columns=torch.as_tensor(config.set.columns, dtype=torch.int64, device=device),
        scales=torch.as_tensor(STEP_SCALES, dtype=torch.float32, device=device),
    )


def gathered(
    data: DeviceSamples, config: CvaeConfig, index: Tensor, angle: Tensor
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Return scaled steps, futures relative to their anchor and crops of windows ``(R, B)``.

    Each window is turned by its angle in radians.
    """
    turn = rotation(angle)
    steps = torch.einsum("rbij,rbtvj->rbtvi", turn, data.steps[index].unflatten(3, (4, 2)))
    future = torch.einsum("rbij,rbhj->rbhi", turn, data.future[index])
    steps = steps.flatten(3)
    if config.anchor == "velocity":
        # A shift changes no density, so likelihoods of both anchors compare.
        step = steps[..., :2].mean(dim=2)
        seconds = torch.arange(1, config.horizons + 1, device=step.device, dtype=step.dtype)
        future = future - STEPS_PER_HORIZON * seconds[:, None] * step[:, :, None]
    future = future.flatten(2)
    steps = (steps * data.scales).index_select(3, data.columns)
    if not config.set.map:
        return steps, future, None
    crops = turned_crops(
        data.rasters, data.raster[index], data.place_px[index], angle, config.map_px
    )
    return steps, future, crops


def rotation(angle: Tensor) -> Tensor:
    """Return matrices ``(..., 2, 2)`` that turn vectors counter-clockwise."""
    cos, sin = torch.cos(angle), torch.sin(angle)
    return torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2)


def turned_crops(rasters: Tensor, which: Tensor, place: Tensor, angle: Tensor, px: int) -> Tensor:
    """Return crops ``(..., px, px)`` around places of the world turned by ``angle``.

    Nearest neighbour; outside the raster, or without one, the class is 0 (unknown).
    """
    _, rows, columns = rasters.shape
    axis = torch.arange(px, device=rasters.device, dtype=torch.float32) + 0.5 - px / 2
    dx, dy = axis[None, :], axis[:, None]
    cos, sin = torch.cos(angle)[..., None, None], torch.sin(angle)[..., None, None]
    # A pixel of the turned crop shows the class at the offset turned back.
    column = torch.floor(place[..., 0, None, None] + cos * dx + sin * dy).long()
    row = torch.floor(place[..., 1, None, None] - sin * dx + cos * dy).long()
    known = which[..., None, None] >= 0
    inside = known & (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
    flat = (which[..., None, None] * rows + row) * columns + column
    crops = rasters.flatten()[torch.where(inside, flat, torch.zeros_like(flat))]
    return torch.where(inside, crops, torch.zeros_like(crops))


def _resampled(rasters: Any, scaled: float) -> Any:
    """Return every n-th cell if the network's cells are larger than the raster's."""
    stride = max(1, round(scaled))
    return np.ascontiguousarray(rasters[:, stride // 2 :: stride, stride // 2 :: stride])
