"""The picture of the demo: the town with everybody's traces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from jaywalk.demo.style import INK, PERSON_EDGE, car_colours, car_outlines
from jaywalk.demo.traces import Traces, driven_m
from jaywalk.town.picture import Window, town_axes
from jaywalk.town.town import Town

_PEOPLE = "#b3125d"
_MARGIN_M = 25.0


def draw_still(town: Town, traces: Traces, path_png: Path) -> None:
    """Write the picture."""
    window = around(traces, _MARGIN_M)
    wide, high = window[2] - window[0], window[3] - window[1]
    inches = 10.0 * min(1.6, max(0.7, wide / high))
    figure = Figure(figsize=(inches, 10.0), dpi=150, layout="tight")
    FigureCanvasAgg(figure)
    ax = town_axes(town, figure.add_subplot(), window_m=window)
    ax.set_axis_off()
    colours = car_colours(traces.cars.shape[1])
    paths = np.swapaxes(traces.cars[:, :, :2], 0, 1)
    ax.add_collection(LineCollection(list(paths), colors=colours, linewidths=2.2, zorder=11))
    walks = np.swapaxes(traces.people, 0, 1)
    ax.add_collection(LineCollection(list(walks), colors=_PEOPLE, linewidths=1.8, zorder=12))
    ax.plot(*traces.people[-1].T, "o", ms=4, mfc=_PEOPLE, mec="white", mew=0.8, zorder=13)
    ax.add_collection(
        PolyCollection(
            list(car_outlines(traces.cars[-1], traces.car_half_m)),
            facecolors=colours, edgecolors=PERSON_EDGE, linewidths=0.6, zorder=14,
        )
    )  # fmt: skip
    seconds = len(traces.cars) * traces.step_s
    ax.set_title(
        f"{town.name}: {traces.cars.shape[1]} cars of CARLA's Traffic Manager drove "
        f"{driven_m(traces).sum() / 1000.0:.1f} km among {traces.people.shape[1]} people "
        f"in {seconds:.0f} s",
        fontsize=13, color=INK,
    )  # fmt: skip
    handles = [
        Line2D([], [], color=colours[0], lw=3, label="path of a car (one colour each)"),
        Line2D([], [], color=_PEOPLE, lw=2, marker="o", label="path of a person"),
    ]
    ax.legend(handles=handles, loc="lower right", framealpha=0.95).set_zorder(20)
    figure.savefig(path_png)


def around(traces: Traces, margin_m: float) -> Window:
    """The part of the town where something moved."""
    places = np.concatenate([traces.cars[..., :2].reshape(-1, 2), traces.people.reshape(-1, 2)])
    low, high = places.min(axis=0) - margin_m, places.max(axis=0) + margin_m
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])
