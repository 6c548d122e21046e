"""The conditional variational autoencoder in torch, as functions of a dictionary of tensors.

The first axis of every tensor counts the seeds, R. Several models of one size therefore train as
one: all products are batched, and no operation mixes seeds. B is the batch size, T the number of
history steps.
"""

from __future__ import annotations

import math
from typing import Any

from jaywalk.forecasting.cvae.config import CONV_CHANNELS, POOL_AFTER, CvaeConfig, gain_of
from jaywalk.forecasting.torch_needed import torch

Tensor = Any
Tensors = dict[str, Any]

LOG_VARIANCE = (-10.0, 10.0)
_LOG_2PI = math.log(2.0 * math.pi)


def folded(parameters: Tensors) -> Tensors:
    """Return the weights of this step: gain times direction per output unit; call once per step."""
    plain = {}
    for name, value in parameters.items():
        if name.endswith(".weight"):
            norm = value.flatten(2).norm(dim=2)
            scale = parameters[gain_of(name)] / norm
            plain[name] = value * scale.reshape(*scale.shape, *[1] * (value.dim() - 2))
        elif not name.endswith(".gain"):
            plain[name] = value
    return plain


def code_of(plain: Tensors, config: CvaeConfig, steps: Tensor, crops: Tensor | None) -> Tensor:
    """Encode steps ``(R, B, T, F)`` and map crops of each person as ``(R, B, code)``."""
    states = _lstm(plain, "lstm2", _lstm(plain, "lstm1", steps))
    code = _linear(plain, "embed", states[:, :, -1])
    if crops is None:
        return code
    maps = [_map_code(plain, config, crops[r], r) for r in range(crops.shape[0])]
    return torch.cat([code, torch.stack(maps).to(code.dtype)], dim=2)


def posterior(plain: Tensors, code: Tensor, future: Tensor) -> tuple[Tensor, Tensor]:
    """Return mean and log-variance of the latent variable given the future ``(R, B, 8)``."""
    return _gaussian(_perceptron(plain, "infer", torch.cat([code, future], dim=2)))


def prediction(plain: Tensors, code: Tensor, latent: Tensor) -> tuple[Tensor, Tensor]:
    """Return mean and log-variance of positions at the horizons relative to now, ``(R, B, 8)``."""
    return _gaussian(_perceptron(plain, "predict", torch.cat([code, latent], dim=2)))


def negative_elbo(
    plain: Tensors,
    config: CvaeConfig,
    steps: Tensor,
    crops: Tensor | None,
    future: Tensor,
    noise: Tensor,
) -> tuple[Tensor, Tensor]:
    """Return the loss to minimise and its KL part, as means over the batch, ``(R,)``."""
    code = code_of(plain, config, steps, crops)
    mean, log_variance = posterior(plain, code, future)
    latent = mean + torch.exp(0.5 * log_variance) * noise
    divergence = 0.5 * (mean**2 + log_variance.exp() - 1.0 - log_variance).sum(dim=2)
    error = -log_density(*prediction(plain, code, latent), future).sum(dim=2)
    return (error + divergence).mean(dim=1), divergence.mean(dim=1)


def log_density(mean: Tensor, log_variance: Tensor, value: Tensor) -> Tensor:
    """Return the log-density of independent Gaussians by dimension."""
    squares = (value - mean) ** 2 * torch.exp(-log_variance)
    return -0.5 * (squares + log_variance + _LOG_2PI)


def horizon_nll(
    plain: Tensors,
    config: CvaeConfig,
    steps: Tensor,
    crops: Tensor | None,
    future: Tensor,
    latent: Tensor,
) -> Tensor:
    """Return the NLL of the 2-D marginal at each horizon over K latent draws, ``(R, B, H)``.

    Args:
        plain: Folded parameters.
        config: Size of the network.
        steps: History.
        crops: Map crops, or None.
        future: Positions at the horizons relative to now, ``(R, B, 8)``; NaN gives NaN.
        latent: Draws from the prior, ``(K, latent)``, common to all samples and seeds.
    """
    code = code_of(plain, config, steps, crops)
    seeds, batch, _ = code.shape
    draws = latent.shape[0]
    wide = code[:, :, None].expand(-1, -1, draws, -1).reshape(seeds, batch * draws, -1)
    many = latent[None, None].expand(seeds, batch, -1, -1).reshape(seeds, batch * draws, -1)
    mean, log_variance = prediction(plain, wide, many)
    shape = (seeds, batch, draws, config.horizons, 2)
    density = log_density(
        mean.reshape(shape),
        log_variance.reshape(shape),
        future.reshape(seeds, batch, 1, config.horizons, 2),
    )
    # In double precision, as differences between models are small.
    return math.log(draws) - torch.logsumexp(density.double().sum(dim=4), dim=2)


def _linear(plain: Tensors, name: str, x: Tensor) -> Tensor:
    weight, bias = plain[f"{name}.weight"], plain[f"{name}.bias"]
    return torch.baddbmm(bias[:, None], x, weight.transpose(1, 2))


def _lstm(plain: Tensors, name: str, x: Tensor) -> Tensor:
    seeds, batch, steps, size = x.shape
    bias = plain[f"{name}.input.bias"] + plain[f"{name}.state.bias"]
    weight = plain[f"{name}.input.weight"].transpose(1, 2)
    entering = torch.baddbmm(bias[:, None], x.reshape(seeds, batch * steps, size), weight)
    entering = entering.reshape(seeds, batch, steps, -1)
    recurrent = plain[f"{name}.state.weight"].transpose(1, 2)
    hidden = cell = None
    out = []
    for t in range(steps):
        gates = entering[:, :, t]
        if hidden is not None:
            gates = gates + torch.bmm(hidden, recurrent)
        enter, forget, new, leave = gates.float().chunk(4, dim=2)
        fresh = torch.sigmoid(enter) * torch.tanh(new)
        cell = fresh if cell is None else torch.sigmoid(forget) * cell + fresh
        hidden = torch.sigmoid(leave) * torch.tanh(cell)
        out.append(hidden)
    return torch.stack(out, dim=2)


def _perceptron(plain: Tensors, name: str, x: Tensor) -> Tensor:
    for i in (1, 2, 3):
        x = torch.relu(_linear(plain, f"{name}{i}", x))
    # The head stays in single precision: its outputs are metres and log-variances.
    with torch.autocast(x.device.type, enabled=False):
        return _linear(plain, f"{name}4", x.float())


def _gaussian(output: Tensor) -> tuple[Tensor, Tensor]:
    mean, log_variance = output.chunk(2, dim=2)
    return mean, log_variance.clamp(*LOG_VARIANCE)


def _map_code(plain: Tensors, config: CvaeConfig, crop: Tensor, seed: int) -> Tensor:
    """Encode crops of one seed, class ids ``(B, px, px)``, as ``(B, map_embedding)``."""
    functional = torch.nn.functional
    x = class_convolution(crop, plain["conv0.weight"][seed], plain["conv0.bias"][seed])
    for i in range(len(CONV_CHANNELS)):
        if i:
            weight, bias = plain[f"conv{i}.weight"][seed], plain[f"conv{i}.bias"][seed]
            x = functional.conv2d(x, weight, bias, padding=1)
        x = torch.relu(x)
        if i in POOL_AFTER:
            x = functional.max_pool2d(x, 2)
    x = x.flatten(1)
    x = torch.relu(functional.linear(x, plain["map1.weight"][seed], plain["map1.bias"][seed]))
    return functional.linear(x, plain["map2.weight"][seed], plain["map2.bias"][seed])


def class_convolution(crop: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Convolve one-hot classes by nine table lookups: ``(B, 4, px, px)``, channels last."""
    low = torch.is_autocast_enabled(crop.device.type)
    dtype = torch.get_autocast_dtype(crop.device.type) if low else weight.dtype
    return (
        _ClassConvolution.apply(crop, weight, dtype).permute(0, 3, 1, 2)
        + bias.to(dtype)[:, None, None]
    )


class _ClassConvolution(torch.autograd.Function):  # type: ignore[misc]
    """Convolution without a one-hot image, which would be 16 times the crop at 8 classes."""

    @staticmethod
    def forward(ctx: Any, crop: Tensor, weight: Tensor, dtype: Any) -> Tensor:
        ctx.save_for_backward(crop, weight)
        px = crop.shape[1]
        classes = weight.shape[1]
        padded = torch.nn.functional.pad(crop, (1, 1, 1, 1), value=classes)
        # One more row of zeros for the border outside the crop.
        table = torch.nn.functional.pad(weight.float().permute(2, 3, 1, 0), (0, 0, 0, 1))
        total: Any = 0.0
        for row in range(3):
            for column in range(3):
                ids = padded[:, row : row + px, column : column + px].int()
                part = torch.nn.functional.embedding(ids, table[row, column])
                total = total + part
        return total.to(dtype)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor, None]:
        crop, weight = ctx.saved_tensors
        ids = torch.arange(weight.shape[1], device=crop.device, dtype=crop.dtype)
        onehot = (crop[..., None] == ids).to(gradient.dtype).permute(0, 3, 1, 2)
        gradients = torch.ops.aten.convolution_backward(
            gradient.permute(0, 3, 1, 2),
            onehot,
            weight.to(gradient.dtype),
            None,
            [1, 1],
            [1, 1],
            [1, 1],
            False,
            [0, 0],
            1,
            [False, True, False],
        )
        return None, gradients[1].to(weight.dtype), None
