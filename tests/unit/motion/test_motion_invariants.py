"""The ten invariants of the motion pipeline, against matrices of scipy."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from synthetic_motion import still, walking, wild

from jaywalk.geometry.rotation import (
    angle_between_rad,
    from_matrix,
    from_rotvec,
    matrix_from_6d,
    matrix_to_6d,
    rotate,
    to_matrix,
    to_rotvec,
    transforms_from_rotators,
)
from jaywalk.motion.carla_rigs import RIG_NAMES, load_rig
from jaywalk.motion.clip import mirror, resample
from jaywalk.motion.foot_lock import balls_m, contacts, horizontal_speed_mps
from jaywalk.motion.heading import differentiate, heading_rad, integrate, turn_about_vertical
from jaywalk.motion.kinematics import mesh_pose
from jaywalk.motion.retarget import (
    DRIVEN,
    RootPolicy,
    engine_angles_deg,
    retarget,
    transfer_rotations,
)
from jaywalk.motion.smpl import BODY_OFFSETS_M, JOINTS, MIRRORED, PARENTS
from jaywalk.motion.sources._humanml3d import recover_root

M = np.array([[1.0, 0, 0], [0, 0, 1.0], [0, 1.0, 0]])


def as_scipy(quats):
    return Rotation.from_quat(quats.reshape(-1, 4)[:, [1, 2, 3, 0]])


def smpl_globals(motion):
    """Independent forward kinematics with matrices."""
    local = as_scipy(motion.rotations).as_matrix().reshape(motion.frames, 22, 3, 3)
    out = local.copy()
    for j in range(1, 22):
        out[:, j] = out[:, PARENTS[j]] @ local[:, j]
    return out


def rig_globals(rig, local):
    """Global bone rotations in mesh space from parent-relative ones, with matrices."""
    rest = as_scipy(rig.rest_local[:, 3:]).as_matrix()
    frames = len(local)
    matrices = np.repeat(rest[None], frames, axis=0)
    for place, name in enumerate(DRIVEN):
        matrices[:, rig.bone_index[name]] = as_scipy(local[:, place]).as_matrix()
    out = matrices.copy()
    for bone in range(1, len(rig.bones)):
        out[:, bone] = out[:, rig.parents[bone]] @ matrices[:, bone]
    return out


def angle_deg(a, b):
    return np.rad2deg(angle_between_rad(from_matrix(a), from_matrix(b)))


class TestInvariant1RoundTrips:
    vectors = np.random.default_rng(1).normal(size=(500, 3))

    def test_exponential_and_logarithm(self):
        vectors = self.vectors / np.maximum(np.linalg.norm(self.vectors, axis=1)[:, None] / 3, 1)
        q = from_rotvec(vectors)
        assert np.abs(to_matrix(q) - Rotation.from_rotvec(vectors).as_matrix()).max() < 1e-12
        assert np.abs(to_rotvec(q) - vectors).max() < 1e-9
        tiny = vectors * 1e-9
        assert np.allclose(to_rotvec(from_rotvec(tiny)), tiny, rtol=1e-6, atol=0)

    def test_six_numbers(self):
        matrices = Rotation.from_rotvec(self.vectors).as_matrix()
        back = matrix_from_6d(7.3 * matrix_to_6d(matrices))
        assert angle_deg(matrices, back).max() < 1e-5
        assert np.abs(np.linalg.det(back) - 1).max() < 1e-9
        assert np.abs(back @ np.swapaxes(back, 1, 2) - np.eye(3)).max() < 1e-9

    def test_engine_angles(self):
        q = from_rotvec(self.vectors)
        rows = np.concatenate([np.zeros((500, 3)), engine_angles_deg(q)], axis=1)
        back = transforms_from_rotators(rows)[:, 3:]
        assert np.rad2deg(angle_between_rad(q, back)).max() < 1e-5


@pytest.mark.parametrize("rig", RIG_NAMES)
class TestRigs:
    def test_invariant_2_zero_pose_is_the_rest_pose(self, rig):
        posed = transfer_rotations(still(), load_rig(rig))
        rest = load_rig(rig).rest_local[[load_rig(rig).bone_index[n] for n in DRIVEN], 3:]
        assert np.rad2deg(angle_between_rad(posed, rest)).max() < 1e-6

    def test_invariant_3_global_turns_agree(self, rig):
        motion, skeleton = wild(3), load_rig(rig)
        seen = rig_globals(skeleton, transfer_rotations(motion, skeleton))
        truth = M @ smpl_globals(motion) @ M.T
        rest = as_scipy(skeleton.rest_mesh[:, 3:]).as_matrix()
        for name, joint in DRIVEN.items():
            bone = skeleton.bone_index[name]
            turn = seen[:, bone] @ rest[bone].T
            assert angle_deg(turn, truth[:, JOINTS.index(joint)]).max() < 1e-3, name

    def test_invariant_3_limbs_differ_by_their_rest_directions(self, rig):
        motion, skeleton = wild(4), load_rig(rig)
        posed = transfer_rotations(motion, skeleton)
        seen = rig_globals(skeleton, posed)
        rest = skeleton.rest_mesh
        for name, child, joint in (
            ("crl_foreArm__L", "crl_hand__L", "left_elbow"),
            ("crl_leg__R", "crl_foot__R", "right_knee"),
        ):
            offset = skeleton.rest_local[skeleton.bone_index[child], :3]
            bone = seen[:, skeleton.bone_index[name]] @ offset
            j = JOINTS.index(joint)
            limb = smpl_globals(motion)[:, j] @ BODY_OFFSETS_M[list(PARENTS).index(j)] @ M.T
            cosine = np.sum(bone * limb, 1) / np.linalg.norm(bone, axis=1)
            angle = np.arccos(cosine / np.linalg.norm(limb, axis=1))
            a = rest[skeleton.bone_index[child], :3] - rest[skeleton.bone_index[name], :3]
            b = M @ BODY_OFFSETS_M[list(PARENTS).index(j)]
            wanted = np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
            assert np.abs(angle - wanted).max() < 1e-6

    @pytest.mark.parametrize("policy", RootPolicy)
    def test_invariant_4_bones_keep_their_length(self, rig, policy):
        skeleton = load_rig(rig)
        posed = retarget(wild(5), skeleton, policy)
        joints, poses = posed.joints_m(), posed.poses()
        assert np.allclose(mesh_pose(poses[7], skeleton.parents)[:, 2], joints[7, :, 2])
        for bone in range(2, len(skeleton.bones)):
            length = np.linalg.norm(joints[:, bone] - joints[:, skeleton.parents[bone]], axis=1)
            assert length.std() < 1e-6
        undriven = [i for i, name in enumerate(skeleton.bones) if name not in DRIVEN]
        assert np.ptp(poses[:, undriven], axis=0).max() == 0.0

    def test_invariant_9_feet_stand_on_the_ground_and_do_not_slide(self, rig):
        motion = walking(speed_mps=1.1)
        skeleton = load_rig(rig)
        toes = [skeleton.bone_index[f"crl_toe__{side}"] for side in "LR"]
        standing = contacts(motion)
        source = horizontal_speed_mps(balls_m(motion), 20.0, 1)[standing].mean()
        for policy in RootPolicy:
            balls = retarget(motion, skeleton, policy).joints_m()[:, toes]
            height = balls[..., 2] - skeleton.rest_mesh[toes, 2]
            assert np.abs(height[standing]).max() < 0.02
            # under `scale` everything, also the edges of contacts, is as much faster as larger
            most = source * (1.16 if policy is RootPolicy.SCALE else 1.0)
            if policy is RootPolicy.SCALE or skeleton.leg_length_m > 0.7:
                assert horizontal_speed_mps(balls, 20.0, 2)[standing].mean() < most + 0.002

    def test_invariant_10_no_bone_jumps(self, rig):
        motion = walking(turn_rps=0.6)
        # a child on an adult's path makes giant strides: children are scaled
        for policy in (RootPolicy.SCALE, RootPolicy.KEEP)[: 2 if rig in ("man", "woman") else 1]:
            turns = retarget(motion, load_rig(rig), policy).turns
            assert np.rad2deg(angle_between_rad(turns[1:], turns[:-1])).max() < 40.0


class TestInvariant5Mirror:
    def test_mirroring_twice_changes_nothing(self):
        motion = wild(6)
        twice = mirror(mirror(motion))
        assert np.array_equal(twice.rotations, motion.rotations)
        assert twice.name == motion.name

    def test_joints_are_mirrored(self):
        motion = wild(6)
        wanted = motion.joints_m()[:, MIRRORED] * np.array([-1.0, 1, 1])
        assert np.abs(mirror(motion).joints_m() - wanted).max() < 1e-12

    @pytest.mark.parametrize("rig", RIG_NAMES)
    def test_retargeting_commutes_with_mirroring(self, rig):
        motion, skeleton = walking(turn_rps=0.4), load_rig(rig)
        swap = [
            skeleton.bone_index[n[:-1] + {"L": "R", "R": "L"}.get(n[-1], n[-1])]
            for n in skeleton.bones
        ]
        a = retarget(mirror(motion), skeleton, RootPolicy.KEEP).joints_m()
        b = retarget(motion, skeleton, RootPolicy.KEEP).joints_m()[:, swap]
        # the rigs' own left and right differ by some millimetres (fingers are not driven)
        driven = [skeleton.bone_index[name] for name in DRIVEN]
        assert np.abs(a - b * np.array([1.0, -1, 1]))[:, driven].max() < 0.012

    def test_the_left_hand_raised_is_the_left_hand(self):
        motion = still(left_shoulder=(0.0, 0.0, 1.3))
        wrists = motion.joints_m()[0, [20, 21]]
        assert wrists[0, 1] > wrists[1, 1] + 0.4
        for rig in RIG_NAMES:
            skeleton = load_rig(rig)
            joints = retarget(motion, skeleton, RootPolicy.SCALE).joints_m()[0]
            left, right, head = (
                joints[skeleton.bone_index[n]]
                for n in ("crl_hand__L", "crl_hand__R", "crl_Head__C")
            )
            assert left[2] > head[2] > right[2]
            assert left[1] < head[1] < right[1]  # CARLA's y points to the right
            joints = retarget(mirror(motion), skeleton, RootPolicy.SCALE).joints_m()[0]
            assert joints[skeleton.bone_index["crl_hand__R"], 2] > head[2]


class TestInvariant6Yaw:
    @pytest.mark.parametrize("angle", [0.7, -2.0])
    def test_turning_the_motion_turns_the_actor_the_other_way(self, angle):
        motion, rig = walking(turn_rps=0.5), load_rig("man")
        a = retarget(motion, rig, RootPolicy.KEEP)
        b = retarget(turn_about_vertical(motion, angle), rig, RootPolicy.KEEP)
        assert np.rad2deg(angle_between_rad(a.turns, b.turns)).max() < 1e-5
        assert np.allclose(a.hips_m, b.hips_m)
        turn = np.exp(-1j * angle)  # counter-clockwise is negative in CARLA
        path = (a.actor[:, 0] + 1j * a.actor[:, 1]) * turn
        assert np.allclose(path, b.actor[:, 0] + 1j * b.actor[:, 1])
        assert np.allclose(np.exp(1j * (b.actor[:, 3] - a.actor[:, 3])), turn)

    def test_a_left_turn_stays_a_left_turn(self):
        motion = walking(turn_rps=0.5, seconds=3.0)
        assert heading_rad(motion)[-1] == pytest.approx(1.5)
        assert motion.root_m[-1, 0] > 0.5  # SMPL's x is left
        posed = retarget(motion, load_rig("man"), RootPolicy.KEEP)
        assert posed.actor[-1, 1] < -0.5  # CARLA's y is right
        assert -1.6 < posed.actor[-1, 3] < -1.2
        ahead = posed.actor[30, :2] - posed.actor[29, :2]
        facing = np.array([np.cos(posed.actor[30, 3]), np.sin(posed.actor[30, 3])])
        assert ahead @ facing / np.linalg.norm(ahead) > 0.98


class TestInvariant7Paths:
    def test_integrating_the_steps_gives_the_path_back(self):
        rng = np.random.default_rng(2)
        path = np.cumsum(rng.normal(size=(200, 2)) * 0.05, axis=0)
        yaw = np.cumsum(rng.normal(size=200) * 0.1)
        yaw_steps, steps = differentiate(path, yaw)
        back, heading = integrate(yaw_steps, steps, start_yaw_rad=yaw[0])
        assert np.abs(back - (path - path[0])).max() < 1e-6
        assert np.abs(heading - yaw).max() < 1e-9

    def test_constant_speed_and_heading_make_a_straight_line(self):
        path, _ = integrate(np.zeros(100), np.tile([0.0, 1.3 * 0.05], (100, 1)), start_yaw_rad=0.8)
        assert np.linalg.norm(path[-1]) == pytest.approx(1.3 * 5.0)
        assert np.allclose(path[-1], 6.5 * np.array([np.sin(0.8), np.cos(0.8)]))

    def test_humanml3d_stores_half_the_yaw_step(self):
        """A right-angled left turn on a quarter circle, stored as the data set stores it."""
        count = 41
        yaw = np.linspace(0.0, np.pi / 2, count)
        path = 2.0 * np.stack([1 - np.cos(yaw), np.sin(yaw)], axis=1)  # x is left, z forward
        # world -> facing is the turn by -yaw: its quaternion's y is sin of half the step
        to_facing = Rotation.from_euler("y", -yaw[:, None])
        half = np.arcsin((to_facing[1:] * to_facing[:-1].inv()).as_quat()[:, 1])
        steps = np.diff(np.insert(path, 1, 0.0, axis=1), axis=0)
        local = to_facing[1:].apply(steps)
        features = np.zeros((count, 263))
        features[:-1, 0], features[:-1, 1:3] = half, local[:, [0, 2]]
        found, heading = recover_root(features)
        assert np.rad2deg(heading[-1]) == pytest.approx(90.0)
        assert np.abs(found - path).max() < 1e-9


class TestInvariant8Resampling:
    @pytest.mark.parametrize("rate", [30.0, 60.0, 100.0, 120.0])
    def test_speed_and_duration_stay(self, rate):
        motion = walking(rate_hz=rate, seconds=4.0)
        slow = resample(motion, 20.0)
        assert slow.rate_hz == 20.0
        assert abs(slow.duration_s - motion.duration_s) <= 0.05

        def speed(m):
            steps = np.linalg.norm(np.diff(m.root_m[:, [0, 2]], axis=0), axis=1)
            return steps.sum() / m.duration_s

        assert speed(slow) == pytest.approx(speed(motion), rel=0.02)

    def test_common_instants_are_kept_exactly(self):
        motion = wild(8, frames=121, rate_hz=120.0)
        slow = resample(motion, 20.0)
        assert np.array_equal(slow.rotations, motion.rotations[::6])
        half = resample(motion, 240.0)
        assert np.rad2deg(angle_between_rad(half.rotations[::2], motion.rotations)).max() < 1e-6
        middle = rotate(half.rotations[1], np.eye(3)[0][None])
        ends = rotate(motion.rotations[:2], np.eye(3)[0][None, None])
        assert np.allclose(middle, ends.mean(axis=0), atol=1e-3)
