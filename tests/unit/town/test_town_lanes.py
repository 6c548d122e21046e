from __future__ import annotations

import math

import numpy as np
import pytest
from real_data import where_data_lies
from scipy.integrate import quad

from jaywalk.town.lanes import evaluate, lane_strips, reference_line
from jaywalk.town.roads import GeometryKind, Road


def _road(kind, length, parameters):
    row = [0.0, 2.0, 3.0, 0.4, length, float(kind), *parameters]
    zero = np.zeros((1, 5))
    return Road(
        road_id=1,
        junction_id=-1,
        length_m=length,
        geometry=np.array([row + [0.0] * (14 - len(row))]),
        elevation=zero,
        lane_offset=zero,
        sections=(),
        speeds=(),
        element=None,
    )


@pytest.mark.parametrize(("k0", "k1"), [(0.0, 0.0), (0.05, 0.05), (0.0, 0.08), (-0.1, 0.02)])
def test_line_arc_and_spiral_agree_with_quadrature(k0, k1):
    length = 30.0
    kind = GeometryKind.SPIRAL if k0 != k1 else (GeometryKind.ARC if k0 else GeometryKind.LINE)
    line = reference_line(_road(kind, length, [k0, k1]), np.linspace(0, length, 7))

    def heading(s):
        return 0.4 + k0 * s + 0.5 * (k1 - k0) / length * s * s

    for s, (x, y, _, yaw) in zip(np.linspace(0, length, 7), line, strict=True):
        assert x == pytest.approx(2 + quad(lambda u: math.cos(heading(u)), 0, s)[0], abs=1e-6)
        assert y == pytest.approx(3 + quad(lambda u: math.sin(heading(u)), 0, s)[0], abs=1e-6)
        assert yaw == pytest.approx(heading(s))


def test_cubic_is_walked_by_arc_length():
    coefficients = [0.0, 12.0, 6.0, -3.0, 0.0, 0.0, 9.0, -4.0]  # uneven speed over its parameter

    def speed(p):
        du = 12 + 12 * p - 9 * p * p
        return math.hypot(du, 18 * p - 12 * p * p)

    length = quad(speed, 0, 1)[0]
    s = np.linspace(0, length, 9)
    line = reference_line(_road(GeometryKind.PARAM_POLY3, length, coefficients), s)
    steps = np.hypot(*np.diff(line[:, :2], axis=0).T)
    assert np.ptp(steps) < 0.12  # chords of equal arcs, up to curvature
    u = (line[-1, 0] - 2) * math.cos(0.4) + (line[-1, 1] - 3) * math.sin(0.4)
    assert u == pytest.approx(15.0, abs=1e-3)


def test_evaluate_matches_polyval():
    rows = np.array([[0.0, 1, 2, 3, 4], [2.0, -1, 0.5, 0, 0.1]])
    assert evaluate(rows, np.array([1.0, 2.0, 4.0])).tolist() == pytest.approx(
        [10.0, -1.0, np.polyval([0.1, 0, 0.5, -1], 2.0)]
    )


def test_strips_of_the_street(street):
    strips = [s for s in street.strips if s.road.road_id == 1]
    assert [s.lane.lane_id for s in strips] == [1, 2, -1, -2]
    right = strips[2]
    assert right.centre_m[0].tolist() == pytest.approx([0.0, 1.75, 0.0])  # right of +x is +y
    assert right.centre_m[-1].tolist() == pytest.approx([120.0, 1.75, 6.0])
    assert strips[0].travel_m[0, 0] == pytest.approx(120.0)


@pytest.mark.parametrize("name", ["Harbour", *where_data_lies("Town04", "Town07", "Town10HD")])
def test_strips_lie_where_carla_puts_the_lanes(carla_town, name):
    town = carla_town(name)
    worst = 0.0
    for strip in town.strips[::3]:
        if strip.kind not in {"driving", "sidewalk", "shoulder"}:
            continue
        k = len(strip.s_m) // 2
        waypoint = town.carla_map.get_waypoint_xodr(
            strip.road.road_id, strip.lane.lane_id, strip.s_m[k]
        )
        if waypoint is None or k in (0, len(strip.s_m) - 1):
            continue
        place = waypoint.transform.location
        worst = max(worst, math.dist((place.x, place.y, place.z), strip.centre_m[k]))
    # Harbour's turns are parametric cubics, along which the wheel's distances are approximate.
    assert worst < (0.02 if name == "Harbour" else 1e-3)


def test_sampling_step_is_kept(street):
    for strip in lane_strips(street.roads, 0.3):
        assert np.diff(strip.s_m).max() <= 0.3 + 1e-9
