"""Configuration of the CVAE: size, parameter shapes, feature sets and training settings.

This module needs no torch. Checkpoints are plain arrays by name, and the ONNX writer needs nothing
else. The eight feature sets of the study combine motion with or without vehicle, head and body, and
map.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.seeds import stream

STEP_COLUMNS: Final = (
    "motion_x",
    "motion_y",
    "ego_x",
    "ego_y",
    "head_cos",
    "head_sin",
    "body_cos",
    "body_sin",
)
"""Columns of a history step. Each pair is a vector of the plane, so one rotation turns them all;
an angle that is not labelled is the zero vector, which no angle can be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureSet:
    """Inputs of a model besides the motion of the person."""

    name: str
    egodist: bool = False
    head_body: bool = False
    map: bool = False

    @property
    def columns(self) -> tuple[int, ...]:
        """Indices into `STEP_COLUMNS`."""
        chosen = [0, 1]
        chosen += [2, 3] if self.egodist else []
        chosen += [4, 5, 6, 7] if self.head_body else []
        return tuple(chosen)

    @property
    def size(self) -> int:
        """Number of features as the paper counts them: head and body are one."""
        return 1 + self.egodist + self.head_body + self.map


FEATURE_SETS: Final = (
    FeatureSet(name="motion"),
    FeatureSet(name="motion+egodist", egodist=True),
    FeatureSet(name="motion+head&body", head_body=True),
    FeatureSet(name="motion+egodist+head&body", egodist=True, head_body=True),
    FeatureSet(name="motion+map", map=True),
    FeatureSet(name="motion+map+egodist", map=True, egodist=True),
    FeatureSet(name="motion+map+head&body", map=True, head_body=True),
    FeatureSet(name="motion+map+egodist+head&body", map=True, egodist=True, head_body=True),
)


def feature_set(name: str) -> FeatureSet:
    """Return a feature set by its name in the tables."""
    for one in FEATURE_SETS:
        if one.name == name:
            return one
    known = ", ".join(one.name for one in FEATURE_SETS)
    raise UsageError(f"feature set '{name}' is unknown; expected one of: {known}")


STEPS: Final = 10
CONV_CHANNELS: Final = (4, 8, 16, 16, 32, 32, 64, 64)
"""Output channels of the map encoder's convolutions."""
POOL_AFTER: Final = (0, 1, 3, 5, 7)
"""Convolutions that a 2 x 2 maximum follows."""
STEP_SCALES: Final = (10.0, 10.0, 0.1, 0.1, 1.0, 1.0, 1.0, 1.0)
"""Factors of `feature_sets.STEP_COLUMNS` before the network: m/s and tens of metres, about 1."""
ANCHORS: Final = ("present", "velocity")
STEPS_PER_HORIZON: Final = 10
_MAP_HIDDEN = 512
_MAP_LAYERS = ("conv", "map")

Shapes = dict[str, tuple[int, ...]]
Arrays = dict[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CvaeConfig:
    """Settings that determine the shapes of the parameters.

    Attributes:
        features: Name of the feature set.
        state: State of both LSTM layers (the paper: 256 or 384).
        width: Hidden width of both perceptrons (384, 512, 640; with map 256, 384, 512).
        map_px: Side of the map crop in pixels, a multiple of 32.
        map_cell_m: Side of a pixel.
        map_classes: Number of classes that the network distinguishes.
        latent: Dimensions of the latent variable.
        embedding: Length of the history's code.
        map_embedding: Length of the map's code.
        horizons: Number of horizons, one second apart.
        anchor: ``present`` (the paper): means are relative to the present place; ``velocity``:
            relative to motion at the mean velocity of the history, which needs less data.
    """

    features: str = "motion"
    state: int = 256
    width: int = 384
    map_px: int = 256
    map_cell_m: float = 0.1
    map_classes: int = 8
    latent: int = 10
    embedding: int = 128
    map_embedding: int = 100
    horizons: int = 4
    anchor: str = "present"

    def __post_init__(self) -> None:
        _ = self.set
        if self.anchor not in ANCHORS:
            raise UsageError(f"anchor '{self.anchor}' must be one of {', '.join(ANCHORS)}")
        if self.map_px % 32 or self.map_px < 32:
            raise UsageError(
                f"map_px {self.map_px} must be a multiple of 32: five poolings halve it"
            )

    @property
    def set(self) -> FeatureSet:
        """The feature set."""
        return feature_set(self.features)

    @property
    def code(self) -> int:
        """Length of the code that both perceptrons are conditioned on."""
        return self.embedding + (self.map_embedding if self.set.map else 0)

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        return asdict(self)


def config_from(values: Mapping[str, Any]) -> CvaeConfig:
    """Build a config from JSON values; unknown keys are an error."""
    try:
        return CvaeConfig(**values)
    except TypeError as problem:
        raise DataError(f"the model's config does not fit this version: {problem}") from problem


def parameter_shapes(config: CvaeConfig) -> Shapes:
    """Return the shape of every weight and bias by name, in a fixed order."""
    shapes: Shapes = {}
    size = len(config.set.columns)
    for layer in ("lstm1", "lstm2"):
        shapes[f"{layer}.input.weight"] = (4 * config.state, size)
        shapes[f"{layer}.state.weight"] = (4 * config.state, config.state)
        shapes[f"{layer}.input.bias"] = (4 * config.state,)
        shapes[f"{layer}.state.bias"] = (4 * config.state,)
        size = config.state
    _linear(shapes, "embed", config.state, config.embedding)
    if config.set.map:
        before = config.map_classes
        for i, channels in enumerate(CONV_CHANNELS):
            shapes[f"conv{i}.weight"] = (channels, before, 3, 3)
            shapes[f"conv{i}.bias"] = (channels,)
            before = channels
        _linear(shapes, "map1", before * (config.map_px // 32) ** 2, _MAP_HIDDEN)
        _linear(shapes, "map2", _MAP_HIDDEN, config.map_embedding)
    position = 2 * config.horizons
    for name, extra, out in (
        ("infer", position, 2 * config.latent),
        ("predict", config.latent, 2 * position),
    ):
        sizes = (config.code + extra, config.width, config.width, config.width, out)
        for i in range(4):
            _linear(shapes, f"{name}{i + 1}", sizes[i], sizes[i + 1])
    return shapes


def parameter_count(config: CvaeConfig) -> int:
    """Return the number of weights and biases, without the gains of the weight normalisation."""
    return sum(math.prod(shape) for shape in parameter_shapes(config).values())


def initial_parameters(config: CvaeConfig, seed: int) -> Arrays:
    """Return initial parameters: uniform within 1 / sqrt(inputs); gains equal to the norms.

    In the map encoder gains are sqrt(2) and biases 0. Otherwise each of its ten layers of
    rectified units would lose half of the signal, and the output would not depend on the map.
    """
    rng = stream(seed, "cvae", "initial", config.features)
    arrays: Arrays = {}
    bound = 1.0
    for name, shape in parameter_shapes(config).items():
        if name.endswith(".weight"):
            inputs = config.state if name.startswith("lstm") else math.prod(shape[1:])
            bound = 1.0 / math.sqrt(inputs)
        arrays[name] = rng.uniform(-bound, bound, shape).astype(np.float32)
        if name.endswith(".weight"):
            arrays[gain_of(name)] = _norms(arrays[name])
    for name in arrays:
        if name.startswith(_MAP_LAYERS):
            if name.endswith(".gain"):
                arrays[name][:] = math.sqrt(2.0)
            elif name.endswith(".bias"):
                arrays[name][:] = 0.0
    return arrays


def gain_of(weight: str) -> str:
    """Return the name of a weight's gain."""
    return weight.removesuffix(".weight") + ".gain"


def folded_arrays(arrays: Mapping[str, NDArray[np.float32]]) -> Arrays:
    """Return plain weights and biases: gain times direction, without the gains."""
    plain: Arrays = {}
    for name, value in arrays.items():
        if name.endswith(".weight"):
            scale = arrays[gain_of(name)] / _norms(value)
            plain[name] = (value * scale.reshape(-1, *[1] * (value.ndim - 1))).astype(np.float32)
        elif not name.endswith(".gain"):
            plain[name] = value
    return plain


def _norms(weight: NDArray[np.float32]) -> NDArray[np.float32]:
    flat = weight.reshape(weight.shape[0], -1)
    return np.asarray(np.sqrt((flat**2).sum(axis=1)), dtype=np.float32)


def _linear(shapes: Shapes, name: str, inputs: int, outputs: int) -> None:
    shapes[f"{name}.weight"] = (outputs, inputs)
    shapes[f"{name}.bias"] = (outputs,)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainSettings:
    """Settings of a training.

    Attributes:
        epochs: Passes over the tracks (the paper: 3000).
        batch: Windows per step; smaller for small datasets.
        learning_rate: Learning rate of Adam.
        cosine: Whether the rate falls to 0 along a cosine instead of staying constant.
        seeds: Seeds; one model each, trained in parallel.
        rotate: Whether to turn every window by a random angle.
        validate_every: Epochs between validations.
        draws: Latent draws of a validation.
        device: ``cpu`` or ``cuda``.
    """

    epochs: int = 3000
    batch: int = 2048
    learning_rate: float = 1e-3
    cosine: bool = False
    seeds: tuple[int, ...] = (0,)
    rotate: bool = True
    validate_every: int = 25
    draws: int = 100
    device: str = "cpu"
