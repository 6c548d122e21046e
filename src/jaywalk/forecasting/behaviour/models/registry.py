"""Registry of behaviour models. A model registers itself with :func:`behaviour_model`.

Networks are the exception: their modules define torch classes, so they cannot be imported without
torch. They are declared here and imported on creation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar, cast

from jaywalk.core.registry import Registry, Spec
from jaywalk.forecasting.behaviour.models._base import CLASSES, BehaviourModel, configured

ModelT = TypeVar("ModelT", bound=type)

_HERE: Final = "jaywalk.forecasting.behaviour.models"


@dataclass(frozen=True, slots=True, kw_only=True)
class BehaviourModelSpec(Spec):
    """Facts about a behaviour model.

    Attributes:
        tasks: Tasks that it can answer.
        learnt: False if it has no parameters to fit.
        needs: Optional packages that it needs.
    """

    tasks: tuple[str, ...] = tuple(CLASSES)
    learnt: bool = True
    needs: tuple[str, ...] = ()

    def facts(self) -> dict[str, Any]:
        """Return tasks, needs and whether it is learnt."""
        return {"tasks": list(self.tasks), "learnt": self.learnt, "needs": list(self.needs)}


MODELS: Final[Registry[BehaviourModelSpec]] = Registry(
    "behaviour model",
    packages=(f"{_HERE}.baselines", f"{_HERE}._forest", f"{_HERE}._gradient_boosting"),
)


def behaviour_model(
    name: str, *, summary: str, tasks: tuple[str, ...] = tuple(CLASSES), learnt: bool = True
) -> Callable[[ModelT], ModelT]:
    """Register a model class; :class:`BehaviourModelSpec` explains the arguments."""

    def register(kind: ModelT) -> ModelT:
        MODELS.register(
            BehaviourModelSpec(name=name, summary=summary, tasks=tasks, learnt=learnt, target=kind)
        )
        return kind

    return register


for _name, _summary in (
    ("sfgru", "stacked recurrent levels (torch)"),
    ("pcpa", "attention over time and inputs (torch)"),
    ("biped", "independent and joint streams, multitask (torch)"),
    ("pedformer", "cross-modal attention, multitask (torch)"),
):
    MODELS.register(
        BehaviourModelSpec(
            name=_name, summary=_summary, needs=("torch",), target=f"{_HERE}._{_name}:make"
        )
    )


def make_model(name: str, settings: Mapping[str, Any] | None = None) -> BehaviourModel:
    """Make a model by name, with some values of its config replaced."""
    model = MODELS.get(name).load()()
    if settings:
        model = replace(model, config=configured(model.config, settings))
    return cast(BehaviourModel, model)
