"""One episode: a plan and a world in, a record out.

The order of a tick is always the same: scenarios, traffic and people act on the last snapshot, the
driver decides on it, the world is ticked, the new snapshot is recorded. Nothing looks at a clock
but the heartbeat. An episode runs to the loosest protocol's end; each protocol cuts when it scores.
"""

from __future__ import annotations

import hashlib
import math
import platform
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import carla

from jaywalk import __version__
from jaywalk.agents.base import Briefing, Decision, Driver
from jaywalk.agents.base import Moment as DriverMoment
from jaywalk.agents.load import make_driver, seed_name
from jaywalk.core.errors import InfrastructureError
from jaywalk.core.seeds import derive_seed
from jaywalk.record import columns as c
from jaywalk.record.capture import EpisodeCapture
from jaywalk.record.client_rows import landmark_row, weather_row
from jaywalk.record.episode import (
    Agent,
    Episode,
    Route,
    Sampling,
    Server,
    SharedFile,
    Wall,
    canonical_json,
)
from jaywalk.record.hashing import record_hash
from jaywalk.record.shared_files import SharedFiles
from jaywalk.runner.cast import Cast, set_the_stage
from jaywalk.runner.ego_rows import add_decision, add_route
from jaywalk.runner.outcome import EpisodeOutcome
from jaywalk.runner.patience import OutOfPatience, patience
from jaywalk.runner.plan import EpisodePlan
from jaywalk.runner.route_progress import RouteProgress
from jaywalk.runner.route_weather import RouteWeather
from jaywalk.runner.watchdog import DEFAULT_S, agent_patience_s
from jaywalk.runner.world import STEP_S, World
from jaywalk.scenarios.base import Moment, Phase
from jaywalk.town.routes import DenseRoute

# (simulated seconds, share of the route, what is going on)
Heartbeat = Callable[[float, float, str], None]

_HEARTBEAT_TICKS: Final = 20
_LAMPS_TICKS: Final = 10
_STANDING_MPS: Final = 0.1
_BLOCKED_S: Final = 180.0  # the longest any protocol waits
_BLOCKED_IN_SCENARIO_S: Final = 420.0  # obstacles suspend that rule and time out after 240 s
_AWAY_M: Final = 35.0  # every protocol has ended the route at 30 m
_SLOW_SHARE: Final = 0.10  # route time-out: a tenth of the speed limit ...
_START_S: Final = 300.0  # ... and five minutes
_FAREWELL_TICKS: Final = 2  # let the last messages of the collision sensor arrive


def _silent(simulated_s: float, share: float, doing: str) -> None:
    """A heartbeat nobody listens to."""


def run_episode(
    plan: EpisodePlan, world: World, run_folder: Path, heartbeat: Heartbeat = _silent,
    watchdog_s: float = DEFAULT_S,
) -> EpisodeOutcome:  # fmt: skip
    """Run one episode and write its record to ``run_folder/episodes/<episode id>``.

    Args:
        plan: What to run.
        world: Where.
        run_folder: The run it belongs to.
        heartbeat: Told now and then how far the episode is.
        watchdog_s: Somebody will end this process after so many seconds without a heartbeat; an
            agent that takes nearly as long for one answer has failed.

    Raises:
        InfrastructureError: The server failed; try again with another one.
        JaywalkError: The plan itself is wrong (town, route, scenario); trying again is no use.
    """
    try:
        return _Episode(plan, world, run_folder, heartbeat, watchdog_s).run()
    except RuntimeError as problem:  # what the wheel raises when a server is gone
        raise InfrastructureError(f"{plan.episode_id}: {problem}") from problem


class _Episode:
    """State of one episode in the making."""

    def __init__(
        self, plan: EpisodePlan, world: World, run_folder: Path, heartbeat: Heartbeat,
        watchdog_s: float,
    ) -> None:  # fmt: skip
        self._plan, self._server, self._heartbeat = plan, world, heartbeat
        self._setup_limit_s = agent_patience_s(watchdog_s, setting_up=True)
        self._step_limit_s = agent_patience_s(watchdog_s, setting_up=False)
        self._run_folder = run_folder
        self._started = datetime.now(UTC)
        self._clock_s = time.monotonic()
        self._failure = ""
        self._agent_name, self._agent_version = plan.agent.name, ""
        self._standing_s = 0.0
        self._limit_s = _START_S
        self._charged_m = 0.0

    def run(self) -> EpisodeOutcome:
        self._heartbeat(0.0, 0.0, "loading")
        plan, server = self._plan, self._server
        carla_world = server.fresh(plan.item.route.town, plan.opendrive)
        town_map = carla_world.get_map()
        opendrive = town_map.to_opendrive().encode()
        key = hashlib.sha256(opendrive).hexdigest()
        points = [keypoint.position_m for keypoint in plan.item.route.keypoints]
        route = server.planner(key, town_map).plan(points)
        weather = RouteWeather(plan.item.route.weathers)
        sky = weather.advance(carla_world, 0.0)
        self._heartbeat(0.0, 0.0, "setting the stage")
        cast = set_the_stage(plan, server, carla_world, route, key)
        folder = self._run_folder / "episodes" / plan.episode_id
        capture = EpisodeCapture(folder, carla_world.get_actors, cast.ego.id)
        driver: Driver | None = None
        try:
            capture.writer.add("weather", tick=0, **weather_row(sky))
            if cast.crowd is not None:
                people = cast.crowd.people
                capture.intended_classes = {one.actor_id: one.intended for one in people}
            sensor = _listen(carla_world, cast.ego, capture)
            progress = RouteProgress(route)
            driver, reason = self._make_driver(carla_world, town_map, cast, route)
            if driver is None:
                capture.observe(carla_world.get_snapshot())
            else:
                reason = self._drive(carla_world, cast, capture, driver, progress, weather)
            for _ in range(_FAREWELL_TICKS):
                carla_world.tick()
            sensor.stop()
            add_route(capture.writer, route)
            signs = sorted(carla_world.get_actors().filter("traffic.*"), key=lambda one: one.id)
            capture.add_landmarks([landmark_row(sign) for sign in signs])
            files = {"opendrive": SharedFiles(self._run_folder).add(opendrive, ".xodr")}
            written = capture.finish(self._describe(reason, capture, files))
        except BaseException:
            capture.discard()
            raise
        finally:
            if driver is not None:
                self._guarded(driver.close, self._step_limit_s)
        return EpisodeOutcome(
            episode_id=plan.episode_id,
            end_reason=reason,
            failure=self._failure,
            record_hash=record_hash(written),
            simulated_s=round(capture.tick * STEP_S, 6),
            wall_s=time.monotonic() - self._clock_s,
            folder=written,
        )

    # -- the driver ------------------------------------------------------------------------------

    def _make_driver(
        self, carla_world: Any, town_map: Any, cast: Cast, route: DenseRoute
    ) -> tuple[Driver | None, str]:
        plan = self._plan
        self._heartbeat(0.0, 0.0, "agent: setup")
        briefing = Briefing(
            client=self._server.client, world=carla_world, map=town_map, ego=cast.ego,
            route=route, delta_s=STEP_S,
            seed=derive_seed(plan.seed, "driver", seed_name(plan.agent.name)),
            arguments=plan.agent.arguments,
        )  # fmt: skip

        def make() -> Driver:
            driver = make_driver(plan.agent.name)
            driver.setup(briefing)
            return driver

        driver = self._guarded(make, self._setup_limit_s)
        if driver is None:
            return None, "agent setup failed"
        self._agent_name, self._agent_version = driver.declared() or (plan.agent.name, "")
        return driver, ""

    def _guarded(self, call: Callable[[], Any], limit_s: float) -> Any | None:
        """Call the agent; its exception is its failure, unless the server is what failed."""
        try:
            with patience(limit_s):
                return call()
        except InfrastructureError:
            raise  # nobody listens where the agent should be
        except (Exception, OutOfPatience) as problem:
            if isinstance(problem, RuntimeError) and not self._server.is_alive():
                raise InfrastructureError(f"{self._plan.episode_id}: {problem}") from problem
            self._failure = self._failure or traceback.format_exc()
            return None

    # -- the loop --------------------------------------------------------------------------------

    def _drive(
        self, carla_world: Any, cast: Cast, capture: EpisodeCapture, driver: Driver,
        progress: RouteProgress, weather: RouteWeather,
    ) -> str:  # fmt: skip
        snapshot = carla_world.get_snapshot()
        began_s = snapshot.timestamp.elapsed_seconds
        capture.observe(snapshot)
        while True:
            elapsed_s = snapshot.timestamp.elapsed_seconds - began_s
            ego = snapshot.find(cast.ego.id)
            if ego is None:
                return "ego removed"
            place, speed_mps = ego.get_transform().location, ego.get_velocity().length()
            progress.follow(place.x, place.y, place.z)
            reason = self._ending(elapsed_s, speed_mps, cast, progress)
            if reason:
                return reason
            if capture.tick % _HEARTBEAT_TICKS == 0:
                self._heartbeat(elapsed_s, progress.share, "driving")
            sky = weather.advance(carla_world, progress.share)
            if sky is not None:
                capture.writer.add("weather", tick=capture.tick + 1, **weather_row(sky))
            moment = Moment(
                elapsed_s=elapsed_s, snapshot=snapshot, ego_id=cast.ego.id,
                ego_along_m=progress.along_m, ego_speed_mps=speed_mps,
            )  # fmt: skip
            cast.advance(moment)
            _note_events(capture, cast)
            decision = self._decide(driver, snapshot, elapsed_s)
            if decision is None:
                capture.writer.add_event(
                    tick=capture.tick, kind="agent_failure", source="runner",
                    name=self._failure.strip().rsplit("\n", 1)[-1][:300],
                )  # fmt: skip
                return "agent failed"
            cast.ego.apply_control(decision.control)
            add_decision(capture, cast.ego, decision, progress)
            carla_world.tick()
            snapshot = carla_world.get_snapshot()
            if capture.tick % _LAMPS_TICKS == 0:
                lamps = carla_world.get_vehicles_light_states()
                capture.lamps = {one: int(flags) for one, flags in lamps.items()}
            capture.observe(snapshot)

    def _decide(self, driver: Driver, snapshot: Any, elapsed_s: float) -> Decision | None:
        moment = DriverMoment(frame=snapshot.frame, elapsed_s=elapsed_s, snapshot=snapshot)
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

    def _ending(self, elapsed_s: float, speed_mps: float, cast: Cast, way: RouteProgress) -> str:
        if way.is_complete:
            return "route completed"
        if way.away_m > _AWAY_M:
            return "route left"
        self._standing_s = 0.0 if speed_mps >= _STANDING_MPS else self._standing_s + STEP_S
        busy = any(
            scenario.phase is Phase.RUNNING and scenario.timeout_s < math.inf
            for scenario in cast.scenarios
        )
        if self._standing_s > (_BLOCKED_IN_SCENARIO_S if busy else _BLOCKED_S):
            return "blocked"
        if way.along_m > self._charged_m:
            limit_mps = max(cast.ego.get_speed_limit(), 5.0) / 3.6
            self._limit_s += (way.along_m - self._charged_m) / (_SLOW_SHARE * limit_mps)
            self._charged_m = way.along_m
        return "route time-out" if elapsed_s > self._limit_s else ""

    # -- the record ------------------------------------------------------------------------------

    def _describe(
        self, reason: str, capture: EpisodeCapture, files: dict[str, SharedFile]
    ) -> Episode:
        plan, server = self._plan, self._server
        return Episode(
            episode_id=plan.episode_id,
            suite=plan.suite,
            scenario=plan.item.id,
            variant=plan.variant,
            pair=plan.item.pair,
            parameters={"vehicles": plan.item.vehicles, "people": plan.item.people,
                        "traffic": plan.traffic, "motions": plan.motions},
            town=plan.item.route.town,
            seed=plan.seed,
            agent=Agent(name=self._agent_name, version=self._agent_version,
                        arguments=plan.agent.arguments),
            server=Server(kind=server.kind, version=server.server_version,
                          settings={"synchronous_mode": True, "fixed_delta_seconds": STEP_S}),
            route=Route(
                route_id=plan.item.route.id,
                dense=True,
                scenarios=[{"name": spec.name, "type": spec.type}
                           for spec in plan.item.route.scenarios],
            ),
            sampling=Sampling(lamps_ticks=_LAMPS_TICKS),
            end_reason=reason,
            failure=self._failure,
            packages={"jaywalk": __version__, "carla": version("carla")},
            files=files,
            wall=Wall(
                started_utc=self._started.isoformat(timespec="seconds"),
                ended_utc=datetime.now(UTC).isoformat(timespec="seconds"),
                seconds=round(time.monotonic() - self._clock_s, 3),
                address=f"{server.host}:{server.port}",
                machine=platform.machine(),
            ),
        )  # fmt: skip


def _listen(carla_world: Any, ego: Any, capture: EpisodeCapture) -> Any:
    """A collision sensor on the ego: impulses, and hits of scenery that no actor stands for."""
    model = carla_world.get_blueprint_library().find("sensor.other.collision")
    sensor = carla_world.spawn_actor(model, carla.Transform(), attach_to=ego)

    def on_hit(event: Any) -> None:
        other, force, place = event.other_actor, event.normal_impulse, event.transform.location
        capture.add_hit(
            event.frame, other.id, other.type_id,
            (force.x, force.y, force.z), (place.x, place.y, place.z),
        )  # fmt: skip

    sensor.listen(on_hit)
    carla_world.tick()
    return sensor


def _note_events(capture: EpisodeCapture, cast: Cast) -> None:
    """What the scenarios reported since the last tick; actors by their number in the record."""
    for scenario in cast.scenarios:
        for event in scenario.events:
            detail = dict(event.detail)
            row: dict[str, Any] = {c.NAME: event.name}
            if "actor" in detail:
                row[c.ACTOR] = capture.number_of(detail.pop("actor"))
            if detail:
                row[c.DETAIL] = canonical_json(detail)
            capture.writer.add_event(tick=capture.tick, kind=event.kind, source="scenario", **row)
        scenario.events.clear()
