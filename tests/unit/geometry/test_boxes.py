"""Box and circle overlaps against shapely and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.affinity import rotate, translate
from shapely.geometry import Point, Polygon, box

from jaywalk.geometry.box import (
    axis_gaps,
    box_box_overlap,
    box_box_point,
    box_distance,
    box_points,
    boxes_touch,
    circle_box_overlap,
    circle_circle_overlap,
    shape_overlap,
)

_place = st.floats(-4.0, 4.0)
_angle = st.floats(-np.pi, np.pi)
_half = st.floats(0.1, 3.0)
_boxes = st.tuples(_place, _place, _angle, _half, _half)


def _polygon(x: float, y: float, yaw: float, hx: float, hy: float) -> Polygon:
    return translate(rotate(box(-hx, -hy, hx, hy), yaw, origin=(0, 0), use_radians=True), x, y)


def _args(x: float, y: float, yaw: float, hx: float, hy: float) -> tuple[float, ...]:
    return x, y, float(np.cos(yaw)), float(np.sin(yaw)), hx, hy


@settings(max_examples=300, deadline=None)
@given(_boxes, _boxes)
def test_box_overlap_agrees_with_shapely_and_its_normal_separates(a, b) -> None:
    depth, nx, ny = box_box_overlap(*_args(*a), *_args(*b))
    shape_a, shape_b = _polygon(*a), _polygon(*b)
    if abs(depth) > 1e-6:
        # On a grid: without one GEOS loses overlaps whose edges nearly coincide.
        assert (depth > 0) == (shape_a.intersection(shape_b, grid_size=1e-9).area > 0)
    if depth > 1e-6:
        assert np.hypot(nx, ny) == pytest.approx(1.0)
        apart = translate(shape_a, nx * (depth + 1e-6), ny * (depth + 1e-6))
        assert apart.intersection(shape_b, grid_size=1e-9).area < 1e-6
        # No direction on a coarse circle separates them with a clearly shorter push.
        for angle in np.linspace(0, 2 * np.pi, 24, endpoint=False):
            push = 0.95 * depth
            moved = translate(shape_a, push * np.cos(angle), push * np.sin(angle))
            assert moved.intersects(shape_b)


@settings(max_examples=200, deadline=None)
@given(_boxes, _boxes)
def test_touch_point_lies_in_both_boxes(a, b) -> None:
    depth, _, _ = box_box_overlap(*_args(*a), *_args(*b))
    if depth > 1e-3:
        point = Point(box_box_point(*_args(*a), *_args(*b)))
        assert _polygon(*a).distance(point) < 1e-6 or _polygon(*b).distance(point) < 1e-6


@settings(max_examples=200, deadline=None)
@given(_place, _place, st.floats(0.05, 2.0), _boxes)
def test_circle_against_box_agrees_with_shapely(px, py, radius, b) -> None:
    shape, point = _polygon(*b), Point(px, py)
    depth, nx, ny = circle_box_overlap(px, py, radius, *_args(*b))
    if not shape.contains(point):
        assert depth == pytest.approx(radius - shape.distance(point), abs=1e-9)
    else:
        assert depth == pytest.approx(radius + shape.exterior.distance(point), abs=1e-9)
    moved = Point(px + nx * depth, py + ny * depth)
    assert shape.distance(moved) == pytest.approx(radius, abs=1e-6)
    assert box_distance(px, py, *_args(*b)) == pytest.approx(shape.distance(point), abs=1e-9)


def test_circles() -> None:
    assert circle_circle_overlap(1.0, 0.0, 0.6, 0.0, 0.0, 0.6) == pytest.approx((0.2, 1.0, 0.0))
    assert circle_circle_overlap(0.0, 3.0, 1.0, 0.0, 0.0, 1.0)[0] == pytest.approx(-1.0)
    assert circle_circle_overlap(0.0, 0.0, 1.0, 0.0, 0.0, 1.0)[0] == pytest.approx(2.0)


def test_corners_agree_with_shapely_and_go_round_the_box() -> None:
    boxes = np.array([(1.0, 2.0, 0.3, 2.4, 0.9), (-3.0, 0.5, -2.8, 0.4, 1.7)])
    corners = box_points(boxes[:, :2], np.cos(boxes[:, 2]), np.sin(boxes[:, 2]), boxes[:, 3:])
    assert corners.shape == (2, 4, 2)
    for ring, row in zip(corners, boxes, strict=True):
        outline, expected = Polygon(ring), _polygon(*row)
        assert outline.is_valid
        assert outline.area == pytest.approx(4.0 * row[3] * row[4])
        assert outline.symmetric_difference(expected).area < 1e-9


def test_any_points_of_a_box_by_shares() -> None:
    shares = np.array([(0.0, 0.0), (1.0, 0.0), (0.0, -1.0)])
    points = box_points((1.0, 1.0), 0.0, 1.0, (3.0, 2.0), shares)
    assert np.array_equal(points, [(1.0, 1.0), (1.0, 4.0), (3.0, 1.0)])


@settings(max_examples=300, deadline=None)
@given(_boxes, _boxes)
def test_one_pair_and_arrays_of_boxes_are_judged_alike(a, b) -> None:
    one, two = _args(*a), _args(*b)
    depth, _, _ = box_box_overlap(*one, *two)
    apart = (one[0] - two[0], one[1] - two[1], *one[2:], *two[2:])
    gaps = axis_gaps(*(np.array([value]) for value in apart))
    smallest = min(float((reach - distance)[0]) for distance, reach in gaps)
    assert boxes_touch(*apart) == (smallest >= 0.0)
    if abs(depth) > 1e-6:
        assert (smallest > 0.0) == (depth > 0.0)


@settings(max_examples=100, deadline=None)
@given(_boxes, _boxes)
def test_shapes_of_every_kind_use_the_test_of_their_kind(a, b) -> None:
    one, two = _args(*a), _args(*b)
    (ax, ay, *_), (bx, by, *_) = one, two
    mirrored = circle_box_overlap(bx, by, two[4], *one)
    expected = {
        (False, False): box_box_overlap(*one, *two),
        (True, False): circle_box_overlap(ax, ay, one[4], *two),
        (False, True): (mirrored[0], -mirrored[1], -mirrored[2]),
        (True, True): circle_circle_overlap(ax, ay, one[4], bx, by, two[4]),
    }
    for (a_round, b_round), hit in expected.items():
        assert shape_overlap(*one, a_round, *two, b_round) == hit
