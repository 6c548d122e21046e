"""The network without torch: sizes, ONNX against plain numpy, what it reads, splits and maps."""

import numpy as np
import polars as pl
import pytest

from jaywalk.core.errors import DataError, UsageError
from jaywalk.datasets.semantic_map import SemanticMap, network_labels, read_maps, write_maps
from jaywalk.datasets.trajectories import assemble, read_trajectories, write_trajectories
from jaywalk.forecasting.cvae.config import (
    FEATURE_SETS,
    CvaeConfig,
    feature_set,
    folded_arrays,
    initial_parameters,
    parameter_count,
    parameter_shapes,
)
from jaywalk.forecasting.cvae.onnx import cvae_onnx
from jaywalk.forecasting.cvae.predictor import Cvae, straight_crops
from jaywalk.forecasting.cvae.samples import (
    history_steps,
    load_samples,
    samples_of,
    windows_by_track,
)
from jaywalk.forecasting.learning import missing_features, possible_sets
from jaywalk.forecasting.splits import largest_remainder, split_scenes, splits_of
from jaywalk.forecasting.windows import build_windows
from studies.two_mode_crossing import two_mode_crossing

# State, width, with map: motion, + egodist, + head & body, both (section 8 of the spec).
COUNTS = {
    (256, 384, ""): (1_536_676, 1_538_724, 1_540_772, 1_542_820),
    (384, 640, ""): (3_668_644, 3_671_716, 3_674_788, 3_677_860),
    (256, 256, "+map"): (3_442_100, 3_444_148, 3_446_196, 3_448_244),
    (384, 512, "+map"): (5_363_124, 5_366_196, 5_369_268, 5_372_340),
}


@pytest.mark.parametrize(("size", "counts"), COUNTS.items())
def test_parameter_counts(size, counts):
    state, width, with_map = size
    for more, count in zip(
        ("", "+egodist", "+head&body", "+egodist+head&body"), counts, strict=True
    ):
        name = f"motion{with_map}{more}"
        assert parameter_count(CvaeConfig(features=name, state=state, width=width)) == count


def test_parameters_of_the_map_encoder():
    for classes, count in ((3, 2_222_172), (8, 2_222_352), (11, 2_222_460)):
        shapes = parameter_shapes(CvaeConfig(features="motion+map", map_classes=classes))
        own = {n: s for n, s in shapes.items() if n.startswith(("conv", "map"))}
        assert sum(int(np.prod(shape)) for shape in own.values()) == count


def test_feature_sets():
    assert len(FEATURE_SETS) == len({one.name for one in FEATURE_SETS}) == 8
    assert [one.size for one in FEATURE_SETS] == [1, 2, 2, 3, 2, 3, 3, 4]
    assert feature_set("motion+head&body").columns == (0, 1, 4, 5, 6, 7)
    with pytest.raises(UsageError, match="expected one of: motion, "):
        feature_set("gaze")
    with pytest.raises(UsageError, match="multiple of 32"):
        CvaeConfig(map_px=100)


def numpy_forecast(config, plain, steps, latent, crop=None):
    """The network spelt out in double precision."""
    p = {name: value.astype(np.float64) for name, value in plain.items()}

    def linear(name, x):
        return x @ p[f"{name}.weight"].T + p[f"{name}.bias"]

    def sigmoid(x):
        return 1.0 / (1.0 + np.exp(-x))

    x = steps.astype(np.float64)
    for name in ("lstm1", "lstm2"):
        h = c = np.zeros((len(x), config.state))
        out = []
        for t in range(x.shape[1]):
            gates = linear(f"{name}.input", x[:, t]) + linear(f"{name}.state", h)
            i, f, g, o = np.split(gates, 4, axis=1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
            out.append(h)
        x = np.stack(out, axis=1)
    code = linear("embed", x[:, -1])
    if crop is not None:
        code = np.concatenate([code, numpy_map(p, crop, linear)], axis=1)
    rows = [np.concatenate([person, z]) for person in code for z in latent]
    y = np.array(rows)
    for i in (1, 2, 3):
        y = np.maximum(linear(f"predict{i}", y), 0.0)
    y = linear("predict4", y).reshape(len(steps), len(latent), 2, 4, 2)
    return y[:, :, 0], y[:, :, 1]


def numpy_map(p, crop, linear):
    x = np.eye(8)[crop].transpose(0, 3, 1, 2)
    for i in range(8):
        weight = p[f"conv{i}.weight"]
        wide = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        size = x.shape[2]
        x = p[f"conv{i}.bias"][:, None, None] + sum(
            np.einsum("ncyx,oc->noyx", wide[:, :, r : r + size, c : c + size], weight[:, :, r, c])
            for r in range(3)
            for c in range(3)
        )
        x = np.maximum(x, 0.0)
        if i in (0, 1, 3, 5, 7):
            n, channels, size, _ = x.shape
            x = x.reshape(n, channels, size // 2, 2, size // 2, 2).max(axis=(3, 5))
    return linear("map2", np.maximum(linear("map1", x.reshape(len(x), -1)), 0.0))


@pytest.mark.parametrize("features", ["motion+egodist", "motion+map+egodist+head&body"])
def test_onnx_equals_the_network_spelt_out(features, tmp_path):
    config = CvaeConfig(features=features, state=12, width=20, map_px=64)
    parameters = initial_parameters(config, 3)
    for name in parameters:
        if name.endswith(".gain"):
            parameters[name] = parameters[name] * 1.5
    file = tmp_path / "model.onnx"
    file.write_bytes(cvae_onnx(config, parameters))
    model = Cvae(file=file, draws=5)
    assert model.config == config
    rng = np.random.default_rng(0)
    steps = rng.normal(size=(4, 10, 8)).astype(np.float32)
    crop = rng.integers(0, 8, (4, 64, 64)).astype(np.uint8) if config.set.map else None
    mean, log_variance = model.run(steps, crop)
    wanted = numpy_forecast(
        config,
        folded_arrays(parameters),
        (steps * np.array([10, 10, 0.1, 0.1, 1, 1, 1, 1]))[:, :, list(config.set.columns)],
        model._latent.astype(np.float64),
        crop,
    )
    # Single precision through ten layers of maps, against double.
    assert mean == pytest.approx(wanted[0], abs=1e-4)
    assert log_variance == pytest.approx(wanted[1], abs=1e-4)


def test_gains_scale_directions():
    config = CvaeConfig(state=4, width=4)
    parameters = initial_parameters(config, 0)
    plain = folded_arrays(parameters)
    assert plain["embed.weight"] == pytest.approx(parameters["embed.weight"])
    parameters["embed.gain"] = np.full_like(parameters["embed.gain"], 2.0)
    norms = np.linalg.norm(folded_arrays(parameters)["embed.weight"], axis=1)
    assert norms == pytest.approx(2.0)
    assert not any(name.endswith(".gain") for name in plain)


@pytest.fixture(scope="module")
def street():
    """One walker going north past two cars; the map is known, the head for half of the time."""
    k = np.arange(80)
    head = [0.5 if i >= 40 else None for i in range(80)]
    walker = pl.DataFrame(
        {
            "scene_id": "sim/a",
            "course_id": "T",
            "track_id": "t",
            "k": k,
            "x": 0.0 * k + 2.0,
            "y": 0.1 * k,
            "head_rad": head,
            "source": "sim",
        }
    )
    cars = [
        pl.DataFrame(
            {
                "scene_id": "sim/a",
                "ego_id": name,
                "k": k[20:],
                "x": x + 0.2 * k[20:],
                "y": 0.0 * k[20:],
                "v": 2.0,
                "front_overhang": 1.0,
            }
        )
        for name, x in (("near", 5.0), ("far", 50.0))
    ]
    labels = np.zeros((200, 300), dtype=np.uint8)
    labels[:, 150:] = 6
    ground = SemanticMap(labels=labels, origin_m=(-13.0, -5.0), cell_m=0.1)
    data = assemble([walker], cars)
    return type(data)(tracks=data.tracks, ego=data.ego, meta=data.meta, maps={"T": ground})


def test_what_the_network_reads(street):
    windows = build_windows(street).with_context(street)
    steps = history_steps(windows)
    assert steps[:, :, 0] == pytest.approx(0.0)
    assert steps[:, :, 1] == pytest.approx(0.1)
    at = int(np.flatnonzero(windows.k == 40)[0])
    # The nearer of the two cars, relative to the person, at each of the last ten steps.
    assert steps[at, :, 2] == pytest.approx(3.0 + 0.2 * np.arange(31, 41))
    assert steps[at, :, 3] == pytest.approx(-0.1 * np.arange(31, 41))
    assert steps[at, -1, 4:6] == pytest.approx([np.cos(0.5), np.sin(0.5)])
    assert not steps[at, :-1, 4:].any()  # no label: the zero vector
    early = int(np.flatnonzero(windows.k == 15)[0])
    assert not steps[early, :, 2:4].any()  # no car yet
    samples = samples_of(windows)
    assert samples.future[at, :, 1] == pytest.approx([1.0, 2.0, 3.0, np.nan], nan_ok=True)
    assert np.all(samples.raster == 0)
    crop = straight_crops(samples, CvaeConfig(features="motion+map", map_px=64))[at]
    # The zebra begins at x = 2, right where the person is; class 6 is the network's class 4.
    assert np.all(crop[:, :32] == 0)
    assert np.all(crop[:, 32:] == 4)
    other = build_windows(street, history_s=0.5)
    with pytest.raises(UsageError, match=r"10 steps of 0\.1 s"):
        history_steps(other)


def test_crops_outside_of_the_map_are_unknown(street):
    samples = samples_of(build_windows(street).with_context(street))
    moved = type(samples)(
        **{f: getattr(samples, f) for f in samples.__slots__ if f != "place_m"},
        place_m=samples.place_m + np.array([500.0, 0.0]),
    )
    config = CvaeConfig(features="motion+map", map_px=64)
    assert not straight_crops(moved, config).any()


def test_samples_and_maps_come_back(street, tmp_path):
    samples = samples_of(build_windows(street).with_context(street))
    samples.save(tmp_path / "s.npz")
    again = load_samples(tmp_path / "s.npz")
    assert np.array_equal(again.steps, samples.steps)
    assert again.cell_m == samples.cell_m
    write_trajectories(street, tmp_path / "data")
    read = read_trajectories(tmp_path / "data")
    assert read.maps["T"].version == street.maps["T"].version
    write_maps(street.maps, tmp_path / "maps")
    with np.load(tmp_path / "maps" / "T.npz") as stored:
        changed = dict(stored)
    changed["labels"] = changed["labels"] * 0
    np.savez(tmp_path / "maps" / "T.npz", **changed)
    with pytest.raises(DataError, match="was changed"):
        read_maps(tmp_path / "maps")
    with pytest.raises(DataError, match="class id 11"):
        network_labels(np.array([[11]], dtype=np.uint8))
    (tmp_path / "x.npz").write_bytes(b"no")
    with pytest.raises(DataError, match="no samples"):
        load_samples(tmp_path / "x.npz")


def test_splits_keep_scenes_whole_and_proportions():
    assert largest_remainder(10, {"a": 0.34, "b": 0.33, "c": 0.33}) == {"a": 4, "b": 3, "c": 3}
    strata = {f"{town}/{i}": town for town in "xyz" for i in range(20)}
    found = split_scenes(strata)
    for town in "xyz":
        own = [split for scene, split in found.items() if strata[scene] == town]
        assert {s: own.count(s) for s in set(own)} == {"test": 6, "validation": 2, "train": 12}
    # Adding a town moves nobody of another one.
    more = split_scenes({**strata, "new/1": "new"})
    assert all(more[scene] == split for scene, split in found.items())


def test_few_scenes_still_fill_every_split():
    for n in (3, 4, 7):
        found = split_scenes({f"town{i}/a": f"town{i}" for i in range(n)})
        assert set(found.values()) == {"train", "validation", "test"}
    assert set(split_scenes({"a": "x", "b": "y"}).values()) == {"train"}


def test_features_the_data_lack(street):
    assert missing_features(street, feature_set("motion+map+egodist+head&body")) == ""
    bare = assemble([street.tracks], [])
    assert missing_features(bare, feature_set("motion+map+egodist")) == "vehicles and no maps"
    assert [one.name for one in possible_sets(bare)] == ["motion", "motion+head&body"]
    assert splits_of(bare) == {"sim/a": "train"}


def test_the_map_decides_the_mode_of_the_made_up_set():
    data = two_mode_crossing(400, seed=1)
    end = data.future[:, 3]
    heading = data.steps[:, :, :2].sum(axis=1)
    heading /= np.linalg.norm(heading, axis=1, keepdims=True)
    left = heading[:, 0] * end[:, 1] - heading[:, 1] * end[:, 0]
    side = np.where(data.raster % 2 == 0, 1.0, -1.0)
    turned = np.abs(left) > 0.5
    assert turned.mean() > 0.9
    agree = (np.sign(left) == side)[turned].mean()
    assert 0.9 < agree < 0.99
    mixed = two_mode_crossing(400, seed=1, shuffled=True)
    assert np.array_equal(mixed.steps, data.steps)
    lost = (np.sign(left) == np.where(mixed.raster % 2 == 0, 1.0, -1.0))[turned].mean()
    assert 0.4 < lost < 0.6
    order, first, count = windows_by_track(np.array([2, 0, 2, 1]))
    assert (order.tolist(), first.tolist(), count.tolist()) == ([1, 3, 0, 2], [0, 1, 2], [1, 1, 2])
