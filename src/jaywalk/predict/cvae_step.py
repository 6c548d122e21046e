"""One step of training, the same on a CPU and, compiled and captured as one graph, on a GPU."""

from __future__ import annotations

from typing import Any

from jaywalk.predict.cvae_batches import DeviceSamples, gathered
from jaywalk.predict.cvae_config import CvaeConfig
from jaywalk.predict.cvae_network import Tensors, folded, negative_elbo
from jaywalk.predict.torch_needed import torch

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
        self._kl_weight = torch.ones((), device=device)
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

    def set_kl_weight(self, weight: float) -> None:
        """How much the divergence counts; 1 is the likelihood's bound."""
        self._kl_weight.fill_(weight)

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
            return negative_elbo(plain, self._config, steps, crops, future, noise, self._kl_weight)

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
