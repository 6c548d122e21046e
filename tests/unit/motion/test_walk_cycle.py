"""The built-in animation: feet on the ground, natural joints, facing the way it goes."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from jaywalk.motion._gait import gait_at, gait_rate_hz, stride_length_m
from jaywalk.motion.carla_rigs import LIMBS, RIG_NAMES, limb_capsules, load_rig, walker_capsules
from jaywalk.motion.kinematics import mesh_poses, world_poses
from jaywalk.motion.posing import rig_tables
from jaywalk.motion.walk_cycle import animate_walkers

STEPS = 120


def cycle(name, speed_mps, *, style=0.37, time_s=0.0):
    rig, tables = load_rig(name), rig_tables()
    phases = np.arange(STEPS) / STEPS
    local = animate_walkers(
        tables,
        np.full(STEPS, rig.index),
        np.full(STEPS, speed_mps),
        phases,
        time_s,
        np.full(STEPS, style),
        np.zeros(STEPS),
    )
    return rig, local, mesh_poses(local, tables.parents)


def soles(rig, mesh, side):
    """Paths of heel, ball and toe tip: points of the sole carried by foot and toe bones."""
    rest, index = rig.rest_mesh, rig.bone_index
    foot, toe, end = (index[f"crl_{part}__{side}"] for part in ("foot", "toe", "toeEnd"))
    heel = rest[foot, :2] - 0.42 * (rest[toe, :2] - rest[foot, :2])
    paths = []
    for bone, point in ((foot, heel), (toe, rest[toe, :2]), (toe, rest[end, :2])):
        turn = Rotation.from_quat(rest[bone, [4, 5, 6, 3]])
        own = turn.inv().apply(np.append(point, 0.0) - rest[bone, :3])
        paths.append(Rotation.from_quat(mesh[:, bone][:, [4, 5, 6, 3]]).apply(own))
        paths[-1] += mesh[:, bone, :3]
    return np.stack(paths, axis=1)


def joint(rig, mesh, name):
    return mesh[:, rig.bone_index[name], :3]


@pytest.mark.parametrize("name", RIG_NAMES)
@pytest.mark.parametrize("speed", [0.0, 0.5, 1.4, 2.0])
def test_a_walkers_lowest_foot_is_always_on_the_ground(name, speed):
    # children break into a run at lower speeds, with the square root of leg length
    rig, _, mesh = cycle(name, speed * np.sqrt(load_rig(name).leg_length_m / 0.9))
    lowest = np.minimum(*(soles(rig, mesh, side)[..., 2].min(axis=1) for side in "LR"))
    assert np.abs(lowest).max() < 0.005


@pytest.mark.parametrize("name", RIG_NAMES)
def test_a_runner_leaves_the_ground_and_never_sinks(name):
    rig, _, mesh = cycle(name, 3.5)
    lowest = np.minimum(*(soles(rig, mesh, side)[..., 2].min(axis=1) for side in "LR"))
    assert lowest.min() > -0.005
    assert 0.01 < lowest.max() < 0.12
    assert 0.2 < (lowest > 0.005).mean() < 0.6


@pytest.mark.parametrize("name", RIG_NAMES)
@pytest.mark.parametrize("speed", [0.8, 1.4, 3.5])
def test_standing_feet_do_not_slide(name, speed):
    rig, _, mesh = cycle(name, speed)
    leg = rig.leg_length_m
    stride = stride_length_m(speed, leg)
    step_s = stride / speed / STEPS
    for side, offset in (("L", 0.0), ("R", 0.5)):
        path = soles(rig, mesh, side)
        path[..., 1] += (np.arange(STEPS) * stride / STEPS)[:, None]
        slide = np.linalg.norm(np.diff(path[..., :2], axis=0), axis=-1).min(axis=1) / step_s
        phase = (np.arange(STEPS - 1) / STEPS + offset) % 1.0
        assert slide[phase < gait_at(speed, leg).duty - 1.5 / STEPS].max() < 0.05


def test_stride_and_cadence_are_those_of_people():
    assert stride_length_m(1.4, 0.898) == pytest.approx(1.47, abs=0.03)
    assert 110 < 120 * gait_rate_hz(1.4, 0.898) < 120  # steps per minute
    assert 160 < 120 * gait_rate_hz(3.5, 0.898) < 185
    assert gait_rate_hz(1.2, 0.52) > 1.3 * gait_rate_hz(1.2, 0.898)  # children step faster
    assert gait_rate_hz(0.0, 0.898) == 0.0


@pytest.mark.parametrize("name", RIG_NAMES)
def test_joint_angles_are_in_the_human_range(name):
    rig, _, mesh = cycle(name, 1.3 * np.sqrt(load_rig(name).leg_length_m / 0.9))
    for side in "LR":
        hip, knee, ankle, toe = (
            joint(rig, mesh, f"crl_{part}__{side}") for part in ("thigh", "leg", "foot", "toe")
        )
        thigh = np.rad2deg(np.arctan2((knee - hip)[:, 1], (hip - knee)[:, 2]))
        shank = np.rad2deg(np.arctan2((ankle - knee)[:, 1], (knee - ankle)[:, 2]))
        flexion = thigh - shank  # positive: the shank trails, as knees bend
        assert -28 < thigh.min() < -10
        assert 20 < thigh.max() < 38
        assert flexion.min() > -2
        assert 40 < flexion.max() < 70
        assert ((toe - ankle)[:, 1] > 0).mean() > 0.95


@pytest.mark.parametrize("speed", [1.4, 3.5])
def test_arms_swing_against_the_legs_and_hang(speed):
    rig, _, mesh = cycle("man", speed)
    for side in "LR":
        leg = joint(rig, mesh, f"crl_foot__{side}") - joint(rig, mesh, f"crl_thigh__{side}")
        arm = joint(rig, mesh, f"crl_hand__{side}") - joint(rig, mesh, f"crl_arm__{side}")
        assert np.corrcoef(leg[:, 1], arm[:, 1])[0, 1] < -0.7
        upper = joint(rig, mesh, f"crl_foreArm__{side}") - joint(rig, mesh, f"crl_arm__{side}")
        assert (upper[:, 2] < -0.6 * np.linalg.norm(upper, axis=1)).all()
        outside = joint(rig, mesh, f"crl_foreArm__{side}")[:, 0] * (1 if side == "L" else -1)
        assert outside.min() > 0.15


def test_movement_grows_with_speed():
    spans = []
    for speed in (0.0, 0.5, 1.0, 1.4, 1.9):
        rig, _, mesh = cycle("woman", speed)
        spans.append(np.ptp(joint(rig, mesh, "crl_foot__L")[:, 1]))
    assert spans[0] < 1e-9
    assert (np.diff(spans) > 0.03).all()


@pytest.mark.parametrize("speed", [1.4, 3.5])
def test_half_a_cycle_later_the_pose_is_mirrored(speed):
    rig, _, mesh = cycle("boy", speed)
    breath_free = [b for b in rig.bones if any(k in b for k in ("thigh", "leg", "foot", "toe"))]
    for bone in breath_free:
        other = bone[:-1] + ("R" if bone.endswith("L") else "L")
        mirrored = np.roll(joint(rig, mesh, other), -STEPS // 2, axis=0) * (-1, 1, 1)
        np.testing.assert_allclose(joint(rig, mesh, bone), mirrored, atol=2e-3)


@pytest.mark.parametrize("name", RIG_NAMES)
@pytest.mark.parametrize("speed", [0.3, 1.4, 2.3, 3.5, 6.0])
def test_bones_keep_their_length_and_move_smoothly(name, speed):
    _, local, _ = cycle(name, speed)
    lengths = np.linalg.norm(local[:, 2:, :3], axis=2)
    assert np.ptp(lengths, axis=0).max() < 1e-12
    np.testing.assert_allclose(np.linalg.norm(local[..., 3:], axis=-1), 1.0, atol=1e-6)
    dots = np.abs((local * np.roll(local, -1, axis=0))[..., 3:].sum(axis=-1)).clip(0, 1)
    assert np.rad2deg(2 * np.arccos(dots)).max() < 16  # per 1/120 of a cycle
    assert np.isfinite(local).all()


def test_standing_people_breathe_and_sway_a_little():
    _, _, early = cycle("man", 0.0, time_s=0.0)
    rig, _, later = cycle("man", 0.0, time_s=2.0)
    moved = np.linalg.norm((later - early)[..., :3], axis=-1)
    assert 0.002 < moved[:, rig.bone_index["crl_Head__C"]].max() < 0.06
    assert moved[:, rig.bone_index["crl_foot__L"]].max() < 1e-6


def test_styles_differ():
    _, _, a = cycle("man", 1.4, style=0.1)
    _, _, b = cycle("man", 1.4, style=0.8)
    assert np.abs(a - b).max() > 0.02


@pytest.mark.parametrize("name", RIG_NAMES)
def test_knocked_down_people_lie_on_the_ground(name):
    rig, tables = load_rig(name), rig_tables()
    count = 20
    styles = np.linspace(0, 1, count, endpoint=False) + 0.013
    rigs = np.full(count, rig.index)
    faces = []
    for down in (0.5, 1.0):
        local = animate_walkers(
            tables, rigs, np.ones(count), np.zeros(count), 0.0, styles, np.full(count, down)
        )
        mesh = mesh_poses(local, tables.parents)
        assert mesh[:, 1:, 2].min() > 0.0
        assert mesh[:, 1:, 2].min(axis=1).max() < 0.06
        if down == 1.0:
            assert mesh[..., 2].max() < 0.25 * rig.height_m
            head, eye = (mesh[:, rig.bone_index[b], 2] for b in ("crl_Head__C", "crl_eye__R"))
            faces = list(eye > head)
    assert any(faces)
    assert not all(faces)


def test_world_pose_faces_the_direction_of_travel():
    rig, _, mesh = cycle("woman", 1.4)
    yaw = 0.9
    actors = np.tile([30.0, -4.0, 0.93, 0.0, yaw, 0.0], (STEPS, 1))
    world = world_poses(mesh, actors, np.full(STEPS, 0.93))
    travel = np.array([np.cos(yaw), np.sin(yaw)])
    nose = joint(rig, world, "crl_eye__R") - joint(rig, world, "crl_Head__C")
    assert (nose[:, :2] @ travel > 0.05).all()
    left = joint(rig, world, "crl_arm__L") - joint(rig, world, "crl_arm__R")
    right_hand = np.array([-np.sin(yaw), np.cos(yaw)])  # CARLA's +y is to the right
    assert (left[:, :2] @ right_hand < -0.2).all()
    np.testing.assert_allclose(joint(rig, world, "crl_root")[0], (30.0, -4.0, 0.0), atol=1e-9)


def test_capsules_wrap_the_body():
    rig, _, mesh = cycle("man", 1.4)
    capsules = walker_capsules(mesh, np.full(STEPS, rig.height_m))
    assert capsules.shape == (STEPS, len(LIMBS), 7)
    np.testing.assert_array_equal(limb_capsules(mesh[3, :, :3].copy(), rig), capsules[3])
    top = (np.maximum(capsules[..., 2], capsules[..., 5]) + capsules[..., 6]).max(axis=1)
    bottom = (np.minimum(capsules[..., 2], capsules[..., 5]) - capsules[..., 6]).min(axis=1)
    assert ((top > 1.68) & (top < 1.88)).all()
    assert ((bottom > -0.03) & (bottom < 0.03)).all()
    head = capsules[:, LIMBS.index("head")]
    assert (head[:, 5] > head[:, 2]).all()
