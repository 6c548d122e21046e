"""Realism metrics on motions whose figures are known."""

import numpy as np
import pytest
from scipy.linalg import sqrtm
from synthetic_motion import still, walking

from jaywalk.core.errors import UsageError
from jaywalk.metrics.motion._diversity import frechet_distance, gaussian_frechet, window_features
from jaywalk.metrics.motion._gait import (
    acceleration_error_mps2,
    acceleration_mps2,
    float_m,
    foot_skating_ratio,
    gait_figures,
    jitter_mps3,
    path_speed_mps,
    penetration_m,
    stance_slip_mps,
)


def feet(height, speed, frames=41, rate=20.0):
    """One foot standing at the origin, one moving at a height."""
    out = np.zeros((frames, 2, 3))
    out[:, :, 2] = 0.017
    out[:, 1, 2] = height
    out[:, 1, 0] = speed * np.arange(frames) / rate
    return out


def test_skating_counts_low_feet_that_move():
    assert foot_skating_ratio(feet(0.03, 0.6), 20.0) == 0.5
    assert foot_skating_ratio(feet(0.03, 0.4), 20.0) == 0.0
    assert foot_skating_ratio(feet(0.06, 2.0), 20.0) == 0.0
    assert foot_skating_ratio(feet(0.03, 0.6, rate=40.0), 40.0) == 0.5


def test_slip_is_the_speed_of_standing_feet():
    assert stance_slip_mps(feet(0.02, 0.2), 20.0, 0.017) == pytest.approx(0.1)
    assert stance_slip_mps(feet(0.04, 0.2), 20.0, 0.017) == 0.0
    assert stance_slip_mps(feet(0.02, 0.2) + 1.0, 20.0, 0.017) == 0.0


def test_penetration_and_float():
    sunk = feet(0.5, 0.0) - np.array([0.0, 0.0, 0.01])
    assert penetration_m(sunk, 0.017) == pytest.approx(0.01)
    assert float_m(sunk, 0.017) == 0.0
    assert float_m(feet(0.5, 0.0) + 0.03, 0.017) == pytest.approx(0.03)


def test_smoothness_of_polynomials():
    time = np.arange(50)[:, None] / 20.0
    points = np.concatenate([time**3 / 6.0 * 5.0, 0 * time, 0 * time], axis=1)
    assert jitter_mps3(points, 20.0) == pytest.approx(5.0, rel=1e-6)
    points = np.concatenate([time**2, 0 * time, 0 * time], axis=1)
    assert acceleration_mps2(points, 20.0) == pytest.approx(2.0)
    assert acceleration_error_mps2(points, 0 * points, 20.0) == pytest.approx(2.0)
    assert jitter_mps3(points[:3], 20.0) == acceleration_mps2(points[:2], 20.0) == 0.0


def test_gait_of_a_known_walk():
    """One-second cycles: two steps a second, half a cycle's way each, feet down 60 %."""
    figures = gait_figures(walking(seconds=8.0, speed_mps=1.2))
    assert figures.cadence_hz == pytest.approx(2.0, rel=0.03)
    assert figures.step_length_m == pytest.approx(0.6, rel=0.05)
    assert figures.double_support == pytest.approx(0.2, abs=0.12)
    assert figures.flight == pytest.approx(0.0, abs=0.02)
    assert figures.speed_mps == pytest.approx(1.2, rel=0.03)
    assert gait_figures(still(frames=100)) is None
    assert path_speed_mps(still(frames=100)) == 0.0


def test_frechet_against_the_matrix_root():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(400, 5)) @ rng.normal(size=(5, 5)) + 0.5
    b = rng.normal(size=(400, 5))
    root = sqrtm(np.cov(a.T) @ np.cov(b.T)).real
    gap = a.mean(0) - b.mean(0)
    truth = gap @ gap + np.trace(np.cov(a.T) + np.cov(b.T) - 2 * root)
    assert gaussian_frechet(a, b) == pytest.approx(truth, rel=1e-8)
    assert gaussian_frechet(a, a) == pytest.approx(0.0, abs=1e-9)


def test_frechet_grows_with_the_difference():
    speeds = np.linspace(0.8, 1.4, 12)
    walks = [window_features(walking(seconds=8.0, speed_mps=s)) for s in speeds]
    even, odd = np.concatenate(walks[::2]), np.concatenate(walks[1::2])
    stands = np.concatenate([window_features(still(frames=81)) for _ in range(12)])
    assert frechet_distance(odd, even) < 0.1 * frechet_distance(stands, even)
    with pytest.raises(UsageError, match="windows"):
        frechet_distance(odd[:3], even)
    assert window_features(still(frames=10)).shape == (0, even.shape[1])
