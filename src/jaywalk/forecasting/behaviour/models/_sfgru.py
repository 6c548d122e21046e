"""SFGRU: stacked recurrent levels, each with one more input (Rasouli et al. 2019).

As published: one GRU per level; each level gets the output of the level below and one more input at
every frame, complex inputs first and dynamics last; the last state gives the answer. Different
here: no pictures and poses, so the levels are surroundings, box and car; boxes also in absolute
coordinates; the size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jaywalk.forecasting.behaviour.models._network import NetworkConfig, NetworkModel
from jaywalk.forecasting.torch_needed import torch

LEVELS = ("scene", "box", "ego")


@dataclass(frozen=True, slots=True, kw_only=True)
class SfgruConfig(NetworkConfig):
    """Settings; the published state has 256 values."""

    state: int = 64


class Sfgru(torch.nn.Module):  # type: ignore[misc]
    """The network."""

    def __init__(self, config: SfgruConfig, heads: dict[str, int]) -> None:
        super().__init__()
        below = [0] + [config.state] * (len(LEVELS) - 1)
        self.levels = torch.nn.ModuleList(
            torch.nn.GRU(config.widths[name] + size, config.state, batch_first=True)
            for name, size in zip(LEVELS, below, strict=True)
        )
        self.drop = torch.nn.Dropout(config.dropout)
        self.heads = torch.nn.ModuleDict(
            {task: torch.nn.Linear(config.state, n) for task, n in heads.items()}
        )

    def forward(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return logits by task."""
        states = None
        for name, level in zip(LEVELS, self.levels, strict=True):
            seen = given[name] if states is None else torch.cat([states, given[name]], dim=-1)
            states, _ = level(seen)
        assert states is not None
        last = self.drop(states[:, -1])
        return {task: head(last) for task, head in self.heads.items()}


def make(config: SfgruConfig | None = None) -> NetworkModel:
    """Create the model."""
    return NetworkModel(config=config or SfgruConfig(), network=Sfgru)
