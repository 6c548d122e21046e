"""Nothing changes: the person stays where they were seen last. Nothing is learnt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jaywalk.behaviour.baselines import last_state, region_probabilities
from jaywalk.behaviour.inputs import WIDTH_PX, Inputs
from jaywalk.behaviour.models.base import Arrays, Fitting, FloatArray, refuse
from jaywalk.behaviour.targets import Examples

_CAN = ("action", "risk")


@dataclass(frozen=True, slots=True, kw_only=True)
class LastStateConfig:
    """Nothing to set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastState:
    """Risk: the present region. Action: crossing is likelier the nearer the middle one is."""

    config: LastStateConfig = LastStateConfig()
    is_fixed: bool = True

    def fit(self, training: Examples, validation: Examples, fitting: Fitting) -> Arrays:
        """Nothing to learn."""
        for task in fitting.tasks:
            refuse("last-state", task, _CAN)
        return {}

    def predict(self, arrays: Arrays, inputs: Inputs, task: str) -> FloatArray:
        """Probabilities from the last box."""
        refuse("last-state", task, _CAN)
        centre = last_state(inputs.centres_px.astype(np.float64))
        if task == "risk":
            return region_probabilities(centre, np.full(len(inputs), WIDTH_PX))
        away = np.abs(centre / WIDTH_PX - 0.5) * 2.0
        return np.clip(1.0 - away, 0.0, 1.0)[:, None]
