"""Predictors of users: Python files, functions of modules, and ONNX files."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from test_predictors import car, track
from typer.testing import CliRunner

from jaywalk.cli.main import app
from jaywalk.core.errors import DataError, UsageError
from jaywalk.datasets.trajectories import assemble
from jaywalk.forecasting.cvae.config import CvaeConfig, initial_parameters
from jaywalk.forecasting.cvae.onnx import Graph, cvae_onnx
from jaywalk.forecasting.evaluate import Settings, score
from jaywalk.forecasting.predictors.plugged import predictor_digest, predictor_label, try_once
from jaywalk.forecasting.predictors.registry import make_predictor, ready_predictor
from jaywalk.forecasting.samples import roi_samples
from jaywalk.forecasting.windows import build_windows
from jaywalk.metrics.prediction.forecast import nll_marginal
from jaywalk.runner.config import differences, resolve_config
from jaywalk.runner.plan import AgentSpec, plan_episodes
from jaywalk.runner.request import RunOptions, make_requests
from jaywalk.scenarios.suite import Suite

EXAMPLE = Path(__file__).parents[3] / "examples" / "tutorials" / "slowing_predictor.py"
STRAIGHT = """
def predict(people):
    now, steps = people.history_m[:, -1], people.history_m.shape[1] - 1
    velocity = (now - people.history_m[:, 0]) / (steps * people.step_s)
    return now[:, None] + people.horizons_s[:, None] * velocity[:, None]
"""


@pytest.fixture(scope="module")
def crowd():
    rng = np.random.default_rng(1)
    people, cars = [], []
    for scene in range(5):
        cars.append(car(4.0, 120, f"sim/{scene}"))
        for i in range(6):
            turn = np.cumsum(0.1 * rng.standard_normal(90))
            way = complex(rng.uniform(10, 50), -5) + np.cumsum(0.13j * np.exp(1j * turn))
            people.append(track(f"p{i}", way.real, way.imag, scene=f"sim/{scene}"))
    return assemble(people, cars)


def python_file(folder, text):
    path = folder / "mine.py"
    path.write_text(text)
    return str(path)


def onnx_straight(path, *, positions="positions", horizons=4, answer="mean_m", seen="history_m"):
    """Constant velocity as a network: minus the first position, scaled by the horizon."""
    graph = Graph(name="straight")
    graph.add_input(seen, "float32", ("people", positions, 2))
    first = graph.weight("first", np.array(0, dtype=np.int64))
    middle = graph.weight("middle", np.array([1], dtype=np.int64))
    ahead = -np.arange(1, horizons + 1, dtype=np.float32).reshape(1, horizons, 1)
    start = graph.node("Gather", [seen, first], "start", axis=1)
    start = graph.node("Unsqueeze", [start, middle], "start_wide")
    graph.node("Mul", [start, graph.weight("ahead", ahead)], answer)
    graph.add_output(answer, "float32", ("people", horizons, 2))
    path.write_bytes(graph.model({}))
    return str(path)


def test_the_example_has_15_lines_at_most():
    lines = [line for line in EXAMPLE.read_text().splitlines() if line.strip()]
    assert len(lines) <= 15


@pytest.mark.parametrize("kind", ["python", "module", "onnx"])
def test_a_copy_of_ours_scores_like_ours(crowd, tmp_path, kind, monkeypatch):
    if kind == "onnx":
        name = onnx_straight(tmp_path / "mine.onnx")
    else:
        name = python_file(tmp_path, STRAIGHT)
    if kind == "module":
        monkeypatch.chdir(tmp_path)
        name = "mine:predict"
    windows = build_windows(crowd).with_context(crowd)
    meetings, settings = roi_samples(crowd, windows), Settings(draws=50, resamples=100)
    ours = score(make_predictor("constant-velocity-v1"), windows, meetings, settings)
    theirs = score(make_predictor(name), windows, meetings, settings)
    for metric in ("nll", "ade", "fde", "in_roi"):
        known = np.isfinite(getattr(ours, metric))
        assert known.any()
        same = pytest.approx(getattr(ours, metric)[known], abs=2e-3)
        assert getattr(theirs, metric)[known] == same


def test_modes_weights_and_covariances_are_used(crowd, tmp_path):
    text = """
import numpy as np
def predict(people):
    n, h = len(people), len(people.horizons_s)
    mean = np.repeat(people.history_m[:, -1][:, None, None], 2, axis=1) + np.zeros((n, 2, h, 2))
    mean[:, 1, :, 0] += 2.0
    spread = np.broadcast_to(np.array([[0.5, 0.2], [0.2, 0.3]]), (n, 2, h, 2, 2))
    return {"mean_m": mean, "weight": np.tile([0.25, 0.75], (n, 1)), "covariance_m2": spread}
"""
    windows = build_windows(crowd, full=True)
    predictor = make_predictor(python_file(tmp_path, text))
    assert predictor.fitted(windows) is predictor  # nothing to fit
    forecast = predictor.predict(windows)
    now, spread = windows.history_m[3, -1], [[0.5, 0.2], [0.2, 0.3]]
    expected = -np.log(
        0.25 * multivariate_normal(now, spread).pdf(windows.truth_m[3, 1])
        + 0.75 * multivariate_normal(now + np.array([2.0, 0.0]), spread).pdf(windows.truth_m[3, 1])
    )
    assert nll_marginal(forecast, windows.truth_m, 1)[3] == pytest.approx(expected)
    middle = now + np.array([1.5, 0.0])  # from the first step of the horizon on
    assert predictor.trajectory(windows)[3, 9] == pytest.approx(middle)


def test_a_fitted_spread_of_modes_is_the_likeliest(crowd, tmp_path):
    text = (
        STRAIGHT.replace("return now", "one = now")
        + """
    import numpy as np
    return np.stack([one, one + 1.0], axis=1)
"""
    )
    windows = build_windows(crowd, full=True)
    fitted = make_predictor(python_file(tmp_path, text)).fitted(windows)
    for h, sigma in enumerate(fitted.sigma_m):

        def nll(scale, h=h):
            sigmas = np.array(fitted.sigma_m)
            sigmas[h] *= scale
            other = replace(fitted, sigma_m=tuple(sigmas)).predict(windows)
            return nll_marginal(other, windows.truth_m, h).mean()

        assert sigma > 0.0
        assert nll(1.0) < min(nll(0.9), nll(1.1))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("people.history_m", r"mean_m has the shape \(\d+, 11, 2\); expected \(\d+, 4, 2\)"),
        ("now * float('nan')", r"mean_m has NaN or infinity for \d+ of \d+ people"),
        ("now - now", "relative to the person; add history_m"),
        ("100.0 * now", "expected positions in the frame of history_m, in metres"),
        ("None", "it returned None; expected an array: 'return' may be missing"),
        ("float('nan')", r"mean_m has NaN or infinity for 1 of 1 people"),
        ("exit(3)", r"mine.py, line 6: SystemExit: 3"),
        ("'left'", "mean_m is a str without a regular shape"),
        ("[[0.0], [0.0, 1.0]]", "mean_m is a list without a regular shape"),
        ("{'mean': now}", "the answer has the keys mean; expected an array, or a dict of mean_m"),
        ("{'mean_m': now, 'weight': [1.0]}", r"weight has the shape \(1,\); expected \(\d+, 1\)"),
        ("{'mean_m': now, 'weight': ones + 1.0}", "weights of a person sum to 2; expected prob"),
        ("{'mean_m': now, 'covariance_m2': ones}", "covariance_m2 has the shape"),
        ("{'mean_m': now, 'covariance_m2': zeros}", "not symmetric and positive definite"),
        ("1 / 0", r"mine.py, line 6: ZeroDivisionError: division by zero"),
    ],
)
def test_wrong_answers_are_refused(crowd, tmp_path, answer, said):
    text = f"""
import numpy as np
def predict(people):
    now = np.repeat(people.history_m[:, -1:], 4, axis=1) + 300.0 * 0.0
    ones, zeros = np.ones((len(people), 1)), np.zeros((len(people), 1, 4, 2, 2))
    return {answer}
"""
    far = crowd.tracks.with_columns(x=crowd.tracks["x"] + 900.0)
    windows = build_windows(replace(crowd, tracks=far))
    predictor = make_predictor(python_file(tmp_path, text))
    with pytest.raises(UsageError, match=said) as caught:
        predictor.fitted(windows)
    assert "mine.py" in str(caught.value)
    if answer != "now - now":
        assert "add_a_predictor.md" in str(caught.value)


def test_answers_relative_to_a_person_are_refused_near_the_origin_too(crowd, tmp_path):
    windows = build_windows(crowd)
    assert np.abs(windows.history_m).max() < 100.0
    name = python_file(tmp_path, STRAIGHT + "\nstraight = predict\n")
    with Path(name).open("a") as file:
        file.write("def predict(people):\n")
        file.write("    return straight(people) - people.history_m[:, -1][:, None]\n")
    with pytest.raises(UsageError, match=r"relative to the person; add history_m\[:, -1\]"):
        make_predictor(name).fitted(windows)


def test_a_predictor_with_a_map_need_not_know_places_far_off(crowd, tmp_path):
    text = "    if abs(people.history_m).max() > 5000.0:\n        raise IndexError\n"
    text = STRAIGHT.replace("(people):\n", f"(people):\n{text}")
    assert make_predictor(python_file(tmp_path, text)).fitted(build_windows(crowd)).sigma_m


def test_a_predictor_cannot_change_the_windows(crowd, tmp_path):
    windows = build_windows(crowd)
    before = windows.history_m.copy()
    text = STRAIGHT + "    people.history_m[:] = 0.0\n"
    text = text.replace("    return now", "    answer = now") + "    return answer\n"
    make_predictor(python_file(tmp_path, text)).fitted(windows)
    assert np.array_equal(windows.history_m, before)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def predict(people:\n", r"mine.py, line 1: SyntaxError"),
        ("x = 1\n", r"no function 'predict' and 0 classes"),
        ("\nimport absent_module\n", r"mine.py, line 2: ModuleNotFoundError"),
    ],
)
def test_files_that_are_no_predictors(tmp_path, text, said):
    with pytest.raises(UsageError, match=said):
        make_predictor(python_file(tmp_path, text))


def test_names_that_lead_nowhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="does not exist"):
        make_predictor("absent.py")
    with pytest.raises(UsageError, match=r"file 'absent.onnx' does not exist"):
        make_predictor("absent.onnx")
    with pytest.raises(UsageError, match="with a module that Python can import here"):
        make_predictor("absent_module:predict")
    with pytest.raises(UsageError, match="cannot be loaded: ModuleNotFoundError: No module"):
        make_predictor("absent_module:predict")
    (tmp_path / "walk.py").write_text("def predict(people):\n    return 0\n")
    with pytest.raises(UsageError, match=r"Did you mean the file 'walk.py'"):
        make_predictor("walk")
    with pytest.raises(UsageError, match="json has no 'predict'"):
        make_predictor("json:predict")
    with pytest.raises(UsageError, match="that is not a function"):
        make_predictor("math:pi")
    (tmp_path / "bad.onnx").write_bytes(b"no network")
    with pytest.raises(DataError, match="not a readable ONNX model"):
        make_predictor("bad.onnx")


def test_a_class_may_implement_the_whole_protocol(crowd, tmp_path):
    text = """
from dataclasses import dataclass
from jaywalk.forecasting.samples import PointPredictor

@dataclass(frozen=True, kw_only=True)
class Standing(PointPredictor):
    def trajectory(self, windows):
        return windows.history_m[:, -1:].repeat(windows.future_m.shape[1], axis=1)
"""
    windows = build_windows(crowd)
    mine = make_predictor(python_file(tmp_path, text)).fitted(windows)
    assert mine.sigma_m == make_predictor("stand-still-v1").fitted(windows).sigma_m


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"answer": "output"}, "its outputs are output; expected mean_m"),
        ({"seen": "input"}, "its inputs are input; expected history_m"),
        ({"positions": 8}, "history_m holds 8 positions, but there are 11"),
        ({"horizons": 3}, r"mean_m has the shape \(\d+, 1?,? ?3, 2\); expected"),
    ],
)
def test_networks_that_break_the_contract(crowd, tmp_path, options, said):
    file = onnx_straight(tmp_path / "mine.onnx", **options)
    with pytest.raises(UsageError, match=said):
        make_predictor(file).fitted(build_windows(crowd))


def test_a_network_of_the_wrong_type_is_refused(tmp_path):
    graph = Graph(name="bytes")
    graph.add_input("history_m", "float32", ("people", "positions", 2))
    graph.node("Cast", ["history_m"], "mean_m", to=6)
    graph.add_output("mean_m", "int32", ("people", "positions", 2))
    (tmp_path / "bytes.onnx").write_bytes(graph.model({}))
    with pytest.raises(UsageError, match=r"mean_m is tensor\(int32\) .* expected float32"):
        make_predictor(str(tmp_path / "bytes.onnx"))


def test_our_trained_network_needs_no_prefix(tmp_path):
    config = CvaeConfig(state=8, width=8)
    (tmp_path / "net.onnx").write_bytes(cvae_onnx(config, initial_parameters(config, 0)))
    name, network = ready_predictor(str(tmp_path / "net.onnx"))
    assert type(network).__name__ == "Cvae"
    assert predictor_label(name) == "net"


def test_the_trial_before_a_drive(tmp_path):
    try_once(make_predictor("kalman"), 4)
    try_once(replace(make_predictor(str(EXAMPLE)), sigma_m=(0.1, 0.2, 0.3, 0.4)), 4)
    bad = make_predictor(python_file(tmp_path, "def predict(people):\n    return [1.0]\n"))
    with pytest.raises(UsageError, match="mean_m has the shape"):
        try_once(bad, 4)


def run(*words):
    return CliRunner().invoke(app, ["predict", "eval", *map(str, words)], catch_exceptions=False)


def test_eval_names_files_and_keeps_their_digests(tmp_path):
    rows = [
        f"{10 * step}\t{person}\t{person + 0.3 * step:.3f}\t{0.01 * step * person:.3f}"
        for person in range(12)
        for step in range(20)
    ]
    data = tmp_path / "people.txt"
    data.write_text("\n".join(rows) + "\n")
    few = ("--in-sample", "--resamples", "100", "--draws", "20", "--json")
    done = run(data, *few, "--predictor", EXAMPLE, "--predictor", "stand-still")
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert set(result["predictors"]) == {"slowing_predictor", "stand-still-v1"}
    plain = run(data, *few[:-1], "--predictor", EXAMPLE, "--predictor", "stand-still")
    (following,) = [line for line in plain.stdout.splitlines() if line.startswith("next: ")]
    again = run(*following.removeprefix("next: jaywalk predict eval ").split(), *few[1:5])
    assert again.exit_code == 0, again.output
    about = result["predictor_files"]["slowing_predictor"]
    assert about == {"predictor": str(EXAMPLE), "sha256": predictor_digest(str(EXAMPLE))}
    errors = {name: at[0]["fde"]["value"] for name, at in result["predictors"].items()}
    assert errors["slowing_predictor"] < errors["stand-still-v1"]


def test_a_run_is_named_after_its_predictor():
    def folders(agents, predictor):
        options = RunOptions(subset="1", predictor=predictor)
        return [str(one.run_folder) for one in make_requests("smoke", agents, options)]

    plain, mine = "runs/smoke-comfort-zone", f"{EXAMPLE}"
    assert folders("comfort-zone", "") == folders("comfort-zone", "constant-velocity") == [plain]
    assert folders("comfort-zone", "kalman") == [f"{plain}-kalman-v1"]
    both = folders("expert,comfort-zone", mine)
    assert both == ["runs/smoke-expert", f"{plain}-slowing_predictor"]
    assert folders("comfort-zone", "pkg.slow:predict") == [f"{plain}-pkg.slow-predict"]
    with pytest.raises(UsageError, match=r"file 'absent.py' does not exist"):
        folders("comfort-zone", "absent.py")


def test_a_changed_predictor_is_another_run(tmp_path):
    def config():
        agent = AgentSpec(name="comfort-zone", arguments={"predictor": file})
        suite = Suite(name="none", routes=())
        return resolve_config(suite, agent, plan_episodes(suite, agent, (1,)), {})

    file = python_file(tmp_path, STRAIGHT)
    before = config()
    assert differences(before, config()) == []
    python_file(tmp_path, STRAIGHT + "# another\n")
    (reason,) = differences(before, config())
    assert reason.startswith("content of the predictor's file: ")
