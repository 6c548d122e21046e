"""How ``jaywalk behaviour`` prints its results to people."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import polars as pl
import typer

from jaywalk.behaviour.tasks import Task
from jaywalk.cli.output import finish, print_json, print_table, say
from jaywalk.datasets.behaviour_detect import DatasetCheck

_BLOCKS = ("base", "weighted", "soft", "hard", "conf_delta")


def print_checks(checks: list[DatasetCheck], as_json: bool) -> None:
    """Print what a check of datasets found."""
    if as_json:
        print_json(
            [
                {
                    "dataset": found.dataset,
                    "ok": found.ok,
                    "counts": found.counts,
                    "defects": [asdict(defect) for defect in found.defects],
                }
                for found in checks
            ]
        )
        return
    for found in checks:
        state = "usable" if found.ok else "not usable"
        listed = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in found.counts.items())
        typer.echo(f"{found.dataset}: {state}; {listed}")
        for defect in found.defects:
            places = f" (e.g. {', '.join(defect.examples[:3])})" if defect.examples else ""
            typer.echo(f"{defect.severity}: {defect.code}: {defect.count} {defect.message}{places}")
    typer.echo("next: jaywalk behaviour counts --task action --dataset jaad --annotations DIR")


def print_counts(task: Task, table: pl.DataFrame, as_json: bool) -> None:
    """Print samples and pedestrians per class."""
    if as_json:
        print_json({"task_id": task.task_id, "rows": table.to_dicts()})
        return
    print_table(table.columns, [[str(value) for value in row] for row in table.iter_rows()])


def print_score(report: dict[str, Any]) -> None:
    """Print the scores of a model."""
    say(
        f"{report['task_id']} {report['split']}: {report['n_samples']} samples of "
        f"{report['n_instances']} pedestrians; intervals over pedestrians"
    )
    notes = report["data"]
    if notes["already_crossing"] and "left_out" not in notes:
        say(
            f"warning: {notes['already_crossing']} samples show a person who is crossing already, "
            f"{notes['already_crossing_positive']} of them positive; --strict leaves them out"
        )
    if notes["complete_dataset"] is False:
        say("warning: the samples are not those of the complete dataset; see data check")
    print_table(["score", "value", "95 % interval"], _score_rows(report))
    for group in report.get("by", {}).get("groups", []):
        base = group["base"]
        row = [
            group["value"],
            f"n={group['n_samples']}",
            f"people={group['n_instances']}",
            *(f"{name}={_show(base[name])}{_interval(base, name)}" for name in ("map", "bacc")),
        ]
        print_table([], [row])
    finish([], "jaywalk behaviour compare, or score --by scale,state")


def print_comparison(report: dict[str, Any]) -> None:
    """Print two models and their difference."""
    rows = [
        [
            f"{block}.{name}",
            _show(report["first"][block][name]),
            _show(report["second"][block][name]),
            _show(report["difference"][block][name]),
            _interval(report["difference"][block], name).strip(),
        ]
        for block, name in _metrics(report["difference"])
    ]
    print_table(["score", "first", "second", "difference", "95 % interval"], rows)


def print_agreement(report: dict[str, Any]) -> None:
    """Print the agreement table, in percent."""
    rows = [
        [row["intention"], row["action"], *(f"{share:.1f}" for share in row["percent"])]
        for row in report["rows"]
    ]
    rows.append(["overall", "", *(f"{share:.1f}" for share in report["overall_percent"])])
    print_table(["intention", "action", *report["outcomes"]], rows)


def _score_rows(report: dict[str, Any]) -> list[list[str]]:
    return [
        [f"{block}.{name}", _show(report[block][name]), _interval(report[block], name).strip()]
        for block, name in _metrics(report)
    ]


def _metrics(report: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (block, name)
        for block in _BLOCKS
        for name in report[block] or {}
        if not name.endswith("_ci")
    ]


def _show(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}"


def _interval(metrics: dict[str, Any], name: str) -> str:
    ends = metrics.get(f"{name}_ci")
    return f" [{_show(ends[0])}, {_show(ends[1])}]" if ends else ""
