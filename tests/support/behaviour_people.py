"""Made-up people in front of a car, as typed tables: some walk into the road and cross."""

import numpy as np

from jaywalk.core.seeds import stream
from jaywalk.datasets.behaviour_tables import (
    BOX_SCHEMA,
    EGO_SCHEMA,
    PEDESTRIAN_SCHEMA,
    SCENE_SCHEMA,
    VIDEO_SCHEMA,
    BehaviourData,
    frame_of,
)

FRAMES = 130
EVENT = 110


def people_data(videos=(6, 3, 3), people=6, dataset="sim", seed=0):
    """Who crosses walks towards the middle at 4 px a frame; the others stand or walk away."""
    rng = stream(seed, "behaviour people")
    rows = {name: [] for name in ("videos", "pedestrians", "boxes", "scene", "ego")}
    splits, number = {}, 0
    for split, count in zip(("train", "val", "test"), videos, strict=True):
        names = []
        for _ in range(count):
            video = f"video_{number:04d}"
            names.append(video)
            number += 1
            _add_video(rows, video, people, rng)
        splits[split] = tuple(names)
    return BehaviourData(
        dataset=dataset,
        videos=frame_of(rows["videos"], VIDEO_SCHEMA),
        pedestrians=frame_of(rows["pedestrians"], PEDESTRIAN_SCHEMA),
        boxes=frame_of(rows["boxes"], BOX_SCHEMA).sort("video", "pedestrian_id", "frame"),
        scene=frame_of(rows["scene"], SCENE_SCHEMA),
        ego=frame_of(rows["ego"], EGO_SCHEMA),
        splits=splits,
        defects=(),
    )


def _add_video(rows, video, people, rng):
    rows["videos"].append(
        {
            "video": video,
            "width_px": 1920,
            "height_px": 1080,
            "n_frames": FRAMES,
            "road_type": "street",
            "time_of_day": "daytime",
            "weather": "clear",
        }
    )
    for frame in range(FRAMES):
        rows["scene"].append(
            {
                "video": video,
                "frame": frame,
                "ped_crossing": frame > 20,
                "ped_sign": False,
                "stop_sign": False,
                "light": 0,
            }
        )
        rows["ego"].append(
            {"video": video, "frame": frame, "action": "moving_slow", "obd_speed_kmh": 15.0}
        )
    for k in range(people):
        crosses = k % 2 == 0
        side = 1.0 if rng.random() < 0.5 else -1.0
        start = 960.0 + side * rng.uniform(500.0, 800.0)
        step = -4.0 * side if crosses else rng.choice([0.0, 1.0]) * side
        height = rng.uniform(80.0, 200.0)
        _add_person(rows, video, f"{video}_{k}b", crosses, start, step, height, rng)


def _add_person(rows, video, name, crosses, start, step, height, rng):
    rows["pedestrians"].append(
        {
            "video": video,
            "pedestrian_id": name,
            "kind": "behaviour",
            "crossing": int(crosses),
            "crossing_point": EVENT if crosses else None,
            "critical_point": EVENT,
            "exp_start_point": 0,
            "intention_prob": 1.0 if crosses else 0.0,
            "age": "adult",
            "n_boxes": FRAMES,
            "n_gaps": 0,
            "missing_crossing_point": False,
        }
    )
    centres = start + step * np.arange(FRAMES) + rng.normal(0.0, 1.0, FRAMES)
    for frame, x in enumerate(centres):
        rows["boxes"].append(
            {
                "video": video,
                "pedestrian_id": name,
                "frame": frame,
                "xtl_px": x - 20.0,
                "ytl_px": 500.0,
                "xbr_px": x + 20.0,
                "ybr_px": 500.0 + height,
                "occlusion": 0,
                "walking": int(step != 0.0),
                "looking": 0,
                "cross": int(crosses and frame >= EVENT),
            }
        )
