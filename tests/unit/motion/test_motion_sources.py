"""Readers of motion files, on files made here with known contents."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from synthetic_motion import walking, wild

from jaywalk.core.errors import DataError
from jaywalk.geometry.rotation import angle_between_rad, to_rotvec
from jaywalk.metrics.motion.library_check import check_library
from jaywalk.motion.heading import heading_rad
from jaywalk.motion.library.building import Sources, build_library
from jaywalk.motion.library.reading import open_library
from jaywalk.motion.smpl import BODY_OFFSETS_M, LEG_LENGTH_M, PARENTS, PELVIS_REST_M
from jaywalk.motion.sources import _cmu_bvh as cmu_bvh
from jaywalk.motion.sources._amass import read_amass
from jaywalk.motion.sources._bvh_file import read_bvh
from jaywalk.motion.sources._cmu_bvh import UNIT_M, read_clip_list, read_cmu
from jaywalk.motion.sources._humanml3d import (
    fit_joints,
    joint_rotations,
    read_humanml3d,
    read_index,
    read_joints,
    read_texts,
    recover_joints,
)

TREE = {
    "Hips": ["LHipJoint", "RHipJoint", "LowerBack"],
    "LHipJoint": ["LeftUpLeg"],
    "LeftUpLeg": ["LeftLeg"],
    "LeftLeg": ["LeftFoot"],
    "LeftFoot": ["LeftToeBase"],
    "LeftToeBase": [],
    "RHipJoint": ["RightUpLeg"],
    "RightUpLeg": ["RightLeg"],
    "RightLeg": ["RightFoot"],
    "RightFoot": ["RightToeBase"],
    "RightToeBase": [],
    "LowerBack": ["Spine"],
    "Spine": ["Spine1"],
    "Spine1": ["Neck", "LeftShoulder", "RightShoulder"],
    "Neck": ["Neck1"],
    "Neck1": ["Head"],
    "Head": [],
    "LeftShoulder": ["LeftArm"],
    "LeftArm": ["LeftForeArm"],
    "LeftForeArm": ["LeftHand"],
    "LeftHand": [],
    "RightShoulder": ["RightArm"],
    "RightArm": ["RightForeArm"],
    "RightForeArm": ["RightHand"],
    "RightHand": [],
}
OFFSETS = {
    "LeftUpLeg": (1.5, -1.5, 1),
    "RightUpLeg": (-1.5, -1.5, 1),
    "LeftLeg": (0, -7, 0),
    "RightLeg": (0, -7, 0),
    "LeftFoot": (0, -7, 0),
    "RightFoot": (0, -7, 0),
    "LeftToeBase": (0, -0.6, 2),
    "RightToeBase": (0, -0.6, 2),
    "LowerBack": (0, 0.1, 0),
    "Spine": (0, 2, 0),
    "Spine1": (0, 2, 0),
    "Neck": (0, 0.1, 0),
    "Neck1": (0, 1.5, 0),
    "Head": (0, 1.5, 0),
    "LeftArm": (3, 1, 0),
    "RightArm": (-3, 1, 0),
    "LeftForeArm": (5, 0, 0),
    "RightForeArm": (-5, 0, 0),
    "LeftHand": (3.5, 0, 0),
    "RightHand": (-3.5, 0, 0),
}


def names_of(joint="Hips"):
    return [joint, *(name for child in TREE[joint] for name in names_of(child))]


def hierarchy(joint="Hips", depth=0):
    word = "ROOT" if depth == 0 else "JOINT"
    x, y, z = OFFSETS.get(joint, (0, 0, 0))
    channels = "3 Zrotation Yrotation Xrotation"
    if depth == 0:
        channels = "6 Xposition Yposition Zposition Zrotation Yrotation Xrotation"
    inner = "".join(hierarchy(child, depth + 1) for child in TREE[joint])
    inner = inner or "End Site\n{\nOFFSET 0 0 1\n}\n"
    return f"{word} {joint}\n{{\nOFFSET {x} {y} {z}\nCHANNELS {channels}\n{inner}}}\n"


def write_bvh(path, frames, edit=lambda text: text):
    """``frames``: list of (root position, {joint: (z, y, x) degrees})."""
    lines = []
    for place, turns in frames:
        values = list(place)
        for name in names_of():
            values += list(turns.get(name, (0, 0, 0)))
        lines.append(" ".join(str(v) for v in values))
    text = "HIERARCHY\n" + hierarchy() + "MOTION\n"
    text += f"Frames: {len(lines)}\nFrame Time: .0083333\n" + "\n".join(lines) + "\n"
    path.write_text(edit(text), encoding="ascii")
    return path


def walk_frames(count, step=0.1):
    tpose = ((5, 16, -40), {"LeftUpLeg": (3, 0, 0)})
    return [tpose, *(((0, 16, step * i), {"LeftArm": (0, 0, 30)}) for i in range(count))]


class TestCmu:
    def test_units_rate_and_the_added_pose(self, tmp_path):
        motion = read_cmu(write_bvh(tmp_path / "35_01.bvh", walk_frames(121)))
        assert motion.rate_hz == 20.0
        assert motion.frames == 21
        speed = np.diff(motion.root_m[:, 2]) * 20.0
        assert np.allclose(speed, 0.1 * UNIT_M * 120.0)
        assert np.abs(motion.root_m[:, 0]).max() < 0.2  # the T-pose stood at x = 5 units
        assert motion.leg_length_m == pytest.approx(14 * UNIT_M)
        slow = read_cmu(write_bvh(tmp_path / "60_01.bvh", walk_frames(121)))
        assert slow.frames == 41

    def test_hips_are_moved_back_over_feet_that_stay(self, tmp_path, monkeypatch):
        path = write_bvh(tmp_path / "35_02.bvh", walk_frames(13))
        moved = read_cmu(path)
        monkeypatch.setattr(cmu_bvh, "HIP_BIAS_M", 0.0)
        plain = read_cmu(path)
        back = moved.joints_m() - plain.joints_m()
        assert np.allclose(back[:, 1:3, 2], -0.05 * plain.body_scale)
        assert np.abs(back[:, [7, 8, 10, 11]][..., [0, 2]]).max() < 1e-3

    def test_cut_and_turns(self, tmp_path, monkeypatch):
        monkeypatch.setattr(cmu_bvh, "HIP_BIAS_M", 0.0)
        path = write_bvh(tmp_path / "35_02.bvh", walk_frames(121))
        motion = read_cmu(path, name="x", start_20hz=5, end_20hz=15)
        assert motion.frames == 10
        assert motion.source == "cmu/35_02.bvh[31:86]"
        # limbs point in the world as in the file
        joints = motion.joints_m()
        arm = joints[:, 18] - joints[:, 16]
        assert np.allclose(arm[0] / np.linalg.norm(arm[0]), [1, 0, 0], atol=1e-6)
        leg = joints[0, 7] - joints[0, 1]
        assert np.allclose(leg / np.linalg.norm(leg), [0, -1, 0], atol=1e-6)
        assert np.allclose(joints[:, 1:3].mean(axis=1)[:, 0], 0.0, atol=1e-6)

    def test_arm_twist_is_carried(self, tmp_path):
        motion = read_cmu(write_bvh(tmp_path / "35_03.bvh", walk_frames(13)))
        turn = np.rad2deg(angle_between_rad(motion.turned()[0, 16], np.array([1.0, 0, 0, 0])))
        assert turn == pytest.approx(30.0, abs=8.0)

    @pytest.mark.parametrize(
        ("edit", "reason"),
        [
            (lambda t: t[: len(t) - 200], "cut short"),
            (lambda t: t[: t.index("MOTION")], "MOTION"),
            (lambda t: t.replace("LeftForeArm", "Elbow"), "LeftForeArm"),
            (lambda t: t.replace("16", "nan", 3), "not finite"),
            (lambda t: t.replace("Frames: 62", "Frames: x"), "broken"),
            (lambda t: t.replace("}\nMOTION", "MOTION"), "not closed"),
            (lambda t: t.replace("Zrotation", "Wrotation", 1), "channel"),
        ],
    )
    def test_broken_files_are_named_with_the_reason(self, tmp_path, edit, reason):
        path = write_bvh(tmp_path / "35_09.bvh", walk_frames(61), edit)
        with pytest.raises(DataError, match=reason) as caught:
            read_cmu(path)
        assert "35_09.bvh" in str(caught.value)

    def test_rotations_in_the_order_of_the_channels(self, tmp_path):
        frames = [((0, 0, 0), {}), ((0, 0, 0), {"Spine": (10, 20, 30)})]
        bvh = read_bvh(write_bvh(tmp_path / "1_1.bvh", frames))
        q = bvh.rotations[1, bvh.names.index("Spine")]
        truth = Rotation.from_euler("ZYX", [10, 20, 30], degrees=True).as_quat()
        assert np.allclose(q, truth[[3, 0, 1, 2]])


class TestAmass:
    def arrays(self, frames=30, width=156):
        """A person walking along the captured +y (Z up), facing it."""
        poses = np.zeros((frames, width))
        poses[:, 0] = np.pi / 2  # Y-up to Z-up; faces -y in the Z-up world
        trans = np.zeros((frames, 3))
        trans[:, 1] = -0.01 * np.arange(frames)
        trans[:, 2] = 1.15
        return {"poses": poses, "trans": trans, "betas": np.zeros(16), "gender": "male"}

    @pytest.mark.parametrize(
        ("key", "width"), [("mocap_framerate", 156), ("mocap_frame_rate", 165)]
    )
    def test_z_up_becomes_y_up(self, tmp_path, key, width):
        path = tmp_path / "a.npz"
        np.savez(path, **self.arrays(width=width), **{key: 120.0})
        motion = read_amass(path)
        assert motion.rate_hz == 120.0
        assert np.allclose(to_rotvec(motion.rotations[:, 0]), 0.0, atol=1e-9)
        joints = motion.joints_m()
        assert joints[0, 15, 1] > joints[0, 0, 1] + 0.4  # the head is above
        # walks where it faces, at the captured height of the pelvis: rest place plus translation
        assert np.allclose(np.diff(motion.root_m[:, 2]), 0.01)
        assert np.allclose(motion.root_m[:, 1], 1.15 + PELVIS_REST_M[2])
        assert np.abs(heading_rad(motion)).max() < 1e-9

    def test_smplx_split_arrays(self, tmp_path):
        whole = self.arrays()
        np.savez(
            tmp_path / "x.npz",
            root_orient=whole["poses"][:, :3],
            pose_body=whole["poses"][:, 3:66],
            trans=whole["trans"],
            mocap_frame_rate=60.0,
        )
        np.savez(tmp_path / "h.npz", **whole, mocap_framerate=60.0)
        a, b = read_amass(tmp_path / "x.npz"), read_amass(tmp_path / "h.npz")
        assert np.array_equal(a.rotations, b.rotations)

    def test_broken_archives(self, tmp_path):
        path = tmp_path / "bad.npz"
        np.savez(path, **self.arrays())
        with pytest.raises(DataError, match=r"bad\.npz.*mocap_framerate"):
            read_amass(path)
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(DataError, match=r"bad\.npz"):
            read_amass(path)
        np.savez(path, poses=np.array([{}], dtype=object), trans=np.zeros((1, 3)))
        with pytest.raises(DataError, match=r"bad\.npz"):
            read_amass(path)  # pickles are never loaded


def features_of(joints, yaw):
    """HumanML3D's features from positions and heading, by their definition, with scipy."""
    frames = len(joints) - 1
    out = np.zeros((frames, 263))
    to_facing = Rotation.from_euler("y", -yaw[:, None])
    step = to_facing[1:] * to_facing[:-1].inv()
    out[:, 0] = np.arcsin(step.as_quat()[:, 1])
    moved = np.diff(joints[:, 0], axis=0) * [1, 0, 1]
    out[:, 1:3] = to_facing[1:].apply(moved)[:, [0, 2]]
    out[:, 3] = joints[:-1, 0, 1]
    local = joints[:-1, 1:] - joints[:-1, :1] * [1, 0, 1]
    for t in range(frames):
        out[t, 4:67] = to_facing[t].apply(local[t]).ravel()
    return out


class TestHumanMl3d:
    def test_positions_come_back_from_features(self):
        motion = walking(turn_rps=0.5)
        joints = motion.joints_m() - motion.root_m[:1] * [1, 0, 1]
        found = recover_joints(features_of(joints, heading_rad(motion)))
        assert np.abs(found - joints[:-1]).max() < 1e-9

    def test_features_and_positions_read_alike(self, tmp_path):
        motion = walking(turn_rps=0.5)
        joints = motion.joints_m() - motion.root_m[:1] * [1, 0, 1]
        np.save(tmp_path / "f.npy", features_of(joints, heading_rad(motion)))
        np.save(tmp_path / "j.npy", joints[:-1])
        a, b = read_humanml3d(tmp_path / "f.npy"), read_humanml3d(tmp_path / "j.npy")
        assert a.rate_hz == 20.0
        assert np.abs(a.joints_m() - b.joints_m()).max() < 1e-6

    def test_stored_rotations_are_columns(self):
        turn = Rotation.from_rotvec([0.2, 0.4, -0.3]).as_matrix()
        features = np.zeros((1, 263))
        features[0, 67:193] = np.tile([*turn[:, 0], *turn[:, 1]], 21)
        assert np.allclose(joint_rotations(features), turn)

    def test_wrong_shapes(self, tmp_path):
        np.save(tmp_path / "w.npy", np.zeros((10, 262)))
        with pytest.raises(DataError, match=r"w\.npy.*262"):
            read_humanml3d(tmp_path / "w.npy")

    def test_index_and_texts(self, tmp_path):
        (tmp_path / "index.csv").write_text(
            "source_path,start_frame,end_frame,new_name\n./pose_data/CMU/01/a.npy,0,-1,000001.npy\n"
        )
        row = read_index(tmp_path / "index.csv")[0]
        assert (row.name, row.start_frame, row.end_frame) == ("000001", 0, -1)
        (tmp_path / "t.txt").write_text("a man walks#a/DET man/NOUN walk/VERB#0.0#nan\n\n")
        text = read_texts(tmp_path / "t.txt")[0]
        assert text.caption == "a man walks"
        assert text.tokens[2] == "walk/VERB"
        assert text.end_s == 0.0
        (tmp_path / "t.txt").write_text("no separators\n")
        with pytest.raises(DataError, match="line 1"):
            read_texts(tmp_path / "t.txt")


class TestJointFit:
    @pytest.mark.parametrize("seed", [1, 2])
    def test_every_bone_points_where_it_is_seen(self, seed):
        motion = wild(seed)
        joints = 1.1 * motion.joints_m()
        fitted = fit_joints(joints, rate_hz=20.0, name="fit")
        assert fitted.body_scale == pytest.approx(1.1)
        found = fitted.joints_m()
        for j in range(1, 22):
            if PARENTS[j] in (0, 9):  # several bones at one joint are fitted together
                continue
            a, b = found[:, j] - found[:, PARENTS[j]], joints[:, j] - joints[:, PARENTS[j]]
            cosine = np.sum(a * b, 1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
            assert cosine.min() > 1 - 1e-9, j
        assert np.abs(found - joints).max() < 0.01

    def test_bent_limbs_keep_their_twist(self):
        motion = walking()
        fitted = fit_joints(motion.joints_m(), rate_hz=20.0, name="fit")
        error = np.rad2deg(angle_between_rad(fitted.turned(), motion.turned()))
        assert error[:, [0, 1, 2, 4, 5, 9]].max() < 15.0

    def test_files(self, tmp_path):
        np.save(tmp_path / "p.npy", walking().joints_m())
        assert read_joints(tmp_path / "p.npy").frames == 121
        np.save(tmp_path / "p.npy", 1000.0 * walking().joints_m())
        with pytest.raises(DataError, match="metres"):
            read_joints(tmp_path / "p.npy")


def test_clip_list(tmp_path):
    path = tmp_path / "c.csv"
    head = "sequence,humanml3d_id,habit_class,start_frame_20hz,end_frame_20hz,caption\n"
    path.write_text(head + '01_01,M004041,Crossing,19,219,"hops, turns"\n')
    row = read_clip_list(path)[0]
    assert row.mirrored
    assert row.caption == "hops, turns"
    path.write_text(head + "01_01,M004041,Crossing,a,219,x\n")
    with pytest.raises(DataError, match="line 2"):
        read_clip_list(path)
    path.write_text("sequence\n01_01\n")
    with pytest.raises(DataError, match="humanml3d_id"):
        read_clip_list(path)


def test_captures_and_a_clip_list_become_a_library(tmp_path):
    """Stands in for the CMU captures that HABIT chose."""
    bvh = tmp_path / "bvh"
    bvh.mkdir()
    write_bvh(bvh / "35_01.bvh", walk_frames(361))
    write_bvh(bvh / "35_02.bvh", walk_frames(361, step=0.0))
    rows = ["sequence,humanml3d_id,habit_class,start_frame_20hz,end_frame_20hz,caption"]
    rows += ["35_01,000001,Crossing,0,55,walks on", "35_02,000002,Not_Crossing,0,55,stands"]
    rows += ["35_03,000003,Crossing,0,55,is not there"]
    (tmp_path / "clips.csv").write_text("\n".join(rows) + "\n")
    problems = build_library(Sources(bvh=bvh, clips=tmp_path / "clips.csv"), tmp_path / "lib")
    assert [problem.name for problem in problems] == ["000003"]
    library = open_library(tmp_path / "lib")
    assert library.names == ["000001", "000002"]
    assert library.columns["class"] == ["crossing", "not_crossing"]
    moved = [np.ptp(library.motion(name).root_m[:, 2]) for name in library.names]
    # 0.1 units a frame at 120 Hz, during 55 frames of 20 Hz.
    assert moved == pytest.approx([0.1 * UNIT_M * 6 * 54, 0.0], abs=0.1)
    assert check_library(library)["total"]["clips"] == 2


def test_leg_length_of_the_table():
    assert pytest.approx(0.777, abs=0.01) == LEG_LENGTH_M
    assert np.allclose(BODY_OFFSETS_M[1] * [-1, 1, 1], BODY_OFFSETS_M[2])
