"""CARLA's episode settings and their encoding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jaywalk.server.encoding.codec import WireError, array, boolean, integer, number, optional


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeSettings:
    """CARLA's EpisodeSettings, with its defaults."""

    synchronous_mode: bool = False
    no_rendering_mode: bool = False
    fixed_delta_seconds: float | None = None
    substepping: bool = True
    max_substep_delta_time: float = 0.01
    max_substeps: int = 10
    max_culling_distance: float = 0.0
    deterministic_ragdolls: bool = True
    tile_stream_distance: float = 3000.0
    actor_active_distance: float = 2000.0
    spectator_as_ego: bool = True

    @classmethod
    def decode(cls, value: Any) -> EpisodeSettings:
        """Decode the 11 fields; as in CARLA, a step of zero means a variable one."""
        fields = array(value, 11)
        delta = optional(fields[2])
        delta_s = number(delta) if delta is not None else 0.0
        if not 0.0 <= delta_s <= 10.0:
            raise WireError(f"fixed_delta_seconds {delta_s:g} s is not within 0..10 s")
        if not 1 <= integer(fields[5]) <= 1000 or number(fields[4]) <= 0.0:
            raise WireError("substepping needs a positive step and 1..1000 substeps")
        return cls(
            synchronous_mode=boolean(fields[0]),
            no_rendering_mode=boolean(fields[1]),
            fixed_delta_seconds=delta_s or None,
            substepping=boolean(fields[3]),
            max_substep_delta_time=number(fields[4]),
            max_substeps=integer(fields[5]),
            max_culling_distance=number(fields[6]),
            deterministic_ragdolls=boolean(fields[7]),
            tile_stream_distance=number(fields[8]),
            actor_active_distance=number(fields[9]),
            spectator_as_ego=boolean(fields[10]),
        )

    def encode(self) -> list[Any]:
        """Encode the 11 fields."""
        delta = self.fixed_delta_seconds
        return [
            self.synchronous_mode,
            self.no_rendering_mode,
            [False] if delta is None else [True, delta],
            self.substepping,
            self.max_substep_delta_time,
            self.max_substeps,
            self.max_culling_distance,
            self.deterministic_ragdolls,
            self.tile_stream_distance,
            self.actor_active_distance,
            self.spectator_as_ego,
        ]

    def substeps(self, delta_s: float) -> int:
        """Return the number of physics steps in a tick of ``delta_s``."""
        if not self.substepping:
            return 1
        needed = int(-(-delta_s // self.max_substep_delta_time))
        return max(1, min(self.max_substeps, needed))
