"""Meshes of people: shape, skinning, appearance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jaywalk.core.carla_enums import SemanticTag
from jaywalk.core.walker_attributes import CARRIES
from jaywalk.geometry.rotation import quat_multiply, quat_rotate
from jaywalk.motion.carla_rigs import RIG_NAMES, limb_capsules, load_rig
from jaywalk.motion.kinematics import mesh_pose, world_poses
from jaywalk.motion.posing import rig_tables
from jaywalk.motion.walk_cycle import animate_walkers
from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors._mesh import MeshLibrary
from jaywalk.server.sensors.bodies import (
    THINGS,
    PeopleMeshes,
    SeenPerson,
    build_body,
    build_things,
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
        body = build_body(looks, level).surface
        assert len(body.triangles) <= _MOST_TRIANGLES[level]
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
    assert np.allclose(points, body.surface.points_m, atol=1e-9)
    assert np.allclose(normals, body.surface.normals, atol=1e-9)
    assert rig.height_m - 0.02 < points[:, 2].max() < rig.height_m + 0.10
    assert -0.01 < points[:, 2].min() < 0.02


def test_skinning_equals_a_plain_computation():
    rig, pose = _walking("man")
    body = build_body(draw_looks(*_PEOPLE[0], 2), 1)
    points, _ = posed_points(body, pose, rig)
    placed = mesh_pose(np.ascontiguousarray(pose), rig.parents)
    for k in range(0, len(points), 17):
        expected = np.zeros(3)
        for bone, share in zip(body.surface.bones[k], body.surface.shares[k], strict=True):
            rest, now = rig.rest_mesh[bone], placed[bone]
            turn = quat_multiply(tuple(now[3:]), tuple(rest[3:] * [1.0, -1.0, -1.0, -1.0]))
            arm = quat_rotate(turn, tuple(body.surface.points_m[k] - rest[:3]))
            expected += share * (now[:3] + np.array(arm))
        assert np.allclose(points[k], expected, atol=1e-9)


@pytest.mark.parametrize(("blueprint", "attributes"), _PEOPLE)
def test_a_walking_body_stays_close_to_its_capsules(blueprint, attributes):
    looks = draw_looks(blueprint, attributes, 5)
    rig, pose = _walking(looks.rig)
    body = build_body(looks, 1)
    points, _ = posed_points(body, pose, rig)
    capsules = limb_capsules(mesh_pose(np.ascontiguousarray(pose), rig.parents), rig)
    start, way = capsules[:, :3], capsules[:, 3:6] - capsules[:, :3]
    along = np.einsum("pcj,cj->pc", points[:, None] - start[None], way)
    along = np.clip(along / np.maximum((way**2).sum(axis=1), 1e-12), 0.0, 1.0)
    gap = np.linalg.norm(points[:, None] - start[None] - along[..., None] * way[None], axis=2)
    outside = (gap - capsules[None, :, 6]).min(axis=1)
    assert np.percentile(outside, 95) < 0.10
    assert outside.max() < 0.25


def test_the_head_has_a_front():
    rig = load_rig("man")
    body = build_body(draw_looks(*_PEOPLE[0], 1), 0).surface
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
def test_things_are_parts_of_their_own(thing):
    plain = {"gender": "male", "age": "adult", "use_wheelchair": "true"}
    looks = draw_looks("walker.pedestrian.0002", {**plain, CARRIES: thing}, 1)
    bare = draw_looks("walker.pedestrian.0002", plain, 1)
    for level in range(3):
        assert build_things(bare, level) is None
        part = build_things(looks, level)
        assert part is not None
        assert len(part.surface.triangles) >= 8
        assert np.isfinite(part.surface.points_m).all()


def test_a_scene_shows_people_and_their_things_under_two_labels():
    looks = draw_looks(*_PEOPLE[0], 1)
    looks = replace(looks, carries=("rucksack",))
    rig = load_rig("man")
    placed = world_poses(
        rig.rest_mesh[None], np.array([[20.0, 5.0, 0.9, 0.0, 0.4, 0.0]]), np.array([0.9])
    )
    library = MeshLibrary()
    people = PeopleMeshes(library)
    first = people.posed([SeenPerson(3, 70, looks)], placed)
    again = people.posed([SeenPerson(3, 70, looks)], placed)
    assert first.row.tolist() == [3, 3]
    assert first.label.tolist() == [0, int(SemanticTag.DYNAMIC)]
    assert np.array_equal(first.points_world_m, again.points_world_m)
    spans = library.spans()[first.model]
    assert len(first.points_world_m) == (spans[:, :, 1] - spans[:, :, 0]).sum()
    middle = first.points_world_m.mean(axis=0)
    assert np.hypot(middle[0] - 20.0, middle[1] - 5.0) < 0.2
    # the face looks along the actor's yaw
    mesh = build_body(looks, 0).surface
    eyes = np.unique(mesh.triangles[mesh.material == int(Material.EYE)])
    ahead = first.points_world_m[eyes].mean(axis=0)[:2] - np.array([20.0, 5.0])
    assert ahead @ np.array([np.cos(0.4), np.sin(0.4)]) > 0.08


def test_people_who_differ_in_shape_only_share_a_model():
    thin = draw_looks(*_PEOPLE[0], 1)
    wide = replace(thin, girth=thin.girth + 0.1)
    library, rest = MeshLibrary(), load_rig("man").rest_mesh
    seen = [SeenPerson(1, 71, thin), SeenPerson(2, 72, wide)]
    posed = PeopleMeshes(library).posed(seen, np.stack([rest, rest]))
    assert posed.model[0] == posed.model[-1] or thin.carries
    half = len(posed.points_world_m) // 2
    assert not np.array_equal(posed.points_world_m[:half], posed.points_world_m[half:])
