"""Pedestrian predictors and behaviour models, their data and their training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaywalk.core.lazy import lazy_exports

if TYPE_CHECKING:
    from jaywalk.forecasting.evaluate import score as score
    from jaywalk.forecasting.predictors.registry import PREDICTORS as PREDICTORS
    from jaywalk.forecasting.predictors.registry import Predictor as Predictor
    from jaywalk.forecasting.predictors.registry import PredictorSpec as PredictorSpec
    from jaywalk.forecasting.predictors.registry import make_predictor as make_predictor
    from jaywalk.forecasting.predictors.registry import predictor as predictor
    from jaywalk.forecasting.windows import Windows as Windows
    from jaywalk.forecasting.windows import build_windows as build_windows

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "evaluate": ("score",),
        "predictors.registry": (
            "PREDICTORS",
            "Predictor",
            "PredictorSpec",
            "make_predictor",
            "predictor",
        ),
        "windows": (
            "Windows",
            "build_windows",
        ),
    },
)
