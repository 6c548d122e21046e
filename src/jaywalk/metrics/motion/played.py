"""What a played clip looks like from outside: feet, facing and continuity of bones in the world."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.metrics.motion.feet import (
    float_m,
    foot_skating_ratio,
    penetration_m,
    stance_slip_mps,
)
from jaywalk.motion.carla_rigs import load_rig
from jaywalk.motion.quaternions import angle_between_rad
from jaywalk.motion.retarget import DRIVEN
from jaywalk.motion.rotation import FloatArray, transforms_from_rotators

_WALKS_MPS: Final = 0.4  # slower people have no direction of travel
_WINDOW_S: Final = 0.5


def facing_rad(bones_m: FloatArray, rig: str) -> FloatArray:
    """(frames,) yaw in CARLA's axes in which hips and shoulders face."""
    index = load_rig(rig).bone_index
    right, left = (
        bones_m[:, [index[f"crl_{part}__{side}"] for part in ("thigh", "arm")]].sum(axis=1)
        for side in "RL"
    )
    across = right - left
    # to the right of ahead (cos, sin) is (-sin, cos)
    return np.asarray(np.arctan2(-across[:, 0], across[:, 1]))


def travel_rad(hips_m: FloatArray, delta_s: float) -> tuple[FloatArray, NDArray[np.bool_]]:
    """(frames,) yaw of the way over half a second, and where there is one."""
    half = max(1, round(0.5 * _WINDOW_S / delta_s))
    padded = np.pad(hips_m[:, :2], ((half, half), (0, 0)), mode="edge")
    moved = padded[2 * half :] - padded[: -2 * half]
    count = np.arange(len(hips_m))
    spans = np.minimum(count + half, len(hips_m) - 1) - np.maximum(count - half, 0)
    speed = np.linalg.norm(moved, axis=1) / np.maximum(spans * delta_s, delta_s)
    return np.asarray(np.arctan2(moved[:, 1], moved[:, 0])), speed > _WALKS_MPS


def played_figures(
    *, rig: str, bones_m: FloatArray, relative: FloatArray, actor: FloatArray,
    velocity_mps: FloatArray, delta_s: float,
) -> dict[str, Any]:  # fmt: skip
    """Figures of a person as a client saw them.

    Args:
        rig: Whose bones.
        bones_m: (ticks, bones, 3) in the world.
        relative: (ticks, bones, 6) relative to the parents, metres and degrees.
        actor: (ticks, 4) ``x y z yaw`` with z the ground, radians.
        velocity_mps: (ticks, 3) of the actor.
        delta_s: Length of a tick.
    """
    index = load_rig(rig).bone_index
    toes = [index[f"crl_toe__{side}"] for side in "LR"]
    balls = bones_m[:, toes] - actor[:, None, :3] * [0.0, 0.0, 1.0]
    standing = float(load_rig(rig).rest_mesh[toes, 2].mean())
    way, walks = travel_rad(bones_m[:, index["crl_hips__C"]], delta_s)
    off = np.remainder(facing_rad(bones_m, rig) - way + np.pi, 2.0 * np.pi) - np.pi
    off_deg = np.rad2deg(np.abs(off[walks]))
    told = velocity_mps[1:, :2] - np.diff(actor[:, :2], axis=0) / delta_s
    return {
        "ticks": len(bones_m),
        "way_m": float(np.linalg.norm(np.diff(actor[:, :2], axis=0), axis=1).sum()),
        "speed_mps": float(np.linalg.norm(velocity_mps[:, :2], axis=1).mean()),
        "velocity_error_mps_max": float(np.linalg.norm(told, axis=1).max()),
        "stance_slip_mps": stance_slip_mps(balls, 1.0 / delta_s, standing),
        "foot_skating_ratio": foot_skating_ratio(balls, 1.0 / delta_s),
        "penetration_m": penetration_m(balls, standing),
        "float_m": float_m(balls, standing),
        "facing_off_travel_deg_p50": float(np.median(off_deg)) if walks.any() else None,
        "bone_step_deg_max": float(_turns_deg(relative, rig).max()),
        "bone_speed_mps_max": float(
            np.linalg.norm(np.diff(bones_m, axis=0), axis=-1).max() / delta_s
        ),
    }


def _turns_deg(relative: FloatArray, rig: str) -> FloatArray:
    """(ticks - 1, driven bones) how far each turned from tick to tick."""
    driven = relative[:, [load_rig(rig).bone_index[name] for name in DRIVEN]]
    quats = transforms_from_rotators(np.ascontiguousarray(driven.reshape(-1, 6)))[:, 3:]
    quats = quats.reshape(*driven.shape[:2], 4)
    return np.rad2deg(angle_between_rad(quats[1:], quats[:-1]))
