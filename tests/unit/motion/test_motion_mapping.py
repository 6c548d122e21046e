"""Motion capture of any skeleton: the guess of its joints, and what arrives on the walkers."""

import numpy as np
import pytest
from tests.support.bvh_files import CONVENTIONS, oracle_positions, write_convention
from tests.support.synthetic_motion import walking, wild

from jaywalk.core.errors import DataError, UsageError
from jaywalk.motion.carla_rigs import load_rig
from jaywalk.motion.library.building import DEFAULT_POLICIES, Sources, build_library, clean, on_rigs
from jaywalk.motion.library.reading import open_library
from jaywalk.motion.retarget import RootPolicy, retarget
from jaywalk.motion.smpl import JOINTS
from jaywalk.motion.sources._joint_guess import guess_mapping
from jaywalk.motion.sources._mapped import mapped_clip
from jaywalk.motion.sources.joint_mapping import (
    JointMapping,
    format_mapping,
    mapping_of,
    read_mapping,
)
from jaywalk.motion.sources.motion_files import MappedReader, motion_files, read_motion, survey

_A_POSE = {"left_shoulder": (0, 0, -0.8), "right_shoulder": (0, 0, 0.8)}
_N_POSE = {"left_shoulder": (0, 0, -1.5), "right_shoulder": (0, 0, 1.5)}
# Convention, and how the file differs otherwise.
_CASES = {
    "mixamo": {"rest": None},
    "xsens": {"rest": _N_POSE, "channels": "YXZ"},
    "rokoko": {"rest": None, "up": "z", "unit_m": 1.0},
    "smpl": {"rest": None, "unit_m": 1.0, "all_positions": True},
    "biped": {"rest": _A_POSE, "up": "z", "unit_m": 0.0254},
    "blender": {"rest": _A_POSE, "unit_m": 0.001, "end_sites": False},
}
_BONES = [(JOINTS.index(a), JOINTS.index(b)) for a, b in (
    ("left_hip", "left_knee"), ("left_knee", "left_ankle"), ("right_hip", "right_knee"),
    ("right_knee", "right_ankle"), ("left_shoulder", "left_elbow"), ("left_elbow", "left_wrist"),
    ("right_shoulder", "right_elbow"), ("right_elbow", "right_wrist"))]  # fmt: skip


def directions(joints, bones=_BONES):
    ends = np.array(bones)
    away = joints[:, ends[:, 1]] - joints[:, ends[:, 0]]
    return away / np.linalg.norm(away, axis=2, keepdims=True)


def angles_deg(a, b):
    return np.rad2deg(np.arccos(np.clip(np.einsum("tki,tki->tk", a, b), -1.0, 1.0)))


def in_our_axes(places, up, unit_m):
    """The oracle's positions, Z-up turned to Y-up."""
    places = places * unit_m
    return places if up == "y" else np.stack([places[..., 0], places[..., 2], -places[..., 1]], -1)


@pytest.fixture(params=sorted(_CASES))
def case(request, tmp_path):
    how = _CASES[request.param]
    path = write_convention(
        tmp_path / "some take.bvh", wild(seed=3), CONVENTIONS[request.param], **how
    )
    return request.param, how, path


class TestConventions:
    def test_the_joints_axes_and_unit_are_guessed_without_doubt(self, case):
        name, how, path = case
        guess = guess_mapping(read_motion(path))
        assert guess.doubts == ()
        assert dict(guess.mapping.joints) == CONVENTIONS[name]
        assert guess.mapping.up == how.get("up", "y")
        assert guess.mapping.unit_m == how.get("unit_m", 0.01)
        assert guess.mapping.rest == "file"
        assert guess.height_m == pytest.approx(1.7, abs=0.02)

    def test_positions_are_the_oracles(self, case):
        name, how, path = case
        motion, names = read_motion(path), CONVENTIONS[name]
        expected = oracle_positions(path)
        places = motion.positions(motion.turned())
        for place, joint in enumerate(motion.names):
            assert np.allclose(
                places[:, place], expected[joint], atol=1e-5 / how.get("unit_m", 0.01)
            )
        clip = MappedReader().read(path, "take")
        oracle = np.stack([expected[names[joint]] for joint in JOINTS], axis=1)
        oracle = in_our_axes(oracle, how.get("up", "y"), how.get("unit_m", 0.01))
        assert np.abs(clip.joints_m() - oracle).max() < 2e-3
        assert clip.rate_hz == 20.0

    def test_rotations_are_the_captured_ones(self, case):
        """Twist too, which positions do not show: of head, hands and feet."""
        _, _, path = case
        ours, truth = MappedReader().read(path, "take").turned(), wild(seed=3).turned()
        cosine = np.abs(np.einsum("tji,tji->tj", ours, truth))
        assert np.rad2deg(2.0 * np.arccos(np.clip(cosine, 0.0, 1.0))).max() < 0.5

    def test_walkers_hold_their_limbs_as_the_oracle_does(self, case):
        name, how, path = case
        names, expected = CONVENTIONS[name], oracle_positions(path)
        oracle = np.stack([expected[names[joint]] for joint in JOINTS], axis=1)
        oracle = in_our_axes(oracle, how.get("up", "y"), how.get("unit_m", 0.01))
        clip = MappedReader().read(path, "take")
        for rig_name in ("man", "girl"):
            rig = load_rig(rig_name)
            seen = retarget(clip, rig, RootPolicy.SCALE).joints_m()
            arms = [
                (f"crl_{upper}__{side}", f"crl_{lower}__{side}")
                for side in "LR"
                for upper, lower in (("arm", "foreArm"), ("foreArm", "hand"))
            ]
            bones = [(rig.bone_index[a], rig.bone_index[b]) for a, b in arms]
            # CARLA's axes: x is our z, y is minus our x, z is our y
            truth = directions(oracle, _BONES[4:])[..., [2, 0, 1]] * np.array([1.0, -1.0, 1.0])
            rest = (
                rig.rest_mesh[[b for _, b in bones], :3] - rig.rest_mesh[[a for a, _ in bones], :3]
            )
            ours = np.array([[1.0, 0, 0]] * 2 + [[-1.0, 0, 0]] * 2)
            slack = np.rad2deg(
                np.arccos((rest / np.linalg.norm(rest, axis=1)[:, None] * ours).sum(1))
            )
            # an arm of a walker is not straight at rest: that angle remains
            assert (angles_deg(directions(seen, bones), truth).max(axis=0) < slack + 9.0).all()


class TestOddFiles:
    def test_positions_alone(self, tmp_path):
        path = write_convention(
            tmp_path / "p.bvh", wild(seed=5), CONVENTIONS["xsens"], channels="", end_sites=False
        )
        motion = read_motion(path)
        assert not motion.rotates
        assert guess_mapping(motion).mapping.rest == "fitted"
        clip = MappedReader().read(path, "p")
        assert (
            angles_deg(directions(clip.joints_m()), directions(wild(seed=5).joints_m())).max()
            < 0.01
        )

    def test_displacements_from_the_offset(self, tmp_path):
        """Some programs write zeros where others write the offset again."""
        path = write_convention(
            tmp_path / "a.bvh", wild(), CONVENTIONS["xsens"], all_positions=True
        )
        text = path.read_text()
        head, tail = text.split("MOTION\n")
        lines = tail.split("\n")
        rows = np.array([line.split() for line in lines[2:] if line], dtype=float)
        for joint in range(1, 22):
            rows[:, 6 * joint : 6 * joint + 3] = 0.0
        body = "\n".join(" ".join(f"{v:.9f}" for v in row) for row in rows)
        (tmp_path / "b.bvh").write_text(f"{head}MOTION\n{lines[0]}\n{lines[1]}\n{body}\n")
        a, b = (MappedReader().read(tmp_path / f"{n}.bvh", n) for n in "ab")
        assert np.allclose(a.joints_m(), b.joints_m(), atol=1e-4)

    def test_no_usable_rest_pose(self, tmp_path):
        """All bones lie along one axis at rest, as in files of some optical systems."""
        rest = {"left_hip": (1.57, 0, 0), "right_hip": (1.57, 0, 0), "left_knee": (-2.0, 0, 0),
                "spine1": (0.9, 0, 0.7), "left_elbow": (0, 2.0, 0)}  # fmt: skip
        truth = walking(seconds=3.0, turn_rps=0.3)
        path = write_convention(tmp_path / "f.bvh", truth, CONVENTIONS["mixamo"], rest=rest)
        guess = guess_mapping(read_motion(path))
        assert guess.mapping.rest == "fitted"
        clip = MappedReader().read(path, "f")
        assert angles_deg(directions(clip.joints_m()), directions(truth.joints_m())).max() < 0.5

    def test_a_first_frame_in_t_pose(self, tmp_path):
        truth = walking(seconds=3.0)
        tpose = np.zeros((1, 22, 4))
        tpose[..., 0] = 1.0
        both = truth.with_poses(
            np.concatenate([tpose, truth.rotations]),
            np.concatenate([truth.root_m[:1], truth.root_m]),
        )
        rest = {"left_hip": (1.57, 0, 0), "spine1": (0.9, 0, 0.7), "left_elbow": (0, 2.0, 0)}
        path = write_convention(tmp_path / "t.bvh", both, CONVENTIONS["mixamo"], rest=rest)
        assert guess_mapping(read_motion(path)).mapping.rest == "first"
        clip = MappedReader().read(path, "t")
        assert clip.frames == truth.frames
        cosine = np.abs(np.einsum("tji,tji->tj", clip.turned(), truth.turned()))
        assert np.rad2deg(2.0 * np.arccos(np.clip(cosine, 0.0, 1.0))).max() < 0.5

    @pytest.mark.parametrize(
        "drop",
        [("spine2",), ("spine1", "spine2"), ("left_collar", "right_collar"),
         ("left_foot", "right_foot"), ("neck",)],
    )  # fmt: skip
    def test_skeletons_with_fewer_joints(self, tmp_path, drop):
        path = write_convention(tmp_path / "d.bvh", wild(seed=2), CONVENTIONS["mixamo"], drop=drop)
        guess = guess_mapping(read_motion(path))
        assert guess.doubts == ()
        assert not set(drop) - {"spine1", "spine2", "neck"} & guess.mapping.joints.keys()
        clip = MappedReader().read(path, "d")
        assert np.isfinite(clip.rotations).all()
        limbs = angles_deg(directions(clip.joints_m()), directions(wild(seed=2).joints_m()))
        assert limbs.max() < 0.5

    def test_an_extra_root_and_names_that_repeat_in_folders(self, tmp_path):
        def below(text):
            body = text.split("HIERARCHY\n")[1].split("MOTION\n")[0].replace("ROOT", "JOINT")
            return text.replace(
                text.split("HIERARCHY\n")[1].split("MOTION\n")[0],
                f"ROOT Reference\n{{\nOFFSET 0 0 0\nCHANNELS 0\n{body}}}\n",
            )

        for name in ("a/take.bvh", "b/deep/take.BVH", "b/other take.bvh"):
            write_convention(
                tmp_path / name, walking(seconds=2.0), CONVENTIONS["xsens"], edit=below
            )
        assert not build_library(Sources(bvh=tmp_path), tmp_path / "lib")
        assert sorted(open_library(tmp_path / "lib").names) == [
            "a-take", "b-deep-take", "other-take",
        ]  # fmt: skip

    def test_any_rate(self, tmp_path):
        fast = walking(seconds=2.0, rate_hz=90.0)
        path = write_convention(tmp_path / "r.bvh", fast, CONVENTIONS["smpl"])
        assert MappedReader().read(path, "r").rate_hz == 90.0
        clip = clean(MappedReader().read(path, "r"), foot_lock=True)
        assert clip.rate_hz == 20.0
        assert clip.duration_s == pytest.approx(2.0, abs=0.06)
        assert set(on_rigs(clip, DEFAULT_POLICIES)) == {"man", "woman", "girl", "boy"}


class TestDoubts:
    def test_unknown_names_are_found_by_shape_and_doubted(self, tmp_path):
        names = {joint: f"b{k:02d}" for k, joint in enumerate(JOINTS)}
        path = write_convention(tmp_path / "n.bvh", walking(seconds=2.0), names)
        guess = guess_mapping(read_motion(path))
        wrong = {j: n for j, n in names.items() if guess.mapping.joints.get(j) not in (n, None)}
        assert not wrong
        assert "shape" in guess.doubts[0]
        with pytest.raises(DataError, match=r"jaywalk motion map .*n\.bvh -o mapping\.toml"):
            MappedReader().read(path, "n")
        assert MappedReader(accept_doubts=True).read(path, "n").frames == 41

    def test_left_and_right_exchanged(self, tmp_path):
        swapped = {
            joint: CONVENTIONS["xsens"][
                joint.replace("left", "?").replace("right", "left").replace("?", "right")
            ]
            for joint in JOINTS
        }
        path = write_convention(tmp_path / "s.bvh", walking(seconds=2.0), swapped)
        assert any("left and right" in one for one in guess_mapping(read_motion(path)).doubts)

    def test_an_adult_in_inches_is_no_infant_in_centimetres(self, tmp_path):
        tall = 1.08  # as centimetres an infant of 72 cm
        path = write_convention(
            tmp_path / "i.bvh", walking(seconds=2.0), CONVENTIONS["xsens"], unit_m=0.0254 / tall
        )
        guess = guess_mapping(read_motion(path))
        assert (guess.unit, guess.mapping.unit_m) == ("inch", 0.0254)
        assert 1.75 < guess.height_m < 1.95
        assert any("the unit is unclear: as inch" in one for one in guess.doubts)

    def test_a_unit_that_fits_nobody(self, tmp_path):
        path = write_convention(
            tmp_path / "u.bvh", walking(seconds=2.0), CONVENTIONS["xsens"], unit_m=31.0
        )
        guess = guess_mapping(read_motion(path))
        assert any("unit" in one for one in guess.doubts)
        with pytest.raises(DataError, match=r"legs of .* m with unit_m"):
            MappedReader(accept_doubts=True).read(path, "u")


class TestErrors:
    def case(self, tmp_path, edit, **how):
        return write_convention(
            tmp_path / "e.bvh", walking(seconds=2.0), CONVENTIONS["xsens"], edit=edit, **how
        )

    @pytest.mark.parametrize(
        ("edit", "words"),
        [
            (lambda t: t.replace("Frames: 41", "Frames: 0"), "no frames"),
            (lambda t: t[:-400], "cut short"),
            (
                lambda t: t.rstrip().rsplit(" ", 1)[0] + " nan\n",
                "not finite, first in frame 41, joint",
            ),
            (lambda t: t.replace("MOTION", "MOTOIN"), "no MOTION section"),
            (lambda t: t.replace("Frame Time: 0.0500000", "Frame Time: 0"), "frame time"),
            (lambda t: t.replace("RightKnee", "LeftKnee"), "two joints are named 'LeftKnee'"),
            (lambda t: t.replace("Yrotation", "Yscale"), "unknown channel 'Yscale'"),
            (lambda t: t.replace("Yrotation", "Xrotation"), "turns twice about one axis"),
        ],
    )
    def test_broken_files(self, tmp_path, edit, words):
        with pytest.raises(DataError, match=words):
            MappedReader().read(self.case(tmp_path, edit), "e")

    def test_hips_that_do_not_move(self, tmp_path):
        still = walking(seconds=2.0)
        still = still.with_poses(still.rotations, np.zeros_like(still.root_m))
        path = write_convention(tmp_path / "h.bvh", still, CONVENTIONS["xsens"])
        with pytest.raises(DataError, match=r"hips do not move.*root motion"):
            MappedReader().read(path, "h")

    def test_missing_joints_name_what_the_file_has(self, tmp_path):
        def edit(text):
            return text.replace("LeftElbow", "Strange")

        path = self.case(tmp_path, edit)
        with pytest.raises(DataError) as caught:
            MappedReader(mapping=JointMapping(joints={"pelvis": "Hips"})).read(path, "e")
        assert "left_knee" in str(caught.value)
        assert "Strange" in str(caught.value)
        assert "jaywalk motion map" in str(caught.value)

    def test_a_mapping_of_other_names_suggests_the_nearest(self, tmp_path):
        joints = dict(CONVENTIONS["xsens"]) | {"left_elbow": "LeftElbo"}
        path = self.case(tmp_path, lambda text: text)
        with pytest.raises(DataError, match="Did you mean 'LeftElbow'"):
            MappedReader(mapping=JointMapping(joints=joints)).read(path, "e")

    def test_folders_without_motions(self, tmp_path):
        with pytest.raises(UsageError, match="holds no motion files"):
            motion_files(tmp_path)
        (tmp_path / "a.txt").write_text("x")
        with pytest.raises(UsageError, match=r"expected a folder, or a file \.bvh"):
            motion_files(tmp_path / "a.txt")

    def test_a_broken_file_does_not_stop_the_others(self, tmp_path):
        write_convention(tmp_path / "in/good.bvh", walking(seconds=2.0), CONVENTIONS["xsens"])
        (tmp_path / "in/bad.bvh").write_text("HIERARCHY\n")
        kinds = survey(motion_files(tmp_path / "in"))
        assert [kind.files[0].name for kind in kinds] == ["good.bvh"]
        problems = build_library(Sources(bvh=tmp_path / "in"), tmp_path / "lib")
        assert [problem.name for problem in problems] == ["bad.bvh"]
        assert open_library(tmp_path / "lib").names == ["good"]


class TestMappingFiles:
    @pytest.mark.parametrize("name", ["m.toml", "m.yaml"])
    def test_written_and_read_again(self, tmp_path, name):
        motion = read_motion(
            write_convention(tmp_path / "x.bvh", walking(seconds=2.0), CONVENTIONS["biped"], up="z")
        )
        mapping = guess_mapping(motion).mapping
        path = tmp_path / name
        path.write_text(format_mapping(mapping, path, motion.names))
        assert read_mapping(path) == mapping

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"up": "w"}, "up: is 'w'; expected one of x, y, z"),
            ({"unit_m": 0}, "unit_m: is 0; expected metres"),
            ({"rest": "t"}, "rest: is 't'"),
            ({"format": "x"}, "format: is 'x'"),
            ({"joint": {}}, "joint: no such field"),
            ({"joints": {"lefthip": "a"}}, "Did you mean 'left_hip'"),
            ({"joints": {"pelvis": "a"}}, "no joint for left_hip"),
            ({"joints": {"pelvis": "a", "head": "a"}}, "'a' is mapped twice"),
            ({"joints": {"pelvis": 3}}, "expected a joint's name"),
        ],
    )
    def test_wrong_fields(self, change, words):
        with pytest.raises(DataError, match=words):
            mapping_of({"joints": dict(CONVENTIONS["xsens"]), **change}, "'m.toml'")

    def test_a_mapping_file_decides(self, tmp_path):
        names = {joint: f"b{k:02d}" for k, joint in enumerate(JOINTS)}
        path = write_convention(tmp_path / "n.bvh", wild(seed=1), names, unit_m=0.037)
        mapping = JointMapping(joints=names, unit_m=0.037)
        clip = MappedReader(mapping=mapping).read(path, "n")
        assert np.abs(clip.joints_m() - wild(seed=1).joints_m()).max() < 2e-3


def test_mapped_clip_keeps_source_licence_and_caption(tmp_path):
    path = write_convention(tmp_path / "run-01.bvh", walking(seconds=2.0), CONVENTIONS["xsens"])
    clip = MappedReader(licence="my own").read(path, "run-01")
    assert (clip.source, clip.licence, clip.caption) == ("bvh/run-01.bvh", "my own", "run 01")
    motion = read_motion(path)
    mapping = guess_mapping(motion).mapping
    again = mapped_clip(motion, mapping, name="x", where="x", source="x")
    assert np.array_equal(again.rotations, clip.rotations)
