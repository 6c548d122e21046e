"""Drawing of a posed person and all surrounding bodies at one tick, from the kerb and from above.

Both views draw flat polygons. Dots on the ground mark the balls of the feet in the last seconds: a
standing foot leaves one dot, a sliding foot a line.

Frame: CARLA's, left-handed, in metres.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Final

import numpy as np
import shapely
from PIL import Image, ImageDraw, ImageFont
from shapely.geometry import Point

from jaywalk.core.arrays import FloatArray
from jaywalk.metrics.safety.person_hits import Story
from jaywalk.metrics.safety.posed import PosedPerson
from jaywalk.motion.carla_rigs import load_rig
from jaywalk.motion.retarget import DRIVEN
from jaywalk.report._kerb_cameras import Camera, KerbCamera, SkyCamera, camera_beside
from jaywalk.report._scene import DrawnBody, Scene
from jaywalk.report.ground_plan import SURFACES, ground_plan, rings_of
from jaywalk.town.ground import surface_height
from jaywalk.town.town import Town

_KERB_PX: Final = (860, 480)
_SKY_PX: Final = (480, 480)
_BAR_PX: Final = 40
_FINE: Final = 2  # drawn larger, then made smaller: smooth lines
_REACH_M: Final = 34.0
_LYING_M: Final = 0.12
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
        self._kerb = camera_beside(way[0, :3], middle, yaw, span, _larger(_KERB_PX))
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
