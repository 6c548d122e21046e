"""``jaywalk behaviour report``: one page about any set of models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer
from numpy.typing import NDArray

from jaywalk.cli.output import finish, say
from jaywalk.core.errors import UsageError
from jaywalk.datasets.behaviour_tables import BehaviourData
from jaywalk.forecasting.behaviour.tasks import N_REGIONS, Task, find_task

Files = Annotated[list[str] | None, typer.Option(metavar="NAME=CSV", help="A model; repeat.")]
_TITLES = {"action": "Action", "intention": "Intention", "risk": "Event risk"}


def report(
    dataset: Annotated[str, typer.Option("--dataset", help="jaad, pie or sim.")],
    annotations: Annotated[Path, typer.Option(help="Folder or archive, or an export.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write.")],
    action: Files = None,
    risk: Files = None,
    intention: Files = None,
    agreement: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=INTENTION.csv,ACTION.csv", help="A joint model; repeat."),
    ] = None,
    by: Annotated[
        list[str] | None, typer.Option(help="Factors of a heat map, as scale or scale,ego; repeat.")
    ] = None,
    split: Annotated[str, typer.Option(help="train, val, test or all.")] = "test",
    frame: Annotated[
        str, typer.Option(help="VIDEO:FRAME to draw the regions over; by default the fullest.")
    ] = "",
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "",
    resamples: Annotated[int, typer.Option(min=0, max=100_000, help="0: no intervals.")] = 1000,
    scores: Annotated[
        Path | None, typer.Option(help="JSON file to write with everything on the page.")
    ] = None,
) -> None:
    """Write one HTML page with the benchmark's tables and figures for some models.

    Example: jaywalk behaviour report --dataset jaad --annotations JAAD --action forest=a.csv
    --risk forest=r.csv --by scale --by ego --out behaviour.html
    """
    from jaywalk.forecasting.behaviour.sampling import load_dataset
    from jaywalk.report.behaviour_page import write_behaviour_page

    given = {"action": action or [], "risk": risk or [], "intention": intention or []}
    if not any(given.values()):
        raise UsageError("Nothing to report: give --action, --risk or --intention NAME=CSV.")
    data = load_dataset(dataset, annotations)
    tasks = []
    for name, files in given.items():
        if files:
            tasks.append(_task(data, name, files, by or [], split, resamples))
    content = {
        "title": title or f"Models of behaviour on {dataset.upper()}",
        "dataset": dataset.upper(),
        "split": split,
        "resamples": resamples,
        "tasks": tasks,
        "agreement": [_agreement(data, text, split) for text in agreement or []] or None,
        "frame": _frame(data, frame) if given["risk"] else None,
        "counts": [_counts(data, name) for name, files in given.items() if files],
        "note": "Scores as the benchmark computes them; see docs/reference/behaviour.md.",
    }
    write_behaviour_page(content, out)
    if scores is not None:
        scores.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    finish([f"page: {out}"], "open it in a browser; it needs no network")


def _task(
    data: BehaviourData, name: str, files: list[str], by: list[str], split: str, resamples: int
) -> dict[str, Any]:
    from jaywalk.forecasting.behaviour.predictions import read_predictions
    from jaywalk.forecasting.behaviour.sampling import correct_times, draw_samples, strict_reasons
    from jaywalk.forecasting.behaviour.scoring import Bootstrap, score_report

    task, strict = (find_task(name, data.dataset, strict=s) for s in (False, True))
    drawn = draw_samples(data, task, split)
    kept = strict_reasons(drawn, strict).is_null()
    options = Bootstrap(resamples=resamples)
    models, corrected, values_by_label = [], [], {}
    for label, path in _pairs(files):
        say(f"{task.task_id}: {label}")
        _, values = read_predictions(Path(path), task, drawn)
        values_by_label[label] = values
        models.append((label, score_report(task, drawn, values, options)))
        if kept.any():
            part = correct_times(drawn.filter(kept), strict)
            corrected.append((label, score_report(strict, part, values[kept.to_numpy()], options)))
    return {
        "name": name,
        "title": _TITLES[name],
        "models": models,
        "strict": corrected,
        "factors": [_factor(data, task, drawn, values_by_label, text) for text in by],
    }


def _factor(
    data: BehaviourData,
    task: Task,
    drawn: pl.DataFrame,
    values_by_label: dict[str, NDArray[np.float64]],
    text: str,
) -> dict[str, Any]:
    """Groups of one heat map: mAP where it is defined (action), else balanced accuracy."""
    from jaywalk.forecasting.behaviour.factors import group_by_factors
    from jaywalk.forecasting.behaviour.scoring import Bootstrap, score_report

    names = tuple(part.strip() for part in text.split(",") if part.strip())
    values = np.array(group_by_factors(data, drawn, names, observed_only=False))
    score = "map" if task.n_columns == 1 else "bacc"
    groups = []
    for value in sorted(set(values.tolist()), key=_natural):
        mask = values == value
        part = drawn.filter(mask)
        rows = [
            score_report(task, part, one[mask], Bootstrap(resamples=0))["base"][score]
            for one in values_by_label.values()
        ]
        groups.append((value, part.height, rows))
    words = {"map": "mAP", "bacc": "bAcc"}
    return {"name": " and ".join(names), "score": words[score], "groups": groups}


def _natural(value: str) -> tuple[float, str]:
    head = value.split("-")[0].rstrip("+")
    return (float(head), value) if head.replace(".", "", 1).isdigit() else (-1.0, value)


def _agreement(data: BehaviourData, text: str, split: str) -> dict[str, Any]:
    from jaywalk.forecasting.behaviour.predictions import read_predictions
    from jaywalk.forecasting.behaviour.sampling import draw_samples
    from jaywalk.forecasting.behaviour.scoring import agreement_report

    ((label, paths),) = _pairs([text])
    wanted_file, comma, done_file = paths.partition(",")
    if not comma:
        raise UsageError(f"--agreement '{text}': expected NAME=INTENTION.csv,ACTION.csv.")
    wanted, done = (find_task(name, data.dataset) for name in ("intention", "action"))
    drawn = draw_samples(data, wanted, split)
    _, intentions = read_predictions(Path(wanted_file), wanted, drawn)
    _, actions = read_predictions(Path(done_file), done, drawn)
    return {"name": label, "report": agreement_report(drawn, intentions, actions)}


def _counts(data: BehaviourData, name: str) -> dict[str, Any]:
    from jaywalk.forecasting.behaviour.sampling import count_samples

    task = find_task(name, data.dataset)
    table = count_samples(data, task)
    return {"task_id": task.task_id, "columns": table.columns, "rows": list(table.iter_rows())}


def _frame(data: BehaviourData, text: str) -> dict[str, Any] | None:
    from jaywalk.metrics.behaviour.instances import centrality_weights

    if data.boxes.is_empty():
        return None
    if text:
        video, _, number = text.rpartition(":")
        if not number.isdigit() or video not in set(data.videos["video"]):
            raise UsageError(f"--frame '{text}': expected VIDEO:FRAME, as video_0005:60.")
        frame = int(number)
    else:
        tall = pl.col("ybr_px") - pl.col("ytl_px") > 60
        most = data.boxes.filter(tall).group_by("video", "frame").len()
        if most.is_empty():
            return None
        video, frame, _ = most.sort("len", "video", "frame", descending=[True, False, False]).row(0)
    width, height = (
        data.videos.filter(pl.col("video") == video).select("width_px", "height_px").row(0)
    )
    boxes = data.boxes.filter((pl.col("video") == video) & (pl.col("frame") == frame))
    return {
        "name": f"{video}, frame {frame}",
        "width_px": width,
        "height_px": height,
        "weights": centrality_weights(np.arange(N_REGIONS), N_REGIONS).tolist(),
        "boxes": boxes.select("xtl_px", "ytl_px", "xbr_px", "ybr_px").rows(),
    }


def _pairs(files: list[str]) -> list[tuple[str, str]]:
    pairs = []
    for text in files:
        label, equals, path = text.partition("=")
        if not equals or not label or not path:
            raise UsageError(f"'{text}': expected NAME=CSV, as forest=forest.csv.")
        pairs.append((label, path))
    if len({label for label, _ in pairs}) < len(pairs):
        raise UsageError("Two models have the same name; names tell them apart on the page.")
    return pairs
