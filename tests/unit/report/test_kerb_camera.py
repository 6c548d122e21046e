"""Cameras of a person's life: where things appear, and what is behind the eye."""

import math

import numpy as np
import pytest

from jaywalk.report._kerb_cameras import KerbCamera, SkyCamera

KERB = KerbCamera(place_m=(10.0, 5.0, 2.0), yaw_rad=math.pi / 2, focal_px=500.0, size_px=(800, 400))


def test_right_is_right_and_up_is_up():
    # looks along +y of a left-handed frame, so -x is to the right
    pixels, depth = KERB.see(np.array([[10.0, 15.0, 2.0], [9.0, 15.0, 2.0], [10.0, 15.0, 3.0]]))
    assert depth == pytest.approx([10.0, 10.0, 10.0])
    assert pixels[0] == pytest.approx([400.0, 200.0])
    assert pixels[1] == pytest.approx([450.0, 200.0])
    assert pixels[2] == pytest.approx([400.0, 150.0])


def test_what_is_behind_is_cut_off():
    ring = np.array([[5.0, 0.0, 0.0], [15.0, 0.0, 0.0], [15.0, 20.0, 0.0], [5.0, 20.0, 0.0]])
    shown = KERB.outline(ring)
    assert len(shown) == 4
    assert np.isfinite(shown).all()
    assert (shown[:, 1] > 200.0).all()  # all of the ground is below the horizon
    assert len(KERB.outline(ring - [0.0, 40.0, 0.0])) == 0


def test_from_above_distances_are_true():
    sky = SkyCamera(middle_m=(1.0, 2.0), up_rad=0.7, px_per_m=20.0, size_px=(400, 400))
    points = np.array([[1.0, 2.0], [4.0, 6.0]])
    pixels, _ = sky.see(points)
    assert pixels[0] == pytest.approx([200.0, 200.0])
    assert math.dist(pixels[0], pixels[1]) == pytest.approx(100.0)
    ahead, _ = sky.see(np.add(points[:1], [[math.cos(0.7), math.sin(0.7)]]))
    assert ahead[0] == pytest.approx([200.0, 180.0])
