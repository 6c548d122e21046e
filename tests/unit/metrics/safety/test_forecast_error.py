"""Forecasts in a record against what people did."""

import math

import numpy as np
import pytest
from hand_records_safety import Scene, straight

from jaywalk.metrics.safety._forecast_error import forecast_batches, forecast_errors
from jaywalk.record.tracks import load_tracks


def drive(seconds=6.0):
    scene = Scene(seconds=seconds)
    scene.add("vehicle", straight(0.0, 0.0, 30.0, 5.0))
    scene.add("walker", straight(20.0, 0.0, 90.0, 1.2))
    scene.add("walker", straight(30.0, 5.0, 180.0, 1.0))
    return scene


def forecast(tick, actor, points, mode=0, weight=1.0, times=(0.5, 1.0, 1.5), **more):
    x, y = np.array(points, dtype=float).T
    row = {
        "tick": tick,
        "actor": actor,
        "source": "cv-v1",
        "mode": mode,
        "frame": "world",
        "weight": weight,
        "time_s": list(times),
        "x_m": list(x),
        "y_m": list(y),
    }
    return "forecasts", row | more


def errors(scene, tmp_path):
    record = scene.write(tmp_path / "episode")
    return forecast_errors(record, load_tracks(record))


def truth(t):
    return 20.0, 1.2 * t


def test_a_point_forecast(tmp_path):
    """Right at first, then 0.3 m and 0.6 m off."""
    scene = drive()
    points = [truth(1.5), (20.3, truth(2.0)[1]), (20.0, truth(2.5)[1] - 0.6)]
    scene.rows.append(forecast(20, 1, points))
    (found,) = errors(scene, tmp_path)
    assert (found.source, found.forecasts) == ("cv-v1", 1)
    assert found.ade_m == pytest.approx(0.3, abs=1e-4)
    assert found.fde_m == pytest.approx(0.6, abs=1e-4)


def test_samples_are_averaged_and_the_best_is_told(tmp_path):
    scene = drive()
    for mode, off in enumerate((0.0, 1.0, 2.0)):
        points = [(20.0 + off, truth(1.0 + t)[1]) for t in (0.5, 1.0, 1.5)]
        scene.rows.append(forecast(20, 1, points, mode, 1 / 3))
    (found,) = errors(scene, tmp_path)
    assert found.ade_m == pytest.approx(1.0, abs=1e-4)
    assert found.best_ade_m == pytest.approx(0.0, abs=1e-4)


def test_a_mixture_is_judged_by_its_mean(tmp_path):
    scene = drive()
    for mode, (off, weight) in enumerate(((-1.0, 0.75), (1.0, 0.25))):
        points = [(20.0 + off, truth(1.0 + t)[1]) for t in (0.5, 1.0, 1.5)]
        spread = {name: [0.1] * 3 for name in ("var_xx_m2", "var_xy_m2", "var_yy_m2")}
        scene.rows.append(forecast(20, 1, points, mode, weight, **spread))
    (found,) = errors(scene, tmp_path)
    assert found.ade_m == pytest.approx(0.5, abs=1e-4)
    assert found.best_ade_m == pytest.approx(1.0, abs=1e-4)


def test_a_forecast_in_the_frame_of_the_ego(tmp_path):
    scene = drive()
    t, angle = 1.0, np.radians(30.0)
    ego = np.array([5.0 * t * np.cos(angle), 5.0 * t * np.sin(angle)])
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    points = [turn @ (np.array(truth(t + after)) - ego) for after in (0.5, 1.0, 1.5)]
    scene.rows.append(forecast(20, 1, points, frame="ego"))
    (found,) = errors(scene, tmp_path)
    assert found.ade_m == pytest.approx(0.0, abs=1e-4)


def test_horizons_past_the_end_have_no_truth(tmp_path):
    scene = drive()
    right = [(20.0, truth(5.0 + t)[1] + 0.5) for t in (0.5, 1.0, 1.5)]
    scene.rows.append(forecast(100, 1, right))  # 5 s: only 0.5 and 1.0 are known
    scene.rows.append(forecast(120, 1, right))  # 6 s: none is
    (found,) = errors(scene, tmp_path)
    assert found.forecasts == 1
    assert found.ade_m == pytest.approx(0.5, abs=1e-4)
    assert math.isnan(found.fde_m)


def test_somebody_who_left_has_no_truth(tmp_path):
    scene = drive()
    scene.life[1] = (0.0, 2.0)
    scene.rows.append(forecast(20, 1, [(20.0, truth(1.0 + t)[1]) for t in (0.5, 1.0, 1.5)]))
    record = scene.write(tmp_path / "episode")
    (batch,) = forecast_batches(record, load_tracks(record))
    assert np.isfinite(batch.truth_m[0, :, 0]).tolist() == [True, True, False]


def test_sources_and_shapes_are_kept_apart(tmp_path):
    scene = drive()
    scene.rows.append(forecast(20, 1, [(20.0, truth(1.5)[1])], times=(0.5,)))
    scene.rows.append(forecast(20, 2, [(28.5, 6.0)], times=(0.5,)))  # 1 m off
    scene.rows.append(forecast(40, 2, [(27.5, 8.0), (27.0, 8.0)], times=(0.5, 1.0)))  # 3 m off
    scene.rows.append(forecast(40, 2, [(27.0, 5.0)], times=(1.0,), source="other-v2"))
    found = {one.source: one for one in errors(scene, tmp_path)}
    assert found["cv-v1"].forecasts == 3
    assert found["cv-v1"].ade_m == pytest.approx((0.0 + 1.0 + 3.0) / 3.0, abs=1e-4)
    assert found["other-v2"].ade_m == pytest.approx(0.0, abs=1e-4)


def test_no_forecasts_no_errors(tmp_path):
    assert errors(drive(), tmp_path) == []
