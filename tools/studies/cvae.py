"""The evidence that the network learns, on one machine with torch and nothing but numpy beside it.

``python -m studies.cvae speed|crossing|samples ...``: how fast a step is, whether a
map that decides is used, and the NLL of held-out windows of samples prepared elsewhere.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any, Final

import numpy as np

from jaywalk.forecasting.cvae.batches import to_device
from jaywalk.forecasting.cvae.config import Arrays, CvaeConfig, TrainSettings, folded_arrays
from jaywalk.forecasting.cvae.samples import CvaeSamples, load_samples
from jaywalk.forecasting.cvae.training import Stepper, initial_tensors, train, window_nll
from jaywalk.forecasting.torch_needed import torch
from studies.two_mode_crossing import two_mode_crossing

_MAP_BYTES: Final = 10e6
"""Bytes that a sample's activations move through memory, forward and back, in half precision."""
_TEST_FOLDS, _VALIDATION_FOLD = (0, 1), 2
_MAPLESS_PATIENCE: Final = 8
"""A network without map takes more epochs to learn the two modes and costs a fraction of one with:
it gets this many times the epochs, so that a useless map cannot win by being further on."""


def speed(device: str, steps: int = 200) -> list[dict[str, Any]]:
    """Samples a second of a training step, and of maps the ratio to the bandwidth floor."""
    data = two_mode_crossing(4096, seed=0)
    bandwidth = copy_bandwidth(device) if device.startswith("cuda") else 0.0
    rows = []
    for features, width, batch, seeds in (
        ("motion", 384, 2048, 1),
        ("motion", 384, 2048, 8),
        ("motion+map", 256, 1024, 1),
    ):
        config = CvaeConfig(features=features, state=256, width=width)
        parameters = initial_tensors(config, tuple(range(seeds)), device)
        fast = device.startswith("cuda")
        moved = to_device(data, config, device)
        stepper = Stepper(moved, config, parameters, batch, 1e-3, fast=fast)
        index = torch.randint(0, len(data), (seeds, batch), device=device)
        angle = 6.28 * torch.rand((seeds, batch), device=device)
        noise = torch.randn((seeds, batch, config.latent), device=device)
        stepper(index, angle, noise)
        _wait(device)
        started = time.perf_counter()
        for _ in range(steps):
            loss, _ = stepper(index, angle, noise)
        _wait(device)
        took = time.perf_counter() - started
        rate = steps * batch * seeds / took
        row = {
            "features": features,
            "seeds": seeds,
            "batch": batch,
            "step_ms": 1e3 * took / steps,
            "samples_per_s": rate,
            "loss_after": loss.tolist(),
        }
        if config.set.map and bandwidth:
            row["floor_samples_per_s"] = 4.8e12 / _MAP_BYTES
            row["ratio_to_floor"] = 4.8e12 / _MAP_BYTES / rate
            row["ratio_to_measured_bandwidth_floor"] = bandwidth / _MAP_BYTES / rate
            row["copy_bandwidth_bytes_per_s"] = bandwidth
        rows.append(row)
    return rows


def copy_bandwidth(device: str) -> float:
    """Bytes read and written a second by a copy within the device."""
    source = torch.empty(2**31, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    target.copy_(source)
    _wait(device)
    started = time.perf_counter()
    for _ in range(10):
        target.copy_(source)
    _wait(device)
    return 10 * 2 * 2**31 / (time.perf_counter() - started)


def crossing(
    device: str, folder: Path, *, tracks: int, epochs: int, config: dict[str, Any]
) -> dict[str, Any]:
    """NLL by track of the two-mode set: without map, with it, and with the maps shuffled."""
    results: dict[str, Any] = {}
    for name, features, shuffled in (
        ("motion", "motion", False),
        ("map", "motion+map", False),
        ("shuffled map", "motion+map", True),
    ):
        parts = [
            two_mode_crossing(n, seed=seed, shuffled=shuffled)
            for seed, n in ((1, tracks), (2, tracks // 5), (3, tracks // 4))
        ]
        passes = epochs if "map" in features else _MAPLESS_PATIENCE * epochs
        settings = TrainSettings(
            epochs=passes,
            batch=512,
            cosine=True,
            seeds=(0, 1),
            draws=1000,
            device=device,
            validate_every=max(1, passes // 10),
        )
        size = CvaeConfig(**{"features": features, "width": 256, **config})
        place = folder / name.replace(" ", "_")
        best = train(parts[0], parts[1], size, settings, place, _print)
        results[name] = nll_by_window(best.parameters, size, parts[2], device, draws=1000)
    return results


def samples(
    device: str, file: Path, folds: Path, out: Path, *, epochs: int, seeds: int, anchor: str
) -> dict[str, Any]:
    """Train on prepared samples by fold; NLL of every window of the held-out folds."""
    data = load_samples(file)
    fold = np.load(folds, allow_pickle=False)["fold"]
    test = np.isin(fold, _TEST_FOLDS)
    groups: dict[str, Any] = {"window": np.flatnonzero(test)}
    for features in ("motion", "motion+egodist"):
        config = CvaeConfig(features=features, anchor=anchor)
        settings = TrainSettings(
            epochs=epochs,
            batch=512,
            cosine=True,
            seeds=tuple(range(seeds)),
            validate_every=100,
            device=device,
        )
        learnt = data.rows(~test & (fold != _VALIDATION_FOLD))
        folder = out.parent / f"training_{features}"
        chosen_by = data.rows(fold == _VALIDATION_FOLD)
        best = train(learnt, chosen_by, config, settings, folder, _print).parameters
        groups[features] = nll_by_window(best, config, data.rows(test), device, draws=1000)
        weights: Any = folded_arrays(best[0])
        about = json.dumps(config.as_dict())
        name = features.replace("+", "_")
        np.savez(out / f"weights_{name}.npz", allow_pickle=False, about=about, **weights)
    return groups


def nll_by_window(
    models: list[Arrays], config: CvaeConfig, data: CvaeSamples, device: str, draws: int
) -> Any:
    """NLL ``(models, N, H)``."""
    stacked = {
        name: torch.as_tensor(np.stack([model[name] for model in models]), device=device)
        for name in models[0]
    }
    moved = to_device(data, config, device)
    return window_nll(stacked, config, moved, draws).cpu().numpy()


def _wait(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def _print(row: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(row) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Run one part and write its result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=("speed", "crossing", "samples"))
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--samples", type=Path)
    parser.add_argument("--folds", type=Path)
    parser.add_argument("--epochs", type=int, default=150)
    parser.add_argument("--tracks", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--anchor", default="present")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    if given.part == "speed":
        for row in speed(given.device):
            _print(row)
    else:
        if given.part == "crossing":
            folder = given.out.parent / "training_crossing"
            result = crossing(
                given.device,
                folder,
                tracks=given.tracks,
                epochs=given.epochs,
                config={"anchor": given.anchor},
            )
        else:
            result = samples(
                given.device,
                given.samples,
                given.folds,
                given.out,
                epochs=given.epochs,
                seeds=given.seeds,
                anchor=given.anchor,
            )
        np.savez_compressed(given.out / f"{given.part}.npz", allow_pickle=False, **result)
        means = {name: np.nanmean(v, axis=1).tolist() for name, v in result.items() if v.ndim == 3}
        _print({"mean_nll": means})
    _print({"part": given.part, "seconds": round(time.perf_counter() - started, 1)})


if __name__ == "__main__":
    main()
