"""Bench2Drive's driving smoothness of recorded drives, and the input file of Bench2Drive's tool.

The numbers follow Bench2Drive's tool exactly, including its peculiarities: turning is in degrees
per second although the limits are in radians, the "turning acceleration" is the turning rate again,
and samples count as 0.1 s apart although there is one per tick, usually every 0.05 s. See
``metrics/safety/_comfort.py`` for a measure without these peculiarities.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl
from scipy.signal import savgol_filter

from jaywalk.core.arrays import FloatArray
from jaywalk.metrics.driving.criteria._track import forward_of
from jaywalk.record import Record
from jaywalk.record import columns as c

_WINDOW: Final = 7
_ORDER: Final = 2
_SEGMENT: Final = 20  # samples
_STEP_S: Final = 0.1
_LONGITUDINAL_MPS2: Final = (-4.05, 2.40)
_LATERAL_MPS2: Final = 4.89
_JERK_MPS3: Final = 8.37
_LONGITUDINAL_JERK_MPS3: Final = 4.13
_YAW_ACCELERATION: Final = 1.93
_YAW_RATE: Final = 0.95
_DIGITS: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class EgoMotion:
    """Values that Bench2Drive's agents log at every step, (n, 3) each. Frame: CARLA's."""

    acceleration_mps2: FloatArray
    angular_velocity_dps: FloatArray
    forward: FloatArray
    right: FloatArray
    place_m: FloatArray
    rotation_deg: FloatArray  # pitch, yaw, roll

    def __len__(self) -> int:
        return len(self.place_m)


def ego_motion(record: Record, first_tick: int, end_tick: int) -> EgoMotion:
    """The ego from the first to the last scored tick."""
    rows = record.ego_states().collect()
    rows = rows.filter(pl.col(c.TICK).is_between(first_tick, end_tick)).sort(c.TICK)
    rotation = _table(rows, c.PITCH_DEG, c.YAW_DEG, c.ROLL_DEG)
    return EgoMotion(
        acceleration_mps2=_table(rows, c.AX_MPS2, c.AY_MPS2, c.AZ_MPS2),
        angular_velocity_dps=_table(rows, c.WX_DPS, c.WY_DPS, c.WZ_DPS),
        forward=forward_of(rotation),
        right=right_of(rotation),
        place_m=_table(rows, c.X_M, c.Y_M, c.Z_M),
        rotation_deg=rotation,
    )


def _table(rows: pl.DataFrame, *names: str) -> FloatArray:
    return np.column_stack(
        [rows[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in names]
    )


def right_of(rotation_deg: FloatArray) -> FloatArray:
    """Vectors to the right of Unreal rotators (n, 3): pitch, yaw, roll."""
    pitch, yaw, roll = np.deg2rad(rotation_deg).T
    tilt = np.sin(pitch) * np.sin(roll)
    return np.column_stack(
        [
            np.cos(yaw) * tilt - np.sin(yaw) * np.cos(roll),
            np.sin(yaw) * tilt + np.cos(yaw) * np.cos(roll),
            -np.cos(pitch) * np.sin(roll),
        ]
    )


def smoothness(motion: EgoMotion) -> float:
    """Share of the segments of 20 samples that are comfortable; NaN for less than 3 samples.

    A drive of at most 20 samples is one segment; otherwise a shorter rest at the end is dropped.
    """
    signals = np.column_stack(
        [
            np.einsum("ij,ij->i", motion.acceleration_mps2[:, :2], motion.forward[:, :2]),
            np.einsum("ij,ij->i", motion.acceleration_mps2[:, :2], motion.right[:, :2]),
            np.hypot(motion.acceleration_mps2[:, 0], motion.acceleration_mps2[:, 1]),
            motion.angular_velocity_dps[:, 2],
        ]
    )
    n = len(signals)
    if n <= _ORDER or not np.isfinite(signals).all():
        return math.nan
    if n <= _SEGMENT:
        return float(_is_comfortable(signals))
    starts = range(0, n - _SEGMENT + 1, _SEGMENT)
    return float(np.mean([_is_comfortable(signals[k : k + _SEGMENT]) for k in starts]))


def _is_comfortable(signals: FloatArray) -> bool:
    window = min(_WINDOW, len(signals))
    along, across, total, turning = signals.T
    turns = np.round(np.diff(turning, prepend=turning[0]) / (2.0 * math.pi))
    turning = turning - 2.0 * math.pi * np.cumsum(turns)  # as if it were an angle

    def smooth(values: FloatArray, deriv: int = 0) -> FloatArray:
        return np.asarray(savgol_filter(values, window, _ORDER, deriv=deriv, delta=_STEP_S))

    along, across, total, turning = (smooth(v) for v in (along, across, total, turning))
    low, high = _LONGITUDINAL_MPS2
    return bool(
        (along > low).all()
        and (along < high).all()
        and _within(across, _LATERAL_MPS2)
        and _within(smooth(total, deriv=1), _JERK_MPS3)
        and _within(smooth(along, deriv=1), _LONGITUDINAL_JERK_MPS3)
        and _within(turning, _YAW_ACCELERATION)
        and _within(turning, _YAW_RATE)
    )


def _within(values: FloatArray, bound: float) -> bool:
    return bool((np.abs(values) < bound).all())


def metric_info(motion: EgoMotion) -> dict[str, dict[str, Any]]:
    """Contents of ``metric_info.json``, by step."""
    columns = {
        "acceleration": motion.acceleration_mps2,
        "angular_velocity": motion.angular_velocity_dps,
        "forward_vector": motion.forward,
        "right_vector": motion.right,
        "location": motion.place_m,
        "rotation": motion.rotation_deg[:, [2, 0, 1]],  # roll, pitch, yaw
    }
    rows = {name: np.round(values, _DIGITS).tolist() for name, values in columns.items()}
    return {str(k): {name: rows[name][k] for name in rows} for k in range(len(motion))}
