"""Figures of one episode for print: its time series, and a moment from above."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.metrics.driving.summary import EpisodeScore
from jaywalk.record.reader import open_record
from jaywalk.report._episode_cards import frames_of, moment_of
from jaywalk.report._moment_picture import (
    BODY_FILLS,
    GROUND_FILL,
    LIGHT_FILLS,
    SURFACE_FILLS,
    middle_of,
    pointed,
)
from jaywalk.report._scene import DrawnBody, Scene, read_scene
from jaywalk.report._series import corners, ego_series
from jaywalk.report.ground_plan import SURFACES, ground_plan, rings_of, town_of
from jaywalk.report.scored_runs import ScoredRun
from jaywalk.report.svg import BETTER, NEITHER, SERIES, WORSE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HALF_M: Final = (25.0, 17.5)  # half of the window of a moment
_HIT_ROWS: Final = 2
_ORDER: Final = {"prop": 0, "vehicle": 1, "ego": 2, "walker": 3}


def draw_series(figure: Figure, run: ScoredRun, episode: EpisodeScore) -> None:
    """Draw four panels over game time; dashed lines where infractions were counted."""
    folder = run.episode_folder(episode)
    assert folder is not None  # callers choose episodes with a record
    scene = read_scene(open_record(folder))
    series = ego_series(scene, frames_of(scene))
    if series is None:
        raise UsageError(f"Episode '{episode.episode_id}' has no ego, so it has no series.")
    panels = figure.subplots(4, 1, sharex=True)
    blue, pink = SERIES[1], SERIES[3]
    lines: tuple[tuple[str, tuple[tuple[FloatArray, str, str, str], ...]], ...] = (
        (
            "speed (m/s)",
            (
                (series.speed_limit_mps, NEITHER, "limit", ":"),
                (series.speed_mps, blue, "speed", "-"),
            ),
        ),
        (
            "pedals",
            ((series.throttle, BETTER, "throttle", "-"), (series.brake, WORSE, "brake", "--")),
        ),
        (
            "gap (m)",
            (
                (series.person_m, pink, "nearest person", "--"),
                (series.gap_m, blue, "gap ahead", "-"),
            ),
        ),
        ("TTC (s)", ((series.ttc_s, WORSE, "time to collision", "-"),)),
    )
    for axes, (label, values) in zip(panels, lines, strict=True):
        for data, colour, name, dashes in values:
            axes.plot(series.time_s, data, color=colour, label=name, linestyle=dashes)
        for event in episode.infractions:
            axes.axvline(event.time_s, color=WORSE, linestyle=(0, (2, 2)), linewidth=0.7)
        axes.set_ylabel(label)
        axes.set_ylim(0.0, 1.05 if label == "pedals" else None)
        if len(values) > 1:
            place = {"loc": "lower right", "bbox_to_anchor": (1.0, 0.94), "borderpad": 0.0}
            axes.legend(ncols=2, **place)
    panels[-1].set_xlim(float(series.time_s[0]), float(series.time_s[-1]))
    panels[-1].set_xlabel("time (s)")


def draw_moment(figure: Figure, run: ScoredRun, episode: EpisodeScore) -> None:
    """Draw the ground, all bodies and the route at the critical moment of an episode."""
    import shapely

    folder = run.episode_folder(episode)
    assert folder is not None  # callers choose episodes with a record
    record = open_record(folder)
    scene = read_scene(record)
    moment = moment_of(episode, scene, ego_series(scene, frames_of(scene)))
    x, y = middle_of(scene, moment.row)
    axes = figure.add_subplot()
    axes.set_facecolor(GROUND_FILL)
    town = town_of(record)
    if town is not None:
        window = shapely.box(x - 30.0, y - 25.0, x + 30.0, y + 25.0)
        _ground(axes, ground_plan(town).cut(window))
    if len(scene.route_m) > 1:
        axes.plot(*scene.route_m.T, color=BODY_FILLS["ego"], linestyle=":", linewidth=1.2)
    _lights(axes, scene, moment.row)
    for hit in scene.hits:
        if abs(hit.row - moment.row) <= _HIT_ROWS:
            axes.plot(
                *hit.place_m, "*", markersize=15, color="#ffd43b", markeredgecolor=WORSE, zorder=4
            )
    for body in sorted(scene.bodies, key=lambda one: _ORDER[one.kind]):
        _body(axes, body, moment.row)
    axes.plot([x + 13.0, x + 23.0], [y + 15.8] * 2, color="black", linewidth=1.2, zorder=6)
    axes.text(x + 18.0, y + 15.2, "10 m", ha="center", va="bottom", fontsize=6.5, zorder=6)
    axes.set_title(moment.words, loc="left", fontsize=7.0)
    axes.set_xlim(x - _HALF_M[0], x + _HALF_M[0])
    axes.set_ylim(y + _HALF_M[1], y - _HALF_M[1])  # y points right of x in CARLA's frame
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])


def _ground(axes: Axes, plan: Any) -> None:
    from matplotlib.patches import PathPatch, Polygon
    from matplotlib.path import Path

    for name in SURFACES:
        if name in plan.surfaces:
            rings = [Path(ring[:, :2]) for ring in rings_of(plan.surfaces[name]) if len(ring)]
            if rings:
                whole = Path.make_compound_path(*rings)
                axes.add_patch(PathPatch(whole, color=SURFACE_FILLS[name], linewidth=0.0))
    for stripe in plan.stripes:
        axes.add_patch(Polygon(stripe[:, :2], color="white", linewidth=0.0))
    for line, paint in plan.lines:
        colour = "#f2c230" if paint == "yellow" else "white"
        axes.plot(*line[:, :2].T, color=colour, linewidth=0.7)
    for box in plan.boxes:
        axes.add_patch(Polygon(box[:, :2], facecolor="#cbbfae", edgecolor="#a3978a", linewidth=0.4))


def _lights(axes: Axes, scene: Scene, row: int) -> None:
    for light in scene.lights:
        colour = LIGHT_FILLS[light.state_at(row)]
        for x, y, yaw, half in light.stops:
            across = half * np.array([-np.sin(yaw), np.cos(yaw)])
            middle = np.array([x, y])
            ends = np.array([middle - across, middle + across])
            axes.plot(*ends.T, color=colour, linewidth=2.0)


def _body(axes: Axes, body: DrawnBody, row: int) -> None:
    from matplotlib.patches import Circle, Polygon

    pose = body.at(row)
    if pose is None:
        return
    style: dict[str, Any] = {
        "facecolor": BODY_FILLS[body.kind],
        "edgecolor": "black",
        "linewidth": 0.5,
        "zorder": 5,
    }
    if body.is_round:
        axes.add_patch(Circle((pose[0], pose[1]), max(body.half_m[0], 0.45), **style))
        return
    outline = (
        corners(pose[None], body.half_m)[0] if body.kind == "prop" else pointed(pose, body.half_m)
    )
    axes.add_patch(Polygon(outline, **style))
    k = row - body.first
    speed, yaw = float(body.speed_mps[k]), float(pose[2])
    if speed > 0.3 and body.kind != "prop":
        x, y = float(pose[0]), float(pose[1])
        tip = x + speed * float(np.cos(yaw)), y + speed * float(np.sin(yaw))
        arrow = {"arrowstyle": "->", "linewidth": 0.7, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", tip, (x, y), arrowprops=arrow, zorder=6, annotation_clip=True)
