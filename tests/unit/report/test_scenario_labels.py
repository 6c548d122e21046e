"""Labels of the picture of a scenario: readable, whatever stands where."""

from __future__ import annotations

import numpy as np
import pytest

from jaywalk.report.scenario_picture import _ROW, _named, _spread


class Body:
    kind, is_background, yaw_rad, half_x_m, half_y_m = "prop", False, 0.0, 0.3, 0.3

    def __init__(self, type_id: str, x: float, y: float) -> None:
        self.type_id, self.x_m, self.y_m = type_id, x, y


@pytest.mark.parametrize("seed", range(5))
def test_labels_never_overlap_and_stay_inside(seed):
    heights = np.sort(np.random.default_rng(seed).uniform(0.0, 1.0, 18))[::-1].tolist()
    rows = _spread(heights)
    assert len(rows) == 18
    assert max(rows) <= 1.0
    assert min(rows) >= 0.0
    assert (-np.diff(rows)).min() >= _ROW - 1e-9
    assert _spread([]) == []


def test_things_of_a_kind_that_stand_together_share_a_label():
    row = [Body("static.prop.barrel", 4.0 * k, 0.0) for k in range(5)]
    far = Body("static.prop.barrel", 90.0, 0.0)
    cone = Body("static.prop.constructioncone", 1.0, 0.0)
    words = [one.words for one in _named([*row, cone, far])]
    assert words == ["5 × barrel", "constructioncone", "barrel"]
