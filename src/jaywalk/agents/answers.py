"""From what a foreign agent says about people and its plan to what the record holds.

Agents of ``jaywalk_agent`` say it in their answers, Leaderboard agents by the optional methods
``jaywalk_forecasts()`` and ``jaywalk_plan()``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.agents.base import Forecast, Plan

FloatArray = NDArray[np.float64]

_MATCH_M: Final = 2.0
_MOST_VALUES: Final = 2_000_000


class AnswerError(Exception):
    """A forecast or a plan has a wrong form; says which and what was expected."""


def read_forecasts(said: Any, source: str, snapshot: Any, people: Any) -> tuple[Forecast, ...]:
    """Forecasts in our form.

    Args:
        said: Objects or maps with the fields of ``jaywalk_agent.Forecast``.
        source: Whose they are, where they do not say.
        snapshot: The present one.
        people: Gives ids of all people, for forecasts that name a place instead of an id.

    Raises:
        AnswerError: One has a wrong form.
    """
    if said is None:
        return ()
    if not isinstance(said, Sequence) or isinstance(said, str):
        raise AnswerError(f"forecasts: a {type(said).__name__}, expected a list.")
    found = []
    for number, one in enumerate(said):
        where = f"forecasts[{number}]"
        actor = _field(one, "actor_id")
        if actor is None:
            actor = _at(_array(_field(one, "position_m"), (2,), where, "position_m"),
                        snapshot, people())  # fmt: skip
        if actor is not None:
            found.append(_forecast(one, int(actor), source, where))
    return tuple(found)


def _forecast(one: Any, actor: int, source: str, where: str) -> Forecast:
    time_s = _array(_field(one, "time_s"), (-1,), where, "time_s")
    mean = _array(_field(one, "mean_m"), (-1, len(time_s), 2), where, "mean_m")
    modes = len(mean)
    weight = _field(one, "weight")
    spread = _field(one, "covariance_m2")
    return Forecast(
        actor_id=actor,
        source=str(_field(one, "source") or source),
        time_s=time_s,
        weight=np.full(modes, 1.0 / max(modes, 1)) if weight is None
        else _array(weight, (modes,), where, "weight"),
        mean_m=mean,
        covariance_m2=None if spread is None
        else _array(spread, (modes, len(time_s), 2, 2), where, "covariance_m2"),
    )  # fmt: skip


def read_plan(said: Any) -> Plan | None:
    """A plan in our form: an object or map with ``path_m``, or the path alone.

    Raises:
        AnswerError: It has a wrong form.
    """
    if said is None:
        return None
    bare = isinstance(said, (list, tuple, np.ndarray))
    path = _array(said if bare else _field(said, "path_m"), (-1, 2), "plan", "path_m")
    time_s = None if bare else _field(said, "time_s")
    return Plan(
        path_m=path,
        time_s=None if time_s is None else _array(time_s, (len(path),), "plan", "time_s"),
    )


def _field(one: Any, name: str) -> Any:
    return one.get(name) if isinstance(one, Mapping) else getattr(one, name, None)


def _array(value: Any, shape: tuple[int, ...], where: str, name: str) -> FloatArray:
    """Real numbers of a shape; -1 stands for any length."""
    words = "(" + ", ".join("any" if n < 0 else str(n) for n in shape) + ")"
    if value is None:
        raise AnswerError(f"{where}: {name} is missing, expected numbers of shape {words}.")
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError) as problem:
        raise AnswerError(f"{where}: {name} holds no plain numbers: {problem}.") from problem
    fits = array.ndim == len(shape) and all(
        want in (-1, have) for want, have in zip(shape, array.shape, strict=True)
    )
    if not fits or array.size > _MOST_VALUES:
        raise AnswerError(f"{where}: {name} has shape {array.shape}, expected {words}.")
    if not np.all(np.isfinite(array)):
        raise AnswerError(f"{where}: {name} holds values that are not finite.")
    return array


def _at(place_m: FloatArray, snapshot: Any, people: Sequence[int]) -> int | None:
    """Who stands at a place; None if nobody is within 2 m."""
    best, gap = None, _MATCH_M
    for key in people:
        state = snapshot.find(key)
        if state is None:
            continue
        there = state.get_transform().location
        away = float(np.hypot(there.x - place_m[0], there.y - place_m[1]))
        if away < gap:
            best, gap = key, away
    return best
