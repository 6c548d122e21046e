"""What a page tells of runs of the suite ``habit``: HABIT's tables, motions that kill, biases."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jaywalk.core.errors import JaywalkError
from jaywalk.metrics.driving.rates import Figure
from jaywalk.metrics.habit.summary import NAMES, HabitSummary, is_habit, summarise_habit
from jaywalk.motion import default_library
from jaywalk.motion.library.reading import MotionLibrary, open_library
from jaywalk.report.clip_drawing import clip_drawing
from jaywalk.report.figures import FigureOfRuns, run_colour
from jaywalk.report.habit_figures import bias_figures, braking_figure
from jaywalk.report.labels import interval_text, number
from jaywalk.report.scored_runs import ScoredRun

_MOST_MOTIONS: Final = 8
_MOST_LISTED: Final = 40
# HABIT's paper, tables 1 and 2: collisions per km, pMAIS3+ in percent, FPBR, ADE in metres.
PAPER: Final = {
    "": (("InterFuser", 5.24, 10.96, 0.33, 1.64), ("TransFuser", 7.43, 12.94, 0.12, 1.87),
         ("BEVDriver", 7.19, 12.35, None, None)),
    "variant": (("InterFuser, idle", 0.16, 8.40, 0.639, 1.84),
                ("InterFuser, left", 8.35, 12.19, 0.09, 2.19)),
}  # fmt: skip
_PAPER_COLUMNS: Final = ("collisions_per_km", "pmais3_percent", "fpbr_habit", "ade_m")


@dataclass(frozen=True, slots=True, kw_only=True)
class HabitRunView:
    """One run on the page."""

    index: int
    label: str
    summary: HabitSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class HabitView:
    """The section.

    Attributes:
        tables: Table 1 (the suite) and 2 (variants), those that have rows.
        motions: What people did who were hit, most harm first, with a drawing where the clip is
            at hand.
        figures: Bias of forecasts by side, needless braking in time.
        unavoidable: People who stepped out inside any braking distance.
        avoidable: How many other hits there were.
    """

    tables: list[dict[str, Any]]
    motions: list[dict[str, Any]]
    figures: list[FigureOfRuns]
    unavoidable: list[dict[str, Any]]
    avoidable: int
    left_out: int


def habit_view(
    runs: Sequence[ScoredRun], labels: Sequence[str], motions: Path | None = None
) -> HabitView | None:
    """The section about these runs; None when none of them is of the suite.

    Args:
        runs: Scored under our protocol.
        labels: Their names on the page.
        motions: Library the people were posed by, for the animations; None: ours.
    """
    views = [
        HabitRunView(index=k, label=label, summary=summarise_habit(run.score, run.folder))
        for k, (run, label) in enumerate(zip(runs, labels, strict=True))
        if run.folder is not None and is_habit(run.score)
    ]
    if not views:
        return None
    braking = [
        figure
        for view in views
        if (figure := braking_figure(view.label, view.index, runs[view.index].score)) is not None
    ]
    hits = [(view, hit) for view in views for hit in view.summary.hits]
    inevitable = [(view, hit) for view, hit in hits if hit["unavoidable"]]
    return HabitView(
        tables=_tables(views),
        motions=_motions(views, _library(motions)),
        figures=[*bias_figures([(v.label, v.index, v.summary.foresight) for v in views]), *braking],
        unavoidable=[_listed(view, hit) for view, hit in inevitable[:_MOST_LISTED]],
        avoidable=len(hits) - len(inevitable),
        left_out=max(len(inevitable) - _MOST_LISTED, 0),
    )


def _library(folder: Path | None) -> MotionLibrary | None:
    try:
        return default_library() if folder is None else open_library(folder)
    except JaywalkError:
        return None  # a page without animations is better than none


def _tables(views: Sequence[HabitRunView]) -> list[dict[str, Any]]:
    found = []
    for number_of, key, words in ((1, "", "the suite"), (2, "variant", "variants")):
        mine = [view for view in views if bool(view.summary.variant) == bool(key)]
        if not mine:
            continue
        names = [
            name
            for name in NAMES
            if name in _PAPER_COLUMNS or any(_known(v.summary.figures[name]) for v in mine)
        ]
        found.append(
            {
                "title": f"Table {number_of}: {words}",
                "columns": [NAMES[name] for name in names],
                "rows": [_row(view, names) for view in mine],
                "paper": [_paper_row(row, names) for row in PAPER[key]],
            }
        )
    return found


def _known(figure: Figure) -> bool:
    return math.isfinite(figure.value)


def _row(view: HabitRunView, names: Sequence[str]) -> dict[str, Any]:
    summary = view.summary
    cells = []
    for name in names:
        figure = summary.figures[name]
        cells.append({"value": number(figure.value), "note": figure.warning,
                      "interval": interval_text(figure.low, figure.high),
                      "n": f"n {figure.n}" if figure.n else ""})  # fmt: skip
    variant = f", {summary.variant}" if summary.variant else ""
    about = f"{summary.episodes} episodes, {summary.km:.2f} km"
    return {"label": f"{view.label}{variant}", "colour": run_colour(view.index), "cells": cells,
            "about": about}  # fmt: skip


def _paper_row(row: tuple[Any, ...], names: Sequence[str]) -> dict[str, Any]:
    values = dict(zip(_PAPER_COLUMNS, row[1:], strict=True))
    cells = [number(math.nan if values.get(n) is None else values[n]) for n in names]
    return {"label": row[0], "cells": cells}


def _motions(views: Sequence[HabitRunView], library: MotionLibrary | None) -> list[dict[str, Any]]:
    """Clips by the harm they came with: expected serious injuries over all runs."""
    hits: dict[str, list[dict[str, Any]]] = {}
    for view in views:
        for hit in view.summary.hits:
            hits.setdefault(hit["clip"] or "unposed", []).append({**hit, "run": view.label})
    ranked = sorted(hits.items(), key=lambda item: (-_harm(item[1]), item[0]))
    return [_motion(name, own, library) for name, own in ranked[:_MOST_MOTIONS]]


def _harm(hits: Sequence[dict[str, Any]]) -> float:
    return math.fsum(hit["injury_risk"] for hit in hits if math.isfinite(hit["injury_risk"]))


def _motion(name: str, hits: list[dict[str, Any]], library: MotionLibrary | None) -> dict[str, Any]:
    phases = [(hit["clip_phase"], bool(hit["unavoidable"])) for hit in hits]
    svg, caption = "", ""
    if library is not None and name in library.rows:
        svg = clip_drawing(library.motion(name), phases)
        caption = str(library.columns["caption"][library.rows[name]])
    return {
        "name": name,
        "caption": caption,
        "kinds": ", ".join(sorted({hit["subcategory"] for hit in hits if hit["subcategory"]})),
        "hits": len(hits),
        "unavoidable": sum(bool(hit["unavoidable"]) for hit in hits),
        "harm": number(_harm(hits)),
        "runs": ", ".join(f"{run} {n}" for run, n in Counter(h["run"] for h in hits).items()),
        "svg": svg,
    }


def _listed(view: HabitRunView, hit: dict[str, Any]) -> dict[str, Any]:
    return {
        "label": view.label,
        "colour": run_colour(view.index),
        "episode": hit["episode"],
        "time": f"{hit['time_s']:.1f} s",
        "speed": number(hit["speed_mps"]),
        "risk": number(100.0 * hit["injury_risk"]),
        "since": number(hit["since_trigger_s"]),
        "road": number(hit["since_road_s"]),
        "who": " ".join(filter(None, (hit["age"], hit["subcategory"] or hit["intended"]))),
        "side": hit["side"],
    }
