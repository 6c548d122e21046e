"""Heads that look: checked with forward kinematics of the whole skeleton."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from jaywalk.motion.carla_rigs import RIG_NAMES, Rig, load_rig
from jaywalk.motion.kinematics import mesh_pose
from jaywalk.motion.playback.overlay import (
    MAX_TURN_RAD,
    GazeOverlay,
    bend_trunks,
    stoop_rad,
    turn_heads,
)
from jaywalk.motion.retarget import DRIVEN


def placed(rig: Rig, turns: NDArray[np.float64]) -> NDArray[np.float64]:
    """All bones in mesh space."""
    local = np.array(rig.rest_local)
    local[[rig.bone_index[name] for name in DRIVEN], 3:] = turns
    pose: NDArray[np.float64] = mesh_pose(local, rig.parents)
    return pose


def eyes_from_head(rig: Rig, turns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Middle of the eyes relative to the head bone, in mesh axes: left, forward, up."""
    pose = placed(rig, turns)
    eyes = [pose[rig.bone_index[name], :3] for name in ("crl_eye__L", "crl_eye__R")]
    middle: NDArray[np.float64] = np.mean(eyes, axis=0) - pose[rig.bone_index["crl_Head__C"], :3]
    return middle


def resting(rig: Rig) -> NDArray[np.float64]:
    return np.array(rig.rest_local)[[rig.bone_index[name] for name in DRIVEN], 3:]


@pytest.mark.parametrize("rig_name", RIG_NAMES)
@pytest.mark.parametrize("yaw_rad", [-1.2, -0.4, 0.7])
def test_the_face_turns_by_the_wanted_yaw(rig_name: str, yaw_rad: float) -> None:
    rig = load_rig(rig_name)
    turns = resting(rig)[None]
    before = eyes_from_head(rig, turns[0])
    turn_heads(turns, np.array([[yaw_rad, 0.0]]))
    after = eyes_from_head(rig, turns[0])
    turned = math.atan2(after[1], after[0]) - math.atan2(before[1], before[0])
    assert math.remainder(turned - yaw_rad, 2.0 * math.pi) == pytest.approx(0.0, abs=1e-9)
    assert after[2] == pytest.approx(before[2])


@pytest.mark.parametrize("pitch_rad", [-0.5, 0.3])
def test_the_face_is_raised_and_lowered(pitch_rad: float) -> None:
    rig = load_rig("man")
    turns = resting(rig)[None]
    before = eyes_from_head(rig, turns[0])
    turn_heads(turns, np.array([[0.0, pitch_rad]]))
    after = eyes_from_head(rig, turns[0])

    def elevation(v: NDArray[np.float64]) -> float:
        return math.atan2(v[2], math.hypot(v[0], v[1]))

    assert elevation(after) - elevation(before) == pytest.approx(pitch_rad, abs=0.02)


def test_gazes_move_smoothly_and_only_as_far_as_necks_do() -> None:
    overlay = GazeOverlay(1)
    shown = []
    for _ in range(60):
        overlay.follow(np.array([[2.5, 0.0]]), 0.05)
        shown.append(float(overlay.shown_rad[0, 0]))
    steps = np.diff([0.0, *shown])
    assert steps.min() >= -1e-4
    assert steps.max() <= 4.0 * 0.05 + 1e-12
    assert shown[-1] == pytest.approx(MAX_TURN_RAD, abs=1e-3)


def test_the_clip_itself_stays_as_it_is() -> None:
    turns = resting(load_rig("man"))[None].repeat(2, axis=0)
    kept = turns.copy()
    turn_heads(turns, np.array([[0.0, 0.0], [0.5, 0.0]]))
    assert np.array_equal(turns[0], kept[0])
    assert not np.allclose(turns[1], kept[1])


def test_a_turn_has_minimum_jerk() -> None:
    """A jump of the goal gives the known quintic, of a duration that grows with the angle."""
    overlay, goal = GazeOverlay(1), 0.6
    shown = []
    for _ in range(12):
        overlay.follow(np.array([[goal, 0.0]]), 0.05)
        shown.append(float(overlay.shown_rad[0, 0]))
    seconds = max(0.25 + 0.20 * goal / MAX_TURN_RAD, 1.875 * goal / 4.0)
    share = np.minimum(0.05 * np.arange(1, 13) / seconds, 1.0)
    quintic = goal * share**3 * (10.0 - 15.0 * share + 6.0 * share**2)
    assert np.abs(np.array(shown) - quintic).max() < 0.02 * goal


def test_a_moving_goal_is_followed() -> None:
    overlay = GazeOverlay(1)
    for k in range(80):
        goal = min(0.02 * k, 1.0)
        overlay.follow(np.array([[goal, 0.0]]), 0.05)
        assert abs(goal - overlay.shown_rad[0, 0]) < 0.15
    assert overlay.shown_rad[0, 0] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("rig_name", ["man", "woman"])
def test_seniors_bend_forward_and_look_ahead(rig_name: str) -> None:
    rig = load_rig(rig_name)
    turns = resting(rig)[None]
    before = placed(rig, turns[0])
    bend_trunks(turns, np.array([stoop_rad("elderly", "walker.pedestrian.0024")]))
    after = placed(rig, turns[0])
    neck, hips = rig.bone_index["crl_neck__C"], rig.bone_index["crl_hips__C"]
    trunk = [pose[neck, :3] - pose[hips, :3] for pose in (before, after)]
    lean = [math.degrees(math.atan2(way[1], way[2])) for way in trunk]
    assert 4.0 < lean[1] - lean[0] < 15.0
    face = [eyes_from_head(rig, t) for t in (resting(rig), turns[0])]
    drop = math.atan2(face[1][2], face[1][1]) - math.atan2(face[0][2], face[0][1])
    assert abs(math.degrees(drop)) < 6.0
    assert stoop_rad("adult", "walker.pedestrian.0024") == 0.0
