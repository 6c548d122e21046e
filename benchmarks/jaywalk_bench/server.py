"""``jaywalk bench server``: what a tick costs, for client and server, scene by scene."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from jaywalk.core.errors import PrerequisiteError
from jaywalk.server.process import ServerProcess, free_port
from jaywalk_bench.calibration import calibration_ms
from jaywalk_bench.scenes import SCENES, Measurement, Scene, measure_scene

CURVE_ACTORS: Final = (50, 100, 200, 400)
_TICKS: Final = 2000
_QUICK_TICKS: Final = 300
_MANAGED_TIMEOUT_S: Final = 90.0
_ATTEMPTS: Final = 2

AIMS: Final[dict[str, float]] = {
    "server_cpu_ms_per_tick 30+30": 0.35,
    "server_cpu_ms_per_tick 30+30 posed": 2.0,
    "linearity up to 400 actors": 1.25,
    "startup_s": 3.0,
    "rss_mb": 600.0,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerBenchmark:
    """Everything measured in one go."""

    calibration_ms: float
    startup_s: float
    rss_mb: float
    scenes: tuple[Measurement, ...]
    curve: tuple[Measurement, ...]
    cost_per_actor_us: float
    linearity: float

    def reached(self) -> dict[str, float]:
        """What was measured, under the names of the aims."""
        cost = {scene.name: scene.server_cpu_ms_per_tick for scene in self.scenes}
        return {
            "server_cpu_ms_per_tick 30+30": cost["30+30"],
            "server_cpu_ms_per_tick 30+30 posed": cost["30+30 posed"],
            "linearity up to 400 actors": self.linearity,
            "startup_s": self.startup_s,
            "rss_mb": self.rss_mb,
        }

    def as_dict(self) -> dict[str, Any]:
        """For JSON, with the aims next to what was measured."""
        return {
            "calibration_ms": self.calibration_ms,
            "startup_s": self.startup_s,
            "rss_mb": self.rss_mb,
            "scenes": [scene.as_dict() for scene in self.scenes],
            "curve": [point.as_dict() for point in self.curve],
            "cost_per_actor_us": self.cost_per_actor_us,
            "linearity": self.linearity,
            "aims": {
                name: {"at_most": AIMS[name], "measured": value, "met": value <= AIMS[name]}
                for name, value in self.reached().items()
            },
        }


def bench_server(
    *, town: str = "Harbour", quick: bool = False, say: Callable[[str], None] = lambda _: None
) -> ServerBenchmark:
    """Start a server, measure it from this process, stop it.

    Args:
        town: Where.
        quick: Fewer ticks: a look, not a measurement.
        say: Told what comes next, for people who wait.
    """
    ticks = _QUICK_TICKS if quick else _TICKS
    say("pure-Python calibration loop")
    calibrated_ms = calibration_ms()
    say("starting a server (compiles kernels if the cache is cold)")
    with ServerProcess(town=town):
        pass  # fills the kernel cache, so that the next start is a warm one
    with ServerProcess(town=town) as server:
        scenes, curve = [], []
        for scene in SCENES:
            say(f"scene {scene.name}: {ticks} ticks")
            scenes.append(_measure(scene, server, ticks))
        for actors in CURVE_ACTORS:
            say(f"cost curve: {actors} actors")
            point = Scene(name=str(actors), vehicles=actors // 2, walkers=actors // 2)
            curve.append(_measure(point, server, ticks))
        startup_s, resident_mb = server.startup_s, server.resident_mb()
    slope_us, linearity = cost_per_actor(curve)
    return ServerBenchmark(
        calibration_ms=calibrated_ms,
        startup_s=startup_s,
        rss_mb=resident_mb,
        scenes=tuple(scenes),
        curve=tuple(curve),
        cost_per_actor_us=slope_us,
        linearity=linearity,
    )


def cost_per_actor(curve: list[Measurement]) -> tuple[float, float]:
    """Slope of server cost over actors (microseconds each) and how far the curve bends up.

    The second number is the cost per actor over the last interval divided by that over the whole
    range: 1 for a straight line, above 1 where the cost grows faster than the number of actors.
    """
    actors = np.array([point.vehicles + point.walkers for point in curve], float)
    cost_us = np.array([1000.0 * point.server_cpu_ms_per_tick for point in curve])
    slope_us = float(np.polyfit(actors, cost_us, 1)[0])
    whole = (cost_us[-1] - cost_us[0]) / (actors[-1] - actors[0])
    last = (cost_us[-1] - cost_us[-2]) / (actors[-1] - actors[-2])
    return slope_us, float(last / whole)


def _measure(scene: Scene, server: ServerProcess, ticks: int) -> Measurement:
    if scene.drive != "traffic-manager":
        return measure_scene(scene, server.port, server.cpu_s, ticks)
    for _ in range(_ATTEMPTS):
        measured = _measure_in_child(scene, server, ticks)
        if measured is not None:
            return measured
    raise PrerequisiteError(
        f"The scene '{scene.name}' did not finish in {_MANAGED_TIMEOUT_S:.0f} s "
        f"({_ATTEMPTS} attempts). "
        "Close other programs and run 'jaywalk bench server' again."
    )


def _measure_in_child(scene: Scene, server: ServerProcess, ticks: int) -> Measurement | None:
    command = [
        sys.executable,
        "-m",
        "jaywalk_bench",
        scene.name,
        *(str(n) for n in (server.port, server.pid, ticks, free_port())),
    ]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_MANAGED_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return None
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        raise PrerequisiteError(
            f"The scene '{scene.name}' ended with exit code {done.returncode}: "
            f"{(done.stderr or done.stdout).strip()[-400:]}"
        )
    return Measurement(**json.loads(lines[-1]))
