"""A person in a wheelchair: the body for contacts, the seated pose, and the chair in the scene."""

import numpy as np

from jaywalk.motion.carla_rigs import RIG_NAMES, load_rig
from jaywalk.motion.kinematics import mesh_pose
from jaywalk.server.world import _wheelchair
from jaywalk.server.world.blueprints import library, spawn_body, validate_spawn


def blueprint(name):
    return next(one for one in library("0.9.16") if one.id == name)


def test_the_body_is_lower_and_wider_than_a_walkers():
    person = blueprint("walker.pedestrian.0015")
    seated = spawn_body(person, validate_spawn(person, {"use_wheelchair": "true"}))
    standing = spawn_body(person, validate_spawn(person, {}))
    assert seated is _wheelchair.BODY
    assert seated.half_extents_m[2] < standing.half_extents_m[2]
    assert seated.half_extents_m[1] > standing.half_extents_m[1]
    child = blueprint("walker.pedestrian.0013")  # cannot use one
    assert spawn_body(child, validate_spawn(child, {"use_wheelchair": "true"})) == child.body


def test_seated_people_keep_their_bones_and_sit_on_the_chair():
    for name in RIG_NAMES:
        rig = load_rig(name)
        pose = mesh_pose(_wheelchair.seated_pose(name), rig.parents)[:, :3]
        rest = rig.rest_mesh[:, :3]
        for bone in range(2, len(rig.bones)):
            parent = int(rig.parents[bone])
            if rig.bones[bone] != "crl_hips__C" and parent > 0:
                seen = np.linalg.norm(pose[bone] - pose[parent])
                assert abs(seen - np.linalg.norm(rest[bone] - rest[parent])) < 1e-6
        place = {bone: pose[rig.bone_index[bone]] for bone in rig.bones}
        assert abs(place["crl_hips__C"][2] - 0.6) < 1e-6
        for side, sign in (("L", 1.0), ("R", -1.0)):
            knee, foot = place[f"crl_leg__{side}"], place[f"crl_foot__{side}"]
            assert knee[1] > place["crl_hips__C"][1] + 0.2  # ahead, and the foot below it
            assert foot[2] < knee[2] - 0.15
            assert sign * knee[0] > 0.0
            assert place[f"crl_hand__{side}"][2] < place[f"crl_arm__{side}"][2] - 0.2
