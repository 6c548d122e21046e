"""Datasets from records of Jaywalk's runs: people around the ego at 10 Hz, plans and maps.

CARLA's left-handed metres and degrees become right-handed metres and radians here. The yaws of head
and chest of posed people follow from clip, phase and rig. Every exported track gets metadata:
crossing, place, distance, lights, stratum and split.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.errors import DataError, PrerequisiteError
from jaywalk.datasets.semantic_map import CLASSES, SemanticMap
from jaywalk.datasets.trajectories import META, Trajectories, assemble
from jaywalk.forecasting._record_sight import (
    PosingLibraries,
    angle_rows,
    looks_at,
    occluded_people,
)
from jaywalk.forecasting.context import class_at, town_map
from jaywalk.forecasting.splits import split_scenes
from jaywalk.geometry.frames import carla_to_right_handed, carla_yaw_to_rad
from jaywalk.record import columns as c
from jaywalk.record import find_records
from jaywalk.record import open as open_record
from jaywalk.record.reactions import ego_reactions
from jaywalk.record.reader import Record
from jaywalk.record.tracks import EpisodeTracks, TenthTicks, read_tracks, tenth_ticks

_ROAD = [CLASSES.index(name) for name in ("road", "bus lane", "cycle track", "zebra")]
_ZEBRA, _ISLAND = CLASSES.index("zebra"), CLASSES.index("refuge island")
_NEAR_M = 15.0
_ON_ROAD_M = 2.0


def with_meta(
    data: Trajectories, at_light: Mapping[str, list[int]], scripted: Mapping[str, frozenset[str]]
) -> Trajectories:
    """Fill ``meta``; each scene goes to one split, in proportion within each course.

    Args:
        data: Tracks, ego and maps.
        at_light: Tenths at which the ego of a scene was under a traffic light.
        scripted: Tracks of people that a scenario moves, by scene.
    """
    places = {
        (scene, k): (x, y, yaw, front)
        for scene, k, x, y, yaw, front in data.ego.select(
            "scene_id", "k", "x", "y", "yaw", "front_overhang"
        ).iter_rows()
    }
    rows = []
    for track in data.tracks.partition_by("scene_id", "track_id", maintain_order=True):
        scene, name = track["scene_id"][0], track["track_id"][0]
        row = {"scene_id": scene, "track_id": name, "n": len(track), **_walk(data, track)}
        row |= _nearest(track, [places[scene, k] for k in track["k"]])
        row["traffic_light"] = bool(set(at_light[scene]) & set(track["k"]))
        row["actor"] = name in scripted[scene]
        row["course"] = track["course_id"][0]
        rows.append(row)
    splits = split_scenes({row["scene_id"]: row["course"] for row in rows})
    for row in rows:
        row["split"] = splits[row["scene_id"]]
        parts = (
            "crossing" if row["crossing"] else "staying",
            "near" if row["min_distance"] < _NEAR_M else "far",
            "front" if row["in_front"] else "behind",
            row.pop("course"),
        )
        row["stratum"] = "/".join(parts)
    return replace(data, meta=pl.DataFrame(rows, schema=META))


def _walk(data: Trajectories, track: pl.DataFrame) -> dict[str, object]:
    """Return whether a person crosses (at least 2 m on the road), and on a zebra or an island."""
    course = data.maps.get(track["course_id"][0])
    if course is None:
        return {"crossing": None, "location": None}
    points = track.select("x", "y").to_numpy()
    under = class_at(course, points)
    on_road = np.isin(under, _ROAD)
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    crossing = bool(steps[on_road[1:] & on_road[:-1]].sum() >= _ON_ROAD_M)
    if not crossing:
        return {"crossing": False, "location": None}
    seen = [name for name, number in (("zebra", _ZEBRA), ("island", _ISLAND)) if number in under]
    return {"crossing": True, "location": "+".join(seen) or "open"}


def _nearest(
    track: pl.DataFrame, ego: list[tuple[float, float, float, float]]
) -> dict[str, object]:
    """Return the least distance to the ego's reference point, and whether it was in front."""
    poses = np.array(ego)
    away = track.select("x", "y").to_numpy() - poses[:, :2]
    distance = np.linalg.norm(away, axis=1)
    i = int(distance.argmin())
    ahead = away[i, 0] * np.cos(poses[i, 2]) + away[i, 1] * np.sin(poses[i, 2])
    return {"min_distance": float(distance[i]), "in_front": bool(ahead > poses[i, 3])}


Plans = dict[tuple[str, str, int], FloatArray]

_EGO_ID = "ego"
_COLUMNS: Final = (c.AX_MPS2, c.AY_MPS2, c.AT_LIGHT)
_MARGIN_M = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneFacts:
    """Facts about an episode besides its tables."""

    course: str
    opendrive: Path
    at_light: list[int]
    actors: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ExportedScene:
    """Tables and facts of one episode."""

    people: pl.DataFrame
    ego: pl.DataFrame
    plans: Plans
    facts: SceneFacts


def export_records(
    runs: Iterable[Path],
    *,
    range_m: float = 60.0,
    cell_m: float = 0.1,
    motions: Iterable[Path] = (),
) -> Trajectories:
    """Export all episodes of some runs as one dataset.

    Args:
        runs: Folders of runs or of single records.
        range_m: People farther from the ego are left out.
        cell_m: Side of a cell of the maps.
        motions: Motion libraries that posed people, besides the packaged one.
    """
    libraries = PosingLibraries(motions)
    people: list[pl.DataFrame] = []
    vehicles: list[pl.DataFrame] = []
    plans: Plans = {}
    facts: dict[str, SceneFacts] = {}
    excluded: Counter[str] = Counter()
    for run in runs:
        folders = list(find_records(run))
        if not folders:
            raise PrerequisiteError(f"'{run}' holds no record; give the folder of a run.")
        for folder in folders:
            scene = f"sim/{run.resolve().name}/{folder.name}"
            if scene in facts:
                raise DataError(f"two runs give the scene '{scene}'; rename one of the folders")
            exported = _scene(open_record(folder), scene, range_m, libraries, excluded)
            if exported is not None:
                people.append(exported.people)
                vehicles.append(exported.ego)
                plans |= exported.plans
                facts[scene] = exported.facts
    if not people:
        raise DataError(f"no record has people within {range_m:g} m of an ego: {dict(excluded)}")
    libraries.check_all_used()
    data = assemble(people, vehicles, excluded=excluded)
    data = replace(data, paths=plans, maps=_maps(data, facts, cell_m))
    at_light = {scene: fact.at_light for scene, fact in facts.items()}
    scripted = {scene: fact.actors for scene, fact in facts.items()}
    return with_meta(data, at_light, scripted)


def _scene(
    record: Record,
    scene: str,
    range_m: float,
    libraries: PosingLibraries,
    excluded: Counter[str],
) -> _ExportedScene | None:
    episode = record.episode
    if episode.ego_actor is None:
        excluded["episode without an ego"] += 1
        return None
    tenths = tenth_ticks(record)
    times = pl.DataFrame(tenths._asdict(), schema={"tick": pl.Int32, "k": pl.Int64})
    moving = pl.col(c.KIND).is_in(["vehicle", "walker"])
    tracks = read_tracks(record, only=moving, tick=tenths.tick, columns=_COLUMNS)
    states = tracks.states.rows.with_columns(pl.Series("k", tenths.k[tracks.states.tick_at]))
    ego = _ego(tracks, tenths.k, scene)
    actors = tracks.bodies.filter(pl.col("kind") == "walker")
    rows = states.join(angle_rows(record, libraries, excluded), on=["actor", "tick"], how="left")
    rows = rows.join(occluded_people(record, tracks), on=["actor", "tick"], how="left")
    rows = rows.join(_reacted(record, tenths), on=["actor", "k"], how="left")
    people = _people(rows, actors, ego, scene, episode.town, range_m)
    if len(people) == 0:
        excluded["episode without people in range"] += 1
        return None
    scripted = actors.filter(
        (pl.col("role_name") == "scenario") | pl.col("intended_class").is_not_null()
    )
    lit = states.filter(
        (pl.col("actor") == episode.ego_actor) & pl.col("at_light").fill_null(False)
    )
    facts = SceneFacts(
        course=episode.town,
        opendrive=record.shared_file("opendrive"),
        at_light=lit["k"].to_list(),
        actors=frozenset(f"{scene}/{actor}" for actor in scripted["actor"]),
    )
    plans = _plans(record, times, ego, scene)
    return _ExportedScene(people=people, ego=ego, plans=plans, facts=facts)


def _reacted(record: Record, tenths: TenthTicks) -> pl.DataFrame:
    """Return by person and tenth of a second whether they changed a decision because of the ego."""
    rows = ego_reactions(record)
    at = np.searchsorted(tenths.tick, rows["tick"].to_numpy())
    inside = at < len(tenths.tick)
    rows = rows.filter(inside).with_columns(pl.Series("k", tenths.k[at[inside]], pl.Int64))
    people = rows.group_by("actor", "k").agg(pl.col("reacted").any())
    # People of the model who take no part for a while do not react then.
    known = people.select("actor").unique()
    tenth = pl.DataFrame({"k": tenths.k}, schema={"k": pl.Int64})
    every = known.join(tenth, how="cross")
    joined = every.join(people, on=["actor", "k"], how="left")
    return joined.with_columns(pl.col("reacted").fill_null(value=False))


def _ego(tracks: EpisodeTracks, k: IntArray, scene: str) -> pl.DataFrame:
    body = tracks.bodies.row(tracks.ego, named=True)
    half = body["half_x_m"] or 0.0
    centre = body["offset_x_m"] or 0.0
    axle = body["rear_axle_x_m"]
    rear = axle if axle is not None else centre - 0.6 * half
    yaw = carla_yaw_to_rad(tracks.values(tracks.ego, c.YAW_DEG)[:, 0])
    forward = np.stack([np.cos(yaw), np.sin(yaw)], axis=1)

    def plane(x: str, y: str) -> FloatArray:
        return carla_to_right_handed(tracks.values(tracks.ego, x, y))

    place = plane(c.X_M, c.Y_M) + rear * forward
    return pl.DataFrame(
        {
            "scene_id": scene,
            "ego_id": _EGO_ID,
            "k": k[tracks.seen(tracks.ego)],
            "x": place[:, 0],
            "y": place[:, 1],
            "yaw": yaw,
            "v": (plane(c.VX_MPS, c.VY_MPS) * forward).sum(axis=1),
            "a": (plane(c.AX_MPS2, c.AY_MPS2) * forward).sum(axis=1),
            "length": 2.0 * half,
            "width": 2.0 * (body["half_y_m"] or 0.0),
            "front_overhang": centre + half - rear,
        }
    )


def _people(
    states: pl.DataFrame,
    actors: pl.DataFrame,
    ego: pl.DataFrame,
    scene: str,
    course: str,
    range_m: float,
) -> pl.DataFrame:
    """Return the rows of people while they are in range."""
    rows = states.filter(pl.col("actor").is_in(actors["actor"].to_list())).sort("actor", "k")
    if len(rows) == 0:
        return pl.DataFrame()
    places = carla_to_right_handed(rows.select("x_m", "y_m").to_numpy().astype(np.float64))
    table = pl.DataFrame(
        {
            "scene_id": scene,
            "course_id": course,
            "track_id": [f"{scene}/{actor}" for actor in rows["actor"]],
            "k": rows["k"],
            "x": places[:, 0],
            "y": places[:, 1],
            "head_rad": rows["head_rad"],
            "body_rad": rows["body_rad"],
            "occluded": rows["occluded"],
            "reacted": rows["reacted"],
            "source": "sim",
        }
    )
    vehicle = ego.select("k", "yaw", "length", "front_overhang", ex="x", ey="y")
    near = table.join(vehicle, on="k", how="inner").filter(
        (pl.col("x") - pl.col("ex")) ** 2 + (pl.col("y") - pl.col("ey")) ** 2 <= range_m**2
    )
    return _with_gaze(near).drop(vehicle.columns[1:]).sort("track_id", "k")


def _with_gaze(near: pl.DataFrame) -> pl.DataFrame:
    """Add whether each head faces the ego; null for people without a head angle."""
    yaw = near["yaw"].to_numpy()
    forward = np.stack([np.cos(yaw), np.sin(yaw)], axis=1)
    axle = near.select("ex", "ey").to_numpy()
    front_m = near["front_overhang"].to_numpy()
    looks = looks_at(
        near["head_rad"].to_numpy(),
        near.select("x", "y").to_numpy(),
        axle + (front_m - near["length"].to_numpy())[:, None] * forward,
        axle + front_m[:, None] * forward,
    )
    known = pl.col("head_rad").is_not_null()
    return near.with_columns(pl.when(known).then(pl.Series(looks)).alias("looks_at_ego"))


def _plans(record: Record, times: pl.DataFrame, ego: pl.DataFrame, scene: str) -> Plans:
    """Return planned paths from the rear axle, by the tenth of a second of the plan."""
    rows = record.ego.select("tick", "path_x_m", "path_y_m").collect()
    rows = rows.join(times, on="tick", how="inner").filter(pl.col("path_x_m").list.len() >= 2)
    at = {k: (x, y) for k, x, y in ego.select("k", "x", "y").iter_rows()}
    plans: Plans = {}
    last: FloatArray | None = None
    for _, xs, ys, k in rows.iter_rows():
        path = carla_to_right_handed(np.stack([np.asarray(xs), np.asarray(ys)], axis=1))
        if last is not None and np.array_equal(path, last):
            continue
        last = path
        start = np.array(at.get(k, path[0]))
        # A path that begins ahead of the axle would leave the ego outside of it.
        if np.linalg.norm(path[0] - start) > 0.1:
            path = np.concatenate([start[None], path])
        plans[scene, _EGO_ID, int(k)] = path
    return plans


def _maps(
    data: Trajectories, facts: dict[str, SceneFacts], cell_m: float
) -> dict[str, SemanticMap]:
    """Return one map per town, around all people seen there."""
    maps = {}
    for course in sorted({fact.course for fact in facts.values()}):
        scenes = [fact for fact in facts.values() if fact.course == course]
        files = {fact.opendrive.name: fact.opendrive for fact in scenes}
        if len(files) > 1:
            raise DataError(f"the town '{course}' differs between runs; export them one by one")
        seen = data.tracks.filter(pl.col("course_id") == course).select("x", "y").to_numpy()
        low, high = seen.min(axis=0) - _MARGIN_M, seen.max(axis=0) + _MARGIN_M
        (file,) = files.values()
        maps[course] = town_map(file, course, low, high, cell_m)
    return maps
