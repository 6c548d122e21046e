"""Training of the network: several seeds at once, resumable, best epoch by validation NLL.

An epoch is one random window of every track. All randomness of an epoch comes from its number and
the seed, so a resumed run repeats what an unbroken one would have done.

One step of training, the same on a CPU and, compiled and captured as one graph, on a GPU.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jaywalk.core.errors import UsageError
from jaywalk.core.files import load_arrays
from jaywalk.core.seeds import derive_seed, stream
from jaywalk.forecasting.cvae.batches import DeviceSamples, gathered, to_device
from jaywalk.forecasting.cvae.config import Arrays, CvaeConfig, TrainSettings, initial_parameters
from jaywalk.forecasting.cvae.network import Tensors, folded, horizon_nll, negative_elbo
from jaywalk.forecasting.cvae.samples import CvaeSamples, windows_by_track
from jaywalk.forecasting.torch_needed import torch

Tensor = Any
_WARM_UP = 3


class Stepper:
    """Holds what a captured graph needs at fixed addresses: inputs, parameters, moments."""

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
        """Learn from one batch; loss and KL of each seed, before the step."""
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
        """Warm up and record, then put back what the warm-up changed."""
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


@dataclass(slots=True, kw_only=True)
class Progress:
    """What a checkpoint holds besides parameters and moments."""

    epoch: int
    best: Tensors
    best_nll: Any
    best_epoch: Any


def train(
    training: CvaeSamples,
    validation: CvaeSamples,
    config: CvaeConfig,
    settings: TrainSettings,
    folder: Path,
    report: Callable[[dict[str, Any]], None] = lambda row: None,
) -> list[Arrays]:
    """Train, or go on where the checkpoint in ``folder`` ends; the best parameters by seed."""
    whole = np.asarray(np.isfinite(training.future).all(axis=(1, 2)))
    training = training.rows(whole)
    if len(training) == 0 or len(validation) == 0:
        raise UsageError("no windows to train on or to validate with; give longer tracks")
    device = settings.device
    data, judged = to_device(training, config, device), to_device(validation, config, device)
    groups = [torch.as_tensor(a, device=device) for a in windows_by_track(training.track)]
    batch = min(settings.batch, len(groups[1]))
    about = _about(config, settings, training)
    stepper, progress = _begin(data, config, settings, batch, folder, about)
    for epoch in range(progress.epoch, settings.epochs):
        if settings.cosine:
            half_turn = math.pi * epoch / settings.epochs
            stepper.set_learning_rate(settings.learning_rate * 0.5 * (1.0 + math.cos(half_turn)))
        for draws in _epoch_draws(groups, config, settings, batch, epoch):
            loss, divergence = stepper(*draws)
        progress.epoch = epoch + 1
        if progress.epoch % settings.validate_every == 0 or progress.epoch == settings.epochs:
            nll = mean_nll(stepper.parameters, config, judged, settings)
            _keep_best(progress, stepper.parameters, nll)
            report(_row(progress, loss, divergence, nll))
            _save(folder / CHECKPOINT, stepper, progress, about)
    return [_of_seed(progress.best, i) for i in range(len(settings.seeds))]


def mean_nll(
    parameters: Tensors, config: CvaeConfig, data: DeviceSamples, settings: TrainSettings
) -> Tensor:
    """Mean over windows and horizons of the NLL, not turned: ``(R,)``."""
    return torch.nanmean(window_nll(parameters, config, data, settings.draws), dim=(1, 2))


def window_nll(
    parameters: Tensors, config: CvaeConfig, data: DeviceSamples, draws: int, chunk: int = 128
) -> Tensor:
    """NLL of every window at every horizon with latent draws common to all: ``(R, N, H)``."""
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


def best_of(folder: Path) -> tuple[list[float], list[int]]:
    """Best validation NLL and its epoch, by seed, of the run in a folder."""
    with _opened(folder / CHECKPOINT) as stored:
        return stored["best_nll"].tolist(), stored["best_epoch"].tolist()


def initial_tensors(config: CvaeConfig, seeds: tuple[int, ...], device: str) -> Tensors:
    """Fresh parameters of several seeds, stacked."""
    many = [initial_parameters(config, seed) for seed in seeds]
    return {
        name: torch.as_tensor(np.stack([one[name] for one in many]), device=device)
        for name in many[0]
    }


def _epoch_draws(
    groups: list[Tensor], config: CvaeConfig, settings: TrainSettings, batch: int, epoch: int
) -> list[tuple[Tensor, Tensor, Tensor]]:
    """Windows, angles and noise of every step of an epoch, seed by seed from its own stream."""
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


def _begin(
    data: DeviceSamples,
    config: CvaeConfig,
    settings: TrainSettings,
    batch: int,
    folder: Path,
    about: dict[str, Any],
) -> tuple[Stepper, Progress]:
    device = settings.device
    parameters = initial_tensors(config, settings.seeds, device)
    fast = device.startswith("cuda")
    stepper = Stepper(data, config, parameters, batch, settings.learning_rate, fast=fast)
    progress = Progress(
        epoch=0,
        best={name: value.detach().clone() for name, value in parameters.items()},
        best_nll=torch.full((len(settings.seeds),), math.inf, dtype=torch.float64, device=device),
        best_epoch=torch.zeros(len(settings.seeds), dtype=torch.int64, device=device),
    )
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / CHECKPOINT).is_file():
        _resume(folder / CHECKPOINT, stepper, progress, device, about)
    return stepper, progress


def _resume(
    file: Path, stepper: Stepper, progress: Progress, device: str, asked: dict[str, Any]
) -> None:
    with _opened(file) as stored:
        arrays = {name: stored[name] for name in stored.files}
    about = json.loads(str(arrays["about"]))
    free = ("epochs", "device", "validate_every", "draws")
    changed = [
        key
        for part in ("config", "settings", "data")
        for key, value in asked[part].items()
        if key not in free and about.get(part, {}).get(key) != value
    ]
    if changed:
        raise UsageError(
            f"'{file}' was made with another {', '.join(changed)}; give the same or a new folder"
        )
    moments = {}
    with torch.no_grad():
        for i, (name, value) in enumerate(stepper.parameters.items()):
            value.copy_(torch.as_tensor(arrays[f"now/{name}"]))
            progress.best[name].copy_(torch.as_tensor(arrays[f"best/{name}"]))
            moments[i] = {
                "step": torch.tensor(float(arrays["adam_steps"])),
                "exp_avg": torch.as_tensor(arrays[f"mean/{name}"], device=device),
                "exp_avg_sq": torch.as_tensor(arrays[f"square/{name}"], device=device),
            }
    state = stepper.optimiser.state_dict()
    stepper.optimiser.load_state_dict({**state, "state": moments})
    progress.epoch = int(arrays["epoch"])
    progress.best_nll = torch.as_tensor(arrays["best_nll"], device=device)
    progress.best_epoch = torch.as_tensor(arrays["best_epoch"], device=device)


def _save(file: Path, stepper: Stepper, progress: Progress, about: dict[str, Any]) -> None:
    arrays: dict[str, Any] = {
        "about": np.array(json.dumps(about, sort_keys=True)),
        "epoch": np.array(progress.epoch),
        "best_nll": progress.best_nll.cpu().numpy(),
        "best_epoch": progress.best_epoch.cpu().numpy(),
    }
    for name, value in stepper.parameters.items():
        state = stepper.optimiser.state[value]
        arrays["adam_steps"] = np.array(float(state["step"]))
        arrays[f"now/{name}"] = value.detach().cpu().numpy()
        arrays[f"best/{name}"] = progress.best[name].cpu().numpy()
        arrays[f"mean/{name}"] = state["exp_avg"].cpu().numpy()
        arrays[f"square/{name}"] = state["exp_avg_sq"].cpu().numpy()
    # Whole or absent: a run killed while saving keeps the checkpoint before.
    fresh = file.with_name(".unfinished-" + file.name)
    np.savez(fresh, allow_pickle=False, **arrays)
    fresh.replace(file)


def _about(
    config: CvaeConfig, settings: TrainSettings, training: CvaeSamples
) -> dict[str, dict[str, Any]]:
    listed = {**asdict(settings), "seeds": list(settings.seeds)}
    digest = hashlib.sha256()
    for part in (training.steps, training.future, training.place_m, training.raster):
        digest.update(np.ascontiguousarray(part).tobytes())
    data = {"training data": digest.hexdigest()}
    return {"config": config.as_dict(), "settings": listed, "data": data}


def _keep_best(progress: Progress, parameters: Tensors, nll: Tensor) -> None:
    better = nll < progress.best_nll
    progress.best_nll = torch.where(better, nll, progress.best_nll)
    progress.best_epoch[better] = progress.epoch
    for name, value in parameters.items():
        progress.best[name][better] = value.detach()[better]


def _row(progress: Progress, loss: Tensor, divergence: Tensor, nll: Tensor) -> dict[str, Any]:
    return {
        "epoch": progress.epoch,
        "loss": loss.tolist(),
        "kl": divergence.tolist(),
        "validation_nll": nll.tolist(),
        "best_epoch": progress.best_epoch.tolist(),
    }


def _of_seed(parameters: Mapping[str, Any], seed: int) -> Arrays:
    return {name: value[seed].detach().cpu().numpy() for name, value in parameters.items()}


def _opened(file: Path) -> Any:
    return load_arrays(file, "a checkpoint of a training run (.npz)")
