"""The rigs: order, rest pose and proportions, against published figures of CARLA."""

import re
from pathlib import Path

import numpy as np
import pytest

from jaywalk.core.errors import UsageError
from jaywalk.geometry.rotation import rotation_matrix_carla, rotator_from_quat
from jaywalk.motion import posing
from jaywalk.motion.carla_rigs import RIG_NAMES, load_rig, rig_for_walker

SHARED = Path(__file__).resolve().parents[3].parent / "shared" / "data" / "carla_rig"
SOURCES = {"man": "male", "woman": "female", "girl": "girl", "boy": "kid"}


def read_rest(path: Path) -> dict[str, np.ndarray]:
    rest: dict[str, list[float]] = {}
    name = ""
    for line in path.read_text().splitlines():
        if match := re.match(r"  (crl_\w+):$", line):
            name = match[1]
            rest[name] = []
        elif match := re.match(r"\s+(x|y|z|pitch|yaw|roll): (\S+)$", line):
            rest[name].append(float(match[2]))
    return {bone: np.array(values) for bone, values in rest.items()}


def matrix_fk(rig) -> tuple[np.ndarray, np.ndarray]:
    """Positions and orientations by plain matrices, independent of the quaternion kernels."""
    positions = np.zeros((len(rig.bones), 3))
    turns = np.zeros((len(rig.bones), 3, 3))
    for i, parent in enumerate(rig.parents):
        turn = rotation_matrix_carla(*rotator_from_quat(tuple(rig.rest_local[i, 3:])))
        above = np.eye(3) if parent < 0 else turns[parent]
        start = np.zeros(3) if parent < 0 else positions[parent]
        positions[i] = start + above @ rig.rest_local[i, :3]
        turns[i] = above @ turn
    return positions, turns


@pytest.mark.parametrize("name", RIG_NAMES)
def test_rest_pose_agrees_with_matrix_kinematics(name):
    rig = load_rig(name)
    positions, _ = matrix_fk(rig)
    np.testing.assert_allclose(rig.rest_mesh[:, :3], positions, atol=1e-12)
    assert (rig.parents[1:] < np.arange(1, len(rig.bones))).all()


def test_bone_order_is_that_of_get_bones():
    bones = load_rig("man").bones
    assert len(bones) == 66
    assert bones[:4] == ("crl_root", "crl_hips__C", "crl_spine__C", "crl_spine01__C")
    assert bones[7:13] == (
        "crl_hand__L",
        "crl_handThumb__L",
        "crl_handThumb01__L",
        "crl_handThumb02__L",
        "crl_handThumbEnd__L",
        "crl_handIndex__L",
    )
    assert bones[-5:] == (
        "crl_thigh__L",
        "crl_leg__L",
        "crl_foot__L",
        "crl_toe__L",
        "crl_toeEnd__L",
    )
    assert all(load_rig(name).bones == bones for name in RIG_NAMES)


def test_named_indices_of_the_kernels_match_the_data():
    index = load_rig("man").bone_index
    for constant, bone in {
        "HIPS": "crl_hips__C",
        "SPINE": "crl_spine__C",
        "CHEST": "crl_spine01__C",
        "NECK": "crl_neck__C",
        "HEAD": "crl_Head__C",
        "ARM_L": "crl_arm__L",
        "FOREARM_L": "crl_foreArm__L",
        "HAND_L": "crl_hand__L",
        "ARM_R": "crl_arm__R",
        "FOREARM_R": "crl_foreArm__R",
        "HAND_R": "crl_hand__R",
        "THIGH_L": "crl_thigh__L",
        "SHANK_L": "crl_leg__L",
        "FOOT_L": "crl_foot__L",
        "TOE_L": "crl_toe__L",
        "THIGH_R": "crl_thigh__R",
        "SHANK_R": "crl_leg__R",
        "FOOT_R": "crl_foot__R",
        "TOE_R": "crl_toe__R",
    }.items():
        assert getattr(posing, constant) == index[bone], constant


@pytest.mark.parametrize(
    ("name", "thigh", "shank", "upper_arm", "forearm", "hips"),
    [
        ("man", 0.4628, 0.4351, 0.2754, 0.2688, 1.049),
        ("woman", 0.4628, 0.4351, 0.2696, 0.2491, 1.049),
        ("girl", 0.2720, 0.2446, 0.1719, 0.1388, 0.615),
        ("boy", 0.3071, 0.2762, 0.1941, 0.1567, 0.696),
    ],
)
def test_proportions(name, thigh, shank, upper_arm, forearm, hips):
    rig = load_rig(name)
    length = {bone: np.linalg.norm(rig.rest_local[i, :3]) for bone, i in rig.bone_index.items()}
    for side in "LR":
        assert length[f"crl_leg__{side}"] == pytest.approx(thigh, abs=2e-4)
        assert length[f"crl_foot__{side}"] == pytest.approx(shank, abs=2e-4)
        assert length[f"crl_foreArm__{side}"] == pytest.approx(upper_arm, abs=2e-4)
        assert length[f"crl_hand__{side}"] == pytest.approx(forearm, abs=2e-4)
    assert rig.rest_mesh[1, 2] == pytest.approx(hips, abs=1e-3)
    assert rig.leg_length_m == pytest.approx(thigh + shank, abs=4e-4)


def test_statures_fit_the_boxes_of_the_walkers():
    # twice the half heights of CARLA's adult, small child and bigger child walkers
    for name, height in {"man": 1.86, "woman": 1.86, "girl": 1.10, "boy": 1.30}.items():
        assert load_rig(name).height_m == pytest.approx(height, abs=0.13)


def test_limbs_are_as_long_as_on_a_walker_of_the_simulator():
    # lengths taken from published get_bones positions of walker.pedestrian.0022, CARLA 0.9.14
    rig = load_rig("woman")
    for bone, length in {
        "crl_leg__R": 0.4629,
        "crl_foot__R": 0.4351,
        "crl_hand__L": 0.2491,
        "crl_spine__C": 0.1073,
        "crl_handMiddle__L": 0.0961,
        "crl_handIndex01__L": 0.0465,
    }.items():
        measured = np.linalg.norm(rig.rest_local[rig.bone_index[bone], :3])
        assert measured == pytest.approx(length, abs=1e-3), bone


def test_rest_hands_are_mirror_images():
    for name in RIG_NAMES:
        rig = load_rig(name)
        for bone, i in rig.bone_index.items():
            if bone.startswith("crl_hand") and bone.endswith("__L"):
                other = rig.rest_mesh[rig.bone_index[bone[:-1] + "R"], :3]
                np.testing.assert_allclose(rig.rest_mesh[i, :3] * (-1, 1, 1), other, atol=5e-4)


def test_walker_attributes_choose_the_rig():
    assert rig_for_walker({"gender": "male", "age": "adult"}).name == "man"
    assert rig_for_walker({"gender": "female", "age": "elderly"}).name == "woman"
    assert rig_for_walker({"gender": "female", "age": "child"}).name == "girl"
    assert rig_for_walker({"gender": "male", "age": "child"}).name == "boy"
    assert rig_for_walker({}).name == "man"
    with pytest.raises(UsageError, match="'dog'"):
        load_rig("dog")


@pytest.mark.data
@pytest.mark.skipif(not SHARED.exists(), reason="needs ../shared/data/carla_rig")
def test_data_file_restates_the_published_rest_pose():
    for name, source in SOURCES.items():
        rig = load_rig(name)
        for bone, row in read_rest(SHARED / f"sk_{source}_relative.yaml").items():
            i = rig.bone_index[bone]
            np.testing.assert_allclose(rig.rest_local[i, :3], row[:3] / 100, atol=1e-8)
            turn = rotation_matrix_carla(*rotator_from_quat(tuple(rig.rest_local[i, 3:])))
            np.testing.assert_allclose(turn, rotation_matrix_carla(*row[3:]), atol=1e-9)


@pytest.mark.data
@pytest.mark.skipif(not SHARED.exists(), reason="needs ../shared/data/carla_rig")
def test_kinematics_reproduce_the_published_absolute_pose():
    rig = load_rig("woman")
    _, turns = matrix_fk(rig)
    for bone, row in read_rest(SHARED / "sk_female_absolute.yaml").items():
        i = rig.bone_index[bone]
        np.testing.assert_allclose(rig.rest_mesh[i, :3], row[:3] / 100, atol=1e-6)
        np.testing.assert_allclose(turns[i], rotation_matrix_carla(*row[3:]), atol=1e-4)
