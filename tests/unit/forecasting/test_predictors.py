"""Windows, predictors and the questions asked about vehicles, on tracks made by hand."""

from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from jaywalk.core.errors import DataError, RegistryError, UsageError
from jaywalk.datasets.trajectories import assemble
from jaywalk.forecasting.ablation import compare
from jaywalk.forecasting.evaluate import Settings, fold_of, score, summarise
from jaywalk.forecasting.gaps import find_meetings, gap_report
from jaywalk.forecasting.predictors.registry import make_predictor, ready_names
from jaywalk.forecasting.samples import roi_samples
from jaywalk.forecasting.windows import build_windows, usual_times
from jaywalk.metrics.prediction.forecast import isotropic, nll_marginal


def track(name, x, y, k=None, scene="sim/a"):
    n = np.broadcast(x, y).size
    return pl.DataFrame(
        {
            "k": np.arange(n) if k is None else k,
            "x": np.broadcast_to(x, n).astype(float),
            "y": np.broadcast_to(y, n).astype(float),
        }
    ).with_columns(
        pl.lit(scene).alias("scene_id"),
        pl.lit(name).alias("track_id"),
        pl.lit("sim").alias("source"),
    )


def car(speed, n=100, scene="sim/a", start=0.0):
    k = np.arange(n)
    return pl.DataFrame({"k": k, "x": start + 0.1 * speed * k, "y": np.zeros(n)}).with_columns(
        pl.lit(scene).alias("scene_id"),
        pl.lit("0").alias("ego_id"),
        pl.lit(0.0).alias("yaw"),
        pl.lit(float(speed)).alias("v"),
        pl.lit(4.0).alias("length"),
        pl.lit(2.0).alias("front_overhang"),
    )


@pytest.fixture(scope="module")
def crowd():
    rng = np.random.default_rng(0)
    people, cars = [], []
    for scene in range(6):
        name = f"sim/{scene}"
        cars.append(car(4.0, 120, name))
        for i in range(12):
            turn = np.cumsum(0.15 * rng.standard_normal(90))
            step = 0.13 * np.exp(1j * (turn + rng.uniform(-0.3, 0.3) + np.pi / 2))
            way = complex(rng.uniform(10, 50), -5) + np.cumsum(step)
            people.append(track(f"{name}/{i}", way.real, way.imag, scene=name))
    return assemble(people, cars)


def test_windows_of_one_track():
    data = assemble([track("t", 0.1 * np.arange(60), 0.0)], [])
    windows = build_windows(data)
    assert windows.k.tolist() == list(range(10, 50, 5))
    assert windows.history_m.shape[1:] == (11, 2)
    assert windows.horizons_s == (1.0, 2.0, 3.0, 4.0)
    assert np.isfinite(windows.truth_m[:, :, 0]).sum(axis=0).tolist() == [8, 6, 4, 2]
    assert windows.truth_m[0, :, 0] == pytest.approx([2.0, 3.0, 4.0, 5.0])
    assert len(build_windows(data, full=True)) == 2


def test_short_and_broken_tracks_are_counted():
    k = np.concatenate([np.arange(30), np.arange(40, 75)])
    data = assemble(
        [
            track("short", np.zeros(8), 0.0),
            track("hole", np.zeros(65), 1.0, k),
            track("middling", np.zeros(15), 2.0),
        ],
        [],
    )
    windows = build_windows(data)
    assert windows.excluded == {
        "track shorter than the history": 1,
        "track shorter than the history and 10 steps ahead": 1,
        "track with holes, cut into pieces": 1,
    }
    # No window may look across the hole.
    assert windows.k.tolist() == [10, 15, 50, 55, 60]
    with pytest.raises(UsageError, match="not a multiple"):
        build_windows(data, history_s=0.25)


@pytest.mark.parametrize("name", [name for name in ready_names() if "still" not in name])
def test_straight_walkers_are_foretold(name):
    data = assemble([track("t", 0.12 * np.arange(80), 0.05 * np.arange(80))], [])
    windows = build_windows(data, full=True)
    guess = make_predictor(name).trajectory(windows)
    assert guess == pytest.approx(windows.future_m, abs=0.03 if "kalman" in name else 1e-9)


@pytest.mark.parametrize("name", ready_names())
def test_every_predictor_gives_a_distribution(crowd, name):
    windows = build_windows(crowd)
    fitted = make_predictor(name).fitted(windows)
    mixture = fitted.predict(windows)
    assert mixture.means_m.shape == (len(windows), 1, 4, 2)
    spread = mixture.covariances_m2[0, 0, :, 0, 0]
    assert np.all(np.diff(spread) > 0.0)
    # A fitted spread beats one that is twice as wide or half as wide.
    known = np.isfinite(windows.truth_m[:, 3]).all(axis=1)
    part = mixture.rows(known)

    def nll(scale):
        other = type(part)(
            weights=part.weights,
            means_m=part.means_m,
            covariances_m2=scale**2 * part.covariances_m2,
        )
        return nll_marginal(other, windows.truth_m[known], 3).mean()

    assert nll(1.0) < min(nll(2.0), nll(0.5))


def test_unfitted_and_unknown_predictors_say_so(crowd):
    windows = build_windows(crowd)
    with pytest.raises(UsageError, match="fit the predictor"):
        make_predictor("stand-still-v1").predict(windows)
    with pytest.raises(RegistryError, match="Did you mean 'kalman-v1'"):
        make_predictor("kalmann-v1")


def test_people_give_way_to_each_other():
    k = np.arange(60)
    data = assemble([track("a", 0.1 * k, 0.0), track("b", 8.0 - 0.1 * k, 0.2)], [])
    windows = build_windows(data)
    meeting = windows.rows((windows.k == 20) & (windows.track == 0))
    assert np.isfinite(meeting.neighbours[0, :, 0]).sum() == 1
    assert meeting.neighbours[0, 0] == pytest.approx([6.0, 0.2, -1.0, 0.0])
    walked = make_predictor("social-force-v1").trajectory(meeting)[0]
    straight = make_predictor("constant-velocity-v1").trajectory(meeting)[0]
    assert straight[:, 1] == pytest.approx(0.0)
    assert walked[:, 1].min() < -0.1  # away from b, who comes on the other side
    alone = windows.rows((windows.k == 10) & (windows.track == 1))
    assert np.isnan(alone.neighbours).all()  # 6 m apart: too far to matter


def test_zones_labels_and_relevance():
    """A car at 4 m/s and a person who stands 20 m ahead on its path."""
    data = assemble([track("t", np.full(90, 20.0), 0.0)], [car(4.0)])
    windows = build_windows(data)
    found = roi_samples(data, windows)
    first = found[0]
    front = 0.4 * windows.k[first.window] + 2.0
    assert 20.0 - front < 5.0 * 4.0
    assert [zone.start_m for zone in first.zones] == pytest.approx(
        [front + 4.0 * t for t in (1, 2, 3, 4)]
    )
    assert first.zones[0].end_m - first.zones[0].start_m == pytest.approx(12.0)
    inside = [bool(z.start_m <= 20.0 <= z.end_m) for z in first.zones]
    assert first.labels.tolist() == [int(flag) for flag in inside]
    # Behind the bumper, or with the car standing, nobody is relevant.
    assert max(0.4 * windows.k[s.window] + 2.0 for s in found) < 20.0
    still = assemble([track("t", np.full(90, 20.0), 0.0)], [car(0.0)])
    assert roi_samples(still, build_windows(still)) == []


def test_labels_without_truth_are_unknown():
    data = assemble([track("t", np.full(30, 20.0), 0.0)], [car(4.0)])
    windows = build_windows(data)
    labels = np.array([s.labels for s in roi_samples(data, windows)])
    assert np.all(labels[:, 0] >= 0)
    assert np.all(labels[:, 2:] == -1)


def test_the_gap_of_a_dataset():
    k = np.arange(80)
    data = assemble([track("t", np.full(80, 30.0), -4.0 + 0.1 * k)], [car(4.0)])
    (one,) = find_meetings(data)
    assert one.track_id == "t"
    assert one.crossing.enter_s == pytest.approx(2.5)
    assert one.crossing.leave_s == pytest.approx(5.5)
    assert one.crossing.gap_refined_s == pytest.approx((28.0 - 4.0 * 5.5) / 4.0)


def test_crossings_at_lights_are_left_out_and_counted():
    k = np.arange(80)
    people = [track(name, np.full(80, 30.0), -4.0 + 0.1 * k) for name in "tu"]
    data = assemble(people, [car(4.0)])
    lit = data.meta.with_columns(traffic_light=pl.col("track_id") == "u")
    report, _ = gap_report(replace(data, meta=lit), resamples=10)
    assert report["literal"]["n"] == 1
    assert report["excluded"] == {"crossing at a traffic light": 1}


def test_a_name_may_come_back_in_another_scene():
    k = np.arange(80)
    people = [track("t", np.full(80, 30.0), -4.0 + 0.1 * k, scene=s) for s in ("sim/a", "sim/b")]
    data = assemble(people, [car(4.0, scene=s) for s in ("sim/a", "sim/b")])
    assert gap_report(data, resamples=10)[0]["literal"]["n_people"] == 2
    assert np.unique(build_windows(data).track).size == 2


def test_coarse_data_get_the_times_they_hold():
    slow = track("t", 0.1 * np.arange(0, 80, 4), 0.0, k=np.arange(0, 80, 4))
    data = assemble([slow], [], stride=4)
    times = usual_times(data)
    assert (times.history_s, times.horizons_s, times.every_s) == (1.2, (2.0, 4.0), 0.4)
    windows = build_windows(
        data, history_s=times.history_s, horizons_s=times.horizons_s, every_s=times.every_s
    )
    assert windows.history_m.shape[1:] == (4, 2)
    assert windows.horizons_s == (2.0, 4.0)


def test_no_people_is_an_error():
    empty = assemble([], [car(4.0)], excluded=Counter({"scenario without people": 1}))
    for judge in (build_windows, gap_report):
        with pytest.raises(DataError, match=r"no people.*scenario without people"):
            judge(empty)


def test_a_forecast_of_nothing_is_an_error(crowd):
    class Broken:
        def fitted(self, windows):
            return self

        def predict(self, windows):
            means = np.full((len(windows), 4, 2), np.nan)
            return isotropic(means, np.ones(4))

    windows = build_windows(crowd)
    with pytest.raises(DataError, match="NaN or infinity"):
        score(Broken(), windows, [], Settings(draws=20, resamples=10, folds=1))


def test_pairs_have_no_irs_where_the_data_have_none(crowd):
    windows = build_windows(crowd)
    meetings = roi_samples(crowd, windows)[:15]
    settings = Settings(draws=20, resamples=50, folds=1)
    names = ("constant-velocity-v1", "stand-still-v1")
    scores = {name: score(make_predictor(name), windows, meetings, settings) for name in names}
    rows = [row for row in compare(scores, windows, meetings, settings) if row["metric"] == "irs"]
    assert rows[0]["difference"] is None
    assert not rows[0]["significant"]


def test_evaluation_ranks_predictors_and_repeats_itself(crowd):
    windows = build_windows(crowd)
    meetings = roi_samples(crowd, windows)
    settings = Settings(draws=100, resamples=200, folds=3)
    rows = {}
    for name in ("constant-velocity-v1", "stand-still-v1"):
        said = score(make_predictor(name), windows, meetings, settings)
        rows[name] = summarise(said, windows, meetings, settings)
        again = score(make_predictor(name), windows, meetings, settings)
        assert np.array_equal(said.in_roi, again.in_roi)
        assert np.array_equal(said.ade, again.ade, equal_nan=True)
    good, bad = rows["constant-velocity-v1"], rows["stand-still-v1"]
    for better, worse in zip(good, bad, strict=True):
        assert better["nll"]["value"] < worse["nll"]["value"]
        assert better["fde"]["value"] < worse["fde"]["value"]
        assert better["n_positive"] == worse["n_positive"] > 0
        assert better["irs"]["value"] > worse["irs"]["value"]
        low, high = better["nll"]["ci95"]
        assert low < better["nll"]["value"] < high
    fold = fold_of(windows, 3)
    for scene in np.unique(windows.scene):
        assert np.unique(fold[windows.scene == scene]).size == 1
