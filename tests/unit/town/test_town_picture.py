from __future__ import annotations

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from jaywalk.town.picture import town_axes
from jaywalk.town.scenery import KINDS, SCENERY, Shape
from jaywalk.town.town import Town


def _pixels(town: Town, *, scenery: bool = True) -> np.ndarray:
    """A picture of 1 pixel per 0.2 m, without frame."""
    figure = Figure(figsize=(4, 2), dpi=100)
    canvas = FigureCanvasAgg(figure)
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_axis_off()
    town_axes(town, ax, window_m=(0.0, -20.0, 80.0, 20.0), scenery=scenery)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[:, :, :3].astype(int)


def test_colours_lie_where_the_town_is(street):
    picture = _pixels(street, scenery=False)

    def at(x, y):
        return picture[int((y + 20) * 5), int(x * 5)]

    road, walk, field = at(10.0, 1.7), at(10.0, 4.5), at(10.0, 15.0)
    assert abs(road - (0x8B, 0x91, 0x99)).max() < 6
    assert abs(walk - (0xD8, 0xD1, 0xC5)).max() < 6
    assert abs(field - (0xE3, 0xEA, 0xD6)).max() < 6
    zebra = picture[90:110, 300].min(axis=1)
    assert zebra.max() > 240  # white stripes
    assert zebra.min() < 180  # road between them


def test_scenery_is_drawn_in_its_own_colour(street_opendrive):
    town = Town(name="Street", opendrive=street_opendrive)
    rows = np.zeros(2, SCENERY)
    rows["kind"] = [KINDS.index("building"), KINDS.index("crown")]
    rows["shape"] = [Shape.BOX, Shape.SPHERE]
    rows["x"], rows["y"], rows["ex"], rows["ey"], rows["ez"] = [20, 50], [14, 14], 4, 3, 5
    rows["red"], rows["green"] = [200, 0], [0, 120]
    town.__dict__["scenery"] = rows
    picture = _pixels(town)
    building, tree = picture[34 * 5, 20 * 5], picture[34 * 5, 50 * 5]
    assert building[0] > building[1] + 60
    assert tree[1] > tree[0] + 40
