"""Crops of people from our cameras, with their activities.

Crops of 64 x 128 pixels of people on empty roads, in poses of the everyday library with gaze and
held things, for :mod:`studies.people_judge`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import matplotlib.image
import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.posed.repertoire import Repertoire, Use, read_repertoire
from jaywalk.core.arrays import FloatArray
from jaywalk.core.seeds import stream
from jaywalk.core.walker_attributes import CARRIES
from jaywalk.motion import everyday_library
from jaywalk.motion.carla_rigs import RIG_NAMES, Rig, rig_for_walker
from jaywalk.motion.library.reading import MotionLibrary
from jaywalk.motion.playback.holding import arm_tables, hold_things, holds_of
from jaywalk.motion.playback.overlay import MAX_TURN_RAD, bend_trunks, stoop_rad, turn_heads
from jaywalk.motion.retarget import DRIVEN, RigClip
from jaywalk.server.encoding.codec import DIALECTS
from jaywalk.server.sensors._readings import ImageReading
from jaywalk.server.sensors._rig import make_sensor
from jaywalk.server.session._simulation import Simulation
from jaywalk.server.session._world_view import WorldView
from jaywalk.server.world._tables import Actor, SpawnError
from jaywalk.server.world.blueprints import find, library
from jaywalk.town.ground import surface_height
from studies.single_objects import WEATHER, _simulation, clear_spots

CROP: Final = (128, 64)  # rows, columns
QUESTIONS: Final = ("looks", "phone", "child", "starts", "starts early")
_TOWN: Final = "Harbour"
_WIDTH_PX: Final = 1280
_HEIGHT_PX: Final = 540
_FOCAL_PX: Final = 960.0  # that of 1920 pixels and 90 degrees
_SLOTS_M: Final = (-7.2, -4.8, -2.4, 0.0, 2.4, 4.8, 7.2)
_SHOTS: Final = 4  # pictures of the same people, in other poses
_EYE_M: Final = 1.5
_LEAST_SEEN: Final = 0.95  # of the height, with margins


@dataclass(frozen=True, kw_only=True)
class Crop:
    """A person as seen, with the answers."""

    blueprint: str
    pixels: NDArray[np.uint8]
    earlier: NDArray[np.uint8]  # 0.25 s before
    answers: dict[str, bool | None]


class _Person:
    """A walker in the scene and what it may show."""

    def __init__(self, simulation: Simulation, blueprint: str, carries: str, place: Any) -> None:
        item = find(blueprint)
        self.age = str(item.value("age"))
        self.child = self.age == "child"
        self.phone = "phone" in carries
        self.rig: Rig = rig_for_walker({n: item.value(n) for n in ("gender", "age")})
        self.carries = carries
        self.blueprint = blueprint
        values = {CARRIES: carries}
        self.actor: Actor = simulation.spawn(DIALECTS["0.9.16"], blueprint, values, place)

    def pose(self, clip: RigClip, frame: int, gaze: tuple[float, float]) -> FloatArray:
        """All bones in a frame of a clip, with stoop, gaze and held things."""
        turns = clip.turns[frame : frame + 1].copy()
        bend_trunks(turns, np.array([stoop_rad(self.age, self.blueprint)]))
        turn_heads(turns, np.array([gaze]))
        hips = clip.hips_m[frame : frame + 1].copy()
        rigs = np.array([RIG_NAMES.index(self.rig.name)], np.int64)
        holds = holds_of([(self.rig.name, self.carries)])
        hold_things(turns, hips, rigs, arm_tables(), holds)
        local = np.array(self.rig.rest_local)
        local[[self.rig.bone_index[name] for name in DRIVEN], 3:] = turns[0]
        local[self.rig.bone_index["crl_hips__C"], :3] = hips[0]
        return local


def first_step(clip: RigClip) -> int:
    """Frame in which the first foot lands ahead: the step is done."""
    joints = clip.joints_m()
    feet = joints[:, [_toe(clip.rig, side) for side in "LR"], :2]
    speed = np.linalg.norm(np.gradient(feet, axis=0), axis=-1) * clip.rate_hz
    moved = np.linalg.norm(feet - feet[0], axis=-1)
    landed = (moved > 0.2) & (speed < 0.4)
    return int(np.argmax(landed.any(axis=1))) if landed.any() else -1


def lift_off(clip: RigClip) -> int:
    """Frame in which the first foot begins to move ahead."""
    joints = clip.joints_m()
    feet = joints[:, [_toe(clip.rig, side) for side in "LR"], :2]
    away = np.linalg.norm(feet - feet[0], axis=-1).max(axis=1)
    return int(np.argmax(away > 0.05)) if (away > 0.05).any() else -1


def _toe(rig: str, side: str) -> int:
    from jaywalk.motion.carla_rigs import load_rig

    return load_rig(rig).bone_index[f"crl_toe__{side}"]


class _Studio:
    """Scenes of one town with one camera."""

    def __init__(self, near_m: float, far_m: float) -> None:
        self.motions: MotionLibrary = everyday_library()
        self.repertoire: Repertoire = read_repertoire(self.motions)
        self.simulation = _simulation(_TOWN)
        self.view = WorldView(self.simulation.world)
        self.near_m, self.far_m = near_m, far_m
        fov = math.degrees(2.0 * math.atan(0.5 * _WIDTH_PX / _FOCAL_PX))
        lens = {"image_size_x": str(_WIDTH_PX), "image_size_y": str(_HEIGHT_PX), "fov": str(fov)}
        self.rgb = make_sensor("sensor.camera.rgb", lens, 0, 0)
        self.instances = make_sensor("sensor.camera.instance_segmentation", lens, 0, 0)

    def shoot(self, eye: Any, yaw_deg: float) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Colours and actor numbers of a picture."""
        simulation = self.simulation
        pose = (eye, (0.0, yaw_deg, 0.0))
        camera = simulation.spawn(DIALECTS["0.9.16"], "sensor.camera.rgb", {}, pose)
        try:
            scene = self.view.scene(WEATHER["day"])
            images = []
            for sensor in (self.rgb, self.instances):
                (reading,) = sensor.measure(scene, camera.row, 1, 0.0, 0.05)
                assert isinstance(reading, ImageReading)
                images.append(reading.pixels)
        finally:
            simulation.destroy(camera.id)
        number = images[1][..., 1].astype(np.int64) + 256 * images[1][..., 0].astype(np.int64)
        return images[0][..., :3], number

    def scene(self, number: int, blueprints: Sequence[str]) -> list[Crop]:
        """All crops of one group of people."""
        random = stream(0, "people-judge", number)
        spots = clear_spots(_TOWN)
        world = self.simulation.world
        (x, y, z), (_, yaw_deg, _) = world.spawn_points[spots[number % len(spots)]]
        z = surface_height(world.town.ground, x, y, z)
        turn = math.radians(yaw_deg)
        eye = (x, y, z + _EYE_M)
        people: list[_Person] = []
        places = []
        for slot in _SLOTS_M:
            ahead = float(random.uniform(self.near_m, self.far_m))
            aside = slot * ahead / 15.0
            px = x + ahead * math.cos(turn) - aside * math.sin(turn)
            py = y + ahead * math.sin(turn) + aside * math.cos(turn)
            blueprint = blueprints[int(random.integers(len(blueprints)))]
            half = find(blueprint).body.half_extents_m[2]
            pz = surface_height(world.town.ground, px, py, z) + half
            carries = ("call phone", "phone", "", "")[int(random.integers(4))]
            try:
                where = ((px, py, pz), (0.0, 0.0, 0.0))
                people.append(_Person(self.simulation, blueprint, carries, where))
            except SpawnError:
                continue
            places.append((px, py))
        crops: list[Crop] = []
        try:
            for _ in range(_SHOTS):
                crops += self._shot(people, places, eye, yaw_deg, random)
        finally:
            for person in people:
                self.simulation.destroy(person.actor.id)
        return crops

    def _shot(
        self,
        people: Sequence[_Person],
        places: Sequence[tuple[float, float]],
        eye: Any,
        yaw_deg: float,
        random: np.random.Generator,
    ) -> list[Crop]:
        world = self.simulation.world
        played = []
        for person, (px, py) in zip(people, places, strict=True):
            to_eye = math.atan2(eye[1] - py, eye[0] - px)
            # people about to cross: the camera is on their left or right
            side = 1.0 if random.random() < 0.5 else -1.0
            away = side * math.radians(float(random.uniform(35.0, 100.0)))
            heading = to_eye + away
            looks = bool(random.random() < 0.5)
            ahead = math.radians(float(random.normal(0.0, 12.0)))
            yaw = float(np.clip(-away, -MAX_TURN_RAD, MAX_TURN_RAD)) if looks else ahead
            pitch = -0.5 if person.phone and not looks and "call" not in person.carries else 0.0
            clip, frame, early, answers = self._choose(person, random)
            answers |= {"looks": looks, "phone": person.phone, "child": person.child}
            world.columns.table[person.actor.row]["yaw"] = math.degrees(heading)
            played.append((clip, frame, early, (yaw, pitch), answers))
        images = []
        for earlier in (True, False):
            for person, now in zip(people, played, strict=True):
                pose = person.pose(now[0], now[2] if earlier else now[1], now[3])
                world.people.show(person.actor.id, pose)
            images.append(self.shoot(eye, yaw_deg))
        crops = []
        for person, now in zip(people, played, strict=True):
            box = _box(images[1][1], person.actor.id)
            row = world.columns.table[person.actor.row]
            away = math.hypot(row["x"] - eye[0], row["y"] - eye[1])
            if box is None or box[2] < _LEAST_SEEN * _FOCAL_PX * person.rig.height_m / away:
                continue  # behind a pole, or cut by the edge of the picture
            cut = [_crop(picture, box) for picture, _ in images]
            crops.append(
                Crop(blueprint=person.blueprint, pixels=cut[1], earlier=cut[0], answers=now[4])
            )
        return crops

    def _choose(
        self, person: _Person, random: np.random.Generator
    ) -> tuple[RigClip, int, int, dict[str, bool | None]]:
        """A clip with a frame, the frame 0.25 s before, and what it says about starting."""
        starts = self.repertoire.moves_of("start", person.child)
        kind = int(random.integers(4))
        answers: dict[str, bool | None] = {"starts": None, "starts early": None}
        if kind < 2 and starts:
            clip = self._clip(_any(starts, random), person)
            marks = (first_step(clip), lift_off(clip))
            back = round(0.5 * clip.rate_hz)
            frame = marks[kind] - back
            if marks[kind] > 0 and frame >= 0:
                answers["starts" if kind == 0 else "starts early"] = True
                return clip, frame, max(frame - round(0.25 * clip.rate_hz), 0), answers
        idles = self.repertoire.fitting(self.repertoire.idle, person.child)
        clip = self._clip(_any(idles, random), person)
        frame = int(random.integers(6, len(clip.turns)))
        answers |= {"starts": False, "starts early": False}
        return clip, frame, frame - round(0.25 * clip.rate_hz), answers

    def _clip(self, use: Use, person: _Person) -> RigClip:
        return self.motions.on_rig(use.name, person.rig.name)


def _any(uses: Sequence[Use], random: np.random.Generator) -> Use:
    return uses[int(random.integers(len(uses)))]


def _box(numbers: NDArray[np.int64], actor_id: int) -> tuple[int, int, int, int] | None:
    rows, columns = np.nonzero(numbers == actor_id & 0xFFFF)
    if len(rows) < 40:
        return None
    top, bottom = int(rows.min()), int(rows.max()) + 1
    middle = 0.5 * (columns.min() + columns.max() + 1)
    height = round(1.12 * (bottom - top))
    first = round(0.5 * (top + bottom - height))
    left = round(middle - 0.25 * height)
    return first, left, height, max(round(0.5 * height), 1)


def _crop(picture: NDArray[np.uint8], box: tuple[int, int, int, int]) -> NDArray[np.uint8]:
    """The box scaled to 64 x 128 pixels, bilinearly; beyond the picture its edge."""
    top, left, height, width = box
    v = top + (np.arange(CROP[0]) + 0.5) * height / CROP[0] - 0.5
    u = left + (np.arange(CROP[1]) + 0.5) * width / CROP[1] - 0.5
    v = np.clip(v, 0.0, picture.shape[0] - 1.001)
    u = np.clip(u, 0.0, picture.shape[1] - 1.001)
    i, j = v.astype(int), u.astype(int)
    a, b = (v - i)[:, None, None], (u - j)[None, :, None]
    p = picture.astype(np.float64)
    out = (1 - a) * ((1 - b) * p[np.ix_(i, j)] + b * p[np.ix_(i, j + 1)])
    out += a * ((1 - b) * p[np.ix_(i + 1, j)] + b * p[np.ix_(i + 1, j + 1)])
    return np.asarray(np.rint(out), np.uint8)


def save_crops(crops: Sequence[Crop], path: Path) -> None:
    """Write crops, so that they need not be rendered again."""
    answers = [[crop.answers[q] for q in QUESTIONS] for crop in crops]
    np.savez_compressed(
        path,
        pixels=np.stack([crop.pixels for crop in crops]),
        earlier=np.stack([crop.earlier for crop in crops]),
        answers=np.array([[np.nan if a is None else float(a) for a in row] for row in answers]),
        blueprints=np.array([crop.blueprint for crop in crops]),
    )


def load_crops(path: Path) -> list[Crop]:
    """Read what :func:`save_crops` wrote."""
    with np.load(path, allow_pickle=False) as file:
        rows = zip(
            file["pixels"], file["earlier"], file["answers"], file["blueprints"], strict=True
        )
        return [
            Crop(
                blueprint=str(name),
                pixels=now,
                earlier=before,
                answers={
                    q: None if math.isnan(a) else bool(a)
                    for q, a in zip(QUESTIONS, row.tolist(), strict=True)
                },
            )
            for now, before, row, name in rows
        ]


def save_sheet(crops: Sequence[Crop], path: Path) -> None:
    """Write a picture of the first crops."""
    rows = []
    for first in range(0, min(len(crops), 96), 16):
        row = [crop.pixels for crop in crops[first : first + 16]]
        rows.append(np.concatenate(row + [row[0] * 0] * (16 - len(row)), axis=1))
    matplotlib.image.imsave(path, np.concatenate(rows)[..., ::-1])


def render(scenes: int, near_m: float, far_m: float) -> list[Crop]:
    """Crops of groups of up to seven people in a range of distances."""
    studio = _Studio(near_m, far_m)
    everybody = sorted(
        item.id for item in library("0.9.16") if item.id.startswith("walker.pedestrian.")
    )
    children = [name for name in everybody if find(name).value("age") == "child"]
    adults = [name for name in everybody if name not in children]
    mixed = [*adults, *children * max(1, round(0.5 * len(adults) / max(len(children), 1)))]
    return [crop for number in range(scenes) for crop in studio.scene(number, mixed)]
