"""Drives with a file written for the CARLA Leaderboard, Bench2Drive or Fail2Drive, as it is.

The file's ``leaderboard``, ``srunner`` and ``agents`` imports come from the real packages when they
are installed, and from the small ones in ``compat`` when not.
"""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import carla
from defusedxml.ElementTree import fromstring

from jaywalk.agents.answers import read_forecasts, read_plan
from jaywalk.agents.base import Briefing, Decision, Driver, Forecast, Moment, Plan
from jaywalk.agents.sensor_rig import SensorError, SensorRig, check_sensors
from jaywalk.core.errors import UsageError
from jaywalk.town.gps import reference_deg, to_gps
from jaywalk.town.lane_graph import RoadOption
from jaywalk.town.routes import DenseRoute

ENTRY_POINT: Final = "get_entry_point"
_WARM_UP_TICKS: Final = 10  # the Leaderboard lets sensors run so long before the first call
_NEEDED: Final = (
    "leaderboard.autoagents.autonomous_agent",
    "srunner.scenariomanager.carla_data_provider",
    "srunner.scenariomanager.timer",
    "agents.navigation.local_planner",
)


def add_compatibility() -> None:
    """Make the imports of Leaderboard agents work; packages that are installed win."""
    folder = str(Path(__file__).parent / "compat")
    if folder not in sys.path and not all(_is_there(name) for name in _NEEDED):
        sys.path.append(folder)


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


class LeaderboardAgent(Driver):
    """Runs the agent class that a file's ``get_entry_point`` names."""

    name = "leaderboard-agent"

    def __init__(self, module: ModuleType, path: str) -> None:
        entry = getattr(module, ENTRY_POINT)()
        if not hasattr(module, entry):
            raise UsageError(f"{path}: get_entry_point() gives '{entry}', which is not defined.")
        self._kind = getattr(module, entry)
        self._agent: Any = None
        self._rig: SensorRig | None = None
        self._first_frame: int | None = None

    def setup(self, briefing: Briefing) -> None:
        """Make the agent, give it its plan, mount its sensors."""
        self._provider = import_module(_NEEDED[1]).CarlaDataProvider
        self._clock = import_module(_NEEDED[2]).GameTime
        self._tell_provider(briefing)
        self._world = briefing.world
        config = str(briefing.arguments.get("config", ""))
        gps, world = global_plan(briefing)
        parameters = list(inspect.signature(self._kind.__init__).parameters)[1:]
        self._local = "route_index" in parameters
        if parameters[:1] == ["carla_host"]:
            host, port = briefing.arguments.get("server", ("127.0.0.1", 2000))
            self._agent = self._kind(host, port, False)
        else:  # Leaderboard 1.0, whose base class calls setup, and Fail2Drive's local evaluator
            self._agent = self._kind(config, 0) if self._local else self._kind(config)
        self._agent.set_global_plan(gps, world)
        if self._local:
            self._agent.setup(config, "", None)
        elif parameters[:1] == ["carla_host"]:
            self._agent.setup(config)
        sensors = list(self._agent.sensors())
        track = getattr(self._agent.track, "value", "SENSORS")
        wanted = str(briefing.arguments.get("track", track))
        if wanted != track:
            raise SensorError(f"You are submitting to the wrong track [Track.{wanted}]!")
        check_sensors(sensors, track)
        self._rig = SensorRig(briefing.world, briefing.ego, sensors)

    def _tell_provider(self, briefing: Briefing) -> None:
        provider = self._provider
        provider.set_client(briefing.client)
        provider.set_world(briefing.world)
        provider.register_actor(briefing.ego)
        if hasattr(self._clock, "restart"):
            self._clock.restart()

    def decide(self, moment: Moment) -> Decision:
        """Ask the agent, with what its sensors measured in this frame."""
        assert self._rig is not None
        self._provider.on_carla_tick()
        self._clock.on_carla_tick(moment.snapshot.timestamp)
        if self._first_frame is None:
            self._first_frame = moment.frame + _WARM_UP_TICKS
        if moment.frame < self._first_frame:
            return Decision(control=carla.VehicleControl(brake=1.0))
        data = self._rig.read(moment.frame, moment.snapshot)
        time_s = self._clock.get_time()
        more = (self._sensor_list(),) if self._local else ()
        control = self._agent.run_step(data, time_s, *more)
        control.manual_gear_shift = False
        return Decision(control=control, plan=self._plan(), forecasts=self._forecasts(moment))

    def _plan(self) -> Plan | None:
        """What the optional method ``jaywalk_plan()`` says."""
        tell = getattr(self._agent, "jaywalk_plan", None)
        return read_plan(tell()) if callable(tell) else None

    def _forecasts(self, moment: Moment) -> tuple[Forecast, ...]:
        """What the optional method ``jaywalk_forecasts()`` says."""
        tell = getattr(self._agent, "jaywalk_forecasts", None)
        if not callable(tell):
            return ()
        source = type(self._agent).__name__
        return read_forecasts(tell(), source, moment.snapshot, self._people)

    def _people(self) -> list[int]:
        return sorted(one.id for one in self._world.get_actors().filter("walker.*"))

    @property
    def rig(self) -> SensorRig | None:
        """Its sensors, once it is set up."""
        return self._rig

    def _sensor_list(self) -> list[Any]:
        assert self._rig is not None
        return self._rig.actors

    def close(self) -> None:
        """Let the agent clean up, then remove its sensors."""
        try:
            if self._agent is not None:
                self._agent.destroy(*((None,) if self._local else ()))
        finally:
            if self._rig is not None:
                self._rig.close()


def global_plan(briefing: Briefing) -> tuple[list[Any], list[Any]]:
    """The dense plan in GPS and in world coordinates, with the options agents know."""
    options = import_module("agents.navigation.local_planner").RoadOption
    route: DenseRoute = briefing.route
    reference = reference_deg(fromstring(briefing.map.to_opendrive()))
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
