"""The environment in which the learner is a person and a driver is part of the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Final

import gymnasium  # type: ignore[import-not-found,unused-ignore]
import numpy as np

from jaywalk.actors._surroundings import CrowdView
from jaywalk.actors.crowd.state import WILL_CROSS
from jaywalk.actors.events import NOTE
from jaywalk.actors.posed.people import HabitPeople
from jaywalk.agents.adapters.sensor_rig import DriverSensors
from jaywalk.agents.base import Driver
from jaywalk.agents.base import Moment as DriverMoment
from jaywalk.agents.load import make_driver
from jaywalk.core.address import parse_address
from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError, InfrastructureError, UsageError
from jaywalk.geometry.box import box_distance
from jaywalk.gym._options import part_of
from jaywalk.gym._person_view import PERSON_STATE_SIZE, LearnersPolicy, person_vector
from jaywalk.runner._episode import briefing_of
from jaywalk.runner.agent_choice import agent_specs
from jaywalk.runner.live_episode import LiveEpisode
from jaywalk.runner.plan import EpisodePlan
from jaywalk.runner.selection import find_suite, override
from jaywalk.runner.session import STEP_S, SimulatorSession
from jaywalk.scenarios.suite import with_people_model

REACHED, CONTACT, TIMED_OUT, DRIVE_OVER = (
    "goal reached",
    "contact",
    "time over",
    "the drive is over",
)
_BODY_M: Final = 0.3
_TICKS: Final = 2  # in a step: the policy of people is asked every 0.1 s
_PATIENCE_S: Final = 60.0  # then the person sets off, wherever the ego is
_SEEDS: Final = 2**31


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonReward:
    """Weights of the reward."""

    progress_per_m: float = 0.2  # towards the goal
    time_per_s: float = -0.1
    reached: float = 10.0
    contact: float = -20.0

    @classmethod
    def of(cls, given: Mapping[str, float] | None) -> PersonReward:
        """Return the defaults with some weights replaced.

        Raises:
            UsageError: A weight is unknown.
        """
        known = [field.name for field in fields(cls)]
        unknown = sorted(set(given or {}) - set(known))
        if unknown:
            raise UsageError(f"reward names '{unknown[0]}', expected some of {', '.join(known)}.")
        return cls(**{name: float(value) for name, value in (given or {}).items()})


class PersonEnv(gymnasium.Env):  # type: ignore[misc,unused-ignore]
    """Be a person who crosses the road before a driver; see docs/reference/gym.md.

    Example:
        >>> env = gymnasium.make("jaywalk.gym:jaywalk/Person-v1", agent="expert")  # doctest: +SKIP
        >>> observation, info = env.reset(seed=1)  # doctest: +SKIP
    """

    # The base class declares an instance variable and documents a class variable.
    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}  # type: ignore[misc,unused-ignore]

    def __init__(
        self,
        *,
        suite: str = "habit",
        routes: str | Sequence[str] = "",
        agent: str = "expert",
        vehicles: int | None = None,
        people: int | None = None,
        episode_s: float = 60.0,
        reward: Mapping[str, float] | None = None,
        server: str = "",
        render_mode: str | None = None,
    ) -> None:
        """Check the options; starts nothing.

        Raises:
            UsageError: A value is wrong; the message lists the expected ones.
        """
        if render_mode is not None:
            raise UsageError(f"render_mode is '{render_mode}'; this environment draws nothing.")
        if not episode_s > 0.0:
            raise UsageError(f"episode_s is {episode_s}, expected more than 0.")
        found = override(find_suite(suite), people=people, vehicles=vehicles)
        self._suite = with_people_model(part_of(found, routes))
        if not any(item.posed for item in self._suite.routes):
            raise UsageError(
                f"The suite '{suite}' has no posed people; use habit, or routes with posed people."
            )
        self._agent = agent_specs(agent)[0]
        self._weights, self._episode_s = PersonReward.of(reward), float(episode_s)
        self._server = parse_address(server, "server") if server else None
        self.render_mode = None
        box = gymnasium.spaces.Box
        self.action_space = box(-1.0, 1.0, (3,), np.float32)
        self.observation_space = box(-1.0, 1.0, (PERSON_STATE_SIZE,), np.float32)
        self._world: SimulatorSession | None = None
        self._episode: _PersonEpisode | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode and run it until the person sets off.

        Args:
            seed: Seed of this episode and, through the generator, of the following ones.
            options: ``route``: id of the route; ``episode_seed``: the seed of a ``jaywalk run``;
                ``person``: which of the people who cross, counted along the route from 0.

        Raises:
            DataError: The drive ended before the person could set off.
            InfrastructureError: The server failed.
            UsageError: An option is wrong.
        """
        super().reset(seed=seed)
        plan, person = self._plan(options or {})
        self._end_episode()
        try:
            if self._world is None:
                self._world = (
                    SimulatorSession.attach(*self._server)
                    if self._server is not None
                    else SimulatorSession.embedded(town=plan.item.route.town)
                )
            self._episode = _PersonEpisode(plan, self._world, person)
            self._episode.begin()
        except (RuntimeError, InfrastructureError) as error:
            raise self._broken(error) from error
        return self._episode.observation(), self._episode.info("")

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Hold an action for 0.1 s.

        Raises:
            InfrastructureError: The server failed; ``reset`` starts another one.
        """
        episode = self._episode
        if episode is None or episode.reason:
            raise gymnasium.error.ResetNeeded("The episode is over: call reset() before step().")
        values = np.asarray(action, np.float64)
        if values.shape != (3,) or not np.isfinite(values).all():
            raise UsageError(f"action is {action!r}, expected 3 finite numbers.")
        before_m = episode.goal_away_m
        try:
            episode.step(np.clip(values, -1.0, 1.0))
        except (RuntimeError, InfrastructureError) as error:
            raise self._broken(error) from error
        if not episode.reason and episode.since_s >= self._episode_s - 1e-9:
            episode.reason = TIMED_OUT
        weights, reason = self._weights, episode.reason
        terms = {
            "progress": weights.progress_per_m * (before_m - episode.goal_away_m),
            "time": weights.time_per_s * _TICKS * STEP_S,
            "reached": weights.reached if reason == REACHED else 0.0,
            "contact": weights.contact if reason == CONTACT else 0.0,
        }
        info = episode.info(reason) | {"reward_terms": terms}
        ended, cut = reason in (REACHED, CONTACT), reason in (TIMED_OUT, DRIVE_OVER)
        return episode.observation(), float(sum(terms.values())), ended, cut, info

    def close(self) -> None:
        """End the episode and the server."""
        self._end_episode()
        if self._world is not None:
            self._world.close()
            self._world = None

    def _plan(self, options: dict[str, Any]) -> tuple[EpisodePlan, int]:
        unknown = sorted(set(options) - {"route", "episode_seed", "person"})
        if unknown:
            raise UsageError(
                f"reset option '{unknown[0]}': expected route, episode_seed or person."
            )
        routes = [item for item in self._suite.routes if item.posed]
        number = int(self.np_random.integers(len(routes)))
        drawn = int(self.np_random.integers(_SEEDS))
        if "route" in options:
            known = [item.id for item in routes]
            if options["route"] not in known:
                raise UsageError(f"route '{options['route']}': expected one of {', '.join(known)}.")
            number = known.index(options["route"])
        plan = EpisodePlan.of_suite(
            self._suite,
            routes[number],
            seed=int(options.get("episode_seed", drawn)),
            agent=self._agent,
        )
        return plan, int(options.get("person", 0))

    def _end_episode(self) -> None:
        episode, self._episode = self._episode, None
        if episode is not None:
            episode.close()

    def _broken(self, error: BaseException) -> InfrastructureError:
        """Drop a server that failed; the next reset starts another."""
        if self._episode is not None:
            self._episode.discard()
            self._episode = None
        if self._world is not None:
            self._world.close()
            self._world = None
        return InfrastructureError(f"The server failed: {error}. reset() starts another one.")


class _PersonEpisode:
    """A running episode with a driver in which one person is the learner."""

    def __init__(self, plan: EpisodePlan, world: SimulatorSession, person: int) -> None:
        self.reason = ""
        self.since_s = 0.0
        self._ending = ""
        self._episode = LiveEpisode(plan, world, None)
        self._driver: Driver | None = None
        self._sensors: DriverSensors | None = None
        posed = self._episode.actors.posed
        assert posed is not None
        self._posed: HabitPeople = posed
        try:
            self._row = _crosser(posed, person)
        except UsageError:
            self._episode.discard()
            raise
        self._placed = posed.people[self._row]
        self.policy = LearnersPolicy(self._row)
        posed.hand_over(self.policy, "the learner", [self._row])
        self._cars = CrowdView(self._episode.world, posed.ids)
        assert self._placed.b_m is not None
        self.goal_m: FloatArray = np.array(self._placed.b_m)

    def begin(self) -> None:
        """Set up the driver, and let it drive until the person sets off."""
        episode = self._episode
        self._driver = make_driver(episode.plan.agent.name)
        self._driver.setup(briefing_of(episode))
        self._sensors = DriverSensors(self._driver, episode.world, episode.ego)
        episode.begin()
        while self.policy.seen is None and not self.reason:
            self._tick(triggers=episode.elapsed_s > _PATIENCE_S)
        if self.policy.seen is None:
            raise DataError(
                f"The drive on route '{episode.plan.item.id}' ended ({self._ending}) before person "
                f"{self._row} could set off; give another route, seed or person, or another agent."
            )
        self._tick()  # the person is asked on every second tick, and next on the coming one

    def step(self, action: FloatArray) -> None:
        """Hold an action for two ticks."""
        self.policy.action = action
        for _ in range(_TICKS):
            if not self.reason:
                self._tick()
                self.since_s += STEP_S

    def _tick(self, *, triggers: bool = False) -> None:
        episode = self._episode
        assert self._driver is not None
        self._ending = episode.judge()
        if self._ending:
            self.reason = DRIVE_OVER
            return
        if triggers:
            self._posed.trigger(self._placed.actor_id, episode.moment())
        episode.prepare()
        events = [event for event in episode.events if event.kind == NOTE]
        words = {
            event.detail.get("what")
            for event in events
            if event.detail.get("actor") == self._placed.actor_id
        }
        frame, snapshot = episode.snapshot.frame, episode.snapshot
        assert self._sensors is not None
        moment = DriverMoment(
            frame=frame,
            elapsed_s=episode.elapsed_s,
            snapshot=snapshot,
            readings=self._sensors.read(frame, snapshot),
        )
        episode.move(self._driver.decide(moment))
        if "knocked down" in words or self._touches():
            self.reason = CONTACT
        elif "crossed" in words:
            self.reason = REACHED

    def _touches(self) -> bool:
        """Return True if the person touches a vehicle."""
        x, y = self._place()
        _, cars, _, _ = self._cars.around(self._episode.snapshot)
        return any(float(box_distance(x, y, *car[:6])) < _BODY_M for car in cars)

    def _place(self) -> tuple[float, float]:
        x, y, _ = self._posed.posed.place_m(self._placed.actor_id)
        return x, y

    @property
    def goal_away_m(self) -> float:
        """Distance of the person from the goal."""
        return float(np.hypot(*(self.goal_m - self._place())))

    def observation(self) -> Any:
        """Return what the person saw when last asked."""
        assert self.policy.seen is not None
        return person_vector(self.policy.seen, self._row, self.goal_m)

    def info(self, reason: str) -> dict[str, Any]:
        """Return the ``info`` dictionary of the present tick."""
        plan = self._episode.plan
        return {
            "route": plan.item.id,
            "episode_seed": plan.seed,
            "elapsed_s": self._episode.elapsed_s,
            "since_s": self.since_s,
            "person": self._row,
            "position_m": self._place(),
            "goal_away_m": self.goal_away_m,
            "end_reason": reason,
            "is_success": reason == REACHED,
        }

    def close(self) -> None:
        """End the driver and the episode."""
        try:
            self._close_driver()
            self._episode.finish(self.reason or "stopped by the learner")
        except RuntimeError:  # the server may be gone
            self._episode.discard()

    def discard(self) -> None:
        """End the driver of an episode whose server has failed."""
        with suppress(Exception):  # the failure of the server is the one to report
            self._close_driver()
        self._episode.discard()

    def _close_driver(self) -> None:
        driver, self._driver = self._driver, None
        sensors, self._sensors = self._sensors, None
        if driver is not None:
            driver.close()
        if sensors is not None:
            sensors.close()


def _crosser(posed: HabitPeople, number: int) -> int:
    """Return the row of a person who crosses and does not follow a leader; 0 is the first."""
    rows = posed.leaders()
    crossing = [
        placed
        for placed in posed.people
        if placed.role.intended == WILL_CROSS
        and placed.b_m is not None
        and rows[placed.role.number]
    ]
    crossing.sort(key=lambda placed: placed.along_m)
    if not 0 <= number < len(crossing):
        raise UsageError(
            f"reset option 'person' is {number}, but {len(crossing)} people cross on this route."
        )
    return crossing[number].role.number
