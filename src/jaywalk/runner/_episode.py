"""One episode: from a plan and a world to a record.

An episode runs until the most lenient protocol ends it; each protocol cuts the record on scoring.
"""

from __future__ import annotations

import shutil
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jaywalk.agents.adapters.sensor_rig import DriverSensors, SensorError
from jaywalk.agents.base import Briefing, Decision, Driver
from jaywalk.agents.base import Moment as DriverMoment
from jaywalk.agents.load import make_driver, seed_name
from jaywalk.core.errors import InfrastructureError, PeopleModelError
from jaywalk.core.seeds import derive_seed
from jaywalk.record.writer import record_hash
from jaywalk.runner.ending import AGENT_FAILED, ENDED_BY_AGENT, NOT_SET_UP, SENSORS_INVALID
from jaywalk.runner.live_episode import Heartbeat, LiveEpisode, silent
from jaywalk.runner.plan import EpisodeOutcome, EpisodePlan
from jaywalk.runner.session import STEP_S, SimulatorSession
from jaywalk.runner.watchdog import DEFAULT_S, AgentTimeout, agent_time_limit_s, time_limit


def run_episode(
    plan: EpisodePlan,
    session: SimulatorSession,
    run_folder: Path,
    heartbeat: Heartbeat = silent,
    watchdog_s: float = DEFAULT_S,
) -> EpisodeOutcome:
    """Run one episode and write its record to ``run_folder/episodes/<episode id>``.

    Args:
        plan: Episode to run.
        session: Session to run it in.
        run_folder: Folder of the run.
        heartbeat: Called from time to time with the progress of the episode.
        watchdog_s: The process is ended after this many seconds without a heartbeat; an agent that
            takes nearly as long for one answer has failed.

    Raises:
        InfrastructureError: The server failed; a retry with another one may succeed.
        JaywalkError: The plan itself is wrong (town, route, scenario); a retry does not help.
    """
    try:
        episode = LiveEpisode(plan, session, run_folder, heartbeat)
        return _DriverLoop(episode, watchdog_s).run()
    except RuntimeError as problem:  # raised by the wheel when the server is gone
        raise InfrastructureError(f"{plan.episode_id}: {problem}") from problem


def briefing_of(episode: LiveEpisode) -> Briefing:
    """Return the information that the driver of an episode gets before the first tick."""
    plan = episode.plan
    return Briefing(
        client=episode.session.client,
        world=episode.world,
        map=episode.map,
        ego=episode.ego,
        route=episode.route,
        delta_s=STEP_S,
        seed=derive_seed(plan.seed, "driver", seed_name(plan.agent.name)),
        arguments=plan.agent.arguments,
        announcements=episode.actors.announcements(),
        episode_id=episode.episode_id,
        episode_seed=derive_seed(plan.seed, "driver", seed_name(plan.agent.name), plan.item.id),
        output=episode.driver_output,
    )


class _DriverLoop:
    """Tick loop of one episode with a driver that may fail."""

    def __init__(self, episode: LiveEpisode, watchdog_s: float) -> None:
        self._episode = episode
        self._setup_limit_s = agent_time_limit_s(watchdog_s, setting_up=True)
        self._step_limit_s = agent_time_limit_s(watchdog_s, setting_up=False)
        self._failure = ""
        self._rejected = False  # because of its sensors
        self._made: Driver | None = None  # also set if its setup failed
        self._sensors: DriverSensors | None = None
        people = episode.actors.posed
        if people is not None and people.policy_model is not None:
            people.policy_model.limit = lambda: time_limit(self._step_limit_s)

    def run(self) -> EpisodeOutcome:
        episode = self._episode
        try:
            driver = self._make_driver()
            episode.begin()
            reason = self._why_not() if driver is None else self._drive(driver)
            written = episode.finish(reason, self._failure)
        except BaseException:
            episode.discard()
            raise
        finally:
            if self._made is not None:
                self._guarded(self._made.close, self._step_limit_s)
            if self._sensors is not None:
                self._sensors.close()
        assert written is not None
        return EpisodeOutcome(
            episode_id=episode.plan.episode_id,
            end_reason=reason,
            failure=self._failure,
            record_hash=record_hash(written),
            simulated_s=round(episode.tick * STEP_S, 6),
            wall_s=episode.wall_s,
            folder=written,
        )

    def _why_not(self) -> str:
        return SENSORS_INVALID if self._rejected else NOT_SET_UP

    def _make_driver(self) -> Driver | None:
        episode = self._episode
        plan = episode.plan
        episode.heartbeat(0.0, 0.0, "agent: setup")
        briefing = briefing_of(episode)
        if briefing.output is not None:
            shutil.rmtree(briefing.output, ignore_errors=True)  # of an earlier try

        def make() -> Driver:
            self._made = make_driver(plan.agent.name)
            self._made.setup(briefing)
            self._sensors = DriverSensors(self._made, episode.world, episode.ego)
            return self._made

        driver: Driver | None = self._guarded(make, self._setup_limit_s)
        if driver is not None:
            episode.declare_agent(driver.declared())
        return driver

    def _guarded(self, call: Callable[[], Any], limit_s: float) -> Any | None:
        """Call the agent; its exception counts as its failure, unless the server failed."""
        try:
            with time_limit(limit_s):
                return call()
        except InfrastructureError:
            raise  # no agent listens at the address
        except (Exception, SystemExit, AgentTimeout) as problem:
            episode = self._episode
            if isinstance(problem, RuntimeError) and not episode.session.is_alive():
                raise InfrastructureError(f"{episode.plan.episode_id}: {problem}") from problem
            if not self._failure:
                self._failure = traceback.format_exc()
                self._rejected = isinstance(problem, SensorError)
            return None

    def _drive(self, driver: Driver) -> str:
        episode = self._episode
        while True:
            reason = episode.judge()
            if reason:
                return reason
            decision = self._decide(driver) if self._prepare() else None
            if decision is None:
                episode.note("agent_failure", self._failure.strip().rsplit("\n", 1)[-1][:300])
                return AGENT_FAILED
            episode.move(decision)
            if decision.end_reason:
                episode.note("agent_end", decision.end_reason[:300])
                return f"{ENDED_BY_AGENT}: {decision.end_reason[:300]}"

    def _prepare(self) -> bool:
        """Let the other actors act; False if a people model of the user failed."""
        try:
            self._episode.prepare()
        except (PeopleModelError, AgentTimeout) as problem:
            self._failure = traceback.format_exc()
            if isinstance(problem, AgentTimeout):
                name = self._episode.plan.people_policy
                self._failure += f"The people model {name} failed: {problem}\n"
            return False
        return True

    def _decide(self, driver: Driver) -> Decision | None:
        episode = self._episode
        frame, snapshot = episode.snapshot.frame, episode.snapshot
        readings = {} if self._sensors is None else self._sensors.read(frame, snapshot)
        moment = DriverMoment(
            frame=frame, elapsed_s=episode.elapsed_s, snapshot=snapshot, readings=readings
        )
        decision: Decision | None = self._guarded(lambda: driver.decide(moment), self._step_limit_s)
        if decision is None:
            return None
        control = decision.control
        bad = [
            f"{name} is {getattr(control, name)!r}"
            for name in ("throttle", "steer", "brake")
            if getattr(control, name) != getattr(control, name)
        ]
        if bad:
            self._failure = f"The control is not a number: {', '.join(bad)}."
            return None
        return decision
