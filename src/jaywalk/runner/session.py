"""Session for episodes: an embedded server process, or a running server."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any, Final, Self

import carla

from jaywalk.actors.crowd.places import WalkNetwork, walk_network_of
from jaywalk.actors.lane_network import LaneNetwork
from jaywalk.actors.posed.repertoire import Repertoire, read_repertoire
from jaywalk.actors.traffic.traffic import network_of
from jaywalk.client.bones import BoneLine
from jaywalk.core.errors import DataError, InfrastructureError
from jaywalk.motion import packaged_library
from jaywalk.motion.library.reading import EVERYDAY, open_library
from jaywalk.motion.playback.bank import ClipBank
from jaywalk.record.episode import ask_wet_grip
from jaywalk.server.process import ServerProcess
from jaywalk.town.routes import RoutePlanner

STEP_S: Final = 0.05
_CALL_TIMEOUT_S: Final = 60.0
_PROBE_TIMEOUT_S: Final = 5.0


class SimulatorSession:
    """A server with its client; towns are prepared once and kept.

    Example:
        >>> with SimulatorSession.embedded() as session:  # doctest: +SKIP
        ...     run_episode(plan, session, Path("runs/mine"))
    """

    def __init__(self, host: str, port: int, process: ServerProcess | None = None) -> None:
        self.host, self.port = host, port
        self._process = process
        self.client = carla.Client(host, port)
        self.client.set_timeout(_CALL_TIMEOUT_S)
        self.server_version = self._ask(self.client.get_server_version)
        self._found = self._ask(self.client.get_world).get_settings()
        self.wet_grip = self._found_wet_grip = ask_wet_grip(host, port)
        self._bone_line: BoneLine | None = None
        self._planners: dict[str, RoutePlanner] = {}
        self._networks: dict[str, LaneNetwork] = {}
        self._walks: dict[str, WalkNetwork] = {}
        self._banks: dict[str, ClipBank] = {}
        self._motions: dict[str, tuple[ClipBank, Repertoire]] = {}

    @classmethod
    def embedded(cls, town: str = "Harbour", seed: int = 0) -> Self:
        """Start an embedded server."""
        process = ServerProcess(town=town, seed=seed)
        try:
            return cls(process.host, process.port, process)
        except BaseException:
            process.stop()
            raise

    @classmethod
    def attach(cls, host: str, port: int) -> Self:
        """Use a running CARLA or Jaywalk server."""
        return cls(host, port)

    @property
    def kind(self) -> str:
        """Name of the server kind in the record."""
        return "embedded" if self._process is not None else "external"

    @property
    def bone_line(self) -> BoneLine:
        """Connection for posing people; opened on first use."""
        if self._bone_line is None:
            self._bone_line = BoneLine(self.host, self.port)
        return self._bone_line

    @property
    def server_pid(self) -> int | None:
        """Process id of the embedded server."""
        return None if self._process is None else self._process.pid

    def server_cpu_s(self) -> float:
        """CPU seconds used by the embedded server."""
        return 0.0 if self._process is None else self._process.cpu_s()

    def server_resident_mb(self) -> float:
        """Resident memory of the embedded server, in MB."""
        return 0.0 if self._process is None else self._process.resident_mb()

    def fresh(
        self, town: str, opendrive: str | None = None, *, wet_grip: bool = False
    ) -> carla.World:
        """Return a world as after a start: the town loaded, synchronous, empty.

        Args:
            town: Name of the town.
            opendrive: Text of the town, if the server does not have it by name.
            wet_grip: Wet roads shall be slippery. :attr:`wet_grip` tells whether they are: the
                Unreal server has the same grip in all weathers.

        Raises:
            DataError: The server does not have the town.
            InfrastructureError: The server does not answer.
        """
        # Synchronous before and during the load: a world that ran freely for a moment would differ
        # from run to run.
        self._ask(lambda: _synchronise(self.client.get_world()))
        world: carla.World = self._ask(lambda: self._load(town, opendrive))
        self._ask(lambda: _synchronise(world))
        self._ask(world.reset_all_traffic_lights)
        self._set_wet_grip(wet_grip)
        return world

    def _set_wet_grip(self, wanted: bool) -> None:
        if wanted != self.wet_grip:
            self.wet_grip = ask_wet_grip(self.host, self.port, wanted)

    def _load(self, town: str, opendrive: str | None) -> carla.World:
        if opendrive is not None:
            return self.client.generate_opendrive_world(
                opendrive, carla.OpendriveGenerationParameters(), False
            )
        names = {name.rsplit("/", 1)[-1]: name for name in self.client.get_available_maps()}
        if town not in names:
            known = ", ".join(sorted(names))
            raise DataError(f"The server has no town '{town}'. It has: {known}.")
        present = self.client.get_world().get_map().name.rsplit("/", 1)[-1]
        if present == town:
            return self.client.reload_world(False)
        return self.client.load_world(town, False)

    def planner(self, key: str, town_map: carla.Map) -> RoutePlanner:
        """Return the route planner of a town; ``key`` names its content."""
        if key not in self._planners:
            self._planners[key] = RoutePlanner(town_map)
        return self._planners[key]

    def network(self, key: str, world: carla.World) -> LaneNetwork:
        """Return the lane network for traffic."""
        if key not in self._networks:
            self._networks[key] = network_of(world)
        return self._networks[key]

    def walks(self, key: str, world: carla.World) -> WalkNetwork:
        """Return the walk network for people."""
        if key not in self._walks:
            self._walks[key] = walk_network_of(world, lanes=self.network(key, world))
        return self._walks[key]

    def motions(self, name: str) -> tuple[ClipBank, Repertoire]:
        """Return the clips for posed people, from a library that comes along or a folder."""
        if name not in self._motions:
            bank = self.bank(name)
            self._motions[name] = bank, read_repertoire(bank.library)
        return self._motions[name]

    def bank(self, name: str) -> ClipBank:
        """Return the clips of a library that comes along, or of a folder."""
        if name not in self._banks:
            packaged = name in ("", EVERYDAY)
            library = packaged_library(name) if packaged else open_library(Path(name))
            self._banks[name] = ClipBank(library)
        return self._banks[name]

    def is_alive(self) -> bool:
        """Return True if the server still answers."""
        try:
            self.client.set_timeout(_PROBE_TIMEOUT_S)
            self.client.get_server_version()
        except RuntimeError:
            return False
        finally:
            self.client.set_timeout(_CALL_TIMEOUT_S)
        return True

    def _ask(self, call: Any) -> Any:
        try:
            return call()
        except RuntimeError as problem:
            raise InfrastructureError(f"{self.host}:{self.port}: {problem}") from problem

    def close(self) -> None:
        """End the embedded server; leave a running one as it was found."""
        if self._bone_line is not None:
            self._bone_line.close()
        if self._process is not None:
            self._process.stop()
            return
        with contextlib.suppress(RuntimeError):
            self.client.set_timeout(_PROBE_TIMEOUT_S)
            self.client.get_world().apply_settings(self._found)
        self._set_wet_grip(self._found_wet_grip)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


def _synchronise(world: carla.World) -> None:
    settings = world.get_settings()
    if not settings.synchronous_mode or settings.fixed_delta_seconds != STEP_S:
        settings.synchronous_mode = True
        settings.fixed_delta_seconds = STEP_S
        world.apply_settings(settings)
