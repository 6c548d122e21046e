"""Registry of predictors. A predictor registers itself with the decorator :func:`predictor`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, Self, TypeVar, cast

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.core.registry import Registry, Spec
from jaywalk.core.user_code import refuse_stem
from jaywalk.forecasting.windows import Windows
from jaywalk.metrics.prediction.forecast import Mixture

PredictorT = TypeVar("PredictorT", bound=type)

POSITIONS: Final = "positions"
NEIGHBOURS: Final = "neighbours"
EGO: Final = "ego"
HEADING: Final = "heading"
MAP: Final = "map"


class Predictor(Protocol):
    """Predicts where people will be. Immutable: fitting returns a new predictor."""

    def fitted(self, windows: Windows) -> Self:
        """Fit all free parameters (at least the spread) to windows with known futures."""
        ...

    def trajectory(self, windows: Windows) -> FloatArray:
        """Return the single best guess at every step: ``(N, S, 2)``."""
        ...

    def predict(self, windows: Windows) -> Mixture:
        """Return the distribution at the horizons."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictorSpec(Spec):
    """Facts about a predictor.

    Attributes:
        inputs: Parts of a window it reads: positions, neighbours, ego, heading, map.
        horizon_s: Longest time it can predict; None: any.
        learnt: True if it needs the file of a trained model, as in ``cvae-v1=FILE.onnx``.
    """

    inputs: tuple[str, ...] = (POSITIONS,)
    horizon_s: float | None = None
    learnt: bool = False

    def facts(self) -> dict[str, Any]:
        """Return inputs, horizon and whether it is learnt."""
        return {"inputs": list(self.inputs), "horizon_s": self.horizon_s, "learnt": self.learnt}


PREDICTORS: Final[Registry[PredictorSpec]] = Registry(
    "predictor",
    packages=("jaywalk.forecasting.predictors", "jaywalk.forecasting.cvae.predictor"),
)


def predictor(
    name: str,
    *,
    summary: str,
    inputs: tuple[str, ...] = (POSITIONS,),
    horizon_s: float | None = None,
    learnt: bool = False,
) -> Callable[[PredictorT], PredictorT]:
    """Register a predictor class; :class:`PredictorSpec` explains the arguments.

    Args:
        name: Name with version, for example ``kalman-v1``. Users may leave the version out.
        summary: One line for lists.
        inputs: Parts of a window it reads.
        horizon_s: Longest time it can predict.
        learnt: True if the class takes the ``file`` of a trained model.

    Raises:
        UsageError: The name has no version.
    """
    base, mark, number = name.rpartition("-v")
    if not (base and mark and number.isdecimal()):
        raise UsageError(f"The predictor '{name}' has no version; expected for example '{name}-v1'")

    def register(kind: PredictorT) -> PredictorT:
        PREDICTORS.register(
            PredictorSpec(
                name=name,
                summary=summary,
                version=int(number),
                inputs=inputs,
                horizon_s=horizon_s,
                learnt=learnt,
                target=kind,
            )
        )
        return kind

    return register


def make_predictor(name: str) -> Predictor:
    """Make a predictor that is not fitted yet; a learnt one as ``cvae-v1=FILE.onnx``."""
    return ready_predictor(name)[1]


def ready_predictor(name: str) -> tuple[str, Predictor]:
    """Make a predictor; return its full name too, since users may leave the version out.

    A user's own predictor is a ``FILE.py``, ``module:function`` or ``FILE.onnx``.

    Raises:
        RegistryError: No predictor has that name.
        UsageError: The file of a learnt predictor is missing, or there is one too many; or a
            user's own predictor cannot be loaded.
    """
    from jaywalk.forecasting.predictors.plugged import is_plugged, plugged

    if is_plugged(name):
        return name, plugged(name)
    short, equals, file = name.partition("=")
    spec = _find(short)
    full_name = f"{spec.name}{equals}{file}"
    if spec.learnt and not file:
        raise UsageError(
            f"predictor '{spec.name}' needs a trained model: {spec.name}=FILE.onnx. "
            "Train one: jaywalk predict train DATA --out DIR."
        )
    if file and not spec.learnt:
        raise UsageError(f"predictor '{spec.name}' takes no file, got '{file}'")
    options = {"file": Path(file)} if file else {}
    return full_name, cast(Predictor, spec.load()(**options))


def ready_names() -> list[str]:
    """Return the names of the predictors that need no training."""
    return [spec.name for spec in PREDICTORS if not spec.learnt]


def _find(name: str) -> PredictorSpec:
    """Find a predictor by its name, or by its name without version: then the newest."""
    if name in PREDICTORS:
        return PREDICTORS.get(name)
    versions = [spec for spec in PREDICTORS if spec.name.rpartition("-v")[0] == name]
    if not versions:
        refuse_stem("--predictor", name)
    return max(versions, key=lambda spec: spec.version) if versions else PREDICTORS.get(name)
