"""A live episode: a world with all its actors, moved tick by tick by a driver or a learner.

The order of a tick is always the same: scenarios, traffic and people act on the last snapshot, the
driver decides on it, the world is ticked, the new snapshot is recorded. Only the heartbeat uses a
clock.

The weather of a route changes linearly with the distance driven between two given points.
"""

from __future__ import annotations

import hashlib
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import carla
import numpy as np

from jaywalk import __version__
from jaywalk.actors.events import EgoMoment, ScenarioEvent
from jaywalk.agents.base import Decision
from jaywalk.record.capture import EpisodeCapture
from jaywalk.record.episode import (
    Agent,
    Episode,
    RecordedRoute,
    Sampling,
    Server,
    SharedFile,
    Wall,
    wet_grip_settings,
)
from jaywalk.record.files import SharedFiles
from jaywalk.record.rows import landmark_row, weather_row
from jaywalk.record.run import RunFolder
from jaywalk.runner._code import code_of_episode
from jaywalk.runner._record_rows import add_decision, add_route, event_row
from jaywalk.runner.config import route_digest
from jaywalk.runner.ending import EGO_REMOVED, EndRules, RouteProgress
from jaywalk.runner.plan import EpisodePlan, people_parameters
from jaywalk.runner.session import STEP_S, SimulatorSession
from jaywalk.runner.spawning import spawn_actors
from jaywalk.scenarios.formats.route_xml import WeatherPoint

_STEP: Final = 0.01  # share of the route between two updates
# Weather that the Leaderboard sets when a route file states none.
_FAIR: Final = {"sun_altitude_angle": 70.0, "cloudiness": 50.0}


class RouteWeather:
    """Weather along a route while the ego drives."""

    def __init__(self, points: tuple[WeatherPoint, ...] | None) -> None:
        ordered = sorted(points or (), key=lambda point: point.route_percentage)
        self._share = np.array([point.route_percentage / 100.0 for point in ordered])
        self._values = [point.values for point in ordered] or [_FAIR]
        self._share = self._share if len(self._share) else np.zeros(1)
        self._last = -1.0

    def advance(self, world: Any, share: float) -> Any | None:
        """Update the weather if due; return the weather that was set, or None."""
        first = self._last < 0.0
        constant = all(values == self._values[0] for values in self._values)
        if not first and (constant or share < self._last + _STEP):
            return None
        self._last = share
        weather = self._at(share)
        world.set_weather(weather)
        return weather

    def _at(self, share: float) -> Any:
        names = {name for values in self._values for name in values}
        weather = carla.WeatherParameters()
        for name in sorted(names):
            given = [values.get(name, getattr(weather, name)) for values in self._values]
            setattr(weather, name, float(np.interp(share, self._share, given)))
        return weather


# (simulated seconds, share of the route, current activity)
Heartbeat = Callable[[float, float, str], None]

_HEARTBEAT_TICKS: Final = 20
_LAMPS_TICKS: Final = 10
_FINAL_TICKS: Final = 2  # for the last messages of the collision sensor to arrive


@dataclass(frozen=True, slots=True, kw_only=True)
class EgoHit:
    """A message of the ego's collision sensor."""

    frame: int
    other_id: int
    other_type_id: str


def silent(simulated_s: float, share: float, doing: str) -> None:
    """Ignore a heartbeat."""


class LiveEpisode:
    """One episode: opened, moved tick by tick, finished with a record or discarded.

    Attributes:
        snapshot: The world at the present tick, from :meth:`begin` on.
        tick: The present tick; -1 before :meth:`begin`.
        elapsed_s: Simulated time since the first tick.
        events: Events of scenarios at the last :meth:`prepare`.
        hits: Messages of the ego's collision sensor so far, in order of arrival, which is a little
            after the tick they belong to.
    """

    def __init__(
        self,
        plan: EpisodePlan,
        session: SimulatorSession,
        run_folder: Path | None,
        heartbeat: Heartbeat = silent,
        episode_id: str = "",
    ) -> None:
        """Load the town and spawn all actors.

        Args:
            plan: Episode to run.
            session: Session to run it in.
            run_folder: Run that the record belongs to; None: nothing is recorded.
            heartbeat: Called from time to time with the progress of the episode.
            episode_id: Name of the record, if different from that of the plan.
        """
        self.episode_id = episode_id or plan.episode_id
        self.plan, self.session, self.heartbeat = plan, session, heartbeat
        self._agent = Agent(name=plan.agent.name, arguments=plan.agent.arguments)
        self._run_folder = run_folder
        self._started = datetime.now(UTC)
        self._clock_s = time.monotonic()
        heartbeat(0.0, 0.0, "loading")
        self.world = session.fresh(
            plan.item.route.town, plan.options.opendrive, wet_grip=plan.item.wet_grip
        )
        self.map = self.world.get_map()
        self.opendrive: bytes = self.map.to_opendrive().encode()
        self.map_key = hashlib.sha256(self.opendrive).hexdigest()
        points = [keypoint.position_m for keypoint in plan.item.route.keypoints]
        self.route = session.planner(self.map_key, self.map).plan(points)
        self._weather = RouteWeather(plan.item.route.weathers)
        sky = self._weather.advance(self.world, 0.0)
        heartbeat(0.0, 0.0, "spawning actors")
        self.actors = spawn_actors(plan, session, self.world, self.route, self.map_key)
        self.progress = RouteProgress(self.route)
        self.snapshot: Any = None
        self.tick = -1
        self.elapsed_s = 0.0
        self.events: list[ScenarioEvent] = []
        self.hits: list[EgoHit] = []
        self._rules = EndRules()
        self._began_s = self._speed_mps = 0.0
        self._first_frame = 0
        self._capture: EpisodeCapture | None = None
        if run_folder is not None:
            folder = RunFolder(run_folder).episode(self.episode_id)
            self._capture = EpisodeCapture(folder, self.world.get_actors, self.ego.id)
        try:
            self._record_beginning(sky)
            self._sensor = self._listen()
        except BaseException:
            self.discard()
            raise

    @property
    def ego(self) -> Any:
        """The ego."""
        return self.actors.ego

    @property
    def driver_output(self) -> Path | None:
        """Folder for the driver's own files, which the driver creates; None without a record."""
        if self._run_folder is None:
            return None
        return RunFolder(self._run_folder).agent_output(self.episode_id)

    @property
    def wall_s(self) -> float:
        """Wall seconds since the episode was opened."""
        return time.monotonic() - self._clock_s

    def _record_beginning(self, sky: Any) -> None:
        if self._capture is None:
            return
        self._capture.writer.add("weather", tick=0, **weather_row(sky))
        self._capture.intended_classes = self.actors.intended_classes()

    def _listen(self) -> Any:
        """Attach a collision sensor to the ego.

        It reports impulses, and hits of scenery that has no actor.
        """
        model = self.world.get_blueprint_library().find("sensor.other.collision")
        sensor = self.world.spawn_actor(model, carla.Transform(), attach_to=self.ego)
        capture, hits = self._capture, self.hits

        def on_hit(event: Any) -> None:
            other, force, place = event.other_actor, event.normal_impulse, event.transform.location
            hits.append(EgoHit(frame=event.frame, other_id=other.id, other_type_id=other.type_id))
            if capture is not None:
                capture.add_hit(
                    event.frame,
                    other.id,
                    other.type_id,
                    (force.x, force.y, force.z),
                    (place.x, place.y, place.z),
                )

        sensor.listen(on_hit)
        self.world.tick()
        return sensor

    # -- the loop --------------------------------------------------------------------------------

    def begin(self) -> None:
        """Take the first snapshot."""
        self._look()

    def judge(self) -> str:
        """Update the route progress; return the end reason or an empty text. Call once per tick."""
        self.elapsed_s = self.snapshot.timestamp.elapsed_seconds - self._began_s
        ego = self.snapshot.find(self.ego.id)
        if ego is None:
            return EGO_REMOVED
        place, self._speed_mps = ego.get_transform().location, ego.get_velocity().length()
        self.progress.follow(place.x, place.y, place.z)
        return self._rules.judge(self.elapsed_s, self._speed_mps, self.actors, self.progress)

    def prepare(self) -> None:
        """Let all actors except the ego act on the present snapshot."""
        if self.tick % _HEARTBEAT_TICKS == 0:
            self.heartbeat(self.elapsed_s, self.progress.share, "driving")
        sky = self._weather.advance(self.world, self.progress.share)
        if sky is not None and self._capture is not None:
            self._capture.writer.add("weather", tick=self.tick + 1, **weather_row(sky))
        self.actors.advance(self.moment())
        if self._capture is not None:
            self._capture.pose_states = self.actors.playing()
            self._capture.reactions = self.actors.reactions()
        self._note_events()

    def moment(self) -> EgoMoment:
        """Return what the other actors know of the ego at the present tick."""
        return EgoMoment(
            elapsed_s=self.elapsed_s,
            snapshot=self.snapshot,
            ego_id=self.ego.id,
            ego_along_m=self.progress.along_m,
            ego_speed_mps=self._speed_mps,
        )

    def move(self, decision: Decision) -> None:
        """Apply the driver's decision and tick the world once."""
        self.ego.apply_control(self.actors.disturbed(decision.control))
        if self._capture is not None:
            add_decision(self._capture, self.ego, decision, self.progress)
        self.world.tick()
        self._look()

    def _look(self) -> None:
        self.snapshot = self.world.get_snapshot()
        if self.tick < 0:
            self._began_s = self.snapshot.timestamp.elapsed_seconds
            self._first_frame = self.snapshot.frame
        capture = self._capture
        if capture is not None:
            if self.tick >= 0 and self.tick % _LAMPS_TICKS == 0:
                lamps = self.world.get_vehicles_light_states()
                capture.lamps = {actor_id: int(flags) for actor_id, flags in lamps.items()}
            capture.observe(self.snapshot)
        self.tick = self.snapshot.frame - self._first_frame

    def _note_events(self) -> None:
        """Record the scenarios' events since the last tick, with the record's actor numbers."""
        self.events = self.actors.take_events()
        if self._capture is None:
            return
        for event in self.events:
            row = event_row(event, self._capture.number_of)
            self._capture.writer.add_event(
                tick=self.tick, kind=event.kind, source="scenario", **row
            )

    def note(self, kind: str, name: str) -> None:
        """Write an event of the runner to the record."""
        if self._capture is not None:
            self._capture.writer.add_event(tick=self.tick, kind=kind, source="runner", name=name)

    def declare_agent(self, declared: tuple[str, str] | None) -> None:
        """Set the name and version that the agent declares, if any."""
        if declared is not None:
            name, version_of_agent = declared
            self._agent = Agent(
                name=name, version=version_of_agent, arguments=self.plan.agent.arguments
            )

    # -- the end ---------------------------------------------------------------------------------

    def finish(self, reason: str, failure: str = "") -> Path | None:
        """Write the record; return its folder, or None if nothing is recorded."""
        self.actors.close()
        for _ in range(_FINAL_TICKS):
            self.world.tick()
        self._sensor.stop()
        capture, run_folder = self._capture, self._run_folder
        if capture is None or run_folder is None:
            return None
        add_route(capture.writer, self.route)
        signs = sorted(self.world.get_actors().filter("traffic.*"), key=lambda actor: actor.id)
        capture.add_landmarks([landmark_row(sign) for sign in signs])
        files = {"opendrive": SharedFiles(run_folder).add(self.opendrive, ".xodr")}
        return capture.finish(self._describe(reason, failure, files))

    def discard(self) -> None:
        """Discard the record."""
        self.actors.close()
        if self._capture is not None:
            self._capture.discard()

    def _describe(self, reason: str, failure: str, files: dict[str, SharedFile]) -> Episode:
        plan, session = self.plan, self.session
        return Episode(
            episode_id=self.episode_id,
            suite=plan.suite,
            scenario=plan.item.id,
            variant=plan.variant,
            pair=plan.item.pair,
            parameters={
                "vehicles": plan.item.vehicles,
                "people": plan.item.people,
                "posed": plan.item.posed,
                "traffic_speed": list(plan.item.traffic_speed),
                **plan.options.parameters(),
                **people_parameters(
                    plan.people_model,
                    own_motions=bool(plan.options.motions) or not plan.item.posed,
                    policy=plan.people_policy if plan.item.posed else "",
                ),
                **_half_of(plan),
            },
            town=plan.item.route.town,
            seed=plan.seed,
            agent=self._agent,
            server=Server(
                kind=session.kind,
                version=session.server_version,
                settings={
                    "synchronous_mode": True,
                    "fixed_delta_seconds": STEP_S,
                    **wet_grip_settings(session.wet_grip),
                },
            ),
            route=RecordedRoute(
                route_id=plan.item.route.id,
                dense=True,
                scenarios=[
                    {"name": spec.name, "type": spec.type} for spec in plan.item.route.scenarios
                ],
            ),
            sampling=Sampling(lamps_ticks=_LAMPS_TICKS),
            end_reason=reason,
            failure=failure,
            packages={"jaywalk": __version__, "carla": version("carla")},
            files=files,
            code=code_of_episode(plan.code, plan.item.route.town, route_digest(plan.item)),
            wall=Wall(
                started_utc=self._started.isoformat(timespec="seconds"),
                ended_utc=datetime.now(UTC).isoformat(timespec="seconds"),
                seconds=round(self.wall_s, 3),
                address=f"{session.host}:{session.port}",
                machine=platform.machine(),
            ),
        )


def _half_of(plan: EpisodePlan) -> dict[str, str]:
    """Return half and shift of a pair, for routes that state them."""
    half, shift = plan.item.half, plan.item.shift
    return ({"half": half} if half else {}) | ({"shift": shift} if shift else {})
