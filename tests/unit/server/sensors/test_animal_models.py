"""Animals as meshes: they fill their boxes, and their legs reach the feet that the gait sets."""

import math

import numpy as np
import pytest

from jaywalk.server.sensors.models import ActorMotion, Body, actor_look
from jaywalk.server.sensors.models.animals import _model
from jaywalk.server.world._tables import ACTOR
from jaywalk.server.world.blueprints import find
from jaywalk.server.world.walker_blueprints import ANIMALS, body_lift_m, feet_m, gait_of

SPECIES = pytest.mark.parametrize("animal", ANIMALS, ids=lambda animal: animal.species)


def look(animal):
    body = find(animal.blueprint).body
    box = body.half_extents_m, body.centre_m
    return actor_look(Body(animal.blueprint, {}, *box, animal.colour, 5))


def posed(animal, speed_mps, way_m, down_s=0.0):
    row = np.zeros(1, ACTOR)[0]
    row["vx"], row["down_s"] = speed_mps, down_s
    shown = look(animal)
    poses = np.tile(np.eye(3, 4), (shown.look.parts, 1, 1))
    shown.pose(row, ActorMotion(rolled_m=way_m), poses)
    return poses


def moved(mesh, poses):
    """Points of a mesh after its parts have moved, and the part of each."""
    part = np.zeros(len(mesh.points_m), int)
    part[mesh.triangles.ravel()] = np.repeat(mesh.part, 3)
    pose = poses[part]
    return np.einsum("nij,nj->ni", pose[:, :, :3], mesh.points_m) + pose[:, :, 3], part


@SPECIES
def test_an_animal_fills_its_box(animal):
    long, wide, high = animal.size_m
    counts = []
    for mesh in look(animal).look.model.levels:
        used = mesh.points_m[np.unique(mesh.triangles)]
        assert used.min(axis=0) == pytest.approx([-0.5 * long, -0.5 * wide, 0.0], abs=1e-9)
        assert used.max(axis=0) == pytest.approx([0.5 * long, 0.5 * wide, high], abs=1e-9)
        counts.append(len(mesh.triangles))
    assert counts == sorted(counts, reverse=True)
    assert counts[1] < 1900
    assert counts[2] < 850


@SPECIES
def test_feet_go_where_the_gait_sets_them(animal):
    _, legs = _model(animal.blueprint)
    assert len(legs) == animal.legs
    mesh = look(animal).look.model.levels[0]
    rest = feet_m(animal, 0.0, 0.0)
    for speed in (0.0, 0.6 * animal.walk_mps, animal.run_mps):
        for way in np.linspace(0.0, 1.7, 7):
            poses = posed(animal, speed, way)
            points, part = moved(mesh, poses)
            wanted = feet_m(animal, way, speed) - rest
            lift = body_lift_m(animal, way, speed)
            for k, leg in enumerate(legs):
                lower = 2 + 2 * k
                own = mesh.points_m[part == lower]
                foot = own[own[:, 2] < 0.02 * animal.size_m[2]].mean(axis=0)
                shown = poses[lower, :, :3] @ foot + poses[lower, :, 3]
                reach = 1.02 * leg.hip[2]
                ahead, up = wanted[k, 0], wanted[k, 2]
                far = math.hypot(ahead, leg.hip[2] + lift - up)
                if far < 0.95 * reach:  # otherwise the leg is stretched towards its place
                    away = shown - (leg.hip[0] + ahead, shown[1], up)
                    # A foot is not a point: it turns about its ankle.
                    assert np.abs(away).max() < 0.12 * animal.size_m[2]
                # The knee joins both parts at one place.
                knee = np.array([leg.hip[0], leg.hip[1], leg.knee_m])
                joints = [poses[p, :, :3] @ knee + poses[p, :, 3] for p in (lower - 1, lower)]
                assert np.abs(joints[0] - joints[1]).max() < 0.04 * leg.hip[2]
            assert poses[0, 2, 3] == pytest.approx(lift)
            assert points[:, 2].min() > -0.08 * animal.size_m[2]


def test_gaits_differ():
    horse = ANIMALS[2]
    assert gait_of(horse, 1.0) == "walk"
    assert gait_of(horse, 12.0) == "gallop"
    stand, walk = posed(horse, 0.0, 0.4), posed(horse, 1.2, 0.4)
    assert np.abs(walk[1:] - stand[1:]).max() > 0.05
    assert np.abs(posed(horse, 1.2, 0.4) - walk).max() == 0.0


@SPECIES
def test_a_struck_animal_lies_on_its_side(animal):
    mesh = look(animal).look.model.levels[0]
    points, _ = moved(mesh, posed(animal, 0.0, 0.0, down_s=math.inf))
    # Its origin is 0.25 m above the ground then, and the model hangs half its height below.
    height = points[:, 2] + 0.25 - 0.5 * animal.size_m[2]
    least = 0.0 if 0.5 * animal.size_m[2] > 0.25 else 0.25 - 0.5 * animal.size_m[2]
    assert height.min() == pytest.approx(least, abs=1e-6)
    assert height.max() == pytest.approx(least + animal.size_m[1], abs=1e-6)
