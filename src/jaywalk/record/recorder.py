"""Passive recorder of a CARLA or Jaywalk server that another program drives.

The recorder never ticks and changes nothing, unless it is asked to attach a collision sensor to the
ego. It receives snapshots like every other client. A thread of the wheel captures them; the main
thread notices new worlds, finishes episodes and stops.
"""

from __future__ import annotations

import contextlib
import platform
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import carla

from jaywalk import __version__
from jaywalk.core.errors import PrerequisiteError
from jaywalk.core.files import read_bytes
from jaywalk.record._route_file import RouteEntry, match_route, read_routes
from jaywalk.record.capture import EpisodeCapture
from jaywalk.record.episode import (
    Agent,
    Episode,
    RecordedRoute,
    Sampling,
    Server,
    SharedFile,
    Wall,
    ask_wet_grip,
    wet_grip_settings,
)
from jaywalk.record.files import SharedFiles
from jaywalk.record.rows import landmark_row, weather_row
from jaywalk.record.run import RunFolder

_POLL_S: Final = 0.02
_TIMEOUT_S: Final = 10.0
_SHORTEST_TICKS: Final = 2
_CATCH_UP_S: Final = 30.0
_STALLED_S: Final = 5.0  # no snapshot for this long while catching up: the end
_FIRST_FRAME_S: Final = 2.0  # a client of a synchronous world knows frame 0 until a snapshot comes
_SILENCE_S: Final = 5.0
SENSOR_ROLE: Final = "jaywalk-recorder"  # marks the recorder's sensor among those of the program


@dataclass(frozen=True, slots=True, kw_only=True)
class RecorderOptions:
    """Options of the recorder: its input, its output and its end condition."""

    out: Path
    host: str = "127.0.0.1"
    port: int = 2000
    routes: Path | None = None
    hero: str = "hero"  # role name of the ego; empty: record whole worlds
    until_idle_s: float | None = None
    sample_ticks: int = 10
    collision_sensor: bool = False
    longest_ticks: int = 72_000  # an hour at 20 Hz: a longer episode is cut
    agent: str = ""


@dataclass(slots=True)
class _World:
    """Facts that the recorder asks the server for once per world."""

    handle: Any
    number: int
    town: str = ""
    files: dict[str, SharedFile] = field(default_factory=dict)
    landmarks: list[dict[str, Any]] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    actors: dict[int, Any] = field(default_factory=dict)
    heroes: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Running:
    """An episode being captured."""

    capture: EpisodeCapture
    world: _World
    name: str
    started: datetime
    clock_s: float
    end_reason: str = ""
    weather: tuple[float | None, ...] = ()
    sensor: Any = None
    sensor_tried: bool = False
    last_frame: int = 0  # as far as the server is known to have come in this episode
    partial_ticks: int = 0  # recorded, but asking the server about them failed half-way

    @property
    def missing_ticks(self) -> int:
        """Ticks from the first to the last frame that the record lacks or has only in part."""
        first = self.capture.first_frame
        expected = 0 if first is None else self.last_frame - first + 1
        return max(expected - self.capture.writer.ticks, 0) + self.partial_ticks


class StopRequest:
    """Request to stop, made by a signal handler and read by the recorder.

    This is not a ``threading.Event``: a handler interrupts the main thread at any point. If the
    thread is in ``Event.wait``, ``Event.set`` would wait forever for a lock of the same thread.
    """

    def __init__(self) -> None:
        """Start without a request."""
        self.made = False

    def make(self, *_signal: object) -> None:
        """Request a stop; usable as a handler for ``signal.signal``."""
        self.made = True


class PassiveRecorder:
    """Recorder of episodes that runs until a stop request, or until nothing moves for a while."""

    def __init__(
        self, options: RecorderOptions, say: Callable[[str], None] = lambda line: None
    ) -> None:
        """Connect.

        Args:
            options: Options of the recorder.
            say: Receives a line at the start and at the end of every episode.

        Raises:
            PrerequisiteError: No server answers.
        """
        self._options = options
        self._say = say
        self._routes: list[RouteEntry] = read_routes(options.routes) if options.routes else []
        self._used_routes: set[int] = set()
        self._shared = SharedFiles(options.out)
        self._lock = threading.Lock()
        self._running: _Running | None = None
        self._ended: list[_Running] = []
        self._count = len(list(RunFolder(options.out).episodes.glob("*")))
        self._last_frame_s = self._last_sign_s = time.monotonic()
        self._taken_frame = 0  # the last snapshot that was dealt with
        self.incomplete: list[str] = []  # episodes with missing ticks
        self._problem: Exception | None = None
        self._present: _World | None = None
        self._second_client: Any = None
        self._gone = False
        self._client = carla.Client(options.host, options.port)
        self._client.set_timeout(_TIMEOUT_S)
        try:
            self._server_version = self._client.get_server_version()
        except RuntimeError as problem:
            raise PrerequisiteError(
                f"No server answers at {options.host}:{options.port}. Start one with 'jaywalk "
                f"serve --port {options.port}', or give its address with --server HOST:PORT."
            ) from problem

    def run(self, stop: StopRequest) -> list[Path]:
        """Record until ``stop`` is made, the server goes away or nothing has moved for a while.

        Returns:
            Folders of the episodes written.
        """
        written: list[Path] = []
        self._last_frame_s = time.monotonic()
        reason = "recorder stopped"
        while not stop.made and not self._is_idle() and self._problem is None:
            try:
                handle = self._client.get_world()
            except RuntimeError:
                reason = "server gone"
                break
            world = _World(handle=handle, number=handle.id)
            with self._lock:
                self._end("world changed")
                self._present = world
            self._watch(world, stop, written)
            if self._gone:
                reason = "server gone"
                break
        if reason == "recorder stopped" and not stop.made:
            reason = "idle"
        with self._lock:
            self._end(reason)
            self._present = None
        self._write_ended(written)
        if self._problem is not None:
            raise self._problem
        return written

    def _is_idle(self) -> bool:
        limit = self._options.until_idle_s
        return limit is not None and time.monotonic() - self._last_frame_s > limit

    def _watch(self, world: _World, stop: StopRequest, written: list[Path]) -> None:
        """Stay with one world until it is replaced."""
        handle = world.handle
        subscription = handle.on_tick(lambda snapshot: self._on_tick(world, snapshot))
        # Any of this raises once another client has loaded a world (the handle belongs to the old
        # one) or the server is gone; the next request for the world will show which.
        with contextlib.suppress(RuntimeError):
            newest_frame(handle)
            self._ask_once(world)
            address = f"{self._options.host}:{self._options.port}"
            self._say(f"watching {_short(world.town)} on {address}")
            while not stop.made and not self._is_idle() and self._problem is None:
                time.sleep(_POLL_S)
                self._write_ended(written)
                self._hang_sensor()
                self._check_server()
                if handle.get_snapshot().id != world.number:
                    break
            self._catch_up(world)
        with contextlib.suppress(RuntimeError):
            handle.remove_on_tick(subscription)
        self._write_ended(written)

    def _check_server(self) -> None:
        """Check that the server responds when no tick has come for a while; raise otherwise."""
        now_s = time.monotonic()
        if now_s - max(self._last_frame_s, self._last_sign_s) > _SILENCE_S:
            try:
                self._client.get_server_version()
            except RuntimeError:
                self._gone = True
                raise
            self._last_sign_s = now_s

    def _catch_up(self, world: _World) -> None:
        """Take the snapshots that still wait in the wheel: a fast program may be ahead of us."""
        # Kept until the end: taking a client down while another one listens can hang.
        fresh = self._second_client = carla.Client(self._options.host, self._options.port)
        fresh.set_timeout(_TIMEOUT_S)
        # A new subscriber is given the newest snapshot at once, so this is how far the server is.
        handle = fresh.get_world()
        newest = newest_frame(handle)
        until_s = time.monotonic() + _CATCH_UP_S
        while self._taken_frame < newest and time.monotonic() < until_s:
            time.sleep(_POLL_S)
            if time.monotonic() - self._last_frame_s > _STALLED_S:
                break
        with self._lock:
            # In a world that was replaced, the newest frame does not belong to this world.
            if self._running is not None and handle.id == world.number:
                self._running.last_frame = max(self._running.last_frame, newest)

    def _ask_once(self, world: _World) -> None:
        """Map, landmarks and settings: some calls to the server, once per world."""
        the_map = world.handle.get_map()
        world.town = the_map.name
        world.files["opendrive"] = self._shared.add(the_map.to_opendrive().encode(), ".xodr")
        if self._options.routes is not None:
            world.files["routes"] = self._shared.add(
                read_bytes(self._options.routes, "a route file (.xml)"), ".xml"
            )
        settings = world.handle.get_settings()
        world.settings = {
            "synchronous_mode": settings.synchronous_mode,
            "fixed_delta_seconds": settings.fixed_delta_seconds,
            **wet_grip_settings(ask_wet_grip(self._options.host, self._options.port)),
        }
        signs = world.handle.get_actors().filter("traffic.*")
        world.landmarks = [landmark_row(sign) for sign in sorted(signs, key=lambda one: one.id)]

    def _on_tick(self, world: _World, snapshot: Any) -> None:
        """Called by the wheel; must not raise."""
        try:
            with self._lock:
                if world is not self._present:
                    return
                self._last_frame_s = time.monotonic()
                if snapshot.id != world.number:
                    # The first snapshot of a new world still comes to the old subscription.
                    self._end("world changed")
                    return
                hero = self._find_hero(world, snapshot)
                self._begin_or_end(world, hero)
                if self._running is not None:
                    self._running.last_frame = max(self._running.last_frame, snapshot.frame)
                    self._sample(self._running)
                    self._running.capture.observe(snapshot)
        except RuntimeError:
            # The wheel's word for a world or server that went away; the main thread finds out.
            self._note_failure(snapshot.frame)
        except Exception as problem:
            self._problem = problem
        finally:
            self._last_frame_s = time.monotonic()
            self._taken_frame = max(self._taken_frame, snapshot.frame)

    def _note_failure(self, frame: int) -> None:
        """Note that a snapshot came, but a request to the server about it failed."""
        running = self._running
        if running is not None:
            running.last_frame = max(running.last_frame, frame)
            first = running.capture.first_frame
            running.partial_ticks += first is not None and running.capture.tick == frame - first

    def _fetch(self, world: _World, ids: list[int]) -> list[Any]:
        missing = [one for one in ids if one not in world.actors]
        if missing:
            world.actors.update({one.id: one for one in world.handle.get_actors(missing)})
        return [world.actors[one] for one in ids if one in world.actors]

    def _find_hero(self, world: _World, snapshot: Any) -> int | None:
        if not self._options.hero:
            return None
        new = [one.id for one in snapshot if one.id not in world.actors]
        for actor in self._fetch(world, new) if new else ():
            if actor.attributes.get("role_name") == self._options.hero and (
                actor.type_id.startswith("vehicle.")
            ):
                world.heroes.append(actor.id)
        return next((hero for hero in world.heroes if snapshot.has_actor(hero)), None)

    def _begin_or_end(self, world: _World, hero: int | None) -> None:
        running = self._running
        if running is not None:
            capture = running.capture
            if hero != capture.ego_id:
                self._end("ego removed" if hero is None else "ego replaced")
            elif capture.tick >= self._options.longest_ticks:
                self._end("cut: too long")
        if self._running is None and (hero is not None or not self._options.hero):
            self._begin(world, hero)

    def _begin(self, world: _World, hero: int | None) -> None:
        self._count += 1
        name = f"{self._count:04d}"
        folder = RunFolder(self._options.out).episode(name)
        capture = EpisodeCapture(folder, lambda ids: self._fetch(world, ids), hero)
        self._running = _Running(
            capture=capture,
            world=world,
            name=name,
            started=datetime.now(UTC),
            clock_s=time.monotonic(),
        )
        self._say(f"episode {name} begun" + (f", ego {hero}" if hero is not None else ""))

    def _end(self, reason: str) -> None:
        if self._running is not None:
            self._running.end_reason = reason
            self._ended.append(self._running)
            self._running = None

    def _sample(self, running: _Running) -> None:
        """Ask for values that no snapshot carries: weather and lamps."""
        capture = running.capture
        tick = capture.tick + 1
        if tick % self._options.sample_ticks:
            return
        handle = running.world.handle
        weather = weather_row(handle.get_weather())
        if tuple(weather.values()) != running.weather:
            running.weather = tuple(weather.values())
            capture.writer.add("weather", tick=tick, **weather)
        capture.lamps = {
            one: int(flags) for one, flags in handle.get_vehicles_light_states().items()
        }

    def _hang_sensor(self) -> None:
        running = self._running
        if not self._options.collision_sensor or running is None or running.sensor_tried:
            return
        running.sensor_tried = True
        capture, handle = running.capture, running.world.handle
        if capture.ego_id is None:
            return
        try:
            blueprint = handle.get_blueprint_library().find("sensor.other.collision")
            if blueprint.has_attribute("role_name"):
                blueprint.set_attribute("role_name", SENSOR_ROLE)
            ego = handle.get_actor(capture.ego_id)
            running.sensor = handle.spawn_actor(blueprint, carla.Transform(), attach_to=ego)
        except RuntimeError as problem:
            self._say(f"episode {running.name}: no collision sensor on the ego: {problem}")
            return

        def on_hit(event: Any) -> None:
            other, force, place = event.other_actor, event.normal_impulse, event.transform.location
            capture.add_hit(
                event.frame,
                other.id,
                other.type_id,
                (force.x, force.y, force.z),
                (place.x, place.y, place.z),
            )

        running.sensor.listen(on_hit)

    def _write_ended(self, written: list[Path]) -> None:
        with self._lock:
            ended, self._ended = self._ended, []
        for running in ended:
            if running.sensor is not None:
                with contextlib.suppress(RuntimeError):
                    running.sensor.stop()
                    running.sensor.destroy()
            if running.capture.writer.ticks < _SHORTEST_TICKS:
                running.capture.discard()
                continue
            written.append(running.capture.finish(self._describe(running)))
            missing = running.missing_ticks
            if missing:
                self.incomplete.append(running.name)
            lack = f", INCOMPLETE: {missing} ticks are missing" if missing else ""
            self._say(f"episode {running.name} written ({running.end_reason}){lack}: {written[-1]}")

    def _describe(self, running: _Running) -> Episode:
        world, options = running.world, self._options
        running.capture.add_landmarks(world.landmarks)
        every = options.sample_ticks
        return Episode(
            episode_id=running.name,
            town=_short(world.town),
            agent=Agent(name=options.agent),
            server=Server(version=self._server_version, settings=world.settings),
            route=self._add_route(running),
            sampling=Sampling(lamps_ticks=every, weather_ticks=every),
            end_reason=running.end_reason,
            complete=running.missing_ticks == 0,
            packages={"jaywalk": __version__, "carla": version("carla")},
            files=world.files,
            wall=Wall(
                started_utc=running.started.isoformat(timespec="seconds"),
                ended_utc=datetime.now(UTC).isoformat(timespec="seconds"),
                seconds=round(time.monotonic() - running.clock_s, 3),
                address=f"{options.host}:{options.port}",
                machine=platform.machine(),
                missing_ticks=running.missing_ticks,
            ),
        )

    def _add_route(self, running: _Running) -> RecordedRoute:
        place = running.capture.first_ego_place_m
        if not self._routes or place is None:
            return RecordedRoute()
        index = match_route(self._routes, running.world.town, *place, self._used_routes)
        if index is None:
            self._say(f"episode {running.name}: no route begins near the ego in this town")
            return RecordedRoute()
        self._used_routes.add(index)
        entry = self._routes[index]
        for row in entry.rows():
            running.capture.writer.add("route", **row)
        return RecordedRoute(route_id=entry.route_id, dense=False, scenarios=list(entry.scenarios))


def newest_frame(handle: Any, patience_s: float = _FIRST_FRAME_S) -> int:
    """Return the newest frame of a world handle; 0 if no snapshot came within ``patience_s``.

    In synchronous mode ``get_world`` returns before the first snapshot has come. The handle then
    reports frame 0 regardless of the server's frame.
    """
    until_s = time.monotonic() + patience_s
    while not (frame := int(handle.get_snapshot().frame)) and time.monotonic() < until_s:
        time.sleep(_POLL_S)
    return frame


def _short(town: str) -> str:
    """Name of a map without CARLA's folders."""
    return town.rsplit("/", 1)[-1]
