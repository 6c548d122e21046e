"""Upright boxes around tipped ones, against their eight corners turned one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from jaywalk.geometry.box import upright_box
from jaywalk.geometry.rotation import rotation_matrix_carla


@pytest.mark.parametrize(
    ("pitch", "roll"), [(0.0, 0.0), (0.0, 90.0), (90.0, 0.0), (30.0, -50.0), (-120.0, 75.0)]
)
def test_the_box_holds_every_corner_and_no_more(pitch, roll):
    half, centre = np.array([4.0, 2.0, 0.25]), np.array([0.3, -0.2, 1.1])
    turn = rotation_matrix_carla(pitch, 0.0, roll)
    corners = np.array(list(itertools.product((-1, 1), repeat=3))) * half + centre
    turned = corners @ turn.T
    low, high = turned.min(axis=0), turned.max(axis=0)
    got = upright_box(*half, *centre, np.deg2rad(pitch), np.deg2rad(roll))
    assert got[:3] == pytest.approx(0.5 * (high - low), abs=1e-9)
    assert got[3:] == pytest.approx(0.5 * (high + low), abs=1e-9)


def test_a_picture_that_stands_is_a_wall():
    hx, hy, hz, *_ = upright_box(4.0, 2.0, 0.25, 0.0, 0.0, 0.0, 0.0, np.pi / 2)
    assert (hx, hy, hz) == pytest.approx((4.0, 0.25, 2.0))
