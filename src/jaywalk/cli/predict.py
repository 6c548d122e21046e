"""``jaywalk predict``: how people walk before vehicles, and how well that is foretold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from jaywalk.cli.output import (
    AsJson,
    finish,
    print_json,
    print_table,
    say,
    with_interval,
)
from jaywalk.cli.predict_learn import ablate, export, train
from jaywalk.cli.predict_truth import truth
from jaywalk.cli.table_formats import positive_text
from jaywalk.core.errors import DataError, UsageError

app = typer.Typer(
    help="Predicting people: the in-ROI sensitivity and its rivals, with their statistics.",
    no_args_is_help=True,
)

Data = Annotated[Path, typer.Argument(help="Folder, file or archive of a dataset.")]
Format = Annotated[str, typer.Option("--format", help="Format; else guessed from the path.")]
Source = Annotated[str, typer.Option(help="Only this source of the data, e.g. citr.")]

app.command()(export)
app.command()(train)
app.command()(ablate)
app.command()(truth)


@app.command()
def gap(
    data: Data,
    format_name: Format = "",
    source: Source = "",
    png: Annotated[Path | None, typer.Option("--png", help="Write the CDF figure here.")] = None,
    as_json: AsJson = False,
) -> None:
    """Minimum time gap of people who cross before vehicles: literal and capped definition.

    Example: jaywalk predict gap vci_dut_citr.tar.xz --png gaps.png
    """
    from jaywalk.forecasting.figures import draw_gaps
    from jaywalk.forecasting.gaps import gap_report

    report, gaps = gap_report(open_data(data, format_name, source))
    if png is not None:
        draw_gaps(gaps, png)
        report["figure"] = str(png)
    if as_json:
        print_json({"data": str(data), **report})
        return
    rows = []
    for name, entry in report["by_source"].items():
        for definition in ("literal", "capped"):
            found = entry[definition]
            numbers = [found[key] for key in ("q1_s", "median_s", "q3_s", "share_below_2s")]
            rows.append([name, definition, str(found["n"]), *map(_text, numbers)])
    print_table(["source", "definition", "n", "Q1 s", "median s", "Q3 s", "below 2 s"], rows)
    figure = [f"figure: {png}"] if png else []
    finish(figure, f"jaywalk predict eval {data} --source {rows[0][0] if rows else 'NAME'}")


@app.command("eval")
def evaluate(
    data: Data,
    predictors: Annotated[
        list[str] | None,
        typer.Option(
            "--predictor",
            help="Predictor: a name, FILE.py, module:function or FILE.onnx; repeat for several.",
        ),
    ] = None,
    format_name: Format = "",
    source: Source = "",
    split: Annotated[str, typer.Option(help="Only scenes of this split, e.g. test.")] = "",
    draws: Annotated[int, typer.Option(help="Monte Carlo draws a sample.", min=20)] = 1000,
    resamples: Annotated[int, typer.Option(help="Bootstrap replicates.", min=100)] = 10_000,
    every_s: Annotated[
        float, typer.Option("--every", help="Seconds between windows; 0: 0.5 or near.", min=0.0)
    ] = 0.0,
    history_s: Annotated[
        float, typer.Option("--history", help="Seconds seen; 0: 1 or the next the data hold.")
    ] = 0.0,
    horizons: Annotated[
        str, typer.Option(help="Seconds foretold, as in 2,4; else those of 1,2,3,4 the data hold.")
    ] = "",
    in_sample: Annotated[
        bool, typer.Option("--in-sample", help="Fit on the data judged: optimistic.")
    ] = False,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Test all pairs of predictors, too.")
    ] = False,
    png: Annotated[Path | None, typer.Option("--png", help="Write the ROC figure here.")] = None,
    forecasts_png: Annotated[
        Path | None, typer.Option(help="Draw some forecasts on the map into this file.")
    ] = None,
    level: Annotated[
        int, typer.Option(min=1, max=99, help="Per cent of the intervals; the paper has 50.")
    ] = 95,
    seed: Annotated[int, typer.Option(help="Seed of draws and bootstrap.")] = 0,
    as_json: AsJson = False,
) -> None:
    """IRS, NLL, ADE, FDE and ECE by horizon, with 95 % BCa intervals over tracks.

    Spreads are fitted on other scenes than those judged; a trained network judges nothing it
    learnt from if --split test is given.

    Example: jaywalk predict eval vci_dut_citr.tar.xz --source citr --json

    Example: jaywalk predict eval people.txt --predictor mine.py --predictor constant-velocity
    """
    from jaywalk.forecasting.ablation import compare, roc_bands
    from jaywalk.forecasting.evaluate import Settings, score, summarise
    from jaywalk.forecasting.figures import draw_roc
    from jaywalk.forecasting.predictors.registry import ready_names
    from jaywalk.forecasting.samples import roi_samples
    from jaywalk.forecasting.splits import of_split
    from jaywalk.forecasting.windows import build_windows

    models, files = plugged_models(predictors or ready_names())
    table = open_data(data, format_name, source)
    if split:
        table = of_split(table, split)
    times = _times(table, history_s, horizons, every_s)
    windows = build_windows(table, **times).with_context(table)
    if not len(windows):
        needed_s = times["history_s"] + min(times["horizons_s"])
        raise DataError(
            f"'{data}' is too short to evaluate: nobody is seen for {needed_s:g} s without a gap "
            f"({times['history_s']:g} s of history and the first horizon). Give longer data, or "
            "shorter times with --history and --horizons."
        )
    meetings = roi_samples(table, windows)
    say(f"{len(windows)} windows, {len(meetings)} relevant meetings with a vehicle")
    folds = 1 if in_sample else 5
    settings = Settings(draws=draws, resamples=resamples, level=level / 100, folds=folds, seed=seed)
    scores = {}
    results: dict[str, Any] = {}
    for name, model in models.items():
        say(f"evaluating {name}")
        scores[name] = score(model, windows, meetings, settings)
        results[name] = summarise(scores[name], windows, meetings, settings)
    output: dict[str, Any] = {
        "data": str(data),
        "split": split or "all",
        "sources": sorted(set(table.tracks["source"])),
        "fitted_on": "the judged scenes (in sample)" if in_sample else "other scenes (5 folds)",
        "draws": draws,
        "resamples": resamples,
        "level": level / 100,
        "seed": seed,
        **times,
        "excluded": {**table.excluded, **windows.excluded},
        "predictors": results,
        "predictor_files": files,
    }
    output["warnings"] = _leaks(models, table)
    if pairs:
        output["pairs"] = compare(scores, windows, meetings, settings)
    if png is not None:
        draw_roc(roc_bands(scores, windows, meetings, settings), png)
        output["figure"] = str(png)
    if forecasts_png is not None:
        from jaywalk.forecasting.figures import draw_forecasts

        draw_forecasts(models, windows, meetings, forecasts_png, folds=settings.folds)
        output["forecasts_figure"] = str(forecasts_png)
    if as_json:
        print_json(output)
        return
    _print_results(results, level)
    pictures = [f"figure: {file}" for file in (png, forecasts_png) if file]
    again = [f"jaywalk predict eval {data}"]
    again += [f"--source {source}"] if source else []
    again += [f"--split {split}"] if split else []
    again += ["--in-sample"] if in_sample else []
    again += [f"--predictor {name}" for name in predictors or ()]
    again += ["--pairs"] if len(results) > 1 and not pairs else []
    finish(pictures, " ".join([*again, "--json"]))


def plugged_models(names: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Predictors by the name that results use, and path and digest of those from files."""
    from jaywalk.forecasting.learning import judging
    from jaywalk.forecasting.predictors.plugged import (
        is_plugged,
        predictor_digest,
        predictor_label,
    )
    from jaywalk.forecasting.predictors.registry import ready_predictor

    models: dict[str, Any] = {}
    files: dict[str, Any] = {}
    for text in names:
        full, model = ready_predictor(text)
        short = predictor_label(full) if is_plugged(full) else full
        name = full if short in models else short
        models[name] = judging(model)
        if digest := predictor_digest(full):
            files[name] = {"predictor": full, "sha256": digest}
    return models, files


def open_data(data: Path, format_name: str, source: str) -> Any:
    """A dataset, or the part of it that comes from one source."""
    from jaywalk.datasets.formats import open_trajectories
    from jaywalk.record.run import RunFolder

    if RunFolder(data).config_file.exists():
        raise UsageError(
            f"'{data}' is a run, expected data. Run 'jaywalk predict export {data} --out people', "
            "then give the folder people."
        )
    table = open_trajectories(data, format_name)
    if not source:
        return table
    known = sorted(set(table.tracks["source"]))
    if source not in known:
        raise UsageError(f"'{data}' has no source '{source}'; it has {', '.join(known)}.")
    return table.of_source(source)


def _leaks(models: dict[str, Any], table: Any) -> list[str]:
    """A warning for every trained network that judges scenes it has seen."""
    from jaywalk.forecasting.cvae.predictor import Cvae
    from jaywalk.forecasting.learning import seen_scenes

    leaks = []
    for name, model in models.items():
        seen = seen_scenes(model.file) if isinstance(model, Cvae) else frozenset()
        if both := seen & set(table.tracks["scene_id"]):
            leaks.append(f"{name} was trained on {len(both)} of the judged scenes; --split test")
            say(leaks[-1])
    return leaks


def _times(table: Any, history_s: float, horizons: str, every_s: float) -> dict[str, Any]:
    """History, horizons and distance of the windows: as asked for, else what the data allow."""
    from jaywalk.forecasting.evaluate import target_rate
    from jaywalk.forecasting.windows import usual_times

    usual = usual_times(table)
    try:
        asked = tuple(float(one) for one in horizons.split(",")) if horizons else usual.horizons_s
    except ValueError as problem:
        raise UsageError(f"horizons '{horizons}': expected seconds as in 2,4") from problem
    for horizon_s in asked:
        target_rate(horizon_s)
    return {
        "history_s": history_s or usual.history_s,
        "horizons_s": asked,
        "every_s": every_s or usual.every_s,
    }


def _print_results(results: dict[str, Any], level: int) -> None:
    rows, marked = [], False
    for name, horizons in results.items():
        for row in horizons:
            cells = [
                with_interval(row[m]["value"], row[m][f"ci{level}"], digits=3)
                for m in ("irs", "nll", "ade", "fde", "ece")
            ]
            counts = positive_text(row["n_positive"], row["n_samples"])
            rest = row["irs_without_reacted"]
            more = [] if rest is None else [_text(rest["value"]), str(row["n_reacted"])]
            marked |= rest is not None
            rows.append(
                [name, f"{row['horizon_s']:g}", *cells, counts, str(row["n_tracks"]), *more]
            )
            for text in row["warnings"]:
                say(f"{name}, {row['horizon_s']:g} s: {text}")
    metrics = [f"{name} [{level} %]" for name in ("IRS", "NLL", "ADE m", "FDE m", "ECE")]
    columns = ["predictor", "horizon s", *metrics, "pos/n", "tracks"]
    columns += ["IRS without reacted", "reacted"] if marked else []
    print_table(columns, rows)


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
