"""Train in the gym: the cross-entropy method finds three gains of a driver, with numpy alone.

python examples/tutorials/train_in_gym.py --out /tmp/gym
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import gymnasium
import numpy as np

import jaywalk.gym  # noqa: F401  registers jaywalk/Drive-v1

ROUTE = "12-ridge-open-hills"
SPEED, LIMIT = 0, 9  # places in the observation, see docs/reference/gym.md
AIM = slice(17, 19)  # the route 10 m ahead: ahead, right


def act(gains: np.ndarray, state: np.ndarray) -> np.ndarray:
    """Return pedal and steer: gains are steering, pedal and share of the speed limit."""
    ahead, right = state[AIM]
    steer = gains[0] * np.arctan2(right, max(ahead, 0.01))
    pedal = gains[1] * (gains[2] * state[LIMIT] - state[SPEED]) * 30.0
    return np.clip([pedal, steer], -1.0, 1.0).astype(np.float32)


def episode_return(env: gymnasium.Env, gains: np.ndarray) -> float:
    """Drive the beginning of one route and return the sum of rewards."""
    state, _ = env.reset(options={"route": ROUTE, "episode_seed": 1})
    total, ended = 0.0, False
    while not ended:
        state, reward, terminated, truncated, _ = env.step(act(gains, state))
        total, ended = total + reward, terminated or truncated
    return total


def main() -> None:
    """Train, print the mean return of every generation, save gains and returns."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, default=Path("tutorial-gym"))
    options.add_argument("--generations", type=int, default=4)
    options.add_argument("--drivers", type=int, default=8, help="drivers of a generation")
    options.add_argument("--steps", type=int, default=60, help="steps of 0.2 s of an episode")
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    env = gymnasium.make(
        "jaywalk/Drive-v1",
        routes=ROUTE,
        action="joined",
        ticks_per_step=4,
        max_episode_steps=given.steps,
    )
    random = np.random.default_rng(1)
    mean, spread, means = np.zeros(3), np.ones(3), []
    for generation in range(given.generations):
        drivers = mean + spread * random.normal(size=(given.drivers, 3))
        returns = np.array([episode_return(env, gains) for gains in drivers])
        best = drivers[np.argsort(returns)[-max(2, given.drivers // 4) :]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.05
        means.append(float(returns.mean()))
        print(f"generation {generation}: mean {means[-1]:.1f}, best {returns.max():.1f}")  # noqa: T201
    learnt = episode_return(env, mean)
    env.close()
    print(f"learnt driver: {learnt:.1f} with gains {np.round(mean, 2).tolist()}")  # noqa: T201
    result = {"gains": mean.tolist(), "mean_returns": means, "learnt_return": learnt}
    (given.out / "result.json").write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
