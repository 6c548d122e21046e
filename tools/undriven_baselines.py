"""What the docs say about baselines that are defined and were never driven.

The estimated time comes from ``episode-s`` of the measured cost of a suite: seconds per episode on
two quiet cores, driven by ``expert``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from jaywalk.metrics.driving.baseline import Baseline

COLUMNS: Final = ("baseline", "suite", "routes; seeds", "episodes", "estimated min")
_SIZES: Final = {"habit": 110, "fail2drive": 200, "smoke": 12}  # routes
_COMMAND: Final = "jaywalk baseline accept"
_OPTIONS: Final = "--workers 2 --reason TEXT"


def undriven(baselines: Sequence[Baseline]) -> list[Baseline]:
    """Return those without accepted content."""
    return [baseline for baseline in baselines if baseline.accepted is None]


def accepted_line(named: Sequence[Baseline], measurements: Path) -> str:
    """How many of a table's baselines are accepted and how to drive the others; "" if all are."""
    waiting = undriven(named)
    if not waiting:
        return ""
    count = len(named) - len(waiting)
    verb = "is" if count == 1 else "are"
    names = ", ".join(f"`{baseline.name}`" for baseline in waiting)
    episodes = sum(map(_episodes, waiting))
    time = sum(_minutes(baseline, measurements) for baseline in waiting)
    how_long = f", an estimated {time:.0f} min on two quiet cores" if math.isfinite(time) else ""
    return (
        f"{count or 'None'} of {len(named)} baselines {verb} accepted. Not driven yet: {names} "
        f"({episodes} episodes{how_long}; `{_COMMAND} NAME... {_OPTIONS}`)."
    )


def undriven_rows(baselines: Sequence[Baseline], measurements: Path) -> list[list[str]]:
    """A line for each, and their sum."""
    rows = []
    for baseline in undriven(baselines):
        run = baseline.run
        variant = f", {run.variant}" if run.variant else ""
        rows.append(
            [
                f"`{baseline.name}`",
                f"{run.suite_id}{variant}",
                f"{run.subset or 'all'}; {','.join(map(str, run.seeds))}",
                str(_episodes(baseline)),
                _shown(_minutes(baseline, measurements)),
            ]
        )
    episodes = sum(int(row[3]) for row in rows)
    time = sum(_minutes(baseline, measurements) for baseline in undriven(baselines))
    return [*rows, ["together", "", "", str(episodes), _shown(time)]]


def command_of(baselines: Sequence[Baseline]) -> str:
    """The command that drives and accepts all of them."""
    names = " ".join(baseline.name for baseline in undriven(baselines))
    return f"{_COMMAND} {names} {_OPTIONS}"


def _episodes(baseline: Baseline) -> int:
    run = baseline.run
    return (_listed(run.subset) or _SIZES[run.suite]) * len(run.seeds)


def _listed(subset: str) -> int:
    """How many routes ids and ranges such as ``1-30,34`` name; 0 for all."""
    total = 0
    for group in filter(None, subset.split(",")):
        first, _, last = group.partition("-")
        total += int(last or first) - int(first) + 1
    return total


def _minutes(baseline: Baseline, measurements: Path) -> float:
    path = measurements / f"{baseline.run.suite}-cost.json"
    if not path.is_file():
        return math.nan
    seconds = json.loads(path.read_text(encoding="utf-8"))["values"]["episode-s"]
    return _episodes(baseline) * float(seconds) / 60.0


def _shown(minutes: float) -> str:
    return f"{minutes:.0f}" if math.isfinite(minutes) else "-"
