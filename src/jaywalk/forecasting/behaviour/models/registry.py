"""The models by name; networks import torch when they are asked for, not before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast

from jaywalk.core.registry import Registry, Spec
from jaywalk.forecasting.behaviour.models.base import BehaviourModel, configured

MODELS: Final[Registry[Spec]] = Registry("behaviour model")
_HERE = "jaywalk.forecasting.behaviour.models"
MODELS.add("last-state", f"{_HERE}.baselines:LastState", "stays where they were; not learnt")
MODELS.add("constant-velocity", f"{_HERE}.baselines:ConstantVelocity", "goes on; not learnt")
MODELS.add(
    "gradient-boosting", f"{_HERE}.gradient_boosting:GradientBoosting", "boosted trees on a table"
)
MODELS.add("forest", f"{_HERE}.forest:Forest", "random trees; risk as a displacement")
MODELS.add("sfgru", f"{_HERE}.sfgru:make", "stacked recurrent levels (torch)")
MODELS.add("pcpa", f"{_HERE}.pcpa:make", "attention over time and inputs (torch)")
MODELS.add("biped", f"{_HERE}.biped:make", "independent and joint streams, multitask (torch)")
MODELS.add("pedformer", f"{_HERE}.pedformer:make", "cross-modal attention, multitask (torch)")


def make_model(name: str, settings: Mapping[str, Any] | None = None) -> BehaviourModel:
    """A model by name, with some of its config's values replaced."""
    model = MODELS.get(name).load()()
    if settings:
        model = replace(model, config=configured(model.config, settings))
    return cast(BehaviourModel, model)
