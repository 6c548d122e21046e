"""PCPA: one recurrent branch per input, attention over time and inputs (Kotseruba et al. 2021).

As published: one GRU per branch, the same attention block over the frames of each branch and over
the branches, without biases, with the last element as query, dropout 0.5. Different here: no
branches of pictures (C3D) and poses, a branch of the surroundings instead, boxes also in relative
coordinates, and the size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jaywalk.forecasting.behaviour.models._network import NetworkConfig, NetworkModel
from jaywalk.forecasting.torch_needed import torch

BRANCHES = ("scene", "box", "ego")


@dataclass(frozen=True, slots=True, kw_only=True)
class PcpaConfig(NetworkConfig):
    """Settings; the published state has 256 values."""

    state: int = 64
    dropout: float = 0.5


class Attention(torch.nn.Module):  # type: ignore[misc]
    """Attention of a sequence with its last element as query, joined with that element."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.score = torch.nn.Linear(size, size, bias=False)
        self.join = torch.nn.Linear(2 * size, size, bias=False)

    def forward(self, states: Any) -> Any:
        """Map ``(n, steps, size)`` to ``(n, size)``."""
        last = states[:, -1]
        weight = torch.softmax((self.score(states) * last[:, None]).sum(-1), dim=1)
        context = (weight[..., None] * states).sum(1)
        return torch.tanh(self.join(torch.cat([context, last], dim=-1)))


class Pcpa(torch.nn.Module):  # type: ignore[misc]
    """The network."""

    def __init__(self, config: PcpaConfig, heads: dict[str, int]) -> None:
        super().__init__()
        size = config.state
        self.branches = torch.nn.ModuleDict(
            {name: torch.nn.GRU(config.widths[name], size, batch_first=True) for name in BRANCHES}
        )
        self.over_time = torch.nn.ModuleDict({name: Attention(size) for name in BRANCHES})
        self.over_inputs = Attention(size)
        self.drop = torch.nn.Dropout(config.dropout)
        self.heads = torch.nn.ModuleDict(
            {task: torch.nn.Linear(size, n) for task, n in heads.items()}
        )

    def forward(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return logits by task."""
        encoded = [
            self.drop(self.over_time[name](self.branches[name](given[name])[0]))
            for name in BRANCHES
        ]
        joined = self.over_inputs(torch.stack(encoded, dim=1))
        return {task: head(joined) for task, head in self.heads.items()}


def make(config: PcpaConfig | None = None) -> NetworkModel:
    """Create the model."""
    return NetworkModel(config=config or PcpaConfig(), network=Pcpa)
