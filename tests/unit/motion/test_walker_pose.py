"""Custom poses and the answer of get_bones."""

import carla
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from jaywalk.core.errors import UsageError
from jaywalk.motion.carla_rigs import load_rig
from jaywalk.motion.kinematics import bone_report
from jaywalk.motion.pose import PoseOverride, blend, with_bones


def bones_out(rig, pose, actor_pose, drop_m):
    """Name, world, component and relative transform of each bone."""
    report = bone_report(pose, rig.parents, actor_pose, drop_m)
    return [[name, *spaces] for name, spaces in zip(rig.bones, report.tolist(), strict=True)]


def wheel_matrix(transform) -> np.ndarray:
    (x, y, z), (pitch, yaw, roll) = transform
    return np.array(
        carla.Transform(carla.Location(x, y, z), carla.Rotation(pitch, yaw, roll)).get_matrix()
    )


@pytest.mark.parametrize("name", ["man", "girl"])
def test_spaces_of_get_bones_are_consistent(name):
    rig = load_rig(name)
    actor = np.array([12.0, -7.0, 1.1, 0.02, 2.3, -0.01])
    answer = bones_out(rig, rig.rest_local, actor, 0.93)
    assert [bone[0] for bone in answer] == list(rig.bones)
    frame = wheel_matrix((actor[:3], np.rad2deg(actor[3:])))
    for i, (_, world, component, relative) in enumerate(answer):
        np.testing.assert_allclose(frame @ wheel_matrix(component), wheel_matrix(world), atol=5e-5)
        if i:
            above = wheel_matrix(answer[rig.parents[i]][2])
            np.testing.assert_allclose(
                above @ wheel_matrix(relative), wheel_matrix(component), atol=5e-5
            )


def test_component_space_faces_x_with_the_soles_below():
    rig = load_rig("man")
    answer = {bone[0]: bone for bone in bones_out(rig, rig.rest_local, np.zeros(6), 0.93)}
    root, eye = answer["crl_root"][2], answer["crl_eye__L"][2]
    np.testing.assert_allclose(root[0], (0, 0, -0.93), atol=1e-12)
    assert root[1][1] == pytest.approx(-90.0)
    assert eye[0][0] > answer["crl_Head__C"][2][0][0] + 0.05
    assert answer["crl_hand__L"][2][0][1] < -0.6  # left is -y in CARLA's frame
    np.testing.assert_allclose(answer["crl_root"][3][1], (0, 0, 90), atol=1e-4)


def test_set_bones_is_absolute_and_ignores_unknown_names():
    rig = load_rig("man")
    wanted = [[0.1, -0.2, 0.3], [10.0, 20.0, 30.0]]
    pose = with_bones(rig, rig.rest_local, [("crl_arm__L", wanted), ("nonsense", wanted)])
    answer = {bone[0]: bone[3] for bone in bones_out(rig, pose, np.zeros(6), 0.93)}
    np.testing.assert_allclose(np.ravel(answer["crl_arm__L"]), np.ravel(wanted), atol=1e-9)
    others = np.arange(66) != rig.bone_index["crl_arm__L"]
    np.testing.assert_array_equal(pose[others], rig.rest_local[others])
    with pytest.raises(UsageError, match="crl_arm__L"):
        with_bones(rig, pose, [("crl_arm__L", [[float("nan"), 0, 0], [0, 0, 0]])])
    for broken in ([[0, 0], [0, 0, 0]], [[0, 0, 0]], ["a", "b"], None):
        with pytest.raises(UsageError, match="expected for each"):
            with_bones(rig, pose, [("crl_arm__L", broken), ("crl_arm__R", wanted)])


def test_blend_goes_half_way():
    rig = load_rig("boy")
    bent = with_bones(rig, rig.rest_local, [("crl_root", [[0, 0, 1.0], [0, 60.0, 90.0]])])
    half = blend(rig.rest_local, bent, 0.5)
    start, turn = (Rotation.from_quat(p[0, [4, 5, 6, 3]]) for p in (rig.rest_local, half))
    assert np.rad2deg((turn * start.inv()).magnitude()) == pytest.approx(30.0, abs=1e-4)
    assert half[0, 2] == pytest.approx(0.5)
    np.testing.assert_allclose(blend(rig.rest_local, bent, 0.0), rig.rest_local, atol=1e-12)
    np.testing.assert_allclose(blend(rig.rest_local, bent, 1.0), bent, atol=1e-12)


def test_override_follows_carlas_rules():
    rig = load_rig("man")
    first, later = rig.rest_local.copy(), rig.rest_local.copy()
    first[1, 0], later[1, 0] = 0.5, 0.7
    override = PoseOverride()
    assert override.shown(first) is first
    override.set_bones(rig, first, [["crl_neck__C", [[0, 0, 0], [0, 0, 0]]]])
    assert override.shown(later) is later  # nothing shows until it is blended in
    override.weight = 1.0
    assert override.shown(later)[1, 0] == 0.5  # seeded by the frame of the first call
    override.weight = 0.25
    assert override.shown(later)[1, 0] == pytest.approx(0.65)
    override.set_bones(rig, later, [["crl_Head__C", [[0, 0, 0.2], [0, 0, 0]]]])
    assert override.snapshot[rig.bone_index["crl_neck__C"], 2] == 0.0
    override.capture(later)
    np.testing.assert_array_equal(override.snapshot, later)
