"""Values measured on DUT and CITR before this code existed; needs the shared data."""

from pathlib import Path

import numpy as np
import pytest

from jaywalk.datasets.vci import read_vci
from jaywalk.forecasting.evaluate import Settings, score
from jaywalk.forecasting.gaps import gap_report
from jaywalk.forecasting.predictors.registry import make_predictor
from jaywalk.forecasting.samples import roi_samples
from jaywalk.forecasting.windows import build_windows
from jaywalk.metrics.prediction.displacement import ade_point, fde_point
from jaywalk.metrics.prediction.irs import FPR_TARGETS, irs

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "vci"
pytestmark = [
    pytest.mark.data,
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.exists(), reason="needs ../shared/data/vci"),
]

# Error at the horizon and averaged up to it, metres.
ERRORS = {
    ("dut", "last-step-v1"): ([0.194, 0.454, 0.759, 1.093], [0.105, 0.217, 0.350, 0.497]),
    ("dut", "constant-velocity-v1"): ([0.167, 0.401, 0.675, 0.975], [0.092, 0.193, 0.312, 0.443]),
    ("dut", "stand-still-v1"): ([1.241, 2.475, 3.712, 4.953], None),
    ("citr", "last-step-v1"): ([0.217, 0.545, 0.906, 1.257], [0.111, 0.249, 0.412, 0.583]),
    ("citr", "constant-velocity-v1"): ([0.222, 0.536, 0.861, 1.166], [0.118, 0.255, 0.409, 0.564]),
}
WINDOWS = {"dut": (783, 7989), "citr": (318, 2863)}


@pytest.fixture(scope="module")
def data():
    return read_vci(DATA)


@pytest.fixture(scope="module")
def report(data):
    return gap_report(data, resamples=200)[0]


@pytest.mark.parametrize(
    ("source", "quartiles", "share"),
    [("dut", (1.82, 3.14, 4.85), 0.30), ("citr", (1.32, 2.24, 2.63), 0.39)],
)
def test_literal_gap_quartiles(report, source, quartiles, share):
    found = report["by_source"][source]["literal"]
    assert [found[k] for k in ("q1_s", "median_s", "q3_s")] == pytest.approx(quartiles, abs=0.05)
    assert found["share_below_2s"] == pytest.approx(share, abs=0.01)
    low, high = found["median_ci90_s"]
    assert low < found["median_s"] < high


@pytest.mark.parametrize(
    ("source", "quartiles", "share"),
    [("dut", (1.50, 2.24, 3.17), 0.48), ("citr", (1.25, 2.08, 2.61), 0.44)],
)
def test_capped_gap_quartiles(report, source, quartiles, share):
    found = report["by_source"][source]["capped"]
    assert [found[k] for k in ("q1_s", "median_s", "q3_s")] == pytest.approx(quartiles, abs=0.05)
    assert found["share_below_2s"] == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize(("source", "name"), ERRORS)
def test_constant_velocity_errors(data, source, name):
    windows = build_windows(data.of_source(source), full=True)
    assert (np.unique(windows.track).size, len(windows)) == WINDOWS[source]
    guess = make_predictor(name).trajectory(windows)
    steps = list(windows.horizon_steps)
    at, up_to = ERRORS[source, name]
    assert fde_point(guess, windows.future_m).mean(axis=0)[steps] == pytest.approx(at, abs=0.001)
    if up_to:
        found = ade_point(guess, windows.future_m).mean(axis=0)[steps]
        assert found == pytest.approx(up_to, abs=0.001)


def test_irs_of_constant_velocity_on_citr(data):
    """Smoke-test values: spread fitted in sample, other draws, hence the tolerance."""
    part = data.of_source("citr")
    windows = build_windows(part)
    meetings = roi_samples(part, windows)
    said = score(
        make_predictor("constant-velocity-v1"), windows, meetings, Settings(draws=300, folds=1)
    )
    labels = np.array([m.labels for m in meetings])
    tracks = windows.track[[m.window for m in meetings]]
    expected = [(1662, 341, 0.842), (1593, 305, 0.565), (1482, 183, 0.787), (1331, 83, 0.893)]
    for h, (target, (n, positive, value)) in enumerate(
        zip(FPR_TARGETS.values(), expected, strict=True)
    ):
        known = labels[:, h] >= 0
        found = irs(
            said.in_roi[known, h], labels[known, h], tracks[known], fpr_target=target, resamples=0
        )
        assert found.n_samples == pytest.approx(n, rel=0.01)
        assert found.n_positive == pytest.approx(positive, abs=6)
        assert found.value == pytest.approx(value, abs=0.03)
