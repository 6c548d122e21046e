"""Model in the style of BiPed (Rasouli et al. 2021): independent and joint encoders and decoders.

As described: one encoder per input and one for all inputs, an interaction vector of the people
around, one decoder per task and shared decoders whose outputs are averaged. Future boxes, action
and final region are learnt together (log-cosh and cross entropies). Inferred: sizes, equal weights
of losses, and the form of the interaction. Without pictures there are no semantic maps, so the two
categories are people nearer than the person and people farther away. The planned motion of the car
is not used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jaywalk.forecasting.behaviour.models._network import (
    GRID_CELLS,
    NetworkConfig,
    NetworkModel,
)
from jaywalk.forecasting.torch_needed import torch

INPUTS = ("box", "ego", "scene", "grid")


@dataclass(frozen=True, slots=True, kw_only=True)
class BipedConfig(NetworkConfig):
    """Settings."""

    state: int = 48
    cell: int = 8  # length of the embedding of a grid cell
    learns_all: bool = True


class Biped(torch.nn.Module):  # type: ignore[misc]
    """The network."""

    def __init__(self, config: BipedConfig, heads: dict[str, int]) -> None:
        super().__init__()
        size = config.state
        sizes = {name: config.widths.get(name, config.cell) for name in INPUTS}
        self.cell = torch.nn.Embedding(GRID_CELLS, config.cell)
        self.alone = torch.nn.ModuleDict(
            {name: torch.nn.LSTM(sizes[name], size, batch_first=True) for name in INPUTS}
        )
        self.joint = torch.nn.LSTM(sum(sizes.values()), size, batch_first=True)
        self.person = torch.nn.Sequential(
            torch.nn.Linear(config.widths["neighbours"], size), torch.nn.ReLU()
        )
        context = size * (len(INPUTS) + 1 + 2)
        self.drop = torch.nn.Dropout(config.dropout)
        self.shared = torch.nn.Sequential(torch.nn.Linear(context, size), torch.nn.ReLU())
        self.own = torch.nn.ModuleDict(
            {
                task: torch.nn.Sequential(
                    torch.nn.Linear(context, size), torch.nn.ReLU(), torch.nn.Linear(size, n)
                )
                for task, n in heads.items()
            }
        )
        self.common = torch.nn.ModuleDict(
            {task: torch.nn.Linear(size, n) for task, n in heads.items()}
        )

    def forward(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return logits by task: the mean of the task's decoder and the shared one."""
        seen = {name: given[name] for name in INPUTS} | {"grid": self.cell(given["grid"])}
        parts = [self.alone[name](seen[name])[0][:, -1] for name in INPUTS]
        parts.append(self.joint(torch.cat([seen[name] for name in INPUTS], dim=-1))[0][:, -1])
        context = self.drop(torch.cat([*parts, *self._around(given["neighbours"])], dim=-1))
        shared = self.shared(context)
        return {
            task: 0.5 * (own(context) + self.common[task](shared)) for task, own in self.own.items()
        }

    def _around(self, people: Any) -> list[Any]:
        """Return one vector for people nearer (taller boxes) and one for people farther away."""
        there, taller = people[..., 5:] > 0, people[..., 2:3] > 0
        code = self.person(people)
        codes = []
        for mask in (there & taller, there & ~taller):
            weight = mask.to(code.dtype)
            codes.append((code * weight).sum(1) / weight.sum(1).clamp(min=1.0))
        return codes


def make(config: BipedConfig | None = None) -> NetworkModel:
    """Create the model."""
    return NetworkModel(config=config or BipedConfig(), network=Biped)
