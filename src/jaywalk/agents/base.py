"""What a driver is: briefed once, then asked for a decision on every tick.

A driver reads the world only through the ``carla`` package, so it drives on any server that speaks
the protocol. It never learns which scenario, suite or pair it is in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from jaywalk.core.arrays import FloatArray
from jaywalk.town.routes import DenseRoute

if TYPE_CHECKING:
    import carla


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """What a driver is told before the first tick. Frame: CARLA's left-handed metres."""

    client: carla.Client
    world: carla.World
    map: carla.Map
    ego: carla.Vehicle
    route: DenseRoute  # points 1 m apart, with road options
    seed: int  # for the driver's own random streams
    delta_s: float
    arguments: Mapping[str, Any] = field(default_factory=dict)
    # What scenarios say of themselves (name, first_actor, last_actor, direction), for files written
    # for evaluators that keep such a list. Our own drivers never look.
    told: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The present tick."""

    frame: int
    elapsed_s: float  # since the episode began
    snapshot: carla.WorldSnapshot  # of this frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """A prediction of one person: a Gaussian mixture, or samples when ``covariance_m2`` is None.

    Frame: world, CARLA's left-handed metres.
    """

    actor_id: int
    source: str  # predictor with its version
    time_s: FloatArray  # (h,) from now
    weight: FloatArray  # (m,)
    mean_m: FloatArray  # (m, h, 2)
    covariance_m2: FloatArray | None = None  # (m, h, 2, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Where the driver means to go. ``time_s`` is None when the path has no times."""

    path_m: FloatArray  # (k, 2)
    time_s: FloatArray | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a driver wants on this tick, and what it cares to say about it."""

    control: carla.VehicleControl
    plan: Plan | None = None
    forecasts: tuple[Forecast, ...] = ()
    debug: Mapping[str, Any] = field(default_factory=dict)  # topic -> anything JSON can hold


class Driver(ABC):
    """Base of all drivers."""

    name: ClassVar[str]  # set by the decorator of a registered driver, like the version
    version: ClassVar[str] = "1"

    @abstractmethod
    def setup(self, briefing: Briefing) -> None:
        """Get ready; the ego stands on the first point of the route."""

    @abstractmethod
    def decide(self, moment: Moment) -> Decision:
        """Say what to do until the next tick."""

    def declared(self) -> tuple[str, str] | None:
        """Name and version for the record, of an agent that has its own apart from its address."""
        return None

    def close(self) -> None:  # noqa: B027  (optional)
        """Release what ``setup`` took; called once, also after a failure."""
