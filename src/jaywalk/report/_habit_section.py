"""Section of the page about runs of the suite ``habit``: HABIT's tables, fatal motions, figures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jaywalk.core.errors import JaywalkError
from jaywalk.metrics.driving.rates import Figure
from jaywalk.metrics.safety.habit_summary import (
    FIGURES,
    HabitSummary,
    figure_label,
    is_habit,
    summarise_habit,
)
from jaywalk.motion import default_library
from jaywalk.motion.library.reading import MotionLibrary, open_library
from jaywalk.report._clip_drawing import clip_drawing
from jaywalk.report._habit_figures import bias_figures, braking_figure
from jaywalk.report.charts import run_colour
from jaywalk.report.figures import FigureOfRuns
from jaywalk.report.labels import interval_text, number
from jaywalk.report.scored_runs import ScoredRun, what_was_tested

_MAX_MOTIONS: Final = 8
_MAX_LISTED: Final = 40
# HABIT's paper, tables 1 and 2: collisions per km, pMAIS3+ in percent, FPBR, ADE in metres.
PAPER: Final = {
    "": (
        ("InterFuser", 5.24, 10.96, 0.33, 1.64),
        ("TransFuser", 7.43, 12.94, 0.12, 1.87),
        ("BEVDriver", 7.19, 12.35, None, None),
    ),
    "variant": (
        ("InterFuser, idle", 0.16, 8.40, 0.639, 1.84),
        ("InterFuser, left", 8.35, 12.19, 0.09, 2.19),
    ),
}
_PAPER_COLUMNS: Final = ("collisions_per_km", "pmais3_percent", "fpbr_habit", "ade_m")


@dataclass(frozen=True, slots=True, kw_only=True)
class HabitRunView:
    """One run on the page.

    Attributes:
        scripted: People do not react in any episode, as in HABIT's paper.
    """

    index: int
    label: str
    summary: HabitSummary
    scripted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HabitView:
    """The section.

    Attributes:
        tables: Table 1 (the suite) and 2 (variants), those that have rows; with the paper's rows
            beside runs with scripted people only.
        motions: What people did who were hit, most harm first, with a drawing where the clip is
            at hand.
        figures: Bias of forecasts by side, needless braking in time.
        unavoidable: People who stepped out within the braking distance.
        avoidable: Number of the other hits.
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
    """Return the section about these runs; None if none of them is of the suite.

    Args:
        runs: Scored under our protocol.
        labels: Their names on the page.
        motions: Library the people were posed by, for the animations; None: ours.
    """
    views = [
        HabitRunView(
            index=k,
            label=label,
            summary=summarise_habit(run.score, run.folder),
            scripted=_is_scripted(run),
        )
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
        unavoidable=[_listed(view, hit) for view, hit in inevitable[:_MAX_LISTED]],
        avoidable=len(hits) - len(inevitable),
        left_out=max(len(inevitable) - _MAX_LISTED, 0),
    )


def foresight_figures(runs: Sequence[ScoredRun], labels: Sequence[str]) -> list[FigureOfRuns]:
    """Return the figures about forecasts of the runs that are of the suite."""
    return bias_figures(
        [
            (label, k, summarise_habit(run.score, run.folder).foresight)
            for k, (run, label) in enumerate(zip(runs, labels, strict=True))
            if run.folder is not None and is_habit(run.score)
        ]
    )


def _library(folder: Path | None) -> MotionLibrary | None:
    try:
        return default_library() if folder is None else open_library(folder)
    except JaywalkError:
        return None  # a page without animations is better than none


def _tables(views: Sequence[HabitRunView]) -> list[dict[str, Any]]:
    tables = []
    for number_of, key, words in ((1, "", "the suite"), (2, "variant", "variants")):
        mine = [view for view in views if bool(view.summary.variant) == bool(key)]
        if not mine:
            continue
        names = [
            name
            for name in FIGURES
            if name in _PAPER_COLUMNS or any(_known(v.summary.figures[name]) for v in mine)
        ]
        scripted = any(view.scripted for view in mine)
        tables.append(
            {
                "title": f"Table {number_of}: {words}",
                "columns": [figure_label(name) for name in names],
                "rows": [_row(view, names) for view in mine],
                "paper": [_paper_row(row, names) for row in PAPER[key]] if scripted else [],
            }
        )
    return tables


def _is_scripted(run: ScoredRun) -> bool:
    tested = (what_was_tested(run, episode) for episode in run.score.episodes)
    return all(facts.get("people", "").startswith("scripted") for facts in tested)


def _known(figure: Figure) -> bool:
    return math.isfinite(figure.value)


def _row(view: HabitRunView, names: Sequence[str]) -> dict[str, Any]:
    summary = view.summary
    cells = []
    for name in names:
        figure = summary.figures[name]
        cells.append(
            {
                "value": number(figure.value),
                "note": figure.warning,
                "interval": interval_text(figure.low, figure.high),
                "n": f"n {figure.n}" if figure.n else "",
            }
        )
    variant = f", {summary.variant}" if summary.variant else ""
    about = f"{summary.episodes} episodes, {summary.km:.2f} km"
    about += "" if view.scripted else "; people react"
    return {
        "label": f"{view.label}{variant}",
        "colour": run_colour(view.index),
        "cells": cells,
        "about": about,
    }


def _paper_row(row: tuple[Any, ...], names: Sequence[str]) -> dict[str, Any]:
    values = dict(zip(_PAPER_COLUMNS, row[1:], strict=True))
    cells = [number(math.nan if values.get(n) is None else values[n]) for n in names]
    return {"label": row[0], "cells": cells}


def _motions(views: Sequence[HabitRunView], library: MotionLibrary | None) -> list[dict[str, Any]]:
    """Return clips by harm: expected serious injuries over all runs."""
    hits: dict[str, list[dict[str, Any]]] = {}
    for view in views:
        for hit in view.summary.hits:
            hits.setdefault(hit["clip"] or "unposed", []).append({**hit, "run": view.label})
    ranked = sorted(hits.items(), key=lambda item: (-_harm(item[1]), item[0]))
    return [_motion(name, own, library) for name, own in ranked[:_MAX_MOTIONS]]


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
        "kinds": ", ".join(
            sorted({hit["subcategory"].replace("_", " ") for hit in hits if hit["subcategory"]})
        ),
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
        "who": " ".join(
            filter(None, (hit["age"], (hit["subcategory"] or hit["intended"]).replace("_", " ")))
        ),
        "side": hit["side"],
    }
