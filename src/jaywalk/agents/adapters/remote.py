"""Drive with an agent of ``jaywalk_agent``, in this process or over a websocket.

Both kinds use one class and get the same values, so the same agent gives the same record.
"""

from __future__ import annotations

import contextlib
from typing import Any, Final, Protocol

import carla

import jaywalk_agent
from jaywalk import __version__
from jaywalk.agents.adapters._observation import Observer, read_forecasts, read_plan
from jaywalk.agents.adapters.sensor_rig import SensorRig, check_sensors
from jaywalk.agents.base import Briefing, Decision, Driver, Moment
from jaywalk.core.errors import AgentUnreachableError
from jaywalk_agent.agent import as_answer, name_of
from jaywalk_agent.client import Ready
from jaywalk_agent.wire import answer_from, as_map, pack, unpack

_WARM_UP_TICKS: Final = 10  # as for Leaderboard agents: sensors run this long before the first call
_TRACK: Final = "MAP"  # every sensor is allowed
WAIT_S: Final = 30.0  # an agent that died may be starting again


class Link(Protocol):
    """Connection to an agent."""

    def setup(self, briefing: jaywalk_agent.Briefing) -> Ready:
        """Brief the agent."""

    def step(self, moment: jaywalk_agent.Moment) -> jaywalk_agent.Answer:
        """Ask the agent for its answer."""

    def close(self) -> None:
        """Close the connection."""


class InProcess:
    """Connection to an agent in this process; its answers have the same form as on the wire."""

    def __init__(self, agent: jaywalk_agent.Agent) -> None:
        self._agent = agent

    def setup(self, briefing: jaywalk_agent.Briefing) -> Ready:
        """Brief the agent."""
        agent = self._agent
        agent.setup(briefing)
        sensors = unpack(pack({"type": "ready", "sensors": list(agent.sensors())}))["sensors"]
        return Ready(name_of(agent), str(agent.version), sensors)

    def step(self, moment: jaywalk_agent.Moment) -> jaywalk_agent.Answer:
        """Ask the agent for its answer."""
        said = as_answer(self._agent.step(moment))
        return answer_from(unpack(pack({"type": "act", **as_map(said)})))

    def close(self) -> None:
        """Close the connection."""
        self._agent.close()


class PlainDriver(Driver):
    """Passes observations to an agent and applies its control."""

    name = "plain-agent"

    def __init__(self, agent: jaywalk_agent.Agent | None = None, address: str = "") -> None:
        """Drive with an agent object, or with the agent at an address."""
        self._address = address
        self._link: Link | None = None if agent is None else InProcess(agent)
        self._rig: SensorRig | None = None
        self._ready = Ready("", "", [])
        self._first_frame: int | None = None
        self._lost = False

    @property
    def peer(self) -> dict[str, Any]:
        """Description that a remote agent gave on connection."""
        return dict(self._link.peer) if isinstance(self._link, jaywalk_agent.RemoteAgent) else {}

    @property
    def rig(self) -> SensorRig | None:
        """Sensors of the agent after setup."""
        return self._rig

    def setup(self, briefing: Briefing) -> None:
        """Connect if necessary, brief the agent and mount its sensors."""
        try:
            self._set_up(briefing)
        except BaseException:
            with contextlib.suppress(Exception):  # report the first failure
                self.close()
            raise

    def _set_up(self, briefing: Briefing) -> None:
        if self._link is None:
            self._link = open_link(self._address, WAIT_S)
        self._world = briefing.world
        self._observer = Observer(briefing)
        self._ready = self._asked(self._link.setup, self._observer.briefing(), "setup")
        check_sensors(self._ready.sensors, _TRACK)
        if self._ready.sensors:
            self._rig = SensorRig(briefing.world, briefing.ego, self._ready.sensors)

    def decide(self, moment: Moment) -> Decision:
        """Ask the agent for its control."""
        assert self._link is not None
        data: dict[str, Any] = {}
        if self._rig is not None:
            if self._first_frame is None:
                self._first_frame = moment.frame + _WARM_UP_TICKS
            if moment.frame < self._first_frame:
                return Decision(control=carla.VehicleControl(brake=1.0))
            data = self._rig.read(moment.frame, moment.snapshot)
        seen = self._observer.moment(moment, data)
        answer = self._asked(self._link.step, seen, f"step at {seen.time_s:g} s")
        control = answer.control
        return Decision(
            control=carla.VehicleControl(
                throttle=float(control.throttle),
                steer=float(control.steer),
                brake=float(control.brake),
                hand_brake=bool(control.hand_brake),
                reverse=bool(control.reverse),
            ),
            plan=read_plan(answer.plan),
            forecasts=read_forecasts(
                answer.forecasts, self._ready.name, moment.snapshot, self._people
            ),
            debug=answer.debug,
        )

    def _asked(self, call: Any, value: Any, doing: str) -> Any:
        try:
            return call(value)
        except BaseException as problem:
            # Also after a timeout of the runner: a closing message is useless then.
            self._lost = True
            if self._address and not isinstance(problem, jaywalk_agent.LinkError):
                problem.add_note(f"{self._address} did not answer ({doing})")
            raise

    def _people(self) -> list[int]:
        return sorted(actor.id for actor in self._world.get_actors().filter("walker.*"))

    def declared(self) -> tuple[str, str] | None:
        """Return the name and version that the agent declares."""
        return (self._ready.name, self._ready.version) if self._ready.name else None

    def close(self) -> None:
        """Close the connection and remove the sensors."""
        try:
            if isinstance(self._link, jaywalk_agent.RemoteAgent) and self._lost:
                self._link.drop()
            elif self._link is not None:
                self._link.close()
        finally:
            if self._rig is not None:
                self._rig.close()


def open_link(address: str, wait_s: float = 0.0) -> jaywalk_agent.RemoteAgent:
    """Connect to a remote agent.

    Raises:
        AgentUnreachableError: No program listens at the address.
        ProtocolError: The program there does not speak the protocol.
    """
    try:
        return jaywalk_agent.RemoteAgent(address, wait_s=wait_s, who=f"jaywalk {__version__}")
    except jaywalk_agent.NoListener as problem:
        waited = f" for {wait_s:g} s" if wait_s else ""
        raise AgentUnreachableError(
            f"No agent to be reached{waited}: {problem}. Start it (python -m jaywalk_agent FILE "
            "--port PORT), then run the same command again."
        ) from problem
