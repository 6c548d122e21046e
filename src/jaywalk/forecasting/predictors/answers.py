"""Checks of a user's predictor: shape, numbers, weights, spread and frame of its answers."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.forecasting.predictors.network import PeopleSeen

_KEYS: Final = ("mean_m", "weight", "covariance_m2")
_FASTEST_MPS: Final = 25.0  # faster than anyone on foot: another frame or unit


class FrameError(UsageError):
    """Answers of a predictor are in another frame or unit than its input."""


def checked_answer(
    raw: Any, people: PeopleSeen, name: str
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Return weights ``(N, K)``, means ``(N, K, H, 2)`` and covariances, or None, of an answer.

    Raises:
        UsageError: The answer breaks the contract; the message names the value and the fix.
    """
    if raw is None:
        raise _broken(name, "it returned None", "expected an array: 'return' may be missing")
    answer = dict(raw) if isinstance(raw, dict) else {"mean_m": raw}
    unknown = sorted(set(answer) - set(_KEYS))
    if unknown or "mean_m" not in answer:
        raise _broken(
            name,
            f"the answer has the keys {', '.join(map(str, sorted(answer)))}",
            f"expected an array, or a dict of mean_m and optionally {' and '.join(_KEYS[1:])}",
        )
    n, h = len(people), len(people.horizons_s)
    mean = _numbers(answer["mean_m"], "mean_m", name)
    shape = mean.shape
    if mean.shape == (n, h, 2):
        mean = mean[:, None]
    if mean.ndim != 4 or mean.shape[1] < 1 or mean.shape != (n, mean.shape[1], h, 2):
        expected = f"({n}, {h}, 2) or ({n}, K, {h}, 2)"
        raise _broken(
            name,
            f"mean_m has the shape {shape}",
            f"expected {expected}: people, (modes,) horizons, x and y",
        )
    k = mean.shape[1]
    weight = _numbers(answer.get("weight", np.full((n, k), 1.0 / k)), "weight", name)
    if weight.shape != (n, k):
        raise _broken(
            name, f"weight has the shape {weight.shape}", f"expected ({n}, {k}): people, modes"
        )
    sums = weight.sum(axis=1)
    if (weight < 0.0).any() or not np.allclose(sums, 1.0, atol=1e-3):
        worst = float(sums[np.argmax(np.abs(sums - 1.0))])
        raise _broken(
            name,
            f"the weights of a person sum to {worst:.4g}",
            "expected probabilities of the modes: not negative, sum 1",
        )
    _check_places(mean, people, name)
    covariance = answer.get("covariance_m2")
    if covariance is not None:
        covariance = _checked_covariance(covariance, (n, k, h, 2, 2), name)
    return weight / sums[:, None], mean, covariance


def _checked_covariance(raw: Any, shape: tuple[int, ...], name: str) -> FloatArray:
    value = _numbers(raw, "covariance_m2", name)
    if value.shape != shape:
        raise _broken(
            name,
            f"covariance_m2 has the shape {value.shape}",
            f"expected {shape}: people, modes, horizons, 2 x 2",
        )
    symmetric = np.allclose(value, np.swapaxes(value, -1, -2), rtol=1e-4, atol=1e-9)
    if not symmetric or not np.all(np.linalg.eigvalsh(value) > 0.0):
        raise _broken(
            name,
            "a matrix of covariance_m2 is not symmetric and positive definite",
            "expected variances in m2 on the diagonal, for example 0.09 for a deviation of 0.3 m",
        )
    return value


def _numbers(value: Any, key: str, name: str) -> FloatArray:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        kind = type(value).__name__
        raise _broken(
            name, f"{key} is a {kind} without a regular shape", "expected an array of numbers"
        ) from problem
    if not np.isfinite(array).all():
        array = np.atleast_1d(array)
        bad = int((~np.isfinite(array.reshape(len(array), -1))).any(axis=1).sum())
        raise _broken(
            name,
            f"{key} has NaN or infinity for {bad} of {len(array)} people",
            "expected a number for each; neighbours, ego_m and angles may be NaN in the input",
        )
    return array


def _check_places(mean_m: FloatArray, people: PeopleSeen, name: str) -> None:
    """Refuse positions out of reach on foot, which are of another frame or unit."""
    now = people.history_m[:, None, None, -1]
    away = np.linalg.norm(mean_m - now, axis=-1)
    reach = _FASTEST_MPS * people.horizons_s + 5.0
    if not len(mean_m) or np.median(away / reach) <= 1.0:
        return
    relative = np.median(np.linalg.norm(mean_m, axis=-1) / reach) <= 1.0
    fix = (
        "they look relative to the person; add history_m[:, -1]"
        if relative
        else "expected positions in the frame of history_m, in metres"
    )
    what = f"half of the positions are over {np.median(away):.0f} m away"
    raise _broken(name, what, fix, FrameError)


def _broken(name: str, what: str, expected: str, kind: type[UsageError] = UsageError) -> UsageError:
    return kind(
        f"predictor '{name}': {what}; {expected}. The contract is in "
        "docs/how-to/add_a_predictor.md."
    )
