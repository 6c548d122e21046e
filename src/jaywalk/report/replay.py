"""Film or picture of an episode, from the record alone.

A camera follows the ego from above. The ground is drawn once for an area larger than the picture
and copied from there until the camera leaves the area. Only moving bodies are drawn in each frame.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import av
import numpy as np
import shapely
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PatchCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.image import imsave
from matplotlib.patches import Circle, PathPatch
from matplotlib.path import Path as Outline
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.text import suggestion
from jaywalk.record.reader import Record, find_records, open_record
from jaywalk.report._episode_cards import moment_of
from jaywalk.report._moment_picture import (
    BODY_FILLS,
    GROUND_FILL,
    LIGHT_FILLS,
    SURFACE_FILLS,
    pointed,
)
from jaywalk.report._scene import DrawnBody, Scene, read_scene
from jaywalk.report._series import Series, corners, ego_series
from jaywalk.report.ground_plan import SURFACES, GroundPlan, ground_plan, rings_of, town_of
from jaywalk.report.svg import INK, claim

Pixels = NDArray[np.uint8]

WIDTH_PX: Final = 1280
HEIGHT_PX: Final = 720
_DPI: Final = 100
_WIDE_M: Final = 80.0
_FIELD: Final = 2.0  # size of the field drawn ahead, in pictures
_TRAIL_S: Final = {"ego": 3.0, "vehicle": 2.0, "walker": 4.0}
_EDGE: Final = "#b3261e"


class ReplayCanvas:
    """Draws rows of one scene as RGB pictures."""

    def __init__(
        self, scene: Scene, plan: GroundPlan | None, series: Series | None, *, title: str
    ) -> None:
        """Prepare a stage.

        Args:
            scene: The episode.
            plan: The ground, or None for a bare one.
            series: The ego's series on every row, for the line of text.
            title: Words at the top left.
        """
        self._scene, self._plan, self._title = scene, plan, title
        self._told = {} if series is None else {int(r): k for k, r in enumerate(series.rows)}
        self._series = series
        self._figure = Figure(figsize=(WIDTH_PX / _DPI, HEIGHT_PX / _DPI), dpi=_DPI)
        self._canvas = FigureCanvasAgg(self._figure)
        self._ax = _bare_axes(self._figure)
        self._text = self._figure.text(
            0.012,
            0.975,
            "",
            va="top",
            fontsize=13,
            color=INK,
            family="monospace",
            bbox={"boxstyle": "round,pad=0.4", "fc": "#ffffffe0", "ec": "none"},
        )
        self._field: Pixels | None = None
        self._corner = (0, 0)  # of the field, in pixels of the world
        self._canvas.draw()

    def draw(self, row: int) -> Pixels:
        """The picture of one row, (720, 1280, 3)."""
        # The camera moves by whole pixels: the ground is copied, not resampled.
        x, y = (round(value * _PER_M) for value in self._scene.focus(row))
        left, top = x - WIDTH_PX // 2, y - HEIGHT_PX // 2
        ground = self._ground(left, top)
        buffer = np.asarray(self._canvas.buffer_rgba())
        buffer[..., :3], buffer[..., 3] = ground, 255
        self._ax.set_xlim(left / _PER_M, (left + WIDTH_PX) / _PER_M)
        self._ax.set_ylim((top + HEIGHT_PX) / _PER_M, top / _PER_M)
        for artist in self._artists(row):
            self._ax.add_artist(artist)
            self._ax.draw_artist(artist)
            artist.remove()
        self._text.set_text(self._words(row))
        self._figure.draw_artist(self._text)
        return np.array(self._canvas.buffer_rgba())[..., :3]

    def _ground(self, left: int, top: int) -> Pixels:
        wide, high = int(_FIELD * WIDTH_PX), int(_FIELD * HEIGHT_PX)
        inside = (
            self._field is not None
            and 0 <= left - self._corner[0] <= wide - WIDTH_PX
            and 0 <= top - self._corner[1] <= high - HEIGHT_PX
        )
        if not inside:
            self._corner = left - (wide - WIDTH_PX) // 2, top - (high - HEIGHT_PX) // 2
            self._field = _draw_field(self._scene, self._plan, self._corner, (wide, high))
        assert self._field is not None  # drawn above when it was not there
        dx, dy = left - self._corner[0], top - self._corner[1]
        return self._field[dy : dy + HEIGHT_PX, dx : dx + WIDTH_PX]

    def _artists(self, row: int) -> list[Any]:
        scene = self._scene
        order = {"prop": 0, "vehicle": 1, "ego": 2, "walker": 3}
        bodies = sorted(
            (b for b in scene.bodies if b.at(row) is not None), key=lambda b: order[b.kind]
        )
        discs = [
            Circle((p[0], p[1]), max(b.half_m[0], 0.34))
            for b in bodies
            if b.is_round and (p := b.at(row)) is not None
        ]
        boxed = [b for b in bodies if not b.is_round]
        struck = [hit.place_m for hit in scene.hits if hit.row <= row + 1]
        return [
            LineCollection(
                [self._trail(b, row) for b in bodies if b.kind != "prop"],
                colors=[_trail_colour(b) for b in bodies if b.kind != "prop"],
                linewidths=1.8,
                alpha=0.6,
            ),
            _light_bars(scene, row),
            PolyCollection(
                [_star(place) for place in struck],
                facecolors="#ffd43b",
                edgecolors=_EDGE,
                linewidths=1.2,
            ),
            PolyCollection(
                [_outline(b, row) for b in boxed],
                facecolors=[BODY_FILLS[b.kind] for b in boxed],
                edgecolors=INK,
                linewidths=1.1,
            ),
            LineCollection(
                [_nose(b, row) for b in bodies if b.is_round], colors=INK, linewidths=1.6
            ),
            PatchCollection(discs, facecolors=BODY_FILLS["walker"], edgecolors=INK, linewidths=1.1),
        ]

    def _trail(self, body: DrawnBody, row: int) -> FloatArray:
        time_s = self._scene.time_s
        first = int(np.searchsorted(time_s, time_s[row] - _TRAIL_S[body.kind]))
        k = row - body.first
        return body.pose[max(first - body.first, 0) : k + 1, :2]

    def _words(self, row: int) -> str:
        words = [f"{self._scene.time_s[row]:5.1f} s"]
        k, series = self._told.get(row), self._series
        if series is not None and k is not None:
            words.append(f"{series.speed_mps[k]:4.1f} m/s")
            words.append(f"brake {100.0 * np.nan_to_num(series.brake[k]):3.0f} %")
            for values, form in ((series.gap_m, "gap {:4.1f} m"), (series.ttc_s, "TTC {:3.1f} s")):
                if np.isfinite(values[k]):
                    words.append(form.format(values[k]))
        return f"{self._title}\n{'   '.join(words)}"


_PER_M: Final = WIDTH_PX / _WIDE_M


def _bare_axes(figure: Figure) -> Axes:
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set_axis_off()
    return ax


def _draw_field(
    scene: Scene, plan: GroundPlan | None, corner: tuple[int, int], size: tuple[int, int]
) -> Pixels:
    figure = Figure(figsize=(size[0] / _DPI, size[1] / _DPI), dpi=_DPI, facecolor=GROUND_FILL)
    canvas = FigureCanvasAgg(figure)
    ax = _bare_axes(figure)
    west, north = corner[0] / _PER_M, corner[1] / _PER_M
    east, south = west + size[0] / _PER_M, north + size[1] / _PER_M
    ax.set_xlim(west, east)
    ax.set_ylim(south, north)
    if plan is not None:
        _draw_plan(ax, plan.cut(shapely.box(west, north, east, south)))
    if len(scene.route_m) > 1:
        ax.plot(
            *scene.route_m.T,
            color=BODY_FILLS["ego"],
            lw=2.4,
            ls=(0, (0.1, 3.0)),
            dash_capstyle="round",
            alpha=0.7,
            scalex=False,
            scaley=False,
        )
    canvas.draw()
    return np.array(canvas.buffer_rgba())[..., :3]


def _draw_plan(ax: Axes, plan: GroundPlan) -> None:
    for name in SURFACES:
        if name in plan.surfaces:
            rings = [
                Outline(np.vstack([r, r[:1]]), closed=True) for r in rings_of(plan.surfaces[name])
            ]
            if rings:
                ax.add_patch(
                    PathPatch(Outline.make_compound_path(*rings), ec="none", fc=SURFACE_FILLS[name])
                )
    ax.add_collection(PolyCollection(plan.stripes, facecolors="#ffffff"), autolim=False)
    ax.add_collection(
        LineCollection(
            [line for line, _ in plan.lines],
            linewidths=1.6,
            colors=["#f2c230" if paint == "yellow" else "#ffffff" for _, paint in plan.lines],
        ),
        autolim=False,
    )
    ax.add_collection(
        PolyCollection(plan.boxes, facecolors="#cbbfae", edgecolors="#a3978a", linewidths=0.8),
        autolim=False,
    )
    trees = [Circle((x, y), radius) for x, y, radius in plan.crowns]
    ax.add_collection(
        PatchCollection(trees, facecolors="#9db985", edgecolors="none", alpha=0.6), autolim=False
    )


def _outline(body: DrawnBody, row: int) -> FloatArray:
    pose = body.pose[row - body.first]
    if body.kind == "prop":
        return np.asarray(corners(pose[None], body.half_m)[0])
    return pointed(pose, body.half_m)


def _nose(body: DrawnBody, row: int) -> FloatArray:
    """A tick from a person towards where they face."""
    x, y, yaw = body.pose[row - body.first]
    long = 2.2 * max(body.half_m[0], 0.34)
    return np.array([(x, y), (x + long * np.cos(yaw), y + long * np.sin(yaw))])


def _trail_colour(body: DrawnBody) -> str:
    return BODY_FILLS[body.kind] if body.kind != "vehicle" else "#5d6673"


def _light_bars(scene: Scene, row: int) -> LineCollection:
    x, y = scene.focus(row)
    bars, colours = [], []
    for light in scene.lights:
        for stop_x, stop_y, yaw, half in light.stops:
            if abs(stop_x - x) + abs(stop_y - y) > _WIDE_M:
                continue
            across = half * np.array([-np.sin(yaw), np.cos(yaw)])
            bars.append(np.array([stop_x, stop_y]) + np.array([-across, across]))
            colours.append(LIGHT_FILLS[light.state_at(row)])
    return LineCollection(bars, colors=colours, linewidths=5.0, capstyle="round")


def _star(place: tuple[float, float], size_m: float = 1.5) -> FloatArray:
    angles = np.linspace(0.0, 2.0 * np.pi, 17)[:-1]
    radius = size_m * np.where(np.arange(16) % 2 == 0, 1.0, 0.45)
    return np.asarray(place + np.column_stack([radius * np.cos(angles), radius * np.sin(angles)]))


FRAMES_PER_S: Final = 20
_BIT_RATE: Final = 2_500_000


def find_episode(run: Path, name: str) -> Record:
    """The record of an episode by its id or the name of its folder.

    Raises:
        UsageError: The run has no such episode; the message names those it has.
    """
    folders = list(find_records(run))
    if not folders:
        raise DataError(f"'{run}' holds no recorded episode. Give the folder of a run.")
    for folder in folders:
        if name in (folder.name, folder.as_posix()):
            return open_record(folder)
    by_id = [record for f in folders if (record := open_record(f)).episode.episode_id == name]
    if len(by_id) == 1:
        return by_id[0]
    known = suggestion(name, [folder.name for folder in folders])
    raise UsageError(f"'{run}' has no episode '{name}'.{known}")


def film_rows(time_s: FloatArray) -> list[int]:
    """Rows that become frames: as many as 20 a second of game time, at real speed."""
    n = len(time_s)
    step = float(np.median(np.diff(time_s))) if n > 1 else 1.0 / FRAMES_PER_S
    stride = max(1, round(1.0 / (FRAMES_PER_S * max(step, 1e-6))))
    return list(range(0, n, stride))


def write_film(record: Record, path: Path, progress: Callable[[float], None]) -> int:
    """Write an episode as MP4 in real time; returns the number of frames."""
    scene, stage = _prepare(record)
    rows = film_rows(scene.time_s)
    step = float(np.median(np.diff(scene.time_s[rows]))) if len(rows) > 1 else 1.0 / FRAMES_PER_S
    with FilmEncoder(path, Fraction(1.0 / step).limit_denominator(1000)) as encoder:
        for done, row in enumerate(rows, start=1):
            encoder.add(stage.draw(row))
            progress(done / len(rows))
    return len(rows)


def write_still(record: Record, path: Path, time_s: float | None) -> tuple[float, str]:
    """Write one moment as PNG and return its game time and its description.

    Args:
        record: The episode.
        path: The picture to write.
        time_s: Game time; None for the first contact, else the closest call.
    """
    scene, stage = _prepare(record)
    if time_s is None:
        moment = moment_of(None, scene, ego_series(scene))
        row, words = moment.row, moment.words
    else:
        if not scene.time_s[0] <= time_s <= scene.time_s[-1]:
            raise UsageError(
                f"--at {time_s:g} is outside of the episode, which lasts from "
                f"{scene.time_s[0]:g} to {scene.time_s[-1]:g} s."
            )
        row = scene.row_at(time_s)
        words = f"{scene.time_s[row]:.1f} s"
    imsave(claim(path), stage.draw(row), format="png")
    return float(scene.time_s[row]), words


def critical_time_s(record: Record) -> float:
    """Game time of the first contact, else of the closest call."""
    scene = read_scene(record)
    return moment_of(None, scene, ego_series(scene)).time_s


def _prepare(record: Record) -> tuple[Scene, ReplayCanvas]:
    scene = read_scene(record)
    if not len(scene.time_s):
        raise DataError(f"{record.folder} has no ticks: there is nothing to draw.")
    town = town_of(record)
    plan = None if town is None else ground_plan(town)
    episode = record.episode
    words = [episode.episode_id, episode.agent.name, episode.town]
    title = "  ·  ".join(word for word in words if word)
    return scene, ReplayCanvas(scene, plan, ego_series(scene), title=title)


class FilmEncoder:
    """H.264 in an MP4 file that browsers play while it loads; sides of frames are even."""

    def __init__(
        self, path: Path, rate: Fraction, size_px: tuple[int, int] = (WIDTH_PX, HEIGHT_PX)
    ) -> None:
        self._container: Any = av.open(
            str(claim(path)), "w", format="mp4", options={"movflags": "+faststart"}
        )
        self._stream: Any = self._container.add_stream("libx264", rate=rate)
        self._stream.width, self._stream.height = size_px
        self._stream.pix_fmt = "yuv420p"
        self._stream.bit_rate = _BIT_RATE
        # One thread: the same record gives the same bytes.
        self._stream.options = {"preset": "veryfast", "threads": "1"}

    def add(self, rgb: Pixels) -> None:
        """Append one frame."""
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(rgb), format="rgb24")
        self._container.mux(self._stream.encode(frame))

    def __enter__(self) -> FilmEncoder:
        return self

    def __exit__(self, *_: object) -> None:
        self._container.mux(self._stream.encode())
        self._container.close()
