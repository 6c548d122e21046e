"""The paper's two tables for any set of models: III (metrics with intervals), IV (optimal sets)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from jaywalk.core.errors import UsageError
from jaywalk.metrics.prediction.pairwise import OptimalSet
from jaywalk.stats.bootstrap import Estimate

Row = list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """How a metric is printed."""

    name: str
    title: str
    factor: float
    decimals: int


COLUMNS: Final = (
    Column(name="irs", title="IRS (%)", factor=100.0, decimals=1),
    Column(name="nll", title="NLL", factor=1.0, decimals=2),
    Column(name="ade", title="ADE (m)", factor=1.0, decimals=2),
)


def table_of_metrics(
    models: Mapping[str, Mapping[str, Sequence[Estimate]]], horizons_s: Sequence[float]
) -> list[Row]:
    """Header and three rows a model: upper end of the interval, estimate, lower end.

    Args:
        models: By model and metric (``irs``, ``nll``, ``ade``) one estimate a horizon.
        horizons_s: The horizons.
    """
    header = ["", "model", *(f"{c.title} {t:g} s" for c in COLUMNS for t in horizons_s)]
    rows = [header]
    for number, (name, metrics) in enumerate(models.items(), 1):
        for column in COLUMNS:
            if len(metrics[column.name]) != len(horizons_s):
                raise UsageError(f"model '{name}' lacks {column.name} at some horizon")
        cells = [(c, estimate) for c in COLUMNS for estimate in metrics[c.name]]
        rows += [
            [str(number), name, *(_cell(c, e.interval.high) for c, e in cells)],
            ["", "", *(_cell(c, e.value) for c, e in cells)],
            ["", "", *(_cell(c, e.interval.low) for c, e in cells)],
        ]
    return rows


def table_of_optimal_sets(
    chosen: Mapping[str, Sequence[OptimalSet]], horizons_s: Sequence[float]
) -> list[Row]:
    """Header and one row a horizon with the optimal model by each metric."""
    metrics = [column.name for column in COLUMNS if column.name in chosen]
    rows = [["", *(name.upper() for name in metrics)]]
    for i, horizon_s in enumerate(horizons_s):
        rows.append([f"{horizon_s:g} s", *(chosen[name][i].chosen or "-" for name in metrics)])
    return rows


def _cell(column: Column, value: float) -> str:
    if value != value:
        return "-"
    text = f"{column.factor * value:.{column.decimals}f}"
    # Rounding may leave "-0.00", which is no number anybody wants to read.
    return text.removeprefix("-") if float(text) == 0.0 else text
