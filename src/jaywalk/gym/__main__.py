"""Drive episodes with an example policy: ``python -m jaywalk.gym --policy cruise``.

One policy draws random actions, the other reads the observation ``state``.
"""

from __future__ import annotations

import json
import time
from typing import Annotated, Any, Final, Protocol

import gymnasium  # type: ignore[import-not-found,unused-ignore]
import numpy as np
import typer
from numpy.typing import NDArray

from jaywalk.core.errors import UsageError
from jaywalk.gym import ENV_ID
from jaywalk.gym._views import (
    EGO_FIELDS,
    EGO_SIZE,
    PERSON_FIELDS,
    RANGE_M,
    ROUTE_AHEAD_M,
    SPEED_MPS,
    THING_FIELDS,
    THINGS,
)

_SPEED: Final = EGO_FIELDS.index("speed")
_LIMIT: Final = EGO_FIELDS.index("speed_limit")
_RED: Final = EGO_FIELDS.index("red_light")
_FRONT_M: Final = 3.5  # from the ego's origin to its bumper, with a little room
_CORRIDOR_M: Final = 1.9  # half width
_BRAKING_MPS2: Final = 3.0
_LIMIT_SHARE: Final = 0.8


class Policy(Protocol):
    """Map from an observation to an action."""

    def act(self, observation: Any) -> NDArray[np.float32]:
        """Return the action of the next step."""


class RandomPolicy:
    """Random actions of the space."""

    def __init__(self, action_space: Any, seed: int = 0) -> None:
        self._space = action_space
        self._space.seed(seed)

    def act(self, observation: Any) -> NDArray[np.float32]:
        """Draw an action."""
        return np.asarray(self._space.sample(), np.float32)


class CruisePolicy:
    """Steers to a point of the route ahead, stops for obstacles and for red lights.

    For the observation ``state`` and the action ``pedals``.
    """

    def act(self, observation: Any) -> NDArray[np.float32]:
        """Return throttle, brake and steer."""
        state = np.asarray(observation, np.float64)
        speed = state[_SPEED] * SPEED_MPS
        route = state[EGO_SIZE : EGO_SIZE + 2 * len(ROUTE_AHEAD_M)].reshape(-1, 2) * RANGE_M
        ahead_m = np.clip(3.0 + 0.6 * speed, 5.0, 20.0)
        aim = route[int(np.searchsorted(ROUTE_AHEAD_M, ahead_m))]
        steer = np.clip(1.2 * np.arctan2(aim[1], max(aim[0], 0.5)), -1.0, 1.0)
        room = min(self._room_m(state, route), state[_RED] * RANGE_M - 1.0)
        # The speed from which the ego can stop in the room left, up to the limit.
        wanted = min(
            _LIMIT_SHARE * state[_LIMIT] * SPEED_MPS,
            np.sqrt(2.0 * _BRAKING_MPS2 * max(room, 0.0)),
        )
        push = wanted - speed
        throttle, brake = np.clip(0.35 * push, 0.0, 0.75), np.clip(-0.3 * push - 0.1, 0.0, 1.0)
        if wanted < 0.3:
            throttle, brake = 0.0, 1.0
        return np.array([throttle, brake, steer], np.float32)

    def _room_m(self, state: NDArray[np.float64], route: NDArray[np.float64]) -> float:
        """Return the room to the first actor near the route ahead."""
        start = EGO_SIZE + 2 * len(ROUTE_AHEAD_M)
        middle = start + THINGS * len(THING_FIELDS)
        things = state[start:middle].reshape(-1, len(THING_FIELDS))
        people = state[middle:].reshape(-1, len(PERSON_FIELDS))
        places = np.concatenate([things[things[:, 8] > 0.0, :2], people[people[:, 4] > 0.0, :2]])
        places = places * RANGE_M
        line = np.concatenate([[[0.0, 0.0]], route])
        beside = np.abs(places[:, 1] - np.interp(places[:, 0], line[:, 0], line[:, 1]))
        blocking = places[(places[:, 0] > 1.0) & (beside < _CORRIDOR_M), 0]
        return float(blocking.min()) - _FRONT_M - 4.0 if len(blocking) else RANGE_M


def drive_episode(env: Any, policy: Policy, seed: int) -> dict[str, Any]:
    """Drive one episode; return its result and the steps per second."""
    observation, info = env.reset(seed=seed)
    earned, steps, over, collisions = 0.0, 0, False, 0
    began_s = time.perf_counter()
    while not over:
        observation, reward, terminated, truncated, info = env.step(policy.act(observation))
        earned, steps, over = earned + float(reward), steps + 1, terminated or truncated
        collisions += sum(event["kind"] == "collision" for event in info["events"])
    lasted_s = time.perf_counter() - began_s
    return {
        "route": info["route"],
        "end_reason": info["end_reason"] or "step limit",
        "steps": steps,
        "return": round(earned, 2),
        "route_share": round(info["route_share"], 3),
        "collisions": collisions,
        "steps_per_s": round(steps / lasted_s, 1),
        "record": info["record"],
    }


def main(
    policy: Annotated[str, typer.Option(help="random or cruise")] = "cruise",
    episodes: Annotated[int, typer.Option(help="how many")] = 1,
    route: Annotated[str, typer.Option(help="id of a smoke route; default: any")] = "",
    observation: Annotated[str, typer.Option(help="state, bev or sensors")] = "state",
    people: Annotated[int, typer.Option(help="people about")] = 10,
    limit: Annotated[int, typer.Option(help="most steps of an episode")] = 2000,
    seed: Annotated[int, typer.Option(help="of the first episode")] = 1,
) -> None:
    """Drive episodes and print one JSON line for each."""
    env = gymnasium.make(
        ENV_ID, routes=route, observation=observation, people=people, max_episode_steps=limit
    )
    if policy == "cruise" and observation != "state":
        raise UsageError(f"policy cruise reads the observation state, not '{observation}'.")
    driver: Policy = CruisePolicy() if policy == "cruise" else RandomPolicy(env.action_space, seed)
    try:
        for number in range(episodes):
            typer.echo(json.dumps(drive_episode(env, driver, seed + number)))
    finally:
        env.close()


if __name__ == "__main__":
    typer.run(main)
