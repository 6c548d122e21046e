"""SMPL rotations from joint positions: an analytic fit.

Positions say where bones point, not how they are twisted. Trunk and pelvis are solved from several
joints at once; knees and elbows are hinges, which fixes the twist of thigh and upper arm while they
are bent; wherever nothing is known, the twist is the parent's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from jaywalk.core.errors import DataError
from jaywalk.core.files import load_array
from jaywalk.motion.clip import Motion
from jaywalk.motion.quaternions import (
    conjugate,
    continuous,
    from_matrix,
    multiply,
    normalise,
    rotate,
    shortest_arc,
)
from jaywalk.motion.rotation import FloatArray
from jaywalk.motion.smpl import BODY_OFFSETS_M, JOINT_COUNT, LEG_LENGTH_M, PARENTS

# Joint, child, and for the upper bone of a hinge the grandchild and the flexion axis at rest.
_CHAIN: Final = ((3, 6), (6, 9), (12, 15), (13, 16), (14, 17), (7, 10), (8, 11))
_HINGES: Final = (
    (1, 4, 7, (1.0, 0.0, 0.0)),
    (2, 5, 8, (1.0, 0.0, 0.0)),
    (16, 18, 20, (0.0, -1.0, 0.0)),
    (17, 19, 21, (0.0, 1.0, 0.0)),
)
_FREE: Final = (10, 11, 15, 20, 21)  # nothing hangs on them


def read_joints(path: Path, *, rate_hz: float = 20.0, name: str = "", caption: str = "") -> Motion:
    """Read a ``.npy`` of (frames, 22 or more, 3) positions in SMPL's axes and joint order.

    Raises:
        DataError: Names the file and what is wrong with it.
    """
    joints = load_array(path, "an array of positions (.npy)")
    if joints.ndim != 3 or joints.shape[1] < JOINT_COUNT or joints.shape[2] != 3:
        raise DataError(f"{path}: has shape {joints.shape}; expected (frames, 22, 3)")
    return fit_joints(
        np.asarray(joints[:, :JOINT_COUNT], dtype=np.float64),
        rate_hz=rate_hz,
        name=name or path.stem,
        caption=caption,
        source=f"joints/{path.name}",
    )


def fit_joints(
    joints_m: FloatArray,
    *,
    rate_hz: float,
    name: str,
    caption: str = "",
    source: str = "",
    licence: str = "",
) -> Motion:
    """Rotations of the SMPL skeleton whose bones point as those of (frames, 22, 3) positions do.

    The body is scaled by the ratio of leg lengths; the pelvis is placed so that the middle of the
    hips agrees.
    """
    if not np.isfinite(joints_m).all():
        raise DataError(f"{name}: joint positions that are not finite")
    scale = _leg_m(joints_m) / LEG_LENGTH_M
    if not 0.2 < scale < 3.0:
        raise DataError(f"{name}: legs of {scale * LEG_LENGTH_M:.2f} m; are positions in metres?")
    turned = _global_turns(joints_m)
    local = turned.copy()
    local[:, 1:] = multiply(conjugate(turned[:, PARENTS[1:]]), turned[:, 1:])
    middle = joints_m[:, 1:3].mean(axis=1)
    root = middle - rotate(turned[:, 0], scale * BODY_OFFSETS_M[1:3].mean(axis=0))
    return Motion(
        name=name,
        rotations=continuous(normalise(local)),
        root_m=root,
        rate_hz=rate_hz,
        body_scale=scale,
        caption=caption,
        source=source,
        licence=licence,
    )


def _leg_m(joints: FloatArray) -> float:
    bones = [(1, 4), (2, 5), (4, 7), (5, 8)]
    lengths = [np.median(np.linalg.norm(joints[:, b] - joints[:, a], axis=1)) for a, b in bones]
    return float(sum(lengths)) / 2.0


def _global_turns(joints: FloatArray) -> FloatArray:
    turned = np.zeros((len(joints), JOINT_COUNT, 4))
    turned[:, 0] = _best_turn(joints, 0, (1, 2, 3))
    for joint, child in _CHAIN[:2]:
        turned[:, joint] = _swing(turned[:, PARENTS[joint]], joints, joint, child)
    turned[:, 9] = _best_turn(joints, 9, (12, 13, 14))
    for joint, child in _CHAIN[2:5]:
        turned[:, joint] = _swing(turned[:, PARENTS[joint]], joints, joint, child)
    for upper, lower, end, axis in _HINGES:
        straight = _swing(turned[:, PARENTS[upper]], joints, upper, lower)
        turned[:, upper] = _twisted(straight, joints, upper, lower, end, np.array(axis))
        turned[:, lower] = _swing(turned[:, upper], joints, lower, end)
    for joint, child in _CHAIN[5:]:
        turned[:, joint] = _swing(turned[:, PARENTS[joint]], joints, joint, child)
    for joint in _FREE:
        turned[:, joint] = turned[:, PARENTS[joint]]
    return turned


def _best_turn(joints: FloatArray, joint: int, children: tuple[int, ...]) -> FloatArray:
    """Rotation that best takes the rest directions of several bones to the seen ones."""
    rest = BODY_OFFSETS_M[list(children)]
    rest = rest / np.linalg.norm(rest, axis=1, keepdims=True)
    seen = joints[:, list(children)] - joints[:, [joint]]
    seen = seen / np.maximum(np.linalg.norm(seen, axis=2, keepdims=True), 1e-9)
    u, _, vt = np.linalg.svd(np.einsum("tki,kj->tij", seen, rest))
    flip = np.ones((len(joints), 3))
    flip[:, 2] = np.sign(np.linalg.det(u @ vt))
    return from_matrix((u * flip[:, None]) @ vt)


def _swing(parent: FloatArray, joints: FloatArray, joint: int, child: int) -> FloatArray:
    """The parent's turn, swung so that the bone points where it is seen to point."""
    seen = joints[:, child] - joints[:, joint]
    return multiply(shortest_arc(rotate(parent, BODY_OFFSETS_M[child]), seen), parent)


def _twisted(
    turn: FloatArray, joints: FloatArray, upper: int, lower: int, end: int, axis: FloatArray
) -> FloatArray:
    """Twist a bone about itself until its hinge is the one the limb is bent about."""
    along = joints[:, lower] - joints[:, upper]
    along = along / np.linalg.norm(along, axis=1, keepdims=True)
    below = joints[:, end] - joints[:, lower]
    below = below / np.linalg.norm(below, axis=1, keepdims=True)
    now = rotate(turn, axis)
    # a nearly straight limb keeps the hinge it has
    wanted = np.cross(along, below) + 0.1 * now
    now = now - np.einsum("ti,ti->t", now, along)[:, None] * along
    wanted = wanted - np.einsum("ti,ti->t", wanted, along)[:, None] * along
    return multiply(shortest_arc(now, wanted), turn)
