"""glTF files of any skeleton: joints are where scipy says, and reach our skeleton as BVH does."""

import numpy as np
import pytest
from tests.support.bvh_files import CONVENTIONS
from tests.support.gltf_files import inline, oracle_positions, write_gltf
from tests.support.synthetic_motion import walking, wild

from jaywalk.core.errors import DataError
from jaywalk.motion.library.building import Sources, build_library
from jaywalk.motion.library.reading import open_library
from jaywalk.motion.smpl import JOINTS
from jaywalk.motion.sources._joint_guess import guess_mapping
from jaywalk.motion.sources.motion_files import (
    MappedReader,
    joint_names,
    motion_files,
    read_motion,
)

NAMES = CONVENTIONS["mixamo"]
A_POSE = {"left_shoulder": (0, 0, -0.8), "right_shoulder": (0, 0, 0.8)}
CASES = {
    "glb": {},
    "a-pose": {"rest": A_POSE},
    "cubic": {"kind": "CUBICSPLINE"},
    "no skin": {"skin": False},
    "no armature": {"armature": False},
}


@pytest.fixture(params=sorted(CASES))
def take(request, tmp_path):
    motion = wild(seed=4, rate_hz=40.0)
    return motion, write_gltf(tmp_path / "a take.glb", motion, NAMES, **CASES[request.param])


def places_of(path):
    """Joints of a file in the order of ours."""
    motion = read_motion(path)
    places = motion.positions(motion.turned())
    return motion, places[:, [motion.names.index(NAMES[joint]) for joint in JOINTS]]


def test_joints_are_where_the_oracle_has_them(take):
    truth, path = take
    motion, places = places_of(path)
    assert motion.frame_time_s == pytest.approx(1.0 / 40.0)
    assert np.abs(places - oracle_positions(truth)).max() < 1e-4


def test_the_motion_reaches_our_skeleton(take):
    truth, path = take
    guess = guess_mapping(read_motion(path))
    assert guess.doubts == ()
    assert dict(guess.mapping.joints) == NAMES
    assert (guess.mapping.up, guess.mapping.unit_m) == ("y", 1.0)
    clip = MappedReader().read(path, "take")
    assert np.abs(clip.joints_m() - oracle_positions(truth)).max() < 2e-3
    cosine = np.abs(np.einsum("tji,tji->tj", clip.turned(), truth.turned()))
    assert np.rad2deg(2.0 * np.arccos(np.clip(cosine, 0.0, 1.0))).max() < 0.5


def test_few_keys_are_joined_by_arcs(tmp_path):
    """Between two keys a joint turns evenly: halfway it is turned by half the angle."""
    truth = walking(seconds=2.0, rate_hz=60.0)
    truth.rotations[:] = truth.rotations[:1]
    angles = np.linspace(0.0, 1.0, truth.frames)
    elbow = JOINTS.index("left_elbow")
    truth.rotations[:, elbow] = np.stack(
        [np.cos(0.5 * angles), 0 * angles, np.sin(0.5 * angles), 0 * angles], axis=1
    )
    truth.root_m[:] = np.linspace([0.0, 0.9, 0.0], [0.0, 0.9, 2.0], truth.frames)
    path = write_gltf(tmp_path / "few.glb", truth, NAMES, keys=60)
    motion, places = places_of(path)
    assert motion.frame_time_s == pytest.approx(1.0 / 30.0)
    assert np.abs(places - oracle_positions(truth)[::2]).max() < 1e-4
    held = write_gltf(tmp_path / "held.glb", truth, NAMES, keys=60, kind="STEP")
    place = read_motion(held).names.index(NAMES["left_elbow"])
    angles = 2.0 * np.arccos(np.abs(read_motion(held).rotations[:, place, 0]))
    # The key before holds: 0, then half the angle from one second on, all of it at the end.
    assert angles[:30] == pytest.approx(0.0, abs=1e-3)
    assert angles[30:-1] == pytest.approx(0.5, abs=1e-3)
    assert angles[-1] == pytest.approx(1.0, abs=1e-3)


def test_buffers_beside_the_file_and_inside_it_are_the_same(tmp_path):
    truth = walking(seconds=2.0, rate_hz=40.0)
    beside = write_gltf(tmp_path / "beside.gltf", truth, NAMES)
    data = beside.with_suffix(".bin").read_bytes()
    inside = write_gltf(
        tmp_path / "inside.gltf", truth, NAMES, edit=lambda document: inline(document, data)
    )
    inside.with_suffix(".bin").unlink()
    assert np.array_equal(places_of(beside)[1], places_of(inside)[1])


def test_a_library_is_built_of_both_formats(tmp_path):
    write_gltf(tmp_path / "in" / "stroll.glb", walking(seconds=3.0, rate_hz=30.0), NAMES)
    write_gltf(tmp_path / "in" / "run.gltf", walking(seconds=3.0, speed_mps=2.0), NAMES)
    assert [path.name for path in motion_files(tmp_path / "in")] == ["run.gltf", "stroll.glb"]
    problems = build_library(Sources(bvh=tmp_path / "in", accept_doubts=True), tmp_path / "lib")
    assert problems == []
    library = open_library(tmp_path / "lib")
    assert sorted(library.names) == ["run", "stroll"]
    assert library.columns["source"][library.rows["stroll"]] == "glb/stroll.glb"


def without_animation(document):
    document["animations"] = []


def two_animations(document):
    document["animations"] *= 2


def outside(document):
    document["buffers"][0]["uri"] = "../secret.bin"


def remote(document):
    document["buffers"][0]["uri"] = "https://example.org/a.bin"


def stretched(document):
    document["nodes"][3]["scale"] = [1.0, 2.0, 1.0]


def circle(document):
    document["nodes"][21]["children"] = [22]


def same_names(document):
    document["nodes"][4]["name"] = document["nodes"][5]["name"]


def packed(document):
    document["bufferViews"][0]["extensions"] = {"EXT_meshopt_compression": {}}


def too_many_rows(document):
    document["accessors"][1]["count"] = 10**9


def no_such_node(document):
    document["nodes"][0]["children"].append(400)


def old(document):
    document["asset"]["version"] = "1.0"


def no_names(document):
    del document["nodes"][3]["name"], document["animations"][0]["samplers"][0]["input"]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (without_animation, r"has 0 animations \(none\); expected one"),
        (two_animations, r"has 2 animations \(take, take\); expected one"),
        (outside, r"'\.\./secret\.bin' is outside the file's folder"),
        (remote, r"is outside the file's folder"),
        (stretched, "is stretched or mirrored; apply its scale"),
        (circle, "its nodes form a circle|has two parents"),
        (same_names, "two joints are named"),
        (packed, "EXT_meshopt_compression; export the animation without compression"),
        (too_many_rows, "is larger than its buffer"),
        (no_such_node, "is no valid glTF 2.0"),
        (old, "version 1.0; expected 2.0"),
        (no_names, r"is no valid glTF 2.0 \(KeyError: 'input'\)"),
    ],
)
def test_broken_files_are_refused_with_the_reason(tmp_path, edit, said):
    (tmp_path / "secret.bin").write_bytes(b"\0" * 10_000_000)
    path = write_gltf(tmp_path / "in" / "take.gltf", wild(rate_hz=30.0), NAMES, edit=edit)
    with pytest.raises(DataError, match=said) as caught:
        read_motion(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("cut", [2, 11, 30, 4000, -5])
def test_a_file_that_is_cut_short(tmp_path, cut):
    path = write_gltf(tmp_path / "take.glb", wild(rate_hz=30.0), NAMES)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(DataError, match=r"take\.glb"):
        read_motion(path)


def test_a_link_out_of_the_folder_is_refused(tmp_path):
    path = write_gltf(tmp_path / "in" / "take.gltf", wild(rate_hz=30.0), NAMES)
    data = path.with_suffix(".bin")
    data.rename(tmp_path / "away.bin")
    data.symlink_to(tmp_path / "away.bin")
    with pytest.raises(DataError, match="outside the file's folder"):
        read_motion(path)


def test_names_are_read_without_the_motion(take):
    _, path = take
    assert set(joint_names(path)) == set(NAMES.values())
