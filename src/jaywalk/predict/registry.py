"""The predictors by name."""

from __future__ import annotations

from typing import Final, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.registry import Registry
from jaywalk.metrics.prediction.forecast import Mixture
from jaywalk.predict.windows import Windows

FloatArray = NDArray[np.float64]

PREDICTORS: Final = Registry("predictor")
PREDICTORS.add("stand-still-v1", "jaywalk.predict.stand_still:StandStill", "nobody moves")
PREDICTORS.add(
    "constant-velocity-v1",
    "jaywalk.predict.constant_velocity:ConstantVelocity",
    "goes on at the mean velocity of the last second",
)
PREDICTORS.add(
    "last-step-v1",
    "jaywalk.predict.constant_velocity:LastStep",
    "goes on at the velocity of the last step",
)
PREDICTORS.add(
    "kalman-v1", "jaywalk.predict.kalman:Kalman", "constant-velocity Kalman filter, fitted noise"
)
PREDICTORS.add(
    "social-force-v1",
    "jaywalk.predict.social_force:SocialForce",
    "keeps its velocity but gives way to people nearby",
)


class Predictor(Protocol):
    """Foretells where people will be. A value: fitting returns a new one."""

    def fitted(self, windows: Windows) -> Self:
        """Fit whatever is free (the spread, at least) to windows with known futures."""
        ...

    def trajectory(self, windows: Windows) -> FloatArray:
        """The single best guess at every step: ``(N, S, 2)``."""
        ...

    def predict(self, windows: Windows) -> Mixture:
        """The distribution at the horizons."""
        ...


def make_predictor(name: str) -> Predictor:
    """A predictor by name, not yet fitted."""
    return cast(Predictor, PREDICTORS.get(name).load()())
