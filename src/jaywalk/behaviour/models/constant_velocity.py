"""The person goes on as they did: risk only. Nothing is learnt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jaywalk.behaviour.baselines import constant_velocity, region_probabilities
from jaywalk.behaviour.inputs import WIDTH_PX, Inputs
from jaywalk.behaviour.models.base import Arrays, Fitting, FloatArray, refuse
from jaywalk.behaviour.targets import Examples

_CAN = ("risk",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantVelocityConfig:
    """Nothing to set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantVelocity:
    """The box's centre extrapolated from the first to the last observed frame."""

    config: ConstantVelocityConfig = ConstantVelocityConfig()
    is_fixed: bool = True

    def fit(self, training: Examples, validation: Examples, fitting: Fitting) -> Arrays:
        """Nothing to learn."""
        for task in fitting.tasks:
            refuse("constant-velocity", task, _CAN)
        return {}

    def predict(self, arrays: Arrays, inputs: Inputs, task: str) -> FloatArray:
        """Probabilities of the regions."""
        refuse("constant-velocity", task, _CAN)
        centre = constant_velocity(inputs.centres_px.astype(np.float64))
        return region_probabilities(centre, np.full(len(inputs), WIDTH_PX))
