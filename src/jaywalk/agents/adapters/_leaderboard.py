"""Drive with an unchanged agent file of the CARLA Leaderboard, Bench2Drive or Fail2Drive.

The file's imports of ``leaderboard``, ``srunner`` and ``agents`` come from the real packages if
they are installed, otherwise from the small ones in ``compat``.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Mapping
from enum import Enum
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import carla
import numpy as np
from defusedxml.ElementTree import fromstring

from jaywalk.agents.adapters._leaderboard_environment import SpeedTables, restore_numpy_names
from jaywalk.agents.adapters._observation import read_forecasts, read_plan
from jaywalk.agents.adapters.sensor_rig import (
    LOCAL_RADIUS_M,
    RADIUS_M,
    SensorRig,
    check_sensors,
    check_track,
)
from jaywalk.agents.base import Briefing, Decision, Driver, Forecast, Moment, Plan
from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.core.text import short_repr
from jaywalk.geometry.geodesy import route_reference_deg, to_gps
from jaywalk.town.lane_graph import RoadOption
from jaywalk.town.routes import DenseRoute

ENTRY_POINT: Final = "get_entry_point"
_TRACK_VARIABLE: Final = "CHALLENGE_TRACK_CODENAME"  # of the Leaderboard's own scripts
_SAVE_NAME: Final = "jaywalk"
_WARM_UP_TICKS: Final = 10  # the Leaderboard lets sensors run this long before the first call
_FAR: Final = 1e9  # no route index yet
_NEEDED: Final = (
    "leaderboard.autoagents.autonomous_agent",
    "srunner.scenariomanager.carla_data_provider",
    "srunner.scenariomanager.timer",
    "agents.navigation.basic_agent",
)


class LeaderboardManner(Enum):
    """Convention by which an evaluator makes and calls an agent."""

    HOSTED = "Leaderboard 2.x, Bench2Drive"  # (carla_host, carla_port, debug), then setup(config)
    CONFIGURED = "Leaderboard 1.0"  # (config), which calls setup
    LOCAL = "local"  # (config, route_index), then setup(config, route, traffic manager)


def add_compatibility() -> None:
    """Make the imports of Leaderboard agents work; installed packages take precedence."""
    restore_numpy_names()
    folder = str(Path(__file__).parents[1] / "compat")
    if folder not in sys.path and not all(_is_there(name) for name in _NEEDED):
        sys.path.append(folder)


def _is_there(name: str) -> bool:
    """Return whether a module is on disk; Python itself would import its parents.

    A folder that only has the name of a package, as in a checkout's root, does not count.
    """
    root, *below = name.split(".")
    spec = PathFinder.find_spec(root)
    if spec is None or spec.origin is None:
        return False
    folders = spec.submodule_search_locations or []
    return any(Path(folder, *below).with_suffix(".py").is_file() for folder in folders)


class LeaderboardAgent(Driver):
    """Runs the agent class that a file's ``get_entry_point`` names."""

    name = "leaderboard-agent"

    def __init__(self, module: ModuleType, path: str) -> None:
        self._kind = _entry_class(module, path)
        self._manner = manner_of(self._kind)
        self._agent: Any = None
        self._rig: SensorRig | None = None
        self._first_frame: int | None = None
        self._tables = SpeedTables()

    def setup(self, briefing: Briefing) -> None:
        """Create the agent, give it its plan and mount its sensors."""
        self._provider = import_module(_NEEDED[1]).CarlaDataProvider
        self._clock = import_module(_NEEDED[2]).GameTime
        self._tell_provider(briefing)
        self._world = briefing.world
        self._tables.offer(briefing.map)
        config = _config(briefing.arguments)
        gps, world = global_plan(briefing)
        if self._manner is LeaderboardManner.HOSTED:
            host, port = briefing.arguments.get("server", ("127.0.0.1", 2000))
            self._agent = self._kind(host, port, False)
        else:  # Leaderboard 1.0, whose base class calls setup, and local evaluators
            self._agent = self._kind(
                config, *((0,) if self._manner is LeaderboardManner.LOCAL else ())
            )
        self._agent.set_global_plan(gps, world)
        if self._manner is LeaderboardManner.LOCAL:
            self._agent.setup(config, "", None)
        elif self._manner is LeaderboardManner.HOSTED:
            self._agent.setup(config)
        sensors = list(self._agent.sensors())
        self._check(sensors, briefing.arguments)
        self._rig = SensorRig(briefing.world, briefing.ego, sensors)

    def _check(self, sensors: list[Any], arguments: Mapping[str, Any]) -> None:
        """Check first the track, then the sensors, as the evaluator does."""
        track = getattr(self._agent.track, "value", "SENSORS")
        chosen = arguments.get("track") or os.environ.get(_TRACK_VARIABLE) or track
        check_track(track, str(chosen))
        local = self._manner is LeaderboardManner.LOCAL
        check_sensors(sensors, track, LOCAL_RADIUS_M if local else RADIUS_M)

    def _tell_provider(self, briefing: Briefing) -> None:
        provider = self._provider
        provider.set_client(briefing.client)
        provider.set_world(briefing.world)
        provider.register_actor(briefing.ego, briefing.ego.get_transform())
        # The original finds the ego only among the actors that it has spawned itself.
        pool = getattr(provider, "_carla_actor_pool", None)
        if pool is not None:
            pool[briefing.ego.id] = briefing.ego
        if hasattr(self._clock, "restart"):
            self._clock.restart()
        if hasattr(provider, "active_scenarios"):
            provider.active_scenarios = _active_scenarios(briefing)

    def decide(self, moment: Moment) -> Decision:
        """Ask the agent for its control, with the sensor data of this frame."""
        assert self._rig is not None
        self._provider.on_carla_tick()
        self._clock.on_carla_tick(moment.snapshot.timestamp)
        if self._first_frame is None:
            self._first_frame = moment.frame + _WARM_UP_TICKS
        if moment.frame < self._first_frame:
            return Decision(control=carla.VehicleControl(brake=1.0))
        data = self._rig.read(moment.frame, moment.snapshot)
        time_s = self._clock.get_time()
        more = (self._rig.named_actors,) if self._manner is LeaderboardManner.LOCAL else ()
        control = self._agent.run_step(data, time_s, *more)
        if not isinstance(control, carla.VehicleControl):
            raise TypeError(
                f"run_step returned {short_repr(control)}, expected a carla.VehicleControl"
            )
        control.manual_gear_shift = False
        return Decision(control=control, plan=self._plan(), forecasts=self._forecasts(moment))

    def _plan(self) -> Plan | None:
        """Return the plan of the optional method ``jaywalk_plan()``."""
        tell = getattr(self._agent, "jaywalk_plan", None)
        return read_plan(tell()) if callable(tell) else None

    def _forecasts(self, moment: Moment) -> tuple[Forecast, ...]:
        """Return the forecasts of the optional method ``jaywalk_forecasts()``."""
        tell = getattr(self._agent, "jaywalk_forecasts", None)
        if not callable(tell):
            return ()
        source = type(self._agent).__name__
        return read_forecasts(tell(), source, moment.snapshot, self._people)

    def _people(self) -> list[int]:
        return sorted(actor.id for actor in self._world.get_actors().filter("walker.*"))

    @property
    def rig(self) -> SensorRig | None:
        """Sensors of the agent after setup."""
        return self._rig

    @property
    def plan_m(self) -> FloatArray | None:
        """Points of the thinned plan that the agent keeps, ``(k, 2)`` in the world; None if none.

        Frame: CARLA's left-handed metres.
        """
        points = getattr(self._agent, "_global_plan_world_coord", None)
        if not points:
            return None
        return np.array([(pose.location.x, pose.location.y) for pose, _ in points], np.float64)

    def close(self) -> None:
        """Let the agent clean up, then remove its sensors and forget the world."""
        try:
            if self._agent is not None:
                self._agent.destroy(*((None,) if self._manner is LeaderboardManner.LOCAL else ()))
        finally:
            if self._rig is not None:
                self._rig.close()
            self._tables.withdraw()
            self._forget_world()

    def _forget_world(self) -> None:
        provider = getattr(self, "_provider", None)
        if provider is None:
            return
        # The original destroys all actors it believes to have spawned; the ego is not one of them.
        pool = getattr(provider, "_carla_actor_pool", None)
        if pool is not None:
            pool.clear()
        provider.cleanup()


def is_leaderboard_class(thing: Any) -> bool:
    """Return whether a value is a class that derives from a base class of Leaderboard agents."""
    return isinstance(thing, type) and any(_is_base(kind) for kind in thing.__mro__[1:])


def _is_base(kind: type[Any]) -> bool:
    return kind.__module__.startswith("leaderboard.")


def _entry_class(module: ModuleType, path: str) -> type[Any]:
    """Return the agent class of a file; it has a ``run_step`` of its own."""
    entry = getattr(module, ENTRY_POINT)()
    if not isinstance(entry, str):
        raise UsageError(
            f"{path}: get_entry_point() gives {short_repr(entry)}, expected the name of a class."
        )
    kind = getattr(module, entry, None)
    if not isinstance(kind, type):
        raise UsageError(f"{path}: get_entry_point() gives '{entry}', which is not defined.")
    owner = next((one for one in kind.__mro__ if "run_step" in vars(one)), None)
    if owner is None or _is_base(owner):
        raise UsageError(
            f"{path}: {entry} has no run_step of its own. Expected run_step(self, input_data, "
            "timestamp), which returns a carla.VehicleControl."
        )
    return kind


def _active_scenarios(briefing: Briefing) -> list[Any]:
    """Return the scenario data of PDM-Lite: actors, side, and its own progress so far."""
    actors = {item.id: item for item in briefing.world.get_actors()}
    return [
        (
            item.name,
            [
                actors[item.first_actor],
                actors.get(item.last_actor),
                item.direction,
                False,
                _FAR,
                _FAR,
                False,
            ],
        )
        for item in briefing.announcements
        if item.first_actor in actors
    ]


def manner_of(kind: type[Any]) -> LeaderboardManner:
    """Return how to construct an agent, by the first constructor with named arguments."""
    for owner in kind.__mro__:
        if "__init__" not in vars(owner):
            continue
        parameters = list(inspect.signature(vars(owner)["__init__"]).parameters.values())[1:]
        if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
            continue  # passes all arguments to its base
        names = [parameter.name for parameter in parameters]
        if "route_index" in names:
            return LeaderboardManner.LOCAL
        return (
            LeaderboardManner.HOSTED
            if names[:1] == ["carla_host"]
            else LeaderboardManner.CONFIGURED
        )
    return LeaderboardManner.HOSTED


def _config(arguments: Mapping[str, Any]) -> str:
    """Return the argument of ``setup``; for Bench2Drive with ``+`` and a name to save under."""
    config = str(arguments.get("config", ""))
    bench2drive = os.environ.get("IS_BENCH2DRIVE", "").lower() in ("1", "true")
    return f"{config}+{_SAVE_NAME}" if bench2drive else config


def global_plan(briefing: Briefing) -> tuple[list[Any], list[Any]]:
    """Return the dense plan in GPS and in world coordinates, with the options of agents."""
    options = import_module("agents.navigation.local_planner").RoadOption
    route: DenseRoute = briefing.route
    reference = route_reference_deg(fromstring(briefing.map.to_opendrive()))
    names = [options[RoadOption(int(one)).name] for one in route.option]
    gps = [
        ({"lat": float(lat), "lon": float(lon), "z": float(z)}, option)
        for (lat, lon, z), option in zip(to_gps(route.position_m, reference), names, strict=True)
    ]
    world = []
    for (x, y, z), (pitch, yaw, roll), option in zip(
        route.position_m.tolist(), route.rotation_deg.tolist(), names, strict=True
    ):
        pose = carla.Transform(carla.Location(x, y, z), carla.Rotation(pitch, yaw, roll))
        world.append((pose, option))
    return gps, world
