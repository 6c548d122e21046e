"""Pairs of made-up records: same until the shift is near, or not."""

from __future__ import annotations

import json

import numpy as np
import pytest
import score_cards as make
from record_scenes import STEP_S, add_actor
from typer.testing import CliRunner

import jaywalk.record
from jaywalk.cli.main import app as jaywalk_app
from jaywalk.cli.output import Result, render
from jaywalk.cli.pairs import gap_parts
from jaywalk.core.errors import DataError
from jaywalk.metrics.generalization.counterfactual import PairTally, check_pair
from jaywalk.metrics.generalization.run_pairs import pair_scores
from jaywalk.record import Episode, EpisodeWriter
from jaywalk.record.columns import WEATHER_FIELDS
from jaywalk.record.rows import KIND_VEHICLE, NO_CLIP, STATE_DTYPE

TICKS = 200
SPEED_MPS = 10.0


def drive(
    folder,
    *,
    brakes_at=None,
    thing_m=None,
    car_y_m=30.0,
    starts=None,
    seed=1,
    pair="P",
    thing_role="",
    attributes="{}",
    weather=1.5,
    car_mps=3.0,
    route_y_m=0.0,
    commands_at=None,
    scenario="",
    agent="A",
    half="",
):
    """An ego along x, a car beside it, perhaps a thing ahead; the ego may brake at a tick."""
    speed = np.full(TICKS, SPEED_MPS)
    if brakes_at is not None:
        speed[brakes_at:] = 5.0
    ego_x = np.concatenate([[0.0], np.cumsum(speed[:-1] * STEP_S)])
    with EpisodeWriter(folder) as writer:
        add_actor(writer, 0, "vehicle", TICKS - 1)
        add_actor(
            writer, 1, "vehicle", TICKS - 1, role_name="background", attributes_json=attributes
        )
        if thing_m is not None:
            add_actor(
                writer, 2, "prop", TICKS - 1, type_id="static.prop.barrel", role_name=thing_role
            )
        count = 2 if thing_m is None else 3
        for tick in range(TICKS):
            rows = np.zeros(count, STATE_DTYPE)
            rows["family"], rows["actor"], rows["tick"] = KIND_VEHICLE, np.arange(count), tick
            rows["clip"] = NO_CLIP
            rows["x_m"][:2] = ego_x[tick], 3.0 * tick * STEP_S
            rows["y_m"][1] = car_y_m
            rows["vx_mps"][:2] = speed[tick], car_mps
            if thing_m is not None:
                rows["x_m"][2] = thing_m
            writer.add_tick(tick, tick * STEP_S, STEP_S)
            writer.add_states(rows)
            changed = commands_at is not None and tick >= commands_at
            writer.add("ego", tick=tick, command_throttle=float(changed))
        writer.add("weather", tick=0, **dict.fromkeys(WEATHER_FIELDS, weather))
        writer.add("route", index=0, x_m=0.0, y_m=route_y_m, z_m=0.0)
        if starts is not None:
            writer.add_event(tick=starts, kind="scenario_start", source="scenario", name="S")
        writer.finish(
            Episode(
                episode_id=folder.name,
                ego_actor=0,
                pair=pair,
                seed=seed,
                town="T",
                suite="S",
                scenario=scenario,
                agent={"name": agent},
                parameters={"half": half} if half else {},
            )
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
    assert "the ego differs at tick 30" in found.reason


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
    found = check_pair(base, shift)
    assert "background differs: 2 actors are not in both records (2 background)" in found.reason
    assert not found.start_shared


@pytest.mark.parametrize("role", ["background", "ambient", "habit"])
def test_nobody_of_the_background_may_be_in_one_record_only(tmp_path, role):
    base = drive(tmp_path / "base")
    shift = drive(tmp_path / "shift", thing_m=110.0, thing_role=role)
    assert f"1 actors are not in both records (1 {role})" in check_pair(base, shift).reason


def test_another_colour_is_another_car(tmp_path):
    base = drive(tmp_path / "base")
    shift = drive(tmp_path / "shift", attributes='{"color": "1,2,3"}')
    assert "2 background" in check_pair(base, shift).reason


def test_a_shift_in_reach_at_once_passes_on_its_start_alone(tmp_path):
    base = drive(tmp_path / "base")
    shift = drive(tmp_path / "shift", thing_m=60.0, brakes_at=2)
    found = check_pair(base, shift)
    assert (found.passed, found.weak, found.start_shared) == (True, True, True)
    assert found.as_dict()["weak"] is True
    assert (found.first_difference_tick, found.background_difference_tick) == (2, None)


@pytest.mark.parametrize(
    ("other", "what"),
    [
        ({"weather": 2.5}, "the weather"),
        ({"brakes_at": 0}, "the ego"),
        ({"car_mps": 4.0}, "a background actor"),
        ({"route_y_m": 1.0}, "the ego's route"),
    ],
)
def test_a_shift_in_reach_at_once_excuses_no_other_start(tmp_path, other, what):
    base = drive(tmp_path / "base")
    found = check_pair(base, drive(tmp_path / "shift", thing_m=60.0, **other))
    assert (found.passed, found.start_shared) == (False, False)
    assert found.reason.startswith(f"{what} differs at tick 0")


def test_a_driver_may_answer_at_the_tick_it_sees_the_shift_and_no_earlier(tmp_path):
    base = drive(tmp_path / "base")
    seen = check_pair(base, drive(tmp_path / "shift", thing_m=110.0)).perceived_tick
    for early in (0, 1):
        shift = drive(tmp_path / f"shift{early}", thing_m=110.0, commands_at=seen - early)
        assert check_pair(base, shift, sight_m=80.0).passed == (not early)


@pytest.mark.parametrize(("thing_m", "passes"), [(118.0, True), (138.0, False)])
def test_a_driver_that_sees_far_may_answer_to_what_is_in_sight_and_to_nothing_farther(
    tmp_path, thing_m, passes
):
    """At tick 10 the thing is 5 m nearer: 113 m and 133 m."""
    base = drive(tmp_path / "base")
    shift = drive(tmp_path / "shift", thing_m=thing_m, commands_at=10, brakes_at=11)
    found = check_pair(base, shift, reach_m=80.0, sight_m=120.0)
    assert found.passed == passes
    assert found.reacted_tick == (10 if passes else None)
    if passes:
        assert found.compared_ticks == 11


def test_an_early_answer_excuses_no_difference_of_the_world_before_it(tmp_path):
    base = drive(tmp_path / "base")
    shift = drive(tmp_path / "shift", thing_m=118.0, commands_at=30, brakes_at=12)
    found = check_pair(base, shift)
    assert "the ego differs at tick 12" in found.reason


def test_a_tally_tells_the_weak_from_the_strong(tmp_path):
    base = drive(tmp_path / "base")
    others = ({"thing_m": 60.0}, {"thing_m": 110.0}, {"thing_m": 60.0, "car_y_m": 31.0})
    checks = [
        check_pair(base, drive(tmp_path / f"shift{k}", **one)) for k, one in enumerate(others)
    ]
    assert PairTally.of(checks).as_dict() == {
        "pairs": 3,
        "passed": 2,
        "strong": 1,
        "weak": 1,
        "weak_background_same": 1,
    }


def test_equal_records_pass_to_the_end(tmp_path):
    found = check_pair(drive(tmp_path / "base"), drive(tmp_path / "shift"))
    assert found.passed
    assert found.first_difference_tick is None
    assert found.compared_ticks == TICKS


def test_records_of_two_pairs_are_refused(tmp_path):
    with pytest.raises(DataError, match="not a pair: seed is '1' and '2'"):
        check_pair(drive(tmp_path / "base"), drive(tmp_path / "shift", seed=2))


def test_the_command_counts_weak_passes_apart(tmp_path):
    for pair, thing_m in (("P", 60.0), ("Q", 110.0)):
        drive(tmp_path / f"base{pair}", pair=pair, scenario=f"Base_{pair}")
        drive(
            tmp_path / f"shift{pair}", pair=pair, thing_m=thing_m, scenario=f"Generalization_{pair}"
        )
    told = CliRunner().invoke(jaywalk_app, ["pairs", "check", str(tmp_path)])
    assert told.exit_code == 0
    assert "ok, start only" in told.stdout
    assert "2 of 2 pairs are counterfactuals: 1 agree for at least a second" in told.output
    assert "1 on their start alone" in told.output
    found = json.loads(check(tmp_path, "--json").stdout)
    assert (found["pairs"], found["passed"], found["strong"], found["weak"]) == (2, 2, 1, 1)
    assert [one["weak"] for one in found["checks"]] == [True, False]


def test_the_headline_of_a_run_leaves_weak_pairs_out_and_names_them(tmp_path, capsys):
    cards = []
    for pair, thing_m, score in (("P", 60.0, 0.0), ("Q", 110.0, 80.0), ("R", 60.0, 20.0)):
        car_y_m = 31.0 if pair == "R" else 30.0  # other traffic: no counterfactual at all
        drive(tmp_path / f"base{pair}", pair=pair)
        drive(tmp_path / f"shift{pair}", pair=pair, thing_m=thing_m, car_y_m=car_y_m)
        for half, value in (("base", 100.0), ("generalization", score)):
            folder = ("base" if half == "base" else "shift") + pair
            detail = {"pair": pair, "half": half, "shift": "Wall"}
            cards.append(make.card(folder, 1, value, folder=folder, detail=detail))
    found = pair_scores(make.run(*cards), tmp_path)
    assert found["headline"] == "strong"
    assert (found["generalization"]["ds"], found["generalization"]["n"]) == (80.0, 1)
    assert found["all_pairs"]["generalization"]["ds"] == pytest.approx(100.0 / 3)
    proof = found["counterfactual"]
    assert (proof["checked"], proof["strong"], proof["weak"]) == (3, 1, 1)
    assert proof["weak_pairs"] == [{"pair": "P", "seed": "1", "class": "Wall"}]
    assert [one["pair"] for one in proof["failed_pairs"]] == ["R"]
    render(Result(found, gap_parts(found)))
    told = "".join(capsys.readouterr())
    assert "headline over the 1 strong pairs of 3" in told
    assert "weak pairs, start only, not in the headline: P (Wall)" in told


def check(*runs):
    return CliRunner().invoke(jaywalk_app, ["pairs", "check", *map(str, runs)])


def test_half_a_pair_is_told(tmp_path):
    for number in (1, 2):
        drive(tmp_path / f"base{number}", pair=f"P{number}", scenario=f"Base_P{number}")
    drive(tmp_path / "shift1", pair="P1", scenario="Generalization_P1")
    told = check(tmp_path)
    assert told.exit_code == 4
    assert "half a pair: P2, seed 1: only base (base2)" in told.output
    assert "1 of 1 pairs are counterfactuals" in told.output
    found = json.loads(check(tmp_path, "--json").stdout)
    assert found["unpaired"] == ["P2, seed 1: only base (base2)"]


def test_a_record_that_cannot_be_read_spoils_its_own_pair_only(tmp_path):
    for pair in ("P", "Q", "R"):
        drive(tmp_path / f"base{pair}", pair=pair, scenario=f"Base_{pair}")
        drive(tmp_path / f"shift{pair}", pair=pair, scenario=f"Generalization_{pair}")
    (tmp_path / "baseP" / "states.parquet").write_bytes(b"x")
    (tmp_path / "baseQ" / "episode.json").write_text("{", encoding="utf-8")
    told = check(tmp_path)
    assert told.exit_code == 1
    assert "cannot be checked: baseP: " in told.output
    assert "cannot be checked: baseQ: " in told.output
    assert "1 of 1 pairs are counterfactuals" in told.output


def test_runs_of_two_drivers_are_not_mixed(tmp_path):
    for run, agent, car in (("a", "A", 30.0), ("b", "B", 20.0), ("c", "A", 10.0)):
        for scenario in ("Base_P", "Generalization_P"):
            drive(tmp_path / run / scenario, scenario=scenario, agent=agent, car_y_m=car)
    told = check(tmp_path / "a", tmp_path / "b", tmp_path / "c")
    assert told.exit_code == 0
    assert "3 of 3 pairs are counterfactuals" in told.output


def test_halves_that_were_run_apart(tmp_path):
    drive(tmp_path / "a" / "x", scenario="Base_P")
    drive(tmp_path / "b" / "y", scenario="Generalization_P")
    assert "1 of 1 pairs" in check(tmp_path / "a", tmp_path / "b").output


def test_halves_of_the_toolbox_say_so_themselves(tmp_path):
    drive(tmp_path / "gnomes", scenario="gnomes", half="generalization")
    drive(tmp_path / "gnomes-base", scenario="gnomes-base", half="base")
    assert "1 of 1 pairs" in check(tmp_path).output


def test_what_is_no_run_of_pairs(tmp_path):
    drive(tmp_path / "alone", pair="")
    for folder, words in ((tmp_path, "no record of a pair"), (tmp_path / "x", "does not exist")):
        told = check(folder)
        assert told.exit_code != 0
        assert words in str(told.exception)


def test_a_sheet_that_cannot_be_written_is_told_before_the_drives(tmp_path):
    (tmp_path / "file").touch()
    told = CliRunner().invoke(
        jaywalk_app, ["pairs", "sheet", "-o", str(tmp_path / "file" / "x.png")]
    )
    assert "Cannot write" in str(told.exception)
