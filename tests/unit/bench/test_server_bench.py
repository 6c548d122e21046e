import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

import jaywalk_bench.server as bench
from jaywalk.cli.main import app
from jaywalk.core.errors import PrerequisiteError
from jaywalk.server.process import ServerProcess
from jaywalk_bench.calibration import calibration_ms
from jaywalk_bench.scenes import SCENES, Measurement


def point(actors, server_ms, name=""):
    return Measurement(
        name=name or str(actors),
        vehicles=actors // 2,
        walkers=actors // 2,
        ticks=100,
        ticks_per_s=1000.0,
        client_cpu_ms_per_tick=0.2,
        server_cpu_ms_per_tick=server_ms,
    )


def test_a_straight_line_has_linearity_1():
    curve = [point(n, 0.1 + 0.002 * n) for n in bench.CURVE_ACTORS]
    slope_us, linearity = bench.cost_per_actor(curve)
    assert slope_us == pytest.approx(2.0)
    assert linearity == pytest.approx(1.0)


def test_quadratic_growth_is_seen():
    curve = [point(n, 1e-5 * n * n) for n in bench.CURVE_ACTORS]
    assert bench.cost_per_actor(curve)[1] > bench.AIMS["linearity up to 400 actors"]


def test_calibration_is_cpu_time():
    assert calibration_ms(repeats=1) > 0.0


@pytest.fixture
def result():
    cost = {"30+30": 0.3, "30+30 posed": 2.5}
    scenes = [
        point(scene.vehicles + scene.walkers, cost.get(scene.name, 1.0), scene.name)
        for scene in SCENES
    ]
    return bench.ServerBenchmark(
        calibration_ms=30.0,
        startup_s=2.0,
        rss_mb=300.0,
        scenes=tuple(scenes),
        curve=(point(50, 0.2),),
        cost_per_actor_us=1.0,
        linearity=1.0,
    )


def test_aims_stand_next_to_the_numbers(result):
    aims = result.as_dict()["aims"]
    assert aims["server_cpu_ms_per_tick 30+30"] == {"at_most": 0.35, "measured": 0.3, "met": True}
    assert aims["server_cpu_ms_per_tick 30+30 posed"]["met"] is False
    assert replace(result, rss_mb=601.0).as_dict()["aims"]["rss_mb"]["met"] is False


def test_the_verb_prints_json_or_a_table(result, monkeypatch):
    monkeypatch.setattr(bench, "bench_server", lambda **_: result)
    printed = CliRunner().invoke(app, ["bench", "server", "--json"]).output
    assert {scene["name"] for scene in json.loads(printed)["scenes"]} == {s.name for s in SCENES}
    table = CliRunner().invoke(app, ["bench", "server"]).output
    assert "30+30 posed\t1000\t0.20\t2.50" in table
    assert "MISSED" in table
    assert "next:" in table


def test_a_server_that_cannot_start_says_so(capfd):
    with pytest.raises(PrerequisiteError, match="'Nowhere' did not start"):
        ServerProcess(town="Nowhere")
    assert "Nowhere" in capfd.readouterr().err
