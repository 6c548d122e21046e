"""Model in the style of PedFormer (Rasouli and Kotseruba 2023): attention across inputs.

As described: a cross-modal Transformer (queries from one input, keys and values from all others),
attention to the people around with a query from the dynamics of the person and the car, and a
decoder of several streams that share through gates. Future boxes, action and final region are
learnt together. Inferred: sizes, one layer, equal weights of losses, and people's boxes instead of
semantic regions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jaywalk.forecasting.behaviour.models._network import NetworkConfig, NetworkModel
from jaywalk.forecasting.behaviour.tasks import OBSERVED_FRAMES
from jaywalk.forecasting.torch_needed import torch

INPUTS = ("box", "ego", "scene")


@dataclass(frozen=True, slots=True, kw_only=True)
class PedformerConfig(NetworkConfig):
    """Settings."""

    state: int = 48
    attention_heads: int = 4
    learns_all: bool = True


class Across(torch.nn.Module):  # type: ignore[misc]
    """Attention from the frames of one input to the frames of all others."""

    def __init__(self, size: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.look = torch.nn.MultiheadAttention(size, heads, dropout=dropout, batch_first=True)
        self.think = torch.nn.Sequential(
            torch.nn.Linear(size, 2 * size), torch.nn.GELU(), torch.nn.Linear(2 * size, size)
        )
        self.first, self.second = torch.nn.LayerNorm(size), torch.nn.LayerNorm(size)

    def forward(self, own: Any, others: Any) -> Any:
        """Map ``(n, steps, size)`` to the same shape."""
        seen = self.first(own + self.look(own, others, others, need_weights=False)[0])
        return self.second(seen + self.think(seen))


class Pedformer(torch.nn.Module):  # type: ignore[misc]
    """The network."""

    def __init__(self, config: PedformerConfig, heads: dict[str, int]) -> None:
        super().__init__()
        size = config.state
        self.enter = torch.nn.ModuleDict(
            {name: torch.nn.Linear(config.widths[name], size) for name in INPUTS}
        )
        self.time = torch.nn.Parameter(0.02 * torch.randn(OBSERVED_FRAMES, size))
        options = (size, config.attention_heads, config.dropout)
        self.across = torch.nn.ModuleDict({name: Across(*options) for name in INPUTS})
        self.person = torch.nn.Linear(config.widths["neighbours"], size)
        self.query = torch.nn.Linear(2 * size, size)
        self.around = torch.nn.MultiheadAttention(
            size, config.attention_heads, dropout=config.dropout, batch_first=True
        )
        self.drop = torch.nn.Dropout(config.dropout)
        context = size * (len(INPUTS) + 1)
        self.shared = torch.nn.Linear(context, size)
        self.private = torch.nn.ModuleDict({task: torch.nn.Linear(context, size) for task in heads})
        self.gate = torch.nn.ModuleDict({task: torch.nn.Linear(context, size) for task in heads})
        self.heads = torch.nn.ModuleDict(
            {task: torch.nn.Linear(size, n) for task, n in heads.items()}
        )

    def forward(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return logits by task, each from a task-specific mixture of shared and private state."""
        tokens = {name: self.enter[name](given[name]) + self.time for name in INPUTS}
        parts = []
        for name in INPUTS:
            others = torch.cat([tokens[other] for other in INPUTS if other != name], dim=1)
            parts.append(self.across[name](tokens[name], others).mean(1))
        parts.append(self._around(given["neighbours"], parts[0], parts[1]))
        context = self.drop(torch.cat(parts, dim=-1))
        shared = self.shared(context)
        outputs = {}
        for task, head in self.heads.items():
            gate = torch.sigmoid(self.gate[task](context))
            mixed = gate * shared + (1.0 - gate) * self.private[task](context)
            outputs[task] = head(torch.relu(mixed))
        return outputs

    def _around(self, people: Any, person: Any, car: Any) -> Any:
        # An empty token, so that attention is defined for a person without neighbours.
        code = self.person(people)
        nobody = torch.zeros_like(code[:, :1])
        keys = torch.cat([nobody, code], dim=1)
        absent = torch.cat([torch.zeros_like(people[:, :1, 5]), people[..., 5] - 1.0], dim=1) < 0
        query = self.query(torch.cat([person, car], dim=-1))[:, None]
        return self.around(query, keys, keys, key_padding_mask=absent, need_weights=False)[0][:, 0]


def make(config: PedformerConfig | None = None) -> NetworkModel:
    """Create the model."""
    return NetworkModel(config=config or PedformerConfig(), network=Pedformer)
