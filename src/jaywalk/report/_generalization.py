"""Section of the page about base/shift pairs: halves, changes, categories, reactions and cues.

A bar chart shows harmonic means by category: the part kept under the shift and the part lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from jaywalk.metrics.generalization.gap import KEYS
from jaywalk.metrics.generalization.run_pairs import pair_scores
from jaywalk.report.charts import run_colour
from jaywalk.report.scored_runs import ScoredRun
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
        named: Name and result of ``metrics.generalization.gap.gap_of``, as plain values.
        title: Text for readers who cannot see the figure.
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
        parts.append(
            el(
                "line",
                x1=_LEFT,
                x2=width,
                y1=y(tick),
                y2=y(tick),
                stroke="#9aa1ac",
                stroke_width=0.5,
                opacity=0.6,
            )
        )
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
        el(
            "rect",
            el("title", words),
            x=left,
            y=y(low),
            width=wide,
            height=round(y(0) - y(low), 1),
            fill=colour,
        ),
        el(
            "rect",
            x=left,
            y=y(high),
            width=wide,
            height=round(y(low) - y(high), 1),
            fill=colour if lost else INK,
            opacity=0.3 if lost else 0.75,
            class_=None if lost else "g-scale",
        ),
    ]
    ends = values["intervals"]["generalization"]["hm"]
    if all(end is not None for end in ends):
        x = round(left + wide / 2.0, 1)
        parts.append(
            el(
                "line",
                x1=x,
                x2=x,
                y1=y(ends[0]),
                y2=y(ends[1]),
                stroke=INK,
                stroke_width=1.3,
                class_="g-arrow",
            )
        )
    return parts


_HALVES: Final = ("base", "generalization")
_REACTIONS: Final = (
    ("speed_change_percent", "Speed change %", 1),
    ("slowest_mps", "Slower by up to, m/s", 1),
    ("brakings", "Needless brakings a route", 2),
    ("excursions", "Needless lane excursions a route", 2),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GapView:
    """Tables of cells; a cell is its value, its interval, its change and that one's interval."""

    labels: tuple[str, ...]
    main: list[tuple[str, int, list[dict[str, str]]]]
    headlines: list[str]
    no_min_speed: list[tuple[str, list[str]]]
    categories: list[tuple[str, list[dict[str, str]]]]
    classes: list[tuple[str, list[dict[str, str]]]]
    cues: list[tuple[str, list[dict[str, str]]]]
    reactions: list[tuple[str, list[dict[str, str]]]]
    reaction_rows: str  # heading of its rows
    reaction_names: tuple[str, ...]
    figure: str
    proofs: list[str]
    notes: list[str]


def gap_view(runs: Sequence[ScoredRun], labels: Sequence[str]) -> GapView | None:
    """The view of all runs that have pairs; None if none has."""
    scored = [
        (label, pair_scores(run.score, run.folder)) for run, label in zip(runs, labels, strict=True)
    ]
    available = [(label, one) for label, one in scored if one is not None]
    if not available:
        return None
    return GapView(
        labels=tuple(label for label, _ in available),
        main=[row for label, one in available for row in _main_rows(label, one)],
        headlines=_headlines(available),
        no_min_speed=[row for label, one in available for row in _no_min_speed(label, one)],
        categories=_grouped(available, "categories"),
        classes=_grouped(available, "classes"),
        cues=_cue_rows(available),
        reactions=_reaction_rows(available),
        reaction_rows="Run: class" if len(available) > 1 else "Class",
        reaction_names=tuple(words for _, words, _ in _REACTIONS),
        figure=gap_figure(available, "Harmonic means of both halves by category"),
        proofs=_proofs(available),
        notes=_notes(available),
    )


def _main_rows(label: str, scores: dict[str, Any]) -> list[tuple[str, int, list[dict[str, str]]]]:
    """Return the headline row, followed by the row over all pairs if it differs."""
    rows = [(label, scores["pairs"]["n"], _main_cells(scores))]
    whole = scores["all_pairs"]
    if scores["headline"] == "strong" and whole["base"] != scores["base"]:
        rows[0] = (f"{label}, strong pairs", scores["pairs"]["n"], rows[0][2])
        rows.append((f"{label}, all pairs", whole["pairs"]["n"], _main_cells(whole)))
    return rows


def _no_min_speed(label: str, one: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Driving scores of both halves without the minimum-speed factor."""
    values = [one[half]["ds_no_min_speed"] for half in _HALVES]
    if None in values:
        return []
    return [(label, [cell(value, None)["value"] for value in values])]


def _headlines(found: Sequence[tuple[str, dict[str, Any]]]) -> list[str]:
    lines = []
    for label, one in found:
        proof = one.get("counterfactual")
        if proof is None or one["headline"] != "strong":
            lines.append(f"{label}: over all pairs, since how strong they are is not known")
            continue
        names = ", ".join(f"{weak['pair']} ({weak['class']})" for weak in proof["weak_pairs"])
        rest = f"; weak, start only: {names}" if names else ""
        lines.append(f"{label}: {proof['strong']} strong pairs of {proof['checked']}{rest}")
    return lines


def _main_cells(scores: dict[str, Any]) -> list[dict[str, str]]:
    cells = []
    for half in _HALVES:
        for key in KEYS:
            is_shift = half == _HALVES[1]
            cells.append(
                cell(
                    scores[half][key],
                    scores["intervals"][half][key],
                    scores["change_percent"][key] if is_shift else None,
                    scores["intervals"]["change_percent"][key],
                )
            )
    return cells


def _grouped(
    found: Sequence[tuple[str, dict[str, Any]]], kind: str
) -> list[tuple[str, list[dict[str, str]]]]:
    names = dict.fromkeys(name for _, one in found for name in one[kind])
    return [(name, [_hm_cell(one[kind].get(name)) for _, one in found]) for name in names]


def _hm_cell(values: dict[str, Any] | None) -> dict[str, str]:
    if values is None:
        return cell(None, None)
    return cell(
        values["generalization_hm"],
        values["intervals"]["generalization"]["hm"],
        values["change_percent"],
        values["intervals"]["change_percent"]["hm"],
    )


def _cue_rows(
    found: Sequence[tuple[str, dict[str, Any]]],
) -> list[tuple[str, list[dict[str, str]]]]:
    tables = [{one["cue"]: one for one in run.get("cues", [])} for _, run in found]
    names = dict.fromkeys(name for table in tables for name in table)
    return [
        (
            name,
            [
                cell(table[name]["generalization"]["hm"], None, table[name]["change_percent"])
                if name in table
                else cell(None, None)
                for table in tables
            ],
        )
        for name in names
    ]


def _reaction_rows(
    tables: Sequence[tuple[str, dict[str, Any]]],
) -> list[tuple[str, list[dict[str, str]]]]:
    rows = []
    for label, one in tables:
        table = one.get("robustness")
        if not table or not table["all"]["n"]:
            continue
        for name, values in [*table["classes"].items(), ("all", table["all"])]:
            cells = [
                cell(values[key]["value"], values[key]["interval"], digits=digits)
                for key, _, digits in _REACTIONS
            ]
            rows.append((f"{label}: {name}" if len(tables) > 1 else name, cells))
    return rows


def _proofs(found: Sequence[tuple[str, dict[str, Any]]]) -> list[str]:
    proofs = [(label, one["counterfactual"]) for label, one in found if "counterfactual" in one]
    return [
        f"{label}: {one['passed']} of {one['checked']} pairs, {one['strong']} of them for at least "
        f"a second and {one['weak']} on their start alone"
        for label, one in proofs
    ]


def _notes(found: Sequence[tuple[str, dict[str, Any]]]) -> list[str]:
    lines = []
    for label, scores in found:
        lonely = scores["pairs"]["unpaired"]
        if lonely:
            lines.append(f"{label}: only one half of {', '.join(lonely)}")
        failed = scores.get("counterfactual", {}).get("failed", [])
        lines += [f"{label}: not a counterfactual: {line}" for line in failed]
        lines += [f"{label}: {note}" for note in scores.get("notes", [])]
    return lines


def cell(
    value: float | None,
    interval: Any,
    change: float | None = None,
    of_change: Any = None,
    digits: int = 1,
) -> dict[str, str]:
    """A cell of a table as texts."""
    return {
        "value": "–" if value is None else f"{value:z.{digits}f}",
        "interval": _ends(interval, digits),
        "change": "" if change is None else _signed(change),
        "of_change": "" if change is None else _ends(of_change, 1),
    }


def _signed(change: float) -> str:
    words = f"{change:+z.1f} %"
    return words.removeprefix("+") if words == "+0.0 %" else words


def _ends(interval: Any, digits: int) -> str:
    if interval is None or any(end is None for end in interval):
        return ""
    return f"[{interval[0]:z.{digits}f}, {interval[1]:z.{digits}f}]"
