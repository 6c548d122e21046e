"""``jaywalk predict truth``: how well any predictor could do on people who react."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from jaywalk.cli.output import AsJson, finish, print_json, print_table, say, with_interval
from jaywalk.cli.table_formats import Cell, positive_text
from jaywalk.core.errors import UsageError


def truth(
    run: Annotated[Path, typer.Argument(help="Folder of a run with people who react.")],
    episodes: Annotated[
        list[str] | None, typer.Option("--episode", help="Only this episode; repeat for several.")
    ] = None,
    people: Annotated[
        list[int] | None,
        typer.Option("--person", help="Only the person of this number; repeat for several."),
    ] = None,
    ticks: Annotated[str, typer.Option(help="Only these ticks, as in 400-800.")] = "",
    every_s: Annotated[
        float, typer.Option("--every", help="Seconds between two ticks.", min=0.1)
    ] = 0.5,
    rollouts: Annotated[int, typer.Option(help="Rollouts from each tick; even.", max=4096)] = 64,
    horizons: Annotated[str, typer.Option(help="Seconds ahead, of 1, 2, 3 and 4.")] = "1,2,3,4",
    predictors: Annotated[
        list[str] | None,
        typer.Option(
            "--predictor",
            help="Predictor to score: a name, FILE.py, module:function or FILE.onnx; repeat.",
        ),
    ] = None,
    in_sample: Annotated[
        bool, typer.Option("--in-sample", help="Fit predictors on the data judged: optimistic.")
    ] = False,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Table to write, .parquet or .csv; with a .json.")
    ] = Path("truth.parquet"),
    draws: Annotated[int, typer.Option(help="Monte Carlo draws a forecast.", min=20)] = 1000,
    resamples: Annotated[int, typer.Option(help="Bootstrap replicates.", min=100)] = 2000,
    level: Annotated[int, typer.Option(min=1, max=99, help="Per cent of the intervals.")] = 95,
    seed: Annotated[int, typer.Option(help="Seed of rollouts, draws and bootstrap.")] = 0,
    as_json: AsJson = False,
) -> None:
    """True probability of people being in the comfort zone, by rolling the same people on.

    From each tick the people go on with fresh noise while all vehicles drive as recorded. The share
    of rollouts inside the zone is the truth; its scores bound those of every predictor.

    Example: jaywalk predict truth runs/habit-cruise --episode habit-001-s1 -o truth.parquet

    Example: jaywalk predict truth runs/habit-cruise --predictor constant-velocity --every 1
    """
    from jaywalk.core.files import write_whole
    from jaywalk.record.episode import canonical_json
    from jaywalk.rollouts.people.truth import TruthRequest, true_probabilities
    from jaywalk.rollouts.people.truth_scores import score_against_truth

    if out.suffix not in (".parquet", ".csv"):
        raise UsageError(f"--out is '{out}'; expected a name that ends with .parquet or .csv.")
    request = TruthRequest(
        run=run,
        episodes=tuple(episodes or ()),
        people=tuple(people or ()),
        ticks=_ticks(ticks),
        every_s=every_s,
        rollouts=rollouts,
        horizons_s=_horizons(horizons),
        seed=seed,
    )
    found = true_probabilities(request, say)
    table, predicted, hashes = found.table, {}, {}
    if predictors:
        predicted, hashes = _predicted(predictors, found, draws, 1 if in_sample else 5, seed)
    scores = score_against_truth(
        table, predicted, draws=draws, resamples=resamples, level=level / 100, seed=seed
    )
    for name, values in predicted.items():
        table = table.with_columns(**{f"predicted {name}": values})
    report: dict[str, Any] = {
        "run": str(run),
        "rollouts": rollouts,
        "every_s": every_s,
        "seed": seed,
        "level": level / 100,
        "n_rows": table.height,
        "left_out": found.left_out,
        "horizons": scores,
        "predictor_files": hashes,
    }
    written = out.with_suffix(".json")
    write_whole(written, canonical_json(report, indent=2) + "\n")
    if out.suffix == ".csv":
        table.write_csv(out)
    else:
        table.write_parquet(out)
    if as_json:
        print_json(report)
        return
    _print(scores, level)
    finish(
        [f"table: {out}", f"scores: {out.with_suffix('.json')}"],
        f"jaywalk predict export {run} --out people",
    )


def _ticks(text: str) -> tuple[int, int]:
    if not text:
        return 0, 2**31
    first, dash, last = text.partition("-")
    if not (first.isdecimal() and (last.isdecimal() or not dash)):
        raise UsageError(f"--ticks is '{text}'; expected a number or a range, as in 400-800.")
    return int(first), int(last if dash else first)


def _horizons(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError as problem:
        raise UsageError(f"--horizons is '{text}'; expected seconds, as in 1,2,4.") from problem


def _predicted(names: list[str], found: Any, draws: int, folds: int, seed: int) -> Any:
    from jaywalk.cli.predict import plugged_models
    from jaywalk.forecasting.evaluate import Settings, score
    from jaywalk.rollouts.people.truth import probabilities_of

    models, files = plugged_models(names)
    settings = Settings(draws=draws, folds=folds, seed=seed)
    predicted = {}
    for name, model in models.items():
        say(f"evaluating {name}")
        scores = score(model, found.windows, found.meetings, settings)
        predicted[name] = probabilities_of(found, scores.in_roi)
    return predicted, files


def _print(scores: list[dict[str, Any]], level: int) -> None:
    rows = []
    for entry in scores:
        horizon, best = f"{entry['horizon_s']:g}", entry["best"]
        counts = [positive_text(entry["n_positive"], entry["n_samples"]), str(entry["n_people"])]
        span = [
            Cell(f"{_text(low)} to {_text(high)}", {"low": low, "high": high})
            for low, high in (best["irs"], best["nll"])
        ]
        rows.append(["best possible", horizon, *span, _cell(best["brier"], level), "0", *counts])
        for name, found in entry["predictors"].items():
            cells = [_cell(found[key], level) for key in ("irs", "nll", "brier", "ece")]
            rows.append([name, horizon, *cells, *counts])
        found = entry["truth_on_record"]
        cells = [_cell(found[key], level) for key in ("irs", "nll", "brier", "ece")]
        rows.append(["truth on the record", horizon, *cells, *counts])
    metrics = [f"{name} [{level} %]" for name in ("IRS", "NLL", "Brier", "ECE")]
    print_table(["predictor", "horizon s", *metrics, "pos/n", "people"], rows)


def _cell(entry: dict[str, Any], level: int) -> str:
    return with_interval(entry["value"], entry[f"ci{level}"], digits=3)


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
