"""``jaywalk behaviour``: intention, action and risk on JAAD and PIE."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from jaywalk.cli import behaviour_learn, behaviour_report
from jaywalk.cli import behaviour_learn as behaviour_export
from jaywalk.cli.output import AsJson, AsValue, finish, print_json, print_line, print_table, say
from jaywalk.datasets.behaviour_detect import DatasetCheck, check_datasets
from jaywalk.forecasting.behaviour._inputs import tagged_samples
from jaywalk.forecasting.behaviour.models.baselines import BASELINES, predict_risk
from jaywalk.forecasting.behaviour.predictions import read_predictions
from jaywalk.forecasting.behaviour.sampling import (
    ALL_SPLITS,
    EVERY_SPLIT,
    count_samples,
    draw_samples,
    load_dataset,
    load_for,
    task_samples,
)
from jaywalk.forecasting.behaviour.scoring import (
    DEFAULT_RESAMPLES,
    Bootstrap,
    agreement_report,
    compare_report,
    instance_table,
    line_up,
    sample_notes,
    score_groups,
    score_report,
)
from jaywalk.forecasting.behaviour.tasks import Task, find_task

_BLOCKS = ("base", "weighted", "soft", "hard", "conf_delta")


def print_checks(checks: list[DatasetCheck], folder: Path, as_json: bool) -> None:
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
    for check in checks:
        state = "usable" if check.ok else "not usable"
        listed = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in check.counts.items())
        print_line(f"{check.dataset}: {state}; {listed}")
        for defect in check.defects:
            places = f" (e.g. {', '.join(defect.examples[:3])})" if defect.examples else ""
            print_line(f"{defect.severity}: {defect.code}: {defect.count} {defect.message}{places}")
    print_line(
        f"next: jaywalk behaviour counts --task action --dataset {checks[0].dataset} "
        f"--annotations {folder}"
    )


def print_counts(task: Task, table: pl.DataFrame, as_json: bool) -> None:
    """Print samples and pedestrians per class."""
    if as_json:
        print_json({"task_id": task.task_id, "rows": table.to_dicts()})
        return
    print_table(table.columns, [[str(value) for value in row] for row in table.iter_rows()])


def print_score(report: dict[str, Any], again: str) -> None:
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
    finish([], again)


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


app = typer.Typer(
    help="Intention, action and risk of people on JAAD, PIE and our own runs.", no_args_is_help=True
)
data_app = typer.Typer(help="The datasets: check what you have.", no_args_is_help=True)
app.add_typer(data_app, name="data")
for _verb in (
    behaviour_learn.train,
    behaviour_learn.predict,
    behaviour_learn.models,
    behaviour_learn.choose,
    behaviour_export.export,
    behaviour_report.report,
):
    app.command()(_verb)

TaskName = Annotated[str, typer.Option("--task", help="action, intention or risk.")]
DatasetName = Annotated[str, typer.Option("--dataset", help="jaad, pie or sim.")]
Annotations = Annotated[
    Path,
    typer.Option(help="Folder or archive (zip, tar.gz) of the authors' annotations, or an export."),
]
Predictions = Annotated[
    Path,
    typer.Option(help="CSV (gz accepted): a row per sample in order, or a sample_id column."),
]
Strict = Annotated[bool, typer.Option("--strict", help="The corrected variant of the task.")]
Exclude = Annotated[Path | None, typer.Option(help="File with a sample id a line, to be left out.")]
Split = Annotated[str, typer.Option(help="train, val, test or all.")]
Resamples = Annotated[
    int, typer.Option(min=0, max=100_000, help="Bootstrap draws of pedestrians; 0: no intervals.")
]
Seed = Annotated[int, typer.Option(help="Seed of the draws.")]


@data_app.command("check")
def check(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder or archive.")],
    as_json: AsValue = False,
) -> None:
    """Read all annotations at a place and tell what is wrong with them.

    Example: jaywalk behaviour data check JAAD
    """
    checks = check_datasets(folder)
    print_checks(checks, folder, as_json)
    raise typer.Exit(0 if all(found.ok for found in checks) else 1)


@app.command()
def counts(
    task: TaskName,
    dataset: DatasetName,
    annotations: Annotations,
    strict: Strict = False,
    as_json: AsJson = False,
) -> None:
    """Count samples and pedestrians per class and split.

    Example: jaywalk behaviour counts --task action --dataset jaad --annotations JAAD
    """
    chosen = find_task(task, dataset, strict=strict)
    data = load_for(chosen, annotations, splits=("train", "val", "test"))
    print_counts(chosen, count_samples(data, chosen), as_json)


@app.command()
def samples(
    task: TaskName,
    dataset: DatasetName,
    annotations: Annotations,
    out: Annotated[Path, typer.Option("--out", "-o", help="CSV file to write.")],
    split: Split = "test",
    strict: Strict = False,
) -> None:
    """List the samples of a task in benchmark order, with labels and marks of defects.

    Example: jaywalk behaviour samples --task action --dataset jaad --annotations JAAD --out s.csv
    """
    chosen = find_task(task, dataset, strict=strict)
    data = load_for(chosen, annotations, splits=_splits(split))
    table = task_samples(data, chosen, split)
    table.write_csv(out)
    print_line(f"{chosen.task_id} {split}: {table.height} samples written to {out}")
    print_line(
        f"next: jaywalk behaviour train --model forest --task {task} --dataset {dataset} "
        f"--annotations {annotations} --out forest"
    )


@app.command()
def score(
    task: TaskName,
    dataset: DatasetName,
    annotations: Annotations,
    predictions: Predictions,
    by: Annotated[
        str | None, typer.Option(help="Factors, comma-separated, to score groups by.")
    ] = None,
    exclude_samples: Exclude = None,
    split: Split = "test",
    strict: Strict = False,
    tagged: Annotated[bool, typer.Option("--tagged", help="Only samples with look tags.")] = False,
    per_instance: Annotated[
        Path | None, typer.Option(help="CSV file to write, a row per pedestrian.")
    ] = None,
    resamples: Resamples = DEFAULT_RESAMPLES,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Score a model's outputs, with intervals over pedestrians.

    Example: jaywalk behaviour score --task action --dataset jaad --annotations JAAD
    --predictions my_model.csv --by scale
    """
    chosen = find_task(task, dataset, strict=strict)
    factors = tuple(name.strip() for name in by.split(",") if name.strip()) if by else ()
    data = load_for(chosen, annotations, splits=_splits(split), factors=factors)
    drawn = draw_samples(data, chosen, split)
    left_out: frozenset[str] = frozenset()
    if tagged:
        left_out = frozenset(drawn["sample_id"]) - set(tagged_samples(data, drawn)["sample_id"])
    kept, confidence = line_up(chosen, drawn, predictions, exclude_samples, left_out)
    options = Bootstrap(resamples=resamples, seed=seed)
    report = score_report(chosen, kept, confidence, options)
    report["split"] = split
    report["data"] = sample_notes(chosen, split, drawn, kept)
    if factors:
        report["by"] = score_groups(data, chosen, kept, confidence, factors, options)
    if per_instance is not None:
        instance_table(chosen, kept, confidence).write_csv(per_instance)
        say(f"pedestrians written to {per_instance}")
    again = (
        f"jaywalk behaviour score --task {task} --dataset {dataset} --annotations {annotations} "
        f"--predictions {predictions} --by scale"
    )
    print_json(report) if as_json else print_score(report, again)


@app.command()
def compare(
    task: TaskName,
    dataset: DatasetName,
    annotations: Annotations,
    predictions: Predictions,
    against: Annotated[Path, typer.Option(help="CSV of the other model; it comes first.")],
    exclude_samples: Exclude = None,
    split: Split = "test",
    strict: Strict = False,
    resamples: Resamples = DEFAULT_RESAMPLES,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Compare two models on the same samples: the difference, with paired intervals.

    Example: jaywalk behaviour compare --task risk --dataset jaad --annotations JAAD
    --predictions mine.csv --against pedformer.csv
    """
    chosen = find_task(task, dataset, strict=strict)
    data = load_for(chosen, annotations, splits=_splits(split))
    drawn = draw_samples(data, chosen, split)
    kept, second = line_up(chosen, drawn, predictions, exclude_samples)
    _, first = line_up(chosen, drawn, against, exclude_samples)
    report = compare_report(chosen, kept, first, second, Bootstrap(resamples=resamples, seed=seed))
    print_json(report) if as_json else print_comparison(report)


@app.command()
def agreement(
    annotations: Annotations,
    intention: Annotated[Path, typer.Option(help="CSV of a model's intentions.")],
    action: Annotated[Path, typer.Option(help="CSV of its actions for the same samples.")],
    dataset: Annotated[str, typer.Option("--dataset", help="pie or sim.")] = "pie",
    exclude_samples: Exclude = None,
    split: Split = "test",
    strict: Strict = False,
    as_json: AsJson = False,
) -> None:
    """Tell how often a joint model is right about intention and action together.

    Example: jaywalk behaviour agreement --annotations PIE --intention i.csv --action a.csv
    """
    wanted = find_task("intention", dataset, strict=strict)
    done = find_task("action", dataset, strict=strict)
    data = load_for(wanted, annotations, splits=_splits(split))
    drawn = draw_samples(data, wanted, split)
    kept, intentions = line_up(wanted, drawn, intention, exclude_samples)
    excluded = frozenset(drawn["sample_id"]) - frozenset(kept["sample_id"])
    _, actions = read_predictions(action, done, drawn, excluded)
    report = agreement_report(kept, intentions, actions)
    print_json(report) if as_json else print_agreement(report)


@app.command()
def baseline(
    dataset: DatasetName,
    annotations: Annotations,
    out: Annotated[Path, typer.Option("--out", "-o", help="CSV file to write, with sample ids.")],
    model: Annotated[
        str, typer.Option(help="constant-velocity or last-state.")
    ] = "constant-velocity",
    split: Split = "test",
) -> None:
    """Write the risk that a model without parameters predicts, to be scored or beaten.

    Example: jaywalk behaviour baseline --dataset jaad --annotations JAAD --out cv.csv
    """
    if model not in BASELINES:
        raise typer.BadParameter(f"'{model}' is no baseline; expected {' or '.join(BASELINES)}.")
    task = find_task("risk", dataset)
    data = load_for(task, annotations, splits=_splits(split))
    drawn = draw_samples(data, task, split)
    probabilities = predict_risk(data, drawn, model)
    columns = {name: probabilities[:, i] for i, name in enumerate(task.class_names)}
    drawn.select("sample_id").with_columns(**columns).write_csv(out)
    print_line(f"{model}: {drawn.height} rows written to {out}")
    print_line(
        f"next: jaywalk behaviour score --task risk --dataset {dataset} --annotations "
        f"{annotations} --predictions {out}"
    )


@app.command()
def regions(
    dataset: DatasetName,
    annotations: Annotations,
    video: Annotated[str, typer.Option(help="For example video_0005, or set03/video_0019.")],
    frame: Annotated[int, typer.Option(help="Number of the frame.")],
    png: Annotated[Path, typer.Option(help="Picture to write.")],
    picture: Annotated[
        Path | None, typer.Option(help="The frame itself, if you have the clips.")
    ] = None,
) -> None:
    """Draw the regions of the risk task over a frame.

    Example: jaywalk behaviour regions --dataset jaad --annotations JAAD --video video_0005
    --frame 60 --png regions.png
    """
    from jaywalk.forecasting.behaviour.regions_picture import draw_regions

    data = load_dataset(dataset, annotations, with_scene=False)
    n_people = draw_regions(data, video, frame, png, picture)
    print_line(f"{video} frame {frame}: {n_people} people; picture written to {png}")


def _splits(split: str) -> tuple[str, ...]:
    return ALL_SPLITS if _check_split(split) == EVERY_SPLIT else (split,)


def _check_split(split: str) -> str:
    if split not in {*ALL_SPLITS, EVERY_SPLIT}:
        raise typer.BadParameter(f"'{split}' is no split; expected train, val, test or all.")
    return split
