"""Data of the three tasks from records of Jaywalk's runs: people as a camera on the ego sees them.

Intention of scripted people is the task that the scenario gave to each person. A person who is to
cross and stands idle counts as intending to cross, even if nothing of it is visible. Intentions,
looks and reactions of people who react come from their decisions.

The surroundings of the ego are road, crosswalks, signs, its traffic light and the weather.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.carla_enums import LightState
from jaywalk.core.errors import DataError, PrerequisiteError
from jaywalk.core.seeds import derive_seed
from jaywalk.core.units import MPS_TO_KMH
from jaywalk.datasets.behaviour_tables import (
    BOX_SCHEMA,
    EGO_SCHEMA,
    LIGHT_GREEN,
    LIGHT_NONE,
    LIGHT_RED,
    LIGHT_YELLOW,
    PEDESTRIAN_SCHEMA,
    SCENE_SCHEMA,
    VIDEO_SCHEMA,
    BehaviourData,
    frame_of,
)
from jaywalk.datasets.semantic_map import CLASSES, SemanticMap
from jaywalk.forecasting.behaviour._sim_tags import PersonTags, reaction_tags, tag_columns
from jaywalk.forecasting.behaviour.sim_frames import (
    DashCamera,
    DashView,
    EgoFrames,
    Motion,
    body_boxes,
    covered_share,
    ego_words,
    person_boxes,
    read_frames,
    view_of,
)
from jaywalk.forecasting.behaviour.tasks import LONGEST_FRAMES, OBSERVED_FRAMES
from jaywalk.forecasting.context import class_at, town_map
from jaywalk.forecasting.splits import largest_remainder
from jaywalk.geometry.frames import carla_to_right_handed
from jaywalk.record import columns as c
from jaywalk.record import find_records
from jaywalk.record import open as open_record
from jaywalk.record.queries import announcements, first_weather, landmark_rows
from jaywalk.record.reader import Record
from jaywalk.town.town import town_from_opendrive

_ROAD = [CLASSES.index(name) for name in ("road", "bus lane", "cycle track", "zebra")]
_LIGHTS = {
    LightState.RED: LIGHT_RED,
    LightState.YELLOW: LIGHT_YELLOW,
    LightState.GREEN: LIGHT_GREEN,
}
_CELL_M = 0.25
_MARGIN_M = 30.0
_AHEAD_M = 40.0
_ASIDE_M = 12.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneContext:
    """Parts of a town that matter for behaviour, in CARLA's frame."""

    ground: SemanticMap
    crosswalks_m: FloatArray  # their middles, (n, 2)

    def on_road(self, points_m: FloatArray) -> NDArray[np.bool_]:
        """Return whether points ``(n, 2)`` lie on the carriageway; False for NaN."""
        known = np.isfinite(points_m).all(axis=1)
        found = np.zeros(len(points_m), bool)
        under = class_at(self.ground, carla_to_right_handed(points_m[known]))
        found[known] = np.isin(under, _ROAD)
        return found


def read_place(opendrive: Path, name: str) -> SceneContext:
    """Read a town from its OpenDRIVE file."""
    town = town_from_opendrive(opendrive.read_text("utf-8"), name)
    corners = carla_to_right_handed(np.concatenate([s.outer_m[:, :2] for s in town.strips]))
    low, high = corners.min(axis=0) - _MARGIN_M, corners.max(axis=0) + _MARGIN_M
    middles = [np.asarray(polygon)[:, :2].mean(axis=0) for polygon in town.crosswalks]
    return SceneContext(
        ground=town_map(opendrive, name, low, high, _CELL_M),
        crosswalks_m=np.array(middles, np.float64).reshape(-1, 2),
    )


def scene_rows(
    video: str, record: Record, frames: EgoFrames, ego: Motion, place: SceneContext
) -> list[dict[str, object]]:
    """Return signs and the ego's light at every frame."""
    stops = landmark_rows(record, "traffic.stop").select(c.X_M, c.Y_M).to_numpy()
    walk = _any_ahead(ego, place.crosswalks_m)
    stop = _any_ahead(ego, stops.astype(np.float64))
    light = _lights(record, frames)
    return [
        {
            "video": video,
            "frame": k,
            "ped_crossing": bool(walk[k]),
            "ped_sign": False,
            "stop_sign": bool(stop[k]),
            "light": light[k],
        }
        for k in range(len(frames.times_s))
    ]


def weather_words(record: Record) -> dict[str, str]:
    """Return time of day and weather in the datasets' words, from the first weather row."""
    first = first_weather(record)
    if not first:
        return {}
    night = (first["sun_altitude_angle"] or 0.0) < 0.0
    wet, cloudy = (first["precipitation"] or 0.0) > 10.0, (first["cloudiness"] or 0.0) > 50.0
    return {
        "time_of_day": "nighttime" if night else "daytime",
        "weather": "rain" if wet else "cloudy" if cloudy else "clear",
    }


def _any_ahead(ego: Motion, points_m: FloatArray) -> NDArray[np.bool_]:
    """Return for each frame whether a point lies ahead of the ego and not far aside."""
    is_ahead = np.zeros(len(ego.yaw_rad), bool)
    c, s = np.cos(ego.yaw_rad), np.sin(ego.yaw_rad)
    for x, y in points_m:
        dx, dy = x - ego.place_m[:, 0], y - ego.place_m[:, 1]
        ahead, aside = c * dx + s * dy, c * dy - s * dx
        is_ahead |= (ahead > 0.0) & (ahead < _AHEAD_M) & (np.abs(aside) < _ASIDE_M)
    return is_ahead


def _lights(record: Record, frames: EgoFrames) -> list[int]:
    ego = record.ego_states().select("tick", "at_light", "light_state").collect()
    by_tick = {
        tick: _LIGHTS.get(state, LIGHT_NONE) if at else LIGHT_NONE
        for tick, at, state in ego.iter_rows()
    }
    return [by_tick.get(int(tick), LIGHT_NONE) for tick in frames.ticks]


INTENTIONS: Final = {"not_crossing": 0.0, "attempting": 0.5, "crossing": 1.0}
SHARES: Final = {"train": 0.5, "val": 0.15, "test": 0.35}
_ON_ROAD_M = 2.0
_WALKING_MPS = 0.3
_PART, _FULL = 0.25, 0.75

Rows = dict[str, list[dict[str, object]]]


def export_runs(runs: Iterable[Path], camera: DashCamera | None = None) -> BehaviourData:
    """Export all episodes of some runs as a dataset called ``sim``.

    Args:
        runs: Folders of runs.
        camera: The camera on the ego.
    """
    rows: Rows = {name: [] for name in ("videos", "pedestrians", "boxes", "scene", "ego")}
    routes: dict[str, str] = {}
    places: dict[str, SceneContext] = {}
    for run in runs:
        folders = list(find_records(run))
        if not folders:
            raise PrerequisiteError(f"'{run}' holds no record; give the folder of a run.")
        for folder in folders:
            record = open_record(folder)
            video = f"{run.resolve().name}/{folder.name}"
            if video in routes:
                raise DataError(f"two runs give the video '{video}'; rename one of the folders")
            if record.episode.ego_actor is None:
                continue
            opendrive = record.shared_file("opendrive")
            if opendrive.name not in places:
                places[opendrive.name] = read_place(opendrive, record.episode.town)
            routes[video] = record.episode.scenario
            _add_episode(rows, record, video, camera or DashCamera(), places[opendrive.name])
    if not rows["boxes"]:
        raise DataError("no person is visible in these runs; are they of the suite habit?")
    return _assemble(rows, routes)


def _assemble(rows: Rows, routes: dict[str, str]) -> BehaviourData:
    boxes = frame_of(rows["boxes"], BOX_SCHEMA).sort("video", "pedestrian_id", "frame")
    return BehaviourData(
        dataset="sim",
        videos=frame_of(rows["videos"], VIDEO_SCHEMA),
        pedestrians=frame_of(rows["pedestrians"], PEDESTRIAN_SCHEMA).sort("video", "pedestrian_id"),
        boxes=boxes,
        scene=frame_of(rows["scene"], SCENE_SCHEMA),
        ego=frame_of(rows["ego"], EGO_SCHEMA),
        splits=split_routes(routes),
        defects=(),
    )


def split_routes(routes: dict[str, str]) -> dict[str, tuple[str, ...]]:
    """Assign whole routes to one split for all drivers, because they share the same people."""
    names = sorted(set(routes.values()), key=lambda r: derive_seed(0, "behaviour", "split", r))
    splits: dict[str, tuple[str, ...]] = {}
    start = 0
    for split, count in largest_remainder(len(names), SHARES).items():
        part = set(names[start : start + count])
        splits[split] = tuple(sorted(video for video, route in routes.items() if route in part))
        start += count
    return splits


def _add_episode(
    rows: Rows, record: Record, video: str, camera: DashCamera, place: SceneContext
) -> None:
    frames = read_frames(record)
    assert record.episode.ego_actor is not None
    ego = frames.motions[record.episode.ego_actor]
    view = view_of(camera, ego.place_m, ego.yaw_rad, ego.pitch_rad)
    speed = (ego.velocity_mps * view.forward).sum(-1)
    rows["videos"].append(
        {
            "video": video,
            "width_px": camera.width_px,
            "height_px": camera.height_px,
            "n_frames": len(frames.times_s),
            "road_type": "street",
            "location": record.episode.town,
        }
        | weather_words(record)
    )
    rows["ego"] += [
        {"video": video, "frame": k, "action": word, "obd_speed_kmh": max(v, 0.0) * MPS_TO_KMH}
        for k, (word, v) in enumerate(zip(ego_words(speed), speed.tolist(), strict=True))
    ]
    rows["scene"] += scene_rows(video, record, frames, ego, place)
    _add_people(rows, record, video, frames, view, place)


def _add_people(
    rows: Rows, record: Record, video: str, frames: EgoFrames, view: DashView, place: SceneContext
) -> None:
    ages, tags = _ages(record), reaction_tags(record, frames)
    people, others = {}, []
    for actor, body in frames.actors.items():
        if actor == record.episode.ego_actor:
            continue
        if body["kind"] == "vehicle":
            others.append((actor, *body_boxes(view, frames.corners_m(actor))))
        else:
            motion = frames.motions[actor]
            half_m = float(body["half_z_m"] or 0.9)
            people[actor] = person_boxes(view, motion.place_m, motion.velocity_mps, half_m)
    others += [(actor, *found) for actor, found in people.items()]
    for actor, (boxes, depth) in people.items():
        covered = np.zeros(len(boxes))
        for other, other_boxes, other_depth in others:
            if other != actor:
                share = covered_share(boxes, depth, other_boxes, other_depth)
                covered = np.maximum(covered, share)
        plane_m = frames.motions[actor].place_m[:, :2]
        own = tags.get(actor)
        crossing = crossing_frames(place.on_road(plane_m), plane_m) if own is None else own.crossing
        for number, part in enumerate(_stretches(np.isfinite(depth))):
            _add_person(
                rows,
                {
                    "video": video,
                    "pedestrian_id": f"{video}/{actor}-{number}",
                    "intended": frames.actors[actor]["intended_class"],
                    "age": ages.get(actor),
                },
                part,
                boxes[part],
                covered[part],
                crossing[part],
                np.linalg.norm(frames.motions[actor].velocity_mps[part, :2], axis=-1),
                own,
            )


def _add_person(
    rows: Rows,
    who: dict[str, Any],
    part: slice,
    boxes: FloatArray,
    covered: FloatArray,
    crossing: NDArray[np.bool_],
    speed_mps: FloatArray,
    tags: PersonTags | None,
) -> None:
    """Add the rows of one person while in view; scripted people have no tags of reactions."""
    entry = int(crossing.argmax()) if crossing.any() else None
    event = entry if entry is not None else max(len(boxes) - 3, 0)
    intended = who["intended"]
    first = part.start
    critical, decided, intention = event, None, INTENTIONS.get(intended)
    columns: list[dict[str, Any]] = [{}] * len(boxes)
    if tags is not None:
        before = np.flatnonzero(tags.commits[first : first + event + 1])
        decided = int(before[-1]) if len(before) and entry is not None else None
        critical = event if decided is None else decided
        intention = float(tags.intention[first + critical])
        columns = tag_columns(tags, part)
    rows["pedestrians"].append(
        {
            "video": who["video"],
            "pedestrian_id": who["pedestrian_id"],
            "kind": "behaviour" if intended in INTENTIONS else "bystander",
            "crossing": int(entry is not None),
            "crossing_point": None if entry is None else first + entry,
            "critical_point": first + critical,
            "exp_start_point": first + max(0, critical - LONGEST_FRAMES),
            "decision_point": None if decided is None else first + decided,
            "intention_prob": intention,
            "age": who["age"],
            "group_size": None if tags is None else tags.group_size,
            "n_boxes": len(boxes),
            "n_gaps": 0,
            "missing_crossing_point": False,
        }
    )
    level = np.where(covered >= _FULL, 2, np.where(covered >= _PART, 1, 0))
    rows["boxes"] += [
        {
            "video": who["video"],
            "pedestrian_id": who["pedestrian_id"],
            "frame": first + k,
            "xtl_px": box[0],
            "ytl_px": box[1],
            "xbr_px": box[2],
            "ybr_px": box[3],
            "occlusion": int(level[k]),
            "walking": int(speed_mps[k] > _WALKING_MPS),
            "cross": int(crossing[k]),
        }
        | columns[k]
        for k, box in enumerate(boxes.tolist())
    ]


def crossing_frames(on_road: NDArray[np.bool_], place_m: FloatArray) -> NDArray[np.bool_]:
    """Return whether each frame is in a stay on the road that leads 2 m or more from its start."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], on_road.astype(np.int8), [0]])))
    frames = np.zeros(len(on_road), bool)
    for start, end in edges.reshape(-1, 2):
        away = np.linalg.norm(place_m[start:end] - place_m[start], axis=-1)
        frames[start:end] = away.max() >= _ON_ROAD_M
    return frames


def _stretches(seen: NDArray[np.bool_]) -> list[slice]:
    """Return the runs of visible frames that are long enough for a window."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], seen.astype(np.int8), [0]])))
    return [slice(int(a), int(b)) for a, b in edges.reshape(-1, 2) if b - a >= OBSERVED_FRAMES]


def _ages(record: Record) -> dict[int, str]:
    return {
        note.actor: str(note.detail["age"])
        for note in announcements(record, kind="note")
        if note.actor is not None and note.detail.get("what") == "role" and "age" in note.detail
    }
