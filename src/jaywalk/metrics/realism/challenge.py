"""The challenge configurations as data: ranges, bins, weights and buckets of every year."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from jaywalk.core.errors import UsageError

KINEMATIC, INTERACTIVE, MAP_BASED = "kinematic", "interactive", "map_based"

FEATURES = (
    "linear_speed",
    "linear_acceleration",
    "angular_speed",
    "angular_acceleration",
    "distance_to_nearest_object",
    "collision_indication",
    "time_to_collision",
    "distance_to_road_edge",
    "offroad_indication",
    "traffic_light_violation",
)
"""The ten likelihoods, in the order of the official results."""

BUCKET_OF = MappingProxyType(
    dict.fromkeys(FEATURES[:4], KINEMATIC)
    | dict.fromkeys(FEATURES[4:7], INTERACTIVE)
    | dict.fromkeys(FEATURES[7:], MAP_BASED)
)
EVENTS = ("collision_indication", "offroad_indication", "traffic_light_violation")


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """A histogram of equal bins; values outside are clipped into the end bins."""

    low: float
    high: float
    bins: int
    pseudocount: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengeConfig:
    """How a year scores: histogram per series feature, weight per feature."""

    name: str
    histograms: Mapping[str, Histogram]
    weights: Mapping[str, float]
    bernoulli_pseudocount: float = 0.001
    per_agent: bool = False
    """PufferDrive's variant: see ``pufferdrive.py``."""


def _histograms(rows: dict[str, tuple[float, float, int]]) -> Mapping[str, Histogram]:
    table = {name: Histogram(low=a, high=b, bins=n) for name, (a, b, n) in rows.items()}
    return MappingProxyType(table)


def _weights(*values: float) -> Mapping[str, float]:
    return MappingProxyType(dict(zip(FEATURES, values, strict=True)))


_SHARED = {
    "distance_to_nearest_object": (-5.0, 40.0, 10),
    "time_to_collision": (0.0, 5.0, 10),
    "distance_to_road_edge": (-20.0, 40.0, 10),
}
_H2023 = _histograms(
    {
        "linear_speed": (0.0, 35.0, 10),
        "linear_acceleration": (-15.0, 15.0, 10),
        "angular_speed": (-31.5, 31.5, 10),
        "angular_acceleration": (-31.5, 31.5, 10),
        **_SHARED,
    }
)
_H2024 = _histograms(
    {
        "linear_speed": (0.0, 25.0, 10),
        "linear_acceleration": (-12.0, 12.0, 11),
        "angular_speed": (-0.628, 0.628, 11),
        "angular_acceleration": (-3.14, 3.14, 11),
        **_SHARED,
    }
)
_W2025 = _weights(0.05, 0.05, 0.05, 0.05, 0.1, 0.25, 0.1, 0.05, 0.25, 0.05)
_WITHOUT_LIGHTS = {name: w for name, w in _W2025.items() if name != "traffic_light_violation"}

CONFIGS: Mapping[str, ChallengeConfig] = MappingProxyType(
    {
        config.name: config
        for config in (
            ChallengeConfig(
                name="2023",
                histograms=_H2023,
                weights=_weights(0.09, 0.09, 0.09, 0.09, 0.09, 0.18, 0.09, 0.09, 0.18, 0.0),
            ),
            ChallengeConfig(
                name="2024",
                histograms=_H2024,
                weights=_weights(0.05, 0.05, 0.05, 0.05, 0.1, 0.25, 0.1, 0.1, 0.25, 0.0),
            ),
            ChallengeConfig(name="2025", histograms=_H2024, weights=_W2025),
            ChallengeConfig(
                name="pufferdrive",
                histograms=_H2024,
                # No traffic lights: the remaining weights are divided by their sum, 0.95.
                weights=MappingProxyType(
                    {name: w / sum(_WITHOUT_LIGHTS.values()) for name, w in _WITHOUT_LIGHTS.items()}
                ),
                per_agent=True,
            ),
        )
    }
)


def challenge_config(name: str) -> ChallengeConfig:
    """Look up a configuration by name."""
    if name not in CONFIGS:
        raise UsageError(f"Unknown realism config '{name}'; expected one of {', '.join(CONFIGS)}.")
    return CONFIGS[name]
