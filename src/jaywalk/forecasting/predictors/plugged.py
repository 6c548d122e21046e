"""Predictors of users: a Python file, ``module:function`` or an ONNX file.

The contract is documented in ``docs/how-to/add_a_predictor.md``. A predictor gets
:class:`PeopleSeen` and returns positions at the horizons; every answer is checked.
"""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from scipy.optimize import minimize_scalar

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import JaywalkError, UsageError
from jaywalk.core.user_code import error_words, import_file
from jaywalk.forecasting.predictors.answers import FrameError, checked_answer
from jaywalk.forecasting.predictors.network import OnnxNetwork, PeopleSeen, onnx_session
from jaywalk.forecasting.samples import between_horizons
from jaywalk.forecasting.windows import HORIZONS_S, MOST_NEIGHBOURS, Windows
from jaywalk.metrics.prediction.forecast import Mixture, nll_marginal

ANSWER: Final = "predict"  # name of the function in a user's file
_METHODS: Final = ("fitted", "trajectory", "predict")
_AT_ONCE: Final = 1024  # people in one call
_SIGMA_M: Final = (1e-3, 100.0)
_FAR_M: Final = 10_000.0  # where answers in another frame show


@dataclass(frozen=True, kw_only=True)
class Plugged:
    """A user's predictor; without covariances, one spread per horizon is fitted.

    Attributes:
        name: Its name as the user wrote it.
        answer: Function from :class:`PeopleSeen` to the user's answer.
        sigma_m: Fitted deviation of each coordinate at each horizon; None before fitting.
    """

    name: str
    answer: Callable[[PeopleSeen], Any]
    sigma_m: tuple[float, ...] | None = None

    def fitted(self, windows: Windows) -> Self:
        """Return a copy with the likeliest spread, unless the predictor gives covariances."""
        self._check_frame(next(_people(windows)))
        weight, mean_m, covariance_m2 = self._ask(windows)
        if covariance_m2 is not None:
            return self
        sigma = [
            _likeliest_sigma(weight, mean_m[:, :, h], windows.truth_m[:, h])
            for h in range(mean_m.shape[2])
        ]
        return replace(self, sigma_m=tuple(sigma))

    def trajectory(self, windows: Windows) -> FloatArray:
        """Return the mean of the modes, linear between the horizons, ``(N, S, 2)``."""
        weight, mean_m, _ = self._ask(windows)
        return between_horizons(windows, np.einsum("nk,nkhc->nhc", weight, mean_m))

    def predict(self, windows: Windows) -> Mixture:
        """Return the distribution at the horizons."""
        weight, mean_m, covariance_m2 = self._ask(windows)
        if covariance_m2 is None:
            if self.sigma_m is None or len(self.sigma_m) != mean_m.shape[2]:
                raise UsageError("fit the predictor to windows with these horizons first")
            spread = np.array(self.sigma_m)[:, None, None] ** 2 * np.eye(2)
            covariance_m2 = np.broadcast_to(spread, (*mean_m.shape, 2)).copy()
        return Mixture(weights=weight, means_m=mean_m, covariances_m2=covariance_m2)

    def _ask(self, windows: Windows) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        """Return weights, means and covariances (or None) of all windows."""
        parts = [self._asked(people) for people in _people(windows)]
        if len({part[0].shape[1] for part in parts}) > 1:
            raise UsageError(f"predictor '{self.name}': the number of modes changes between calls")
        weight, mean_m, covariance_m2 = zip(*parts, strict=True)
        known = [part for part in covariance_m2 if part is not None]
        if known and len(known) < len(parts):
            raise UsageError(f"predictor '{self.name}' gives covariance_m2 only sometimes")
        return (
            np.concatenate(weight),
            np.concatenate(mean_m),
            np.concatenate(known) if known else None,
        )

    def _check_frame(self, people: PeopleSeen) -> None:
        """Refuse answers relative to a person or an origin: they show where people are far off."""
        far = replace(
            people,
            history_m=people.history_m + _FAR_M,
            ego_m=people.ego_m + _FAR_M,
            neighbours=people.neighbours + np.array([_FAR_M, _FAR_M, 0.0, 0.0]),
        )
        try:
            self._asked(far)
        except FrameError:
            raise
        except JaywalkError:
            pass  # a predictor with a map may have no answer there

    def _asked(self, people: PeopleSeen) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        # A copy: a predictor that changes its input changes nothing of ours.
        given = deepcopy(people)
        try:
            raw = self.answer(given)
        except JaywalkError:
            raise
        except (Exception, SystemExit) as problem:
            raise UsageError(
                f"predictor '{self.name}' failed: {error_words(problem, self.name)} The contract "
                "is in docs/how-to/add_a_predictor.md."
            ) from problem
        return checked_answer(raw, people, self.name)


def _people(windows: Windows) -> Iterator[PeopleSeen]:
    """Yield the windows in parts that a network can hold at once."""
    unknown = np.full(windows.history_m.shape, np.nan)
    about = windows.context
    whole = PeopleSeen(
        history_m=windows.history_m,
        step_s=windows.step_s,
        horizons_s=np.array(windows.horizons_s),
        neighbours=windows.neighbours,
        ego_m=unknown if about is None else about.ego_m,
        head_rad=unknown[..., 0] if about is None else about.head_rad,
        body_rad=unknown[..., 0] if about is None else about.body_rad,
    )
    rows = {f.name for f in fields(whole)} - {"step_s", "horizons_s"}
    for first in range(0, max(len(windows), 1), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        parts: dict[str, Any] = {key: getattr(whole, key)[part] for key in rows}
        yield replace(whole, **parts)


def _likeliest_sigma(weight: FloatArray, mean_m: FloatArray, truth_m: FloatArray) -> float:
    """Return the deviation of equal isotropic modes that makes the known truth likeliest."""
    known = np.isfinite(truth_m).all(axis=1)
    if not known.any():
        raise UsageError("no window reaches the longest horizon; there is nothing to fit to")
    weight, mean_m, truth_m = weight[known], mean_m[known], truth_m[known]

    def nll(log_sigma: float) -> float:
        spread = np.broadcast_to(math.exp(2.0 * log_sigma) * np.eye(2), (*mean_m.shape, 2))
        mixture = Mixture(
            weights=weight, means_m=mean_m[:, :, None], covariances_m2=spread[:, :, None]
        )
        return float(nll_marginal(mixture, truth_m[:, None], 0).mean())

    ends = (math.log(_SIGMA_M[0]), math.log(_SIGMA_M[1]))
    return math.exp(minimize_scalar(nll, bounds=ends, method="bounded").x)


def is_plugged(name: str) -> bool:
    """Return whether a name is a user's file or function rather than a registered predictor."""
    return "=" not in name and (name.endswith((".py", ".onnx")) or ":" in name)


def plugged(name: str) -> Any:
    """Return the predictor of a Python file, a ``module:function`` or an ONNX file.

    Raises:
        UsageError: The file or function does not exist, or it cannot be imported or used.
    """
    if name.endswith(".onnx"):
        return _from_onnx(name)
    target = _from_file(Path(name)) if name.endswith(".py") else _from_module(name)
    try:
        made = target() if isinstance(target, type) else target
    except (Exception, SystemExit) as problem:
        raise UsageError(
            f"predictor '{name}' failed: {error_words(problem, name)} A class is created without "
            "arguments."
        ) from problem
    if all(callable(getattr(made, method, None)) for method in _METHODS):
        return made
    if not callable(made):
        raise UsageError(f"--predictor is '{name}', but that is not a function: {made!r}.")
    return Plugged(name=name, answer=made)


def check_there(name: str) -> None:
    """Refuse a file that is missing, without importing anything."""
    file = name.partition("=")[2] or (name if name.endswith((".py", ".onnx")) else "")
    if file and not Path(file).is_file():
        raise UsageError(f"--predictor is '{name}', but the file '{file}' does not exist.")


def predictor_digest(name: str) -> str:
    """Return the SHA-256 digest of a predictor's file; "" for registered ones without a file."""
    path = name.partition("=")[2] or (name if name.endswith((".py", ".onnx")) else "")
    if not path and is_plugged(name):
        spec = find_spec(name.partition(":")[0])
        path = (spec.origin if spec is not None else "") or ""
    if not path or not Path(path).is_file():
        return ""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def predictor_label(name: str) -> str:
    """Return a short text for folders and tables: the stem of a file, else the name."""
    short, _, file = name.partition("=")
    if file:
        return f"{short}-{Path(file).stem}"
    return Path(name).stem if name.endswith((".py", ".onnx")) else name.replace(":", "-")


def _from_file(path: Path) -> Any:
    if not path.is_file():
        raise UsageError(f"--predictor is '{path}', but that file does not exist.")
    try:
        module = import_file(path)
    except (Exception, SystemExit) as problem:
        raise UsageError(
            f"The predictor {path} cannot be loaded: {error_words(problem, str(path))}"
        ) from problem
    function = getattr(module, ANSWER, None)
    if callable(function):
        return function
    kinds = [
        thing
        for thing in vars(module).values()
        if isinstance(thing, type)
        and thing.__module__ == module.__name__
        and all(hasattr(thing, method) for method in _METHODS)
    ]
    if len(kinds) != 1:
        names = ", ".join(sorted(kind.__name__ for kind in kinds)) or "none"
        raise UsageError(
            f"{path} has no function '{ANSWER}' and {len(kinds)} classes with "
            f"{', '.join(_METHODS)} ({names}). Define {ANSWER}(people), or exactly one such class."
        )
    return kinds[0]


def _from_module(name: str) -> Any:
    module_name, _, attribute = name.partition(":")
    here = str(Path.cwd())
    sys.path.insert(0, here)  # as Python itself does for scripts
    try:
        module = import_module(module_name)
    except (Exception, SystemExit) as problem:
        raise UsageError(
            f"The predictor '{name}' cannot be loaded: {error_words(problem, name)} Expected "
            "module:function, with a module that Python can import here."
        ) from problem
    finally:
        sys.path.remove(here)
    if not hasattr(module, attribute):
        raise UsageError(f"--predictor is '{name}', but {module_name} has no '{attribute}'.")
    return getattr(module, attribute)


def _from_onnx(name: str) -> Any:
    from jaywalk.forecasting.cvae.onnx import KIND
    from jaywalk.forecasting.cvae.predictor import Cvae

    check_there(name)
    session = onnx_session(Path(name))
    if session.get_modelmeta().custom_metadata_map.get("kind") == KIND:
        return Cvae(file=Path(name))
    network = OnnxNetwork(file=Path(name))
    network.check()
    return Plugged(name=name, answer=network)


def try_once(predictor: Any, horizons: int) -> None:
    """Ask a user's predictor about two people who walk straight on, before it is relied on.

    Raises:
        UsageError: Its answer breaks the contract.
    """
    if not isinstance(predictor, Plugged):
        return
    step_s, steps = 0.1, round(HORIZONS_S[-1] / 0.1)
    walked = 0.12 * np.arange(11)[:, None] * np.array([1.0, 0.5])
    history = np.stack([walked + np.array([210.0, -85.0]), walked[::-1] + np.array([340.0, 12.0])])
    windows = Windows(
        history_m=history,
        future_m=np.full((2, steps, 2), np.nan),
        neighbours=np.full((2, MOST_NEIGHBOURS, 4), np.nan),
        track=np.arange(2),
        scene=np.zeros(2, np.int64),
        k=np.zeros(2, np.int64),
        track_names=("a", "b"),
        scene_names=("trial",),
        horizon_steps=tuple(round(at / step_s) - 1 for at in HORIZONS_S[:horizons]),
        step_s=step_s,
        excluded={},
    )
    predictor.predict(windows)
