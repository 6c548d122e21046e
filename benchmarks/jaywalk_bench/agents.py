"""``jaywalk bench agents``: what one decision of each driver costs, among 30 cars and 30 people."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.events import EgoMoment
from jaywalk.agents.base import Briefing
from jaywalk.agents.base import Moment as DriverMoment
from jaywalk.agents.catalogue import AGENTS
from jaywalk.agents.load import make_driver
from jaywalk.core.errors import UsageError
from jaywalk.runner.ending import RouteProgress
from jaywalk.runner.plan import AgentSpec, EpisodePlan
from jaywalk.runner.session import STEP_S, SimulatorSession
from jaywalk.runner.spawning import spawn_actors
from jaywalk_bench.calibration import calibration_ms
from jaywalk_bench.run import minute_route

AIMS_MS: Final = {"expert": 2.5}
_VEHICLES: Final = 30
_PEOPLE: Final = 30
_WARM_UP_TICKS: Final = 40
_SEED: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCost:
    """CPU time of one driver's decisions; a warm-up is left out."""

    agent: str
    vehicles: int
    people: int
    decisions: int
    ms_per_decision: float  # mean
    median_ms: float
    p99_ms: float
    setup_ms: float

    def as_dict(self) -> dict[str, Any]:
        """For JSON, with the aim where there is one."""
        aim = AIMS_MS.get(self.agent)
        met = None if aim is None else self.ms_per_decision <= aim
        return {**asdict(self), "aim_ms": aim, "met": met}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentsBenchmark:
    """All drivers, on the same route with the same others about."""

    calibration_ms: float
    town: str
    agents: tuple[AgentCost, ...]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "calibration_ms": self.calibration_ms,
            "town": self.town,
            "agents": [agent.as_dict() for agent in self.agents],
        }


def bench_agents(
    names: Sequence[str] = (),
    *,
    town: str = "Harbour",
    ticks: int = 400,
    say: Callable[[str], None] = lambda _: None,
) -> AgentsBenchmark:
    """Let each driver drive among the same others and time its decisions.

    Args:
        names: Drivers; none: all that have a name.
        town: Where.
        ticks: Decisions to time.
        say: Told what comes next, for people who wait.
    """
    chosen = list(names) or [entry.name for entry in AGENTS]
    if ticks < 1:
        raise UsageError(f"{ticks} decisions cannot be timed, expected at least 1.")
    for name in chosen:
        AGENTS.get(name)
    say("pure-Python calibration loop")
    calibrated_ms = calibration_ms()
    item = replace(minute_route(town), vehicles=_VEHICLES, people=_PEOPLE)
    results = []
    with SimulatorSession.embedded(town) as world:
        for name in chosen:
            say(f"{name}: {ticks} decisions")
            plan = EpisodePlan(
                suite="bench", variant="", item=item, seed=_SEED, agent=AgentSpec(name=name)
            )
            results.append(_drive(plan, world, ticks))
    return AgentsBenchmark(calibration_ms=calibrated_ms, town=town, agents=tuple(results))


def _drive(plan: EpisodePlan, server: SimulatorSession, ticks: int) -> AgentCost:
    world = server.fresh(plan.item.route.town)
    town_map = world.get_map()
    key = hashlib.sha256(town_map.to_opendrive().encode()).hexdigest()
    points = [keypoint.position_m for keypoint in plan.item.route.keypoints]
    route = server.planner(key, town_map).plan(points)
    actors = spawn_actors(plan, server, world, route, key)
    driver = make_driver(plan.agent.name)
    began = time.thread_time()
    driver.setup(
        Briefing(
            client=server.client,
            world=world,
            map=town_map,
            ego=actors.ego,
            route=route,
            seed=_SEED,
            delta_s=STEP_S,
        )
    )
    setup_s = time.thread_time() - began
    spent_s: list[float] = []
    progress, snapshot = RouteProgress(route), world.get_snapshot()
    for tick in range(_WARM_UP_TICKS + ticks):
        ego = snapshot.find(actors.ego.id)
        place = ego.get_transform().location
        progress.follow(place.x, place.y, place.z)
        if progress.is_complete:
            break
        moment = EgoMoment(
            elapsed_s=tick * STEP_S,
            snapshot=snapshot,
            ego_id=actors.ego.id,
            ego_along_m=progress.along_m,
            ego_speed_mps=ego.get_velocity().length(),
        )
        actors.advance(moment)
        asked = DriverMoment(frame=snapshot.frame, elapsed_s=tick * STEP_S, snapshot=snapshot)
        began = time.thread_time()
        decision = driver.decide(asked)
        spent_s.append(time.thread_time() - began)
        actors.ego.apply_control(decision.control)
        world.tick()
        snapshot = world.get_snapshot()
    driver.close()
    about = world.get_actors()
    return _summed(
        plan.agent.name,
        np.array(spent_s[_WARM_UP_TICKS:]) * 1e3,
        setup_s,
        (len(about.filter("vehicle.*")) - 1, len(about.filter("walker.*"))),
    )


def _summed(
    agent: str, spent_ms: NDArray[np.float64], setup_s: float, about: tuple[int, int]
) -> AgentCost:
    return AgentCost(
        agent=agent,
        vehicles=about[0],
        people=about[1],
        decisions=len(spent_ms),
        ms_per_decision=float(np.mean(spent_ms)),
        median_ms=float(np.median(spent_ms)),
        p99_ms=float(np.percentile(spent_ms, 99)),
        setup_ms=1e3 * setup_s,
    )
