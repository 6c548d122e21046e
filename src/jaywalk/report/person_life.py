"""Pictures of a posed person over an episode, from the record alone: a strip of moments and a film.

The left view is from a camera at the kerb, the right view from above; both draw flat polygons. They
show the person and all surrounding bodies, with bones recomputed from clip and phase. Dots on the
ground mark the balls of the feet in the last seconds: a standing foot leaves one dot, a sliding
foot a line.

Frame: CARLA's, left-handed, in metres.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import shapely
from PIL import Image, ImageDraw, ImageFont
from shapely.geometry import Point

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError, UsageError
from jaywalk.metrics.safety.person_hits import NAME, Story, read_stories
from jaywalk.metrics.safety.posed import PosedPerson, posed_people
from jaywalk.motion.carla_rigs import load_rig
from jaywalk.motion.playback.bank import ClipBank
from jaywalk.motion.retarget import DRIVEN
from jaywalk.record import Record
from jaywalk.record import columns as c
from jaywalk.record.queries import announcements, contact_rows
from jaywalk.report._scene import DrawnBody, Scene, read_scene
from jaywalk.report.ground_plan import SURFACES, ground_plan, rings_of, town_of
from jaywalk.report.replay import FilmEncoder
from jaywalk.report.svg import claim
from jaywalk.town.ground import surface_height
from jaywalk.town.town import Town

_NEAR_M: Final = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class KerbCamera:
    """Pinhole camera at a place, directed along a yaw.

    Attributes:
        place_m: x, y, z of the eye.
        focal_px: Focal length.
        size_px: Width and height.
        tilt_rad: Downward tilt.
    """

    place_m: tuple[float, float, float]
    yaw_rad: float
    focal_px: float
    size_px: tuple[int, int]
    tilt_rad: float = 0.0

    def see(self, points_m: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Pixels (n, 2) and depths (n,) of points (n, 3); behind the eye depths are negative."""
        forward, right, up = self._axes(points_m)
        depth = np.maximum(forward, 1e-6)
        u = 0.5 * self.size_px[0] + self.focal_px * right / depth
        v = 0.5 * self.size_px[1] - self.focal_px * up / depth
        return np.column_stack([u, v]), forward

    def outline(self, ring_m: FloatArray) -> FloatArray:
        """Pixels of a ring (n, 3), cut off where it passes behind the eye; may be empty."""
        forward, right, up = self._axes(ring_m)
        shape = np.column_stack([forward, right, up])
        kept: list[FloatArray] = []
        for a, b in zip(shape, np.roll(shape, -1, axis=0), strict=True):
            if a[0] >= _NEAR_M:
                kept.append(a)
            if (a[0] >= _NEAR_M) != (b[0] >= _NEAR_M):
                kept.append(a + (_NEAR_M - a[0]) / (b[0] - a[0]) * (b - a))
        if len(kept) < 3:
            return np.zeros((0, 2))
        cut = np.array(kept)
        u = 0.5 * self.size_px[0] + self.focal_px * cut[:, 1] / cut[:, 0]
        v = 0.5 * self.size_px[1] - self.focal_px * cut[:, 2] / cut[:, 0]
        return np.column_stack([u, v])

    def _axes(self, points_m: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        d = points_m - np.array(self.place_m)
        cos, sin = math.cos(self.yaw_rad), math.sin(self.yaw_rad)
        level, right = d[:, 0] * cos + d[:, 1] * sin, d[:, 1] * cos - d[:, 0] * sin
        ct, st = math.cos(self.tilt_rad), math.sin(self.tilt_rad)
        return level * ct - d[:, 2] * st, right, level * st + d[:, 2] * ct


@dataclass(frozen=True, slots=True, kw_only=True)
class SkyCamera:
    """Straight from above: ``up_rad`` is the yaw that points up in the picture."""

    middle_m: tuple[float, float]
    up_rad: float
    px_per_m: float
    size_px: tuple[int, int]

    def see(self, points_m: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Pixels (n, 2) of points (n, 2 or 3), and ones."""
        d = points_m[:, :2] - np.array(self.middle_m)
        cos, sin = math.cos(self.up_rad), math.sin(self.up_rad)
        up, right = d[:, 0] * cos + d[:, 1] * sin, d[:, 1] * cos - d[:, 0] * sin
        u = 0.5 * self.size_px[0] + self.px_per_m * right
        v = 0.5 * self.size_px[1] - self.px_per_m * up
        return np.column_stack([u, v]), np.ones(len(u))

    def outline(self, ring_m: FloatArray) -> FloatArray:
        """Pixels of a ring."""
        return self.see(ring_m)[0]


Camera = KerbCamera | SkyCamera


_KERB_PX: Final = (860, 480)
_SKY_PX: Final = (480, 480)
_BAR_PX: Final = 40
_FINE: Final = 2  # drawn larger, then made smaller: smooth lines
_REACH_M: Final = 34.0
_LYING_M: Final = 0.12
_EYE_M: Final = 1.7
_BACK_M: Final = 7.5
_TRAIL_TICKS: Final = 60
_VEHICLE_M: Final = 1.5  # height drawn
_COLOURS: Final = {
    "ground": "#e8e6df",
    "verge": "#d5dfc8",
    "walk": "#cfccc4",
    "road": "#9b9fa6",
    "parking": "#a8abb0",
    "cycle": "#c9a9a0",
    "stripe": "#f2f2ee",
    "box": "#b8a99a",
    "ego": "#1d6fb8",
    "vehicle": "#f4f4f4",
    "prop": "#c08a2e",
    "walker": "#d1679f",
}
_LEFT, _RIGHT, _MIDDLE = "#c2410c", "#0f766e", "#1d2430"
_ENDS: Final = ("crl_toe__L", "crl_toe__R", "crl_hand__L", "crl_hand__R", "crl_Head__C")


class PersonStage:
    """Both views of one person; the cameras do not move, so that sliding feet are visible."""

    def __init__(
        self,
        scene: Scene,
        town: Town,
        person: PosedPerson,
        story: Story,
        people: Mapping[int, PosedPerson],
    ) -> None:
        """Place the cameras.

        Args:
            scene: All bodies of the episode.
            town: Town that provides the ground.
            person: Person to show.
            story: Planned behaviour of the person.
            people: All posed people; they are drawn with their bones, too.
        """
        self._scene, self._ground = scene, town.ground
        self._person, self._story, self._people = person, story, people
        way = person.motion.actor
        far = int(np.hypot(*(way[:, :2] - way[0, :2]).T).argmax())
        middle = 0.5 * (way[0, :3] + way[far, :3])
        d = way[far, :2] - way[0, :2]
        yaw = math.atan2(d[1], d[0]) if np.hypot(*d) > 1.0 else float(way[0, 3])
        span = max(float(np.hypot(*d)), 4.0)
        self._kerb = _beside(way[0, :3], middle, yaw, span)
        scale = 0.82 * _SKY_PX[1] * _FINE / (span + 5.0)
        self._sky = SkyCamera(
            middle_m=(float(middle[0]), float(middle[1])),
            up_rad=yaw,
            px_per_m=scale,
            size_px=_larger(_SKY_PX),
        )
        plan = ground_plan(town).cut(Point(*middle[:2]).buffer(_REACH_M))
        self._plan, self._z_m = plan, float(middle[2])
        self._back = [self._background(camera) for camera in (self._kerb, self._sky)]
        self._joints: dict[int, FloatArray] = {}

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height of a picture."""
        return _KERB_PX[0] + _SKY_PX[0], _KERB_PX[1] + _BAR_PX

    def draw(self, tick: int, what: str) -> Image.Image:
        """One moment."""
        picture = Image.new("RGB", self.size_px, "white")
        left = 0
        views: tuple[tuple[Camera, Image.Image, tuple[int, int]], ...] = (
            (self._kerb, self._back[0], _KERB_PX),
            (self._sky, self._back[1], _SKY_PX),
        )
        for camera, back, size in views:
            view = back.copy()
            self._people_and_things(ImageDraw.Draw(view), camera, tick)
            picture.paste(view.resize(size, Image.Resampling.LANCZOS), (left, _BAR_PX))
            left += size[0]
        ImageDraw.Draw(picture).text((10, 10), self._caption(tick, what), "#1d2430", _font())
        return picture

    def _caption(self, tick: int, what: str) -> str:
        k = self._row(self._person, tick)
        person, row = self._person, self._scene.row_of_tick(tick)
        story = self._story
        who = f"person {person.actor}: {story.intended} ({story.subcategory})"
        words = [f"{self._scene.time_s[row]:6.2f} s", what or "-", who]
        if k is not None:
            join = f", joining {person.weight[k]:.2f}" if person.weight[k] < 1.0 else ""
            words.append(f"{person.clip[k]} at {person.phase[k]:.2f}{join}")
        else:
            words.append("released")
        ego = self._scene.ego
        if ego is not None and ego.at(row) is not None:
            words.append(f"ego {ego.speed_mps[row - ego.first]:.1f} m/s")
        return "   ".join(words)

    @staticmethod
    def _row(person: PosedPerson, tick: int) -> int | None:
        k = tick - int(person.tick[0])
        return k if 0 <= k < len(person.tick) else None

    # -- fixed parts -----------------------------------------------------------------------------

    def _background(self, camera: Camera) -> Image.Image:
        picture = Image.new("RGB", camera.size_px, _COLOURS["ground"])
        draw = ImageDraw.Draw(picture)
        if isinstance(camera, KerbCamera):
            draw.rectangle((0, 0, camera.size_px[0], self._horizon()), fill="#dfe8f0")
        for name in SURFACES:
            if name in self._plan.surfaces:
                for part in shapely.get_parts(self._plan.surfaces[name]):
                    self._surface(picture, camera, rings_of(part), _COLOURS[name])
        for ring in self._plan.stripes:
            _fill(draw, camera.outline(self._on_ground(ring)), _COLOURS["stripe"])
        if isinstance(camera, SkyCamera):
            for ring in self._plan.boxes:
                _fill(draw, camera.outline(ring), _COLOURS["box"])
        return picture

    def _surface(
        self, picture: Image.Image, camera: Camera, rings: list[FloatArray], colour: str
    ) -> None:
        """Fill the first ring but not the others, its holes, and draw their edges: kerbs."""
        mask = Image.new("L", camera.size_px, 0)
        outlines = [camera.outline(self._on_ground(ring)) for ring in rings]
        for outline, level in zip(outlines, ["#ffffff", *["#000000"] * len(rings)], strict=False):
            _fill(ImageDraw.Draw(mask), outline, level)
        picture.paste(colour, (0, 0), mask)
        for outline in outlines:
            if len(outline):
                points = [tuple(p) for p in np.clip([*outline, outline[0]], -1e5, 1e5)]
                ImageDraw.Draw(picture).line(points, fill="#7d8087", width=2)

    def _horizon(self) -> int:
        camera = self._kerb
        return int(0.5 * camera.size_px[1] - camera.focal_px * math.tan(camera.tilt_rad))

    def _on_ground(self, ring: FloatArray) -> FloatArray:
        heights = [surface_height(self._ground, float(x), float(y), self._z_m) for x, y in ring]
        return np.column_stack([ring, heights])

    # -- moving parts ----------------------------------------------------------------------------

    def _people_and_things(self, draw: ImageDraw.ImageDraw, camera: Camera, tick: int) -> None:
        row = self._scene.row_of_tick(tick)
        self._footprints(draw, camera, tick)
        near = []
        for body in self._scene.bodies:
            pose = body.at(row)
            if pose is None or body.actor == self._person.actor:
                continue
            if np.hypot(*(pose[:2] - np.array(self._sky.middle_m))) < _REACH_M:
                depth = float(camera.see(np.array([[pose[0], pose[1], self._z_m]]))[1][0])
                near.append((depth, body, pose))
        me = self._row(self._person, tick)
        place = self._person.motion.actor[-1 if me is None else me, :3]
        mine = float(camera.see(place[None])[1][0])
        for depth, body, pose in sorted(near, key=lambda one: -one[0]):
            if depth > mine:
                self._body(draw, camera, body, pose, tick)
        mine_pose = next(
            (b.at(row) for b in self._scene.bodies if b.actor == self._person.actor), None
        )
        self._bones(draw, camera, self._person, self._joints_at(self._person, tick, mine_pose), 5)
        for depth, body, pose in sorted(near, key=lambda one: -one[0]):
            if depth <= mine:  # bodies in front must not hide the person
                self._body(draw, camera, body, pose, tick, hollow=isinstance(camera, KerbCamera))

    def _body(
        self,
        draw: ImageDraw.ImageDraw,
        camera: Camera,
        body: DrawnBody,
        pose: FloatArray,
        tick: int,
        *,
        hollow: bool = False,
    ) -> None:
        posed = self._people.get(body.actor)
        if posed is not None:
            self._bones(draw, camera, posed, self._joints_at(posed, tick, pose), 3)
            return
        height = 1.7 if body.is_walker else _VEHICLE_M if body.kind != "prop" else 1.0
        z = surface_height(self._ground, float(pose[0]), float(pose[1]), self._z_m)
        cos, sin = math.cos(pose[2]), math.sin(pose[2])
        hx, hy = body.half_m
        corners = np.array([(hx, hy), (hx, -hy), (-hx, -hy), (-hx, hy)])
        flat = pose[:2] + corners @ np.array([[cos, sin], [-sin, cos]])
        low, high = (np.column_stack([flat, np.full(4, level)]) for level in (z, z + height))
        colour = _COLOURS[body.kind]
        sides = [
            np.vstack([low[[a, b]], high[[b, a]]]) for a, b in ((0, 1), (1, 2), (2, 3), (3, 0))
        ]
        sides.sort(key=lambda side: -float(camera.see(side)[1].mean()))
        for side in [*sides, high] if isinstance(camera, KerbCamera) else [high]:
            edge = colour if hollow else "#3a3f47"
            _fill(draw, camera.outline(side), None if hollow else colour, edge)

    def _bones(
        self,
        draw: ImageDraw.ImageDraw,
        camera: Camera,
        person: PosedPerson,
        joints: FloatArray,
        width: int,
    ) -> None:
        pixels, depth = camera.see(joints)
        if depth.min() < 0.4:
            return
        for a, b, colour in _lines(person.motion.rig):
            draw.line([tuple(pixels[a]), tuple(pixels[b])], fill=colour, width=width)
        head = load_rig(person.motion.rig).bone_index["crl_Head__C"]
        scale = camera.focal_px / depth[head] if isinstance(camera, KerbCamera) else camera.px_per_m
        u, v = pixels[head]
        size = 0.1 * scale
        draw.ellipse((u - size, v - 2 * size, u + size, v), outline=_MIDDLE, width=width)

    def _footprints(self, draw: ImageDraw.ImageDraw, camera: Camera, tick: int) -> None:
        person = self._person
        k = min(tick - int(person.tick[0]), len(person.tick) - 1)
        rig = load_rig(person.motion.rig)
        joints = self._joints_of(person)[max(k - _TRAIL_TICKS, 0) : max(k, 0) + 1]
        for name, colour in (("crl_toe__L", _LEFT), ("crl_toe__R", _RIGHT)):
            bone = rig.bone_index[name]
            low = joints[:, bone, 2] - person.motion.actor[k, 2] < 0.06
            pixels, depth = camera.see(joints[low, bone])
            for (u, v), far in zip(pixels, depth, strict=True):
                if far > 0.4:
                    draw.ellipse((u - 2, v - 2, u + 2, v + 2), fill=colour)

    def _joints_at(self, person: PosedPerson, tick: int, pose: FloatArray | None) -> FloatArray:
        """Return joints at a tick; a person knocked down lies on the back at the recorded place."""
        k = tick - int(person.tick[0])
        joints: FloatArray = self._joints_of(person)[min(max(k, 0), len(person.tick) - 1)]
        if k < len(person.tick) or pose is None:
            return joints
        x, y, z, yaw = person.motion.actor[-1]
        cos, sin = math.cos(yaw), math.sin(yaw)
        dx, dy, up = joints[:, 0] - x, joints[:, 1] - y, joints[:, 2] - z
        ahead, aside = dx * cos + dy * sin, dy * cos - dx * sin
        along = 0.5 * up.max() - up  # the feet where the person looked, the head behind
        return np.column_stack(
            [
                pose[0] + along * cos - aside * sin,
                pose[1] + along * sin + aside * cos,
                z + _LYING_M + np.clip(ahead, 0.0, 0.3),
            ]
        )

    def _joints_of(self, person: PosedPerson) -> FloatArray:
        if person.actor not in self._joints:
            self._joints[person.actor] = person.motion.joints_m()
        return self._joints[person.actor]


def _beside(start: FloatArray, middle: FloatArray, yaw: float, span: float) -> KerbCamera:
    """Return a camera at the kerb where a person starts, directed across the road at their path."""
    back = max(_BACK_M, 0.85 * span)
    x = float(start[0] - math.sin(yaw) * back - 2.0 * math.cos(yaw))
    y = float(start[1] + math.cos(yaw) * back - 2.0 * math.sin(yaw))
    ahead = math.atan2(float(middle[1]) - y, float(middle[0]) - x)
    width, height = _larger(_KERB_PX)
    away = math.hypot(float(middle[0]) - x, float(middle[1]) - y)
    focal = min(0.85 * width * away / (span + 4.0), 0.75 * height * away / 2.4)
    return KerbCamera(
        place_m=(x, y, float(start[2]) + _EYE_M),
        yaw_rad=ahead,
        focal_px=focal,
        size_px=(width, height),
        tilt_rad=math.atan2(_EYE_M - 0.9, away),
    )


def _larger(size_px: tuple[int, int]) -> tuple[int, int]:
    return size_px[0] * _FINE, size_px[1] * _FINE


def _fill(
    draw: ImageDraw.ImageDraw, ring_px: FloatArray, colour: str | None, edge: str | None = None
) -> None:
    if len(ring_px) >= 3:
        clipped = np.clip(ring_px, -1e5, 1e5)
        draw.polygon([tuple(point) for point in clipped], fill=colour, outline=edge)


@cache
def _lines(rig_name: str) -> tuple[tuple[int, int, str], ...]:
    rig = load_rig(rig_name)
    lines = []
    for name in (*list(DRIVEN)[1:], *(end for end in _ENDS if end in rig.bone_index)):
        bone = rig.bone_index[name]
        colour = _LEFT if name.endswith("L") else _RIGHT if name.endswith("R") else _MIDDLE
        lines.append((int(rig.parents[bone]), bone, colour))
    return tuple(lines)


@cache
def _font() -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(17)


_FRAMES_PER_S: Final = 20
_IDLE_S: Final = 1.5  # before the trigger
_BLEND_S: Final = 0.3  # after it
_COLUMNS: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeMoment:
    """Something that happened to a person."""

    what: str
    tick: int
    time_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """Person of an episode, with the data needed to draw them."""

    record: Record
    scene: Scene
    stage: PersonStage
    person: PosedPerson
    story: Story
    moments: tuple[LifeMoment, ...]


def read_life(record: Record, bank: ClipBank, actor: int | None) -> Life:
    """Read one person; None selects the most eventful one (contact, detour, crossing).

    Raises:
        UsageError: The record has no such posed person.
        DataError: The record has no map.
    """
    people = {person.actor: person for person in posed_people(record, bank)}
    if not people:
        raise UsageError(f"{record.folder}: nobody was posed by clips; record a run of habit.")
    if actor is not None and actor not in people:
        known = ", ".join(map(str, people))
        raise UsageError(f"--person {actor} is nobody who was posed. There are: {known}.")
    stories = read_stories(record)
    moments = {number: _moments(record, stories[number], people[number]) for number in people}
    if actor is None:
        actor = max(people, key=lambda number: (_worth(moments[number]), -number))
    town = town_of(record)
    if town is None:
        raise DataError(f"{record.folder} contains no map, so the street cannot be drawn.")
    scene = read_scene(record)
    person, story = people[actor], stories[actor]
    return Life(
        record=record,
        scene=scene,
        stage=PersonStage(scene, town, person, story, people),
        person=person,
        story=story,
        moments=moments[actor],
    )


def _worth(moments: tuple[LifeMoment, ...]) -> int:
    points = {"contact": 8, "walks round something": 4, "on the road": 2, "trigger": 1}
    return sum(points.get(moment.what, 0) for moment in moments)


def _moments(record: Record, story: Story, person: PosedPerson) -> tuple[LifeMoment, ...]:
    step_s = record.episode.step_s or 0.05
    last = int(person.tick[-1])
    moments: dict[str, int] = {}
    if story.trigger_tick is not None:
        moments["idle"] = max(story.trigger_tick - round(_IDLE_S / step_s), int(person.tick[0]))
        moments["trigger"] = story.trigger_tick
        moments["blend"] = min(story.trigger_tick + round(_BLEND_S / step_s), last)
    if story.on_road:
        begin, end = story.on_road[0]
        moments["on the road"] = (begin + (last if end is None else end)) // 2
    for tick, what in _announced(record, story.actor):
        if what == "rerouted":
            moments.setdefault("walks round something", min(tick + round(1.0 / step_s), last))
        elif what in ("crossed", "back", "strolled"):
            moments["arrived"] = min(tick + round(0.5 / step_s), last)
    hit = _contact(record, story.actor)
    if hit is not None:
        moments["contact"] = hit
    times = dict(record.ticks.select(c.TICK, c.TIME_S).collect().iter_rows())
    rows = [
        LifeMoment(what=what, tick=tick, time_s=float(times.get(tick, 0.0)))
        for what, tick in moments.items()
    ]
    return tuple(sorted(rows, key=lambda moment: moment.tick))


def _announced(record: Record, actor: int) -> list[tuple[int, str]]:
    events = (event for event in announcements(record, name=NAME) if event.actor == actor)
    return [(event.tick, event.detail.get("what", "")) for event in events]


def _contact(record: Record, actor: int) -> int | None:
    ticks = contact_rows(record, actor)[c.TICK].to_list()
    return int(ticks[0]) if ticks else None


def write_life_strip(life: Life, path: Path) -> None:
    """Write the moments as one PNG, two a row."""
    shown = life.moments or (LifeMoment(what="idle", tick=int(life.person.tick[0]), time_s=0.0),)
    cells = [life.stage.draw(moment.tick, moment.what) for moment in shown]
    width, height = cells[0].size
    rows = -(-len(cells) // _COLUMNS)
    sheet = Image.new("RGB", (_COLUMNS * width, rows * height), "white")
    for k, cell in enumerate(cells):
        sheet.paste(cell, (k % _COLUMNS * width, k // _COLUMNS * height))
    sheet.save(claim(path), format="PNG", optimize=True)


def write_life_film(life: Life, path: Path, seconds: float) -> int:
    """Write a film in real time around the events and return the number of frames."""
    step_s = life.record.episode.step_s or 0.05
    stride = max(1, round(1.0 / (_FRAMES_PER_S * step_s)))
    ticks = life.person.tick
    busy = [m.tick for m in life.moments if m.what != "arrived"] or [int(ticks[0])]
    first = max(int(min(busy)) - round(1.0 / step_s), int(ticks[0]))
    last = min(first + round(seconds / step_s), int(ticks[-1]) + round(3.0 / step_s))
    last = min(last, int(life.scene.ticks[-1]))
    chosen = range(first, last + 1, stride)
    rate = Fraction(1.0 / (step_s * stride)).limit_denominator(1000)
    said = {moment.tick: moment.what for moment in life.moments}
    what = ""
    with FilmEncoder(path, rate, life.stage.size_px) as encoder:
        for tick in chosen:
            what = next((said[t] for t in range(tick, tick - stride, -1) if t in said), what)
            encoder.add(np.asarray(life.stage.draw(tick, what)))
    return len(chosen)
