"""Hands that hold things: checked with forward kinematics of the whole skeleton."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from jaywalk.motion.carla_rigs import ADULT_HEIGHT_M, RIG_NAMES, Rig, load_rig
from jaywalk.motion.kinematics import mesh_pose
from jaywalk.motion.playback.holding import arm_tables, hold_things, holds_of
from jaywalk.motion.retarget import DRIVEN
from jaywalk.server.sensors.bodies import build_things, draw_looks, posed_points

_HIPS = "crl_hips__C"


def local_of(rig: Rig, turns: NDArray[np.float64]) -> NDArray[np.float64]:
    local = np.array(rig.rest_local)
    local[[rig.bone_index[name] for name in DRIVEN], 3:] = turns
    return local


def posed(rig: Rig, carries: str, seed: int = 0) -> tuple[NDArray[np.float64], ...]:
    """Turns of a person with arms anywhere, before and after holding, and all bones after it."""
    rng = np.random.default_rng(seed)
    turns = np.array(rig.rest_local)[[rig.bone_index[name] for name in DRIVEN], 3:]
    for name in ("arm__L", "foreArm__L", "arm__R", "foreArm__R", "spine__C"):
        bone = list(DRIVEN).index(f"crl_{name}")
        turns[bone] += rng.normal(0.0, 0.15, 4)
        turns[bone] /= np.linalg.norm(turns[bone])
    held = turns[None].copy()
    hips = rig.rest_local[rig.bone_index[_HIPS], :3][None].copy()
    rigs = np.array([RIG_NAMES.index(rig.name)])
    hold_things(held, hips, rigs, arm_tables(), holds_of([(rig.name, carries)]))
    return turns, held[0], mesh_pose(local_of(rig, held[0]), rig.parents)


@pytest.mark.parametrize("rig_name", RIG_NAMES)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_phone_is_before_the_chest_and_lengths_stay(rig_name: str, seed: int) -> None:
    rig = load_rig(rig_name)
    before, after, pose = posed(rig, "phone", seed)
    size = rig.height_m / ADULT_HEIGHT_M
    chest = pose[rig.bone_index["crl_spine01__C"], :3]
    wrist = pose[rig.bone_index["crl_hand__R"], :3]
    assert wrist - chest == pytest.approx(size * np.array([-0.09, 0.27, 0.0]), abs=0.012)
    assert np.linalg.norm(after, axis=1) == pytest.approx(1.0)
    # the other arm and the legs are those of the clip
    changed = {name for k, name in enumerate(DRIVEN) if not np.allclose(before[k], after[k])}
    assert changed == {"crl_arm__R", "crl_foreArm__R", "crl_hand__R"}


@pytest.mark.parametrize("rig_name", RIG_NAMES)
def test_a_calling_hand_is_at_the_ear(rig_name: str) -> None:
    rig = load_rig(rig_name)
    pose = posed(rig, "call phone")[2]
    looks = draw_looks("walker.pedestrian.0002", {"carries": "call phone"}, 1)
    assert looks.carries[0] == "phone"
    size = rig.height_m / ADULT_HEIGHT_M
    head = pose[rig.bone_index["crl_Head__C"], :3]
    wrist = pose[rig.bone_index["crl_hand__R"], :3]
    assert np.linalg.norm(wrist - head) < 0.2 * size


def test_an_umbrella_is_over_the_head_and_hands_are_on_a_pram() -> None:
    rig = load_rig("man")
    for word in ("umbrella", "pram"):
        looks = draw_looks("walker.pedestrian.0002", {"gender": "male", "carries": word}, 1)
        _, turns, pose = posed(rig, word)
        things = build_things(looks, 0)
        assert things is not None
        points, _ = posed_points(things, local_of(rig, turns), rig)
        if word == "umbrella":
            top = points[:, 2] > points[:, 2].max() - 0.3
            assert points[top, 2].min() > pose[rig.bone_index["crl_Head__C"], 2]
            assert np.linalg.norm(points[top, :2].mean(axis=0) - [0.1, 0.3]) < 0.25
        else:
            for side in "LR":
                wrist = pose[rig.bone_index[f"crl_hand__{side}"], :3]
                assert (
                    np.linalg.norm(points - wrist, axis=1).min() < 0.12
                )  # the fingers reach the bar


def test_one_hand_holds_one_thing_and_unknown_words_hold_nothing() -> None:
    holds = holds_of([("man", "nonsense rucksack"), ("woman", "phone stick umbrella")])
    assert not holds.held[0].any()
    assert holds.held[1].all()
    phone = holds_of([("woman", "phone")])
    assert np.array_equal(holds.wrist_m[1, 1], phone.wrist_m[0, 1])
    assert np.linalg.norm(holds.hand[1], axis=1) == pytest.approx(1.0)


def test_folded_arms_cross_before_the_chest() -> None:
    rig = load_rig("woman")
    _, _, pose = posed(rig, "folded-arms")
    left, right, chest = (
        pose[rig.bone_index[f"crl_{name}"], :3] for name in ("hand__L", "hand__R", "spine01__C")
    )
    assert left[0] < chest[0] < right[0]  # each hand on the other side
    assert min(left[1], right[1]) > chest[1] + 0.1
    assert abs(left[2] - right[2]) < 0.12
