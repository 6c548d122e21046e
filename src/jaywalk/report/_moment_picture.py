"""One moment of an episode from above, as SVG: the ground, all bodies and their recent paths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import shapely

from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.box import box_points
from jaywalk.report._scene import DrawnBody, Scene
from jaywalk.report._series import corners
from jaywalk.report.ground_plan import SURFACES, GroundPlan, rings_of
from jaywalk.report.svg import INK, drawing, el, path_of, text, text_width

WIDTH: Final = 380.0
HEIGHT: Final = 270.0
_SCALE: Final = 7.6  # px per metre
_GHOSTS_S: Final = (2.0, 1.5, 1.0, 0.5)
_ARROW_S: Final = 1.0
_HIT_ROWS: Final = 2  # a contact this near to the moment belongs to it
SURFACE_FILLS: Final = {
    "verge": "#d7e0c6",
    "walk": "#ddd8ce",
    "road": "#aab0b8",
    "parking": "#b5bbc7",
    "cycle": "#c6a79b",
}
GROUND_FILL: Final = "#e9eee0"
BODY_FILLS: Final = {"ego": "#1d6fb8", "vehicle": "#f4f4f2", "walker": "#e11d74", "prop": "#c98a2b"}
LIGHT_FILLS: Final = ("#d92d20", "#f5a524", "#1e9e5a", "#555555", "#555555")
Onto = Callable[[FloatArray], FloatArray]  # metres to pixels


def moment_picture(scene: Scene, row: int, plan: GroundPlan | None, *, title: str) -> str:
    """Draw a row of the scene; outlines that fade show the two seconds before."""
    x, y = middle_of(scene, row)
    half = WIDTH / 2.0 / _SCALE, HEIGHT / 2.0 / _SCALE

    def onto(points: FloatArray) -> FloatArray:
        return (np.asarray(points, float)[..., :2] - (x - half[0], y - half[1])) * _SCALE

    window = shapely.box(x - half[0], y - half[1], x + half[0], y + half[1])
    parts = [el("rect", width=WIDTH, height=HEIGHT, fill=GROUND_FILL, class_="g-land")]
    if plan is not None:
        parts += _ground(plan.cut(window.buffer(1.0)), onto)
    if len(scene.route_m) > 1:
        parts.append(
            el(
                "path",
                d=path_of(onto(scene.route_m)),
                fill="none",
                stroke="#1d6fb8",
                stroke_width=2,
                stroke_dasharray="1 6",
                stroke_linecap="round",
                opacity=0.75,
            )
        )
    parts += _lights(scene, row, onto)
    parts += [
        _star(onto(np.array([hit.place_m]))[0])
        for hit in scene.hits
        if abs(hit.row - row) <= _HIT_ROWS
    ]
    parts += _bodies(scene, row, onto, window.buffer(4.0))
    parts += [_scale_bar(), _legend(scene, row)]
    return drawing(WIDTH, HEIGHT, parts, title=title)


def middle_of(scene: Scene, row: int) -> tuple[float, float]:
    """Return a point between the ego and the body it hits at that moment, or ahead of the ego."""
    x, y = scene.focus(row)
    ego = scene.ego
    if ego is None:
        return x, y
    near = [hit.place_m for hit in scene.hits if abs(hit.row - row) <= _HIT_ROWS]
    if near:
        return 0.5 * (x + near[0][0]), 0.5 * (y + near[0][1])
    pose = ego.at(row)
    yaw = 0.0 if pose is None else float(pose[2])
    return x + 6.0 * np.cos(yaw), y + 6.0 * np.sin(yaw)


def _ground(plan: GroundPlan, at: Onto) -> list[str]:
    parts = []
    for name in SURFACES:
        if name in plan.surfaces:
            data = "".join(path_of(at(ring), close=True) for ring in rings_of(plan.surfaces[name]))
            parts.append(
                el(
                    "path",
                    d=data,
                    fill=SURFACE_FILLS[name],
                    fill_rule="evenodd",
                    class_=f"g-{name}",
                )
            )
    stripes = "".join(path_of(at(stripe), close=True) for stripe in plan.stripes)
    parts.append(el("path", d=stripes, fill="#ffffff", class_="g-paint") if stripes else "")
    for colour, stroke in (("yellow", "#f2c230"), ("", "#ffffff")):
        lines = [line for line, paint in plan.lines if (paint == "yellow") == bool(colour)]
        data = "".join(path_of(at(line)) for line in lines)
        if data:
            parts.append(
                el(
                    "path",
                    d=data,
                    fill="none",
                    stroke=stroke,
                    stroke_width=1.1,
                    class_="g-yellow" if colour else "g-line",
                )
            )
    boxes = "".join(path_of(at(box), close=True) for box in plan.boxes)
    if boxes:
        parts.append(
            el(
                "path",
                d=boxes,
                fill="#cbbfae",
                stroke="#a3978a",
                stroke_width=0.6,
                class_="g-block",
            )
        )
    for tx, ty, radius in np.column_stack([at(plan.crowns), plan.crowns[:, 2] * _SCALE]):
        parts.append(
            el(
                "circle",
                cx=round(tx, 1),
                cy=round(ty, 1),
                r=round(radius, 1),
                fill="#9db985",
                opacity=0.55,
                class_="g-tree",
            )
        )
    return parts


def _lights(scene: Scene, row: int, at: Onto) -> list[str]:
    """Draw a bar across the lane at every stop line of a light."""
    parts = []
    for light in scene.lights:
        colour = LIGHT_FILLS[light.state_at(row)]
        for x, y, yaw, half in light.stops:
            place, across = np.array([x, y]), half * np.array([-np.sin(yaw), np.cos(yaw)])
            ends = at(np.array([place - across, place + across]))
            if (ends > -20).all() and (ends < WIDTH + 20).all():
                (x1, y1), (x2, y2) = np.round(ends, 1)
                parts.append(
                    el(
                        "line",
                        x1=x1,
                        y1=y1,
                        x2=x2,
                        y2=y2,
                        stroke=colour,
                        stroke_width=3.4,
                        stroke_linecap="round",
                    )
                )
    return parts


def _bodies(scene: Scene, row: int, at: Onto, window: shapely.Polygon) -> list[str]:
    parts = []
    # Props are drawn first, the ego and people last.
    order = {"prop": 0, "vehicle": 1, "ego": 2, "walker": 3}
    for body in sorted(scene.bodies, key=lambda b: order[b.kind]):
        pose = body.at(row)
        if pose is None or not window.contains(shapely.Point(pose[:2])):
            continue
        if body.kind != "prop":
            parts += _ghosts(scene, body, row, at)
        parts.append(_shape(body, pose, at))
        if float(body.speed_mps[row - body.first]) > 0.3 and body.kind != "prop":
            parts.append(_arrow(body, row, at))
    return parts


def _ghosts(scene: Scene, body: DrawnBody, row: int, at: Onto) -> list[str]:
    parts = []
    for seconds in _GHOSTS_S:
        before = scene.row_at(float(scene.time_s[row]) - seconds)
        pose = body.at(before) if scene.time_s[row] - scene.time_s[0] >= seconds else None
        if pose is None or np.hypot(*(pose[:2] - body.pose[row - body.first, :2])) < 0.4:
            continue
        opacity = round(0.62 - 0.22 * seconds, 2)
        parts.append(_shape(body, pose, at, ghost=opacity))
    return parts


def _shape(body: DrawnBody, pose: FloatArray, at: Onto, ghost: float = 0.0) -> str:
    fill = BODY_FILLS[body.kind]
    edge = fill if ghost and body.kind != "vehicle" else INK
    style: dict[str, object] = {"fill": "none" if ghost else fill, "stroke": edge}
    style |= {"stroke_width": 1.0, "opacity": ghost or None}
    if edge == INK:
        style["class_"] = "g-body" if ghost or body.kind != "vehicle" else "g-body g-vehicle"
    if body.is_round:
        x, y = np.round(at(pose[None])[0], 1)
        radius = max(body.half_m[0] * _SCALE, 3.4)
        return el("circle", cx=x, cy=y, r=round(radius, 1), **style)
    if body.kind == "prop":
        outline = corners(pose[None], body.half_m)[0]
    else:
        outline = pointed(pose, body.half_m)
    return el("path", d=path_of(at(outline), close=True), stroke_linejoin="round", **style)


def pointed(pose: FloatArray, half_m: tuple[float, float]) -> FloatArray:
    """Return the outline of a vehicle, with chamfered front corners that show its heading."""
    shares = np.array([(-1, -1), (0.72, -1), (1, -0.6), (1, 0.6), (0.72, 1), (-1, 1)])
    return box_points(pose[:2], np.cos(pose[2]), np.sin(pose[2]), half_m, shares)


def _arrow(body: DrawnBody, row: int, at: Onto) -> str:
    """Draw an arrow to the position of the body in one second at its speed."""
    k = row - body.first
    pose, speed = body.pose[k], float(body.speed_mps[k])
    step = body.pose[k, :2] - body.pose[max(k - 1, 0), :2]
    long = float(np.hypot(*step))
    ahead = step / long if long > 1e-3 else np.array([np.cos(pose[2]), np.sin(pose[2])])
    tip = pose[:2] + ahead * speed * _ARROW_S
    side = np.array([-ahead[1], ahead[0]])
    head = [tip - 0.8 * ahead + 0.4 * side, tip, tip - 0.8 * ahead - 0.4 * side]
    data = path_of(at(np.array([pose[:2], tip]))) + path_of(at(np.array(head)))
    return el(
        "path",
        d=data,
        fill="none",
        stroke=INK,
        stroke_width=1.3,
        stroke_linecap="round",
        class_="g-arrow",
    )


def _legend(scene: Scene, row: int) -> str:
    """Draw speeds of the ego and of bodies it hits in a corner, since labels would overlap."""
    struck = {hit.contact.other for hit in scene.hits if abs(hit.row - row) <= _HIT_ROWS}
    shown = [body for body in scene.bodies if body.kind == "ego" or body.actor in struck]
    words = []
    for body in shown:
        if body.at(row) is not None:
            what = {"ego": "ego", "walker": "person"}.get(body.kind, body.kind)
            speed = float(body.speed_mps[row - body.first])
            words.append((BODY_FILLS[body.kind], f"{what} {speed:.1f} m/s"))
    wide = 26.0 + max((text_width(name) for _, name in words), default=0.0)
    parts = [
        el(
            "rect",
            x=6,
            y=6,
            width=round(wide, 1),
            height=8 + 16 * len(words),
            rx=4,
            fill="#ffffff",
            opacity=0.88,
            class_="g-card",
        )
    ]
    for k, (colour, name) in enumerate(words):
        y = 22.0 + 16.0 * k
        parts.append(el("circle", cx=16, cy=y - 4.0, r=4, fill=colour, stroke=INK))
        parts.append(text(25.0, y, name, size=11.0))
    return "".join(parts) if words else ""


def _star(place: FloatArray) -> str:
    """A burst where bodies touched."""
    angles = np.linspace(0.0, 2.0 * np.pi, 17)[:-1]
    radius = np.where(np.arange(16) % 2 == 0, 17.0, 8.0)
    points = place + np.column_stack([radius * np.cos(angles), radius * np.sin(angles)])
    return el(
        "path",
        d=path_of(points, close=True),
        fill="#ffd43b",
        stroke="#b3261e",
        stroke_width=1.2,
        opacity=0.8,
    )


def _scale_bar() -> str:
    long = 10.0 * _SCALE
    x, y = WIDTH - 14.0 - long, HEIGHT - 12.0
    bar = el(
        "path",
        d=f"M{x} {y - 4}V{y}H{x + long}V{y - 4}",
        fill="none",
        stroke=INK,
        stroke_width=1.4,
        class_="g-arrow",
    )
    return bar + text(
        x + long / 2.0, y - 5.0, "10 m", size=10.0, text_anchor="middle", class_="g-scale"
    )
