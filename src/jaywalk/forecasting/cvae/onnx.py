"""The trained network as an ONNX file: history, map and latent draws in, Gaussians out.

Inference reads `steps (N, 10, F)`, `latent (K, 10)` and, with map, `crop (N, px, px)` of class ids.
It returns `mean` and `log_variance`, both `(N, K, H, 2)`. The posterior is not part of the file.

The writer supports only the messages of the format that these networks need. The format is protocol
buffers; field numbers are those of the public ``onnx.proto``. Writing them directly needs neither
torch nor the onnx package, and gives equal bytes for equal networks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import UsageError
from jaywalk.forecasting.cvae.config import (
    CONV_CHANNELS,
    POOL_AFTER,
    STEPS,
    CvaeConfig,
    folded_arrays,
)

IR_VERSION: Final = 8
OPSET: Final = 17
_TYPES: Final = {"float32": 1, "uint8": 2, "int32": 6, "int64": 7, "bool": 9}
_ATTRIBUTE_TYPES: Final = {"f": 1, "i": 2, "s": 3, "ints": 7, "strings": 8}


@dataclass(slots=True, kw_only=True)
class Graph:
    """Nodes and weights of a graph; `model` returns the bytes of the file.

    A dimension of an input or output is a number, or a name if the caller chooses its size.
    """

    name: str
    _nodes: list[bytes] = field(default_factory=list)
    _weights: list[bytes] = field(default_factory=list)
    _inputs: list[bytes] = field(default_factory=list)
    _outputs: list[bytes] = field(default_factory=list)

    def add_input(self, name: str, dtype: str, shape: Sequence[int | str]) -> str:
        """Declare an input and return its name."""
        self._inputs.append(_bytes(11, _value_info(name, dtype, shape)))
        return name

    def add_output(self, name: str, dtype: str, shape: Sequence[int | str]) -> None:
        """Declare an output."""
        self._outputs.append(_bytes(12, _value_info(name, dtype, shape)))

    def weight(self, name: str, value: NDArray[Any]) -> str:
        """Store a constant and return its name."""
        array = np.ascontiguousarray(value)
        if array.dtype.name not in _TYPES:
            raise UsageError(
                f"constant '{name}' is of type {array.dtype}; ONNX files here hold "
                f"{', '.join(_TYPES)}"
            )
        dims = b"".join(_int(1, size) for size in array.shape)
        raw = array.astype(array.dtype.newbyteorder("<")).tobytes()
        body = dims + _int(2, _TYPES[array.dtype.name]) + _text(8, name) + _bytes(9, raw)
        self._weights.append(_bytes(5, body))
        return name

    def node(self, kind: str, inputs: Sequence[str], output: str | Sequence[str], **at: Any) -> str:
        """Add an operation and return the name of its last output."""
        outputs = [output] if isinstance(output, str) else list(output)
        body = b"".join(_text(1, name) for name in inputs)
        body += b"".join(_text(2, name) for name in outputs)
        body += _text(3, outputs[-1]) + _text(4, kind)
        body += b"".join(_bytes(5, _attribute(name, value)) for name, value in at.items())
        self._nodes.append(_bytes(1, body))
        return outputs[-1]

    def model(self, metadata: Mapping[str, str]) -> bytes:
        """Return the bytes of the whole file."""
        parts = [*self._nodes, _text(2, self.name), *self._weights, *self._inputs, *self._outputs]
        about = b"".join(_bytes(14, _text(1, k) + _text(2, v)) for k, v in metadata.items())
        head = _int(1, IR_VERSION) + _text(2, "jaywalk")
        return head + _bytes(7, b"".join(parts)) + _bytes(8, _text(1, "") + _int(2, OPSET)) + about


def _value_info(name: str, dtype: str, shape: Sequence[int | str]) -> bytes:
    dims = b"".join(
        _bytes(1, _text(2, size) if isinstance(size, str) else _int(1, size)) for size in shape
    )
    return _text(1, name) + _bytes(2, _bytes(1, _int(1, _TYPES[dtype]) + _bytes(2, dims)))


def _attribute(name: str, value: Any) -> bytes:
    head = _text(1, name)
    if isinstance(value, bool | int):
        return head + _int(3, int(value)) + _int(20, _ATTRIBUTE_TYPES["i"])
    if isinstance(value, float):
        raw = np.float32(value).tobytes()
        return head + _varint(2 << 3 | 5) + raw + _int(20, _ATTRIBUTE_TYPES["f"])
    if isinstance(value, str):
        return head + _text(4, value) + _int(20, _ATTRIBUTE_TYPES["s"])
    if all(isinstance(one, int) for one in value):
        return head + b"".join(_int(8, one) for one in value) + _int(20, _ATTRIBUTE_TYPES["ints"])
    raise UsageError(f"attribute '{name}' of type {type(value).__name__} cannot be written")


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _int(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _bytes(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _text(number: int, value: str) -> bytes:
    return _bytes(number, value.encode())


Weights = Mapping[str, NDArray[np.float32]]
KIND = "jaywalk-cvae-v1"
_LOG_VARIANCE = (-10.0, 10.0)


def cvae_onnx(config: CvaeConfig, parameters: Weights) -> bytes:
    """Return the model's bytes; ``parameters`` may have the gains of the weight norm."""
    gained = any(name.endswith(".gain") for name in parameters)
    plain = folded_arrays(parameters) if gained else dict(parameters)
    graph = Graph(name="cvae")
    steps = graph.add_input("steps", "float32", ("people", STEPS, len(config.set.columns)))
    latent = graph.add_input("latent", "float32", ("draws", config.latent))
    code = _history(graph, plain, steps)
    if config.set.map:
        px = config.map_px
        crop = graph.add_input("crop", "uint8", ("people", px, px))
        code = graph.node("Concat", [code, _map(graph, config, plain, crop)], "code", axis=1)
    _heads(graph, config, plain, code, latent)
    return graph.model({"kind": KIND, "config": json.dumps(config.as_dict(), sort_keys=True)})


def _history(graph: Graph, plain: Weights, steps: str) -> str:
    x = graph.node("Transpose", [steps], "steps_first", perm=[1, 0, 2])
    for name in ("lstm1", "lstm2"):
        parts = {
            "W": _onnx_gates(plain[f"{name}.input.weight"])[None],
            "R": _onnx_gates(plain[f"{name}.state.weight"])[None],
            "B": np.concatenate(
                [_onnx_gates(plain[f"{name}.{which}.bias"]) for which in ("input", "state")]
            )[None],
        }
        size = plain[f"{name}.state.weight"].shape[1]
        weights = [graph.weight(f"{name}.{key}", value) for key, value in parts.items()]
        out = [f"{name}.all", f"{name}.last"]
        graph.node("LSTM", [x, *weights], out, hidden_size=size)
        axes = graph.weight(f"{name}.axis", np.array([1], dtype=np.int64))
        x = graph.node("Squeeze", [out[0], axes], f"{name}.steps")
    first = graph.weight("directions", np.array([0], dtype=np.int64))
    last = graph.node("Squeeze", ["lstm2.last", first], "lstm2.state")
    return _linear(graph, plain, "embed", last)


def _onnx_gates(value: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the rows in ONNX's order of gates: input, output, forget, cell."""
    enter, forget, new, leave = np.split(value, 4)
    return np.concatenate([enter, leave, forget, new])


def _map(graph: Graph, config: CvaeConfig, plain: Weights, crop: str) -> str:
    ids = graph.node("Cast", [crop], "ids", to=7)
    depth = graph.weight("classes", np.array(config.map_classes, dtype=np.int64))
    values = graph.weight("off_on", np.array([0.0, 1.0], dtype=np.float32))
    x = graph.node("OneHot", [ids, depth, values], "onehot", axis=1)
    for i in range(len(CONV_CHANNELS)):
        weights = [graph.weight(f"conv{i}.{k}", plain[f"conv{i}.{k}"]) for k in ("weight", "bias")]
        x = graph.node("Conv", [x, *weights], f"conv{i}", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        x = graph.node("Relu", [x], f"conv{i}.relu")
        if i in POOL_AFTER:
            x = graph.node("MaxPool", [x], f"pool{i}", kernel_shape=[2, 2], strides=[2, 2])
    x = graph.node("Flatten", [x], "map_flat", axis=1)
    x = graph.node("Relu", [_linear(graph, plain, "map1", x)], "map1.relu")
    return _linear(graph, plain, "map2", x)


def _heads(graph: Graph, config: CvaeConfig, plain: Weights, code: str, latent: str) -> None:
    """Add the perceptron over all pairs of person and draw; its first layer is split to share."""
    first = plain["predict1.weight"]
    by_code = graph.weight("predict1.code", np.ascontiguousarray(first[:, : config.code].T))
    by_latent = graph.weight("predict1.latent", np.ascontiguousarray(first[:, config.code :].T))
    bias = graph.weight("predict1.bias", plain["predict1.bias"])
    person = graph.node("MatMul", [code, by_code], "of_person")
    person = graph.node("Add", [person, bias], "of_person_biased")
    draw = graph.node("MatMul", [latent, by_latent], "of_draw")
    middle = graph.weight("middle", np.array([1], dtype=np.int64))
    person = graph.node("Unsqueeze", [person, middle], "of_person_wide")
    x = graph.node("Add", [person, draw], "pairs")
    rows = graph.weight("rows", np.array([-1, config.width], dtype=np.int64))
    x = graph.node("Relu", [graph.node("Reshape", [x, rows], "pair_rows")], "predict1.relu")
    for i in (2, 3):
        x = graph.node("Relu", [_linear(graph, plain, f"predict{i}", x)], f"predict{i}.relu")
    x = _linear(graph, plain, "predict4", x)
    position = 2 * config.horizons
    for name, part in (("mean", slice(0, position)), ("log_variance", slice(position, None))):
        ends = [
            graph.weight(f"{name}.{key}", np.array([value], dtype=np.int64))
            for key, value in (("from", part.start), ("to", part.stop or 2 * position), ("axis", 1))
        ]
        y = graph.node("Slice", [x, *ends], f"{name}.flat")
        if name == "log_variance":
            limits = [
                graph.weight(f"limit{i}", np.array(value, dtype=np.float32))
                for i, value in enumerate(_LOG_VARIANCE)
            ]
            y = graph.node("Clip", [y, *limits], "log_variance.clipped")
        people = graph.node("Shape", [code], f"{name}.people", start=0, end=1)
        tail = graph.weight(f"{name}.tail", np.array([-1, config.horizons, 2], dtype=np.int64))
        shape = graph.node("Concat", [people, tail], f"{name}.shape", axis=0)
        graph.node("Reshape", [y, shape], name)
        graph.add_output(name, "float32", ("people", "draws", config.horizons, 2))


def _linear(graph: Graph, plain: Weights, name: str, x: str) -> str:
    weights = [graph.weight(f"{name}.{key}", plain[f"{name}.{key}"]) for key in ("weight", "bias")]
    return graph.node("Gemm", [x, *weights], name, transB=1)
