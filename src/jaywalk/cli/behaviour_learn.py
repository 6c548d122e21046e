"""``jaywalk behaviour train|predict|choose``: models that are trained.

``jaywalk behaviour export``: the three tasks from records of our own runs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from jaywalk.cli.output import AsJson, AsValue, finish, print_json, print_table, say
from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.files import read_text
from jaywalk.forecasting.behaviour.tasks import STRIDE_FRAMES, find_task


def export(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write to.")],
    fov_deg: Annotated[
        float, typer.Option("--fov", min=20.0, max=150.0, help="Field of view, degrees.")
    ] = 90.0,
    range_m: Annotated[
        float, typer.Option("--range", min=5.0, help="People farther away are not boxed, metres.")
    ] = 60.0,
    as_json: AsValue = False,
) -> None:
    """Make a dataset of people seen by a camera on the ego, from runs of the suite habit.

    All other commands take it as --dataset sim --annotations OUT.

    Example: jaywalk behaviour export runs/habit-expert runs/habit-cruise --out people
    """
    from jaywalk.datasets.behaviour_tables import write_tables
    from jaywalk.forecasting.behaviour.sim_export import export_runs
    from jaywalk.forecasting.behaviour.sim_frames import DashCamera

    camera = DashCamera(fov_deg=fov_deg, range_m=range_m)
    data = export_runs(runs, camera)
    about: dict[str, Any] = {
        "camera": {"fov_deg": fov_deg, "range_m": range_m, "up_m": camera.up_m},
        "runs": [run.resolve().name for run in runs],
    }
    write_tables(data, out, about)
    report = {
        "out": str(out),
        "videos": data.videos.height,
        "pedestrians": data.pedestrians.height,
        "boxes": data.boxes.height,
        "crossing": int((data.pedestrians["crossing"] == 1).sum()),
        "splits": {name: len(videos) for name, videos in data.splits.items()},
    }
    if as_json:
        print_json(report)
        return
    finish(
        [
            f"{report['pedestrians']} people in {report['videos']} episodes, "
            f"{report['crossing']} step onto the road; {report['boxes']} boxes"
        ],
        f"jaywalk behaviour counts --task action --dataset sim --annotations {out}",
    )


Dataset = Annotated[str, typer.Option("--dataset", help="jaad, pie or sim.")]
Annotations = Annotated[Path, typer.Option(help="Folder or archive of annotations, or an export.")]


def train(
    model: Annotated[
        str, typer.Option(help="A model's name; jaywalk behaviour models lists them.")
    ],
    task: Annotated[str, typer.Option(help="action, risk, intention, or joint.")],
    dataset: Dataset,
    annotations: Annotations,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder of the model; goes on where it ends.")
    ],
    seeds: Annotated[
        int, typer.Option(min=1, max=100, help="Fits whose answers are averaged.")
    ] = 3,
    config: Annotated[
        Path | None, typer.Option(help="JSON file with values of the config.")
    ] = None,
    set_values: Annotated[
        list[str] | None, typer.Option("--set", help="A value of the config, as epochs=20.")
    ] = None,
    stride: Annotated[
        int, typer.Option(min=1, max=STRIDE_FRAMES, help="Frames between training windows.")
    ] = STRIDE_FRAMES,
    cues: Annotated[
        str,
        typer.Option(
            help="What models see of the person: place (last box), approach (boxes of all frames), "
            "gaze (place and looks at the car), both."
        ),
    ] = "approach",
    tagged: Annotated[
        bool, typer.Option("--tagged", help="Only samples with look tags; gaze and both need it.")
    ] = False,
    as_json: AsValue = False,
) -> None:
    """Train a model, with early stopping on validation, and predict validation and test.

    Resumes where OUT ends. Networks need torch (the extra 'train').

    Example: jaywalk behaviour train --model sfgru --task action --dataset jaad --annotations JAAD
    --out models/sfgru-action

    Example: jaywalk behaviour train --model forest --task action --dataset jaad --annotations JAAD
    --cues both --tagged --out models/forest-both
    """
    from jaywalk.forecasting.behaviour.learning import TrainingPlan, train_model
    from jaywalk.forecasting.behaviour.sampling import load_dataset

    plan = TrainingPlan(
        model=model,
        task=task,
        settings=_settings(config, set_values or []),
        seeds=tuple(range(seeds)),
        stride=stride,
        cues=cues,
        tagged=tagged,
    )
    for name in plan.tasks:
        find_task(name, dataset)
    data = load_dataset(dataset, annotations)

    def report(row: dict[str, Any]) -> None:
        say(
            ", ".join(
                f"{k} {v:.4f}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()
            )
        )

    about = train_model(data, plan, out, report)
    if as_json:
        print_json(about)
        return
    lines = [
        f"{model} {name}: validation mAP {scores['map']:.3f}, bAcc {scores['bacc']:.3f}"
        for name, scores in about["validation"].items()
    ]
    file = out / ("predictions-action-test.csv" if task == "joint" else "predictions-test.csv")
    finish(
        [*lines, f"predictions: {file}"],
        f"jaywalk behaviour score --task {plan.tasks[-1]} --dataset {dataset} --annotations "
        f"{annotations} --predictions {file}{' --tagged' if tagged else ''}",
    )


def predict(
    folder: Annotated[Path, typer.Argument(metavar="MODEL", help="Folder of a trained model.")],
    dataset: Dataset,
    annotations: Annotations,
    out: Annotated[Path, typer.Option("--out", "-o", help="CSV file to write.")],
    task: Annotated[str | None, typer.Option(help="For a joint model: which answer.")] = None,
    samples_of: Annotated[
        str | None, typer.Option(help="Task whose samples to answer for, if another.")
    ] = None,
    split: Annotated[str, typer.Option(help="train, val, test or all.")] = "test",
) -> None:
    """Answer with a trained model for samples of any dataset.

    Example: jaywalk behaviour predict models/sfgru-action --dataset sim --annotations EXPORT
    --out sfgru-sim.csv
    """
    from jaywalk.forecasting.behaviour._inputs import tagged_samples
    from jaywalk.forecasting.behaviour.learning import open_model, prediction_table
    from jaywalk.forecasting.behaviour.sampling import draw_samples, load_dataset

    trained = open_model(folder)
    name = task or (trained.about["task"] if trained.about["task"] != "joint" else "action")
    chosen = find_task(name, dataset)
    data = load_dataset(dataset, annotations)
    drawn = draw_samples(data, find_task(samples_of or name, dataset), split)
    tagged = bool(trained.about.get("tagged"))
    if tagged:
        drawn = tagged_samples(data, drawn)
    prediction_table(chosen, drawn, trained.predict(data, drawn, name)).write_csv(out)
    finish(
        [f"{drawn.height} rows written to {out}"],
        f"jaywalk behaviour score --task {name} --dataset {dataset} --annotations {annotations} "
        f"--predictions {out}{' --tagged' if tagged else ''}",
    )


def models(as_json: AsJson = False) -> None:
    """List the models with their configs.

    Example: jaywalk behaviour models
    """
    from dataclasses import asdict

    from jaywalk.core.errors import PrerequisiteError
    from jaywalk.forecasting.behaviour.models.registry import MODELS

    rows = []
    for entry in MODELS:
        try:
            config: Any = asdict(entry.load()().config)
        except PrerequisiteError:
            config = None  # torch is absent
        rows.append({"model": entry.name, "summary": entry.summary, "config": config})
    if as_json:
        print_json(rows)
        return
    print_table(
        ["model", "what it is", "config"],
        [
            [
                r["model"],
                r["summary"],
                "needs torch"
                if r["config"] is None
                else " ".join(f"{k}={v}" for k, v in r["config"].items()),
            ]
            for r in rows
        ],
    )


def choose(
    folders: Annotated[list[Path], typer.Argument(metavar="MODEL...", help="Trained models.")],
    by: Annotated[str, typer.Option(help="Score of validation to choose by.")] = "map",
    task: Annotated[str | None, typer.Option(help="For joint models: which answer.")] = None,
    as_json: AsJson = False,
) -> None:
    """Choose among trained models by their validation scores. The test is not looked at.

    Example: jaywalk behaviour choose models/*-action
    """
    rows: list[dict[str, Any]] = []
    for folder in folders:
        about = _about(folder)
        for name, scores in about["validation"].items():
            if task not in (None, name):
                continue
            if by not in scores:
                raise UsageError(f"There is no score '{by}'; expected one of {', '.join(scores)}.")
            rows.append({"folder": str(folder), "model": about["model"], "task": name} | scores)
    kinds = {row["task"] for row in rows}
    if len(kinds) != 1:
        told = ", ".join(sorted(kinds)) or f"none of them {task}"
        raise UsageError(f"These models answer different tasks ({told}); choose one with --task.")
    rows.sort(key=lambda row: -(row[by] if row[by] is not None else -1.0))
    if as_json:
        print_json({"by": by, "chosen": rows[0]["folder"], "models": rows})
        return
    names = [name for name in rows[0] if name not in {"folder", "task"}]
    print_table(names, [[_cell(row[name]) for name in names] for row in rows])
    chosen = rows[0]["folder"]
    dataset = _about(Path(chosen)).get("dataset", "jaad")
    finish(
        [f"chosen by validation {by}: {chosen}"],
        f"jaywalk behaviour predict {chosen} --dataset {dataset} --annotations DIR "
        "--out predictions.csv",
    )


def _about(folder: Path) -> dict[str, Any]:
    file = folder / "model.json"
    try:
        about: dict[str, Any] = json.loads(read_text(file, "a trained model"))
        _ = about["validation"], about["model"]
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise DataError(f"'{folder}' holds no trained model ({problem}).") from problem
    return about


def _settings(config: Path | None, values: list[str]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if config is not None:
        try:
            settings = json.loads(read_text(config, "a JSON file of settings"))
        except (OSError, ValueError) as problem:
            raise DataError(f"'{config}' cannot be read as JSON: {problem}.") from problem
        if not isinstance(settings, dict):
            raise DataError(f"'{config}' is no JSON object; expected names and values.")
    for value in values:
        name, equals, text = value.partition("=")
        if not equals:
            raise UsageError(f"--set '{value}': expected NAME=VALUE, as epochs=20.")
        try:
            settings[name] = json.loads(text)
        except ValueError:
            settings[name] = text
    return settings


def _cell(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
