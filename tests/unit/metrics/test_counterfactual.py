"""Pairs of made-up records: same until the shift is near, or not."""

from __future__ import annotations

import numpy as np
import pytest
from record_scenes import STEP_S, add_actor

import jaywalk.record
from jaywalk.core.errors import DataError
from jaywalk.metrics.fail2drive.counterfactual import check_pair
from jaywalk.record import Episode, EpisodeWriter
from jaywalk.record.columns import WEATHER_FIELDS
from jaywalk.record.state_rows import KIND_VEHICLE, NO_CLIP, STATE_DTYPE

TICKS = 200
SPEED_MPS = 10.0


def drive(folder, *, brakes_at=None, thing_m=None, car_y_m=30.0, starts=None, seed=1, pair="P"):
    """An ego along x, a car beside it, perhaps a thing ahead; the ego may brake at a tick."""
    speed = np.full(TICKS, SPEED_MPS)
    if brakes_at is not None:
        speed[brakes_at:] = 5.0
    ego_x = np.concatenate([[0.0], np.cumsum(speed[:-1] * STEP_S)])
    with EpisodeWriter(folder) as writer:
        add_actor(writer, 0, "vehicle", TICKS - 1)
        add_actor(writer, 1, "vehicle", TICKS - 1, role_name="background")
        if thing_m is not None:
            add_actor(writer, 2, "prop", TICKS - 1, type_id="static.prop.barrel")
        count = 2 if thing_m is None else 3
        for tick in range(TICKS):
            rows = np.zeros(count, STATE_DTYPE)
            rows["family"], rows["actor"], rows["tick"] = KIND_VEHICLE, np.arange(count), tick
            rows["clip"] = NO_CLIP
            rows["x_m"][:2] = ego_x[tick], 3.0 * tick * STEP_S
            rows["y_m"][1] = car_y_m
            rows["vx_mps"][0] = speed[tick]
            if thing_m is not None:
                rows["x_m"][2] = thing_m
            writer.add_tick(tick, tick * STEP_S, STEP_S)
            writer.add_states(rows)
        writer.add("weather", tick=0, **dict.fromkeys(WEATHER_FIELDS, 1.5))
        if starts is not None:
            writer.add_event(tick=starts, kind="scenario_start", source="scenario", name="S")
        writer.finish(
            Episode(episode_id=folder.name, ego_actor=0, pair=pair, seed=seed, town="T", suite="S")
        )
    return jaywalk.record.open(folder)


def test_a_reaction_to_what_is_near_is_allowed(tmp_path):
    base = drive(tmp_path / "base")
    shift = drive(tmp_path / "shift", thing_m=110.0, brakes_at=70)
    found = check_pair(base, shift, reach_m=80.0)
    assert found.passed
    assert found.perceived_tick == pytest.approx(60, abs=1)  # 30 m at 0.5 m a tick
    assert found.first_difference_tick == 70
    assert (found.shared_actors, found.own_actors) == (2, 1)
    assert found.ego_moved_m == pytest.approx(30.0, abs=1.0)


def test_a_difference_before_it_can_be_seen_fails(tmp_path):
    base = drive(tmp_path / "base")
    shift = drive(tmp_path / "shift", thing_m=110.0, brakes_at=30)
    found = check_pair(base, shift, reach_m=80.0)
    assert not found.passed
    assert "an actor differs at tick 30" in found.reason


def test_who_acts_may_be_reacted_to(tmp_path):
    base = drive(tmp_path / "base")
    shift = drive(tmp_path / "shift", starts=50, brakes_at=55)
    found = check_pair(base, shift)
    assert found.passed
    assert (found.perceived_tick, found.acts_tick) == (None, 50)


def test_what_both_scenarios_do_is_no_shift(tmp_path):
    base = drive(tmp_path / "base", starts=20)
    shift = drive(tmp_path / "shift", starts=20, brakes_at=60)
    found = check_pair(base, shift)
    assert found.acts_tick is None
    assert not found.passed


def test_other_traffic_is_no_counterfactual(tmp_path):
    base = drive(tmp_path / "base")
    shift = drive(tmp_path / "shift", car_y_m=31.0)
    assert "traffic differs: 2 vehicles" in check_pair(base, shift).reason


def test_equal_records_pass_to_the_end(tmp_path):
    found = check_pair(drive(tmp_path / "base"), drive(tmp_path / "shift"))
    assert found.passed
    assert found.first_difference_tick is None
    assert found.compared_ticks == TICKS


def test_records_of_two_pairs_are_refused(tmp_path):
    with pytest.raises(DataError, match="no pair: seed is '1' and '2'"):
        check_pair(drive(tmp_path / "base"), drive(tmp_path / "shift", seed=2))
