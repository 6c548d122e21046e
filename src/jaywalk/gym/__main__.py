"""Drives episodes with one of the example policies: ``python -m jaywalk.gym --policy cruise``."""

from __future__ import annotations

import json
import time
from typing import Annotated, Any

import gymnasium  # type: ignore[import-not-found,unused-ignore]
import typer

from jaywalk.core.errors import UsageError
from jaywalk.gym import ENV_ID
from jaywalk.gym.policies import CruisePolicy, Policy, RandomPolicy


def drive_episode(env: Any, policy: Policy, seed: int) -> dict[str, Any]:
    """One episode: what came of it, and how many steps a second."""
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
