"""Meshes of people: shape, skinning, appearance."""

from __future__ import annotations

import numpy as np
import pytest

from jaywalk.core.carla_enums import SemanticTag
from jaywalk.geometry.rotation import quat_multiply, quat_rotate
from jaywalk.motion.carla_rigs import RIG_NAMES, limb_capsules, load_rig
from jaywalk.motion.kinematics import mesh_pose
from jaywalk.motion.posing import rig_tables
from jaywalk.motion.walk_cycle import animate_walkers
from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors.bodies import (
    CARRIES,
    THINGS,
    build_body,
    draw_looks,
    posed_points,
)

_MOST_TRIANGLES = (2000, 700, 220)
_PEOPLE = [
    ("walker.pedestrian.0002", {"gender": "male", "age": "adult"}),
    ("walker.pedestrian.0001", {"gender": "female", "age": "adult"}),
    ("walker.pedestrian.0024", {"gender": "male", "age": "elderly"}),
    ("walker.pedestrian.0012", {"gender": "male", "age": "child"}),
    ("walker.pedestrian.0009", {"gender": "female", "age": "child"}),
]


def _walking(rig_name: str, speed_mps: float = 1.3, phase: float = 0.3):
    rig = load_rig(rig_name)
    poses = animate_walkers(
        rig_tables(),
        np.array([rig.index]),
        np.array([speed_mps]),
        np.array([phase]),
        0.0,
        np.array([0.3]),
        np.array([0.0]),
    )
    return rig, poses[0]


def test_the_same_actor_has_the_same_looks_and_others_differ():
    first = draw_looks("walker.pedestrian.0003", {"gender": "female"}, 7)
    again = draw_looks("walker.pedestrian.0003", {"gender": "female"}, 7)
    assert first == again
    assert np.array_equal(first.colors, again.colors)
    many = [draw_looks("walker.pedestrian.0003", {"gender": "female"}, k) for k in range(40)]
    assert len({(one.top, one.bottom, one.hair) for one in many}) > 10
    skins = {tuple(one.colors[2].tolist()) for one in many}
    assert len(skins) == 1, "skin belongs to the blueprint"


def test_attributes_decide_age_and_things():
    child = draw_looks("walker.pedestrian.0012", {"gender": "male", "age": "child"}, 1)
    assert (child.rig, child.age) == ("boy", "child")
    phone = draw_looks("walker.pedestrian.0002", {CARRIES: "phone nonsense stick"}, 1)
    assert {"phone", "stick"} <= set(phone.carries) <= set(THINGS)


@pytest.mark.parametrize(("blueprint", "attributes"), _PEOPLE)
@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_body_is_sound_and_within_its_triangle_budget(blueprint, attributes, level):
    for draw in range(6):
        looks = draw_looks(blueprint, attributes, draw)
        body = build_body(looks, level)
        own = body.label == int(SemanticTag.PEDESTRIAN)
        assert own.sum() <= _MOST_TRIANGLES[level]
        assert body.triangles.min() >= 0
        assert body.triangles.max() < len(body.points_m)
        assert np.allclose(body.shares.sum(axis=1), 1.0, atol=1e-5)
        assert np.allclose(np.linalg.norm(body.normals, axis=1), 1.0, atol=1e-6)
        assert {int(Material.SKIN), int(Material.SHOES)} <= set(body.material.tolist())


@pytest.mark.parametrize("rig_name", RIG_NAMES)
def test_at_rest_the_points_stay_and_the_body_is_as_tall_as_its_rig(rig_name):
    rig = load_rig(rig_name)
    sex = "female" if rig_name in ("woman", "girl") else "male"
    age = "child" if rig_name in ("girl", "boy") else "adult"
    looks = draw_looks("walker.pedestrian.0002", {"gender": sex, "age": age}, 3)
    body = build_body(looks, 0)
    points, normals = posed_points(body, rig.rest_local, rig)
    assert np.allclose(points, body.points_m, atol=1e-9)
    assert np.allclose(normals, body.normals, atol=1e-9)
    own = np.unique(body.triangles[body.label == int(SemanticTag.PEDESTRIAN)])
    height = points[own, 2].max()
    assert rig.height_m - 0.02 < height < rig.height_m + 0.10
    assert -0.01 < points[own, 2].min() < 0.02


def test_skinning_equals_a_plain_computation():
    rig, pose = _walking("man")
    body = build_body(draw_looks(*_PEOPLE[0], 2), 1)
    points, _ = posed_points(body, pose, rig)
    placed = mesh_pose(np.ascontiguousarray(pose), rig.parents)
    for k in range(0, len(points), 17):
        expected = np.zeros(3)
        for bone, share in zip(body.bones[k], body.shares[k], strict=True):
            rest, now = rig.rest_mesh[bone], placed[bone]
            turn = quat_multiply(tuple(now[3:]), tuple(rest[3:] * [1.0, -1.0, -1.0, -1.0]))
            arm = quat_rotate(turn, tuple(body.points_m[k] - rest[:3]))
            expected += share * (now[:3] + np.array(arm))
        assert np.allclose(points[k], expected, atol=1e-9)


@pytest.mark.parametrize(("blueprint", "attributes"), _PEOPLE)
def test_a_walking_body_stays_close_to_its_capsules(blueprint, attributes):
    looks = draw_looks(blueprint, attributes, 5)
    rig, pose = _walking(looks.rig)
    body = build_body(looks, 1)
    points, _ = posed_points(body, pose, rig)
    own = np.unique(body.triangles[body.label == int(SemanticTag.PEDESTRIAN)])
    capsules = limb_capsules(mesh_pose(np.ascontiguousarray(pose), rig.parents), rig)
    start, way = capsules[:, :3], capsules[:, 3:6] - capsules[:, :3]
    along = np.einsum("pcj,cj->pc", points[own, None] - start[None], way)
    along = np.clip(along / np.maximum((way**2).sum(axis=1), 1e-12), 0.0, 1.0)
    gap = np.linalg.norm(points[own, None] - start[None] - along[..., None] * way[None], axis=2)
    outside = (gap - capsules[None, :, 6]).min(axis=1)
    assert np.percentile(outside, 95) < 0.10
    assert outside.max() < 0.25


def test_the_head_has_a_front():
    rig = load_rig("man")
    body = build_body(draw_looks(*_PEOPLE[0], 1), 0)
    middle = body.points_m[body.triangles].mean(axis=1)
    eyes = middle[body.material == int(Material.EYE)]
    lips = middle[body.material == int(Material.LIPS)]
    hair = middle[body.material == int(Material.HAIR)]
    head_y = rig.rest_mesh[rig.bone_index["crl_Head__C"], 1]
    assert eyes[:, 1].min() > head_y + 0.05
    assert lips[:, 2].max() < eyes[:, 2].min()
    assert np.percentile(hair[:, 1], 20) < head_y - 0.05
    eye_z = rig.rest_mesh[rig.bone_index["crl_eye__L"], 2]
    assert abs(eyes[:, 2].mean() - eye_z) < 0.01


@pytest.mark.parametrize("thing", THINGS)
def test_things_have_a_label_of_their_own(thing):
    plain = {"gender": "male", "age": "adult", "use_wheelchair": "true"}
    for level in range(3):
        body = build_body(draw_looks("walker.pedestrian.0002", {**plain, CARRIES: thing}, 1), level)
        own = body.label == int(SemanticTag.DYNAMIC)
        assert own.any()
        assert set(body.label.tolist()) == {int(SemanticTag.PEDESTRIAN), int(SemanticTag.DYNAMIC)}
