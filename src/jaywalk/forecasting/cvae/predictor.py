"""The trained network as a predictor: an ONNX file through onnxruntime, without torch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.seeds import stream
from jaywalk.datasets.trajectories import STEP_S
from jaywalk.forecasting.cvae.config import (
    STEP_SCALES,
    STEPS,
    STEPS_PER_HORIZON,
    CvaeConfig,
    config_from,
)
from jaywalk.forecasting.cvae.onnx import KIND
from jaywalk.forecasting.cvae.samples import CvaeSamples, history_steps, samples_of
from jaywalk.forecasting.predictors.network import onnx_session
from jaywalk.forecasting.predictors.registry import EGO, HEADING, MAP, POSITIONS, predictor
from jaywalk.forecasting.samples import between_horizons
from jaywalk.forecasting.windows import HORIZONS_S, Windows
from jaywalk.metrics.prediction.forecast import Mixture

DRAWS = 16
"""Latent draws by default: enough for a driver's decision; evaluations ask for more."""


@predictor(
    "cvae-v1",
    summary="the trained network; say which: cvae-v1=FILE.onnx",
    inputs=(POSITIONS, EGO, HEADING, MAP),
    horizon_s=HORIZONS_S[-1],
    learnt=True,
)
@dataclass(frozen=True, kw_only=True)
class Cvae:
    """Mixture of one Gaussian per latent draw; all people share the same draws.

    Attributes:
        file: The ``.onnx`` file that ``jaywalk predict train`` wrote.
        draws: Latent draws, hence components of the mixture.
    """

    file: Path
    draws: int = DRAWS

    def fitted(self, windows: Windows) -> Self:
        """Return the predictor unchanged: its training is already complete."""
        return self

    def trajectory(self, windows: Windows) -> FloatArray:
        """Return the mean of the mixture, linear between the horizons, ``(N, S, 2)``."""
        return between_horizons(windows, self.predict(windows).means_m.mean(axis=1))

    def predict(self, windows: Windows) -> Mixture:
        """Return the distribution at the horizons."""
        if len(windows.horizon_steps) != self.config.horizons:
            raise UsageError(
                f"'{self.file}' predicts {self.config.horizons} horizons, but "
                f"{len(windows.horizon_steps)} were requested"
            )
        if abs(windows.step_s - STEP_S) > 1e-6 or windows.history_m.shape[1] != STEPS + 1:
            raise UsageError(
                f"'{self.file}' wants {STEPS + 1} positions {STEP_S:g} s apart, got "
                f"{windows.history_m.shape[1]} at {windows.step_s:g} s; it cannot judge these data"
            )
        crops = None
        if self.config.set.map:
            crops = straight_crops(samples_of(windows), self.config)
        mean, log_variance = self.run(history_steps(windows), crops)
        means = mean.astype(np.float64) + windows.history_m[:, -1][:, None, None]
        covariances = np.exp(log_variance.astype(np.float64))[..., None] * np.eye(2)
        weights = np.full(means.shape[:2], 1.0 / self.draws)
        return Mixture(weights=weights, means_m=means, covariances_m2=covariances)

    def run(
        self, steps: NDArray[np.float32], crops: NDArray[np.uint8] | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return mean relative to now and log-variance ``(N, K, H, 2)`` from the eight columns."""
        scaled = steps * np.array(STEP_SCALES, dtype=np.float32)
        fed: dict[str, Any] = {
            "steps": np.ascontiguousarray(scaled[:, :, list(self.config.set.columns)]),
            "latent": self._latent,
        }
        if crops is not None:
            fed["crop"] = crops
        mean, log_variance = self._session.run(["mean", "log_variance"], fed)
        if self.config.anchor == "velocity":
            seconds = np.arange(1, self.config.horizons + 1, dtype=np.float32)
            step = steps[:, :, :2].mean(axis=1)[:, None, None]
            mean = mean + STEPS_PER_HORIZON * seconds[:, None] * step
        return mean, log_variance

    @cached_property
    def config(self) -> CvaeConfig:
        """Size and features of the network."""
        config = self._session.get_modelmeta().custom_metadata_map
        if config.get("kind") != KIND:
            raise DataError(f"'{self.file}' is not a predictor of people; expected kind {KIND}")
        return config_from(json.loads(config["config"]))

    @cached_property
    def _latent(self) -> NDArray[np.float32]:
        rng = stream(0, "cvae", "prior")
        return rng.standard_normal((self.draws, self.config.latent)).astype(np.float32)

    @cached_property
    def _session(self) -> Any:
        return onnx_session(Path(self.file))


def straight_crops(samples: CvaeSamples, config: CvaeConfig) -> NDArray[np.uint8]:
    """Return map crops in world axes, ``(N, px, px)``; 0 where the class is unknown."""
    px = config.map_px
    stride = max(1, round(config.map_cell_m / samples.cell_m))
    rasters = samples.rasters[:, stride // 2 :: stride, stride // 2 :: stride]
    crops = np.zeros((len(samples), px, px), dtype=np.uint8)
    origin = samples.origins_m[np.maximum(samples.raster, 0)]
    place = (samples.place_m - origin) / (samples.cell_m * stride)
    low = np.floor(place + 0.5 - px / 2).astype(np.int64)
    for i in np.flatnonzero(samples.raster >= 0).tolist():
        (column, row), raster = low[i].tolist(), rasters[samples.raster[i]]
        rows = slice(max(row, 0), max(min(row + px, raster.shape[0]), 0))
        columns = slice(max(column, 0), max(min(column + px, raster.shape[1]), 0))
        part = raster[rows, columns]
        top, left = rows.start - row, columns.start - column
        crops[i, top : top + part.shape[0], left : left + part.shape[1]] = part
    return crops
