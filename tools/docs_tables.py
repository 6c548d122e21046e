"""Fill the measured numbers of the docs from baselines/*.json and docs/measurements/*.json.

A table stands between ``<!-- table: NAME -->`` and ``<!-- /table -->``, a number in a sentence
between ``<!-- value: FILE.KEY -->`` and ``<!-- /value -->``. ``make docs-tables`` writes all of
them; with ``--check`` nothing is written, and the exit code is 1 if a page is out of date.
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
from jaywalk.metrics.driving.aggregate import aggregate
from jaywalk.metrics.driving.baseline import (
    BENCH2DRIVE,
    PAIRED,
    PUBLIC,
    Baseline,
    find_baselines,
    read_baseline,
)
from jaywalk.metrics.driving.baseline_changes import headline_of
from jaywalk.metrics.driving.inspected import inspection_of, split_inspected
from jaywalk.metrics.driving.protocols import OWN
from jaywalk.metrics.driving.rates import NOTHING
from jaywalk.metrics.driving.summary import EpisodeScore, RunScore, scenario_of
from jaywalk.metrics.generalization.gap import Gap, GroupGap, gap_of
from jaywalk.metrics.generalization.run_pairs import Member, members_of
from jaywalk.metrics.generalization.split import CATEGORIES
from jaywalk.metrics.safety.habit_summary import summarise_habit
from jaywalk.metrics.spec import ordered_metrics
from jaywalk.record.episode import ROUTE_COMPLETED
from jaywalk.stats.clustered import clustered_wilson

ROOT: Final = Path(__file__).resolve().parents[1]
EMPTY: Final = "*No baseline of this has been accepted yet.*"
_BLOCK: Final = re.compile(r"((?<!`)<!-- table: ([\w.-]+) -->\n)(.*?)(<!-- /table -->)", re.DOTALL)
_VALUE: Final = re.compile(
    r"((?<!`)<!-- value: ([\w-]+)\.([\w-]+) -->)(.*?)(<!-- /value -->)", re.DOTALL
)
_CODE: Final = re.compile(r"^```.*?^```$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_INTERVAL: Final = re.compile(r"\d[\d.,]* ?%?\**,? \[-?\d[\d.]*, ?-?\d[\d.]*\]")
_MEASUREMENT: Final = "jaywalk-measurement-1"
_SHARE_OUTSIDE: Final = "driving_score_no_min_speed"
_GAPS: Final[dict[tuple[str, str, str, int], Gap | None]] = {}


Filled = tuple[Sequence[str], list[list[str]]]


@dataclass(frozen=True)
class Table:
    """How a block is made: which baselines (by name, then by ``pick``), its columns and rows."""

    pattern: str
    fill: Callable[[Sequence[Baseline]], Filled]
    pick: Callable[[Sequence[Baseline]], list[Baseline]] = list


def each(
    columns: Sequence[str], rows: Callable[[Baseline], list[list[str]]]
) -> Callable[[Sequence[Baseline]], Filled]:
    """Rows of every baseline, one below the other."""
    return lambda chosen: (columns, [row for baseline in chosen for row in rows(baseline)])


def habit_rows(baseline: Baseline) -> list[list[str]]:
    """A driver among posed people; expert also by whether its routes were inspected."""
    run = baseline.run_score(OWN)
    rows = [_habit_row(run, f"`{baseline.run.agent}`")]
    looked_at, others = split_inspected(run)
    if baseline.run.agent == "expert" and looked_at and others:
        rows.append(_habit_row(_part(run, looked_at), "... routes inspected while tuning"))
        rows.append(_habit_row(_part(run, others), "... other routes"))
    return rows


def _habit_row(run: RunScore, label: str) -> list[str]:
    summary = summarise_habit(run, ROOT / "no-records")
    figures = summary.figures
    completed = [episode.detail["end_reason"] == ROUTE_COMPLETED for episode in run.episodes]
    untouched = [
        done and not episode.counts.get("person_contacts", 0)
        for done, episode in zip(completed, run.episodes, strict=True)
    ]
    return [
        label,
        str(len(run.episodes)),
        f"{summary.km:.1f}",
        _figure(figures["collisions_per_km"], 2),
        _number(figures["pmais3_percent"].value, 1),
        _number(figures["injuries_per_km"].value, 3),
        _figure(figures["fpbr"], 2),
        str(sum(completed)),
        _share(untouched, run.episodes),
    ]


def variant_rows(baseline: Baseline) -> list[list[str]]:
    """The suite itself, or a variant of it; seed 1."""
    run = baseline.run_score(OWN)
    seed_1 = _part(run, [name for name in baseline.episodes if name.endswith("-s1")])
    variant = f"`{baseline.run.variant}`" if baseline.run.variant else "the suite itself"
    return [_habit_row(seed_1, f"`{baseline.run.agent}`, {variant}")]


def with_variants(chosen: Sequence[Baseline]) -> list[Baseline]:
    """Those of drivers that drove variants."""
    drivers = {baseline.run.agent for baseline in chosen if baseline.run.variant}
    return [baseline for baseline in chosen if baseline.run.agent in drivers]


def metric_table() -> Filled:
    """Every metric and count of ours, as its spec states it."""
    columns = ("name", "unit", "better", "meaning", "over a run", "applies to an episode with")
    specs = [spec for spec in ordered_metrics() if spec.package == "jaywalk"]
    rows = [
        [
            f"`{spec.name}`",
            spec.unit,
            "" if spec.direction == "none" else spec.direction,
            spec.summary,
            spec.pooling.words,
            spec.requires,
        ]
        for spec in specs
    ]
    return columns, rows


def smoke_rows(baseline: Baseline) -> list[list[str]]:
    """Success by our protocol, driving score by the Leaderboard's."""
    own, public = aggregate(baseline.run_score(OWN)), aggregate(baseline.run_score(PUBLIC))
    return [
        [
            f"`{baseline.run.agent}`",
            str(len(baseline.episodes)),
            f"{own.successes} ({_figure(own.success, 0)} %)",
            _figure(public.metrics["driving_score"], 1),
            _figure(public.metrics.get(_SHARE_OUTSIDE, NOTHING), 1),
        ]
    ]


def pair_rows(baseline: Baseline) -> list[list[str]]:
    """Base and shift, over pairs that show more than a shared start; the weak ones apart."""
    seeds = baseline.run.seeds
    driven = f"seed {seeds[0]}" if len(seeds) == 1 else f"{len(seeds)} seeds"
    rows = [_pair_row(baseline, "strong", f"`{baseline.run.agent}`, {driven}")]
    if any(episode.weak for episode in baseline.episodes.values()):
        rows.append(_pair_row(baseline, "weak", "... weak pairs (start only)"))
    return rows


def category_rows(baseline: Baseline) -> list[list[str]]:
    """Change of both scores in each category, over strong pairs."""
    gap = _gap(baseline, "strong")
    groups = gap["categories"] if gap else {}
    return [[f"`{baseline.run.agent}`", *(_change(groups.get(name)) for name in CATEGORIES)]]


def class_table(chosen: Sequence[Baseline]) -> Filled:
    """Change of both scores in each class, over all pairs, one column for each driver."""
    every = [(baseline, _gap(baseline, "all")) for baseline in chosen]
    gaps = [(baseline, gap["classes"] if gap else {}) for baseline, gap in every]
    names = list(dict.fromkeys(name for _, classes in gaps for name in classes))
    columns = ["class", "pairs", *(f"`{baseline.run.agent}`" for baseline, _ in gaps)]
    return columns, [
        [name, _strong_of(chosen[0], name), *(_change(classes.get(name)) for _, classes in gaps)]
        for name in names
    ]


def _strong_of(baseline: Baseline, name: str) -> str:
    """How many pairs of a class there are; a pair is called CLASS_NUMBER."""
    mine = [e for e in baseline.episodes.values() if e.pair.rpartition("_")[0] == name]
    pairs, weak = {e.pair for e in mine}, {e.pair for e in mine if e.weak}
    return f"{len(pairs)} ({len(pairs - weak)} strong)"


def _change(group: GroupGap | None) -> str:
    if group is None:
        return "-"
    change = _with(group["difference"]["ds"], group["intervals"]["difference"]["ds"], 1)
    before, after = (_number(group[half]["sr"], 0) for half in ("base", "generalization"))
    return f"{change}; SR {before} to {after}"


def _members(baseline: Baseline, which: str) -> list[Member]:
    wanted = {"strong": (False, None), "weak": (True,), "all": (True, False, None)}[which]
    names = [name for name, episode in baseline.episodes.items() if episode.weak in wanted]
    return members_of(_part(baseline.run_score(PAIRED), names))


def _gap(baseline: Baseline, which: str) -> Gap | None:
    key = (baseline.name, which, baseline.code.sources, len(baseline.episodes))
    if key not in _GAPS:
        rows = [member.row() for member in _members(baseline, which)]
        _GAPS[key] = gap_of(rows) if rows else None
    return _GAPS[key]


def widest(chosen: Sequence[Baseline]) -> list[Baseline]:
    """Of each driver the baseline with most episodes."""
    best: dict[str, Baseline] = {}
    for baseline in chosen:
        kept = best.setdefault(baseline.run.agent, baseline)
        if len(baseline.episodes) > len(kept.episodes):
            best[baseline.run.agent] = baseline
    return list(best.values())


def _pair_row(baseline: Baseline, which: str, label: str) -> list[str]:
    members = _members(baseline, which)
    pairs = len({member.pair for member in members})
    gap = _gap(baseline, which)
    if gap is None:
        return [label, "0", "-", "-", "-", "-", "-", "-", "-"]
    cells = [label, str(pairs)]
    overall = gap["intervals"]
    for half in ("base", "generalization"):
        values = gap[half]
        cells.append(_with(values["ds"], overall[half]["ds"], 1))
        cells.append(_with(values["sr"], overall[half]["sr"], 0))
    for key, digits in (("ds", 1), ("sr", 1)):
        cells.append(_with(gap["difference"][key], overall["difference"][key], digits))
    plain = [
        member.score.metrics[_SHARE_OUTSIDE]
        for member in members
        if _SHARE_OUTSIDE in member.score.metrics
    ]
    cells.append(_number(math.fsum(plain) / len(plain), 1) if plain else "-")
    return cells


def overview_rows(baseline: Baseline) -> list[list[str]]:
    """A line for each baseline."""
    headline = headline_of(baseline)
    public = (PAIRED, BENCH2DRIVE, PUBLIC)
    shown = [name for name in public if f"{name} mean driving_score" in headline][:1]
    points = [
        headline.get(f"{name} mean {metric}", math.nan)
        for name in shown
        for metric in ("driving_score", _SHARE_OUTSIDE)
    ]
    return [
        [
            f"`{baseline.name}`",
            baseline.run.suite_id,
            baseline.run.agent_version,
            f"{baseline.run.subset or 'all'}; {','.join(map(str, baseline.run.seeds))}",
            str(len(baseline.episodes)),
            f"{headline.get(f'{OWN} successes', 0.0):.0f}",
            *(_number(value, 1) for value in points or (math.nan, math.nan)),
            "yes" if baseline.in_ci else "no",
        ]
    ]


_HABIT: Final = (
    "driver",
    "episodes",
    "km",
    "people hit per km",
    "P(MAIS 3+) of a hit, %",
    "serious injuries expected per km",
    "FPBR",
    "completed",
    "completed, nobody touched",
)
_PAIRS: Final = (
    "driver",
    "pairs",
    "base DS",
    "base SR",
    "shift DS",
    "shift SR",
    "change of DS",
    "change of SR",
    "DS without the minimum-speed factor",
)
_CHANGES: Final = ("driver", *CATEGORIES)
_SMOKE: Final = (
    "driver",
    "episodes",
    "successes (`jaywalk`)",
    "driving score (`leaderboard-2.1`)",
    "... without the minimum-speed factor",
)
_OVERVIEW: Final = (
    "baseline",
    "suite",
    "driver",
    "routes; seeds",
    "episodes",
    "successes (`jaywalk`)",
    "mean driving score (public protocol)",
    "... without the minimum-speed factor",
    "in CI",
)
_METRICS_TABLE: Final = "metrics"
TABLES: Final = {
    "habit-20": Table("habit-*-20", each(_HABIT, habit_rows)),
    "habit-30": Table("habit-*-30", each(_HABIT, habit_rows)),
    "habit-110": Table("habit-*-110", each(_HABIT, habit_rows)),
    "habit-variants": Table("habit-*-30*", each(_HABIT, variant_rows), with_variants),
    "fail2drive": Table("fail2drive-*", each(_PAIRS, pair_rows), widest),
    "fail2drive-categories": Table("fail2drive-*", each(_CHANGES, category_rows), widest),
    "fail2drive-classes": Table("fail2drive-*", class_table, widest),
    "smoke": Table("smoke-*", each(_SMOKE, smoke_rows)),
    "baselines": Table("*", each(_OVERVIEW, overview_rows)),
}


def render(name: str, baselines: Sequence[Baseline], measurements: Path) -> str:
    """Text of a block.

    Args:
        name: Of the table: one of ``TABLES``, ``metrics``, ``measurement-FILE``,
            ``measurement-FILE.TABLE`` or ``source-FILE`` (only where a measurement comes from).
        baselines: All of them, also those that have not been driven yet.
        measurements: Folder of measurements that are no suite runs.
    """
    kind, _, rest = name.partition("-")
    if kind in ("measurement", "source") and name not in TABLES:
        file, _, table = rest.partition(".")
        return _measurement(measurements / f"{file}.json", table if kind == "measurement" else None)
    if name == _METRICS_TABLE:
        return f"{_markdown(*metric_table())}\n"
    if name not in TABLES:
        known = f"{', '.join(TABLES)}, {_METRICS_TABLE}, measurement-FILE[.TABLE], source-FILE"
        raise DataError(f"No table '{name}'. Known: {known}.")
    made = TABLES[name]
    named = [baseline for baseline in baselines if fnmatchcase(baseline.name, made.pattern)]
    chosen = made.pick([baseline for baseline in named if baseline.accepted is not None])
    if not chosen:
        return f"{EMPTY}\n"
    missing = [f"`{baseline.name}`" for baseline in named if baseline.accepted is None]
    waiting = f" Not driven yet: {', '.join(missing)}." if missing else ""
    text = _markdown(*made.fill(chosen))
    return f"{text}\n\n<sub>{_sources(chosen)}{waiting}</sub>\n"


def _sources(chosen: Sequence[Baseline]) -> str:
    """Which code gave the figures, when, on what, and what of it was inspected in tuning."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for baseline in chosen:
        assert baseline.accepted is not None
        seeds = ", ".join(map(str, baseline.run.seeds))
        key = (
            baseline.code.sources[:SHORT],
            baseline.accepted.date,
            seeds,
            baseline.run.subset or "all",
            baseline.run.suite_id,
            inspection_of(baseline.run_score(OWN)),
        )
        groups.setdefault(key, []).append(f"`{baseline.name}`")
    lines = [
        f"{', '.join(names)}: {suite}, routes {subset}, seeds {seeds}; code `{code}`, {date}. "
        f"Held out? {held_out}."
        for (code, date, seeds, subset, suite, held_out), names in groups.items()
    ]
    return f"95 % intervals. {' '.join(lines)}"


def read_measurement(path: Path) -> dict[str, Any]:
    """A measurement that is no suite run: tables and values with where they come from.

    Raises:
        DataError: No such file, or not a measurement with command, commit and date.
    """
    try:
        facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if facts["format"] != _MEASUREMENT:
            raise DataError(f"'{path}' has format '{facts['format']}', expected '{_MEASUREMENT}'.")
        for key in ("command", "commit", "date"):
            if not facts[key]:
                raise DataError(f"'{path}' has an empty '{key}'; say where the numbers come from.")
        return facts
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise DataError(f"'{path}' is no measurement: {problem!r}.") from problem


def _measurement(path: Path, table: str | None) -> str:
    """A table of a file and where it comes from; None: only the latter."""
    facts = read_measurement(path)
    footer = f"<sub>{_origin(facts)}</sub>\n"
    if table is None:
        return footer
    try:
        content = facts["tables"][table] if table else facts
        rows = [[str(cell) for cell in row] for row in content["rows"]]
        if any(len(row) != len(content["columns"]) for row in rows):
            raise DataError(
                f"Table '{table}' of '{path}' has rows that are not as long as its list of columns."
            )
        return f"{_markdown(content['columns'], rows)}\n\n{footer}"
    except (KeyError, TypeError) as problem:
        raise DataError(f"'{path}' has no table '{table}'.") from problem


def _origin(facts: dict[str, Any]) -> str:
    command = str(facts["command"])
    if command.startswith(("jaywalk ", "python ", "make ")):
        command = f"`{command}`"
    code = f", code `{facts['code'][:SHORT]}`" if facts.get("code") else ""
    note = f" {facts['note']}" if facts.get("note") else ""
    return f"{command}; commit `{facts['commit']}`{code}, {facts['date']}.{note}"


def value_of(file: str, key: str, measurements: Path) -> str:
    """A number in a sentence; ``commit`` and ``date`` are those of the file.

    Raises:
        DataError: There is none of that name.
    """
    path = measurements / f"{file}.json"
    facts = read_measurement(path)
    values = {"commit": f"`{facts['commit']}`", "date": facts["date"], **facts.get("values", {})}
    if isinstance(values.get(key), str | int | float):
        return str(values[key])
    raise DataError(f"'{path}' has no value '{key}'. Known: {', '.join(values)}.")


def unmarked_intervals(text: str) -> list[str]:
    """Measured values with an interval that stand outside of generated tables and values."""
    rest = _CODE.sub("", _VALUE.sub("", _BLOCK.sub("", text)))
    return [match[0] for match in _INTERVAL.finditer(rest)]


def measurements_used(text: str) -> set[str]:
    """Names of the measurement files that a page prints."""
    tables = (match[2] for match in _BLOCK.finditer(text))
    parts = (name.partition("-") for name in tables if name not in TABLES)
    named = {rest.partition(".")[0] for kind, _, rest in parts if kind in ("measurement", "source")}
    return named | {match[2] for match in _VALUE.finditer(text)}


def _part(run: RunScore, names: Sequence[str]) -> RunScore:
    kept = tuple(episode for episode in run.episodes if episode.episode_id in set(names))
    return replace(run, episodes=kept, expected=len(kept))


def _share(flags: Sequence[bool], episodes: Sequence[EpisodeScore]) -> str:
    scenarios = [scenario_of(episode) for episode in episodes]
    interval = clustered_wilson(flags, scenarios).scaled(100.0)
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
    """A page with its tables and values updated."""
    text = _BLOCK.sub(lambda m: m[1] + render(m[2], baselines, measurements) + m[4], text)
    return _VALUE.sub(lambda m: m[1] + value_of(m[2], m[3], measurements) + m[5], text)


def pages_of(root: Path) -> list[Path]:
    """The pages with measured numbers: the readme and all of docs."""
    return sorted([*root.glob("README.md"), *(root / "docs").rglob("*.md")])


def main(arguments: Sequence[str]) -> int:
    """Write the pages, or check them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if outdated")
    parser.add_argument("--root", type=Path, default=ROOT)
    options = parser.parse_args(arguments)
    folder = options.root / "baselines"
    baselines = [read_baseline(folder / f"{name}.json") for name in find_baselines(folder)]
    outdated = []
    for page in pages_of(options.root):
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
