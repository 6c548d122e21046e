"""The gait model: what a cycle looks like at a speed and a turn, and how people differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.motion.synthesis._cycles import CHANNELS, FORWARD, TERMS
from jaywalk.motion.synthesis._draws import Draws

#: Speed at which plain people begin to run, and the width of the change.
RUN_FROM_MPS: Final = 1.85
RUN_WIDTH_MPS: Final = 0.12
_NEIGHBOURS: Final = 12
_NEAR_DIMS: Final = 12
_SAME_SEQUENCE: Final = 4.0
PERIOD_RANGE_S: Final = (0.5, 2.6)


@dataclass(frozen=True, slots=True, kw_only=True)
class GaitCodes:
    """Codes of the training cycles less what speed and turn explain.

    Attributes:
        residuals: (cycles, dims) rest of the code.
        log_speed: (cycles,) natural logarithm of the speed.
        turn_rad: (cycles,) turn over the cycle.
        runs: (cycles,) whether it is running.
        sequence: (cycles,) number of the sequence it came from.
        looks: (cycles, 4) trunk pitch (rad), height of the higher wrist over its shoulder (m),
            mean pelvis height (m), step width (m).
    """

    residuals: FloatArray
    log_speed: FloatArray
    turn_rad: FloatArray
    runs: NDArray[np.bool_]
    sequence: IntArray
    looks: FloatArray

    def with_twins(self, signs: FloatArray) -> GaitCodes:
        """Together with their mirror images."""
        return GaitCodes(
            residuals=np.concatenate([self.residuals, self.residuals * signs]),
            log_speed=np.tile(self.log_speed, 2),
            turn_rad=np.concatenate([self.turn_rad, -self.turn_rad]),
            runs=np.tile(self.runs, 2),
            sequence=np.tile(self.sequence, 2),
            looks=np.tile(self.looks, (2, 1)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GaitModel:
    """Everything needed to make gait cycles.

    A code is ``dims`` numbers: places on the axes, then the logarithm of the period, then the
    right strike's share of it less one half.

    Attributes:
        mean: (11 x 71,) mean terms.
        axes: (dims - 2, 11 x 71) principal axes.
        signs: (dims,) what mirroring does to a code.
        regression: (7, dims) code from speed, gait and turn; see :func:`conditions`.
        within: (dims,) spread of one person's codes.
        codes: Training codes; those of a loaded model include their mirror images.
    """

    mean: FloatArray
    axes: FloatArray
    signs: FloatArray
    regression: FloatArray
    within: FloatArray
    codes: GaitCodes

    def terms(self, codes: FloatArray) -> FloatArray:
        """(n, 11, 71) Fourier terms of (n, dims) codes."""
        flat = self.mean + codes[:, :-2] @ self.axes
        return np.asarray(flat.reshape(-1, TERMS, CHANNELS))

    def typical(self, speed_mps: FloatArray, run: FloatArray, turn_rad: FloatArray) -> FloatArray:
        """(n, dims) code of the average person."""
        return conditions(np.log(np.maximum(speed_mps, 0.05)), run, turn_rad) @ self.regression

    def stride_m(self, codes: FloatArray) -> FloatArray:
        """(n,) way made in one cycle."""
        return np.asarray(self.mean[FORWARD] + codes[:, :-2] @ self.axes[:, FORWARD])


def conditions(log_speed: FloatArray, run: FloatArray, turn_rad: FloatArray) -> FloatArray:
    """(n, 7) regressors."""
    ones = np.ones_like(log_speed)
    half = 0.5 * turn_rad
    columns = [ones, log_speed, log_speed**2, run, run * log_speed, half, np.abs(half)]
    return np.stack(columns, axis=1)


def run_share(speed_mps: FloatArray, start_mps: float = RUN_FROM_MPS) -> FloatArray:
    """How far a gait is running, 0 to 1, for people who start to run at a speed."""
    return np.asarray(1.0 / (1.0 + np.exp(-(speed_mps - start_mps) / RUN_WIDTH_MPS)))


def plainness(codes: GaitCodes) -> FloatArray:
    """(cycles,) how plain a gait looks, 0 to 1: upright, arms down, knees up, feet apart."""
    pitch, wrist, height, width = codes.looks.T
    lean = np.where(codes.runs, np.deg2rad(9.0), np.deg2rad(1.5))
    out = np.exp(-0.5 * ((pitch - lean) / np.deg2rad(7.0)) ** 2)
    high = np.maximum(wrist - np.where(codes.runs, -0.10, -0.25), 0.0)
    low = np.maximum(np.where(codes.runs, 0.855, 0.89) - height, 0.0)
    narrow = np.maximum(np.where(codes.runs, 0.01, 0.04) - width, 0.0)
    wide = np.maximum(width - 0.20, 0.0)
    out *= np.exp(-0.5 * ((high / 0.10) ** 2 + (low / 0.02) ** 2))
    return np.asarray(out * np.exp(-0.5 * ((narrow / 0.02) ** 2 + (wide / 0.04) ** 2)))


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleRequest:
    """Request for a gait style.

    Attributes:
        speed_mps: Speed on the body of scale 1.
        run: Whether the person runs.
        plain: Whether odd styles are avoided.
        noise: White noise added, in spreads within one person.
    """

    speed_mps: float
    run: bool
    plain: bool = True
    noise: float = 0.4


def draw_style(model: GaitModel, request: StyleRequest, draws: Draws) -> FloatArray:
    """(dims,) a person: a mixture of neighbouring residuals of the same gait.

    Args:
        model: The model, as loaded.
        request: Person to draw for.
        draws: Random numbers.
    """
    codes = model.codes
    log_speed = np.log(request.speed_mps)
    counts = np.bincount(codes.sequence)[codes.sequence]
    # no one in the data runs at 4 m/s: draw from the fastest runners there
    reach = np.minimum(log_speed, np.log(2.6) if request.run else np.log(1.9))
    weight = np.exp(-0.5 * ((codes.log_speed - reach) / 0.22) ** 2)
    weight *= np.exp(-0.5 * (codes.turn_rad / 0.6) ** 2) / counts
    if request.plain:
        weight *= plainness(codes) + 1e-9
    weight[codes.runs != request.run] = 0.0
    first = draws.pick(weight + 1e-30 * (codes.runs == request.run))
    near = _neighbours(codes, first, plain=request.plain)
    picks = [near[draws.pick(np.ones(len(near)))] for _ in range(2)]
    shares = draws.shares(1.5, 2)
    mixed = shares @ codes.residuals[[first, *picks]]
    mixed = mixed / np.linalg.norm(shares) ** 0.35
    if request.run:  # captured runners run in circles: half of their lean is the circle's
        mixed = np.where(model.signs < 0.0, 0.5 * mixed, mixed)
    noise = draws.normals(len(model.within)) * model.within * request.noise
    return np.asarray(mixed + noise)


def _neighbours(codes: GaitCodes, first: int, *, plain: bool) -> IntArray:
    """Places of the cycles most like one, preferably of other sequences."""
    gap = codes.residuals[:, :_NEAR_DIMS] - codes.residuals[first, :_NEAR_DIMS]
    distance = np.einsum("ij,ij->i", gap, gap)
    scale = float(np.median(distance))
    distance = distance / scale + 2.0 * (codes.log_speed - codes.log_speed[first]) ** 2
    distance += _SAME_SEQUENCE * (codes.sequence == codes.sequence[first])
    distance += 100.0 * (codes.runs != codes.runs[first])
    if plain:
        distance += 2.0 * (1.0 - plainness(codes))
    distance[first] = np.inf
    return np.argsort(distance, kind="stable")[:_NEIGHBOURS].astype(np.int64)
