"""Self-contained HTML page about behaviour models: the benchmark's tables and figures.

The figures are curves over regions, heat maps of factors and the regions of a frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from jaywalk import __version__
from jaywalk.report.svg import (
    HAIR,
    INK,
    SERIES,
    SOFT,
    claim,
    content_policy,
    drawing,
    el,
    legend,
    path_of,
    text,
)

_LOW, _HIGH = np.array([247, 245, 238]), np.array([23, 98, 135])
_CALM, _GRAVE = np.array([226, 238, 226]), np.array([222, 110, 84])
_COLOURS = (*SERIES, "#d1497b", "#6b7280", "#84a31f", "#4c51bf")


def colour_of(number: int) -> str:
    """Colour of a model, by its place in the list."""
    return _COLOURS[number % len(_COLOURS)]


def region_curves(
    series: Sequence[tuple[str, Sequence[float | None]]], counts: Sequence[int], *, title: str
) -> str:
    """Draw a line per model over the regions from left to right; bars show samples per region."""
    width, left, right, top, height = 640.0, 44.0, 10.0, 34.0, 210.0
    n = len(counts)
    step = (width - left - right) / n
    rows = -(-sum(24.0 + 7.0 * len(name) for name, _ in series) // (width - left))
    top += 16.0 * max(rows - 1, 0)
    bottom = top + height
    parts = [legend([(colour_of(i), name) for i, (name, _) in enumerate(series)], left, 14, 580)]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = bottom - share * height
        parts.append(el("line", x1=left, x2=width - right, y1=y, y2=y, stroke=HAIR, class_="hair"))
        parts.append(text(left - 8, y + 4, f"{share:g}", text_anchor="end", fill=SOFT, class_="s"))
    most = max(max(counts), 1)
    for k, count in enumerate(counts):
        x, tall = left + k * step, 0.3 * height * count / most
        parts.append(
            el(
                "rect",
                x=x + 3,
                y=bottom - tall,
                width=step - 6,
                height=tall,
                fill=HAIR,
                opacity=0.8,
            )
        )
        parts.append(text(x + step / 2, bottom + 16, str(k + 1), text_anchor="middle"))
        parts.append(
            text(
                x + step / 2,
                bottom + 30,
                f"n {count}",
                size=9,
                text_anchor="middle",
                fill=SOFT,
                class_="s",
            )
        )
    for i, (name, values) in enumerate(series):
        places = [
            (left + (k + 0.5) * step, np.nan if v is None else bottom - v * height)
            for k, v in enumerate(values)
        ]
        line = path_of(np.array(places, float))
        parts.append(
            el(
                "path",
                el("title", name),
                d=line,
                fill="none",
                stroke=colour_of(i),
                stroke_width=2,
                stroke_linejoin="round",
            )
        )
        parts += [
            el("circle", cx=x, cy=y, r=2.6, fill=colour_of(i)) for x, y in places if np.isfinite(y)
        ]
    label = "region of the picture, left to right"
    parts.append(
        text(
            left + (width - left - right) / 2,
            bottom + 48,
            label,
            text_anchor="middle",
            fill=SOFT,
            class_="s",
        )
    )
    return drawing(width, bottom + 56, parts, title=title)


def heat_map(
    columns: Sequence[str], groups: Sequence[tuple[str, int, Sequence[float | None]]], *, title: str
) -> str:
    """Groups of samples by models: the darker the better; a dash where a score is undefined."""
    left, cell, high, head = 190.0, 78.0, 24.0, 74.0
    width = left + cell * len(columns) + 8
    parts = []
    for i, name in enumerate(columns):
        x = left + (i + 0.5) * cell
        parts.append(
            text(x - 6, head - 8, name, size=10.5, transform=f"rotate(-30 {x - 6} {head - 8})")
        )
    known = [v for _, _, values in groups for v in values if v is not None]
    low, top = (min(known), max(known)) if known else (0.0, 1.0)
    for row, (group, n, values) in enumerate(groups):
        y = head + row * high
        parts.append(text(left - 8, y + 16, group, size=10.5, text_anchor="end"))
        parts.append(text(6, y + 16, f"n {n}", size=9, fill=SOFT, class_="s"))
        for i, value in enumerate(values):
            x = left + i * cell
            if value is None:
                parts.append(
                    text(x + cell / 2, y + 16, "–", text_anchor="middle", fill=SOFT, class_="s")
                )
                continue
            share = (value - low) / max(top - low, 1e-9)
            parts.append(
                el(
                    "rect",
                    x=x + 1,
                    y=y + 1,
                    width=cell - 2,
                    height=high - 2,
                    rx=3,
                    fill=_mixed(_LOW, _HIGH, share),
                )
            )
            ink = "#ffffff" if share > 0.55 else INK
            parts.append(
                el(
                    "text",
                    f"{value:.2f}",
                    x=x + cell / 2,
                    y=y + 16,
                    font_size=10.5,
                    text_anchor="middle",
                    fill=ink,
                )
            )
    return drawing(width, head + high * len(groups) + 6, parts, title=title)


def regions_frame(frame: dict[str, Any]) -> str:
    """The regions with their weights over a frame and the people in it.

    Args:
        frame: ``width_px``, ``height_px``, ``weights`` of the regions and ``boxes``.
    """
    scale = 640.0 / frame["width_px"]
    width, height = 640.0, frame["height_px"] * scale
    weights = np.asarray(frame["weights"], float)
    spread = max(float(np.ptp(weights)), 1e-9)
    stripe = (frame["width_px"] // len(weights)) * scale
    parts = [el("rect", x=0, y=0, width=width, height=height, fill="#f4f2ec")]
    for k, weight in enumerate(weights):
        fill = _mixed(_CALM, _GRAVE, (weight - weights.min()) / spread)
        x = k * stripe
        parts.append(
            el(
                "rect",
                x=x,
                y=0,
                width=stripe,
                height=height,
                fill=fill,
                opacity=0.75,
                stroke="#ffffff",
            )
        )
        parts.append(
            el(
                "text",
                str(k + 1),
                x=x + stripe / 2,
                y=16,
                font_size=11,
                fill=INK,
                text_anchor="middle",
                font_weight=600,
            )
        )
        parts.append(
            el(
                "text",
                f"{weight:.2f}",
                x=x + stripe / 2,
                y=height - 8,
                font_size=9,
                fill=SOFT,
                text_anchor="middle",
            )
        )
    for left, top, right, bottom in frame["boxes"]:
        region = min(max(int((left + right) / 2 * scale // stripe), 0), len(weights) - 1)
        parts.append(
            el(
                "rect",
                x=left * scale,
                y=top * scale,
                width=(right - left) * scale,
                height=(bottom - top) * scale,
                fill="#ffffff",
                fill_opacity=0.35,
                stroke=INK,
                stroke_width=1.4,
                rx=1.5,
            )
        )
        parts.append(
            el(
                "text",
                str(region + 1),
                x=(left + right) / 2 * scale,
                y=top * scale - 3,
                font_size=9.5,
                fill=INK,
                text_anchor="middle",
            )
        )
    return drawing(width, height, parts, title=str(frame["name"]))


def _mixed(low: Any, high: Any, share: float) -> str:
    mixed = np.round(low + (high - low) * float(np.clip(share, 0.0, 1.0))).astype(int)
    return "#" + "".join(f"{int(k):02x}" for k in mixed)


COLUMNS: Final = (
    ("base", "map", "mAP"),
    ("base", "bacc", "bAcc"),
    ("base", "auc", "AUC"),
    ("base", "acc", "Acc"),
    ("weighted", "acc", "wAcc"),
    ("base", "prec", "Prec"),
    ("weighted", "prec", "wPrec"),
    ("base", "f1", "F1"),
    ("weighted", "f1", "wF1"),
)
INSTANCE_COLUMNS: Final = (
    ("soft", "acc", "soft Acc"),
    ("hard", "acc", "hard Acc"),
    ("soft", "bacc", "soft bAcc"),
    ("hard", "bacc", "hard bAcc"),
    ("soft", "prec", "soft Prec"),
    ("hard", "prec", "hard Prec"),
    ("soft", "f1", "soft F1"),
    ("hard", "f1", "hard F1"),
    ("conf_delta", "max", "Δ max"),
    ("conf_delta", "avg", "Δ avg"),
)
_LESS_IS_BETTER = frozenset({"conf_delta"})
_MOST_BESIDE = 5  # models whose heat map can still be read in half of the page


def write_behaviour_page(content: dict[str, Any], path: Path) -> None:
    """Write the page.

    Args:
        content: ``title``, ``dataset``, ``counts`` (tables by task), ``tasks`` (each with ``name``,
            ``title``, ``models``: name and score report, ``strict``: the same, ``factors``),
            ``agreement`` (or None) and ``frame`` (or None); see ``jaywalk.cli.behaviour_report``.
        path: File to write.
    """
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    source, style = _asset("behaviour.html.j2"), _asset("page.css")
    template = environment.from_string(source)
    page = template.render(
        content=content,
        version=__version__,
        style=Markup(style),
        policy=Markup(content_policy(source, style=style)),
        tasks=[_task_view(task) for task in content["tasks"]],
        frame=None if content["frame"] is None else Markup(regions_frame(content["frame"])),
        colour_of=colour_of,
    )
    claim(path).write_text(page, encoding="utf-8")


def _task_view(task: dict[str, Any]) -> dict[str, Any]:
    models = task["models"]
    view: dict[str, Any] = {
        "name": task["name"],
        "title": task["title"],
        "n_samples": models[0][1]["n_samples"],
        "n_instances": models[0][1]["n_instances"],
        "tables": [_table(models, COLUMNS), _table(models, INSTANCE_COLUMNS)],
        "strict": None,
        "figures": [],
    }
    if task["strict"]:
        first = task["strict"][0][1]
        view["strict"] = {
            "n_samples": first["n_samples"],
            "n_instances": first["n_instances"],
            "table": _table(task["strict"], COLUMNS),
        }
    if task["name"] == "risk":
        view["figures"] += _curves(models)
    for factor in task["factors"]:
        drawn = heat_map([name for name, _ in models], factor["groups"], title=factor["name"])
        caption = f"{factor['score']} by {factor['name']}: the darker, the better of this map"
        broad = len(models) > _MOST_BESIDE
        view["figures"].append({"caption": caption, "svg": Markup(drawn), "broad": broad})
    return view


def _curves(models: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    counts = [row["n_samples"] for row in models[0][1]["per_class"]]
    figures = []
    for score, words in (("f1", "F1"), ("ap", "average precision")):
        series = [(name, [row[score] for row in report["per_class"]]) for name, report in models]
        caption = f"{words} over the twelve regions; bars: samples"
        drawn = region_curves(series, counts, title=caption)
        figures.append({"caption": caption, "svg": Markup(drawn), "broad": False})
    return figures


def _table(
    models: list[tuple[str, dict[str, Any]]], columns: tuple[tuple[str, str, str], ...]
) -> dict[str, Any]:
    kept = [c for c in columns if any(report[c[0]] is not None for _, report in models)]
    rows: list[dict[str, Any]] = [
        {"model": name, "number": i, "cells": [_cell(report, *column[:2]) for column in kept]}
        for i, (name, report) in enumerate(models)
    ]
    for k, (block, _, _) in enumerate(kept):
        values = [row["cells"][k]["raw"] for row in rows if row["cells"][k]["raw"] is not None]
        if len(values) < 2:
            continue
        best = min(values) if block in _LESS_IS_BETTER else max(values)
        for row in rows:
            row["cells"][k]["best"] = row["cells"][k]["raw"] == best
    return {"columns": [column[2] for column in kept], "rows": rows}


def _cell(report: dict[str, Any], block: str, score: str) -> dict[str, Any]:
    values = report[block] or {}
    raw, interval = values.get(score), values.get(f"{score}_ci")
    return {
        "raw": raw,
        "value": "–" if raw is None else f"{raw:.3f}",
        "interval": f"{interval[0]:.2f}–{interval[1]:.2f}"
        if interval and None not in interval
        else "",
        "best": False,
    }


def _asset(name: str) -> str:
    return files("jaywalk.report").joinpath("assets", name).read_text(encoding="utf-8")
