"""The arithmetic of ``jaywalk bench run``, and the whole of it on made-up episodes."""

import itertools
import json
import math

import pytest
from fake_episodes import fake_suite, fake_workers

from jaywalk_bench import run as bench
from jaywalk_bench.run import EpisodeCost, RunBenchmark, minute_route


def cost(vehicles, people, ms):
    return EpisodeCost(
        vehicles=vehicles,
        people=people,
        simulated_s=60.0,
        wall_s=4.0,
        client_cpu_s=3.0,
        server_cpu_s=1.0,
        driving_cpu_ms_per_tick=ms,
    )


def test_rates_and_costs_per_actor():
    result = RunBenchmark(
        calibration_ms=20.0,
        agent="cruise",
        town="Harbour",
        episodes=(cost(30, 30, 3.0), cost(0, 0, 1.2), cost(60, 30, 3.9), cost(30, 30, 3.0)),
        client_peak_mb=500.0,
        server_peak_mb=300.0,
    )
    values = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    assert values["real_time_factor"] == 15.0
    assert values["simulated_per_cpu_s"] == 15.0
    assert values["aims"]["simulated_per_cpu_s"]["met"] is True
    costs = values["cost_per_actor_us"]
    assert costs["vehicle"] == pytest.approx(30.0)
    assert costs["actor"] == pytest.approx(30.0)
    assert costs["person"] is None  # the town had no room for more


def test_the_route_is_half_a_kilometre_of_road():
    route = minute_route("Harbour").route
    points = [keypoint.position_m for keypoint in route.keypoints]
    steps_m = [math.dist(a, b) for a, b in itertools.pairwise(points)]
    assert route.town == "Harbour"
    assert min(steps_m) > 15.0  # bends cut corners
    assert max(steps_m) < 25.5
    assert sum(steps_m) == pytest.approx(500.0, abs=25.0)


@pytest.mark.slow
def test_measures_worker_and_server(monkeypatch):
    monkeypatch.setattr(bench, "minute_route", lambda town: fake_suite("slow").routes[0])
    with fake_workers():
        result = bench.bench_run()
    assert len(result.episodes) == 4
    assert (result.main.vehicles, result.main.people) == (0, 1)  # what the records hold
    assert result.main.simulated_s == 0.55
    assert result.client_peak_mb > 20.0
    assert result.server_peak_mb > 5.0
