import json
from dataclasses import asdict
from importlib.util import find_spec

import numpy as np
import pytest
from typer.testing import CliRunner

from jaywalk.cli.main import app
from jaywalk.core.errors import DataError, PrerequisiteError, UsageError
from jaywalk.forecasting.cvae.config import CvaeConfig, TrainSettings, initial_parameters
from jaywalk.forecasting.cvae.onnx import cvae_onnx
from jaywalk_bench.predict import DecisionTime, PredictBenchmark, bench_predict


@pytest.fixture(scope="module")
def clips(tmp_path_factory):
    """Six clips like DUT's: a car and people who cross before it."""
    root = tmp_path_factory.mktemp("dut") / "data" / "trajectories_filtered"
    root.mkdir(parents=True)
    rng = np.random.default_rng(3)
    t = np.arange(1, 240) / 23.98
    for clip in range(6):
        people = ["id,frame,label,x_est,y_est,vx_est,vy_est"]
        for i in range(8):
            x, y = rng.uniform(15, 35), -rng.uniform(3, 8)
            speed = rng.uniform(0.8, 1.6)
            people += [
                f"{i},{f + 1},ped,{x + 0.1 * np.sin(s)},{y + speed * s},0,{speed}"
                for f, s in enumerate(t)
            ]
        cars = ["id,frame,label,x_est,y_est,psi_est,vel_est"]
        cars += [f"0,{f + 1},veh,{4 * s},0,0,4" for f, s in enumerate(t)]
        for kind, rows in (("ped", people), ("veh", cars)):
            name = f"intersection_{clip:02d}_traj_{kind}_filtered.csv"
            (root / name).write_text("\n".join(rows))
    return root.parents[1]


def run(*words):
    done = CliRunner().invoke(app, ["predict", *map(str, words)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_gap(clips, tmp_path):
    png = tmp_path / "gaps.png"
    result = json.loads(run("gap", clips, "--json", "--png", png))
    for definition in ("literal", "capped"):
        found = result[definition]
        assert set(found) >= {"n", "q1_s", "median_s", "q3_s", "share_below_2s"}
        assert found["q1_s"] <= found["median_s"] <= found["q3_s"]
        assert result["by_source"]["dut"][definition] == found
    assert result["literal"]["n"] >= result["capped"]["n"] > 0
    assert png.read_bytes()[:4] == b"\x89PNG"
    table = run("gap", clips)
    assert "dut\tliteral" in table
    assert "next: jaywalk predict eval" in table


def test_eval(clips, tmp_path):
    png = tmp_path / "roc.png"
    names = ("constant-velocity-v1", "stand-still-v1")
    words = [word for name in names for word in ("--predictor", name)]
    few = ["--draws", "50", "--resamples", "100"]
    drawn = tmp_path / "forecasts.png"
    pictures = ["--png", png, "--forecasts-png", drawn]
    result = json.loads(run("eval", clips, *words, *few, "--json", "--pairs", *pictures))
    for name in names:
        rows = result["predictors"][name]
        assert [row["horizon_s"] for row in rows] == [1.0, 2.0, 3.0, 4.0]
        for row in rows:
            assert {"n_tracks", "n_samples", "n_positive", "warnings"} <= set(row)
            for metric in ("irs", "nll", "ade", "fde", "ece"):
                assert len(row[metric]["ci95"]) == 2
    assert {pair["metric"] for pair in result["pairs"]} == {"irs", "nll"}
    nll = [p for p in result["pairs"] if p["metric"] == "nll"]
    assert all(p["significant"] and p["difference"] > 0 for p in nll)
    assert {png.read_bytes()[:4], drawn.read_bytes()[:4]} == {b"\x89PNG"}
    assert result["fitted_on"].startswith("other scenes")
    assert "constant-velocity-v1\t1\t" in run("eval", clips, *words[:2], *few, "--in-sample")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """An untrained network: its forecasts are poor, but they are forecasts."""
    file = tmp_path_factory.mktemp("model") / "any.onnx"
    config = CvaeConfig(features="motion+egodist", state=8, width=8)
    file.write_bytes(cvae_onnx(config, initial_parameters(config, 0)))
    return file


def test_eval_of_people_at_their_own_rate(tmp_path):
    """ETH and UCY: 2.5 rows a second, no vehicle; 2 and 4 s are what the rows can tell."""
    for scene in range(3):
        rows = [
            f"{10 * f} {i} {0.4 * f + i} {0.02 * i * f * f}" for i in range(1, 5) for f in range(25)
        ]
        (tmp_path / f"zara{scene}.txt").write_text("\n".join(rows))
    options = ["--draws", 50, "--resamples", 100, "--in-sample"]
    result = json.loads(run("eval", tmp_path, *options, "--json"))
    assert (result["history_s"], result["horizons_s"]) == (1.2, [2.0, 4.0])
    for rows in result["predictors"].values():
        assert [row["horizon_s"] for row in rows] == [2.0, 4.0]
        assert all(row["irs"]["value"] is None and row["nll"]["value"] for row in rows)
    with pytest.raises(UsageError, match="no target rate"):
        run("eval", tmp_path, "--horizons", "4.8")
    with pytest.raises(UsageError, match="as in 2,4"):
        run("eval", tmp_path, "--horizons", "two")


def test_eval_of_a_network_on_held_out_scenes(clips, model):
    names = ("constant-velocity-v1", f"cvae-v1={model}")
    words = [word for name in names for word in ("--predictor", name)]
    few = ["--draws", "50", "--resamples", "100", "--split", "test", "--in-sample"]
    result = json.loads(run("eval", clips, *words, *few, "--json"))
    assert result["split"] == "test"
    straight, network = (result["predictors"][name][3]["nll"]["value"] for name in names)
    assert straight < network
    with pytest.raises(UsageError, match=r"needs a trained model: cvae-v1=FILE.onnx"):
        run("eval", clips, "--predictor", "cvae")
    with pytest.raises(PrerequisiteError, match="does not exist"):
        run("eval", clips, "--predictor", "cvae=absent.onnx")
    with pytest.raises(UsageError, match="no scene is in the split 'best'"):
        run("eval", clips, "--split", "best")


def test_ablate_prints_both_tables_from_models_at_hand(clips, tmp_path):
    names = ("motion", "motion+egodist")
    for name in names:
        config = CvaeConfig(features=name, state=8, width=8)
        (tmp_path / name).mkdir()
        data = cvae_onnx(config, initial_parameters(config, 0))
        (tmp_path / name / "best.onnx").write_bytes(data)
    few = ["--draws", "50", "--resamples", "100"]
    result = json.loads(run("ablate", clips, "--out", tmp_path, *few, "--json"))
    assert [row[1] for row in result["table_iii"][1::3]] == list(names)
    assert len(result["table_iii"][0]) == 14
    assert [row[0] for row in result["table_iv"]] == ["", "1 s", "2 s", "3 s", "4 s"]
    assert result["sources"] == ["dut"]
    with pytest.raises(UsageError, match="no maps"):
        run("ablate", clips, "--out", tmp_path, "--features", "motion+map")


def test_a_model_of_another_recipe_is_not_judged_silently(clips, tmp_path):
    config = CvaeConfig(features="motion", state=8, width=8)
    folder = tmp_path / "motion"
    folder.mkdir()
    (folder / "best.onnx").write_bytes(cvae_onnx(config, initial_parameters(config, 0)))
    settings = asdict(TrainSettings(epochs=7, batch=2048, cosine=True))
    scenes = {"train": ["dut/intersection_00"], "validation": [], "test": []}
    about = {"config": config.as_dict(), "settings": settings, "scenes": scenes}
    (folder / "model.json").write_text(json.dumps(about))
    words = ["ablate", clips, "--out", tmp_path, "--features", "motion", "--state", 8]
    with pytest.raises(UsageError, match="epochs 7 instead of 300, width 8 instead of 16"):
        run(*words, "--width", 16)
    model = f"cvae={folder / 'best.onnx'}"
    few = ["--draws", 50, "--resamples", 100, "--json"]
    with pytest.raises(UsageError, match="wants 11 positions"):
        run("eval", clips, "--predictor", model, "--history", 2, *few)
    told = json.loads(run("eval", clips, "--predictor", model, *few))["warnings"]
    assert len(told) == 1
    assert "trained on 1 of the judged scenes" in told[0]


@pytest.mark.skipif(find_spec("torch") is not None, reason="torch is installed here")
def test_training_without_torch_says_what_to_install(clips, tmp_path):
    with pytest.raises(PrerequisiteError, match=r"pip install 'jaywalk\[train\]'") as found:
        run("train", clips, "--out", tmp_path)
    assert found.value.exit_code == 3


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed (extra 'train')")
def test_training_and_resuming(clips, tmp_path):
    words = ("train", clips, "--out", tmp_path, "--state", 8, "--width", 8, "--json", "--epochs")
    run(*words, 2)
    first = (tmp_path / "best.onnx").read_bytes()
    result = json.loads(run(*words, 4))
    assert result["scenes"]["test"]
    assert (tmp_path / "best.onnx").read_bytes() != first
    with pytest.raises(UsageError, match="another state"):
        run("train", clips, "--out", tmp_path, "--state", 16, "--width", 8)


def test_a_run_is_no_data(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UsageError, match=r"is a run, expected data.*predict export"):
        run("eval", tmp_path)


def test_wrong_words_are_named(clips, tmp_path):
    with pytest.raises(UsageError, match="no source 'citr'; it has dut"):
        run("gap", clips, "--source", "citr")
    with pytest.raises(PrerequisiteError, match="does not exist"):
        run("gap", tmp_path / "absent")
    people_only = tmp_path / "zara.txt"
    people_only.write_text("\n".join(f"{10 * f} 1 {0.4 * f} 0" for f in range(30)))
    with pytest.raises(DataError, match="no vehicles"):
        run("gap", people_only)
    with pytest.raises(UsageError, match="not a multiple"):
        run("eval", people_only, "--horizons", "1,2")
    with pytest.raises(PrerequisiteError, match="Cannot write"):
        run("gap", clips, "--png", tmp_path / "absent" / "x.png")


def test_bench_of_the_statistics(monkeypatch):
    small = bench_predict(models=2, tracks=50, per_track=20, resamples=100)
    assert small.samples == 1000
    assert small.as_dict()["aims"]["irs_s"]["met"]
    slow = PredictBenchmark(
        irs_s=61.0,
        cpu_s=61.0,
        models=8,
        horizons=4,
        tracks=500,
        samples=1,
        resamples=1,
        calibration_ms=30.0,
        decision=DecisionTime(cpu_ms=8.0, wall_ms=9.0, people=30, draws=16, parameters=1),
    )
    monkeypatch.setattr("jaywalk_bench.predict.bench_predict", lambda: slow)
    assert "MISSED" in CliRunner().invoke(app, ["bench", "predict"]).stdout
    printed = json.loads(CliRunner().invoke(app, ["bench", "predict", "--json"]).stdout)
    assert printed["aims"]["irs_s"]["met"] is False
