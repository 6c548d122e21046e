"""Harmonic means by category as bars: what is left under the shift, and what it took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from jaywalk.report.figures import run_colour
from jaywalk.report.svg import INK, drawing, el, legend, text

_HEIGHT: Final = 300.0
_TOP, _BOTTOM, _LEFT = 34.0, 30.0, 34.0
_BAR: Final = 20.0
_GAP: Final = 26.0
_LEAST_WIDE: Final = 384.0  # of all groups


def gap_figure(named: Sequence[tuple[str, Mapping[str, Any]]], title: str) -> str:
    """SVG of one or more tables of pairs.

    The solid bar is the harmonic mean under the shift with its interval; the pale part above is
    what the shift took, a darker cap what it gave.

    Args:
        named: Name and what :func:`jaywalk.metrics.fail2drive.gap.gap_of` gives, as plain values.
        title: For those who cannot see it.
    """
    groups = list(dict.fromkeys(key for _, found in named for key in found["categories"]))
    # Pages stretch a drawing to their width: with few groups it is no narrower, only emptier.
    group_wide = max(_BAR * len(named) + _GAP, 96.0, _LEAST_WIDE / max(len(groups), 1))
    width = _LEFT + group_wide * len(groups) + 8.0
    lines = max(1, -(-len(named) // 4))
    top = _TOP + 16.0 * (lines - 1)
    high = _HEIGHT - top - _BOTTOM

    def y(value: float) -> float:
        return round(top + high * (1.0 - value / 100.0), 1)

    parts = []
    for tick in (0, 25, 50, 75, 100):
        parts.append(el("line", x1=_LEFT, x2=width, y1=y(tick), y2=y(tick), stroke="#9aa1ac",
                        stroke_width=0.5, opacity=0.6))  # fmt: skip
        parts.append(text(_LEFT - 5.0, y(tick) + 3.5, str(tick), size=10.0, text_anchor="end"))
    for k, group in enumerate(groups):
        x = _LEFT + group_wide * (k + 0.5)
        parts.append(text(x, _HEIGHT - 11.0, group, size=12.0, text_anchor="middle"))
        first = x - 0.5 * _BAR * len(named)
        for number, (_, found) in enumerate(named):
            if group in found["categories"]:
                left = round(first + _BAR * number, 1)
                parts += _bar(found["categories"][group], left, run_colour(number), y)
    keys = [(run_colour(number), name) for number, (name, _) in enumerate(named)]
    parts.append(legend(keys, _LEFT, 12.0, width))
    return drawing(width, _HEIGHT, parts, title=title)


def _bar(values: Mapping[str, Any], left: float, colour: str, y: Any) -> list[str]:
    base, shift = values["base_hm"] or 0.0, values["generalization_hm"] or 0.0
    wide = _BAR - 4.0
    low, high = min(base, shift), max(base, shift)
    lost = base > shift
    words = f"base {base:.1f}, shift {shift:.1f}"
    parts = [
        el("rect", el("title", words), x=left, y=y(low), width=wide,
           height=round(y(0) - y(low), 1), fill=colour),
        el("rect", x=left, y=y(high), width=wide, height=round(y(low) - y(high), 1),
           fill=colour if lost else INK, opacity=0.3 if lost else 0.75),
    ]  # fmt: skip
    ends = values["intervals"]["generalization"]["hm"]
    if all(end is not None for end in ends):
        x = round(left + wide / 2.0, 1)
        parts.append(el("line", x1=x, x2=x, y1=y(ends[0]), y2=y(ends[1]), stroke=INK,
                        stroke_width=1.3, class_="g-arrow"))  # fmt: skip
    return parts
