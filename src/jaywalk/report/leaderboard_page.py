"""Static leaderboard page of valid entries with intervals, modalities, rules and suspicions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from jaywalk import __version__
from jaywalk.metrics.driving.inspected import inspection_line
from jaywalk.metrics.driving.summary import jsonable
from jaywalk.metrics.generalization.entry import MODALITIES, PUBLIC
from jaywalk.metrics.generalization.gap import KEYS
from jaywalk.metrics.generalization.split import CATEGORIES
from jaywalk.metrics.generalization.validation import Verdict
from jaywalk.report._generalization import cell, gap_figure
from jaywalk.report.svg import content_policy

_HALVES: Final = ("base", "generalization")


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedRow:
    """A row as the paper prints it: no files, so no intervals. Scores: DS, SR, HM of each half.

    Attributes:
        categories: Harmonic mean under the shift and its change in percent, in the order of
            `CATEGORIES`; empty where the paper prints none.
    """

    method: str
    modalities: tuple[str, ...]
    bench2drive: float | None
    base: tuple[float, float, float]
    generalization: tuple[float, float, float]
    change_percent: tuple[float, float, float]
    categories: tuple[tuple[float, float], ...] = ()


# Tables 1 and 2 of the paper (arXiv:2604.08535).
PAPER: Final = (
    PrintedRow(
        method="TCP",
        modalities=("rgb", "learned"),
        bench2drive=59.9,
        base=(24.7, 39.1, 30.3),
        generalization=(24.5, 31.4, 27.5),
        change_percent=(-0.8, -19.7, -9.1),
        categories=((31.4, -10.3), (6.2, -1.4), (22.1, -30.6), (42.8, 3.6)),
    ),
    PrintedRow(
        method="UniAD",
        modalities=("rgb", "learned"),
        bench2drive=45.8,
        base=(47.5, 36.3, 41.2),
        generalization=(44.0, 27.6, 33.9),
        change_percent=(-7.4, -24.0, -17.6),
        categories=((26.3, 4.6), (13.0, 84.2), (17.9, -67.9), (66.3, -4.7)),
    ),
    PrintedRow(
        method="Orion",
        modalities=("rgb", "learned"),
        bench2drive=77.8,
        base=(53.0, 52.0, 52.5),
        generalization=(51.2, 46.0, 48.5),
        change_percent=(-3.4, -11.5, -7.7),
        categories=((53.0, -9.6), (34.0, 47.9), (35.4, -34.0), (66.0, -8.4)),
    ),
    PrintedRow(
        method="HiP-AD",
        modalities=("rgb", "learned"),
        bench2drive=86.8,
        base=(74.1, 70.7, 72.4),
        generalization=(67.1, 56.7, 61.5),
        change_percent=(-9.4, -19.8, -15.1),
        categories=((70.9, -5.6), (40.8, -27.1), (42.6, -46.6), (82.3, 4.1)),
    ),
    PrintedRow(
        method="SimLingo",
        modalities=("rgb", "learned"),
        bench2drive=85.1,
        base=(82.6, 79.3, 80.9),
        generalization=(71.7, 55.0, 62.2),
        change_percent=(-13.2, -30.6, -23.1),
        categories=((71.1, -9.0), (45.9, -32.2), (31.2, -64.2), (86.8, -5.9)),
    ),
    PrintedRow(
        method="TF++",
        modalities=("rgb", "lidar", "learned"),
        bench2drive=84.2,
        base=(83.3, 78.5, 80.8),
        generalization=(75.4, 61.1, 67.5),
        change_percent=(-9.5, -22.2, -16.5),
        categories=((77.0, -7.8), (40.4, -30.6), (47.2, -43.9), (93.7, -2.2)),
    ),
    PrintedRow(
        method="PlanT 2.0",
        modalities=("privileged", "learned"),
        bench2drive=92.4,
        base=(87.8, 85.0, 86.4),
        generalization=(73.3, 58.0, 64.8),
        change_percent=(-16.5, -31.8, -25.0),
        categories=((86.6, -6.2), (36.2, -44.4), (36.7, -59.7), (82.9, -13.7)),
    ),
    PrintedRow(
        method="PDMLite-F2D",
        modalities=("privileged",),
        bench2drive=97.0,
        base=(95.6, 97.0, 96.3),
        generalization=(94.0, 95.3, 94.6),
        change_percent=(-1.7, -1.8, -1.7),
    ),
)


def same_names(verdicts: Sequence[Verdict]) -> dict[str, list[str]]:
    """Return methods shared by several valid entries of one benchmark, with their folder names."""
    folders: dict[tuple[str, str], list[str]] = {}
    for one in verdicts:
        if one.is_valid:
            key = (one.entry.benchmark, one.entry.method)
            folders.setdefault(key, []).append(one.entry.folder.name)
    return {method: names for (_, method), names in folders.items() if len(names) > 1}


def build_leaderboard(verdicts: Sequence[Verdict], *, title: str, with_paper: bool = True) -> str:
    """The page as text; entries that are not valid are named with the reasons, not ranked."""
    source, style = _asset("leaderboard.html.j2"), _asset("page.css")
    template = _environment().from_string(source)
    valid = [one for one in verdicts if one.is_valid]
    names = sorted({one.entry.benchmark for one in valid}, key=lambda one: (one != PUBLIC, one))
    return template.render(
        title=title,
        version=__version__,
        style=Markup(style),
        policy=Markup(content_policy(source, style=style)),
        modalities=MODALITIES,
        boards=[
            _board(name, [one for one in valid if one.entry.benchmark == name], with_paper)
            for name in names
        ],
        refused=[one for one in verdicts if not one.is_valid],
    )


def _board(name: str, entries: Sequence[Verdict], with_paper: bool) -> dict[str, Any]:
    ranked = sorted(entries, key=_rank)
    labels = _labels(ranked)
    anchors = [f"entry-{_words(name)}-{place}" for place, _ in enumerate(ranked, start=1)]
    rows = [_row(*one) for one in zip(ranked, labels, anchors, strict=True)]
    is_printed = name == PUBLIC and with_paper
    if is_printed:
        rows = sorted([*rows, *map(_printed, PAPER)], key=lambda row: -row["sort"])
    plain = [(label, jsonable(one.score)) for one, label in zip(ranked, labels, strict=True)]
    categories = list(dict.fromkeys(key for _, found in plain for key in found["categories"]))
    classes = list(dict.fromkeys(key for _, found in plain for key in found["classes"]))
    return {
        "name": name,
        "is_public": name == PUBLIC,
        "inspected": "" if name == PUBLIC else inspection_line(name),
        "rows": rows,
        "figure": Markup(gap_figure(plain, f"Harmonic means by category on {name}")),
        "categories": categories,
        "by_category": [
            (method, [_group(found["categories"].get(key)) for key in categories])
            for method, found in plain
        ],
        "printed_by_category": _printed_categories(categories) if is_printed else [],
        "methods": [method for method, _ in plain],
        "by_class": [
            (key, [_group(found["classes"].get(key)) for _, found in plain]) for key in classes
        ],
        "entries": list(zip(ranked, labels, anchors, strict=True)),
    }


def _labels(entries: Sequence[Verdict]) -> list[str]:
    """Methods, with the folder where several entries have the same one."""
    twice = same_names(entries)
    return [
        f"{one.entry.method} ({one.entry.folder.name})"
        if one.entry.method in twice
        else one.entry.method
        for one in entries
    ]


def _rank(one: Verdict) -> float:
    assert one.score is not None
    value: float = one.score["generalization"]["hm"]
    return -value if math.isfinite(value) else 0.0


def _row(verdict: Verdict, label: str, anchor: str) -> dict[str, Any]:
    score = jsonable(verdict.score)
    entry = verdict.entry
    cells = []
    for half in _HALVES:
        for key in KEYS:
            change = score["change_percent"][key] if half == _HALVES[1] else None
            cells.append(
                cell(
                    score[half][key],
                    score["intervals"][half][key],
                    change,
                    score["intervals"]["change_percent"][key],
                )
            )
    return {
        "method": label,
        "anchor": anchor,
        "is_printed": False,
        "modalities": entry.modalities,
        "bench2drive": _fixed(entry.bench2drive_ds),
        "cells": cells,
        "sort": -_rank(verdict),
        "doubts": sum(verdict.flags.values()),
        "pairs": _pairs_note(score),
        "speed": _speed_note(score),
    }


def _speed_note(score: dict[str, Any]) -> str:
    """Driving scores of both halves without the minimum-speed factor."""
    values = [score[half]["ds_no_min_speed"] for half in _HALVES]
    if None in values:
        return ""
    base, shift = (_fixed(value) for value in values)
    return f"DS without the minimum-speed factor: {base}, {shift}"


def _pairs_note(score: dict[str, Any]) -> str:
    """Return a note with the number of strong pairs in a row and the figures over all pairs."""
    if score["headline"] != "strong":
        return ""
    whole = score["all_pairs"]
    base, shift = (_fixed(whole[half]["hm"]) for half in _HALVES)
    return f"{score['base']['n']} strong of {whole['base']['n']} pairs; all: HM {base}, {shift}"


def _printed(row: PrintedRow) -> dict[str, Any]:
    cells = [cell(value, None) for value in row.base]
    for value, change in zip(row.generalization, row.change_percent, strict=True):
        cells.append(cell(value, None, change))
    return {
        "method": row.method,
        "anchor": "",
        "is_printed": True,
        "modalities": {key: key in row.modalities for key in MODALITIES},
        "bench2drive": _fixed(row.bench2drive),
        "cells": cells,
        "sort": row.generalization[2],
        "doubts": 0,
        "pairs": "",
        "speed": "",
    }


def _printed_categories(shown: Sequence[str]) -> list[tuple[str, list[dict[str, str]]]]:
    """The paper's rows by category, best first."""
    out = []
    for row in sorted(PAPER, key=lambda one: -one.generalization[2]):
        if row.categories:
            given = dict(zip(CATEGORIES, row.categories, strict=True))
            cells = [
                cell(given[key][0], None, given[key][1]) if key in given else cell(None, None)
                for key in shown
            ]
            out.append((row.method, cells))
    return out


def _group(values: Any) -> dict[str, str]:
    if values is None:
        return cell(None, None)
    return cell(
        values["generalization_hm"],
        values["intervals"]["generalization"]["hm"],
        values["change_percent"],
        values["intervals"]["change_percent"]["hm"],
    )


def _fixed(value: Any) -> str:
    """One decimal, as the published tables have it."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{value:.1f}"


def _words(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower())


def _asset(name: str) -> str:
    return files("jaywalk.report").joinpath("assets", name).read_text(encoding="utf-8")


def _environment() -> Environment:
    return Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
