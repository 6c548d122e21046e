"""What a driver remembers about others: how long each has stood, and whether it ever moved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.agents.perception import Seen

_MOVES_MPS: Final = 0.3


@dataclass(slots=True)
class Memory:
    """Call :meth:`update` once a tick."""

    delta_s: float
    _stood: dict[int, float] = field(default_factory=dict, init=False)
    _moved: set[int] = field(default_factory=set, init=False)

    def update(self, seen: Seen) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """How long each has stood (seconds), and whether it was ever seen to move."""
        ids, still = seen.actor_id.tolist(), (seen.speed_mps < _MOVES_MPS).tolist()
        before = self._stood
        self._stood = {
            actor: before.get(actor, 0.0) + self.delta_s if stands else 0.0
            for actor, stands in zip(ids, still, strict=True)
        }
        self._moved.update(actor for actor, stands in zip(ids, still, strict=True) if not stands)
        stood = np.array([self._stood[actor] for actor in ids])
        return stood, np.array([actor in self._moved for actor in ids], dtype=np.bool_)
