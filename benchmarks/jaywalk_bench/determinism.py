"""Does the same run give the same world twice? Every run has its own server and client process."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final

from jaywalk.core.errors import JaywalkError
from jaywalk.server.process import ServerProcess, free_port

_CHILD_LIMIT_S: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How the snapshots of several runs of one scene compare."""

    mode: str
    ticks: int
    runs: int
    pairs: int
    pairs_identical: int
    first_difference_ticks: list[int]  # of the pairs that differ

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def measure_agreement(
    mode: str, *, runs: int, ticks: int, town: str, say: Callable[[str], None]
) -> Agreement:
    """Run a scene several times on fresh servers and compare every pair of runs, tick by tick."""
    histories = []
    for number in range(runs):
        say(f"{mode}: run {number + 1} of {runs}")
        histories.append(_one_run(mode, ticks, town))
    differences = [
        next((tick for tick, (a, b) in enumerate(zip(*pair, strict=True)) if a != b), None)
        for pair in itertools.combinations(histories, 2)
    ]
    apart = sorted(tick for tick in differences if tick is not None)
    return Agreement(
        mode=mode,
        ticks=ticks,
        runs=runs,
        pairs=len(differences),
        pairs_identical=len(differences) - len(apart),
        first_difference_ticks=apart,
    )


def _one_run(mode: str, ticks: int, town: str) -> list[str]:
    with ServerProcess(town=town) as server:
        command = [
            sys.executable,
            "-m",
            "jaywalk_bench.snapshot_hash",
            mode,
            str(server.port),
            str(ticks),
            str(free_port()),
        ]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_CHILD_LIMIT_S, check=True
            )
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as problem:
            raise JaywalkError(f"A {mode} run did not finish: {problem}") from problem
    hashes: list[str] = json.loads(done.stdout.splitlines()[-1])
    return hashes
