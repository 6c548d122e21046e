"""One self-contained page about models of behaviour: the benchmark's tables and figures."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from jaywalk import __version__
from jaywalk.report.behaviour_figures import colour_of, heat_map, region_curves, regions_frame
from jaywalk.report.output_file import claim, content_policy

COLUMNS: Final = (
    ("base", "map", "mAP"), ("base", "bacc", "bAcc"), ("base", "auc", "AUC"),
    ("base", "acc", "Acc"), ("weighted", "acc", "wAcc"), ("base", "prec", "Prec"),
    ("weighted", "prec", "wPrec"), ("base", "f1", "F1"), ("weighted", "f1", "wF1"),
)  # fmt: skip
INSTANCE_COLUMNS: Final = (
    ("soft", "acc", "soft Acc"), ("hard", "acc", "hard Acc"), ("soft", "bacc", "soft bAcc"),
    ("hard", "bacc", "hard bAcc"), ("soft", "prec", "soft Prec"), ("hard", "prec", "hard Prec"),
    ("soft", "f1", "soft F1"), ("hard", "f1", "hard F1"), ("conf_delta", "max", "Δ max"),
    ("conf_delta", "avg", "Δ avg"),
)  # fmt: skip
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
    found = []
    for score, words in (("f1", "F1"), ("ap", "average precision")):
        series = [(name, [row[score] for row in report["per_class"]]) for name, report in models]
        caption = f"{words} over the twelve regions; bars: samples"
        drawn = region_curves(series, counts, title=caption)
        found.append({"caption": caption, "svg": Markup(drawn), "broad": False})
    return found


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
