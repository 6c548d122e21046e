"""Small made-up datasets in the layouts of JAAD and PIE."""

import tarfile
import zipfile
from pathlib import Path


def box(frame, x=100.0, *, height=100.0, attributes=None, outside=0):
    tags = "".join(
        f'<attribute name="{name}">{value}</attribute>'
        for name, value in (attributes or {}).items()
    )
    return (
        f'<box frame="{frame}" keyframe="1" occluded="0" outside="{outside}" xtl="{x}" '
        f'ytl="500.0" xbr="{x + 40.0}" ybr="{500.0 + height}">{tags}</box>'
    )


def track(label, boxes):
    return f'<track label="{label}">{"".join(boxes)}</track>'


def person(name, frames, *, tagged, crossing_from=None, walking=True, x=100.0, step=0.0):
    """A JAAD track: boxes that move ``step`` pixels a frame."""
    boxes = []
    for i, frame in enumerate(frames):
        attributes = {"id": name, "old_id": "x", "occlusion": "none"}
        if tagged:
            crossing = crossing_from is not None and frame >= crossing_from
            attributes |= {
                "action": "walking" if walking else "standing",
                "look": "looking",
                "cross": "crossing" if crossing else "not-crossing",
                "nod": "__undefined__",
            }
        boxes.append(box(frame, x + step * i, attributes=attributes))
    label = "people" if name.endswith("p") else "pedestrian" if tagged else "ped"
    return track(label, boxes)


def video_xml(tracks, n_frames=200, width=1920):
    return (
        f"<annotations><version>1.1</version><meta><task><size>{n_frames}</size><original_size>"
        f"<width>{width}</width><height>1080</height></original_size><video_attributes>"
        "<time_of_day>daytime</time_of_day><weather>rain</weather><location>street</location>"
        f"</video_attributes></task></meta>{''.join(tracks)}</annotations>"
    )


def jaad_attributes(**values):
    row = {
        "age": "adult",
        "crossing": "1",
        "crossing_point": "-1",
        "decision_point": "-1",
        "designated": "ND",
        "gender": "female",
        "group_size": "1",
        "intersection": "no",
        "motion_direction": "LAT",
        "num_lanes": "2",
        "old_id": "x",
        "signalized": "n/a",
        "traffic_direction": "TW",
    } | {key: str(value) for key, value in values.items()}
    return "<pedestrian " + " ".join(f'{key}="{value}"' for key, value in row.items()) + " />"


def jaad_files():
    """Three videos, one a split; the test video has five people.

    * 0_3_1b crosses at frame 110 of 0-119, moves right by 10 px a frame;
    * 0_3_2b crosses, nobody wrote down when, and does so from its first box on;
    * 0_3_3 is a bystander whose track has a gap;
    * 0_3_4p is a group;
    * 0_3_5b does not cross, its track is too short.
    """
    gap = [*range(60), *range(70, 120)]
    test_tracks = [
        person("0_3_2b", range(100), tagged=True, crossing_from=0),
        person("0_3_1b", range(120), tagged=True, crossing_from=110, step=10.0),
        person("0_3_3", gap, tagged=False, x=1800.0),
        person("0_3_4p", range(120), tagged=False),
        person("0_3_5b", range(40), tagged=True, walking=False),
    ]
    attributes = {
        "0_3_1b": jaad_attributes(id="0_3_1b", crossing_point=110),
        "0_3_2b": jaad_attributes(id="0_3_2b", traffic_direction="OW"),
        "0_3_5b": jaad_attributes(id="0_3_5b", crossing=0),
        "0_3_9b": jaad_attributes(id="0_3_9b", crossing=-1),
    }
    files = {}
    for number, split in ((1, "train"), (2, "val"), (3, "test")):
        video = f"video_{number:04d}"
        own = test_tracks if number == 3 else [person(f"0_{number}_1", range(60), tagged=False)]
        people = "".join(attributes.values()) if number == 3 else ""
        frames = "".join(
            f'<frame id="{i}" ped_crossing="{int(i >= 20)}" ped_sign="0" stop_sign="0" '
            f'traffic_light="{"red" if number == 3 else "n/a"}" />'
            for i in range(200)
        )
        moves = "".join(
            f'<frame id="{i}" action="{"stopped" if i < 50 else "moving_slow"}" />'
            for i in range(200)
        )
        files |= {
            f"annotations/{video}.xml": video_xml(own),
            f"annotations_attributes/{video}_attributes.xml": (
                f"<ped_attributes>{people}</ped_attributes>"
            ),
            f"annotations_traffic/{video}_traffic.xml": (
                f"<traffic_scene><road_type>street</road_type>{frames}</traffic_scene>"
            ),
            f"annotations_vehicle/{video}_vehicle.xml": f"<vehicle_info>{moves}</vehicle_info>",
        }
        for subset in ("default", "all_videos", "high_visibility"):
            files[f"split_ids/{subset}/{split}.txt"] = f"{video}\n"
    return files


def pie_attributes(**values):
    row = {
        "age": "adult",
        "critical_point": "60",
        "crossing": "0",
        "crossing_point": "119",
        "exp_start_point": "10",
        "gender": "male",
        "intention_prob": "0.9",
        "intersection": "midblock",
        "num_lanes": "4",
        "signalized": "S",
        "traffic_direction": "TW",
    } | {key: str(value) for key, value in values.items()}
    return "<pedestrian " + " ".join(f'{key}="{value}"' for key, value in row.items()) + " />"


def pie_person(name, frames, hidden=()):
    return track(
        "pedestrian",
        [
            box(
                frame,
                attributes={
                    "id": name,
                    "action": "standing",
                    "look": "looking",
                    "cross": "crossing-irrelevant",
                    "occlusion": "part",
                    "gesture": "__undefined__",
                },
                outside=int(frame in hidden),
            )
            for frame in frames
        ],
    )


def pie_files():
    """One video of the test set: 3_1_10 and 3_1_9, and a red light, a sign and a crosswalk."""
    tracks = [
        pie_person("3_1_9", range(120), hidden=range(30, 40)),
        pie_person("3_1_10", range(120)),
        track(
            "traffic_light",
            [box(f, attributes={"id": "l", "type": "regular", "state": "red"}) for f in range(120)],
        ),
        track("sign", [box(5, attributes={"id": "s", "type": "ped_blue"})]),
        track("crosswalk", [box(7, attributes={"id": "c"})]),
    ]
    people = pie_attributes(id="3_1_9", intention_prob=0.1) + pie_attributes(
        id="3_1_10", crossing=1, intention_prob=0.5, traffic_direction="OW"
    )
    sensors = "".join(
        f'<frame id="{i}" OBD_speed="{12.5}" GPS_speed="12.0" heading_angle="1.0" latitude="43.0" '
        f'longitude="-79.0" accX="0" accY="-1.0" accZ="0.1" gyroX="0" gyroY="0" gyroZ="0.5" />'
        for i in range(120)
    )
    return {
        "annotations_attributes/set03/video_0001_attributes.xml": (
            f"<ped_attributes>{people}</ped_attributes>"
        ),
        "annotations/set03/video_0001_annt.xml": video_xml(tracks),
        "annotations_vehicle/set03/video_0001_obd.xml": f"<vehicle_info>{sensors}</vehicle_info>",
    }


def write_folder(root: Path, files: dict) -> Path:
    for name, text in files.items():
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    return root


def write_zip(target: Path, files: dict, prefix: str = "") -> Path:
    with zipfile.ZipFile(target, "w") as archive:
        for name, text in files.items():
            archive.writestr(prefix + name, text)
    return target


def write_tar(target: Path, folder: Path, prefix: str = "") -> Path:
    with tarfile.open(target, "w:gz") as archive:
        for file in sorted(folder.rglob("*")):
            archive.add(file, prefix + file.relative_to(folder).as_posix(), recursive=False)
    return target
