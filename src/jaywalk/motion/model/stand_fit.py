"""Fitting the model of standing people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from jaywalk.core.errors import DataError
from jaywalk.motion.model.stand_model import StandModel, mirrored_posture
from jaywalk.motion.model.standing import Standing, cosine_terms
from jaywalk.motion.rotation import FloatArray

POSTURE_DIMS: Final = 28
MOVE_DIMS: Final = 24
GESTURE_DIMS: Final = 36
_SHORTEST_GESTURE_S: Final = 1.5
_HEIGHT_WEIGHT: Final = 5.0


def fit_standing(stretches: Sequence[Standing]) -> StandModel:
    """Fit postures, sway and gestures.

    Raises:
        DataError: Too few people stand in the captures.
    """
    gestures = [s for s in stretches if not s.quiet and s.seconds >= _SHORTEST_GESTURE_S]
    quiet = [s for s in stretches if s.quiet and s.neutral]
    fewest = min(len(gestures), len(quiet))
    if fewest < 8:
        raise DataError(
            f"only {len(gestures)} gestures and {len(quiet)} quiet stretches were found; "
            "train on captures with people who stand, too (8 of each at least)"
        )
    mean, axes, codes = _postures(np.stack([s.posture for s in stretches]))
    moved = np.concatenate([s.movement for s in stretches])
    moves = _axes(moved, mirrored_posture(moved), MOVE_DIMS)
    spread = np.stack([np.log((s.movement @ moves.T).std(axis=0) + 1e-5) for s in quiet])
    series = np.stack([(cosine_terms(s.movement) @ moves.T).ravel() for s in gestures])
    twins = np.stack(
        [(cosine_terms(mirrored_posture(s.movement)) @ moves.T).ravel() for s in gestures]
    )
    gesture_axes = _axes(series, twins, GESTURE_DIMS)
    return StandModel(
        posture_mean=mean,
        posture_axes=axes,
        postures=codes,
        neutral=np.array([s.neutral for s in stretches]),
        move_axes=moves,
        quiet_log=np.stack([spread.mean(axis=0), spread.std(axis=0)]),
        gesture_axes=gesture_axes,
        gestures=series @ gesture_axes.T,
        gesture_s=np.array([s.seconds for s in gestures]),
    )


def _axes(rows: FloatArray, twins: FloatArray, dims: int) -> FloatArray:
    """(dims, n) leading axes about zero of rows and their mirror images."""
    square = rows.T @ rows + twins.T @ twins
    values, vectors = np.linalg.eigh(square)
    order = np.argsort(-values, kind="stable")[:dims]
    return np.asarray(vectors[:, order].T)


def _postures(rows: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    weight = np.ones(rows.shape[1])
    weight[-1] = _HEIGHT_WEIGHT
    twins = mirrored_posture(rows)
    mean = 0.5 * (rows.mean(axis=0) + twins.mean(axis=0))
    axes = _axes((rows - mean) * weight, (twins - mean) * weight, POSTURE_DIMS)
    return mean, axes / weight, ((rows - mean) * weight) @ axes.T
