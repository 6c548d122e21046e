"""Base class of scenarios: typed parameters, a trigger on the ego's route, one call per tick.

A scenario is set up before the first tick, starts when the ego has driven to its trigger, acts on
every tick from then on and ends by itself or by its time-out. It never sleeps, never reads a
clock, and draws only from its own random streams.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, ClassVar, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.events import (
    BLOCKED,
    CAPS_TRAFFIC,
    END,
    NOTE,
    START,
    SWITCH,
    TIMEOUT,
    TRIGGER,
    EgoMoment,
    ScenarioEvent,
)
from jaywalk.core.errors import DataError, RegistryError
from jaywalk.core.seeds import stream
from jaywalk.core.text import suggestion
from jaywalk.geometry.angle import wrap_degrees
from jaywalk.scenarios.catalogue import SCENARIOS
from jaywalk.scenarios.formats.route_xml import ScenarioElement, TriggerPoint
from jaywalk.scenarios.formats.xml_node import number
from jaywalk.town.routes import DenseRoute

OBSTACLE_TIMEOUT_S: Final = 240.0
INTERNAL: Final = {"internal": True}  # metadata of a parameter that no file may set
READER: Final = "reader"  # metadata key: a function (node, place in messages) -> value
REQUIRED: Final = "required"  # metadata key: description of a value that a file must give
UNREAD: Final = "unread"  # metadata key: public tools write it, public classes do not read it
_ON_ROUTE_M: Final = 2.0  # a trigger farther from the route belongs to another one
_ON_ROUTE_DEG: Final = 10.0
_STARTS_BEFORE_M: Final = 2.0
BEHIND_M: Final = 80.0  # background traffic keeps off the ego's lane from here to the trigger ...
_AFTER_M: Final = 60.0  # ... and beyond


class Phase(Enum):
    """Phase of a scenario."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    TIMED_OUT = "timed out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """Parameters of a scenario; a subclass has one field with a default per element."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioContext:
    """Objects a scenario works with. ``traffic`` may be None, and so may ``clips``."""

    client: carla.Client
    world: carla.World
    map: carla.Map
    route: DenseRoute
    seed: int
    traffic: Any = None
    clips: Any = None  # people who play clips (``jaywalk.actors.posed.performers``)
    delta_s: float = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioAnnouncement:
    """Announcement of a scenario to agents that read the Leaderboard's list of scenarios."""

    name: str  # standard class that is passed in the same way
    first_actor: int
    last_actor: int | None = None
    direction: str = ""


@dataclass(slots=True, kw_only=True)
class Scenario(ABC):
    """Base of all scenarios."""

    parameters_type: ClassVar[type[Parameters]] = Parameters
    timeout_s: ClassVar[float] = math.inf  # obstacles: a time-out is an infraction
    # The ego must use the opposite lane to pass, so the wrong-lane criterion is suspended.
    uses_opposite_lane: ClassVar[bool] = False
    # Type in the keys of its random streams, if not its own: the partner's in a pair.
    rng_type: ClassVar[str] = ""
    # People play clips of the default motion library unless a parameter says otherwise.
    plays_clips: ClassVar[bool] = False
    # Name under which it is announced to privileged public agents (PDM-Lite); "": it is not.
    leaderboard_name: ClassVar[str] = ""

    element: ScenarioElement
    parameters: Any
    context: ScenarioContext
    trigger_along_m: float
    phase: Phase = Phase.WAITING
    started_s: float = math.nan
    actor_ids: list[int] = field(default_factory=list)
    events: list[ScenarioEvent] = field(default_factory=list)

    @property
    def random(self) -> np.random.Generator:
        """Return a fresh random stream of this scenario; draw from it once, in ``setup``."""
        return self.draws()

    def draws(self, *names: str | int) -> np.random.Generator:
        """Return a fresh stream for one part of the scenario, independent of the other parts."""
        return stream(self.context.seed, *self.rng_key, *names)

    @property
    def rng_key(self) -> tuple[str, str, str]:
        """Key of its random streams."""
        return "scenario", self.element.name, self.resolve_rng_type()

    def resolve_rng_type(self) -> str:
        """Return the type in the keys of its random streams."""
        return self.rng_type or self.element.type

    def advance(self, moment: EgoMoment) -> None:
        """Advance the scenario; called once before each tick of the world."""
        if self.phase is Phase.WAITING:
            if moment.ego_along_m < self.trigger_along_m - _STARTS_BEFORE_M:
                self.approach(moment)
                return
            self.phase, self.started_s = Phase.RUNNING, moment.elapsed_s
            self.note(moment, TRIGGER, along_m=round(self.trigger_along_m, 3))
            self.note(moment, START, type=self.element.type)
            self._suspend_blocked_criterion(moment, suspended=True)
            self.start(moment)
        if self.phase is Phase.RUNNING:
            if self.tick(moment):
                self._finish(moment, Phase.DONE, END)
            elif moment.elapsed_s - self.started_s > self.timeout_s:
                self._finish(moment, Phase.TIMED_OUT, TIMEOUT)
        elif self.actor_ids:
            self.linger(moment)

    def _finish(self, moment: EgoMoment, phase: Phase, kind: str) -> None:
        self.phase = phase
        self.note(moment, kind)
        self.end(moment)
        self._suspend_blocked_criterion(moment, suspended=False)

    def _suspend_blocked_criterion(self, moment: EgoMoment, *, suspended: bool) -> None:
        """Suspend or resume the criterion for scenarios that have their own time-out."""
        if self.timeout_s < math.inf:
            self.note(moment, SWITCH, BLOCKED, active=not suspended)

    def note(self, moment: EgoMoment, kind: str = NOTE, name: str = "", **detail: Any) -> None:
        """Report an event; it goes to the record with the present tick."""
        self.events.append(
            ScenarioEvent(
                time_s=moment.elapsed_s, kind=kind, name=name or self.element.name, detail=detail
            )
        )

    def cap_traffic(self, moment: EgoMoment, speed_mps: float | None) -> None:
        """Limit the speed of all background traffic; None removes the limit.

        The limit is recorded, because slowed traffic is not a reference for the ego's speed.
        """
        if self.context.traffic is not None:
            self.context.traffic.cap_all(speed_mps)
            cap_mps = None if speed_mps is None else round(speed_mps, 3)
            self.note(moment, what=CAPS_TRAFFIC, cap_mps=cap_mps)

    def setup(self) -> None:  # noqa: B027  (optional)
        """Spawn the actors that must be ready at the start; the world is not ticked in between."""

    def approach(self, moment: EgoMoment) -> None:  # noqa: B027  (optional)
        """Act while the ego is on its way to the trigger."""

    def start(self, moment: EgoMoment) -> None:  # noqa: B027  (optional)
        """Start; called when the ego reaches the trigger."""

    @abstractmethod
    def tick(self, moment: EgoMoment) -> bool:
        """Act on one tick; return True when the scenario is over."""

    def end(self, moment: EgoMoment) -> None:
        """Clean up; the default destroys the scenario's actors."""
        self.destroy(self.actor_ids)

    def disturb(self, control: carla.VehicleControl) -> Any:
        """Return the control to apply for the driver's decision; unchanged by default."""
        return control

    def linger(self, moment: EgoMoment) -> None:  # noqa: B027  (optional)
        """Move the actors that ``end`` left behind, until ``actor_ids`` is empty."""

    def destroy(self, actors: list[int]) -> None:
        """Remove some of the scenario's actors."""
        if not actors:
            return
        commands = [carla.command.DestroyActor(actor) for actor in actors]
        self.context.client.apply_batch_sync(commands)
        self.actor_ids = [actor for actor in self.actor_ids if actor not in set(actors)]

    def announcement(self) -> ScenarioAnnouncement | None:
        """Announcement to privileged public agents after ``setup``; None for none."""
        if not self.leaderboard_name or not self.actor_ids:
            return None
        return ScenarioAnnouncement(
            name=self.leaderboard_name,
            first_actor=self.actor_ids[0],
            direction=str(getattr(self.parameters, "direction", "")),
        )

    def closed(self) -> list[NDArray[np.float64]]:
        """Paths (n, 4; x, y, z, yaw in radians) that background traffic keeps off, after ``setup``.

        By default the ego's lane from before the trigger to a little after it: a car that stands
        before the obstacle, or takes the ego's place, would spoil the scenario.
        """
        return [self.stretch(self.trigger_along_m - BEHIND_M, self.trigger_along_m + _AFTER_M)]

    def moves(self) -> list[NDArray[np.float64]]:
        """Paths (n, 2 or more; x, y) of its vehicles and people, for pictures."""
        return []

    def stretch(self, low_m: float, high_m: float) -> NDArray[np.float64]:
        """Return the route between two distances along it as a path (n, 4)."""
        route = self.context.route
        keep = (route.along_m >= low_m) & (route.along_m <= high_m)
        yaw = route.yaw_rad[keep]
        return np.column_stack([route.position_m[keep], yaw])


def make_scenario(element: ScenarioElement, context: ScenarioContext) -> Scenario:
    """Make the scenario of an element of a route file.

    Raises:
        RegistryError: The type is unknown; the episode must fail and not run without it.
        DataError: A parameter is unknown or wrong, or the trigger is not on the route.
    """
    try:
        spec = SCENARIOS.get(element.type)
    except RegistryError as problem:
        raise RegistryError(f"{element.where}: {problem}") from problem
    kind: type[Scenario] = spec.load()
    return kind(
        element=element,
        parameters=read_parameters(element, spec.parameters_type),
        context=context,
        trigger_along_m=trigger_along_m(element.trigger, context.route, element.where),
    )


def read_parameters(element: ScenarioElement, kind: type[Parameters]) -> Parameters:
    """Read typed parameters of a route file: ``value``, or ``from`` and ``to`` for intervals."""
    known = {item.name: item for item in fields(kind) if not item.metadata.get("internal")}
    values: dict[str, Any] = {}
    for tag, node in element.parameters.items():
        where = f"{element.where}, <{tag}>"
        if tag not in known:
            hint = suggestion(tag, known)
            raise DataError(f"{where}: '{element.type}' has no such parameter.{hint}")
        default, reader = known[tag].default, known[tag].metadata.get(READER)
        if reader is not None:
            values[tag] = reader(node, where)
        elif isinstance(default, tuple):
            low, high = (number(node.attributes, end, where) for end in ("from", "to"))
            if low > high:
                raise DataError(f"{where}: from {low:g} to {high:g}; expected from <= to.")
            values[tag] = (low, high)
        elif isinstance(default, float):
            values[tag] = number(node.attributes, "value", where)
        else:
            text = node.get("value")
            if text is None:
                raise DataError(f"{where}: attribute 'value' is missing.")
            values[tag] = text
    for tag, item in known.items():
        if tag not in values and REQUIRED in item.metadata:
            raise DataError(
                f"{element.where}, <{tag}>: is missing; expected {item.metadata[REQUIRED]}."
            )
    return kind(**values)


def trigger_along_m(trigger: TriggerPoint, route: DenseRoute, where: str) -> float:
    """Return a trigger's distance along the route, by the Leaderboard's rule for "on the route"."""
    place = np.array([trigger.x_m, trigger.y_m])
    gap_m = np.hypot(*(route.position_m[:, :2] - place).T)
    turn_deg = np.abs(wrap_degrees(route.rotation_deg[:, 1] - trigger.yaw_deg))
    fits = (gap_m < _ON_ROUTE_M) & (turn_deg < _ON_ROUTE_DEG)
    fits &= trigger.z_m - route.position_m[:, 2] < _ON_ROUTE_M
    if not fits.any():
        nearest = float(gap_m.min())
        raise DataError(
            f"{where}: its trigger is not on the route (nearest point {nearest:.1f} m away; "
            f"expected under {_ON_ROUTE_M:g} m, heading within {_ON_ROUTE_DEG:g} degrees)."
        )
    return float(route.along_m[np.flatnonzero(fits)[np.argmin(gap_m[fits])]])
