"""The gymnasium environment on a real server: its contract, its seeds, and the runner's drive."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from short_plans import short_plan

from jaywalk import record
from jaywalk.runner._episode import run_episode
from jaywalk.runner.plan import AgentSpec, EpisodePlan
from jaywalk.runner.session import SimulatorSession

gymnasium = pytest.importorskip("gymnasium", reason="the extra 'gym' is not installed")

_ROUTE = (
    '<routes><route id="1" town="Harbour"><waypoints>{points}</waypoints><scenarios/></route>'
    "</routes>"
)
# The same pedals for a learner and for a driver, by tick.
_DRIVER = """
import carla
from jaywalk.agents.base import Decision, Driver

class Played(Driver):
    name = "played"
    def setup(self, briefing):
        self.tick = 0
    def decide(self, moment):
        throttle, brake, steer = PEDALS[self.tick % 4]
        self.tick += 1
        return Decision(control=carla.VehicleControl(throttle=throttle, brake=brake, steer=steer))
"""
_PEDALS = [(1.0, 0.0, 0.0), (0.75, 0.0, 0.0), (0.0, 0.25, 0.0), (1.0, 0.0, 0.0)]


@pytest.fixture(scope="module")
def routes(world: SimulatorSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    points = [one.position_m for one in short_plan(world, "").item.route.keypoints]
    text = "".join(f'<position x="{x}" y="{y}" z="{z}"/>' for x, y, z in points)
    path = tmp_path_factory.mktemp("routes") / "short.xml"
    path.write_text(_ROUTE.format(points=text))
    return str(path)


def _make(world: SimulatorSession, **options: Any) -> Any:
    address = f"{world.host}:{world.port}"
    return gymnasium.make("jaywalk.gym:jaywalk/Drive-v1", server=address, **options)


@pytest.fixture(scope="module")
def env(
    world: SimulatorSession, routes: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """One for most tests, for planning a town anew takes seconds."""
    one = _make(
        world,
        suite=routes,
        vehicles=4,
        people=2,
        render_mode="rgb_array",
        record=tmp_path_factory.mktemp("records"),
    )
    yield one
    one.close()


def _play(env: Any, steps: int, seed: int) -> list[np.ndarray[Any, Any]]:
    env.action_space.seed(seed)
    rows = [env.reset(seed=seed)[0]]
    for _ in range(steps):
        seen, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        rows.append(np.append(seen, reward))
        assert not terminated
        assert not truncated
    return rows


def test_gymnasiums_own_checker_finds_nothing(env: Any) -> None:
    from gymnasium.utils.env_checker import check_env

    check_env(env.unwrapped, skip_render_check=True)


def test_the_same_seed_is_the_same_trajectory(env: Any) -> None:
    first, again, other = (np.concatenate(_play(env, 30, seed)) for seed in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    # An episode that is given up is recorded, too, and the second beside the first.
    folders = sorted(env.unwrapped.options.record.glob("episodes/*"))
    kept = [record.open(one).episode for one in folders if one.name.endswith("-2")]
    assert "stopped by the learner" in {one.end_reason for one in kept}


def test_a_learner_drives_the_runners_episode(
    world: SimulatorSession, env: Any, tmp_path: Path
) -> None:
    env.reset(seed=1, options={"episode_seed": 5})
    over, step, info = False, 0, {}
    while not over:
        action = np.array(_PEDALS[step % 4], np.float32)
        _, reward, terminated, truncated, info = env.step(action)
        over, step = terminated or truncated, step + 1
        assert reward == pytest.approx(sum(info["reward_terms"].values()))
    assert (terminated, truncated) == (True, False)
    assert info["end_reason"] == "route completed"
    assert reward > 40.0

    agent = tmp_path / "played.py"
    agent.write_text(_DRIVER.replace("PEDALS", str(_PEDALS)))
    suite = env.unwrapped.options.suite
    plan = EpisodePlan(
        suite=suite.name, variant="", item=suite.routes[0], seed=5, agent=AgentSpec(name=str(agent))
    )
    outcome = run_episode(plan, world, tmp_path)
    theirs, ours = record.open(Path(info["record"])), record.open(outcome.folder)
    assert theirs.states.collect().equals(ours.states.collect())
    assert theirs.ego.collect().equals(ours.ego.collect())
    assert theirs.episode.agent.name == "gym"


def test_pictures_and_sensors_fit_their_spaces(world: SimulatorSession, routes: str) -> None:
    lidar = {"type": "sensor.lidar.ray_cast", "id": "top", "x": 0.0, "y": 0.0, "z": 2.0}
    speed = {"type": "sensor.speedometer", "id": "speed"}
    env = _make(
        world,
        suite=routes,
        observation="sensors",
        sensors=[lidar, speed],
        ticks_per_step=4,
        render_mode="rgb_array",
        bev_px=96,
        bev_pixel_m=0.4,
    )
    env.reset(seed=1)
    bev = env.unwrapped.draw_bev()
    assert bev.shape == (8, 96, 96)
    road, route = bev[0] > 0, bev[3] > 0
    assert road[70, 48]  # the ego stands on the road ...
    assert route[40:70, 48].all()  # ... and the route goes on before it
    assert road[route].mean() > 0.95
    assert env.render().shape == (96, 96, 3)
    for _ in range(8):
        seen, *_, info = env.step(np.array([1.0, 0.0, 0.0], np.float32))
    assert info["tick"] == 32
    assert env.observation_space.contains(seen)
    assert np.count_nonzero(seen["top"][:, 0]) > 1000
    assert seen["speed"][0] == pytest.approx(seen["ego"][0] * 30.0, abs=0.05)
    env.close()
