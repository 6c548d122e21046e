"""Benchmark a behaviour model on made-up people, and score rollouts of recorded traffic.

python examples/tutorials/benchmark_models.py --out /tmp/models
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from jaywalk.datasets.behaviour_tables import (
    BOX_SCHEMA,
    EGO_SCHEMA,
    PEDESTRIAN_SCHEMA,
    SCENE_SCHEMA,
    VIDEO_SCHEMA,
    BehaviourData,
    frame_of,
    write_tables,
)

FRAMES, EVENT = 130, 110  # of a video; when people step onto the road
Rows = dict[str, list[dict[str, object]]]


def jaywalk(*words: object) -> str:
    """Run a command of Jaywalk, as ``jaywalk WORDS`` in a shell, and return what it prints."""
    command = [sys.executable, "-m", "jaywalk", *map(str, words)]
    print("jaywalk", *words, flush=True)  # noqa: T201
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def add_person(rows: Rows, video: str, number: int, random: np.random.Generator) -> None:
    """Add somebody who walks towards the middle of the picture and crosses, or stays away."""
    crosses, side = number % 2 == 0, random.choice([-1.0, 1.0])
    step_px = -4.0 * side if crosses else random.choice([0.0, 1.0]) * side
    start_px = 960.0 + side * random.uniform(500.0, 800.0)
    who = {"video": video, "pedestrian_id": f"{video}_{number}b"}
    about = {"kind": "behaviour", "crossing": int(crosses), "critical_point": EVENT}
    about |= {"crossing_point": EVENT if crosses else None, "exp_start_point": 0, "age": "adult"}
    about |= {"intention_prob": float(crosses), "n_boxes": FRAMES, "n_gaps": 0}
    rows["pedestrians"].append(who | about | {"missing_crossing_point": False})
    height_px = random.uniform(80.0, 200.0)
    for frame in range(FRAMES):
        x = start_px + step_px * frame + random.normal()
        box = {"xtl_px": x - 20.0, "ytl_px": 500.0, "xbr_px": x + 20.0, "ybr_px": 500 + height_px}
        tags = {"occlusion": 0, "looking": 0, "walking": int(step_px != 0.0)}
        tags["cross"] = int(crosses and frame >= EVENT)
        rows["boxes"].append(who | {"frame": frame} | box | tags)


def add_video(rows: Rows, video: str, people: int, random: np.random.Generator) -> None:
    """Add a street with people, seen from a car that drives slowly."""
    size = {"width_px": 1920, "height_px": 1080, "n_frames": FRAMES}
    place = {"road_type": "street", "time_of_day": "daytime", "weather": "clear"}
    rows["videos"].append({"video": video} | size | place)
    for frame in range(FRAMES):
        now = {"video": video, "frame": frame}
        signs = {"ped_crossing": frame > 20, "ped_sign": False, "stop_sign": False, "light": 0}
        rows["scene"].append(now | signs)
        rows["ego"].append(now | {"action": "moving_slow", "obd_speed_kmh": 15.0})
    for number in range(people):
        add_person(rows, video, number, random)


def write_people(folder: Path, people: int) -> None:
    """Write twelve made-up videos in the layout of ``jaywalk behaviour export``."""
    random = np.random.default_rng(0)
    schemas = {"videos": VIDEO_SCHEMA, "pedestrians": PEDESTRIAN_SCHEMA, "boxes": BOX_SCHEMA}
    schemas |= {"scene": SCENE_SCHEMA, "ego": EGO_SCHEMA}
    rows: Rows = {name: [] for name in schemas}
    names = [f"video_{number:04d}" for number in range(12)]
    for video in names:
        add_video(rows, video, people, random)
    tables = {name: frame_of(rows[name], schema) for name, schema in schemas.items()}
    tables["boxes"] = tables["boxes"].sort("video", "pedestrian_id", "frame")
    splits = {"train": (*names[:6],), "val": (*names[6:9],), "test": (*names[9:],)}
    data = BehaviourData(dataset="sim", splits=splits, defects=(), **tables)
    write_tables(data, folder, {"made_by": Path(__file__).name})


def benchmark(people: Path, out: Path) -> dict[str, float]:
    """Train boosted trees, score them and constant velocity on the split test."""
    task = ("--task", "action", "--dataset", "sim", "--annotations", people)
    scores = {}
    for model in ("gradient-boosting", "last-state"):
        jaywalk("behaviour", "train", "--model", model, *task, "--seeds", 1, "--out", out / model)
        csv = out / model / "predictions-test.csv"
        result = json.loads(jaywalk("behaviour", "score", *task, "--predictions", csv, "--json"))
        scores[model] = result["base"]["auc"]
    return scores


def main() -> None:
    """Benchmark models, then score rollouts of a run."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, default=Path("tutorial-models"))
    options.add_argument("--people", type=int, default=6, help="people of a video")
    options.add_argument("--rollouts", type=int, default=4)
    given = options.parse_args()
    write_people(given.out / "people", given.people)
    result: dict[str, object] = {"auc": benchmark(given.out / "people", given.out)}
    run = given.out / "run"
    jaywalk("run", "smoke", "--agent", "cruise", "--subset", 12, "--out", run)
    jaywalk("realism", "rollout", run, "--policy", "lanes", "--n", given.rollouts)
    scored = jaywalk("realism", "score", run, "--policy", "lanes", "--bounds", "--json")
    result["metametric"] = json.loads(scored)["metametric"]
    (given.out / "result.json").write_text(json.dumps(result, indent=1))
    print(json.dumps(result))  # noqa: T201


if __name__ == "__main__":
    main()
