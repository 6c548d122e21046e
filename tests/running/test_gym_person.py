"""The environment in which the learner is a person."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from short_plans import short_plan, write_driver

from jaywalk.runner.session import SimulatorSession

gymnasium = pytest.importorskip("gymnasium", reason="the extra 'gym' is not installed")

_ROUTE = (
    '<routes><route id="1" town="Harbour" posed="6"><waypoints>{points}</waypoints><scenarios/>'
    "</route></routes>"
)
STOP, ON = np.zeros(3, np.float32), np.array([0.35, 0.0, 0.0], np.float32)


@pytest.fixture(scope="module")
def env(world: SimulatorSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("routes")
    keypoints = short_plan(world, "", length_m=150).item.route.keypoints
    places = [point.position_m for point in keypoints]
    text = "".join(f'<position x="{x}" y="{y}" z="{z}"/>' for x, y, z in places)
    (folder / "short.xml").write_text(_ROUTE.format(points=text))
    made = gymnasium.make(
        "jaywalk.gym:jaywalk/Person-v1",
        suite=str(folder / "short.xml"),
        agent=write_driver(folder),
        episode_s=40.0,
        server=f"{world.host}:{world.port}",
    )
    yield made
    made.close()


def play(env: Any, action: Any, steps: int, seed: int = 1) -> tuple[Any, list[Any], dict[str, Any]]:
    rows, rewards = [env.reset(seed=seed)[0]], []
    info: dict[str, Any] = {}
    for _ in range(steps):
        seen, reward, terminated, truncated, info = env.step(action)
        rows.append(seen)
        rewards.append(reward)
        assert reward == pytest.approx(sum(info["reward_terms"].values()))
        if terminated or truncated:
            break
    return np.array(rows), rewards, info


def test_gymnasiums_own_checker_finds_nothing(env: Any) -> None:
    from gymnasium.utils.env_checker import check_env

    check_env(env.unwrapped, skip_render_check=True)


def test_the_same_seed_and_actions_are_the_same_episode(env: Any) -> None:
    first, rewards, info = play(env, ON, 15)
    again, same, _ = play(env, ON, 15)
    assert np.array_equal(first, again)
    assert rewards == same
    assert info["since_s"] == pytest.approx(0.1 * len(rewards))


def test_the_person_goes_and_stops_as_the_learner_says(env: Any) -> None:
    env.reset(seed=1)
    start = env.unwrapped._episode._place()
    *_, info = [env.step(ON) for _ in range(25)][-1]
    walked = float(np.hypot(*np.subtract(info["position_m"], start)))
    assert 1.5 < walked < 4.5  # 1.4 m/s for 2.5 s, with the time of the first step
    for _ in range(15):
        *_, info = env.step(STOP)
    stood = info["position_m"]
    for _ in range(20):
        *_, info = env.step(STOP)
    assert np.hypot(*np.subtract(info["position_m"], stood)) < 0.25


def test_somebody_who_walks_on_arrives_or_is_hit(env: Any) -> None:
    _, rewards, info = play(env, ON, 400)
    assert info["end_reason"] in ("goal reached", "contact")
    assert info["is_success"] == (info["end_reason"] == "goal reached")
    assert rewards[-1] > 5.0 if info["is_success"] else rewards[-1] < -15.0
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(ON)


def test_wrong_options_are_named(tmp_path: Path) -> None:
    from jaywalk.core.errors import UsageError
    from jaywalk.gym._person_env import PersonEnv

    for options, words in (
        ({"suite": "smoke"}, "Nobody is posed in 'smoke'"),
        ({"episode_s": 0.0}, "episode_s is 0.0"),
        ({"reward": {"speed": 1.0}}, "reward names 'speed'"),
        ({"agent": "absent.py"}, "there is no such file"),
        ({"render_mode": "rgb_array"}, "draws nothing"),
    ):
        with pytest.raises(UsageError, match=words):
            PersonEnv(**options)
