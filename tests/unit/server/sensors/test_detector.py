"""The detector that judges our pictures: geometry of its input and output."""

from __future__ import annotations

import numpy as np

from studies.detector import SIDE_PX, letterbox, overlap
from studies.single_objects import DISTANCES_M, draw_scenes, pictures


def test_overlap_is_intersection_over_union() -> None:
    """Two squares that share a quarter of each: 1 / (4 + 4 - 1)."""
    box = np.array([0.0, 0.0, 2.0, 2.0])
    others = np.array([[1.0, 1.0, 3.0, 3.0], [0.0, 0.0, 2.0, 2.0], [5.0, 5.0, 6.0, 6.0]])
    assert np.allclose(overlap(box, others), [1.0 / 7.0, 1.0, 0.0])


def test_letterbox_keeps_proportions_and_pads_below_with_grey() -> None:
    """An 800 x 600 picture fills 416 x 312 pixels of the square."""
    bgr = np.zeros((600, 800, 3), np.uint8)
    bgr[:, :400] = (10, 20, 30)
    padded, scale = letterbox(bgr)
    assert scale == SIDE_PX / 800
    assert np.array_equal(padded[100, 100], (10.0, 20.0, 30.0))
    assert not padded[:312, 210:].any()
    assert (padded[312:] == 114.0).all()


def test_scenes_follow_from_the_seed_and_cover_all_distances() -> None:
    """Another seed draws other scenes."""
    scenes = draw_scenes(3, 8, "day", "car")
    assert scenes == draw_scenes(3, 8, "day", "car")
    assert scenes != draw_scenes(4, 8, "day", "car")
    for low, high in DISTANCES_M:
        assert sum(low <= scene.distance_m < high for scene in scenes) == 2


def test_scenes_do_not_depend_on_scenes_before_them() -> None:
    """People and riders dress by their actor id; a judge of one class sees what all classes see."""
    ids = [
        scene.first_id
        for weather in ("day", "night")
        for wanted in ("person", "bicycle")
        for scene in draw_scenes(3, 8, weather, wanted)
    ]
    assert len(set(ids)) == len(ids)
    assert all(number & 0xFFFF == ids[0] & 0xFFFF for number in ids)  # apart from the towns' own
    wanted = draw_scenes(3, 2, "day", "bicycle")[:1]
    (alone,) = pictures(wanted)
    list(pictures(draw_scenes(3, 2, "day", "person")))
    (after,) = pictures(wanted)
    assert np.array_equal(alone.bgr, after.bgr)
    assert np.array_equal(alone.box, after.box)
