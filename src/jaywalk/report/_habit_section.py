"""Section of the page about runs of the suite ``habit``: HABIT's tables, fatal motions, biases.

Each motion clip is a small animated drawing of a figure from the side, with the points of the clip
at which failures began. Two figures show forecasts that are biased to one side, and needless
braking over time.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import JaywalkError
from jaywalk.metrics.driving.rates import Figure
from jaywalk.metrics.driving.summary import EpisodeScore, RunScore
from jaywalk.metrics.safety.habit_summary import (
    FIGURES,
    HabitSummary,
    figure_label,
    is_habit,
    summarise_habit,
)
from jaywalk.motion import default_library
from jaywalk.motion.clip import Clip
from jaywalk.motion.library.reading import MotionLibrary, open_library
from jaywalk.motion.review.pack import view_direction
from jaywalk.motion.smpl import JOINTS, PARENTS
from jaywalk.report.charts import WIDTH, Dot, DotChart, DotGroup, run_colour
from jaywalk.report.figures import FigureOfRuns
from jaywalk.report.labels import interval_text, number
from jaywalk.report.scored_runs import ScoredRun, what_was_tested
from jaywalk.report.svg import (
    BETTER,
    HAIR,
    INK,
    NEITHER,
    SOFT,
    WORSE,
    drawing,
    el,
    legend,
    legend_lines,
    text,
    ticks_of,
)
from jaywalk.stats import bootstrap

_WIDTH, _HEIGHT = 190.0, 178.0
_GROUND_PX: Final = 138.0
_PX_PER_M: Final = 66.0
_FRAMES_PER_S: Final = 10.0
_MOST_FRAMES: Final = 60
_SIDES: Final = (("right", "#0f766e"), ("", INK), ("left", "#c2410c"))


def clip_drawing(motion: Clip, begun: Sequence[tuple[float, bool]]) -> str:
    """Draw a clip.

    Args:
        motion: The clip.
        begun: Where in the clip (0 to 1, nan if unknown) each failure began, and whether the hit
            was unavoidable.
    """
    every = max(1, round(motion.rate_hz / _FRAMES_PER_S))
    rows = np.arange(0, len(motion.root_m), every)[:_MOST_FRAMES]
    joints = motion.joints_m()[rows]
    along = view_direction(motion)
    flat = (joints[:, :, [0, 2]] - joints[:, :1, [0, 2]]) @ along
    x = _WIDTH / 2.0 + _PX_PER_M * flat
    y = _GROUND_PX - _PX_PER_M * joints[:, :, 1]
    seconds = len(rows) * every / motion.rate_hz
    parts = [
        el("line", x1=12, x2=_WIDTH - 12, y1=_GROUND_PX, y2=_GROUND_PX, stroke=SOFT, class_="rule")
    ]
    parts += _ground(joints, along, seconds)
    for side, colour in _SIDES:
        frames = [_limbs(x[k], y[k], side) for k in range(len(rows))]
        moves = el(
            "animate",
            attributeName="d",
            dur=f"{seconds:.2f}s",
            calcMode="discrete",
            repeatCount="indefinite",
            values=";".join(frames),
        )
        # bones on neither side of the body take the colour of the page's text
        parts.append(
            el(
                "path",
                moves,
                d=frames[0],
                fill="none",
                stroke=colour,
                stroke_width=3,
                stroke_linecap="round",
                class_="bone" if not side else None,
            )
        )
    parts.append(_time_bar(begun, seconds))
    return drawing(_WIDTH, _HEIGHT, parts, title=f"{motion.name}, {seconds:.1f} s")


def _limbs(x: FloatArray, y: FloatArray, side: str) -> str:
    words = []
    for joint in range(1, len(JOINTS)):
        name = JOINTS[joint]
        mine = "left" if name.startswith("left") else "right" if name.startswith("right") else ""
        if mine == side:
            a = int(PARENTS[joint])
            words.append(f"M{x[a]:.0f} {y[a]:.0f}L{x[joint]:.0f} {y[joint]:.0f}")
    return "".join(words)


def _ground(joints: FloatArray, along: FloatArray, seconds: float) -> list[str]:
    """Marks a metre apart that pass under the person."""
    gone = (joints[:, 0][:, [0, 2]] - joints[0, 0, [0, 2]]) @ along
    frames = []
    for moved in gone:
        first = _WIDTH / 2.0 - _PX_PER_M * float(moved)
        marks = [first + _PX_PER_M * k for k in range(-12, 13)]
        kept = [at for at in marks if 12.0 < at < _WIDTH - 12.0]
        frames.append("".join(f"M{at:.0f} {_GROUND_PX:.0f}v5" for at in kept) or "M0 0")
    moves = el(
        "animate",
        attributeName="d",
        dur=f"{seconds:.2f}s",
        calcMode="discrete",
        repeatCount="indefinite",
        values=";".join(frames),
    )
    return [el("path", moves, d=frames[0], fill="none", stroke=SOFT, class_="rule")]


def _time_bar(begun: Sequence[tuple[float, bool]], seconds: float) -> str:
    left, right, y = 14.0, _WIDTH - 14.0, _GROUND_PX + 22.0
    parts = [el("line", x1=left, x2=right, y1=y, y2=y, stroke=HAIR, stroke_width=4, class_="hair")]
    for phase, unavoidable in begun:
        if np.isfinite(phase):
            parts.append(
                el(
                    "circle",
                    cx=left + float(phase) * (right - left),
                    cy=y,
                    r=4,
                    fill=NEITHER if unavoidable else WORSE,
                    fill_opacity=0.75,
                )
            )
    parts.append(text(left, y + 15.0, "0", size=9.0, fill=SOFT, class_="s"))
    parts.append(
        text(
            right, y + 15.0, f"{seconds:.1f} s", size=9.0, fill=SOFT, class_="s", text_anchor="end"
        )
    )
    return "".join(parts)


_HABIT_FIGURES_SIDES: Final = ("left", "right")
_HORIZON_S: Final = 2.0
_MOST_ROWS: Final = 24
_WHY: Final = (
    ("false", WORSE, "needless"),
    ("true", BETTER, "for somebody who came"),
    ("other", NEITHER, "something else explains it"),
)
_LEFT_PX: Final = 92.0
_ROW_PX: Final = 15.0

ForesightOfRun = tuple[str, int, pl.DataFrame]  # label, place on the page, samples


def bias_figures(runs: Sequence[ForesightOfRun]) -> list[FigureOfRuns]:
    """Draw bias and size of forecast errors for people from the left and from the right.

    Intervals are BCa over people.
    """
    forecasting = [
        (label, index, rows.filter(pl.col("horizon_s") == _HORIZON_S))
        for label, index, rows in runs
        if not rows.is_empty()
    ]
    if not forecasting:
        return []
    bias = _groups(forecasting, "right_m")
    size = _groups(forecasting, "error_m")
    reach = max(
        [
            abs(end)
            for g in bias
            for d in g.dots
            for end in (d.low, d.high, d.value)
            if math.isfinite(end)
        ]
        or [0.1]
    )
    most = max(
        [end for g in size for d in g.dots for end in (d.high, d.value) if math.isfinite(end)]
        or [0.1]
    )
    keys = tuple((run_colour(index), label) for label, index, _ in forecasting)
    ahead = f"{_HORIZON_S:.0f} s ahead"
    return [
        FigureOfRuns(
            name="forecast-bias",
            title="Directional bias of forecasts",
            caption=f"Mean error {ahead} of people who cross or attempt to, across the ego's "
            "heading: right of zero, people were foreseen too far to the right. A driver without "
            "bias has both sides at zero.",
            chart=DotChart(
                groups=tuple(bias),
                span=(-1.08 * reach, 1.08 * reach),
                axis="m to the right of the truth",
                keys=keys,
            ),
        ),
        FigureOfRuns(
            name="forecast-error-by-side",
            title="Error of forecasts by side",
            caption=f"Mean distance {ahead} between the forecast's mean and the person.",
            chart=DotChart(
                groups=tuple(size), span=(0.0, 1.05 * most), axis="distance (m)", keys=keys
            ),
        ),
    ]


def _groups(runs: Sequence[ForesightOfRun], column: str) -> list[DotGroup]:
    groups = []
    for side in _HABIT_FIGURES_SIDES:
        dots = []
        for _, index, rows in runs:
            own = rows.filter((pl.col("side") == side) & (pl.col("intended") != "not_crossing"))
            dots.append(_dot(own, column, run_colour(index)))
        groups.append(DotGroup(heading=f"people from the {side}", dots=tuple(dots)))
    return groups


def _dot(rows: pl.DataFrame, column: str, colour: str) -> Dot:
    if rows.is_empty():
        return Dot(value=math.nan, low=math.nan, high=math.nan, colour=colour, words="–")
    people = rows.select(pl.concat_str("episode", pl.lit(":"), "actor")).to_series().to_list()
    estimate = bootstrap.mean(rows[column].to_numpy(), people, resamples=2000)
    return Dot(
        value=estimate.value,
        low=estimate.interval.low,
        high=estimate.interval.high,
        colour=colour,
        words=number(estimate.value, sign=column == "right_m"),
        n=f"{len(set(people))} people",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BrakingRow:
    """Brakings of one episode: first and last second, and why (``false``, ``true``, ``other``)."""

    episode_id: str
    duration_s: float
    events: tuple[tuple[float, float, str], ...]


def braking_rows(run: RunScore) -> list[BrakingRow]:
    """Return the episodes with braking, most needless braking first, at most 24."""
    episodes = [one for one in run.episodes if one.detail.get("braking")]
    ranked = sorted(episodes, key=lambda one: (-_needless(one), one.episode_id))[:_MOST_ROWS]
    return [
        BrakingRow(
            episode_id=one.episode_id,
            duration_s=_duration_s(one),
            events=tuple(_span(one, event) for event in one.detail["braking"]),
        )
        for one in ranked
    ]


def _span(one: EpisodeScore, event: dict[str, Any]) -> tuple[float, float, str]:
    step_s = float(one.detail.get("step_s") or 0.05)
    return step_s * float(event["tick"]), step_s * float(event["end_tick"]), _why(event)


def braking_figure(label: str, index: int, run: RunScore) -> FigureOfRuns | None:
    """Draw when and for whom a driver braked in each episode; most needless braking first."""
    episodes = [one for one in run.episodes if one.detail.get("braking")]
    ranked = braking_rows(run)
    if not ranked:
        return None
    longest = max(row.duration_s for row in ranked)
    keys = [(colour, words) for _, colour, words in _WHY]
    left, right = _LEFT_PX, WIDTH - 10.0
    top = 8.0 + 18.0 * legend_lines(keys, WIDTH - 20.0)
    bottom = top + _ROW_PX * len(ranked)
    scale = (right - left) / max(longest, 1.0)
    parts = [legend(keys, 12.0, 14.0, WIDTH - 20.0)]
    for value in ticks_of(0.0, longest):
        x = left + value * scale
        parts.append(el("line", x1=x, x2=x, y1=top, y2=bottom, stroke=HAIR, class_="hair"))
        parts.append(
            text(
                x,
                bottom + 14.0,
                f"{value:.0f}",
                size=10.0,
                text_anchor="middle",
                fill=SOFT,
                class_="s",
            )
        )
    for k, one in enumerate(ranked):
        parts.append(_timeline(one, top + _ROW_PX * k, left, scale))
    parts.append(
        text(
            (left + right) / 2.0,
            bottom + 29.0,
            "s",
            size=10.0,
            text_anchor="middle",
            fill=SOFT,
            class_="s",
        )
    )
    total, needless = sum(_counted(one) for one in episodes), sum(map(_needless, episodes))
    return FigureOfRuns(
        name=f"braking-{index}",
        title=f"Braking in time: {label}",
        caption=f"{needless} of {total} brakings for people were needless. Lines: how long the "
        f"episode lasted. Shown: {len(ranked)} of {len(episodes)} episodes, most needless first.",
        drawing=drawing(WIDTH, bottom + 36.0, parts, title=f"Braking in time: {label}"),
    )


def _timeline(row: BrakingRow, y: float, left: float, scale: float) -> str:
    middle = y + 0.5 * _ROW_PX
    name = row.episode_id if len(row.episode_id) <= 15 else "…" + row.episode_id[-14:]
    parts = [
        text(4.0, middle + 3.5, name, size=9.5),
        el(
            "line",
            x1=left,
            x2=left + row.duration_s * scale,
            y1=middle,
            y2=middle,
            stroke=HAIR,
            stroke_width=1.5,
            class_="hair",
        ),
    ]
    for first_s, last_s, reason in row.events:
        colour = next(colour for why, colour, _ in _WHY if why == reason)
        parts.append(
            el(
                "rect",
                x=left + first_s * scale,
                y=y + 3.0,
                height=_ROW_PX - 6.0,
                rx=1.5,
                width=max((last_s - first_s) * scale, 2.0),
                fill=colour,
            )
        )
    return "".join(parts)


def _why(event: dict[str, Any]) -> str:
    if event["explained_by"] or event["person"] is None:
        return "other"
    return "false" if event["false"] else "true"


def _needless(one: EpisodeScore) -> int:
    return int(one.counts.get("false_braking_events", 0))


def _counted(one: EpisodeScore) -> int:
    return int(one.counts.get("braking_events", 0))


def _duration_s(one: EpisodeScore) -> float:
    value = one.metrics.get("duration_s", math.nan)
    return float(np.nan_to_num(value, nan=1.0))


_MOST_MOTIONS: Final = 8
_MOST_LISTED: Final = 40
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
        unavoidable=[_listed(view, hit) for view, hit in inevitable[:_MOST_LISTED]],
        avoidable=len(hits) - len(inevitable),
        left_out=max(len(inevitable) - _MOST_LISTED, 0),
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
