"""Checks of a motion library: transfer errors, bones, feet and smoothness of all clips and rigs.

Checks of a played clip cover feet, facing and continuity of bones in the world.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.angle import wrap_angle
from jaywalk.geometry.rotation import (
    angle_between_rad,
    from_matrix,
    to_matrix,
    transforms_from_rotators,
)
from jaywalk.metrics.motion._gait import (
    float_m,
    foot_skating_ratio,
    jitter_mps3,
    path_speed_mps,
    penetration_m,
    stance_slip_mps,
)
from jaywalk.motion.carla_rigs import Rig, load_rig
from jaywalk.motion.clip import Clip
from jaywalk.motion.foot_lock import balls_m
from jaywalk.motion.library.reading import MotionLibrary
from jaywalk.motion.retarget import DRIVEN, RigClip, engine_angles_deg, transfer_rotations
from jaywalk.motion.smpl import BALL_HEIGHT_M, JOINTS

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
    *,
    rig: str,
    bones_m: FloatArray,
    relative: FloatArray,
    actor: FloatArray,
    velocity_mps: FloatArray,
    delta_s: float,
) -> dict[str, Any]:
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
    off = wrap_angle(facing_rad(bones_m, rig) - way)
    off_deg = np.rad2deg(np.abs(off[walks]))
    error = velocity_mps[1:, :2] - np.diff(actor[:, :2], axis=0) / delta_s
    return {
        "ticks": len(bones_m),
        "way_m": float(np.linalg.norm(np.diff(actor[:, :2], axis=0), axis=1).sum()),
        "speed_mps": float(np.linalg.norm(velocity_mps[:, :2], axis=1).mean()),
        "velocity_error_mps_max": float(np.linalg.norm(error, axis=1).max()),
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
    """Return the rotation (deg) of each bone from tick to tick, (ticks - 1, driven bones)."""
    driven = relative[:, [load_rig(rig).bone_index[name] for name in DRIVEN]]
    quats = transforms_from_rotators(np.ascontiguousarray(driven.reshape(-1, 6)))[:, 3:]
    quats = quats.reshape(*driven.shape[:2], 4)
    return np.rad2deg(angle_between_rad(quats[1:], quats[:-1]))


_LED: Final = ("crl_hips", "crl_thigh", "crl_leg", "crl_foot")
# Exchanges y and z: SMPL's axes to those of the walker's mesh.
_M: Final = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])


def fk_error_deg_max(motion: Clip, rig: Rig) -> float:
    """Largest angle between a driven bone's turn from rest and its joint's, through Euler angles.

    The transferred rotations are written as engine angles, read back and put through forward
    kinematics; the truth is made with matrices, apart from the code under test.
    """
    local = _through_engine(transfer_rotations(motion, rig))
    names = list(DRIVEN)
    truth = from_matrix(
        _M @ to_matrix(motion.turned()[:, [JOINTS.index(j) for j in DRIVEN.values()]]) @ _M.T
    )
    worst = 0.0
    turned: dict[str, FloatArray] = {}
    for place, name in enumerate(names):
        bone = rig.bone_index[name]
        above = rig.bones[rig.parents[bone]]
        parent = turned.get(above, to_matrix(rig.rest_mesh[rig.parents[bone], 3:]))
        turned[name] = parent @ to_matrix(local[:, place])
        seen = from_matrix(turned[name] @ to_matrix(rig.rest_mesh[bone, 3:]).T)
        worst = max(worst, float(np.rad2deg(angle_between_rad(seen, truth[:, place]).max())))
    return worst


def stored_error_deg_max(motion: Clip, posed: RigClip) -> float:
    """Largest angle between stored and transferred rotations of the bones no leg IK touches."""
    exact = transfer_rotations(motion, load_rig(posed.rig))
    fixed = [i for i, name in enumerate(DRIVEN) if not name.startswith(_LED)]
    return float(np.rad2deg(angle_between_rad(exact[:, fixed], posed.turns[:, fixed]).max()))


def _through_engine(local: FloatArray) -> FloatArray:
    angles = engine_angles_deg(local).reshape(-1, 3)
    rows = np.concatenate([np.zeros_like(angles), angles], axis=1)
    out: FloatArray = transforms_from_rotators(rows)[:, 3:]
    return out.reshape(local.shape)


def bone_length_std_m(posed: RigClip) -> float:
    """Largest spread over time of a driven bone's distance to its parent."""
    rig = load_rig(posed.rig)
    joints = posed.joints_m()
    worst = 0.0
    for name in list(DRIVEN)[1:]:
        bone = rig.bone_index[name]
        length = np.linalg.norm(joints[:, bone] - joints[:, rig.parents[bone]], axis=1)
        worst = max(worst, float(length.std()))
    return worst


def rig_balls_m(posed: RigClip, joints_m: FloatArray) -> tuple[FloatArray, float]:
    """(frames, 2, 3) balls of a walker's feet, and their height when it stands."""
    rig = load_rig(posed.rig)
    toes = [rig.bone_index[f"crl_toe__{side}"] for side in "LR"]
    return joints_m[:, toes], float(rig.rest_mesh[toes, 2].mean())


class RigFigures(TypedDict):
    """Figures of one clip on one of CARLA's rigs."""

    fk_error_deg_max: float
    bone_length_std_m: float
    foot_skating_ratio: float
    stance_slip_mps: float
    penetration_m: float
    jitter_mps3: float


_ClipFigures = TypedDict(
    "_ClipFigures",
    {
        "name": str,
        "class": str,
        "duration_s": float,
        "speed_mps": float,
        "fk_error_deg_max": float,
        "bone_length_std_m": float,
        "penetration_m": float,
        "foot_skating_ratio": float,
        "stance_slip_mps": dict[str, Any],
        "jitter_mps3": float,
        "rigs": dict[str, RigFigures],
    },
)


class LibraryFigures(TypedDict):
    """Figures of clips and of all of them together, as ``motion check --json`` prints them."""

    clips: list[_ClipFigures]
    total: dict[str, Any]


def check_clip(library: MotionLibrary, name: str) -> _ClipFigures:
    """Figures of one clip; those of the rigs under their names."""
    motion = library.motion(name)
    balls = balls_m(motion)[..., [2, 0, 1]]  # z up
    standing = motion.body_scale * BALL_HEIGHT_M
    source_slip = stance_slip_mps(balls, motion.rate_hz, standing)
    rigs: dict[str, RigFigures] = {}
    for rig in library.meta["policies"]:
        posed = library.on_rig(name, rig)
        joints = posed.joints_m()
        rig_balls, rig_standing = rig_balls_m(posed, joints)
        rigs[rig] = {
            "fk_error_deg_max": max(
                fk_error_deg_max(motion, load_rig(rig)), stored_error_deg_max(motion, posed)
            ),
            "bone_length_std_m": bone_length_std_m(posed),
            "foot_skating_ratio": foot_skating_ratio(rig_balls, posed.rate_hz),
            "stance_slip_mps": stance_slip_mps(rig_balls, posed.rate_hz, rig_standing),
            "penetration_m": penetration_m(rig_balls, rig_standing),
            "jitter_mps3": jitter_mps3(joints[:, load_rig(rig).bone_index["crl_hips__C"]], 20.0),
        }
    row = library.rows[name]
    return {
        "name": name,
        "class": library.columns["class"][row],
        "duration_s": motion.duration_s,
        "speed_mps": path_speed_mps(motion),
        "fk_error_deg_max": max(figures["fk_error_deg_max"] for figures in rigs.values()),
        "bone_length_std_m": max(figures["bone_length_std_m"] for figures in rigs.values()),
        "penetration_m": max(figures["penetration_m"] for figures in rigs.values()),
        "foot_skating_ratio": foot_skating_ratio(balls, motion.rate_hz),
        "stance_slip_mps": {
            "source": source_slip,
            "retargeted": {rig: values["stance_slip_mps"] for rig, values in rigs.items()},
        },
        "jitter_mps3": jitter_mps3(motion.root_m, motion.rate_hz),
        "rigs": rigs,
    }


def check_library(library: MotionLibrary, names: Iterable[str] | None = None) -> LibraryFigures:
    """Figures of the clips and of all of them together, as ``motion check --json`` prints them."""
    clips = [check_clip(library, name) for name in (names or library.names)]
    return {"clips": clips, "total": _total(library, clips)}


def _total(library: MotionLibrary, clips: list[_ClipFigures]) -> dict[str, Any]:
    if not clips:
        return {"clips": 0, "problems": list(library.meta["problems"])}

    def mean(
        key: Literal["foot_skating_ratio", "penetration_m", "jitter_mps3", "speed_mps"],
    ) -> float:
        return float(np.mean([clip[key] for clip in clips]))

    sources = [clip["stance_slip_mps"]["source"] for clip in clips]
    slips = {
        rig: [clip["stance_slip_mps"]["retargeted"][rig] for clip in clips]
        for rig in library.meta["policies"]
    }
    kinds = [clip["class"] for clip in clips]
    return {
        "clips": len(clips),
        "fk_error_deg_max": max(clip["fk_error_deg_max"] for clip in clips),
        "bone_length_std_m": max(clip["bone_length_std_m"] for clip in clips),
        "foot_skating_ratio": mean("foot_skating_ratio"),
        "stance_slip_mps": {
            "source": float(np.mean(sources)),
            "retargeted": {rig: float(np.mean(values)) for rig, values in slips.items()},
            "added_max": {
                rig: float(np.max(np.subtract(values, sources))) for rig, values in slips.items()
            },
        },
        "penetration_m": mean("penetration_m"),
        "jitter_mps3": mean("jitter_mps3"),
        "duration_s": float(sum(clip["duration_s"] for clip in clips)),
        "speed_mps": mean("speed_mps"),
        "class": {kind: kinds.count(kind) for kind in sorted(set(kinds))},
        "policies": dict(library.meta["policies"]),
        "problems": list(library.meta["problems"]),
    }
