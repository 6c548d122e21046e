"""Options of the environment, checked on creation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import gymnasium  # type: ignore[import-not-found,unused-ignore]
import numpy as np

from jaywalk.core.address import parse_address
from jaywalk.core.errors import UsageError
from jaywalk.gym._bev import BEV_CHANNELS
from jaywalk.gym._reward import RewardWeights
from jaywalk.gym._views import (
    CAMERA,
    EGO_SIZE,
    STATE_SIZE,
    check_readable,
    sensor_spaces,
)
from jaywalk.runner.selection import find_suite, override
from jaywalk.scenarios.suite import Suite

OBSERVATIONS: Final = ("state", "bev", "sensors")
ACTIONS: Final = ("pedals", "joined")


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveOptions:
    """Options of the environment; the meaning of each is in docs/reference/gym.md."""

    suite: Suite
    observation: str
    action: str
    ticks_per_step: int
    stop_at_collision: bool
    weights: RewardWeights
    bev_px: int
    bev_pixel_m: float
    sensors: tuple[Mapping[str, Any], ...]
    record: Path | None
    server: tuple[str, int] | None

    @classmethod
    def of(
        cls,
        *,
        suite: str = "smoke",
        routes: str | Sequence[str] = "",
        people: int | None = None,
        vehicles: int | None = None,
        observation: str = "state",
        action: str = "pedals",
        ticks_per_step: int = 1,
        stop_at_collision: bool = False,
        reward: Mapping[str, float] | None = None,
        bev_px: int = 128,
        bev_pixel_m: float = 0.5,
        sensors: Sequence[Mapping[str, Any]] = (CAMERA,),
        record: str | Path | None = None,
        server: str = "",
    ) -> DriveOptions:
        """Check keyword arguments of ``gymnasium.make``.

        Raises:
            UsageError: A value is wrong; the message lists the expected ones.
        """
        _expect("observation", observation, OBSERVATIONS)
        _expect("action", action, ACTIONS)
        for name, value, least in (
            ("ticks_per_step", ticks_per_step, 1),
            ("bev_px", bev_px, 16),
            ("bev_pixel_m", bev_pixel_m, 0.05),
            ("people", people or 0, 0),
            ("vehicles", vehicles or 0, 0),
        ):
            if value < least:
                raise UsageError(f"{name} is {value}, expected {least} or more.")
        check_readable(sensors)
        return cls(
            suite=part_of(override(find_suite(suite), people=people, vehicles=vehicles), routes),
            observation=observation,
            action=action,
            ticks_per_step=int(ticks_per_step),
            stop_at_collision=bool(stop_at_collision),
            weights=RewardWeights.of(reward),
            bev_px=int(bev_px),
            bev_pixel_m=float(bev_pixel_m),
            sensors=tuple(dict(sensor) for sensor in sensors),
            record=None if record is None else Path(record),
            server=parse_address(server, "server") if server else None,
        )

    def action_space(self) -> Any:
        """Return the action space: throttle, brake and steer, or one pedal and steer."""
        low = [0.0, 0.0, -1.0] if self.action == "pedals" else [-1.0, -1.0]
        return gymnasium.spaces.Box(
            np.array(low, np.float32), np.ones(len(low), np.float32), dtype=np.float32
        )

    def observation_space(self) -> Any:
        """Return the observation space: a vector, or a dictionary with ``ego`` and the rest."""
        box = gymnasium.spaces.Box
        if self.observation == "state":
            return box(-1.0, 1.0, (STATE_SIZE,), np.float32)
        ego = {"ego": box(-1.0, 1.0, (EGO_SIZE,), np.float32)}
        if self.observation == "bev":
            shape = (len(BEV_CHANNELS), self.bev_px, self.bev_px)
            return gymnasium.spaces.Dict({**ego, "bev": box(0, 255, shape, np.uint8)})
        return gymnasium.spaces.Dict({**ego, **sensor_spaces(self.sensors)})


def _expect(name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise UsageError(f"{name} is '{value}', expected {' or '.join(known)}.")


def part_of(suite: Suite, routes: str | Sequence[str]) -> Suite:
    """Return a suite with some of its routes; all of them if none is named."""
    names = [routes] if isinstance(routes, str) else list(routes)
    names = [name for name in names if name]
    if not names:
        return suite
    by_id = {item.id: item for item in suite.routes}
    unknown = [name for name in names if name not in by_id]
    if unknown:
        raise UsageError(
            f"routes names '{unknown[0]}', which is not a route of {suite.name}. "
            f"Known: {', '.join(by_id)}."
        )
    return replace(suite, routes=tuple(by_id[name] for name in names))
