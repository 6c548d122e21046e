"""Figure of the series of one episode: speed, pedals, gap and time to collision over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.report._series import Series
from jaywalk.report.svg import (
    BETTER,
    HAIR,
    SOFT,
    WORSE,
    drawing,
    el,
    path_of,
    text,
    text_width,
    ticks_of,
)

WIDTH: Final = 380.0
LEFT: Final = 34.0
RIGHT: Final = 8.0
_PANEL: Final = 52.0
_STEP: Final = 76.0
_TOP: Final = 20.0
_BLUE, _RED, _GREEN, _PINK = "#1d6fb8", WORSE, BETTER, "#d6407f"
_GAP_SHOWN_M: Final = 40.0
_Line = tuple[FloatArray, str, str, str | None]  # values, colour, name, dashes


def series_figure(series: Series, marks_s: Sequence[float]) -> str:
    """Four panels over game time; vertical lines where infractions were counted."""
    span = float(series.time_s[0]), float(max(series.time_s[-1], series.time_s[0] + 1.0))
    limit = series.speed_limit_mps
    seen = series.speed_mps if np.isnan(limit).all() else np.fmax(series.speed_mps, limit)
    top_speed = max(float(np.nanmax(seen)) * 1.08, 5.0)
    panels: tuple[tuple[str, str, float, list[_Line]], ...] = (
        (
            "speed",
            "m/s",
            top_speed,
            [(limit, SOFT, "limit", "3 3"), (series.speed_mps, _BLUE, "speed", None)],
        ),
        (
            "pedals",
            "",
            1.0,
            [(series.throttle, _GREEN, "throttle", None), (series.brake, _RED, "brake", None)],
        ),
        (
            "gap",
            "m",
            _GAP_SHOWN_M,
            [
                (series.person_m, _PINK, "nearest person", "3 2"),
                (series.gap_m, _BLUE, "gap ahead", None),
            ],
        ),
        ("time to collision", "s", 5.0, [(series.ttc_s, _RED, "TTC", None)]),
    )
    bottom = _TOP + _STEP * (len(panels) - 1) + _PANEL
    parts = [_time_axis(span, bottom)]
    for number, (name, unit, high, lines) in enumerate(panels):
        top = _TOP + _STEP * number
        parts.append(_panel(name, unit, high, top))
        parts.append(_keys(lines, top))
        for values, colour, _, dash in lines:
            parts.append(_line(series.time_s, values, span, high, top, colour, dash))
    for mark in marks_s:
        x = _across(mark, span)
        parts.append(
            el(
                "line",
                x1=x,
                x2=x,
                y1=_TOP,
                y2=bottom,
                stroke=_RED,
                stroke_width=1.2,
                stroke_dasharray="4 3",
                class_="event",
            )
        )
    parts.append(
        el(
            "line",
            x1=LEFT,
            x2=LEFT,
            y1=_TOP - 4,
            y2=bottom,
            stroke="#1d2430",
            stroke_width=1.2,
            class_="playhead",
            visibility="hidden",
        )
    )
    return drawing(WIDTH, bottom + 32.0, parts, title="Speed, pedals, gap and time to collision")


def _across(time_s: float, span: tuple[float, float]) -> float:
    share = (time_s - span[0]) / (span[1] - span[0])
    return LEFT + min(max(share, 0.0), 1.0) * (WIDTH - LEFT - RIGHT)


def _time_axis(span: tuple[float, float], bottom: float) -> str:
    parts = []
    for value in ticks_of(*span, most=6):
        x = _across(value, span)
        parts.append(
            el("line", x1=x, x2=x, y1=_TOP, y2=bottom, stroke=HAIR, stroke_width=0.6, class_="hair")
        )
        parts.append(
            text(
                x,
                bottom + 14.0,
                f"{value:g}",
                size=10.0,
                text_anchor="middle",
                fill=SOFT,
                class_="s",
            )
        )
    middle = (LEFT + WIDTH - RIGHT) / 2.0
    parts.append(
        text(
            middle,
            bottom + 27.0,
            "time (s)",
            size=10.0,
            text_anchor="middle",
            fill=SOFT,
            class_="s",
        )
    )
    return "".join(parts)


def _panel(name: str, unit: str, high: float, top: float) -> str:
    parts = [
        text(LEFT, top - 6.0, f"{name} ({unit})" if unit else name, size=11.0, font_weight=600)
    ]
    for value in ticks_of(0.0, high, most=2):
        y = top + _PANEL * (1.0 - value / high)
        parts.append(
            el(
                "line",
                x1=LEFT,
                x2=WIDTH - RIGHT,
                y1=y,
                y2=y,
                stroke=HAIR,
                stroke_width=0.6,
                class_="hair",
            )
        )
        parts.append(
            text(
                LEFT - 5.0,
                y + 3.5,
                f"{value:g}",
                size=10.0,
                text_anchor="end",
                fill=SOFT,
                class_="s",
            )
        )
    return "".join(parts)


def _keys(lines: Sequence[_Line], top: float) -> str:
    if len(lines) < 2:
        return ""
    parts, at = [], WIDTH - RIGHT
    for _, colour, name, dash in reversed(lines):
        parts.append(text(at, top - 6.0, name, size=10.0, text_anchor="end", fill=SOFT, class_="s"))
        at -= text_width(name, 10.0) + 4.0
        parts.append(
            el(
                "line",
                x1=at - 14.0,
                x2=at,
                y1=top - 9.5,
                y2=top - 9.5,
                stroke=colour,
                stroke_width=2,
                stroke_dasharray=dash,
            )
        )
        at -= 26.0
    return "".join(parts)


def _line(
    time_s: FloatArray,
    values: FloatArray,
    span: tuple[float, float],
    high: float,
    top: float,
    colour: str,
    dash: str | None,
) -> str:
    # Values above the panel are off the scale, not at its edge.
    shown = np.where(values <= high, values, np.nan)
    x = LEFT + (time_s - span[0]) / (span[1] - span[0]) * (WIDTH - LEFT - RIGHT)
    y = top + _PANEL * (1.0 - shown / high)
    alone = np.isfinite(y) & np.isnan(np.r_[np.nan, y[:-1]]) & np.isnan(np.r_[y[1:], np.nan])
    points = "".join(
        el("circle", cx=round(float(px), 1), cy=round(float(py), 1), r=1.2, fill=colour)
        for px, py in zip(x[alone], y[alone], strict=True)
    )
    data = path_of(np.column_stack([x, y]))
    if not data:
        return points
    return points + el(
        "path",
        d=data,
        fill="none",
        stroke=colour,
        stroke_width=1.6,
        stroke_dasharray=dash,
        stroke_linejoin="round",
    )
