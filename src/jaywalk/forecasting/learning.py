"""Training of predictors on a dataset, with one ONNX file per seed in a folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.files import read_text
from jaywalk.datasets.trajectories import Trajectories
from jaywalk.forecasting.cvae.config import FEATURE_SETS, CvaeConfig, FeatureSet, TrainSettings
from jaywalk.forecasting.cvae.onnx import cvae_onnx
from jaywalk.forecasting.cvae.predictor import Cvae
from jaywalk.forecasting.cvae.samples import CvaeSamples, samples_of, write_json
from jaywalk.forecasting.predictors.registry import Predictor
from jaywalk.forecasting.splits import of_split, splits_of
from jaywalk.forecasting.windows import build_windows

BEST = "best.onnx"
ABOUT = "model.json"
JUDGED_DRAWS = 200
_EVERY_S = 0.2


def learn(
    data: Trajectories,
    config: CvaeConfig,
    settings: TrainSettings,
    folder: Path,
    report: Callable[[dict[str, Any]], None],
) -> Path:
    """Train on ``train`` scenes, choose by ``validation``; return the best seed's ONNX file."""
    from jaywalk.forecasting.cvae.training import train  # needs torch

    absent = missing_features(data, config.set)
    if absent:
        raise UsageError(f"the data have no {absent}; '{config.features}' would learn from zeros")
    training, validation = split_samples(data, "train"), split_samples(data, "validation")
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "log.jsonl"

    def keep(row: dict[str, Any]) -> None:
        with log.open("a") as file:
            file.write(json.dumps(row) + "\n")
        report(row)

    trained = train(training, validation, config, settings, folder, keep)
    models, best_nll = trained.parameters, trained.best_nll
    for seed, model in zip(settings.seeds, models, strict=True):
        (folder / f"seed-{seed}.onnx").write_bytes(cvae_onnx(config, model))
    chosen = min(range(len(models)), key=lambda i: best_nll[i])
    (folder / BEST).write_bytes(cvae_onnx(config, models[chosen]))
    splits = splits_of(data)
    write_json(
        {
            "config": config.as_dict(),
            "settings": asdict(settings),
            "validation_nll": best_nll,
            "best_epoch": trained.best_epoch,
            "best_seed": settings.seeds[chosen],
            "windows": {"train": len(training), "validation": len(validation)},
            "scenes": {
                split: sorted(scene for scene, one in splits.items() if one == split)
                for split in sorted(set(splits.values()))
            },
        },
        folder / ABOUT,
    )
    return folder / BEST


def split_samples(data: Trajectories, split: str) -> CvaeSamples:
    """Return the samples of one split, five per second."""
    part = of_split(data, split)
    return samples_of(build_windows(part, every_s=_EVERY_S).with_context(part))


def missing_features(data: Trajectories, wanted: FeatureSet) -> str:
    """Return the inputs of a feature set that are absent from all data, as text; else empty."""
    absent = []
    if wanted.egodist and len(data.ego) == 0:
        absent.append("vehicles")
    if wanted.head_body and data.tracks["head_rad"].is_null().all():
        absent.append("head angles")
    if wanted.map and not data.maps:
        absent.append("maps")
    return " and no ".join(absent)


def seen_scenes(file: Path) -> frozenset[str]:
    """Return the scenes that trained or selected a model, as far as its folder lists them."""
    scenes = _recipe(file).get("scenes", {})
    return frozenset(scenes.get("train", [])) | frozenset(scenes.get("validation", []))


def check_recipe(
    file: Path, config: CvaeConfig, settings: TrainSettings, data: Trajectories
) -> None:
    """Raise if a finished model has other settings than requested, or saw test scenes."""
    recipe = _recipe(file)
    if not recipe:
        return
    asked = {"config": config.as_dict(), "settings": json.loads(json.dumps(asdict(settings)))}
    differs = sorted(
        f"{key} {recipe[part].get(key)} instead of {value}"
        for part, values in asked.items()
        for key, value in values.items()
        if key != "device" and recipe[part].get(key) != value
    )
    test = {scene for scene, split in splits_of(data).items() if split == "test"}
    if both := sorted(test & seen_scenes(file)):
        differs.append(f"it learnt from the test scene '{both[0]}'")
    if differs:
        raise UsageError(
            f"'{file}' is a model of another recipe: {', '.join(differs)}. Give another --out, or "
            "delete that folder."
        )


def _recipe(file: Path) -> dict[str, Any]:
    """Return the contents of ``model.json`` beside a model; empty if there is none."""
    about = file.parent / ABOUT
    if not about.is_file():
        return {}
    try:
        recipe = json.loads(read_text(about, "the recipe of a model"))
        _ = recipe["config"], recipe["settings"], recipe["scenes"]
    except (ValueError, KeyError, TypeError) as problem:
        raise DataError(f"'{about}' holds no recipe of a trained model: {problem}") from problem
    return dict(recipe)


def judging(model: Predictor) -> Predictor:
    """Return a predictor for evaluation: a network gets more draws than for driving."""
    return replace(model, draws=JUDGED_DRAWS) if isinstance(model, Cvae) else model


def possible_sets(data: Trajectories) -> list[FeatureSet]:
    """Return the feature sets that the data support."""
    return [one for one in FEATURE_SETS if not missing_features(data, one)]
