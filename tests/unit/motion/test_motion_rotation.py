"""Quaternions and rotators against CARLA's own matrices and scipy."""

import carla
import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from jaywalk.geometry.rotation import (
    quat_from_columns,
    quat_from_rotator,
    quat_rotate,
    quat_slerp,
    rotator_from_quat,
    transforms_from_rotators,
)
from jaywalk.motion.kinematics import actor_row, compose_rows


def as_scipy(q) -> Rotation:
    return Rotation.from_quat([q[1], q[2], q[3], q[0]])


def random_rotators(count: int) -> np.ndarray:
    rng = np.random.default_rng(3)
    return rng.uniform((-90, -180, -180), (90, 180, 180), (count, 3))


def test_rotator_gives_the_matrix_of_the_wheel():
    for pitch, yaw, roll in random_rotators(60):
        transform = carla.Transform(carla.Location(), carla.Rotation(pitch, yaw, roll))
        expected = np.array(transform.get_matrix())[:3, :3]
        q = quat_from_rotator(pitch, yaw, roll)
        np.testing.assert_allclose(as_scipy(q).as_matrix(), expected, atol=2e-6)


def test_composition_agrees_with_transform_of_the_wheel():
    rng = np.random.default_rng(4)
    angles = random_rotators(40)
    for i in range(0, 40, 2):
        place = rng.uniform(-5, 5, (2, 3))
        matrices = [
            np.array(carla.Transform(carla.Location(*p), carla.Rotation(*a)).get_matrix())
            for p, a in zip(place, angles[i : i + 2], strict=True)
        ]
        rows = transforms_from_rotators(np.hstack([place, angles[i : i + 2]]))
        out = np.empty(7)
        compose_rows(rows[0], rows[1], out)
        product = matrices[0] @ matrices[1]
        np.testing.assert_allclose(out[:3], product[:3, 3], atol=2e-5)
        np.testing.assert_allclose(as_scipy(out[3:]).as_matrix(), product[:3, :3], atol=5e-6)


@pytest.mark.parametrize("pitch", [0.0, 45.0, -89.0, 83.65, 89.76])
def test_rotator_round_trip_even_near_the_pole(pitch):
    angles = rotator_from_quat(quat_from_rotator(pitch, 74.28, -177.75))
    np.testing.assert_allclose(angles, (pitch, 74.28, -177.75), atol=1e-9)


def test_columns_rotation_and_slerp_against_scipy():
    rng = np.random.default_rng(5)
    for _ in range(50):
        a, b = Rotation.random(2, rng=rng)
        qa = quat_from_columns(*(tuple(column) for column in a.as_matrix().T))
        qb = quat_from_columns(*(tuple(column) for column in b.as_matrix().T))
        v = rng.normal(size=3)
        np.testing.assert_allclose(quat_rotate(qa, tuple(v)), a.apply(v), atol=1e-12)
        weight = float(rng.uniform())
        expected = Slerp([0, 1], Rotation.concatenate([a, b]))(weight)
        assert (as_scipy(quat_slerp(qa, qb, weight)) * expected.inv()).magnitude() < 1e-9


def test_actor_row_takes_radians():
    row = actor_row(1.0, 2.0, 3.0, 0.1, -0.7, 0.2)
    np.testing.assert_allclose(np.deg2rad(rotator_from_quat(tuple(row[3:]))), (0.1, -0.7, 0.2))
