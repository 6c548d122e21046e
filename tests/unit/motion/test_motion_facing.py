"""Where heads and chests face: made poses with known turns, and positions of bones."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from synthetic_motion import still, wild

from jaywalk.forecasting._record_sight import facing
from jaywalk.motion.carla_rigs import RIG_NAMES, load_rig
from jaywalk.motion.retarget import RootPolicy, retarget

HEAD_BONES = ("crl_Head__C", "crl_eye__L", "crl_eye__R")
CHEST_BONES = ("crl_spine01__C", "crl_shoulder__L", "crl_shoulder__R", "crl_neck__C")


def on_rig(rig, motion):
    return retarget(motion, load_rig(rig), RootPolicy.KEEP)


@pytest.mark.parametrize("rig", RIG_NAMES)
@pytest.mark.parametrize("left_rad", [0.0, 0.7, -1.2])
def test_a_head_turned_to_the_left_has_a_smaller_yaw_in_carlas_axes(rig, left_rad):
    rest = facing(on_rig(rig, still()))
    assert rest.head_rad == pytest.approx(rest.body_rad, abs=1e-6)
    # SMPL's y is up and its axes are right-handed: positive is to the left
    seen = facing(on_rig(rig, still(head=[0.0, left_rad, 0.0])))
    assert seen.head_rad - rest.head_rad == pytest.approx(-left_rad, abs=1e-6)
    assert seen.body_rad == pytest.approx(rest.body_rad, abs=1e-6)


def test_a_turned_chest_takes_the_head_along_and_nodding_turns_nothing():
    rest = facing(on_rig("woman", still()))
    both = facing(on_rig("woman", still(spine3=[0.0, 0.5, 0.0], neck=[0.0, 0.3, 0.0])))
    assert both.body_rad - rest.body_rad == pytest.approx(-0.5, abs=1e-6)
    assert both.head_rad - rest.head_rad == pytest.approx(-0.8, abs=1e-6)
    down = facing(on_rig("woman", still(head=[0.9, 0.0, 0.0])))
    assert down.head_rad == pytest.approx(rest.head_rad, abs=1e-6)


def test_who_looks_at_the_ground_faces_nowhere():
    seen = facing(on_rig("man", still(head=[np.pi / 2, 0.0, 0.0])))
    assert np.isnan(seen.head_rad).all()
    assert np.isfinite(seen.body_rad).all()


@pytest.mark.parametrize("rig", ["man", "girl"])
def test_angles_are_those_the_positions_of_bones_tell(rig):
    posed = on_rig(rig, wild(3))
    seen, joints, names = facing(posed), posed.joints_m(), load_rig(rig).bone_index
    for told, bones in ((seen.head_rad, HEAD_BONES), (seen.body_rad, CHEST_BONES)):
        chosen = [names[bone] for bone in bones]
        rest = load_rig(rig).rest_mesh[chosen, :3][:, [1, 0, 2]] * [1.0, -1.0, 1.0]
        for yaw, here in zip(told, joints[:, chosen], strict=True):
            turn, _ = Rotation.align_vectors(here[1:] - here[0], rest[1:] - rest[0])
            ahead = turn.apply([1.0, 0.0, 0.0])
            off = yaw - np.arctan2(ahead[1], ahead[0])
            if np.isnan(yaw):
                assert abs(ahead[2]) > 0.97
            else:
                assert abs(np.arctan2(np.sin(off), np.cos(off))) < 1e-3
        assert np.isfinite(told).mean() > 0.5
