"""What predictors are told, and how their answers come back into CARLA's frame."""

import hashlib

import numpy as np
import pytest
from driver_fakes import ClosedLoop, FakeActor, route_along_x

from jaywalk.agents.baselines._comfort_zone import PeopleHistory, to_carla
from jaywalk.agents.catalogue import AGENTS
from jaywalk.agents.driving.perception import Perception
from jaywalk.forecasting.cvae.config import CvaeConfig, initial_parameters
from jaywalk.forecasting.cvae.onnx import cvae_onnx
from jaywalk.metrics.prediction.forecast import Mixture


def scene(*people):
    loop = ClosedLoop(AGENTS.get("blind").load()(), [*people], route_along_x(100.0))
    loop.ego.speed_mps = 2.0
    return loop


def walker(key, x, y, yaw_deg, speed):
    return FakeActor(key, "walker.pedestrian.0001", x, y, yaw_deg, speed, half=(0.2, 0.2, 0.9))


def test_windows_are_right_handed_with_the_car_and_the_neighbours():
    loop = scene(walker(7, 20.0, 6.0, -90.0, 1.0), walker(8, 20.0, 9.0, -90.0, 0.5))
    perception, history = Perception(loop.world, loop.ego), PeopleHistory()
    for tick in range(41):
        snapshot = loop.world.snapshot(tick * 0.05)
        own, seen = perception.own(snapshot), perception.look(snapshot)
        history.note(tick * 0.05, own, seen)
        for actor in loop.world.actors[1:]:
            actor.y -= 0.05 * actor.speed_mps
        loop.ego.x += 0.1
    windows = history.windows(seen)
    assert windows.history_m[0, :, 0] == pytest.approx(np.full(11, 20.0))
    assert windows.history_m[0, :, 1] == pytest.approx(-(4.0 + np.arange(10, -1, -1) * 0.1))
    assert windows.context.ego_m[0, -1] == pytest.approx([own.x_m, -own.y_m])
    assert windows.context.ego_m[0, 0, 0] == pytest.approx(own.x_m - 2.0)
    assert windows.neighbours[0, 0] == pytest.approx([20.0, -8.0, 0.0, 0.5], abs=1e-6)
    assert np.isnan(windows.neighbours[0, 1:]).all()


def test_forecasts_are_mirrored_back():
    covariance = np.array([[0.5, 0.2], [0.2, 0.3]])
    there = Mixture(
        weights=np.ones((1, 1)),
        means_m=np.array([[[[3.0, -4.0]]]]),
        covariances_m2=covariance[None, None, None],
    )
    here = to_carla(there)
    assert here.means_m[0, 0, 0].tolist() == [3.0, 4.0]
    assert here.covariances_m2[0, 0, 0].tolist() == [[0.5, -0.2], [-0.2, 0.3]]


def test_a_trained_network_drives_and_is_named_by_its_file(tmp_path):
    config = CvaeConfig(features="motion+egodist", state=32, width=32)
    path = tmp_path / "tiny.onnx"
    path.write_bytes(cvae_onnx(config, initial_parameters(config, 1)))
    loop = ClosedLoop(
        AGENTS.get("comfort-zone").load()(),
        [walker(7, 30.0, 5.0, -90.0, 1.2)],
        route_along_x(200.0),
        predictor=f"cvae={path}",
    ).run(2.0)
    told = [forecast for decision in loop.decisions for forecast in decision.forecasts]
    assert told
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
    assert {forecast.source for forecast in told} == {f"cvae-v1@{digest}"}
    assert np.isfinite(told[-1].mean_m).all()
