"""Figures of runs of the suite ``habit``: forecasts biased to one side, needless braking."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from jaywalk.metrics.driving.summary import EpisodeScore, RunScore
from jaywalk.report.charts import WIDTH, Dot, DotChart, DotGroup, run_colour
from jaywalk.report.figures import FigureOfRuns
from jaywalk.report.labels import number
from jaywalk.report.svg import (
    BETTER,
    HAIR,
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

_SIDES: Final = ("left", "right")
_HORIZON_S: Final = 2.0
_MAX_ROWS: Final = 24
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
    for side in _SIDES:
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
    ranked = sorted(episodes, key=lambda one: (-_needless(one), one.episode_id))[:_MAX_ROWS]
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
