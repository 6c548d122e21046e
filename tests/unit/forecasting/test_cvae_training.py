"""The network in torch; skipped where the extra is not installed."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra 'train')")

from jaywalk.core.errors import UsageError
from jaywalk.forecasting.cvae._network import (
    class_convolution,
    code_of,
    folded,
    horizon_nll,
    prediction,
)
from jaywalk.forecasting.cvae.batches import gathered, to_device, turned_crops
from jaywalk.forecasting.cvae.config import CvaeConfig, TrainSettings, initial_parameters
from jaywalk.forecasting.cvae.onnx import cvae_onnx
from jaywalk.forecasting.cvae.predictor import Cvae, straight_crops
from jaywalk.forecasting.cvae.training import initial_tensors, train
from studies.two_mode_crossing import two_mode_crossing

SMALL = {"state": 12, "width": 16, "map_px": 32, "map_cell_m": 0.8}


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def test_class_convolution_equals_the_one_over_one_hot_images():
    made = torch.Generator().manual_seed(0)
    crop = torch.randint(0, 8, (3, 32, 32), generator=made, dtype=torch.uint8)
    weight = torch.randn(4, 8, 3, 3, generator=made, requires_grad=True)
    same = weight.detach().clone().requires_grad_()
    bias = torch.randn(4, generator=made)
    onehot = torch.nn.functional.one_hot(crop.long(), 8).permute(0, 3, 1, 2).float()
    ours = class_convolution(crop, weight, bias)
    theirs = torch.nn.functional.conv2d(onehot, same, bias, padding=1)
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    pull = torch.randn(ours.shape, generator=made)
    (ours * pull).sum().backward()
    (theirs * pull).sum().backward()
    torch.testing.assert_close(weight.grad, same.grad, atol=1e-3, rtol=1e-4)


def test_history_code_equals_torchs_own_lstm():
    config = CvaeConfig(state=7, width=8)
    plain = folded(initial_tensors(config, (0,), "cpu"))
    lstm = torch.nn.LSTM(2, 7, num_layers=2, batch_first=True)
    for i, name in ((0, "lstm1"), (1, "lstm2")):
        for ours, theirs in (("input", "ih"), ("state", "hh")):
            for kind in ("weight", "bias"):
                value = plain[f"{name}.{ours}.{kind}"][0]
                getattr(lstm, f"{kind}_{theirs}_l{i}").data.copy_(value)
    steps = torch.randn(5, 10, 2)
    hidden = lstm(steps)[0][:, -1]
    wanted = hidden @ plain["embed.weight"][0].T + plain["embed.bias"][0]
    torch.testing.assert_close(code_of(plain, config, steps[None], None)[0], wanted)


def test_turning_the_world_turns_crop_and_vectors_alike():
    data = two_mode_crossing(6, seed=1)
    config = CvaeConfig(features="motion+map", map_px=64)
    moved = to_device(data, config, "cpu")
    index = torch.arange(6)[None]
    straight = gathered(moved, config, index, torch.zeros(1, 6))
    assert np.array_equal(straight[2][0].numpy(), straight_crops(data, config))
    quarter = gathered(moved, config, index, torch.full((1, 6), np.pi / 2))
    x, y = straight[0][0, ..., 0], straight[0][0, ..., 1]
    torch.testing.assert_close(quarter[0][0], torch.stack([-y, x], dim=-1))
    torch.testing.assert_close(straight[0][0], 10.0 * torch.as_tensor(data.steps[:, :, :2]))
    # Rows run north, so a quarter turn to the left takes columns to rows.
    turned = torch.rot90(straight[2][0], -1, dims=(1, 2))
    assert (quarter[2][0] == turned).float().mean() > 0.98
    none = turned_crops(moved.rasters, torch.tensor([-1]), torch.zeros(1, 2), torch.zeros(1), 32)
    assert not none.any()


def test_nll_equals_that_of_the_mixture_of_draws():
    config = CvaeConfig(state=6, width=8)
    plain = folded(initial_tensors(config, (0, 1), "cpu"))
    steps, future, latent = torch.randn(2, 3, 10, 2), torch.randn(2, 3, 8), torch.randn(4, 10)
    found = horizon_nll(plain, config, steps, None, future, latent)
    code = code_of(plain, config, steps, None)
    density = 0.0
    for z in latent:
        mean, log_variance = prediction(plain, code, z.expand(2, 3, -1))
        normal = torch.distributions.Normal(mean, (0.5 * log_variance).exp())
        pairs = normal.log_prob(future).reshape(2, 3, 4, 2).sum(dim=3)
        density = density + pairs.double().exp() / 4
    torch.testing.assert_close(found, -density.log(), atol=1e-5, rtol=1e-5)


def test_seeds_trained_together_equal_seeds_trained_alone(tmp_path):
    data = two_mode_crossing(40, seed=1)
    config = CvaeConfig(features="motion+map", **SMALL)
    options = {"epochs": 4, "batch": 16, "validate_every": 2, "draws": 5}
    both = train(
        data, data, config, TrainSettings(**options, seeds=(0, 1)), tmp_path / "both"
    ).parameters
    one = train(
        data, data, config, TrainSettings(**options, seeds=(1,)), tmp_path / "one"
    ).parameters
    for name in one[0]:
        assert both[1][name] == pytest.approx(one[0][name], abs=2e-5), name


def test_a_resumed_run_equals_an_unbroken_one(tmp_path):
    data = two_mode_crossing(40, seed=1)
    config = CvaeConfig(**SMALL)
    options = {"batch": 16, "validate_every": 2, "draws": 5}
    whole = train(
        data, data, config, TrainSettings(epochs=6, **options), tmp_path / "whole"
    ).parameters
    train(data, data, config, TrainSettings(epochs=2, **options), tmp_path / "parts")
    parts = train(
        data, data, config, TrainSettings(epochs=6, **options), tmp_path / "parts"
    ).parameters
    for name in whole[0]:
        assert np.array_equal(whole[0][name], parts[0][name]), name
    changed = TrainSettings(epochs=6, learning_rate=0.1, **options)
    with pytest.raises(UsageError, match="another learning_rate"):
        train(data, data, config, changed, tmp_path / "parts")
    with pytest.raises(UsageError, match="another training data"):
        train(
            two_mode_crossing(40, seed=2),
            data,
            config,
            TrainSettings(epochs=6, **options),
            tmp_path / "parts",
        )


def test_it_learns_and_the_onnx_file_says_the_same(tmp_path):
    data = two_mode_crossing(120, seed=1)
    config = CvaeConfig(**SMALL, anchor="velocity")
    rows = []
    settings = TrainSettings(epochs=80, batch=60, validate_every=5, learning_rate=3e-3, draws=20)
    (best,) = train(data, data, config, settings, tmp_path, rows.append).parameters
    nll = [row["validation_nll"][0] for row in rows]
    assert min(nll) < nll[0] - 0.5
    file = tmp_path / "model.onnx"
    file.write_bytes(cvae_onnx(config, best))
    model = Cvae(file=file, draws=6)
    mean, log_variance = model.run(data.steps[:9])
    plain = folded({name: torch.as_tensor(value)[None] for name, value in best.items()})
    moved = to_device(data.rows(np.arange(9)), config, "cpu")
    steps, future, _ = gathered(moved, config, torch.arange(9)[None], torch.zeros(1, 9))
    code = code_of(plain, config, steps, None)[:, :, None].expand(-1, -1, 6, -1).flatten(1, 2)
    latent = torch.as_tensor(model._latent).expand(9, -1, -1).flatten(0, 1)[None]
    wanted = prediction(plain, code, latent)
    anchor = torch.as_tensor(data.future[:9]).flatten(1) - future[0]
    relative = wanted[0][0] + anchor[:, None].expand(-1, 6, -1).flatten(0, 1)
    assert mean.reshape(54, 8) == pytest.approx(relative.numpy(), abs=1e-4)
    assert log_variance.reshape(54, 8) == pytest.approx(wanted[1][0].numpy(), abs=1e-4)
    assert initial_parameters(config, 0).keys() == best.keys()
