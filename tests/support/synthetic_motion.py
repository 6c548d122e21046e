"""Made-up motions on the SMPL skeleton with known answers."""

import numpy as np

from jaywalk.geometry.rotation import from_rotvec, multiply
from jaywalk.motion.clip import Clip
from jaywalk.motion.foot_lock import move_balls
from jaywalk.motion.heading import yaw_matrix_2d, yaw_quaternion
from jaywalk.motion.smpl import BALL_HEIGHT_M, BODY_OFFSETS_M, JOINTS

STAND_M = -float(BODY_OFFSETS_M[[1, 4, 7, 10], 1].sum()) + BALL_HEIGHT_M


def still(frames=20, rate_hz=20.0, name="still", **turns):
    """A T-pose on the ground; ``turns`` are rotation vectors by joint name."""
    rotations = np.zeros((frames, len(JOINTS), 4))
    rotations[..., 0] = 1.0
    for joint, vector in turns.items():
        rotations[:, JOINTS.index(joint)] = from_rotvec(np.array(vector))
    root = np.tile([0.0, STAND_M, 0.0], (frames, 1))
    return Clip(name=name, rotations=rotations, root_m=root, rate_hz=rate_hz)


def wild(seed=0, frames=60, rate_hz=20.0):
    """Smooth random turns of every joint and a wandering, leaning root."""
    rng = np.random.default_rng(seed)
    time = np.arange(frames)[:, None, None] / rate_hz
    rate = rng.uniform(0.2, 0.7, (3, len(JOINTS), 3))
    phase = rng.uniform(0, 6, (3, len(JOINTS), 3))
    vectors = sum(0.3 * np.sin(2 * np.pi * rate[i] * time + phase[i]) for i in range(3))
    root = np.stack(
        [np.sin(time[:, 0, 0]), STAND_M - 0.1 + 0 * time[:, 0, 0], 0.9 * time[:, 0, 0]], axis=1
    )
    return Clip(name=f"wild{seed}", rotations=from_rotvec(vectors), root_m=root, rate_hz=rate_hz)


def walking(seconds=6.0, speed_mps=1.2, turn_rps=0.0, rate_hz=20.0, name="walk", scale=1.0):
    """A walk with exactly planted feet (60 % of a one-second cycle) on a circle or a line."""
    frames = round(seconds * rate_hz) + 1
    time = np.arange(frames) / rate_hz
    yaw = turn_rps * time
    fine = np.linspace(-2.0, seconds + 2.0, 4001)
    steps = speed_mps * np.stack([np.sin(turn_rps * fine), np.cos(turn_rps * fine)], 1)
    path = np.cumsum(steps, axis=0) * (fine[1] - fine[0])
    path -= path[np.searchsorted(fine, 0.0)]

    def place(moments):
        return np.stack([np.interp(moments, fine, path[:, i]) for i in range(2)], axis=-1)

    rotations = np.zeros((frames, len(JOINTS), 4))
    rotations[..., 0] = 1.0
    rotations[:, 0] = yaw_quaternion(yaw)
    rotations[:, JOINTS.index("left_shoulder")] = from_rotvec(np.array([0.0, 0.0, -1.3]))
    rotations[:, JOINTS.index("right_shoulder")] = from_rotvec(np.array([0.0, 0.0, 1.3]))
    knee = from_rotvec(np.array([0.3, 0.0, 0.0]))
    for side in ("left", "right"):
        rotations[:, JOINTS.index(f"{side}_knee")] = knee
        rotations[:, JOINTS.index(f"{side}_hip")] = from_rotvec(np.array([-0.15, 0.0, 0.0]))
        rotations[:, JOINTS.index(f"{side}_ankle")] = from_rotvec(np.array([-0.15, 0.0, 0.0]))
    ground = place(time)
    root = np.stack([ground[:, 0], np.full(frames, scale * (STAND_M - 0.07)), ground[:, 1]], axis=1)
    motion = Clip(name=name, rotations=rotations, root_m=root, rate_hz=rate_hz, body_scale=scale)
    joints = motion.joints_m()
    target = np.empty((frames, 2, 3))
    for side, shift in enumerate((0.0, 0.5)):
        cycle = np.floor(time - shift)
        phase = time - shift - cycle
        across = 0.09 * scale * (1 - 2 * side)
        now = _footprint(place, turn_rps, cycle + shift + 0.3, across)
        later = _footprint(place, turn_rps, cycle + 1 + shift + 0.3, across)
        u = np.clip((phase - 0.6) / 0.4, 0.0, 1.0)[:, None]
        flat = now + (later - now) * u * u * (3 - 2 * u)
        target[:, side, 0], target[:, side, 2] = flat[:, 0], flat[:, 1]
        target[:, side, 1] = scale * BALL_HEIGHT_M + 0.09 * np.sin(np.pi * u[:, 0]) ** 2
    return move_balls(motion, joints, target - joints[:, [10, 11]])


def _footprint(place, turn_rps, moment, across):
    side = np.einsum("tij,j->ti", yaw_matrix_2d(turn_rps * moment), np.array([across, 0.05]))
    return place(moment) + side


def turned_root(motion, vector):
    """The motion with its pelvis turned in place (children follow)."""
    rotations = motion.rotations.copy()
    rotations[:, 0] = multiply(from_rotvec(np.array(vector)), rotations[:, 0])
    return motion.with_poses(rotations, motion.root_m)
