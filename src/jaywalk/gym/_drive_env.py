"""The environment: episodes of the runner with one action per step."""

from __future__ import annotations

import contextlib
import itertools
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Final

import carla
import gymnasium  # type: ignore[import-not-found,unused-ignore]
import numpy as np
from numpy.typing import NDArray

from jaywalk.agents.base import Decision
from jaywalk.core.errors import InfrastructureError, UsageError
from jaywalk.core.heartbeat import Heartbeat
from jaywalk.gym._bev import BevView
from jaywalk.gym._options import DriveOptions
from jaywalk.gym._reward import CollisionReader, add_terms, reward_terms
from jaywalk.gym._views import SensorView, TickReader, TickState, ego_vector, state_vector
from jaywalk.record.run import RunFolder
from jaywalk.runner.ending import COMPLETED, TIMED_OUT
from jaywalk.runner.live_episode import LiveEpisode
from jaywalk.runner.plan import AgentSpec, EpisodePlan
from jaywalk.runner.session import STEP_S, SimulatorSession

AGENT_NAME: Final = "gym"
COLLIDED: Final = "collision"
STOPPED: Final = "stopped by the learner"
_STILL: Final = (0.0, 0.0, 0.0)
_SEEDS: Final = 2**31
_BEAT_S: Final = 10.0


class DriveEnv(gymnasium.Env):  # type: ignore[misc,unused-ignore]
    """Drive a suite's routes; see docs/reference/gym.md.

    The server is started by the first ``reset`` and ended by ``close``.

    Example:
        >>> env = gymnasium.make("jaywalk.gym:jaywalk/Drive-v1", suite="smoke")  # doctest: +SKIP
        >>> observation, info = env.reset(seed=1)  # doctest: +SKIP
    """

    # The base class declares an instance variable and documents a class variable.
    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc,unused-ignore]
        "render_modes": ["rgb_array"],
        "render_fps": round(1.0 / STEP_S),
    }

    def __init__(self, render_mode: str | None = None, **options: Any) -> None:
        """Check the options; starts nothing.

        Args:
            render_mode: None, or ``rgb_array`` for pictures from above.
            **options: See :meth:`jaywalk.gym._options.DriveOptions.of`.
        """
        self.options = DriveOptions.of(**options)
        self.render_mode = render_mode
        self._actions: Any = self.options.action_space()
        self.action_space = self._actions
        self.observation_space = self.options.observation_space()
        self._world: SimulatorSession | None = None
        self._episode: _RunningEpisode | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; the route of the suite and its seed are drawn from ``seed``.

        Args:
            seed: Seed of this episode and, through the generator, of the following ones.
            options: ``route``: id of the route; ``episode_seed``: the seed of a ``jaywalk run``.
        """
        super().reset(seed=seed)
        plan = self._plan(options or {})
        self._end_episode()
        try:
            if self._world is None:  # compiles on its first use
                with Heartbeat("jaywalk.gym: first reset", _write_line, every_s=_BEAT_S):
                    self._world = self._open()
                    self._episode = self._start(plan, self._world)
            else:
                self._episode = self._start(plan, self._world)
        except (RuntimeError, InfrastructureError) as error:
            raise self._broken(error) from error
        return self._episode.observation(), self._episode.info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Hold an action for ``ticks_per_step`` ticks of 0.05 s.

        Raises:
            InfrastructureError: The server failed; ``reset`` starts another one.
        """
        episode = self._episode
        if episode is None or episode.is_over:
            raise gymnasium.error.ResetNeeded("The episode is over: call reset() before step().")
        throttle, brake, steer = self._control(action)
        try:
            reward = episode.step(throttle, brake, steer)
            info = episode.info()
            if info["end_reason"]:
                info["record"] = episode.finish()
            observation = episode.observation()
        except (RuntimeError, InfrastructureError) as error:
            raise self._broken(error) from error
        truncated = info["end_reason"] == TIMED_OUT
        return observation, reward, episode.is_over and not truncated, truncated, info

    def render(self) -> NDArray[np.uint8] | None:
        """Return a picture of the surroundings from above, heading upwards."""
        if self.render_mode is None or self._episode is None:
            return None
        return self._episode.picture()

    def draw_bev(self) -> NDArray[np.uint8]:
        """Return the raster of ``bev`` at the present tick, for any kind of observation.

        Raises:
            UsageError: There is nothing to draw from.
        """
        if self._episode is None or not self._episode.draws:
            raise UsageError("draw_bev needs a running episode and render_mode='rgb_array'.")
        return self._episode.bev()

    def close(self) -> None:
        """End the episode and the server."""
        self._end_episode()
        if self._world is not None:
            self._world.close()
            self._world = None

    def _plan(self, options: dict[str, Any]) -> EpisodePlan:
        unknown = sorted(set(options) - {"route", "episode_seed"})
        if unknown:
            raise UsageError(f"reset option '{unknown[0]}': expected route or episode_seed.")
        suite = self.options.suite
        number = int(self.np_random.integers(len(suite.routes)))
        drawn = int(self.np_random.integers(_SEEDS))
        if "route" in options:
            known = [item.id for item in suite.routes]
            if options["route"] not in known:
                raise UsageError(f"route '{options['route']}': expected one of {', '.join(known)}.")
            number = known.index(options["route"])
        return EpisodePlan.of_suite(
            suite,
            suite.routes[number],
            seed=int(options.get("episode_seed", drawn)),
            agent=AgentSpec(name=AGENT_NAME),
        )

    def _start(self, plan: EpisodePlan, world: SimulatorSession) -> _RunningEpisode:
        return _RunningEpisode(plan, world, self.options, self.render_mode is not None)

    def _open(self) -> SimulatorSession:
        if self.options.server is not None:
            return SimulatorSession.attach(*self.options.server)
        return SimulatorSession.embedded(town=self.options.suite.routes[0].route.town)

    def _control(self, action: Any) -> tuple[float, float, float]:
        values = np.asarray(action, np.float64)
        if values.shape != self._actions.shape or not np.isfinite(values).all():
            raise UsageError(
                f"action is {action!r}, expected {self._actions.shape[0]} finite numbers."
            )
        values = np.clip(values, self._actions.low, self._actions.high)
        if self.options.action == "joined":
            pedal, steer = values
            return max(float(pedal), 0.0), max(-float(pedal), 0.0), float(steer)
        throttle, brake, steer = values
        return float(throttle), float(brake), float(steer)

    def _end_episode(self) -> None:
        episode, self._episode = self._episode, None
        if episode is not None:
            with contextlib.suppress(RuntimeError):  # the server may be gone
                episode.finish()

    def _broken(self, error: BaseException) -> InfrastructureError:
        """Drop a server that failed; the next reset starts another."""
        if self._episode is not None:
            self._episode.discard()
            self._episode = None
        if self._world is not None:
            self._world.close()
            self._world = None
        return InfrastructureError(f"The server failed: {error}. reset() starts another one.")


class _RunningEpisode:
    """A running episode with the observations and rewards of a learner."""

    def __init__(
        self, plan: EpisodePlan, world: SimulatorSession, options: DriveOptions, pictures: bool
    ) -> None:
        self._options = options
        self.reason = ""
        self._finished = False
        self._collided = False
        self._events: list[dict[str, Any]] = []
        self._terms: dict[str, float] = {}
        self._control = _STILL
        name = _free_name(plan.episode_id, options.record)
        self._episode = LiveEpisode(plan, world, options.record, episode_id=name)
        try:
            self._begin(pictures)
        except BaseException:
            self._episode.discard()
            raise

    def _begin(self, pictures: bool) -> None:
        options, episode = self._options, self._episode
        self._reader = TickReader(episode)
        self._collisions = CollisionReader(episode)
        wants_bev = pictures or options.observation == "bev"
        self._bev = (
            BevView(episode.opendrive, options.bev_px, options.bev_pixel_m) if wants_bev else None
        )
        wants_sensors = options.observation == "sensors"
        self._sensors = SensorView(episode, options.sensors) if wants_sensors else None
        episode.begin()
        episode.judge()
        self._look: TickState = self._reader.look(_STILL)
        self._seen = self._observe()

    @property
    def is_over(self) -> bool:
        """Return whether the episode has ended."""
        return bool(self.reason)

    def step(self, throttle: float, brake: float, steer: float) -> float:
        """Hold a control for one step and return its reward."""
        self._terms, self._events = {}, []
        decision = Decision(
            control=carla.VehicleControl(throttle=throttle, steer=steer, brake=brake)
        )
        for _ in range(self._options.ticks_per_step):
            self._tick(decision, (throttle, brake, steer))
            if self.reason:
                break
        self._seen = self._observe()
        return float(sum(self._terms.values()))

    def _tick(self, decision: Decision, control: tuple[float, float, float]) -> None:
        episode = self._episode
        before_m, turned = episode.progress.along_m, control[2] - self._control[2]
        episode.prepare()
        self._events += [
            {"kind": event.kind, "name": event.name, **event.detail} for event in episode.events
        ]
        episode.move(decision)
        self.reason = episode.judge()
        collisions = self._collisions.read_new()
        self._collided = self._collided or bool(collisions)
        self._events += [
            {"kind": "collision", **_event(asdict(collision))} for collision in collisions
        ]
        if collisions and self._options.stop_at_collision and not self.reason:
            self.reason = COLLIDED
        if episode.snapshot.find(episode.ego.id) is not None:
            self._look = self._reader.look(control)
        self._control = control
        add_terms(
            self._terms,
            reward_terms(
                self._options.weights,
                self._look,
                episode.progress.along_m - before_m,
                turned,
                collisions,
                "" if self.reason == COLLIDED else self.reason,
            ),
        )

    def _observe(self) -> Any:
        look = self._look
        if self._options.observation == "state":
            return state_vector(look)
        if self._options.observation == "bev":
            assert self._bev is not None
            return {"ego": ego_vector(look), "bev": self._bev.draw(look)}
        assert self._sensors is not None
        return {"ego": ego_vector(look), **self._sensors.read()}

    def observation(self) -> Any:
        """Return the observation of the present tick."""
        return self._seen

    def info(self) -> dict[str, Any]:
        """Return the ``info`` dictionary of the present tick."""
        episode = self._episode
        return {
            "route": episode.plan.item.id,
            "town": episode.plan.item.route.town,
            "episode_seed": episode.plan.seed,
            "tick": episode.tick,
            "elapsed_s": episode.elapsed_s,
            "along_m": episode.progress.along_m,
            "route_share": episode.progress.share,
            "speed_mps": self._look.own.speed_mps,
            "offset_m": self._look.offset_m,
            "speed_limit_mps": self._look.limit_mps,
            "events": self._events,
            "reward_terms": self._terms,
            "end_reason": self.reason,
            "is_success": self.reason == COMPLETED and not self._collided,
            "record": "",
        }

    @property
    def draws(self) -> bool:
        """Return whether pictures can be drawn."""
        return self._bev is not None

    def bev(self) -> NDArray[np.uint8]:
        """Return the raster of the surroundings."""
        assert self._bev is not None
        return self._bev.draw(self._look)

    def picture(self) -> NDArray[np.uint8]:
        """Return a picture of the surroundings from above."""
        assert self._bev is not None
        return self._bev.picture(self._look)

    def finish(self) -> str:
        """Write the record, if there is one, and return its folder; later calls do nothing."""
        if self._finished:
            return ""
        self._finished = True
        try:
            written = self._episode.finish(self.reason or STOPPED)
        finally:
            if self._sensors is not None:
                self._sensors.close()
        return "" if written is None else str(written)

    def discard(self) -> None:
        """Discard the record."""
        if not self._finished:
            self._finished = True
            self._episode.discard()


def _write_line(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def _free_name(name: str, run_folder: Path | None) -> str:
    """Return a name for the next record; learners drive the same episode many times."""
    if run_folder is None or not RunFolder(run_folder).episode(name).exists():
        return name
    names = (f"{name}-{number}" for number in itertools.count(2))
    return next(free for free in names if not RunFolder(run_folder).episode(free).exists())


def _event(collision: dict[str, Any]) -> dict[str, Any]:
    """Return a collision as an event; ``with`` names the other body."""
    kind = collision.pop("kind")
    return {"with": kind, **collision}
