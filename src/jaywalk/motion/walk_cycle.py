"""Built-in animation of walkers on any rig: standing, walking, running and lying.

Poses are built in mesh space (x left, y forward, z up) as turns from the rest pose, so the
irregular axes of the rig's bones do not matter: a turn about +x moves a hanging limb forward, a
turn about +y leans to the left, and a turn about +z moves the left side forward. Legs are solved by
inverse kinematics from the path of the feet, which therefore neither slide nor sink. A lying walker
has been knocked down.
"""

from __future__ import annotations

import math

import numpy as np

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.kernels import kernel
from jaywalk.core.units import DEG_TO_RAD
from jaywalk.geometry.rotation import (
    Quat,
    Vec3,
    quat_about_x,
    quat_about_y,
    quat_about_z,
    quat_multiply,
    quat_rotate,
)
from jaywalk.motion._gait import Foot, Gait, foot_at, gait_at
from jaywalk.motion._legs import solve_leg
from jaywalk.motion.kinematics import mesh_pose
from jaywalk.motion.pose import blend_into
from jaywalk.motion.posing import (
    ARM_L,
    ARM_R,
    CHEST,
    FOOT_L,
    FOOT_R,
    HEAD,
    HIPS,
    NECK,
    SPINE,
    THIGH_L,
    THIGH_R,
    TOE_L,
    TOE_R,
    RigTables,
    copy_pose,
    rest_offset,
    set_hips,
    set_turn,
    trait,
)


@kernel
def rest_on_ground(local: FloatArray, rest: FloatArray, parents: IntArray, height_m: float) -> None:
    """Shift the hips so that the lowest joint is ``height_m`` (its flesh) above the ground."""
    mesh = mesh_pose(local, parents)
    lowest = np.inf
    for bone in range(HIPS, mesh.shape[0]):
        lowest = min(lowest, mesh[bone, 2])
    z = mesh[HIPS, 2] + height_m - lowest
    set_hips(local, rest, (mesh[HIPS, 0], mesh[HIPS, 1], z))


@kernel
def lying_pose(tables: RigTables, rig: int, style: float, out: FloatArray) -> None:
    """Write the pose of a knocked-down walker, on the back or on the front by its style."""
    rest, parents = tables.rest_mesh[rig], tables.parents
    copy_pose(tables.rest_local[rig], out)
    face_up = 1.0 if trait(style, 7.0) > 0.0 else -1.0
    body = quat_multiply(
        quat_about_z(0.4 * trait(style, 8.0)), quat_about_x(face_up * 0.5 * math.pi)
    )
    none = (1.0, 0.0, 0.0, 0.0)
    set_hips(out, rest, (0.0, 0.0, 0.0))
    set_turn(out, rest, parents, HIPS, body, none)
    for side_index in range(2):
        side = 1.0 if side_index == 0 else -1.0
        thigh = THIGH_L if side_index == 0 else THIGH_R
        arm = ARM_L if side_index == 0 else ARM_R
        bend = trait(style, 10.0 + side)
        # all limbs spread in the plane of the ground
        thigh_turn = quat_multiply(body, quat_about_y(-side * (0.16 + 0.10 * bend)))
        shank_turn = quat_multiply(thigh_turn, quat_about_y(side * (0.18 + 0.16 * bend)))
        foot_turn = quat_multiply(shank_turn, quat_about_x(-0.6))
        set_turn(out, rest, parents, thigh, thigh_turn, body)
        set_turn(out, rest, parents, thigh + 1, shank_turn, thigh_turn)
        set_turn(out, rest, parents, thigh + 2, foot_turn, shank_turn)
        arm_turn = quat_multiply(body, quat_about_y(side * (0.7 + 0.4 * bend)))
        # undo the rest bend of the elbow, which would lift or bury the hand
        fore_turn = quat_multiply(arm_turn, quat_about_z(-side * 0.26))
        set_turn(out, rest, parents, arm, arm_turn, body)
        set_turn(out, rest, parents, arm + 1, fore_turn, arm_turn)
    rest_on_ground(out, rest, parents, 0.05 * tables.leg_length_m[rig])


# Used in loops, because numba would compile a separate function for every constant argument.
_TRUNK = np.array([SPINE, CHEST, NECK, HEAD], dtype=np.int64)

_TURN = 2.0 * math.pi


@kernel
def _ankle_target(
    rest: FloatArray,
    foot_bone: int,
    toe_bone: int,
    foot: Foot,
    side: float,
    gait: Gait,
    spread_m: float,
    toe_out_rad: float,
) -> Vec3:
    """Ankle position in mesh space for a state of the foot."""
    height, joint = rest[foot_bone, 2], rest[toe_bone, 2]
    dx = rest[toe_bone, 0] - rest[foot_bone, 0]
    dy = rest[toe_bone, 1] - rest[foot_bone, 1]
    ball = math.sqrt(dx * dx + dy * dy)
    heel = 0.42 * ball
    cos, sin = math.cos(foot.pitch_rad), math.sin(foot.pitch_rad)
    if foot.pitch_rad >= 0.0:
        along = -heel + heel * cos - height * sin
        up = heel * sin + height * cos
    else:
        along = ball - ball * cos - (height - joint) * sin
        up = joint - ball * sin + (height - joint) * cos
    if foot.swing > 0.0:
        toe = ball * sin - (height - joint) * cos - joint
        tip = toe + 0.6 * ball * math.sin(foot.pitch_rad + foot.toe_bend_rad)
        lowest = up + foot.lift_m + min(min(toe, tip), -heel * sin - height * cos)
        clearance = 0.14 * height * gait.walk * 4.0 * foot.swing * (1.0 - foot.swing)
        up += foot.lift_m + max(0.0, clearance - lowest)
    return (
        side * spread_m + along * side * math.sin(toe_out_rad),
        foot.forward_m + along * math.cos(toe_out_rad) - 0.3 * height,
        up,
    )


@kernel
def _hip_room(ankle: Vec3, hip: Vec3, reach_m: float) -> float:
    """Largest height of a hip from which the leg still reaches the ankle."""
    dx, dy = ankle[0] - hip[0], ankle[1] - hip[1]
    return ankle[2] + math.sqrt(max(reach_m * reach_m - dx * dx - dy * dy, 0.04 * reach_m))


@kernel
def _hip_height(phase: float, gait: Gait, leg_m: float, ankle_m: float, landing: Vec3) -> float:
    """Wanted height of the hip joints: an arch over each standing leg, a spring when running."""
    stand = ankle_m + 0.992 * leg_m
    low = landing[2] + math.sqrt(max((0.994 * leg_m) ** 2 - landing[1] ** 2, 0.1 * leg_m * leg_m))
    arch = 0.030 * leg_m * gait.vigour * (1.0 - math.cos(2.0 * _TURN * (phase - 0.04)))
    walking = min(low, stand) + arch
    spring = 0.036 * leg_m * math.cos(2.0 * _TURN * (phase - 0.47 * gait.duty))
    running = ankle_m + 0.928 * leg_m - spring
    height = walking + gait.run * (running - walking)
    return stand + gait.walk * (height - stand)


@kernel
def _pose_leg(
    local: FloatArray,
    rest: FloatArray,
    parents: IntArray,
    thigh: int,
    hip: Vec3,
    ankle: Vec3,
    pelvis_turn: Quat,
    foot: Foot,
    side: float,
    toe_out_rad: float,
) -> None:
    """Solve one leg; ``thigh`` is followed by shank, foot and toe in the bone order."""
    shank, foot_bone, toe = thigh + 1, thigh + 2, thigh + 3
    knee_yaw = quat_about_z(-side * 0.6 * toe_out_rad)
    pole = quat_rotate(knee_yaw, (0.0, 1.0, 0.0))
    turn_thigh, turn_shank = solve_leg(
        hip, ankle, pole, rest_offset(rest, shank, thigh), rest_offset(rest, foot_bone, shank)
    )
    along = rest_offset(rest, toe, foot_bone)
    rest_yaw = math.atan2(along[0], along[1])
    turn_foot = quat_multiply(
        quat_multiply(quat_about_z(-side * toe_out_rad), quat_about_x(foot.pitch_rad)),
        quat_about_z(rest_yaw),
    )
    toe_pitch = quat_about_x(foot.pitch_rad + foot.toe_bend_rad)
    turn_toe = quat_multiply(
        quat_multiply(quat_about_z(-side * toe_out_rad), toe_pitch), quat_about_z(rest_yaw)
    )
    set_turn(local, rest, parents, thigh, turn_thigh, pelvis_turn)
    set_turn(local, rest, parents, shank, turn_shank, turn_thigh)
    set_turn(local, rest, parents, foot_bone, turn_foot, turn_shank)
    set_turn(local, rest, parents, toe, turn_toe, turn_foot)


@kernel
def _pose_arm(
    local: FloatArray,
    rest: FloatArray,
    parents: IntArray,
    arm: int,
    side: float,
    chest: Quat,
    swing_rad: float,
    elbow_rad: float,
    away_rad: float,
) -> None:
    """Hang an arm: ``swing`` forward, ``away`` from the body, ``elbow`` beyond its rest bend."""
    forearm, hand = arm + 1, arm + 2
    lower = quat_about_y(side * (0.5 * math.pi - away_rad))
    # turn the elbow's crease a little forward-inward, as relaxed arms do
    inward = quat_about_x(-14.0 * DEG_TO_RAD)
    turn = quat_multiply(chest, quat_multiply(quat_about_x(swing_rad), lower))
    turn = quat_multiply(turn, inward)
    turn_fore = quat_multiply(turn, quat_about_z(side * elbow_rad))
    turn_hand = quat_multiply(turn_fore, quat_about_z(-side * 0.08))
    set_turn(local, rest, parents, arm, turn, chest)
    set_turn(local, rest, parents, forearm, turn_fore, turn)
    set_turn(local, rest, parents, hand, turn_hand, turn_fore)


@kernel
def _pose_upper_body(
    local: FloatArray,
    rest: FloatArray,
    parents: IntArray,
    gait: Gait,
    phase: float,
    time_s: float,
    style: float,
    pelvis: Quat,
) -> None:
    """Pose trunk, head and arms: counter-rotation, lean, breathing, arms opposite to the legs."""
    idle = 1.0 - gait.walk
    lean = (1.0 + 2.5 * gait.vigour + 6.0 * gait.run + 1.5 * trait(style, 1.0)) * DEG_TO_RAD
    breath = 0.8 * DEG_TO_RAD * math.sin(_TURN * (0.25 * time_s + style)) * (0.3 + 0.7 * idle)
    twist = -(5.0 + 3.0 * gait.run) * DEG_TO_RAD * gait.vigour * math.cos(_TURN * phase)
    gaze = idle * 14.0 * DEG_TO_RAD * math.sin(_TURN * (0.071 * time_s + 3.0 * style))
    gaze *= math.sin(_TURN * (0.029 * time_s + style))
    straight = quat_about_x(-0.5 * lean)
    spine = quat_multiply(straight, quat_about_z(0.3 * twist))
    chest = quat_multiply(quat_about_x(-lean + breath), quat_about_z(twist))
    neck = quat_multiply(quat_about_x(-0.5 * lean), quat_about_z(0.3 * twist + 0.4 * gaze))
    head = quat_multiply(quat_about_x(-0.2 * lean), quat_about_z(gaze))
    turns = (pelvis, spine, chest, neck, head)
    for i in range(4):
        set_turn(local, rest, parents, _TRUNK[i], turns[i + 1], turns[i])
    amplitude = (21.0 + 10.0 * gait.run) * (1.0 + 0.25 * trait(style, 2.0)) * DEG_TO_RAD
    amplitude *= min(gait.vigour, 1.1)
    away = (9.0 + 2.0 * trait(style, 3.0) + 4.0 * gait.run) * DEG_TO_RAD - 0.5 * breath
    bend = (4.0 + 5.0 * gait.walk + 50.0 * gait.run + 4.0 * trait(style, 4.0)) * DEG_TO_RAD
    for side_index in range(2):
        side = 1.0 if side_index == 0 else -1.0
        arm = ARM_L if side_index == 0 else ARM_R
        # the left leg lands at phase 0, so the left arm is furthest back a little after it
        ahead = -side * math.cos(_TURN * (phase - 0.03))
        centre = (-4.0 - 2.0 * gait.walk - 4.0 * gait.run) * DEG_TO_RAD
        swing = centre + lean + amplitude * ahead
        elbow = bend + (10.0 + 2.0 * gait.run) * DEG_TO_RAD * gait.vigour * (0.5 + 0.5 * ahead)
        _pose_arm(local, rest, parents, arm, side, chest, swing, elbow, away)


@kernel
def moving_pose(
    tables: RigTables,
    rig: int,
    speed_mps: float,
    phase: float,
    time_s: float,
    style: float,
    out: FloatArray,
) -> None:
    """Write the standing, walking or running pose (bones, 7) of one walker to ``out``."""
    rest, parents, leg = tables.rest_mesh[rig], tables.parents, tables.leg_length_m[rig]
    copy_pose(tables.rest_local[rig], out)
    gait = gait_at(speed_mps, leg)
    phase_l = phase - math.floor(phase)
    phase_r = phase_l + 0.5 - math.floor(phase_l + 0.5)
    idle = 1.0 - gait.walk
    cycle = _TURN * phase_l
    # pelvis: forward with the landing leg, down on the side of the swinging one, over the foot
    yaw = (5.0 + 1.5 * gait.run) * DEG_TO_RAD * gait.vigour * math.cos(cycle)
    list_ = -3.0 * DEG_TO_RAD * gait.vigour * math.sin(cycle + 0.25)
    pitch = -(0.5 + 2.0 * gait.vigour + 4.0 * gait.run) * DEG_TO_RAD
    pelvis = quat_multiply(
        quat_about_z(yaw), quat_multiply(quat_about_y(list_), quat_about_x(pitch))
    )
    toe_out = (8.0 - 4.0 * gait.run + 4.0 * trait(style, 5.0)) * DEG_TO_RAD
    width = rest[THIGH_L, 0]
    spread = width * (1.05 + 0.2 * trait(style, 6.0) - 0.45 * gait.walk - 0.25 * gait.run)
    left = foot_at(phase_l, gait, leg)
    right = foot_at(phase_r, gait, leg)
    ankle_l = _ankle_target(rest, FOOT_L, TOE_L, left, 1.0, gait, spread, toe_out)
    ankle_r = _ankle_target(rest, FOOT_R, TOE_R, right, -1.0, gait, spread, toe_out)
    landing = _ankle_target(
        rest, FOOT_L, TOE_L, foot_at(0.0, gait, leg), 1.0, gait, spread, toe_out
    )
    sway = 0.022 * leg * gait.vigour * math.cos(cycle - 0.3 * _TURN) * (1.0 - 0.5 * gait.run)
    sway += idle * 0.012 * leg * math.sin(_TURN * (0.11 * time_s + 2.0 * style))
    surge = idle * 0.006 * leg * math.sin(_TURN * (0.17 * time_s + style))
    off_l = quat_rotate(pelvis, rest_offset(rest, THIGH_L, HIPS))
    off_r = quat_rotate(pelvis, rest_offset(rest, THIGH_R, HIPS))
    middle_y = 0.5 * (off_l[1] + off_r[1])
    drop = 0.5 * (off_l[2] + off_r[2])
    x, y = sway, surge - middle_y
    z = _hip_height(phase_l, gait, leg, rest[FOOT_L, 2], landing) - drop
    hip_l = (x + off_l[0], y + off_l[1], z + off_l[2])
    hip_r = (x + off_r[0], y + off_r[1], z + off_r[2])
    room_l = _hip_room(ankle_l, hip_l, 0.996 * leg) - off_l[2]
    room_r = _hip_room(ankle_r, hip_r, 0.996 * leg) - off_r[2]
    z = min(z, min(room_l, room_r))
    set_hips(out, rest, (x, y, z))
    set_turn(out, rest, parents, HIPS, pelvis, (1.0, 0.0, 0.0, 0.0))
    hip_l = (hip_l[0], hip_l[1], z + off_l[2])
    hip_r = (hip_r[0], hip_r[1], z + off_r[2])
    for side_index in range(2):
        is_left = side_index == 0
        side = 1.0 if is_left else -1.0
        thigh = THIGH_L if is_left else THIGH_R
        hip = hip_l if is_left else hip_r
        ankle = ankle_l if is_left else ankle_r
        foot = left if is_left else right
        _pose_leg(out, rest, parents, thigh, hip, ankle, pelvis, foot, side, toe_out)
    _pose_upper_body(out, rest, parents, gait, phase_l, time_s, style, pelvis)


@kernel
def animate_walkers(
    tables: RigTables,
    rigs: IntArray,
    speeds_mps: FloatArray,
    phases: FloatArray,
    time_s: float,
    styles: FloatArray,
    down: FloatArray,
) -> FloatArray:
    """Return the poses of many walkers at once.

    Args:
        tables: From :func:`rig_tables`.
        rigs: (walkers,) rig index.
        speeds_mps: (walkers,) speed over ground.
        phases: (walkers,) gait phase 0..1; the left foot lands at 0, the right one at 0.5.
        time_s: Simulated time, for breathing and sway.
        styles: (walkers,) any fixed number per walker, 0..1.
        down: (walkers,) 0 on the feet, 1 lying on the ground, between: falling or rising.

    Returns:
        (walkers, bones, 7) parent-relative transforms ``x y z qw qx qy qz``.
    """
    count, bones = rigs.shape[0], tables.parents.shape[0]
    out = np.empty((count, bones, 7))
    lying = np.empty((bones, 7))
    for i in range(count):
        if down[i] < 1.0:
            moving_pose(tables, rigs[i], speeds_mps[i], phases[i], time_s, styles[i], out[i])
        if down[i] > 0.0:
            lying_pose(tables, rigs[i], styles[i], lying)
            if down[i] >= 1.0:
                copy_pose(lying, out[i])
            else:
                blend_into(out[i], lying, down[i], out[i])
                rest = tables.rest_mesh[rigs[i]]
                flesh = (0.025 + 0.025 * down[i]) * tables.leg_length_m[rigs[i]]
                rest_on_ground(out[i], rest, tables.parents, flesh)
    return out
