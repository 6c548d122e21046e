"""Can a small network see in our cameras' pictures what people do?

Four questions to crops of 64 x 128 pixels, 13 to 17 m away or in another range: does the person
look at the camera, hold a phone, is it a child, does it start to walk? The network is trained on
people of some blueprints and judged on those of the others. It needs torch.

    python -m studies.people_judge --scenes 100 --json people-judge.json --sheet crops.png

from ``tools/``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from sklearn.metrics import roc_auc_score

from jaywalk.core.seeds import stream
from jaywalk.forecasting.torch_needed import torch
from studies.people_crops import (
    CROP,
    QUESTIONS,
    Crop,
    load_crops,
    render,
    save_crops,
    save_sheet,
)

_HELD_OUT: Final = 0.35  # of the blueprints


def _network() -> Any:
    """A small network: four steps of convolution, then one output a question."""
    nn = torch.nn
    layers: list[Any] = []
    before = 6
    for after, stride in ((24, 2), (32, 2), (48, 2), (64, 2)):
        layers += [nn.Conv2d(before, after, 3, stride, 1), nn.BatchNorm2d(after), nn.ReLU()]
        layers += [nn.Conv2d(after, after, 3, 1, 1), nn.BatchNorm2d(after), nn.ReLU()]
        before = after
    flat = before * (CROP[0] // 16) * (CROP[1] // 16)
    return nn.Sequential(
        *layers, nn.Flatten(), nn.Dropout(0.4), nn.Linear(flat, 64), nn.ReLU(), nn.Linear(64, 5)
    )


def _varied(images: Any, generator: Any) -> Any:
    """Mirror images, shifts of up to four pixels, and other exposures."""
    count = len(images)
    flip = torch.rand(count, generator=generator) < 0.5
    images = torch.where(flip[:, None, None, None], images.flip(3), images)
    shift = torch.randint(-4, 5, (2,), generator=generator).tolist()
    images = torch.roll(images, shift, (2, 3))
    gain = 1.0 + 0.2 * torch.randn(count, 1, 1, 1, generator=generator)
    return images * gain


def judge(crops: Sequence[Crop], epochs: int) -> dict[str, Any]:
    """Areas under the curve on people of blueprints that were not trained on.

    Children are few, so blueprints of children and of adults are split apart.
    """
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(1)
    names: dict[bool, set[str]] = {False: set(), True: set()}
    for crop in crops:
        names[bool(crop.answers["child"])].add(crop.blueprint)
    held: set[str] = set()
    for child, group in names.items():
        order = stream(0, "people-judge-split", int(child)).permutation(len(group))
        held |= {sorted(group)[k] for k in order[: round(_HELD_OUT * len(group))]}
    pixels = np.stack([np.concatenate([c.pixels, c.pixels], axis=2) for c in crops])
    pixels = pixels.astype(np.float32) / 128.0 - 1.0
    earlier = np.stack([crop.earlier for crop in crops]).astype(np.float32) / 128.0 - 1.0
    pixels[..., 3:] = 4.0 * (pixels[..., :3] - earlier)  # what has moved
    images = torch.from_numpy(pixels).permute(0, 3, 1, 2).contiguous()
    rows = [[crop.answers[q] for q in QUESTIONS] for crop in crops]
    known = torch.tensor([[a is not None for a in row] for row in rows])
    truth = torch.tensor([[float(bool(a)) for a in row] for row in rows])
    test = np.array([crop.blueprint in held for crop in crops])
    train = np.flatnonzero(~test)
    network = _network()
    optimiser = torch.optim.AdamW(network.parameters(), lr=2e-3, weight_decay=0.02)
    steps = epochs * (len(train) // 64 + 1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, total_steps=steps)
    loss_of = torch.nn.BCEWithLogitsLoss(reduction="none")
    for _ in range(epochs):
        network.train()
        for part in torch.randperm(len(train), generator=generator).split(64):
            chosen = train[part.numpy()]
            out = network(_varied(images[chosen], generator))
            weight = known[chosen].float()
            loss = (loss_of(out, truth[chosen]) * weight).sum() / weight.sum()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    network.eval()
    with torch.no_grad():
        both = [images[test], images[test].flip(3)]
        score = sum(torch.cat([network(part) for part in one.split(128)]) for one in both)
    result: dict[str, Any] = {}
    for k, question in enumerate(QUESTIONS):
        given = known[test][:, k].numpy()
        answers = truth[test][:, k].numpy()[given]
        result[question] = {
            "auc": float(roc_auc_score(answers, score[:, k].numpy()[given])),
            "train": int(known[train][:, k].sum()),
            "test": int(given.sum()),
            "share": float(answers.mean()),
        }
    return result


def main() -> None:
    """Render crops, train, judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--scenes", type=int, default=60, help="groups of up to seven people")
    parser.add_argument("--near", type=float, default=13.0, help="m")
    parser.add_argument("--far", type=float, default=17.0, help="m")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--crops", type=Path, help="file of crops, written unless it exists")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--sheet", type=Path, help="picture of some crops")
    given = parser.parse_args()
    if given.crops and given.crops.exists():
        crops = load_crops(given.crops)
    else:
        crops = render(given.scenes, given.near, given.far)
        if given.crops:
            save_crops(crops, given.crops)
    if given.sheet:
        save_sheet(crops, given.sheet)
    result = judge(crops, given.epochs)
    for question, row in result.items():
        sys.stdout.write(f"{question:14} AUC {row['auc']:.3f}  ({row['train']}/{row['test']})\n")
    if given.json:
        given.json.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
