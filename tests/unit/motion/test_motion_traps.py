"""Known ways to get the retargeting wrong, each with a motion on which the error shows."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from synthetic_motion import STAND_M, still, turned_root, walking, wild

from jaywalk.geometry.rotation import (
    angle_between_rad,
    from_matrix,
    from_rotvec,
    matrix_from_6d,
    matrix_to_6d,
    multiply,
    to_matrix,
)
from jaywalk.motion.carla_rigs import load_rig
from jaywalk.motion.foot_lock import (
    balls_m,
    floor_tilt,
    horizontal_speed_mps,
    lock_feet,
    move_balls,
    on_floor,
)
from jaywalk.motion.heading import heading_rad
from jaywalk.motion.retarget import DRIVEN, RootPolicy, retarget, transfer_rotations
from jaywalk.motion.smpl import JOINTS, LEG_LENGTH_M
from jaywalk.motion.sources._cmu_bvh import true_rate_hz


def knee_angle_deg(joints, rig, side):
    hip, knee, ankle = (
        joints[:, rig.bone_index[f"crl_{part}__{side}"]] for part in ("thigh", "leg", "foot")
    )
    a, b = knee - hip, ankle - knee
    cosine = np.sum(a * b, 1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    return np.rad2deg(np.arccos(np.clip(cosine, -1, 1)))


def test_rotation_vectors_are_not_euler_angles():
    vector = np.array([0.1, 0.3, -1.2])
    euler = Rotation.from_euler("xyz", vector)
    wrong = (Rotation.from_rotvec(vector).inv() * euler).magnitude()
    assert np.rad2deg(wrong) == pytest.approx(10.5, abs=0.3)
    ours = Rotation.from_matrix(to_matrix(from_rotvec(vector)))
    assert (Rotation.from_rotvec(vector).inv() * ours).magnitude() < 1e-12


def test_six_numbers_are_columns_not_rows():
    matrix = Rotation.from_rotvec([0.3, -0.8, 0.5]).as_matrix()
    assert np.allclose(matrix_to_6d(matrix), [*matrix[:, 0], *matrix[:, 1]])
    rows = np.concatenate([matrix[0], matrix[1]])  # PyTorch3D
    assert np.allclose(matrix_from_6d(rows).T, matrix)


def test_axes_change_handedness():
    """Nodding down, bowing left, and turning left must stay what they are on the rig."""
    rig = load_rig("man")
    nose = {"nod": (0.4, 0, 0), "left": (0, 0.4, 0)}
    down = retarget(still(head=nose["nod"]), rig, RootPolicy.SCALE)
    eyes = [rig.bone_index[f"crl_eye__{side}"] for side in "LR"]
    rest = retarget(still(), rig, RootPolicy.SCALE)
    assert down.joints_m()[0, eyes, 2].mean() < rest.joints_m()[0, eyes, 2].mean() - 0.01
    left = retarget(still(head=nose["left"]), rig, RootPolicy.SCALE)
    assert left.joints_m()[0, eyes, 1].mean() < rest.joints_m()[0, eyes, 1].mean() - 0.01


def test_spine_merge_keeps_the_order():
    motion = still(spine2=(0.5, 0.2, 0.0), spine3=(0.0, 0.6, 0.3))
    rig = load_rig("man")
    local = transfer_rotations(motion, rig)[0]
    chest = list(DRIVEN).index("crl_spine01__C")
    rest = rig.rest_mesh[rig.bone_index["crl_spine01__C"], 3:]
    m = np.array([[1.0, 0, 0], [0, 0, 1.0], [0, 1.0, 0]])
    two, three = (Rotation.from_rotvec(v).as_matrix() for v in ((0.5, 0.2, 0.0), (0.0, 0.6, 0.3)))
    above = rig.rest_mesh[rig.bone_index["crl_spine__C"], 3:]

    def expected(merged):
        return from_matrix(to_matrix(above).T @ (m @ merged @ m.T) @ to_matrix(rest))

    assert angle_between_rad(local[chest], expected(two @ three)) < 1e-6
    assert np.rad2deg(angle_between_rad(local[chest], expected(three @ two))) > 4.0


@pytest.mark.parametrize("rig", ["man", "girl"])
def test_left_and_right_knees_bend_alike(rig):
    """The right leg's bone frames are not the left one's mirrored: local rests are a trap."""
    skeleton = load_rig(rig)
    motion = still(left_knee=(1.0472, 0, 0), right_knee=(1.0472, 0, 0))
    local = transfer_rotations(motion, skeleton)
    rest = transfer_rotations(still(), skeleton)
    poses = np.repeat(skeleton.rest_local[None], 20, axis=0)
    poses[:, [skeleton.bone_index[n] for n in DRIVEN], 3:] = local
    from jaywalk.motion.kinematics import mesh_poses

    bent = mesh_poses(poses, skeleton.parents)[..., :3]
    straight = skeleton.rest_mesh[None, :, :3]
    for side in "LR":
        turned = knee_angle_deg(bent, skeleton, side) - knee_angle_deg(straight, skeleton, side)
        assert turned[0] == pytest.approx(60.0, abs=6.0)  # rest knees are not quite straight
        place = list(DRIVEN).index(f"crl_leg__{side}")
        step = np.rad2deg(angle_between_rad(local[0, place], rest[0, place]))
        assert step == pytest.approx(60.0, abs=1e-3)
        ankle = skeleton.bone_index[f"crl_foot__{side}"]
        assert bent[0, ankle, 1] < straight[0, ankle, 1] - 0.15  # backwards


def test_engine_angles_include_the_rest_rotation():
    rig = load_rig("woman")
    posed = retarget(still(), rig, RootPolicy.SCALE)
    for name, place, angles in posed.engine_bones(3):
        if name.startswith(("crl_thigh", "crl_hips", "crl_leg", "crl_foot")):
            continue  # led by inverse kinematics
        row = rig.rest_local[rig.bone_index[name]]
        assert np.allclose(place, row[:3])  # never zero: the bone would collapse on its parent
        turn = Rotation.from_euler("xyz", [-angles[2], -angles[0], angles[1]], degrees=True)
        wanted = Rotation.from_quat(row[[4, 5, 6, 3]])
        assert np.rad2deg((turn.inv() * wanted).magnitude()) < 1.0


def test_heading_ignores_pitch_and_roll():
    motion = walking(seconds=3.0)
    tilted = turned_root(motion, (0.5, 0.0, 0.0))
    assert np.abs(heading_rad(tilted) - heading_rad(motion)).max() < 1e-9
    both = retarget(tilted, load_rig("man"), RootPolicy.KEEP)
    assert np.ptp(both.actor[:, 2]) == 0.0


def test_keep_keeps_the_path_and_scale_scales_it():
    motion = walking(speed_mps=1.3)
    travelled = np.linalg.norm(motion.root_m[-1, [0, 2]] - motion.root_m[0, [0, 2]])
    for name, ratio in (("man", 1.155), ("girl", 0.665), ("boy", 0.751)):
        rig = load_rig(name)
        assert rig.leg_length_m / LEG_LENGTH_M == pytest.approx(ratio, abs=0.02)
        for policy, factor in (
            (RootPolicy.KEEP, 1.0),
            (RootPolicy.SCALE, rig.leg_length_m / LEG_LENGTH_M),
        ):
            actor = retarget(motion, rig, policy).actor
            moved = np.linalg.norm(actor[-1, :2] - actor[0, :2])
            assert moved == pytest.approx(travelled * factor, rel=1e-6)


def test_the_stance_foot_would_slip_if_only_rotations_were_copied():
    """0.155 of the speed with long legs on a kept path; led legs do not slip."""
    motion = walking(speed_mps=1.3)
    rig = load_rig("man")
    posed = retarget(motion, rig, RootPolicy.KEEP)
    toes = [rig.bone_index[f"crl_toe__{side}"] for side in "LR"]
    poses = posed.poses()
    poses[:, [rig.bone_index[n] for n in DRIVEN], 3:] = transfer_rotations(motion, rig)
    from jaywalk.motion.kinematics import mesh_poses

    bare = mesh_poses(poses, rig.parents)[:, toes, :3]
    bare[..., 1] += motion.root_m[:, None, 2]
    standing = balls_m(motion)[..., 1] < 0.018
    slip = horizontal_speed_mps(bare, 20.0, 2)[standing].mean()
    assert 0.1 < slip < 0.35
    led = horizontal_speed_mps(posed.joints_m()[:, toes], 20.0, 2)
    assert led[1:-1][standing[1:-1] & standing[:-2] & standing[2:]].max() < 1e-6


def test_a_clip_that_begins_in_a_crouch_does_not_float():
    motion = walking()
    deep = np.concatenate([np.linspace(0.25, 0.0, 15), np.zeros(motion.frames - 15)])
    joints = motion.joints_m()
    root = motion.root_m - np.outer(deep, [0.0, 1.0, 0.0])
    offset = np.repeat(np.outer(deep, [0.0, 1.0, 0.0])[:, None], 2, axis=1)
    sunk = motion.with_poses(motion.rotations, root)
    crouch = move_balls(sunk, sunk.joints_m(), offset)
    assert np.abs(balls_m(crouch) - joints[:, [10, 11]]).max() < 0.01
    lifted = crouch.with_poses(crouch.rotations, crouch.root_m + np.array([0, 0.7, 0]))
    grounded = on_floor(lifted)
    standing = balls_m(motion)[..., 1] < 0.018
    assert np.abs(balls_m(grounded)[..., 1][standing] - 0.017).max() < 0.01


def test_hips_stand_over_the_actor():
    """At rest the hips are 5.6 cm ahead of the rig's origin; the actor follows the hips."""
    rig = load_rig("man")
    posed = retarget(walking(), rig, RootPolicy.KEEP)
    hips = posed.joints_m()[:, rig.bone_index["crl_hips__C"]]
    assert np.abs(hips[:, :2] - posed.actor[:, :2]).max() < 1e-9


def test_a_tilted_floor_is_levelled_but_stairs_are_not():
    motion = walking(seconds=5.0)
    for rise, levelled in ((0.02, True), (0.3, False)):
        root = motion.root_m + np.outer(motion.root_m[:, 2], [0.0, rise, 0.0])
        climbing = motion.with_poses(motion.rotations, root)
        assert bool(floor_tilt(balls_m(climbing), 20.0).any()) is levelled
    assert not floor_tilt(balls_m(motion), 20.0).any()


def test_foot_lock_stops_sliding_feet_and_lifts_sunken_ones():
    motion = walking()
    root = motion.root_m.copy()
    root[:, 2] += 0.02 * np.sin(np.arange(len(root)) * 0.9)  # feet slide to and fro with the body
    root[:, 1] -= 0.005
    sliding = motion.with_poses(motion.rotations, root)
    result = lock_feet(sliding)
    assert result.locked >= 8
    assert result.moved_m < 0.06
    standing = balls_m(motion)[..., 1] < 0.018
    before = horizontal_speed_mps(balls_m(sliding), 20.0, 1)[standing].mean()
    after = horizontal_speed_mps(balls_m(result.motion), 20.0, 1)[standing].mean()
    assert after < 0.5 * before
    assert balls_m(result.motion)[..., 1].min() > 0.0165
    upper = [JOINTS.index(j) for j in ("spine3", "head", "left_wrist", "right_elbow")]
    assert np.array_equal(result.motion.rotations[:, upper], sliding.rotations[:, upper])


def test_true_rates_of_cmu_subjects():
    assert true_rate_hz("35_01") == 120.0
    assert true_rate_hz("143_02") == 60.0
    assert true_rate_hz("60_11") == 60.0


def test_rotating_the_root_does_not_move_the_pelvis():
    motion = still()
    turned = turned_root(motion, (0.0, 1.0, 0.0))
    assert np.allclose(turned.joints_m()[:, 0], [0.0, STAND_M, 0.0])
    assert multiply(turned.rotations[:, 0], motion.rotations[:, 0]).shape == (20, 4)
    assert wild().joints_m().shape == (60, 22, 3)
