"""Challenge configurations as data: ranges, bins, weights and buckets of every year."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
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


class Mean(StrEnum):
    """Rule that averages the log-likelihoods of a scene into one likelihood."""

    STEPS = "steps"
    """One geometric mean over all counted steps of all agents."""
    AGENTS = "agents"
    """A geometric mean per agent, then the arithmetic mean over agents."""
    LOG_AGENTS = "log_agents"
    """A geometric mean per agent, then the geometric mean over agents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengeConfig:
    """The rules of one score: histogram per series feature, weight per feature, and variants.

    Attributes:
        pooled: Features whose distribution pools all agents of a scene.
        mean: Rule that averages over agents and steps.
        ttc_vehicles_only: Whether the time to collision counts for vehicles only.
        is_flat: PufferDrive's features: no heights, no history, NaN dropped, minADE per agent,
            and only the tracks to predict are scored, not the ego.
        is_generation: Whole scenes are generated, history included, and every agent is scored.
        plain_buckets: Whether buckets are unweighted means.
        skips_undefined: Whether a scene in which a feature is undefined is left out of the means.
    """

    name: str
    histograms: Mapping[str, Histogram]
    weights: Mapping[str, float]
    bernoulli_pseudocount: float = 0.001
    pooled: frozenset[str] = frozenset()
    mean: Mean = Mean.STEPS
    ttc_vehicles_only: bool = True
    is_flat: bool = False
    is_generation: bool = False
    plain_buckets: bool = False
    skips_undefined: bool = False


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
_LIGHTS = "traffic_light_violation"
_WITHOUT_LIGHTS = MappingProxyType({name: w for name, w in _W2025.items() if name != _LIGHTS})

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
                name="2025-scenario-gen",
                histograms=_H2024,
                weights=_W2025,
                # The official file sets aggregate_objects for every feature but this one.
                pooled=frozenset(FEATURES) - {_LIGHTS},
                is_generation=True,
            ),
            ChallengeConfig(
                name="pufferdrive-2.0",
                histograms=_H2024,
                # No traffic lights: the remaining weights are divided by their sum, 0.95.
                weights=MappingProxyType(
                    {name: w / sum(_WITHOUT_LIGHTS.values()) for name, w in _WITHOUT_LIGHTS.items()}
                ),
                mean=Mean.AGENTS,
                ttc_vehicles_only=False,
                is_flat=True,
            ),
            ChallengeConfig(
                name="pufferdrive-2026",
                histograms=_H2024,
                weights=_WITHOUT_LIGHTS,  # They add up to 0.95: a perfect score is 0.95.
                mean=Mean.LOG_AGENTS,
                is_flat=True,
                plain_buckets=True,
                skips_undefined=True,
            ),
        )
    }
)

ALIASES: Mapping[str, str] = MappingProxyType({"pufferdrive": "pufferdrive-2.0"})
"""Former names."""


def challenge_config(name: str) -> ChallengeConfig:
    """Look up a configuration by name; former names still work."""
    name = ALIASES.get(name, name)
    if name not in CONFIGS:
        raise UsageError(f"Unknown realism config '{name}'; expected one of {', '.join(CONFIGS)}.")
    return CONFIGS[name]
