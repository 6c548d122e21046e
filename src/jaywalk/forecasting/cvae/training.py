"""Training of the CVAE: several seeds at once, best epoch by validation NLL.

An epoch is one random window of every track. A training step computes the same on a CPU and on a
GPU, where it is compiled and captured as one graph.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.core.seeds import derive_seed, stream
from jaywalk.forecasting._training import run_training
from jaywalk.forecasting.cvae._network import Tensors, folded, horizon_nll, negative_elbo
from jaywalk.forecasting.cvae.batches import DeviceSamples, gathered, to_device
from jaywalk.forecasting.cvae.config import Arrays, CvaeConfig, TrainSettings, initial_parameters
from jaywalk.forecasting.cvae.samples import CvaeSamples, windows_by_track
from jaywalk.forecasting.torch_needed import torch

Tensor = Any
_WARM_UP = 3


class Stepper:
    """One training step; inputs, parameters and moments keep their addresses for the graph."""

    def __init__(
        self,
        data: DeviceSamples,
        config: CvaeConfig,
        parameters: Tensors,
        batch: int,
        learning_rate: float,
        *,
        fast: bool,
    ) -> None:
        self._data, self._config, self._fast = data, config, fast
        self.parameters = parameters
        device = data.steps.device
        seeds = next(iter(parameters.values())).shape[0]
        for value in parameters.values():
            value.requires_grad_(True)
        self._index = torch.zeros((seeds, batch), dtype=torch.int64, device=device)
        self._angle = torch.zeros((seeds, batch), device=device)
        self._noise = torch.zeros((seeds, batch, config.latent), device=device)
        rate: Any = torch.tensor(learning_rate, device=device) if fast else learning_rate
        self.optimiser = torch.optim.Adam(
            list(parameters.values()), lr=rate, fused=fast, capturable=fast
        )
        self._forward = torch.compile(self._losses, dynamic=False) if fast else self._losses
        self._graph: Any = None
        self._out: tuple[Tensor, Tensor] = (None, None)

    def set_learning_rate(self, rate: float) -> None:
        """Change the rate without touching a captured graph."""
        group = self.optimiser.param_groups[0]
        if self._fast:
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate

    def __call__(self, index: Tensor, angle: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        """Learn from one batch; return loss and KL of each seed before the step."""
        self._index.copy_(index)
        self._angle.copy_(angle)
        self._noise.copy_(noise)
        if not self._fast:
            return self._learn()
        if self._graph is None:
            self._capture()
        self._graph.replay()
        return self._out

    def _losses(self, index: Tensor, angle: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        steps, future, crops = gathered(self._data, self._config, index, angle)
        with torch.autocast(steps.device.type, torch.bfloat16, enabled=self._fast):
            plain = folded(self.parameters)
            return negative_elbo(plain, self._config, steps, crops, future, noise)

    def _learn(self) -> tuple[Tensor, Tensor]:
        self.optimiser.zero_grad(set_to_none=True)
        loss, divergence = self._forward(self._index, self._angle, self._noise)
        loss.sum().backward()
        self.optimiser.step()
        return loss.detach(), divergence.detach()

    def _capture(self) -> None:
        """Warm up and record, then undo the changes of the warm-up."""
        kept = [value.detach().clone() for value in self.parameters.values()]
        resumed = {key: dict(value) for key, value in self.optimiser.state.items()}
        moments = {
            key: {name: tensor.clone() for name, tensor in value.items()}
            for key, value in resumed.items()
        }
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(_WARM_UP):
                self._learn()
        torch.cuda.current_stream().wait_stream(side)
        self.optimiser.zero_grad(set_to_none=True)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._out = self._learn()
        with torch.no_grad():
            for value, old in zip(self.parameters.values(), kept, strict=True):
                value.copy_(old)
            for key, value in self.optimiser.state.items():
                for name, tensor in value.items():
                    tensor.copy_(moments[key][name]) if key in moments else tensor.zero_()


CHECKPOINT = "checkpoint.npz"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedCvae:
    """Best parameters, their validation NLL and epoch, each by seed."""

    parameters: list[Arrays]
    best_nll: list[float]
    best_epoch: list[int]


class _CvaeLearner:
    """All seeds of one network, trained in one batch."""

    def __init__(
        self,
        training: CvaeSamples,
        validation: CvaeSamples,
        config: CvaeConfig,
        settings: TrainSettings,
    ) -> None:
        device = settings.device
        self._config, self._settings = config, settings
        self._validation = to_device(validation, config, device)
        self._groups = [torch.as_tensor(a, device=device) for a in windows_by_track(training.track)]
        self._batch = min(settings.batch, len(self._groups[1]))
        self._stepper = Stepper(
            to_device(training, config, device),
            config,
            initial_tensors(config, settings.seeds, device),
            self._batch,
            settings.learning_rate,
            fast=device.startswith("cuda"),
        )

    def learn(self, epoch: int) -> dict[str, Any]:
        """Draw one random window of every track and learn from it."""
        settings = self._settings
        if settings.cosine:
            half_turn = math.pi * epoch / settings.epochs
            rate = settings.learning_rate * 0.5 * (1.0 + math.cos(half_turn))
            self._stepper.set_learning_rate(rate)
        for draws in _epoch_draws(self._groups, self._config, settings, self._batch, epoch):
            loss, divergence = self._stepper(*draws)
        return {"loss": loss.tolist(), "kl": divergence.tolist()}

    def validate(self) -> FloatArray:
        """Return the negative mean NLL of the validation windows."""
        nll = mean_nll(self._stepper.parameters, self._config, self._validation, self._settings)
        return np.asarray(-nll.cpu().numpy(), np.float64)

    def parameters(self) -> Arrays:
        """Return the present parameters of all seeds."""
        return {
            name: value.detach().cpu().numpy().copy()
            for name, value in self._stepper.parameters.items()
        }

    def state(self) -> Arrays:
        """Return the parameters and Adam's moments."""
        arrays: Arrays = {}
        for name, value in self._stepper.parameters.items():
            moments = self._stepper.optimiser.state[value]
            arrays["adam_steps"] = np.array(float(moments["step"]))
            arrays[f"now/{name}"] = value.detach().cpu().numpy()
            arrays[f"mean/{name}"] = moments["exp_avg"].cpu().numpy()
            arrays[f"square/{name}"] = moments["exp_avg_sq"].cpu().numpy()
        return arrays

    def restore(self, state: Arrays) -> None:
        """Continue from :meth:`state`."""
        device, moments = self._settings.device, {}
        with torch.no_grad():
            for i, (name, value) in enumerate(self._stepper.parameters.items()):
                value.copy_(torch.as_tensor(state[f"now/{name}"]))
                moments[i] = {
                    "step": torch.tensor(float(state["adam_steps"])),
                    "exp_avg": torch.as_tensor(state[f"mean/{name}"], device=device),
                    "exp_avg_sq": torch.as_tensor(state[f"square/{name}"], device=device),
                }
        optimiser = self._stepper.optimiser
        optimiser.load_state_dict({**optimiser.state_dict(), "state": moments})


def train(
    training: CvaeSamples,
    validation: CvaeSamples,
    config: CvaeConfig,
    settings: TrainSettings,
    folder: Path,
    report: Callable[[dict[str, Any]], None] = lambda row: None,
) -> TrainedCvae:
    """Train all seeds, or continue from the checkpoint in ``folder``.

    Args:
        training: Windows to learn from; those with an incomplete future are left out.
        validation: Windows that choose the best epoch.
        config: The network.
        settings: Seeds, epochs, batch size, learning rate, device.
        folder: Folder of the checkpoint.
        report: Called after every validation.

    Raises:
        UsageError: There is nothing to learn from, or the checkpoint is of another training.
    """
    complete = np.asarray(np.isfinite(training.future).all(axis=(1, 2)))
    training = training.rows(complete)
    if len(training) == 0 or len(validation) == 0:
        raise UsageError("no windows to train on or to validate with; give longer tracks")
    folder.mkdir(parents=True, exist_ok=True)

    def tell(row: dict[str, Any]) -> None:
        score = row.pop("score")
        report(row | {"validation_nll": (-score).tolist()})

    best = run_training(
        _CvaeLearner(training, validation, config, settings),
        epochs=settings.epochs,
        report=tell,
        identity=_identity(config, settings, training),
        checkpoint=folder / CHECKPOINT,
        validate_every=settings.validate_every,
    )
    return TrainedCvae(
        parameters=[best.of_seed(i) for i in range(len(settings.seeds))],
        best_nll=(-best.score).tolist(),
        best_epoch=best.epoch.tolist(),
    )


def mean_nll(
    parameters: Tensors, config: CvaeConfig, data: DeviceSamples, settings: TrainSettings
) -> Tensor:
    """Return the mean NLL over windows and horizons without rotation, ``(R,)``."""
    return torch.nanmean(window_nll(parameters, config, data, settings.draws), dim=(1, 2))


def window_nll(
    parameters: Tensors, config: CvaeConfig, data: DeviceSamples, draws: int, chunk: int = 128
) -> Tensor:
    """Return the NLL of each window and horizon with shared latent draws, ``(R, N, H)``."""
    seeds = next(iter(parameters.values())).shape[0]
    rng = stream(0, "cvae", "prior")
    latent = torch.as_tensor(
        rng.standard_normal((draws, config.latent)), dtype=torch.float32, device=data.steps.device
    )
    parts = []
    with torch.no_grad():
        plain = folded(parameters)
        for start in range(0, len(data.steps), chunk):
            stop = min(start + chunk, len(data.steps))
            index = torch.arange(start, stop, device=data.steps.device).expand(seeds, -1)
            angle = torch.zeros(index.shape, device=index.device)
            steps, future, crops = gathered(data, config, index, angle)
            parts.append(horizon_nll(plain, config, steps, crops, future, latent))
    return torch.cat(parts, dim=1)


def initial_tensors(config: CvaeConfig, seeds: tuple[int, ...], device: str) -> Tensors:
    """Return the initial parameters of several seeds, stacked."""
    many = [initial_parameters(config, seed) for seed in seeds]
    return {
        name: torch.as_tensor(np.stack([one[name] for one in many]), device=device)
        for name in many[0]
    }


def _epoch_draws(
    groups: list[Tensor], config: CvaeConfig, settings: TrainSettings, batch: int, epoch: int
) -> list[tuple[Tensor, Tensor, Tensor]]:
    """Draw windows, angles and noise of all steps of an epoch, from one stream per seed."""
    order, first, count = groups
    steps = max(1, len(first) // batch)
    device = order.device
    windows, angles, noises = [], [], []
    for seed in settings.seeds:
        made = torch.Generator(device=device)
        made.manual_seed(derive_seed(seed, "cvae", "epoch", epoch) >> 1)
        tracks = torch.randperm(len(first), generator=made, device=device)[: steps * batch]
        u = torch.rand((2, steps * batch), generator=made, device=device, dtype=torch.float64)
        windows.append(order[first[tracks] + (u[0] * count[tracks]).long()])
        angles.append((2.0 * math.pi * u[1] * settings.rotate).float())
        noises.append(torch.randn((steps * batch, config.latent), generator=made, device=device))
    window, angle, noise = (torch.stack(part) for part in (windows, angles, noises))
    parts = (slice(i * batch, (i + 1) * batch) for i in range(steps))
    return [(window[:, part], angle[:, part], noise[:, part]) for part in parts]


def _identity(config: CvaeConfig, settings: TrainSettings, training: CvaeSamples) -> dict[str, Any]:
    """Return the values that a resumed training must share: not epochs, device, validation."""
    free = ("epochs", "device", "validate_every", "draws")
    listed = {key: value for key, value in asdict(settings).items() if key not in free}
    digest = hashlib.sha256()
    for part in (training.steps, training.future, training.place_m, training.raster):
        digest.update(np.ascontiguousarray(part).tobytes())
    return {**config.as_dict(), **listed, "training data": digest.hexdigest()}
