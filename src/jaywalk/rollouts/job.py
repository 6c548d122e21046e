"""Rollouts of many scenes with one policy, written to a folder for scoring; resumable."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jaywalk.agents.catalogue import AGENTS
from jaywalk.agents.load import is_remote
from jaywalk.core.errors import UsageError
from jaywalk.metrics.realism.scene import Case, LoggedScene, Rollouts
from jaywalk.record.run import RunFolder
from jaywalk.rollouts._closed_loop import TRAFFIC, ClosedLoop
from jaywalk.rollouts._policies import POLICIES, roll_out_scene
from jaywalk.rollouts.cases._npz import Maker, RolloutFolder
from jaywalk.rollouts.cases._recorded import RANGE_M, RecordedScene, run_scenes
from jaywalk.rollouts.inputs import read_scenes
from jaywalk.runner.session import SimulatorSession

Said = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutRequest:
    """Request for rollouts.

    Attributes:
        source: A run, an episode, archives or Waymo scenarios.
        policy: A policy without a server, ``traffic``, or a driver of the ego.
        n: Number of rollouts per scene.
        seed: All seeds derive from it.
        out: Folder for the archives.
        scenes: Number of windows cut out of each episode of a run.
        range_m: Largest distance from the ego of actors that take part, for runs.
        at_s: Time of a single window, instead of ``scenes``.
        server: Host and port of a running server; None: an embedded one.
        arguments: Arguments of the driver.
    """

    source: Path
    policy: str
    n: int
    seed: int
    out: Path
    scenes: int = 1
    range_m: float = RANGE_M
    at_s: float | None = None
    server: tuple[str, int] | None = None
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutSummary:
    """Result of a request."""

    folder: Path
    scenes: int
    kept: int
    rollouts: int
    agents: int
    wall_s: float


@dataclass(frozen=True, slots=True)
class _Progress:
    """Progress messages at each quarter of a scene's rollouts."""

    said: Said
    title: str
    n: int

    def __call__(self, done: int) -> None:
        if self.n >= 8 and done < self.n and done % (self.n // 4) == 0:
            self.said(f"{self.title}, {done} of {self.n} rollouts")


def check_policy(policy: str) -> bool:
    """Return True if a policy needs a server.

    Raises:
        UsageError: The policy is unknown.
    """
    known = [*POLICIES, TRAFFIC, *(entry.name for entry in AGENTS)]
    if policy not in known and not policy.endswith(".py") and not is_remote(policy):
        raise UsageError(
            f"Unknown policy '{policy}'; expected one of {', '.join(known)}, or a .py file."
        )
    return policy not in POLICIES


def run_rollouts(request: RolloutRequest, said: Said) -> RolloutSummary:
    """Roll out every scene that is not yet in the folder."""
    if request.n < 1 or request.scenes < 1:
        raise UsageError(f"--n is {request.n} and --scenes {request.scenes}; expected at least 1.")
    needs_server = check_policy(request.policy)
    recorded = RunFolder(request.source).is_run
    if needs_server and not recorded:
        raise UsageError(
            f"Policy '{request.policy}' drives in a town of ours, so it needs a Jaywalk run; "
            f"'{request.source}' is not one. Use one of {', '.join(POLICIES)}."
        )
    began = time.monotonic()
    scenes = _scenes(request, recorded)
    folder = RolloutFolder(request.out, _maker(request, recorded))
    agents = kept = 0
    with ExitStack() as stack:
        world: SimulatorSession | None = None
        for number, (scene, moment) in enumerate(scenes, 1):
            agents += len(scene.evaluated_index)
            if folder.has(scene.name):
                kept += 1
                continue
            if needs_server and world is None:
                world = stack.enter_context(_open_world(request))
            title = f"scene {number} of {len(scenes)}: {scene.name}"
            said(title)
            progress = _Progress(said, title, request.n)
            folder.add(
                Case(scene=scene, rollouts=_roll_out(request, scene, moment, world, progress))
            )
    return RolloutSummary(
        folder=request.out,
        scenes=len(scenes),
        kept=kept,
        rollouts=request.n,
        agents=agents,
        wall_s=time.monotonic() - began,
    )


def _scenes(
    request: RolloutRequest, recorded: bool
) -> list[tuple[LoggedScene, RecordedScene | None]]:
    if not recorded:
        return [(scene, None) for scene in read_scenes(request.source)]
    found = run_scenes(request.source, request.scenes, request.range_m, request.at_s)
    return [(one.scene, one) for one in found]


def _maker(request: RolloutRequest, recorded: bool) -> Maker:
    return Maker(
        policy=request.policy,
        n=request.n,
        seed=request.seed,
        source=request.source.resolve().name,
        scenes_per_episode=request.scenes if recorded else None,
        range_m=request.range_m if recorded else None,
        at_s=request.at_s if recorded else None,
    )


def _roll_out(
    request: RolloutRequest,
    scene: LoggedScene,
    moment: RecordedScene | None,
    world: SimulatorSession | None,
    report: Callable[[int], None],
) -> Rollouts:
    if moment is None or world is None:
        return roll_out_scene(scene, request.policy, request.n, request.seed)
    loop = ClosedLoop(
        recorded=moment,
        world=world,
        policy=request.policy,
        seed=request.seed,
        arguments=request.arguments,
    )
    return loop.roll_out(request.n, report)


def _open_world(request: RolloutRequest) -> SimulatorSession:
    if request.server is None:
        return SimulatorSession.embedded()
    return SimulatorSession.attach(*request.server)
