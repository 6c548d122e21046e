"""Things people do besides walking: look round, use the phone, shift their weight, bend down.

Each puts a movement on a :class:`Layer` from a time on and returns when it is over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.motion.synthesis._draws import Draws
from jaywalk.motion.synthesis._layer import SPINE1, SPINE2, SPINE3, Layer
from jaywalk.motion.synthesis._stand_model import StandModel, draw_gesture
from jaywalk.motion.synthesis._timeline import FRAMES_PER_S


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmPose:
    """A hand somewhere: from the shoulder outward, up, forward (m); where the elbow points."""

    wrist_m: tuple[float, float, float]
    elbow: tuple[float, float, float]
    head_pitch_rad: float = 0.0
    head_yaw_rad: float = 0.0
    both: bool = False


ARM_POSES: Final[dict[str, ArmPose]] = {
    "phones": ArmPose(wrist_m=(-0.05, 0.13, 0.11), elbow=(0.7, -1.0, 0.5), head_pitch_rad=0.1),
    "reads a phone": ArmPose(
        wrist_m=(-0.09, -0.20, 0.30), elbow=(0.4, -1.0, -0.2), head_pitch_rad=0.5
    ),
    "types on a phone": ArmPose(
        wrist_m=(-0.12, -0.24, 0.27), elbow=(0.5, -1.0, -0.3), head_pitch_rad=0.55, both=True
    ),
    "looks at the watch": ArmPose(
        wrist_m=(-0.14, -0.15, 0.26),
        elbow=(1.0, -0.6, 0.0),
        head_pitch_rad=0.45,
        head_yaw_rad=0.15,
    ),
    "puts the hands on the hips": ArmPose(
        wrist_m=(0.02, -0.40, 0.03), elbow=(1.0, -0.1, -0.7), both=True
    ),
    "folds the arms": ArmPose(wrist_m=(-0.20, -0.22, 0.19), elbow=(0.9, -1.0, 0.1), both=True),
    "scratches the head": ArmPose(wrist_m=(-0.10, 0.22, 0.05), elbow=(1.0, 0.1, 0.5)),
    "coughs": ArmPose(wrist_m=(-0.13, 0.05, 0.20), elbow=(0.8, -1.0, 0.2), head_pitch_rad=0.35),
    "drinks": ArmPose(wrist_m=(-0.12, 0.06, 0.22), elbow=(0.8, -1.0, 0.3), head_pitch_rad=-0.2),
    "puts a hand in the pocket": ArmPose(wrist_m=(0.0, -0.46, 0.08), elbow=(0.3, -0.2, -1.0)),
    "puts both hands in the pockets": ArmPose(
        wrist_m=(0.0, -0.46, 0.08), elbow=(0.35, -0.2, -1.0), both=True
    ),
    "points ahead": ArmPose(wrist_m=(0.05, 0.0, 0.48), elbow=(0.6, -1.0, 0.0)),
    "points aside": ArmPose(wrist_m=(0.42, 0.03, 0.20), elbow=(0.0, -1.0, -0.3), head_yaw_rad=0.5),
    "shades the eyes": ArmPose(wrist_m=(-0.10, 0.19, 0.17), elbow=(1.0, -0.2, 0.4)),
    "hails somebody": ArmPose(wrist_m=(0.10, 0.44, 0.10), elbow=(1.0, 0.0, 0.2)),
    "stretches the arms": ArmPose(
        wrist_m=(0.02, 0.46, 0.03), elbow=(1.0, 0.0, 0.3), head_pitch_rad=-0.3, both=True
    ),
}


def reach_weight(frames: int, start_s: float, rise_s: float, hold_s: float) -> FloatArray:
    """(frames,) minimum-jerk rise to 1, hold, and fall that takes a tenth longer."""
    time_s = np.arange(frames) / FRAMES_PER_S - start_s
    return np.asarray(
        _minimum_jerk(time_s / rise_s) - _minimum_jerk((time_s - rise_s - hold_s) / (1.1 * rise_s))
    )


def _minimum_jerk(share: FloatArray) -> FloatArray:
    s = np.clip(share, 0.0, 1.0)
    return np.asarray(s**3 * (10.0 - 15.0 * s + 6.0 * s * s))


def look(layer: Layer, at_s: float, yaw_rad: float, hold_s: float, pitch_rad: float = 0.0) -> float:
    """Turn the head (positive: left) for a while."""
    rise = 0.25 + 0.004 * abs(np.rad2deg(yaw_rad))
    weight = reach_weight(len(layer), at_s, rise, hold_s)
    layer.look(yaw_rad * weight, pitch_rad * weight)
    return float(at_s + 2.1 * rise + hold_s)


def look_round(layer: Layer, at_s: float, draws: Draws, looks: int = 2) -> float:
    """Look to one side, then to the other, ..."""
    side = 1.0 if draws.chance(0.5) else -1.0
    for _ in range(looks):
        yaw = side * draws.angle(35.0, 65.0)
        at_s = look(layer, at_s, yaw, draws.uniform(0.3, 1.1), draws.angle(-4, 8))
        at_s -= draws.uniform(0.0, 0.25)
        side = -side
    return at_s


def use_arms(layer: Layer, name: str, at_s: float, hold_s: float, draws: Draws) -> float:
    """One of ``ARM_POSES``, with the left or the right hand."""
    pose = ARM_POSES[name]
    rise = draws.uniform(0.55, 0.9)
    weight = reach_weight(len(layer), at_s, rise, hold_s)
    side = 1 if draws.chance(0.65) else 0
    jitter = np.array([draws.normal(0.0, 0.015) for _ in range(3)])
    drift = _fidget(len(layer), draws)
    for hand in (0, 1) if pose.both else (side,):
        wrist = np.array(pose.wrist_m) + jitter + drift
        if name == "folds the arms":
            wrist = wrist + np.array([0.0, 0.05, 0.03]) * (1.0 if hand == side else -1.0)
        layer.reach(hand, wrist, np.array(pose.elbow), weight)
    towards = -1.0 if side else 1.0
    yaw = pose.head_yaw_rad * towards + draws.normal(0.0, 0.06)
    layer.look(yaw * weight, (pose.head_pitch_rad + draws.normal(0.0, 0.05)) * weight)
    return float(at_s + 2.1 * rise + hold_s)


def _fidget(frames: int, draws: Draws) -> FloatArray:
    """(frames, 3) a hand is never quite still."""
    time = np.arange(frames)[:, None] / FRAMES_PER_S
    rates, phases = draws.uniforms(6).reshape(2, 3), draws.uniforms(6).reshape(2, 3)
    waves = np.sin(2.0 * np.pi * ((0.15 + 0.9 * rates)[:, None] * time + phases[:, None]))
    return np.asarray(0.008 * waves.sum(axis=0))


def wave(layer: Layer, at_s: float, hold_s: float, draws: Draws) -> float:
    """Wave one hand over the shoulder."""
    side = 1 if draws.chance(0.65) else 0
    weight = reach_weight(len(layer), at_s, 0.6, hold_s)
    time_s = np.arange(len(layer)) / FRAMES_PER_S - at_s
    swing = 0.10 * np.sin(2.0 * np.pi * draws.uniform(1.2, 2.0) * time_s)
    wrist = np.stack([0.20 + swing, np.full_like(swing, draws.uniform(0.2, 0.3)), 0.18 + 0 * swing])
    layer.reach(side, wrist.T, np.array([1.0, -0.8, 0.0]), weight)
    layer.look(np.zeros(len(layer)), -0.1 * weight)
    return at_s + 1.3 + hold_s


def shift_weight(layer: Layer, at_s: float, hold_s: float, side: float, draws: Draws) -> float:
    """Lean on one leg: pelvis 3 to 5 cm aside, hip dropped."""
    rise = draws.uniform(0.6, 1.0)
    weight = side * reach_weight(len(layer), at_s, rise, hold_s)
    layer.pelvis_m[:, 0] += draws.uniform(0.03, 0.05) * weight
    roll = draws.angle(2.0, 4.5) * weight
    layer.turns[:, 0, 2] += roll
    for joint in (SPINE1, SPINE2, SPINE3):
        layer.turns[:, joint, 2] -= roll / 3.0
    return at_s + 2.1 * rise + hold_s


def crouch(layer: Layer, at_s: float, hold_s: float, depth_m: float, draws: Draws) -> float:
    """Bend down, as to pick something up or to tie a shoe; depth on the body of scale 1."""
    rise = draws.uniform(0.8, 1.2)
    weight = reach_weight(len(layer), at_s, rise, hold_s)
    layer.pelvis_m[:, 1] -= depth_m * weight
    layer.pelvis_m[:, 2] -= (0.10 + 0.1 * depth_m) * weight
    bend = draws.angle(50.0, 75.0)
    layer.bend(bend * weight)
    side = 1 if draws.chance(0.6) else 0
    down = np.array([0.0, -0.46, 0.10])
    for hand in (0, 1) if draws.chance(0.4) else (side,):
        layer.reach(hand, down, np.array([0.6, 0.0, -1.0]), weight)
    layer.look(np.zeros(len(layer)), -0.1 * weight)
    return at_s + 2.1 * rise + hold_s


def bow(layer: Layer, at_s: float, hold_s: float, angle_rad: float, draws: Draws) -> float:
    """Bend the trunk forward (or back, below zero); the pelvis gives way the other way."""
    rise = draws.uniform(0.6, 1.0)
    weight = reach_weight(len(layer), at_s, rise, hold_s)
    layer.bend(angle_rad * weight)
    layer.pelvis_m[:, 2] -= 0.08 * np.sin(angle_rad) * weight
    return at_s + 2.1 * rise + hold_s


def twist(layer: Layer, at_s: float, hold_s: float, yaw_rad: float) -> float:
    """Turn the trunk with the feet staying, as to look behind."""
    weight = reach_weight(len(layer), at_s, 0.7, hold_s)
    for joint, share in ((0, 0.2), (SPINE1, 0.25), (SPINE2, 0.25), (SPINE3, 0.3)):
        layer.turns[:, joint, 1] += share * yaw_rad * weight
    layer.look(0.6 * yaw_rad * weight, np.zeros(len(layer)))
    return at_s + 1.5 + hold_s


def gesture(layer: Layer, at_s: float, model: StandModel, draws: Draws) -> float:
    """A movement of trunk and arms from the gesture model."""
    movement = draw_gesture(model, draws, FRAMES_PER_S)
    first = round(at_s * FRAMES_PER_S)
    count = min(len(movement), len(layer) - first)
    if count > 0:
        layer.angles[first : first + count] += movement[:count]
    return at_s + len(movement) / FRAMES_PER_S


def stumble(layer: Layer, at_s: float, draws: Draws) -> None:
    """Lurch: the trunk pitches forward, the arms fly out."""
    time_s = np.arange(len(layer)) / FRAMES_PER_S - at_s
    late = np.maximum(time_s, 0.0)
    curve = draws.uniform(0.9, 1.5) * 1.6 * np.exp(-late / 0.45) * np.sin(late / 0.30)
    curve = np.where(time_s > 0.0, curve, 0.0)
    for joint, share in ((0, 0.16), (SPINE1, 0.26), (SPINE2, 0.19), (SPINE3, 0.13)):
        layer.turns[:, joint, 0] += share * curve
    out = np.maximum(curve, 0.0)
    for shoulder, elbow, sign in ((16, 18, 1.0), (17, 19, -1.0)):
        layer.turns[:, shoulder, 2] += sign * 0.75 * out
        layer.turns[:, elbow, 1] -= sign * 0.5 * out
    layer.pelvis_m[:, 1] -= 0.03 * out


def raise_leg(
    layer: Layer, at_s: float, seconds: float, side: int, hip_rad: float, knee_rad: float
) -> None:
    """Lift a leg ahead while its foot is off the ground (:class:`Lift`); weight on the other."""
    time_s = np.arange(len(layer)) / FRAMES_PER_S - at_s
    share = np.clip(time_s / seconds, 0.0, 1.0)
    bell = np.sin(np.pi * share) ** 2
    layer.turns[:, 1 + side, 0] -= hip_rad * bell
    layer.turns[:, 4 + side, 0] += knee_rad * bell
    lean = reach_weight(len(layer), at_s - 0.3, 0.35, seconds - 0.1)
    layer.pelvis_m[:, 0] += (-0.045 if side == 0 else 0.045) * lean
    layer.bend(-0.12 * hip_rad * bell)


def kick(layer: Layer, at_s: float, seconds: float, side: int, size: float) -> None:
    """Swing a leg back, then ahead."""
    time_s = np.arange(len(layer)) / FRAMES_PER_S - at_s
    share = np.clip(time_s / seconds, 0.0, 1.0)
    fade = np.sin(np.pi * share) ** 0.8
    swing = -0.5 * np.sin(2.0 * np.pi * share) * fade + 0.35 * np.sin(np.pi * share) ** 4
    layer.turns[:, 1 + side, 0] -= 1.5 * size * swing
    layer.turns[:, 4 + side, 0] += size * 1.1 * np.exp(-(((share - 0.35) / 0.16) ** 2)) * fade
    lean = reach_weight(len(layer), at_s - 0.3, 0.35, seconds - 0.1)
    layer.pelvis_m[:, 0] += (-0.045 if side == 0 else 0.045) * lean
    for arm, sign in ((16, 1.0), (17, -1.0)):
        layer.turns[:, arm, 2] += sign * 0.35 * size * fade


def swing_arms(layer: Layer, at_s: float, end_s: float, period_s: float, draws: Draws) -> None:
    """Swing or circle both arms in time."""
    time_s = np.arange(len(layer)) / FRAMES_PER_S
    weight = reach_weight(len(layer), at_s, 0.6, max(end_s - at_s - 1.3, 0.1))
    beat = 2.0 * np.pi * (time_s - at_s) / period_s
    lift, size = draws.uniform(-0.3, 0.9), draws.uniform(0.4, 1.0)
    together = draws.chance(0.6)
    depth = draws.uniform(0.0, 1.0)
    for side, (arm, sign) in enumerate(((16, 1.0), (17, -1.0))):
        own = beat if together or side == 0 else beat + np.pi
        layer.turns[:, arm, 2] += sign * weight * (lift + size * np.sin(own))
        layer.turns[:, arm, 1] -= sign * weight * depth * size * np.cos(own)


def rock(
    layer: Layer, at_s: float, end_s: float, period_s: float, size: float, draws: Draws
) -> None:
    """Bob and sway in time, as to music."""
    time_s = np.arange(len(layer)) / FRAMES_PER_S
    weight = size * reach_weight(len(layer), at_s, 0.6, max(end_s - at_s - 1.3, 0.1))
    beat = 2.0 * np.pi * (time_s - at_s) / period_s
    layer.pelvis_m[:, 1] -= 0.05 * weight * (1.0 - np.cos(beat))
    layer.pelvis_m[:, 0] += 0.05 * weight * np.sin(0.5 * beat)
    turn = draws.uniform(0.1, 0.35) * weight * np.sin(0.5 * beat + draws.uniform(0.0, 6.0))
    side = draws.uniform(0.05, 0.25) * weight * np.sin(0.5 * beat)
    for joint in (SPINE1, SPINE2, SPINE3):
        layer.turns[:, joint, 1] += turn / 2.0
        layer.turns[:, joint, 2] += side / 2.0


def lead_head(layer: Layer, yaw_rad: FloatArray, ahead_s: float = 0.25) -> None:
    """Let the head look where the body will turn next."""
    ahead = round(ahead_s * FRAMES_PER_S)
    future = np.concatenate([yaw_rad[ahead:], np.full(min(ahead, len(yaw_rad)), yaw_rad[-1])])
    layer.look(np.clip(future[: len(yaw_rad)] - yaw_rad, -0.9, 0.9), np.zeros(len(yaw_rad)))


def limp(layer: Layer, phase: FloatArray, amplitude: FloatArray, side: int, size: float) -> None:
    """Spare one leg: the trunk tips over it and the pelvis sinks while it stands."""
    centre = 0.3 if side == 0 else 0.8
    beat = 0.5 + 0.5 * np.cos(2.0 * np.pi * (phase - centre))
    curve = size * amplitude * beat**2
    layer.turns[:, 0, 2] += (-1.0 if side == 0 else 1.0) * 0.10 * curve
    layer.turns[:, SPINE2, 2] += (-1.0 if side == 0 else 1.0) * 0.16 * curve
    layer.pelvis_m[:, 1] -= 0.025 * curve
