import numpy as np
import pytest

from jaywalk.forecasting.behaviour._targets import risk_region
from jaywalk.forecasting.behaviour.models.baselines import (
    constant_velocity,
    last_state,
    region_probabilities,
)


def test_extrapolation():
    centres = np.array([np.arange(15) * 2.0 + 100.0, np.full(15, 7.0)])
    assert constant_velocity(centres).tolist() == [128.0 + 180.0, 7.0]
    assert last_state(centres).tolist() == [128.0, 7.0]


@pytest.mark.parametrize("width", [1920, 1280])
def test_the_likeliest_region_holds_the_centre(width):
    centres = np.linspace(-3 * width, 4 * width, 1234)
    p = region_probabilities(centres, np.full(len(centres), float(width)))
    assert p.sum(1) == pytest.approx(1.0)
    assert p.argmax(1).tolist() == [risk_region(c, width, 12) for c in centres]
