"""Validation of people who react: what runs show, beside scripted people and recorded ones.

Reads runs of the suite habit with scripted people and with people who react, best of the same
routes, seeds and driver, and writes the rows that need runs: looks and approach before the road,
encounters, contacts, overlaps, motion and needless braking. The page
docs/reproductions/people-validation.md prints them from docs/measurements/people-validation.json.

    python tools/studies/people_validation.py --scripted RUN... --reactive RUN... --out FILE.json

Rows of other commands: ``jaywalk realism validate-people`` (replays of DUT and CITR, aimed
encounters, HIKER), ``jaywalk realism people`` and ``tools/studies/behaviour_cues.py`` (AUC).
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from jaywalk.core.errors import DataError
from jaywalk.metrics.driving.protocols import OWN
from jaywalk.metrics.motion.quality import summarise_quality
from jaywalk.metrics.safety.habit_summary import summarise_habit
from jaywalk.record import find_records
from jaywalk.record import open as open_record
from jaywalk.record.reactions import SCRIPTED, people_model
from jaywalk.report.scored_runs import score_folders
from jaywalk.stats.clustered import clustered_rate, clustered_wilson
from studies._measurement import measurement
from studies._people_measures import Braking, FirstStep, Measured, Meeting, measure_runs, summary_of

_COLUMNS: Final = ("measure", "scripted", "reactive", "recorded", "to reach")
_NEAR_S: Final = 3.0
_ORDER_S: Final = 4.0
_SLOW: Final = 0.6
Row = tuple[str, Callable[[Measured], str], str, str]
"""Words, figure of the runs, the same of recorded people, target."""


def _share(flags: Sequence[bool], clusters: Sequence[str]) -> str:
    if not flags:
        return "-"
    ends = clustered_wilson(flags, clusters).scaled(100.0)
    return f"{100.0 * float(np.mean(flags)):.0f} % [{ends.low:.0f}, {ends.high:.0f}]"


def _rate(events: Counter[str], exposure: float, episodes: int, unit: str) -> str:
    """Events per exposure; exposure is shared equally by the episodes for the interval."""
    if exposure <= 0.0:
        return "-"
    counts = np.zeros(episodes)
    counts[: len(events)] = sorted(events.values(), reverse=True)
    each = np.full(episodes, exposure / episodes)
    ends = clustered_rate(counts, each, np.arange(episodes))
    return f"{counts.sum() / exposure:.2f} [{ends.low:.2f}, {ends.high:.2f}] {unit}"


def _quartiles(values: Sequence[float], digits: int = 1) -> str:
    found = summary_of(list(values))
    if not found["n"]:
        return "-"
    return " ".join(f"{value:.{digits}f}" for value in found["quartiles"])


def _percentiles(values: Sequence[float], digits: int = 2) -> str:
    if not values:
        return "-"
    return " ".join(f"{value:.{digits}f}" for value in np.percentile(values, [5, 50, 95]))


def _median(values: Sequence[float]) -> str:
    known = [value for value in values if math.isfinite(value)]
    return f"{float(np.median(known)):.2f}" if known else "-"


def _steps(pick: Callable[[FirstStep], bool]) -> Callable[[Measured], str]:
    def figure(run: Measured) -> str:
        steps = run.first_steps
        return _share([pick(step) for step in steps], [step.episode for step in steps])

    return figure


def _mean_percent(values: Sequence[float]) -> str:
    return f"{100.0 * float(np.mean(values)):.0f} %" if len(values) else "-"


LOOKS: Final[tuple[Row, ...]] = (
    ("people who cross, seen 3 s or more before", lambda r: str(len(r.first_steps)), "196", ""),
    ("looked in the last 1 s", _steps(lambda s: s.looked[0]), "58 %", ""),
    ("looked in the last 2 s", _steps(lambda s: s.looked[1]), "76 %", "70-85 %"),
    ("looked in the last 3 s", _steps(lambda s: s.looked[2]), "82 %", ""),
    (
        "share of the last 2 s spent looking",
        lambda r: _mean_percent([step.look_share for step in r.first_steps]),
        "38 %",
        "30-45 %",
    ),
    ("walks 1 s before the road", _steps(lambda s: s.walks), "63 %", "55-70 %"),
    (
        "people who stay off the road: share of the time within 40 m spent looking",
        lambda r: _mean_percent(r.stay_looks),
        "36 %",
        "",
    ),
)


def _posed(run: Measured) -> list[Meeting]:
    return [meeting for meeting in run.meetings if meeting.posed]


def _met(pick: Callable[[Meeting], bool], value: Callable[[Meeting], float]) -> Any:
    return lambda run: _quartiles([value(m) for m in _posed(run) if pick(m)])


def _met_share(pick: Callable[[Meeting], bool], flag: Callable[[Meeting], bool]) -> Any:
    def figure(run: Measured) -> str:
        chosen = [m for m in _posed(run) if pick(m)]
        return _share([flag(m) for m in chosen], [m.episode for m in chosen])

    return figure


def _after(meeting: Meeting) -> bool:
    """Return whether the vehicle was first, less than 3 s before the person."""
    met = meeting.encounter
    return not met.person_first and not met.together and -met.gap_s < _NEAR_S


def _any(meeting: Meeting) -> bool:
    return True


ENCOUNTERS: Final[tuple[Row, ...]] = (
    ("encounters of posed people", lambda r: str(len(_posed(r))), "DUT 355, CITR 65", ""),
    (
        "with the ego, per km",
        lambda r: _rate(
            Counter(m.episode for m in _posed(r) if m.with_ego), r.ego_km, r.episodes, "/km"
        ),
        "",
        "0.9-1.1 of scripted",
    ),
    (
        "person first, of gaps within 4 s",
        _met_share(
            lambda m: abs(m.encounter.gap_s) <= _ORDER_S, lambda m: m.encounter.person_first
        ),
        "40; 57 %",
        "",
    ),
    (
        "gap, quartiles, s (person first positive)",
        _met(_any, lambda m: m.encounter.gap_s),
        "medians -0.2; 1.5",
        "",
    ),
    (
        "PET person first, quartiles, s",
        _met(lambda m: m.encounter.person_first, lambda m: m.encounter.gap_s),
        "1.9 3.5 5.9; 1.5 3.0 4.0",
        "",
    ),
    (
        "PET vehicle first, quartiles, s",
        _met(
            lambda m: not m.encounter.person_first and not m.encounter.together,
            lambda m: -m.encounter.gap_s,
        ),
        "0.8 1.8 3.4; 1.2 1.7 2.0",
        "",
    ),
    (
        "PET below 1 s",
        _met_share(_any, lambda m: abs(m.encounter.gap_s) < 1.0),
        "19; 6 %",
        "3-8 %",
    ),
    (
        "PET below 2 s",
        _met_share(_any, lambda m: abs(m.encounter.gap_s) < 2.0),
        "43; 43 %",
        "20-35 %",
    ),
    (
        "distance of the bodies, quartiles, m",
        _met(_any, lambda m: m.encounter.distance_m),
        "1.0 2.2 4.2; 1.5 2.3 3.1",
        "",
    ),
    (
        "vehicle first within 3 s",
        lambda r: str(sum(_after(m) for m in _posed(r))),
        "133; 23",
        "",
    ),
    (
        "... slowest / own speed, median",
        lambda r: _median([m.encounter.slowest_share for m in _posed(r) if _after(m)]),
        "0.85; 0.27",
        "0.80-0.90",
    ),
    (
        "... below 0.6 of the own speed",
        _met_share(
            lambda m: _after(m) and math.isfinite(m.encounter.slowest_share),
            lambda m: m.encounter.slowest_share < _SLOW,
        ),
        "12; 74 %",
        "10-25 %",
    ),
    (
        "... deviation from a line, median, m",
        lambda r: _median([m.encounter.deviation_m for m in _posed(r) if _after(m)]),
        "0.45; 0.19",
        "0.35-0.55",
    ),
    (
        "walking speed of all people, 5th, 50th and 95th percentile, m/s",
        lambda r: _percentiles(r.walking_mps),
        "1.02 1.31 1.69; 0.99 1.29 1.64",
        "",
    ),
    (
        "fluctuation of the speed, coefficient of variation, median",
        lambda r: _median(r.fluctuation),
        "0.11; 0.11",
        "",
    ),
)


def _attentive_at_side(run: Measured) -> str:
    touches = sum(t.at_side and not t.oblivious for t in run.touches)
    return f"{touches} of {len(_posed(run))} encounters"


def _overlaps(run: Measured) -> str:
    return f"{run.overlaps} in {run.person_minutes:.0f} person-minutes"


CONTACTS: Final[tuple[Row, ...]] = (
    ("contacts of posed people with vehicles", lambda r: str(len(r.touches)), "", ""),
    ("... with the ego", lambda r: str(sum(t.with_ego for t in r.touches)), "", ""),
    (
        "... with a vehicle's side, by people who are not oblivious",
        _attentive_at_side,
        "",
        "below 1 in 1,000",
    ),
    ("two walkers overlap", _overlaps, "", "0 in 2,000 person-minutes"),
)


def _needless(pick: Callable[[Braking], bool | None]) -> Callable[[Measured], str]:
    def figure(run: Measured) -> str:
        flags = [(one.episode, flag) for one in run.brakings if (flag := pick(one)) is not None]
        return _share([flag for _, flag in flags], [episode for episode, _ in flags])

    return figure


BRAKING: Final[tuple[Row, ...]] = (
    ("braking for people", lambda r: str(len(r.brakings)), "", ""),
    ("needless, as `fpbr`", _needless(lambda b: b.needless), "", ""),
    (
        "... and changed no recorded decision, as `fpbr_reactions`",
        _needless(lambda b: b.with_reactions),
        "",
        "",
    ),
    (
        "... and changed no decision in a replay before an ego that does not brake",
        _needless(lambda b: b.with_replay),
        "",
        "",
    ),
)


def _motion(name: str, digits: int) -> Callable[[Measured], str]:
    def figure(run: Measured) -> str:
        if not run.quality:
            return "-"
        value = dict(summarise_quality(run.quality)["groups"]["all"])[name]
        return "-" if value is None else f"{value:.{digits}f}"

    return figure


MOTION: Final[tuple[Row, ...]] = (
    ("person-minutes", _motion("person_minutes", 0), "", ""),
    ("pops", _motion("pops", 0), "", "119 in 12,000 min"),
    ("slip of standing feet, m/s", _motion("stance_slip_mps", 3), "", "as scripted"),
    ("share of standing feet that slide", _motion("slide_share", 4), "", "as scripted"),
    ("share of ticks with a sunk sole", _motion("sunk_share", 4), "", "as scripted"),
    ("share of ticks with floating soles", _motion("floating_share", 4), "", "as scripted"),
)
TABLES: Final = {
    "looks": LOOKS,
    "encounters": ENCOUNTERS,
    "contacts": CONTACTS,
    "motion": MOTION,
    "braking": BRAKING,
}


def table_rows(rows: Sequence[Row], scripted: Measured, reactive: Measured) -> list[list[str]]:
    """Return the rows of a table."""
    return [
        [words, figure(scripted), figure(reactive), recorded, target]
        for words, figure, recorded, target in rows
    ]


def hit_rows(runs: dict[str, list[Path]]) -> list[list[str]]:
    """Return people hit per km by driver, as the protocol counts them."""
    figures: dict[str, dict[str, str]] = {}
    for kind, folders in runs.items():
        for run in score_folders(folders, OWN):
            assert run.folder is not None
            hits = summarise_habit(run.score, run.folder, irs_resamples=1)
            value = hits.figures["collisions_per_km"]
            text = f"{value.value:.2f} [{value.low:.2f}, {value.high:.2f}], {hits.km:.1f} km"
            cells = figures.setdefault(f"`{run.score.agent}`", {})
            cells[kind] = "; ".join([*([cells[kind]] if kind in cells else []), text])
    targets = {"`expert`": "below 0.03", "`bold`": "above 1"}
    return [
        [agent, cells.get("scripted", "-"), cells.get("reactive", "-"), targets.get(agent, "")]
        for agent, cells in figures.items()
    ]


def check_models(kind: str, runs: Sequence[Path]) -> None:
    """Raise if the people of a run do not behave as its option says."""
    for folder in (folder for run in runs for folder in find_records(run)):
        model = people_model(open_record(folder))
        if (model == SCRIPTED) != (kind == SCRIPTED):
            raise DataError(
                f"'{folder}' has people_model '{model}'; expected {kind} people. Give it with "
                f"--{'scripted' if model == SCRIPTED else 'reactive'}."
            )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the runs and write the measurement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--scripted", type=Path, nargs="+", required=True, metavar="RUN")
    parser.add_argument("--reactive", type=Path, nargs="+", required=True, metavar="RUN")
    parser.add_argument("--no-motion", action="store_true", help="leave out pops, slip and soles")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    runs = {"scripted": options.scripted, "reactive": options.reactive}
    for kind, folders in runs.items():
        check_models(kind, folders)
    scripted, reactive = (
        measure_runs(folders, with_motion=not options.no_motion) for folders in runs.values()
    )
    tables: dict[str, tuple[Sequence[str], Sequence[Sequence[str]]]] = {
        name: (_COLUMNS, table_rows(rows, scripted, reactive)) for name, rows in TABLES.items()
    }
    tables["hits"] = (
        ("people hit per km", "scripted", "reactive", "to reach with people who react"),
        hit_rows(runs),
    )
    names = {kind: " ".join(folder.name for folder in folders) for kind, folders in runs.items()}
    facts = measurement(
        f"python tools/studies/people_validation.py --scripted {names['scripted']} "
        f"--reactive {names['reactive']}",
        note=f"{scripted.episodes} and {reactive.episodes} episodes, {scripted.ego_km:.1f} and "
        f"{reactive.ego_km:.1f} km. 95 % intervals; episodes are clusters.",
        tables=tables,
        values={
            "episodes": reactive.episodes,
            "km": f"{reactive.ego_km:.1f}",
            "first-steps": len(reactive.first_steps),
        },
    )
    options.out.write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
