"""What a scenario is: typed parameters, a trigger on the ego's route, a life on the tick.

A scenario is set up before the first tick, starts when the ego has driven to its trigger, acts on
every tick from then on and is over when it says so or its time is out. It never sleeps, never looks
at a clock, and draws only from its own random stream.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, ClassVar, Final

import carla
import numpy as np

from jaywalk.core.errors import DataError
from jaywalk.core.seeds import stream
from jaywalk.scenarios.catalogue import SCENARIOS
from jaywalk.scenarios.route_xml import ScenarioSpec, TriggerPoint
from jaywalk.scenarios.xml_node import number
from jaywalk.town.routes import DenseRoute

TIMEOUT_S: Final = 240.0
_ON_ROUTE_M: Final = 2.0  # a trigger farther from the route belongs to another one
_ON_ROUTE_DEG: Final = 10.0


class Phase(Enum):
    """Where a scenario is in its life."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    TIMED_OUT = "timed out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """Parameters of a scenario; a subclass has one field with a default per element."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What a scenario may touch. ``traffic`` may be None."""

    client: Any
    world: Any
    map: Any
    route: DenseRoute
    seed: int
    traffic: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The ego at this tick. Frame: CARLA's left-handed metres."""

    elapsed_s: float
    snapshot: Any
    ego_id: int
    ego_along_m: float  # on the route
    ego_speed_mps: float


@dataclass(slots=True, kw_only=True)
class Scenario(ABC):
    """Base of all scenarios."""

    parameters_type: ClassVar[type[Parameters]] = Parameters

    spec: ScenarioSpec
    parameters: Any
    stage: Stage
    trigger_along_m: float
    phase: Phase = Phase.WAITING
    started_s: float = math.nan
    actor_ids: list[int] = field(default_factory=list)

    @property
    def random(self) -> np.random.Generator:
        """A fresh stream of this scenario's own; draw from it once, in ``setup``."""
        return stream(self.stage.seed, "scenario", self.spec.name, self.spec.type)

    def advance(self, moment: Moment) -> None:
        """Called once before each tick of the world."""
        if self.phase is Phase.WAITING and moment.ego_along_m >= self.trigger_along_m - 2.0:
            self.phase, self.started_s = Phase.RUNNING, moment.elapsed_s
            self.start(moment)
        if self.phase is Phase.RUNNING:
            if self.tick(moment):
                self.phase = Phase.DONE
                self.end()
            elif moment.elapsed_s - self.started_s > TIMEOUT_S:
                self.phase = Phase.TIMED_OUT
                self.end()

    def setup(self) -> None:  # noqa: B027  (optional)
        """Spawn what must stand ready; the world has not been ticked since."""

    def start(self, moment: Moment) -> None:  # noqa: B027  (optional)
        """The ego reached the trigger."""

    @abstractmethod
    def tick(self, moment: Moment) -> bool:
        """Act; return whether the scenario is over."""

    def end(self) -> None:
        """Clean up; the default destroys the scenario's actors."""
        commands = [carla.command.DestroyActor(actor) for actor in self.actor_ids]
        self.stage.client.apply_batch_sync(commands)
        self.actor_ids.clear()


def make_scenario(spec: ScenarioSpec, stage: Stage) -> Scenario:
    """Make the scenario a route file asks for.

    Raises:
        RegistryError: The type is unknown: the episode must fail, not run without it.
        DataError: A parameter is unknown or wrong, or the trigger is not on the route.
    """
    kind: type[Scenario] = SCENARIOS.get(spec.type).load()
    return kind(
        spec=spec,
        parameters=read_parameters(spec, kind.parameters_type),
        stage=stage,
        trigger_along_m=trigger_along_m(spec.trigger, stage.route, spec.where),
    )


def read_parameters(spec: ScenarioSpec, kind: type[Parameters]) -> Parameters:
    """Typed parameters from a route file: ``value``, or ``from`` and ``to`` for intervals."""
    known = {item.name: item for item in fields(kind)}
    values: dict[str, Any] = {}
    for tag, node in spec.parameters.items():
        where = f"{spec.where}, <{tag}>"
        if tag not in known:
            expected = ", ".join(sorted(known)) or "none"
            raise DataError(f"{where}: '{spec.type}' has no such parameter. Known: {expected}.")
        default = known[tag].default
        if isinstance(default, tuple):
            values[tag] = tuple(number(node.attributes, end, where) for end in ("from", "to"))
        elif isinstance(default, float):
            values[tag] = number(node.attributes, "value", where)
        else:
            text = node.get("value")
            if text is None:
                raise DataError(f"{where}: attribute 'value' is missing.")
            values[tag] = text
    return kind(**values)


def trigger_along_m(trigger: TriggerPoint, route: DenseRoute, where: str) -> float:
    """Distance along the route of a trigger; the Leaderboard's rule for "on the route"."""
    place = np.array([trigger.x_m, trigger.y_m])
    gap_m = np.hypot(*(route.position_m[:, :2] - place).T)
    turn_deg = np.abs((route.rotation_deg[:, 1] - trigger.yaw_deg + 180.0) % 360.0 - 180.0)
    fits = (gap_m < _ON_ROUTE_M) & (turn_deg < _ON_ROUTE_DEG)
    fits &= trigger.z_m - route.position_m[:, 2] < _ON_ROUTE_M
    if not fits.any():
        nearest = float(gap_m.min())
        raise DataError(
            f"{where}: its trigger is not on the route (nearest point {nearest:.1f} m away; "
            f"expected under {_ON_ROUTE_M:g} m, heading within {_ON_ROUTE_DEG:g} degrees)."
        )
    return float(route.along_m[np.flatnonzero(fits)[np.argmin(gap_m[fits])]])
