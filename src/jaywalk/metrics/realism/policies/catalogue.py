"""Policies that need no server, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from jaywalk.core.errors import UsageError
from jaywalk.metrics.realism.baselines import constant_velocity, log_replay, random_driving
from jaywalk.metrics.realism.policies.lane_follow import lane_follow
from jaywalk.metrics.realism.scene import LoggedScene, Rollouts

Policy = Callable[[LoggedScene, int, int], Rollouts]
"""Scene, number of rollouts, seed."""

POLICIES: Mapping[str, tuple[Policy, str]] = MappingProxyType(
    {
        "log-replay": (lambda scene, n, seed: log_replay(scene, n), "the log itself, n times"),
        "constant-velocity": (
            lambda scene, n, seed: constant_velocity(scene, n),
            "everybody goes on as in the last step",
        ),
        "random": (random_driving, "a new acceleration and yaw rate at every step"),
        "lanes": (lane_follow, "vehicles follow lanes and each other, people walk on"),
    }
)


def roll_out_scene(scene: LoggedScene, policy: str, n: int, seed: int) -> Rollouts:
    """Roll a scene out with a policy of this catalogue."""
    if policy not in POLICIES:
        raise UsageError(f"Unknown policy '{policy}'; expected one of {', '.join(POLICIES)}.")
    return POLICIES[policy][0](scene, n, seed)
