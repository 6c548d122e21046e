"""The predictors by name."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Protocol, Self, cast

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.core.registry import Registry, Spec
from jaywalk.forecasting.windows import Windows
from jaywalk.metrics.prediction.forecast import Mixture

PREDICTORS: Final[Registry[Spec]] = Registry("predictor")
LEARNT: Final = ("cvae-v1", "cvae")
PREDICTORS.add(
    "stand-still-v1", "jaywalk.forecasting.predictors.kinematic:StandStill", "nobody moves"
)
PREDICTORS.add(
    "constant-velocity-v1",
    "jaywalk.forecasting.predictors.kinematic:ConstantVelocity",
    "goes on at the mean velocity of the last second",
)
PREDICTORS.add(
    "last-step-v1",
    "jaywalk.forecasting.predictors.kinematic:LastStep",
    "goes on at the velocity of the last step",
)
PREDICTORS.add(
    "kalman-v1",
    "jaywalk.forecasting.predictors.kalman:Kalman",
    "constant-velocity Kalman filter, fitted noise",
)
PREDICTORS.add(
    "social-force-v1",
    "jaywalk.forecasting.predictors.social_force:SocialForce",
    "keeps its velocity but gives way to people nearby",
)
PREDICTORS.add(
    "cvae-v1",
    "jaywalk.forecasting.cvae.predictor:Cvae",
    "the trained network; say which: cvae-v1=FILE.onnx",
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
    """A predictor by name, not yet fitted; a trained one as ``cvae-v1=FILE.onnx``."""
    name, _, file = name.partition("=")
    if name in LEARNT:
        name = LEARNT[0]
        if not file:
            raise UsageError(
                f"predictor '{name}' needs a trained model: {name}=FILE.onnx. "
                "Train one: jaywalk predict train DATA --out DIR."
            )
        return cast(Predictor, PREDICTORS.get(name).load()(file=Path(file)))
    if file:
        raise UsageError(f"predictor '{name}' takes no file, got '{file}'")
    return cast(Predictor, PREDICTORS.get(name).load()())


def ready_predictor(name: str) -> tuple[str, Predictor]:
    """A predictor and its full name; the version may be left out, as in ``kalman``."""
    short, equals, file = name.partition("=")
    for entry in PREDICTORS:
        if short in (entry.name, entry.name.rpartition("-v")[0]):
            full = f"{entry.name}{equals}{file}"
            return full, make_predictor(full)
    PREDICTORS.get(short)  # says what there is
    raise AssertionError


def ready_names() -> list[str]:
    """Predictors that need no training."""
    return [entry.name for entry in PREDICTORS if entry.name not in LEARNT]
