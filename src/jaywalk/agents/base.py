"""Interface of drivers: briefed once, then asked for a decision on every tick.

A driver reads the world only through the ``carla`` package, so it drives on any server that speaks
the protocol. It never learns which scenario, suite or pair it is in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from jaywalk.core.arrays import FloatArray
from jaywalk.town.routes import DenseRoute

if TYPE_CHECKING:
    import carla


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """Information for a driver before the first tick. Frame: CARLA's left-handed metres."""

    client: carla.Client
    world: carla.World
    map: carla.Map
    ego: carla.Vehicle
    route: DenseRoute  # points 1 m apart, with road options
    seed: int  # for the driver's own random streams
    delta_s: float
    arguments: Mapping[str, Any] = field(default_factory=dict)
    # Data of the scenarios (name, first_actor, last_actor, direction), for files written for
    # evaluators that keep such a list. Jaywalk's own drivers never read it.
    announcements: tuple[Any, ...] = ()
    episode_id: str = ""
    episode_seed: int = 0  # like ``seed``, but different for every episode of a run
    output: Path | None = None  # folder for the driver's own files; None: nothing is recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The present tick."""

    frame: int
    elapsed_s: float  # since the episode began
    snapshot: carla.WorldSnapshot  # of this frame
    # Measurements of this frame by the ``id`` of the driver's sensors: images (rows, columns, 4) in
    # blue, green, red, alpha; LiDAR points (n, 4); see docs/reference/drivers.md.
    readings: Mapping[str, Any] = field(default_factory=dict)


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
    """Path that the driver intends to take. ``time_s`` is None when the path has no times."""

    path_m: FloatArray  # (k, 2)
    time_s: FloatArray | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Control of a driver for this tick, with an optional plan, forecasts and debug data."""

    control: carla.VehicleControl
    plan: Plan | None = None
    forecasts: tuple[Forecast, ...] = ()
    debug: Mapping[str, Any] = field(default_factory=dict)  # topic -> any JSON value
    end_reason: str = ""  # a text ends the episode after this decision


class Driver(ABC):
    """Base class of all drivers."""

    name: ClassVar[str]  # set by the decorator of a registered driver, like the version
    version: ClassVar[str] = "1"

    @abstractmethod
    def setup(self, briefing: Briefing) -> None:
        """Prepare; the ego stands on the first point of the route."""

    def sensors(self) -> Sequence[Mapping[str, Any]]:
        """Return the sensors to mount on the ego; called once, after ``setup``.

        Each is a mapping with ``type`` and ``id``; optional are ``x``, ``y``, ``z`` (metres),
        ``roll``, ``pitch``, ``yaw`` (degrees), ``width``, ``height``, ``fov`` and ``attributes`` of
        the blueprint. Their readings arrive with every moment, from the first one on.
        """
        return ()

    @abstractmethod
    def decide(self, moment: Moment) -> Decision:
        """Return the control until the next tick."""

    def declared(self) -> tuple[str, str] | None:
        """Return the name and version that an agent declares itself, for the record."""
        return None

    def close(self) -> None:  # noqa: B027  (optional)
        """Release the resources of ``setup``; called once, also after a failure."""
