"""Models without parameters, which a new model has to beat.

Both place a bell curve around the expected centre of the person's box. The probability of a region
follows from the height of the curve in the middle of the region's stripe of the picture. The width
of the curve affects only mAP and AUC.

``constant-velocity`` extrapolates the observed motion and answers risk only. ``last-state`` keeps
the last observed position.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import PrerequisiteError
from jaywalk.datasets.behaviour_tables import BehaviourData
from jaywalk.forecasting.behaviour._inputs import WIDTH_PX, Inputs
from jaywalk.forecasting.behaviour._targets import Examples
from jaywalk.forecasting.behaviour.models._base import Arrays, Fitting, refuse
from jaywalk.forecasting.behaviour.models.registry import behaviour_model
from jaywalk.forecasting.behaviour.tasks import N_REGIONS, OBSERVED_FRAMES, RISK_HORIZON_FRAMES

SPREAD_PX = 120.0


def constant_velocity(centres_px: FloatArray) -> FloatArray:
    """Return the centre at the horizon if the motion from first to last frame continues.

    Args:
        centres_px: Horizontal box centres of the observed frames, ``(n, 15)``.
    """
    step_px = (centres_px[:, -1] - centres_px[:, 0]) / (centres_px.shape[1] - 1)
    return np.asarray(centres_px[:, -1] + RISK_HORIZON_FRAMES * step_px)


def last_state(centres_px: FloatArray) -> FloatArray:
    """Return the last observed centre."""
    return centres_px[:, -1]


BASELINES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "constant-velocity": constant_velocity,
    "last-state": last_state,
}


def region_probabilities(centre_px: FloatArray, width_px: FloatArray) -> FloatArray:
    """Return the probability of each region for expected centres, ``(n, 12)``.

    The likeliest region is the one that holds the centre, also at the sides of the picture.
    """
    stripe_px = width_px // N_REGIONS
    middles = (np.arange(N_REGIONS) + 0.5) * stripe_px[:, None]
    # Centres far outside would make all regions equal; the side of the picture is as good.
    held = np.clip(centre_px, 0.0, width_px)
    density = np.exp(-0.5 * ((middles - held[:, None]) / SPREAD_PX) ** 2)
    return np.asarray(density / density.sum(1, keepdims=True))


def predict_risk(data: BehaviourData, samples: pl.DataFrame, name: str) -> FloatArray:
    """Return probabilities of the regions for samples of the risk task, ``(n, 12)``."""
    tracks = data.tracks()
    if not tracks:
        raise PrerequisiteError("Baselines of risk need boxes; these annotations have none.")
    widths = dict(data.videos.select("video", "width_px").iter_rows())
    centres = np.empty((samples.height, OBSERVED_FRAMES))
    for i, (person, start) in enumerate(samples.select("pedestrian_id", "start_index").iter_rows()):
        boxes = tracks[person].corners_px[start : start + OBSERVED_FRAMES]
        centres[i] = (boxes[:, 0] + boxes[:, 2]) / 2.0
    width_px = np.array([widths[video] for video in samples["video"]], np.float64)
    return region_probabilities(BASELINES[name](centres), width_px)


_CAN = ("risk",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantVelocityConfig:
    """Nothing to set."""


@behaviour_model("constant-velocity", summary="goes on; not learnt", tasks=_CAN, learnt=False)
@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantVelocityModel:
    """Extrapolation of the box's centre from the first and the last observed frame."""

    config: ConstantVelocityConfig = ConstantVelocityConfig()
    is_fixed: bool = True

    def fit(self, training: Examples, validation: Examples, fitting: Fitting) -> Arrays:
        """Nothing to learn."""
        for task in fitting.tasks:
            refuse("constant-velocity", task, _CAN)
        return {}

    def predict(self, arrays: Arrays, inputs: Inputs, task: str) -> FloatArray:
        """Return the probabilities of the regions."""
        refuse("constant-velocity", task, _CAN)
        centre = constant_velocity(inputs.centres_px.astype(np.float64))
        return region_probabilities(centre, np.full(len(inputs), WIDTH_PX))


_LAST_STATE_CAN = ("action", "risk")


@dataclass(frozen=True, slots=True, kw_only=True)
class LastStateConfig:
    """Nothing to set."""


@behaviour_model(
    "last-state", summary="stays where they were; not learnt", tasks=_LAST_STATE_CAN, learnt=False
)
@dataclass(frozen=True, slots=True, kw_only=True)
class LastState:
    """Present region as risk; crossing is likelier the nearer the person is to the middle."""

    config: LastStateConfig = LastStateConfig()
    is_fixed: bool = True

    def fit(self, training: Examples, validation: Examples, fitting: Fitting) -> Arrays:
        """Nothing to learn."""
        for task in fitting.tasks:
            refuse("last-state", task, _LAST_STATE_CAN)
        return {}

    def predict(self, arrays: Arrays, inputs: Inputs, task: str) -> FloatArray:
        """Return the probabilities from the last box."""
        refuse("last-state", task, _LAST_STATE_CAN)
        centre = last_state(inputs.centres_px.astype(np.float64))
        if task == "risk":
            return region_probabilities(centre, np.full(len(inputs), WIDTH_PX))
        away = np.abs(centre / WIDTH_PX - 0.5) * 2.0
        return np.clip(1.0 - away, 0.0, 1.0)[:, None]
