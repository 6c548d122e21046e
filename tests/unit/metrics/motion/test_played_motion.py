"""Figures of a person as a client saw them, against a walk whose answers are known."""

import numpy as np
import pytest
from synthetic_motion import walking

from jaywalk.metrics.motion.library_check import facing_rad, played_figures, travel_rad
from jaywalk.motion.carla_rigs import load_rig
from jaywalk.motion.retarget import RootPolicy, engine_angles_deg, retarget


def seen(speed_mps=1.2, turn_rps=0.4):
    posed = retarget(
        walking(speed_mps=speed_mps, turn_rps=turn_rps), load_rig("man"), RootPolicy.KEEP
    )
    poses = posed.poses()
    relative = np.concatenate([poses[..., :3], engine_angles_deg(poses[..., 3:])], axis=-1)
    velocity = np.zeros((len(poses), 3))
    velocity[1:, :2] = np.diff(posed.actor[:, :2], axis=0) * 20.0
    return {
        "rig": "man",
        "bones_m": posed.joints_m(),
        "relative": relative,
        "actor": posed.actor,
        "velocity_mps": velocity,
        "delta_s": 0.05,
    }


def test_facing_and_travel_follow_the_turn():
    data = seen()
    facing = np.unwrap(facing_rad(data["bones_m"], "man"))
    assert facing == pytest.approx(data["actor"][:, 3], abs=0.07)  # the actor is smoothed
    way, walks = travel_rad(data["bones_m"][:, load_rig("man").bone_index["crl_hips__C"]], 0.05)
    assert walks.all()
    assert np.unwrap(way)[10:-10] == pytest.approx(data["actor"][10:-10, 3], abs=0.05)


def test_figures_of_a_walk_with_planted_feet():
    figures = played_figures(**seen())
    assert figures["speed_mps"] == pytest.approx(1.2, rel=0.03)
    assert figures["way_m"] == pytest.approx(1.2 * 6.0, rel=0.02)
    assert figures["velocity_error_mps_max"] < 1e-9
    assert figures["stance_slip_mps"] < 0.1  # of the frames in which it lands and leaves
    assert figures["facing_off_travel_deg_p50"] < 3.0
    assert figures["bone_step_deg_max"] < 40.0


def test_sliding_sinking_and_walking_backwards_are_seen():
    data = seen()
    slid = data["bones_m"] + np.linspace(0.0, 1.8, len(data["actor"]))[:, None, None] * [1, 0, 0]
    assert played_figures(**{**data, "bones_m": slid})["stance_slip_mps"] > 0.25
    sunk = data["bones_m"] - [0.0, 0.0, 0.05]
    assert played_figures(**{**data, "bones_m": sunk})["penetration_m"] == pytest.approx(
        0.05, abs=0.01
    )
    back = {**data, "bones_m": data["bones_m"][::-1], "relative": data["relative"][::-1]}
    back |= {"actor": data["actor"][::-1], "velocity_mps": -data["velocity_mps"][::-1]}
    assert played_figures(**back)["facing_off_travel_deg_p50"] > 170.0
    still = played_figures(**seen(speed_mps=0.0, turn_rps=0.0))
    assert still["facing_off_travel_deg_p50"] is None
