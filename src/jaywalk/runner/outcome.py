"""What an episode comes to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeOutcome:
    """An episode that has been recorded; an agent's failure is one, too."""

    episode_id: str
    end_reason: str
    failure: str  # what the agent raised, with its traceback
    record_hash: str
    simulated_s: float
    wall_s: float
    folder: Path
