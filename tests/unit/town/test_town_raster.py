from __future__ import annotations

import numpy as np
import pytest
import shapely
from real_data import where_data_lies

from jaywalk.town.markings import lane_markings, zebra_stripes
from jaywalk.town.raster import (
    ROAD,
    ROAD_LINE,
    SIDEWALK,
    TERRAIN,
    build_raster,
    fill_polygon,
    label_at,
)


@pytest.mark.parametrize("seed", range(4))
def test_fill_agrees_with_shapely(seed):
    rng = np.random.default_rng(seed)
    angles = np.sort(rng.uniform(0, 2 * np.pi, 9))  # star-shaped, mostly concave
    radii = rng.uniform(3, 12, 9)
    polygon = 15 + np.column_stack([radii * np.cos(angles), radii * np.sin(angles)])
    labels = np.zeros((60, 64), np.uint8)
    fill_polygon(labels, 0.0, 0.0, 0.5, polygon, 7)
    y, x = np.mgrid[0:60, 0:64] * 0.5 + 0.25
    inside = shapely.contains_xy(shapely.Polygon(polygon), x, y)
    assert np.array_equal(labels == 7, inside)


def test_neighbouring_polygons_leave_no_gap():
    labels = np.zeros((20, 20), np.uint8)
    cut = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 4.7], [0.0, 5.3]])
    rest = np.array([[0.0, 5.3], [10.0, 4.7], [10.0, 10.0], [0.0, 10.0]])
    fill_polygon(labels, 0.0, 0.0, 0.5, cut, 1)
    fill_polygon(labels, 0.0, 0.0, 0.5, rest, 2)
    assert (labels > 0).all()


def test_street_labels(street):
    raster = street.raster
    assert label_at(raster, 20.3, 1.7) == ROAD
    assert label_at(raster, 20.3, 4.5) == SIDEWALK
    assert label_at(raster, 20.3, 12.0) == TERRAIN
    assert label_at(raster, 20.3, 3.4) == ROAD_LINE  # solid edge line
    assert label_at(raster, 1e6, 0.0) == TERRAIN
    column = int((60.0 - raster.x0_m) / raster.cell_m)
    rows = slice(int((-3.5 - raster.y0_m) / 0.25), int((3.5 - raster.y0_m) / 0.25))
    share = (raster.labels[rows, column] == ROAD_LINE).mean()
    assert 0.4 < share < 0.65  # stripes and gaps of the zebra


def test_window_is_a_cut_of_the_whole(street):
    whole = build_raster(street.strips, street.crosswalks, 0.25)
    x0, y0 = whole.x0_m + 20.0, whole.y0_m + 5.0
    part = build_raster(street.strips, street.crosswalks, 0.25, (x0, y0, x0 + 30.0, y0 + 20.0))
    assert (part.columns, part.rows) == (120, 80)
    assert np.array_equal(part.labels, whole.labels[20:100, 80:200])


def test_broken_line_has_dashes_of_three_metres(street):
    yellow = [m for m in lane_markings(street.strips) if m.colour == "yellow"]
    lengths = [np.hypot(*np.diff(m.centre_m, axis=0).T).sum() for m in yellow]
    assert len(yellow) == 16 + 8  # 120 m and 60 m, one dash per 7.5 m
    assert np.allclose(lengths, 3.0, atol=0.01)


def test_zebra_stripes_stay_inside(street):
    (polygon,) = street.crosswalks
    outline = shapely.Polygon(polygon[:, :2]).buffer(0.3)
    stripes = zebra_stripes(polygon)
    assert len(stripes) == 7
    assert all(outline.covers(shapely.Polygon(stripe)) for stripe in stripes)


@pytest.mark.parametrize("name", ["Harbour", *where_data_lies("Town10HD")])
def test_driving_waypoints_lie_on_the_road(carla_town, name):
    town = carla_town(name)
    labels = [
        label_at(town.raster, w.transform.location.x, w.transform.location.y)
        for w in town.carla_map.generate_waypoints(3.0)
    ]
    assert set(labels) <= {ROAD, ROAD_LINE}
