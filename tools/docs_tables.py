"""Fill the tables of docs/*.md from baselines/*.json and docs/measurements/*.json.

A table stands between ``<!-- table: NAME -->`` and ``<!-- /table -->``. ``make docs-tables`` writes
all of them; with ``--check`` nothing is written, and the exit code is 1 if a page is out of date.
A table whose baselines have not been driven yet keeps its text and says that it is older.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from jaywalk.core.errors import DataError
from jaywalk.core.source_digest import SHORT
from jaywalk.metrics.driving.baseline import (
    BENCH2DRIVE,
    PAIRED,
    PUBLIC,
    Baseline,
    find_baselines,
    headline_of,
    read_baseline,
)
from jaywalk.metrics.driving.inspected import inspection_of, split_inspected
from jaywalk.metrics.driving.protocols import OWN
from jaywalk.metrics.driving.scorecard import EpisodeScore, RunScore, scenario_of
from jaywalk.metrics.fail2drive.gap import gap_of
from jaywalk.metrics.fail2drive.run_pairs import members_of
from jaywalk.metrics.habit.summary import summarise_habit
from jaywalk.record.episode import ROUTE_COMPLETED
from jaywalk.stats.clustered import clustered_wilson

ROOT: Final = Path(__file__).resolve().parents[1]
OLDER: Final = (
    "*Measured at an earlier version of the code; no baseline of it has been driven yet.*"
)
EMPTY: Final = "*No baseline of this has been accepted yet.*"
_BLOCK: Final = re.compile(r"(<!-- table: ([\w-]+) -->\n)(.*?)(<!-- /table -->)", re.DOTALL)
_MEASUREMENT: Final = "jaywalk-measurement-1"
_SHARE_OUTSIDE: Final = "driving_score_no_min_speed"


@dataclass(frozen=True)
class Table:
    """How a block is made: which baselines (by name), and their rows."""

    pattern: str
    columns: tuple[str, ...]
    rows: Callable[[Baseline], list[list[str]]]


def habit_rows(one: Baseline) -> list[list[str]]:
    """A driver among posed people; expert also by whether its routes were inspected."""
    run = one.run_score(OWN)
    rows = [_habit_row(run, f"`{one.run.agent}`")]
    looked_at, others = split_inspected(run)
    if one.run.agent == "expert" and looked_at and others:
        rows.append(_habit_row(_part(run, looked_at), "... routes inspected while tuning"))
        rows.append(_habit_row(_part(run, others), "... other routes"))
    return rows


def _habit_row(run: RunScore, label: str) -> list[str]:
    found = summarise_habit(run, ROOT / "no-records")
    figures = found.figures
    completed = [one.detail["end_reason"] == ROUTE_COMPLETED for one in run.episodes]
    untouched = [done and not one.counts.get("person_contacts", 0)
                 for done, one in zip(completed, run.episodes, strict=True)]  # fmt: skip
    return [
        label,
        str(len(run.episodes)),
        f"{found.km:.1f}",
        _figure(figures["collisions_per_km"], 2),
        _number(figures["pmais3_percent"].value, 1),
        _number(figures["injuries_per_km"].value, 3),
        _figure(figures["fpbr"], 2),
        str(sum(completed)),
        _share(untouched, run.episodes),
    ]


def pair_rows(one: Baseline) -> list[list[str]]:
    """Base and shift, over pairs that show more than a shared start; the weak ones apart."""
    run = one.run_score(PAIRED)
    weak = {name for name, episode in one.episodes.items() if episode.weak}
    strong_part = _part(run, [name for name in one.episodes if name not in weak])
    rows = [_pair_row(strong_part, f"`{one.run.agent}`")]
    if weak:
        rows.append(_pair_row(_part(run, sorted(weak)), "... weak pairs (start only)"))
    return rows


def _pair_row(run: RunScore, label: str) -> list[str]:
    members = members_of(run)
    pairs = len({member.pair for member in members})
    if not pairs:
        return [label, "0", "-", "-", "-", "-", "-", "-", "-"]
    found = gap_of([member.row() for member in members])
    cells = [label, str(pairs)]
    overall = found["intervals"]
    for half in ("base", "generalization"):
        values = found[half]
        cells.append(_with(values["ds"], overall[half]["ds"], 1))
        cells.append(_with(values["sr"], overall[half]["sr"], 0))
    for key, digits in (("ds", 1), ("sr", 1)):
        cells.append(_with(found["difference"][key], overall["difference"][key], digits))
    plain = [member.score.metrics[_SHARE_OUTSIDE] for member in members
             if _SHARE_OUTSIDE in member.score.metrics]  # fmt: skip
    cells.append(_number(math.fsum(plain) / len(plain), 1) if plain else "-")
    return cells


def overview_rows(one: Baseline) -> list[list[str]]:
    """A line for each baseline."""
    found = headline_of(one)
    public = (PAIRED, BENCH2DRIVE, PUBLIC)
    scores = [found[key] for name in public if (key := f"{name} mean driving_score") in found]
    return [
        [
            f"`{one.name}`", one.run.suite_id, one.run.agent_version,
            f"{one.run.subset or 'all'}; {','.join(map(str, one.run.seeds))}",
            str(len(one.episodes)), f"{found.get(f'{OWN} successes', 0.0):.0f}",
            _number(scores[0], 1) if scores else "-", "yes" if one.in_ci else "no",
        ]
    ]  # fmt: skip


_HABIT: Final = (
    "driver", "episodes", "km", "people hit per km", "P(MAIS 3+) of a hit, %",
    "serious injuries expected per km", "FPBR", "completed", "completed, nobody touched",
)  # fmt: skip
_PAIRS: Final = (
    "driver", "pairs", "base DS", "base SR", "shift DS", "shift SR", "change of DS",
    "change of SR", "DS without the minimum-speed factor",
)  # fmt: skip
TABLES: Final = {
    "habit-20": Table("habit-*-20", _HABIT, habit_rows),
    "habit-30": Table("habit-*-30", _HABIT, habit_rows),
    "habit-110": Table("habit-*-110", _HABIT, habit_rows),
    "habit-idle": Table("habit-*-idle", _HABIT, habit_rows),
    "habit-left": Table("habit-*-left", _HABIT, habit_rows),
    "fail2drive": Table("fail2drive-*", _PAIRS, pair_rows),
    "baselines": Table(
        "*",
        ("baseline", "suite", "driver", "routes; seeds", "episodes", "successes (`jaywalk`)",
         "mean driving score (public protocol)", "in CI"),
        overview_rows,
    ),
}  # fmt: skip


def render(name: str, before: str, baselines: Sequence[Baseline], measurements: Path) -> str:
    """Text of a block.

    Args:
        name: Of the table.
        before: What it holds now.
        baselines: All accepted ones.
        measurements: Folder of measurements that are no runs.
    """
    if name.startswith("measurement-"):
        return _measurement(measurements / f"{name.removeprefix('measurement-')}.json")
    if name not in TABLES:
        raise DataError(f"No table '{name}'. Known: {', '.join(TABLES)}, measurement-FILE.")
    table = TABLES[name]
    chosen = [one for one in baselines if fnmatchcase(one.name, table.pattern)]
    if not chosen and not before.replace(EMPTY, "").strip():
        return f"{EMPTY}\n"
    if not chosen:
        return before if OLDER in before else f"{before.rstrip()}\n\n{OLDER}\n"
    rows = [row for one in chosen for row in table.rows(one)]
    return f"{_markdown(table.columns, rows)}\n\n{_sources(chosen)}\n"


def _sources(chosen: Sequence[Baseline]) -> str:
    """Which code gave the figures, when, on what, and what of it was inspected in tuning."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for one in chosen:
        assert one.accepted is not None
        seeds = ", ".join(map(str, one.run.seeds))
        key = (one.code.sources[:SHORT], one.accepted.date, seeds, one.run.subset or "all",
               one.run.suite_id, inspection_of(one.run_score(OWN)))  # fmt: skip
        groups.setdefault(key, []).append(f"`{one.name}`")
    lines = [
        f"{', '.join(names)}: {suite}, routes {subset}, seeds {seeds}; code `{code}`, {date}. "
        f"Held out? {held_out}."
        for (code, date, seeds, subset, suite, held_out), names in groups.items()
    ]
    return f"<sub>95 % intervals. {' '.join(lines)}</sub>"


def _measurement(path: Path) -> str:
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if found["format"] != _MEASUREMENT:
            raise DataError(f"'{path}' has format '{found['format']}', expected '{_MEASUREMENT}'.")
        rows = [[str(cell) for cell in row] for row in found["rows"]]
        text = _markdown(found["columns"], rows)
        return (
            f"{text}\n\n<sub>`{found['command']}`; code `{found['code'][:SHORT]}`, "
            f"{found['date']}. {found.get('note', '')}".rstrip()
            + "</sub>\n"
        )
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise DataError(f"'{path}' is no measurement: {problem!r}.") from problem


def _part(run: RunScore, names: Sequence[str]) -> RunScore:
    kept = tuple(one for one in run.episodes if one.episode_id in set(names))
    return replace(run, episodes=kept, expected=len(kept))


def _share(flags: Sequence[bool], episodes: Sequence[EpisodeScore]) -> str:
    interval = clustered_wilson(flags, [scenario_of(one) for one in episodes]).scaled(100.0)
    percent = 100.0 * sum(flags) / len(flags)
    return f"{sum(flags)} ({percent:.1f} % [{interval.low:.1f}, {interval.high:.1f}])"


def _figure(figure: Any, digits: int) -> str:
    return _with(figure.value, (figure.low, figure.high), digits)


def _with(value: float | None, ends: Sequence[float | None], digits: int) -> str:
    low, high = ends
    return f"{_number(value, digits)} [{_number(low, digits)}, {_number(high, digits)}]"


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None or not math.isfinite(value) else f"{value:.{digits}f}"


def _markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def fill(text: str, baselines: Sequence[Baseline], measurements: Path) -> str:
    """A page with its tables made anew."""
    return _BLOCK.sub(lambda m: m[1] + render(m[2], m[3], baselines, measurements) + m[4], text)


def accepted_baselines(folder: Path) -> list[Baseline]:
    """All baselines that have content."""
    found = [read_baseline(folder / f"{name}.json") for name in find_baselines(folder)]
    return [one for one in found if one.accepted is not None]


def main(arguments: Sequence[str]) -> int:
    """Write the pages, or check them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if outdated")
    parser.add_argument("--root", type=Path, default=ROOT)
    options = parser.parse_args(arguments)
    baselines = accepted_baselines(options.root / "baselines")
    outdated = []
    for page in sorted((options.root / "docs").rglob("*.md")):
        before = page.read_text(encoding="utf-8")
        after = fill(before, baselines, options.root / "docs" / "measurements")
        if after != before:
            outdated.append(page)
            if not options.check:
                page.write_text(after, encoding="utf-8")
    for page in outdated:
        verb = "is out of date; run 'make docs-tables'" if options.check else "written"
        sys.stdout.write(f"{page.relative_to(options.root)} {verb}\n")
    return 1 if options.check and outdated else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
