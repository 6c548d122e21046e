"""The film of the demo: a busy corner close up, the whole town beside it.

The town is drawn once per view; each frame restores that background and draws only what moves.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import av
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from jaywalk.demo.still import around
from jaywalk.demo.style import (
    INK,
    LIGHT_COLOURS,
    PERSON_COLOUR,
    PERSON_EDGE,
    car_colours,
    car_outlines,
)
from jaywalk.demo.traces import Traces
from jaywalk.town.picture import Window, town_axes
from jaywalk.town.town import Town

_WIDTH_PX, _HEIGHT_PX, _DPI = 1280, 720, 100
_CLOSE_PX: Final = 860  # width of the close view; the overview gets the rest
_CLOSE_HIGH_M: Final = 84.0
_CAR_TRAIL_S, _PERSON_TRAIL_S = 2.0, 5.0
_FRAMES_PER_S: Final = 20
_BIT_RATE: Final = 1_600_000


class _View:
    """One map with moving things on it."""

    def __init__(self, town: Town, traces: Traces, ax: Axes, window: Window, close: bool) -> None:
        self.ax = ax
        self._traces = traces
        town_axes(town, ax, window_m=window, scenery=close, signals=False)
        ax.set_axis_off()
        colours = car_colours(traces.cars.shape[1])
        trail = 2.4 if close else 1.0
        self._car_trails = LineCollection(
            [], colors=colours, linewidths=trail, alpha=0.55, zorder=11
        )
        self._walks = LineCollection(
            [], colors=PERSON_COLOUR if close else PERSON_EDGE, linewidths=trail * 0.8,
            alpha=0.8, zorder=12,
        )  # fmt: skip
        self._cars = PolyCollection(
            [], facecolors=colours, edgecolors=INK, linewidths=0.9 if close else 0.2, zorder=13
        )
        (self._people,) = ax.plot(
            [], [], "o", ms=8.5 if close else 2.2, mfc=PERSON_COLOUR if close else "#ffffff",
            mec=PERSON_EDGE, mew=1.6 if close else 0.7, zorder=15,
        )  # fmt: skip
        self._lamps = ax.scatter(
            traces.light_places_m[:, 0], traces.light_places_m[:, 1], s=70 if close else 5,
            zorder=16, edgecolors=INK, linewidths=1.0 if close else 0.0,
        )  # fmt: skip
        # Cars in the overview are drawn larger than life, or nobody would see them.
        self._half_m = traces.car_half_m if close else 2.2 * traces.car_half_m
        self._moving: list[Any] = [self._car_trails, self._walks, self._cars]
        self._moving += [self._people, self._lamps]
        for artist in self._moving[:3]:
            ax.add_collection(artist, autolim=False)
        for artist in self._moving:
            artist.set_animated(True)

    def draw(self, tick: int) -> None:
        """Draw the moving things of one tick over the background."""
        traces = self._traces
        for lines, places, seconds in (
            (self._car_trails, traces.cars[:, :, :2], _CAR_TRAIL_S),
            (self._walks, traces.people, _PERSON_TRAIL_S),
        ):
            first = max(0, tick - round(seconds / traces.step_s))
            lines.set_segments(list(np.swapaxes(places[first : tick + 1 : 2], 0, 1)))
        self._cars.set_verts(list(car_outlines(traces.cars[tick], self._half_m)))
        self._people.set_data(*traces.people[tick].T)
        self._lamps.set_facecolor([LIGHT_COLOURS[state] for state in traces.lights[tick]])
        for artist in self._moving:
            self.ax.draw_artist(artist)


def draw_film(
    town: Town, traces: Traces, path_mp4: Path, progress: Callable[[float], None]
) -> None:
    """Write the film: 1280 x 720, 20 frames a second, in real time."""
    figure = Figure(figsize=(_WIDTH_PX / _DPI, _HEIGHT_PX / _DPI), dpi=_DPI, facecolor="#f4f1ea")
    canvas = FigureCanvasAgg(figure)
    left = _CLOSE_PX / _WIDTH_PX
    close_window = busiest_window(traces, _CLOSE_HIGH_M * _CLOSE_PX / _HEIGHT_PX, _CLOSE_HIGH_M)
    views = [
        _View(town, traces, figure.add_axes((0.0, 0.0, left, 1.0)), close_window, close=True),
        _View(
            town, traces, figure.add_axes((left + 0.01, 0.36, 0.98 - left, 0.56)),
            around(traces, 30.0), close=False,
        ),
    ]  # fmt: skip
    _mark(views[1].ax, close_window)
    left_px = left + 0.02
    figure.text(left_px, 0.945, f"Jaywalk · {town.name}", fontsize=17, weight="bold", color=INK)
    figure.text(left_px, 0.11, _LEGEND, fontsize=10.5, color=INK, linespacing=1.6)
    caption = figure.text(left_px, 0.28, "", fontsize=12, color=INK, animated=True)
    canvas.draw()
    background = canvas.copy_from_bbox(figure.bbox)
    stride = max(1, round(1.0 / (_FRAMES_PER_S * traces.step_s)))
    with _Encoder(path_mp4) as encoder:
        for tick in range(0, len(traces.cars), stride):
            canvas.restore_region(background)
            for view in views:
                view.draw(tick)
            caption.set_text(_caption(traces, tick))
            figure.draw_artist(caption)
            encoder.add(np.asarray(canvas.buffer_rgba())[..., :3])
            progress((tick + stride) / len(traces.cars))


_LEGEND: Final = (
    "cars: CARLA's own Traffic Manager\n"
    "people: CARLA's own walker navigation\n"
    "world: jaywalk serve, no GPU"
)


def _caption(traces: Traces, tick: int) -> str:
    before = max(0, tick - 1)
    steps = traces.cars[tick, :, :2] - traces.cars[before, :, :2]
    speeds = np.hypot(steps[:, 0], steps[:, 1]) / traces.step_s
    moving = int((speeds > 0.3).sum())
    return f"{tick * traces.step_s:4.1f} s   {moving} of {len(speeds)} cars moving"


def _mark(ax: Axes, window: Window) -> None:
    corner, size = window[:2], (window[2] - window[0], window[3] - window[1])
    ax.add_patch(Rectangle(corner, *size, fill=False, ec="#c8323c", lw=1.6, zorder=20))


def busiest_window(traces: Traces, wide_m: float, high_m: float) -> Window:
    """The window of that size with the most cars and people in it over the whole film."""
    cars = traces.cars[::20, :, :2].reshape(-1, 2)
    # Standing cars are no sight: weigh places by motion.
    moved = np.hypot(*np.moveaxis(np.gradient(traces.cars[..., :2], axis=0), -1, 0))[::20].ravel()
    people = traces.people[::20].reshape(-1, 2)
    places = np.concatenate([cars, people])
    weights = np.concatenate([0.3 + np.minimum(moved / traces.step_s, 6.0) / 6.0,
                              np.full(len(people), 0.8)])  # fmt: skip
    half = np.array([wide_m, high_m]) / 2.0
    centres = places[:: max(1, len(places) // 400)]
    scores = [
        weights[(np.abs(places - centre) < 0.9 * half).all(axis=1)].sum() for centre in centres
    ]
    x, y = centres[int(np.argmax(scores))]
    return float(x - half[0]), float(y - half[1]), float(x + half[0]), float(y + half[1])


class _Encoder:
    """H.264 in an MP4 file that browsers play while it loads."""

    def __init__(self, path: Path) -> None:
        self._container: Any = av.open(str(path), "w", options={"movflags": "+faststart"})
        self._stream: Any = self._container.add_stream("libx264", rate=Fraction(_FRAMES_PER_S))
        self._stream.width, self._stream.height = _WIDTH_PX, _HEIGHT_PX
        self._stream.pix_fmt = "yuv420p"
        self._stream.bit_rate = _BIT_RATE
        self._stream.options = {"preset": "veryfast", "threads": "1"}

    def add(self, rgb: Any) -> None:
        """Append one frame, (height, width, 3) bytes."""
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(rgb), format="rgb24")
        self._container.mux(self._stream.encode(frame))

    def __enter__(self) -> _Encoder:
        return self

    def __exit__(self, *_: object) -> None:
        self._container.mux(self._stream.encode())
        self._container.close()
