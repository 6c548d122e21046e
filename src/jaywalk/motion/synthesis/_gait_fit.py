"""Fitting the gait model to cycles: weights, principal axes, regression, residuals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.motion.smpl import (
    BODY_OFFSETS_M,
    JOINTS,
    MIRRORED,
    PARENTS,
    global_rotations,
    joint_positions,
)
from jaywalk.motion.synthesis._capture import pitch_rad
from jaywalk.motion.synthesis._cycles import (
    ANGLES,
    CHANNELS,
    HEIGHT,
    LATERAL,
    LEFT_CONTACT,
    SAMPLES,
    TERMS,
    Cycle,
    fit,
    twin,
)
from jaywalk.motion.synthesis._gait_model import GaitCodes, GaitModel, conditions
from jaywalk.motion.synthesis._pose_channels import symmetric_means, to_angles

DIMS: Final = 48
_RIDGE: Final = 0.1
_RUN_CONTACT: Final = 0.40
_RUN_SPEED_MPS: Final = 1.0
_JOINT_WEIGHT: Final = {
    "pelvis": 1.5,
    "spine": 1.2,
    "hip": 1.0,
    "knee": 0.8,
    "shoulder": 0.7,
    "collar": 0.6,
    "neck": 0.5,
    "elbow": 0.45,
    "ankle": 0.4,
    "head": 0.3,
    "wrist": 0.15,
    "foot": 0.15,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GaitFit:
    """A fitted model and how well it describes its data.

    Attributes:
        model: The model.
        means: (22, 4) mean rotation of every joint.
        explained: Share of the weighted variance on the kept axes.
        explained_by_speed: Share of the code's variance that speed, gait and turn explain.
    """

    model: GaitModel
    means: FloatArray
    explained: float
    explained_by_speed: float


def channel_weights() -> FloatArray:
    """(71,) weight of every channel before the axes are found."""
    out = np.empty(CHANNELS)
    for joint, name in enumerate(JOINTS):
        kind = next(weight for key, weight in _JOINT_WEIGHT.items() if key in name)
        out[3 * joint : 3 * joint + 3] = kind
    out[HEIGHT] = 3.0
    out[LATERAL : LATERAL + 2] = 1.5
    out[LEFT_CONTACT:] = 0.35
    return out


def mirrored_rotations(rotations: FloatArray) -> FloatArray:
    """(..., 22, 4) mirror images."""
    return np.asarray(rotations[..., MIRRORED, :] * np.array([1.0, 1.0, -1.0, -1.0]))


def cycle_terms(cycle: Cycle, means: FloatArray) -> FloatArray:
    """(11, 71) Fourier terms of a cycle without its drift from start to end."""
    channels = np.empty((SAMPLES + 1, CHANNELS))
    channels[:, :ANGLES] = to_angles(cycle.rotations, means)
    channels[:, HEIGHT:] = cycle.plain
    channels[:, LATERAL : LATERAL + 2] *= cycle.period_s
    drift = channels[-1, :LATERAL] - channels[0, :LATERAL]
    along = np.arange(SAMPLES + 1) / SAMPLES - 0.5
    channels[:, :LATERAL] -= along[:, None] * drift
    return fit(channels[:SAMPLES])


def cycle_looks(cycle: Cycle) -> FloatArray:
    """(4,) trunk pitch, higher wrist over its shoulder, pelvis height, step width."""
    rotations = np.ascontiguousarray(cycle.rotations[:SAMPLES])
    turned = global_rotations(rotations, PARENTS)
    root = np.zeros((SAMPLES, 3))
    joints = joint_positions(turned, root, BODY_OFFSETS_M, PARENTS)
    wrist = (joints[:, [20, 21], 1] - joints[:, [16, 17], 1]).mean(axis=0).max()
    contact = cycle.plain[:SAMPLES, 3:] + 1e-6
    across = (joints[:, [10, 11], 0] * contact).sum(axis=0) / contact.sum(axis=0)
    return np.array(
        [
            pitch_rad(turned[:, 9]).mean(),
            wrist,
            cycle.plain[:SAMPLES, 0].mean(),
            across[0] - across[1],
        ]
    )


def fit_gait(cycles: Sequence[Cycle]) -> GaitFit:
    """Fit the model to cycles and their mirror images."""
    poses = np.concatenate([cycle.rotations[:SAMPLES:4] for cycle in cycles])
    means = symmetric_means(poses, mirrored_rotations(poses))
    terms = np.stack([cycle_terms(cycle, means) for cycle in cycles])
    both = np.concatenate([terms, twin(terms)]).reshape(2 * len(cycles), -1)
    weights = np.tile(channel_weights(), TERMS)
    mean = both.mean(axis=0)
    _, spread, axes = np.linalg.svd((both - mean) * weights, full_matrices=False)
    axes = axes[:DIMS]
    places = ((both - mean) * weights) @ axes.T
    codes, signs = _full_codes(cycles, places)
    conditions_of = _conditions(cycles)
    regression = _ridge(conditions_of, codes)
    residuals = codes - conditions_of @ regression
    half = len(cycles)
    sequence = _numbers([cycle.sequence for cycle in cycles])
    model = GaitModel(
        mean=mean,
        axes=axes / weights,
        signs=signs,
        regression=regression,
        within=_within(residuals[:half], sequence),
        codes=GaitCodes(
            residuals=residuals[:half],
            log_speed=np.log([cycle.speed_mps for cycle in cycles]),
            turn_rad=np.array([cycle.turn_rad for cycle in cycles]),
            runs=_runs(cycles),
            sequence=sequence,
            looks=np.stack([cycle_looks(cycle) for cycle in cycles]),
        ),
    )
    left = residuals[:, :DIMS].var(axis=0).sum() / codes[:, :DIMS].var(axis=0).sum()
    kept = float((spread[:DIMS] ** 2).sum() / (spread**2).sum())
    return GaitFit(model=model, means=means, explained=kept, explained_by_speed=1.0 - float(left))


def _full_codes(cycles: Sequence[Cycle], places: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Codes of cycles and twins with period and right share, and the sign each dimension has.

    The data are symmetric, so every axis is either its own mirror image or the opposite of it.
    """
    half = len(cycles)
    period = np.log([cycle.period_s for cycle in cycles])
    share = np.array([cycle.right_share for cycle in cycles]) - 0.5
    extra = np.stack([np.tile(period, 2), np.concatenate([share, -share])], axis=1)
    agree = np.einsum("ij,ij->j", places[:half], places[half:])
    signs = np.concatenate([np.where(agree < 0.0, -1.0, 1.0), [1.0, -1.0]])
    return np.concatenate([places, extra], axis=1), signs


def _runs(cycles: Sequence[Cycle]) -> np.ndarray:
    contact = np.array([cycle.plain[:SAMPLES, 3:].mean() for cycle in cycles])
    speed = np.array([cycle.speed_mps for cycle in cycles])
    return np.asarray((contact < _RUN_CONTACT) & (speed > _RUN_SPEED_MPS))


def _conditions(cycles: Sequence[Cycle]) -> FloatArray:
    speed = np.log([cycle.speed_mps for cycle in cycles])
    turn = np.array([cycle.turn_rad for cycle in cycles])
    runs = _runs(cycles).astype(np.float64)
    return conditions(np.tile(speed, 2), np.tile(runs, 2), np.concatenate([turn, -turn]))


def _ridge(conditions_of: FloatArray, codes: FloatArray) -> FloatArray:
    penalty = _RIDGE * np.eye(conditions_of.shape[1])
    penalty[0, 0] = 0.0
    left = conditions_of.T @ conditions_of + penalty
    return np.asarray(np.linalg.solve(left, conditions_of.T @ codes))


def _numbers(names: Sequence[str]) -> IntArray:
    order = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([order[name] for name in names], dtype=np.int64)


def _within(residuals: FloatArray, sequence: IntArray) -> FloatArray:
    """Spread of residuals about the mean of their sequence."""
    total, freedom = np.zeros(residuals.shape[1]), 0
    for number in range(int(sequence.max()) + 1):
        own = residuals[sequence == number]
        total += ((own - own.mean(axis=0)) ** 2).sum(axis=0)
        freedom += len(own) - 1
    return np.asarray(np.sqrt(total / max(freedom, 1)))
