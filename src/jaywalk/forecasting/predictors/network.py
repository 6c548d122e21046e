"""ONNX networks of users as predictors: their inputs and outputs, checked and run.

:class:`PeopleSeen` is what every predictor of a user gets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError, PrerequisiteError, UsageError
from jaywalk.core.files import open_file
from jaywalk.forecasting.windows import MOST_NEIGHBOURS


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleSeen:
    """What a predictor gets: N people at P times, seen until now.

    Frame: right-handed metres (x, y of the data), angles in radians counter-clockwise from x.

    Attributes:
        history_m: ``(N, P, 2)`` positions, ``step_s`` apart; the last one is the present one.
        step_s: Seconds between positions.
        horizons_s: ``(H,)`` seconds from now at which positions are asked for.
        neighbours: ``(N, 8, 4)`` x, y and velocity (m, m/s) of the nearest other people within 5 m
            now, nearest first; NaN pads.
        ego_m: ``(N, P, 2)`` positions of the nearest vehicle; NaN if there is none.
        head_rad: ``(N, P)`` direction of the head; NaN where unknown.
        body_rad: ``(N, P)`` direction of the chest; NaN where unknown.
    """

    history_m: FloatArray
    step_s: float
    horizons_s: FloatArray
    neighbours: FloatArray
    ego_m: FloatArray
    head_rad: FloatArray
    body_rad: FloatArray

    def __len__(self) -> int:
        return len(self.history_m)


# Names of an ONNX file: size of each dimension; a text may be of any size.
_ONNX_INPUTS: Final[dict[str, tuple[int | str, ...]]] = {
    "history_m": ("people", "positions", 2),
    "neighbours": ("people", MOST_NEIGHBOURS, 4),
    "ego_m": ("people", "positions", 2),
    "horizons_s": ("horizons",),
}
_ONNX_OUTPUTS: Final[dict[str, tuple[tuple[int | str, ...], ...]]] = {
    "mean_m": (("people", "horizons", 2), ("people", "modes", "horizons", 2)),
    "weight": (("people", "modes"),),
    "covariance_m2": (("people", "modes", "horizons", 2, 2),),
}


@dataclass(frozen=True, kw_only=True)
class OnnxNetwork:
    """A user's network; positions are relative to the person's present place, float32.

    Attributes:
        file: The ONNX file.
    """

    file: Path

    def __call__(self, people: PeopleSeen) -> dict[str, FloatArray]:
        """Run the network and return its answer in world coordinates."""
        now = people.history_m[:, -1]
        neighbours = people.neighbours.copy()
        neighbours[..., :2] -= now[:, None]
        values = {
            "history_m": people.history_m - now[:, None],
            "neighbours": neighbours,
            "ego_m": people.ego_m - now[:, None],
            "horizons_s": people.horizons_s,
        }
        inputs, outputs = self._session.get_inputs(), self._session.get_outputs()
        fed = {one.name: np.asarray(values[one.name], dtype=np.float32) for one in inputs}
        for one in inputs:
            self._check_sizes(one, fed[one.name].shape)
        names = [one.name for one in outputs if one.name in _ONNX_OUTPUTS]
        answer = dict(zip(names, self._session.run(names, fed), strict=True))
        mean = np.asarray(answer["mean_m"], dtype=np.float64)
        if mean.ndim not in (3, 4) or len(mean) != len(now):
            return answer  # refused with its shape
        return {**answer, "mean_m": mean + np.expand_dims(now, tuple(range(1, mean.ndim - 1)))}

    def check(self) -> None:
        """Compare names, types and fixed sizes of inputs and outputs with the contract."""
        inputs = {one.name: one for one in self._session.get_inputs()}
        outputs = {one.name: one for one in self._session.get_outputs()}
        strange = sorted(inputs.keys() - _ONNX_INPUTS.keys())
        if strange or "history_m" not in inputs:
            raise self._refused(
                f"its inputs are {', '.join(inputs) or 'none'}",
                "expected history_m (people, positions, 2), and optionally neighbours "
                "(people, 8, 4), ego_m (people, positions, 2) and horizons_s (horizons)",
            )
        if "mean_m" not in outputs:
            raise self._refused(
                f"its outputs are {', '.join(outputs) or 'none'}",
                "expected mean_m (people, horizons, 2) or (people, modes, horizons, 2), and "
                "optionally weight (people, modes) and covariance_m2 "
                "(people, modes, horizons, 2, 2)",
            )
        for one in inputs.values():
            self._check_tensor(one, (_ONNX_INPUTS[one.name],))
        for name, shapes in _ONNX_OUTPUTS.items():
            if name in outputs:
                self._check_tensor(outputs[name], shapes)

    def _check_tensor(self, tensor: Any, shapes: tuple[tuple[int | str, ...], ...]) -> None:
        # Some files leave the shape of an output open; its arrays are checked then.
        fits = not tensor.shape or any(
            len(shape) == len(tensor.shape)
            and all(
                isinstance(wanted, str) or isinstance(size, str | None) or size == wanted
                for size, wanted in zip(tensor.shape, shape, strict=True)
            )
            for shape in shapes
        )
        if tensor.type != "tensor(float)" or not fits:
            wanted = " or ".join(str(shape).replace("'", "") for shape in shapes)
            raise self._refused(
                f"{tensor.name} is {tensor.type} {tensor.shape}", f"expected float32 {wanted}"
            )

    def _check_sizes(self, tensor: Any, shape: tuple[int, ...]) -> None:
        for axis, (size, given) in enumerate(zip(tensor.shape, shape, strict=True)):
            if isinstance(size, int) and size != given:
                what = _ONNX_INPUTS[tensor.name][axis]
                raise self._refused(
                    f"{tensor.name} holds {size} {what}, but there are {given}",
                    "export the file with a dynamic size, or choose --history and --horizons that "
                    "fit",
                )

    def _refused(self, what: str, expected: str) -> UsageError:
        return UsageError(
            f"The network {self.file} cannot be used as a predictor: {what}; {expected}. The "
            "contract is in docs/how-to/add_a_predictor.md."
        )

    @cached_property
    def _session(self) -> Any:
        return onnx_session(self.file)


def onnx_session(file: Path) -> Any:
    """Open an ONNX file on one CPU thread.

    Raises:
        PrerequisiteError: The file does not exist.
        DataError: It is no ONNX model.
    """
    import onnxruntime  # slow to load, and only networks need it

    if not file.is_file():
        raise PrerequisiteError(
            f"'{file}' does not exist. Train one: jaywalk predict train DATA --out DIR."
        )
    open_file(file, "an ONNX model").close()
    options = onnxruntime.SessionOptions()
    # One thread: drivers run many at a time, and sums keep their order.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as problem:
        raise DataError(f"'{file}' is not a readable ONNX model: {problem}") from problem
