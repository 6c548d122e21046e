"""From a programme to a motion: poses of the model, path from the standing feet, foot lock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.ndimage import gaussian_filter1d

from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.rotation import multiply, normalise
from jaywalk.motion.clip import LIBRARY_RATE_HZ, Clip
from jaywalk.motion.heading import to_origin, yaw_matrix_2d, yaw_quaternion
from jaywalk.motion.smpl import BODY_OFFSETS_M, PARENTS, global_rotations, joint_positions
from jaywalk.motion.synthesis._cycles import (
    ANGLES,
    FORWARD,
    HEIGHT,
    LATERAL,
    LEFT_CONTACT,
    evaluate,
)
from jaywalk.motion.synthesis._draws import Draws
from jaywalk.motion.synthesis._footing import place_feet
from jaywalk.motion.synthesis._layer import Layer
from jaywalk.motion.synthesis._pose_channels import to_rotations
from jaywalk.motion.synthesis._programme import Block, ClipPerson, WalkBlock
from jaywalk.motion.synthesis._stand_model import quiet_movement, smooth_noise
from jaywalk.motion.synthesis._timeline import FRAMES_PER_S, Timeline, lay_out
from jaywalk.motion.synthesis.model_file import MotionModel

_STEP: Final = round(FRAMES_PER_S / LIBRARY_RATE_HZ)
_BALLS: Final = [10, 11]
_SPEED_ERROR: Final = 0.03

#: Lays gestures over a clip once its frames are known.
Acting = Callable[[Layer, Timeline, Draws], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """A generated motion and what its feet cost.

    Attributes:
        motion: The motion at 20 Hz.
        corrected_m: Greatest displacement the foot lock gave a standing ball, body of scale 1.
        lowered_m: Greatest lowering of the pelvis, body of scale 1.
    """

    motion: Clip
    corrected_m: float
    lowered_m: float


def generate(
    model: MotionModel,
    person: ClipPerson,
    blocks: Sequence[Block],
    acting: Acting,
    seed: tuple[int, str, int],
    *,
    name: str,
) -> Generated:
    """Make one motion; the same arguments give the same motion.

    Args:
        model: The trained model.
        person: Who.
        blocks: What they do.
        acting: What they do besides.
        seed: Keys of the random numbers.
        name: Name of the clip.
    """
    pace = 1.0
    for attempt in range(2):
        draws = Draws(seed[0], "clip", *seed[1:])
        timeline = lay_out(blocks, model.gait, person, draws, pace=pace)
        layer = Layer(len(timeline), model.means)
        acting(layer, timeline, draws)
        made, ratio = _frames(model, person, blocks, timeline, layer, draws, name)
        if attempt or ratio is None or abs(ratio - 1.0) < _SPEED_ERROR:
            break
        pace = float(np.clip(1.0 / ratio, 0.7, 1.4))
    return made


def _frames(
    model: MotionModel,
    person: ClipPerson,
    blocks: Sequence[Block],
    timeline: Timeline,
    layer: Layer,
    draws: Draws,
    name: str,
) -> tuple[Generated, float | None]:
    gait = evaluate(model.gait.terms(timeline.codes), timeline.phase)
    angles, height = _poses(model, person, timeline, gait, draws)
    stoop = np.full(len(timeline), person.stoop_rad)
    layer.bend(stoop)
    layer.turns[:, 12, 0] -= 0.4 * stoop
    rotations = layer.turn(to_rotations(layer.apply(angles), model.means))
    rotations[:, 0] = multiply(yaw_quaternion(timeline.yaw_rad), rotations[:, 0])
    rotations = normalise(rotations)
    contact = np.where(np.isnan(timeline.planted), gait[:, LEFT_CONTACT:], timeline.planted)
    feet_root = _path(rotations, height, gait, contact, timeline)
    root = feet_root + _sway(timeline, layer, draws)
    footed = place_feet(
        rotations, root, feet_root, contact, (1.0 - timeline.amplitude) ** 2, timeline.rate_hz
    )
    ratio = _speed_ratio(blocks, timeline, person, footed.root_m)
    motion = Clip(
        name=name,
        rotations=footed.rotations[::_STEP],
        root_m=footed.root_m[::_STEP] * person.body_scale,
        rate_hz=LIBRARY_RATE_HZ,
        body_scale=person.body_scale,
    )
    done = Generated(
        motion=to_origin(motion), corrected_m=footed.corrected_m, lowered_m=footed.lowered_m
    )
    return done, ratio


def _poses(
    model: MotionModel, person: ClipPerson, timeline: Timeline, gait: FloatArray, draws: Draws
) -> tuple[FloatArray, FloatArray]:
    """(frames, 66) angles and (frames,) pelvis height: gait and standing mixed by amplitude."""
    frames = len(timeline)
    standing = person.posture[:-1] + quiet_movement(
        model.stand, person.sway, frames, timeline.rate_hz, draws
    )
    walking = timeline.amplitude[:, None]
    angles = walking * gait[:, :ANGLES] + (1.0 - walking) * standing
    height = walking[:, 0] * gait[:, HEIGHT] + (1.0 - walking[:, 0]) * person.posture[-1]
    return np.asarray(angles), np.asarray(height)


def _path(
    rotations: FloatArray,
    height: FloatArray,
    gait: FloatArray,
    contact: FloatArray,
    timeline: Timeline,
) -> FloatArray:
    """(frames, 3) pelvis: it moves as the standing feet say, in flight as the gait says."""
    turned = global_rotations(np.ascontiguousarray(rotations), PARENTS)
    still = np.zeros((len(height), 3))
    balls = joint_positions(turned, still, BODY_OFFSETS_M, PARENTS)[:, _BALLS]
    back = -np.gradient(balls, axis=0)[..., [0, 2]] * timeline.rate_hz
    weight = np.clip((contact - 0.35) / 0.5, 0.0, 1.0) ** 2
    total = weight.sum(axis=1, keepdims=True)
    stance = (back * weight[..., None]).sum(axis=1) / np.maximum(total, 1e-9)
    flat = gait[:, [LATERAL, FORWARD]] / timeline.period_s[:, None]
    flat = flat * timeline.amplitude[:, None]
    flat = np.einsum("tij,tj->ti", yaw_matrix_2d(timeline.yaw_rad), flat)
    standing = np.clip(total / 0.5, 0.0, 1.0)
    speed = standing * stance + (1.0 - standing) * flat
    given = np.einsum("tij,tj->ti", yaw_matrix_2d(timeline.yaw_rad), timeline.given_mps[:, [0, 2]])
    held = ~np.isnan(timeline.planted[:, :1])
    shuffles = held & ((timeline.planted < 0.5).any(axis=1, keepdims=True))
    speed = np.where(shuffles, 0.0, speed)
    speed = gaussian_filter1d(speed, 2.2, axis=0, mode="nearest") + given
    path = np.zeros((len(height), 3))
    path[1:, [0, 2]] = np.cumsum(0.5 * (speed[1:] + speed[:-1]), axis=0) / timeline.rate_hz
    path[:, 1] = height + np.cumsum(timeline.given_mps[:, 1]) / timeline.rate_hz
    return path


def _sway(timeline: Timeline, layer: Layer, draws: Draws) -> FloatArray:
    """(frames, 3) movement of the pelvis over standing feet."""
    frames = len(timeline)
    slow = smooth_noise(frames, 2, 0.45 * timeline.rate_hz, draws) * [0.0055, 0.008]
    quick = smooth_noise(frames, 2, 0.1 * timeline.rate_hz, draws) * [0.0012, 0.0018]
    local = (1.0 - timeline.amplitude)[:, None] * (slow + quick) + layer.pelvis_m[:, [0, 2]]
    out = np.zeros((frames, 3))
    out[:, [0, 2]] = np.einsum("tij,tj->ti", yaw_matrix_2d(timeline.yaw_rad), local)
    out[:, 1] = layer.pelvis_m[:, 1]
    return out


def _speed_ratio(
    blocks: Sequence[Block], timeline: Timeline, person: ClipPerson, root_m: FloatArray
) -> float | None:
    """Reached over wanted speed during steady walking; None if there is no steady walking."""
    ground = gaussian_filter1d(root_m[:, [0, 2]], 0.3 * timeline.rate_hz, axis=0, mode="nearest")
    speed = np.linalg.norm(np.gradient(ground, axis=0), axis=1) * timeline.rate_hz
    speed *= np.sqrt(person.body_scale)
    wanted, reached = 0.0, 0.0
    for block, start in zip(blocks, timeline.starts, strict=True):
        if not isinstance(block, WalkBlock) or block.paces or block.backward:
            continue
        first = start + (round(1.2 * FRAMES_PER_S) if block.starts else 20)
        last = start + round((block.seconds - (0.8 if block.stops else 0.3)) * FRAMES_PER_S)
        if last - first > 30:
            wanted += block.speed_mps * (last - first)
            reached += float(speed[first:last].sum())
    return reached / wanted if wanted > 0.0 else None
