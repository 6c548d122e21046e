"""``jaywalk predict export|train|ablate``: our own data, trained models and the study of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from jaywalk.cli.output import AsJson, AsValue, finish, print_json, print_table, say
from jaywalk.core.errors import UsageError

Data = Annotated[Path, typer.Argument(help="Folder, file or archive of a dataset.")]
Format = Annotated[str, typer.Option("--format", help="Format; else guessed from the path.")]
Out = Annotated[Path, typer.Option("--out", "-o", help="Folder to write to.")]
Epochs = Annotated[int, typer.Option(help="Passes over the tracks (the paper: 3000).", min=1)]
Seeds = Annotated[int, typer.Option(help="Models trained side by side.", min=1)]
Device = Annotated[str, typer.Option(help="cpu or cuda.")]
Cosine = Annotated[bool, typer.Option("--cosine", help="Let the learning rate fall to 0.")]
Batch = Annotated[int, typer.Option(help="Windows a step; 0: 2048, with map 1024.", min=0)]
State = Annotated[int, typer.Option(help="State of the LSTM layers.", min=1)]
Width = Annotated[int, typer.Option(help="Width of the perceptrons; 0: 384, with map 256.", min=0)]
MapPx = Annotated[int, typer.Option(help="Side of the map crop, pixels.", min=32)]
Anchor = Annotated[str, typer.Option(help="Means relative to: present (paper) or velocity.")]
MapCell = Annotated[float, typer.Option(help="Side of a pixel of the crop, metres.")]


def export(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")],
    out: Out,
    range_m: Annotated[float, typer.Option("--range", help="How far the ego sees, metres.")] = 60.0,
    cell_m: Annotated[float, typer.Option("--cell", help="Cell of the maps, metres.")] = 0.1,
    motions: Annotated[
        list[Path] | None,
        typer.Option(help="Motion library people were posed by, if not ours; may be repeated."),
    ] = None,
    as_json: AsValue = False,
) -> None:
    """Make a dataset of people, ego, plans and maps from records of our own runs.

    Head and body angles are those of the people a suite poses by clips, as habit does.

    Example: jaywalk predict export runs/cruise runs/blind --out people
    """
    from jaywalk.datasets.trajectories import write_trajectories
    from jaywalk.forecasting.record_export import export_records

    data = export_records(runs, range_m=range_m, cell_m=cell_m, motions=motions or ())
    write_trajectories(data, out)
    report: dict[str, Any] = {
        "out": str(out),
        "scenes": data.meta["scene_id"].n_unique(),
        "tracks": len(data.meta),
        "rows": len(data.tracks),
        "crossing": int(data.meta["crossing"].sum()),
        **_labels(data),
        "plans": len(data.paths),
        "maps": {name: one.version for name, one in data.maps.items()},
        "splits": {k: n for k, n in data.meta["split"].value_counts(sort=True).iter_rows()},
        "excluded": data.excluded,
    }
    if as_json:
        print_json(report)
        return
    lines = [f"{report['tracks']} tracks in {report['scenes']} scenes, {report['crossing']} cross"]
    lines.append(f"head and body angles: {report['tracks_with_angles']} tracks")
    lines += [f"left out: {why}: {n}" for why, n in data.excluded.items()]
    finish(lines, f"jaywalk predict eval {out}")


def _labels(data: Any) -> dict[str, Any]:
    """How much of a dataset is labelled beyond positions."""
    tracks = data.tracks
    posed = tracks.filter(tracks["head_rad"].is_not_null())
    return {
        "tracks_with_angles": posed["track_id"].n_unique(),
        "rows_with_angles": len(posed),
        "rows_looking_at_ego": int(tracks["looks_at_ego"].sum()),
        "rows_occluded": int(tracks["occluded"].sum()),
    }


def train(
    data: Data,
    out: Out,
    features: Annotated[str, typer.Option(help="Feature set, e.g. motion+egodist.")] = "motion",
    format_name: Format = "",
    epochs: Epochs = 300,
    seeds: Seeds = 1,
    device: Device = "cpu",
    batch: Batch = 0,
    state: State = 256,
    width: Width = 0,
    map_px: MapPx = 256,
    map_cell_m: MapCell = 0.1,
    anchor: Anchor = "present",
    cosine: Cosine = False,
    as_json: AsValue = False,
) -> None:
    """Train the CVAE on the scenes of the split 'train'. Resumes where OUT ends. Needs torch.

    Example: jaywalk predict train people --features motion+map --seeds 3 --device cuda --out m
    """
    from jaywalk.datasets.formats import open_trajectories

    sizes = _sizes(state, width, map_px, map_cell_m, anchor)
    plan = {"epochs": epochs, "seeds": tuple(range(seeds)), "device": device, "cosine": cosine}
    report = _learn(open_trajectories(data, format_name), features, sizes, plan, batch, out)
    if as_json:
        print_json(report)
        return
    nll = ", ".join(f"{value:.3f}" for value in report["validation_nll"])
    finish(
        [f"validation NLL by seed: {nll}", f"model: {report['file']}"],
        f"jaywalk predict eval {data} --split test --pairs --predictor constant-velocity-v1 "
        f"--predictor cvae-v1={report['file']}",
    )


def ablate(
    data: Data,
    out: Out,
    format_name: Format = "",
    sets: Annotated[
        list[str] | None, typer.Option("--features", help="Only this set; repeat for several.")
    ] = None,
    epochs: Epochs = 300,
    seeds: Seeds = 1,
    device: Device = "cpu",
    batch: Batch = 0,
    state: State = 256,
    width: Width = 0,
    map_px: MapPx = 256,
    map_cell_m: MapCell = 0.1,
    anchor: Anchor = "present",
    draws: Annotated[int, typer.Option(help="Monte Carlo draws a sample.", min=20)] = 1000,
    resamples: Annotated[int, typer.Option(help="Bootstrap replicates.", min=100)] = 10_000,
    every_s: Annotated[float, typer.Option("--every", help="Seconds between windows.")] = 0.5,
    as_json: AsJson = False,
) -> None:
    """Tables III and IV: train every feature set the data allow, judge on the split 'test'.

    Models of the same recipe that OUT already holds are used, so a stopped study goes on. Recipe:
    cosine decay and few seeds, reduced against the paper's 60 models a set.

    Example: jaywalk predict ablate people --epochs 300 --device cuda --out study
    """
    from jaywalk.datasets.formats import open_trajectories
    from jaywalk.forecasting.cvae.config import feature_set
    from jaywalk.forecasting.learning import BEST, check_recipe, missing_features, possible_sets

    table = open_trajectories(data, format_name)
    chosen = [feature_set(name) for name in sets] if sets else possible_sets(table)
    for tested in chosen:
        if absent := missing_features(table, tested):
            raise UsageError(f"the data have no {absent}: they cannot answer for '{tested.name}'")
    sizes = _sizes(state, width, map_px, map_cell_m, anchor)
    plan = {"epochs": epochs, "seeds": tuple(range(seeds)), "device": device, "cosine": True}
    files = {}
    for tested in chosen:
        folder = out / tested.name
        if (folder / BEST).is_file():
            config, settings = _recipe(tested.name, sizes, plan, batch)
            check_recipe(folder / BEST, config, settings, table)
        else:
            _learn(table, tested.name, sizes, plan, batch, folder)
        files[tested.name] = folder / BEST
    report = _judged(table, files, draws, resamples, every_s)
    report["data"], report["sources"] = str(data), sorted(set(table.tracks["source"]))
    if as_json:
        print_json(report)
        return
    for name in ("table_iii", "table_iv"):
        print_table(report[name][0], report[name][1:])
    kinds = "simulated" if report["sources"] == ["sim"] else ", ".join(report["sources"])
    lines = [f"data: {kinds}; {report['tracks']} test tracks; reduced recipe: {epochs} epochs"]
    finish(lines, f"jaywalk predict ablate {data} --out {out} --json")


def _sizes(state: int, width: int, map_px: int, map_cell_m: float, anchor: str) -> dict[str, Any]:
    """Everything of a network's config but its features; a width of 0 is chosen by these."""
    return {
        "state": state,
        "width": width,
        "map_px": map_px,
        "map_cell_m": map_cell_m,
        "anchor": anchor,
    }


def _recipe(features: str, sizes: dict[str, Any], plan: dict[str, Any], batch: int) -> Any:
    """Config and settings of one training."""
    from jaywalk.forecasting.cvae.config import CvaeConfig, TrainSettings, feature_set

    with_map = feature_set(features).map
    width = sizes["width"] or (256 if with_map else 384)
    config = CvaeConfig(**{**sizes, "features": features, "width": width})
    return config, TrainSettings(**plan, batch=batch or (1024 if with_map else 2048))


def _learn(
    table: Any, features: str, sizes: dict[str, Any], plan: dict[str, Any], batch: int, out: Path
) -> dict[str, Any]:
    import json

    from jaywalk.forecasting.learning import learn

    config, settings = _recipe(features, sizes, plan, batch)

    def report(row: dict[str, Any]) -> None:
        nll = " ".join(f"{value:.3f}" for value in row["validation_nll"])
        say(f"{features}: epoch {row['epoch']}, validation NLL {nll}")

    file = learn(table, config, settings, out, report)
    return {"file": str(file), **json.loads((out / "model.json").read_text())}


def _judged(
    table: Any, files: dict[str, Path], draws: int, resamples: int, every_s: float
) -> dict[str, Any]:
    from jaywalk.forecasting.ablation import ablation
    from jaywalk.forecasting.cvae.config import feature_set
    from jaywalk.forecasting.evaluate import (
        Settings,
        score,
        table_of_metrics,
        table_of_optimal_sets,
    )
    from jaywalk.forecasting.learning import judging
    from jaywalk.forecasting.predictors.registry import make_predictor
    from jaywalk.forecasting.samples import roi_samples
    from jaywalk.forecasting.splits import of_split
    from jaywalk.forecasting.windows import build_windows

    test = of_split(table, "test")
    windows = build_windows(test, every_s=every_s).with_context(test)
    meetings = roi_samples(test, windows)
    settings = Settings(draws=draws, resamples=resamples, level=0.5, folds=1)  # as the paper
    scores = {}
    for name, file in files.items():
        say(f"judging {name}")
        model = judging(make_predictor(f"cvae-v1={file}"))
        scores[name] = score(model, windows, meetings, settings)
    sizes: dict[str, Any] = {name: feature_set(name).size for name in files}
    found = ablation(scores, sizes, windows, meetings, settings)
    return {
        "table_iii": table_of_metrics(found.estimates, windows.horizons_s),
        "table_iv": table_of_optimal_sets(found.optimal, windows.horizons_s),
        "tracks": len(set(windows.track.tolist())),
        "windows": len(windows),
        "meetings": len(meetings),
    }
