"""Measure how well a public pose model reads people in our camera pictures.

MediaPipe's pose model looks at crops around single people on an empty street by day. It is not
installed with Jaywalk: the pictures are drawn in Jaywalk's environment and judged in another one,
with mediapipe 0.10.14:

    cd tools
    python -m studies.pose_judge draw FOLDER --seed 1000 --count 60
    OTHER/bin/python studies/pose_judge.py judge FOLDER --json FOLDER/pose.json
    python -m studies.pose_judge tables FOLDER --json ../docs/measurements/sensors-pose.json
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np

# Number of MediaPipe's landmark and name of our bone.
_JOINTS: Final = {
    11: "crl_arm__L", 12: "crl_arm__R", 13: "crl_foreArm__L", 14: "crl_foreArm__R",
    15: "crl_hand__L", 16: "crl_hand__R", 23: "crl_thigh__L", 24: "crl_thigh__R",
    25: "crl_leg__L", 26: "crl_leg__R", 27: "crl_foot__L", 28: "crl_foot__R",
}  # fmt: skip
_DISTANCES_M: Final = ((6.0, 12.0), (12.0, 18.0), (18.0, 24.0), (24.0, 30.0))
_CLIPS: Final = (
    "crossing-walk-", "crossing-stroll-", "crossing-run-", "crossing-look-", "notcrossing-wait-",
    "notcrossing-phone-", "notcrossing-converse-",
)  # fmt: skip
_SIZE_PX: Final = (1280, 720)
_FOV_DEG: Final = 60.0
_EYE_M: Final = 1.5
_MARGIN: Final = 0.7  # of the crop's half side, in heights of the person
_CROP_PX: Final = 384
_NEAR: Final = 0.1  # of the height: a joint this close counts as right
_LIGHT: Final = 63  # of Harbour: its street is empty


def draw(folder: Path, seed: int, count: int) -> None:
    """Write crops of people with the true places of their joints in them."""
    from PIL import Image

    from jaywalk.core.seeds import stream
    from jaywalk.motion import everyday_library
    from jaywalk.town.town import load_town
    from studies.street_scene import Street, facing_crosswalk, weather

    folder.mkdir(parents=True, exist_ok=True)
    random = stream(seed, "pose-judge")
    town = load_town("Harbour")
    street = Street(town, facing_crosswalk(town, _LIGHT))
    motions = everyday_library()
    names = [name for name in motions.names if name.startswith(_CLIPS)]
    sky = weather(azimuth=(street.yaw_deg + 215.0) % 360.0)
    eye = street.eye((-8.0, 1.0), _EYE_M)
    facts = []
    for number in range(count):
        low, high = _DISTANCES_M[number % len(_DISTANCES_M)]
        far = float(random.uniform(low, high))
        place = (far - 8.0, 1.0 + float(random.uniform(-1.5, 1.5)))
        clip = names[int(random.integers(len(names)))]
        frame = int(random.integers(len(motions.on_rig(clip, "man").turns)))
        walker = 1 + int(random.integers(52))
        heading = float(random.uniform(-180.0, 180.0))
        person = street.put_person(walker, place, heading, clip, frame)
        picture = street.photo(eye, sky, _SIZE_PX, _FOV_DEG)
        pixels = _projected(street.bones_m(person), eye)
        street.world.remove(person)
        middle = 0.5 * (pixels["top"] + pixels["bottom"])
        height = float(pixels["bottom"][1] - pixels["top"][1])
        side = _MARGIN * height
        box = (middle[0] - side, middle[1] - side, middle[0] + side, middle[1] + side)
        crop = Image.fromarray(picture).crop(tuple(round(value) for value in box))
        scale = _CROP_PX / crop.width
        crop.resize((_CROP_PX, _CROP_PX), Image.Resampling.BICUBIC).save(
            folder / f"{number:03d}.png"
        )
        corner = np.round(box[:2])
        joints = {str(k): ((pixels[b] - corner) * scale).tolist() for k, b in _JOINTS.items()}
        facts.append(
            {"distance_m": far, "clip": clip, "height_px": height * scale, "joints": joints}
        )
    (folder / "truth.json").write_text(json.dumps(facts, indent=1) + "\n")


def _projected(bones_m: dict[str, Any], eye: Any) -> dict[str, Any]:
    """Return the places of bones in the picture, and those of the crown and the soles."""
    (x, y, z), (_, yaw_deg, _) = eye
    cos, sin = math.cos(math.radians(yaw_deg)), math.sin(math.radians(yaw_deg))
    focal = 0.5 * _SIZE_PX[0] / math.tan(math.radians(0.5 * _FOV_DEG))
    out = {}
    for name, place in bones_m.items():
        dx, dy, dz = place[0] - x, place[1] - y, place[2] - z
        ahead, right = dx * cos + dy * sin, dy * cos - dx * sin
        out[name] = np.array(
            [0.5 * _SIZE_PX[0] + focal * right / ahead, 0.5 * _SIZE_PX[1] - focal * dz / ahead]
        )
    head, neck = out["crl_Head__C"], out["crl_neck__C"]
    feet = [out["crl_toeEnd__L"], out["crl_toeEnd__R"]]
    out["top"] = head + 1.5 * (head - neck)
    out["bottom"] = max(feet, key=lambda foot: float(foot[1]))
    return out


def judge(folder: Path) -> dict[str, Any]:
    """Let MediaPipe find the poses; return detections and joint errors by distance."""
    import mediapipe  # type: ignore[import-not-found, unused-ignore]
    from PIL import Image

    facts = json.loads((folder / "truth.json").read_text())
    model = mediapipe.solutions.pose.Pose(static_image_mode=True, model_complexity=1)
    cases = []
    for number, fact in enumerate(facts):
        pixels = np.asarray(Image.open(folder / f"{number:03d}.png").convert("RGB"))
        marks = model.process(pixels).pose_landmarks
        case = {"distance_m": fact["distance_m"], "clip": fact["clip"], "errors": None}
        if marks is not None:
            seen = {k: (marks.landmark[k].x, marks.landmark[k].y) for k in _JOINTS}
            case["errors"] = [
                math.dist(np.multiply(seen[k], _CROP_PX), fact["joints"][str(k)])
                / fact["height_px"]
                for k in _JOINTS
            ]
        cases.append(case)
    bins = {}
    for low, high in (*_DISTANCES_M, (_DISTANCES_M[0][0], _DISTANCES_M[-1][1])):
        group = [case for case in cases if low <= case["distance_m"] < high]
        errors = [error for case in group if case["errors"] for error in case["errors"]]
        bins[f"{low:g} to {high:g} m"] = {
            "people": len(group),
            "detected": sum(case["errors"] is not None for case in group),
            "median_error_percent": round(100.0 * float(np.median(errors)), 1) if errors else None,
            "joints_near_percent": round(100.0 * float(np.mean(np.array(errors) <= _NEAR)), 1)
            if errors
            else None,
        }
    return {"bins": bins, "cases": cases}


def tables(folder: Path) -> dict[str, Any]:
    """Return the result in the folder as a measurement file."""
    from studies._measurement import measurement

    bins = json.loads((folder / "pose.json").read_text())["bins"]
    columns = (
        "distance", "people", "detected", "median error, share of the body height",
        "joints within a tenth of the height",
    )  # fmt: skip
    rows = [
        [
            name,
            str(row["people"]),
            str(row["detected"]),
            f"{row['median_error_percent']} %",
            f"{row['joints_near_percent']} %",
        ]
        for name, row in bins.items()
    ]
    return measurement(
        "python -m studies.pose_judge draw, judge, tables; --seed 1000 --count 60",
        note="MediaPipe 0.10.14, pose, model complexity 1, on crops of 384 x 384 pixels.",
        tables={"people": (columns, rows)},
    )


def main() -> None:
    """Draw, judge or write tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("step", choices=("draw", "judge", "tables"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--json", type=Path, help="where to write the result")
    chosen = parser.parse_args()
    if chosen.step == "draw":
        draw(chosen.folder, chosen.seed, chosen.count)
        return
    if chosen.step == "tables":
        chosen.json.write_text(json.dumps(tables(chosen.folder), indent=1) + "\n")
        return
    result = judge(chosen.folder)
    sys.stdout.write(json.dumps(result["bins"], indent=1) + "\n")
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
