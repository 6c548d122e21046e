"""The whole protocol on small episodes."""

import math

import numpy as np
import pytest
from hand_records_safety import Scene, profile, straight
from record_scenes import write_episode

import jaywalk.record
from jaywalk.metrics.driving._jaywalk_protocol import VERSION, score_episode
from jaywalk.metrics.driving.aggregate import aggregate
from jaywalk.metrics.driving.summary import RunScore
from jaywalk.metrics.safety._collisions import serious_injury_risk
from jaywalk.metrics.spec import computed_metrics
from jaywalk.report.summary import cause_of

ROUTE = [(float(x), 0.0) for x in range(0, 101)]


def clean(seconds=10.5):
    scene = Scene(seconds=seconds, route=ROUTE)
    scene.add("vehicle", straight(0.0, 0.0, 0.0, 10.0))
    scene.episode = {"suite": "s", "scenario": "a-v1", "seed": 3, "agent": {"name": "cruise"}}
    return scene


def test_a_clean_drive_succeeds(tmp_path):
    score = score_episode(clean().write(tmp_path / "one"))
    assert score.success
    assert (score.status, score.protocol, score.agent, score.seed) == (
        "Success",
        "jaywalk",
        "cruise",
        3,
    )
    assert (score.suite, score.scenario, score.episode_id) == ("s", "a-v1", "one")
    assert score.metrics["route_completion"] == 100.0
    assert score.metrics["driven_km"] == pytest.approx(0.105, abs=1e-3)
    assert score.metrics["duration_s"] == pytest.approx(10.5)
    for name in (
        "driving_score",
        "fpbr",
        "fpbr_habit",
        "pmais3_mean",
        "min_pet_s",
        "forecast_ade_m",
    ):
        assert math.isnan(score.metrics[name]), name
    # A drive without a conflict counts as a calm one; it is not left out.
    assert score.metrics["min_ttc_s"] == 10.0
    assert score.metrics["short_ttc_drive"] == score.metrics["short_ttc_time_share"] == 0.0
    assert list(score.counts) == [spec.name for spec in computed_metrics(counts=True)]
    assert not any(score.counts.values())
    assert score.infractions == ()
    assert score.detail["protocol_version"] == VERSION == 2


def test_waiting_until_a_scenario_is_removed_is_a_failure(tmp_path):
    scene = clean()
    event = {"kind": "scenario_timeout", "source": "scenario", "actor": None, "tick": 60}
    scene.contacts.append(event | {"name": "ParkedObstacle_1"})
    score = score_episode(scene.write(tmp_path / "one"))
    assert not score.success
    assert score.status == "Failed - scenario timed out"
    assert score.counts["scenario_timeout"] == 1
    (said,) = score.infractions
    assert (said.kind, said.tick, said.time_s) == ("scenario_timeout", 60, pytest.approx(3.0))
    assert (said.x_m, said.y_m) == (pytest.approx(30.0, abs=0.01), 0.0)
    assert "ParkedObstacle_1" in said.message
    assert cause_of(score) == "did not get past the scenario in time at 3.0 s"


def test_short_times_to_collision_as_shares(tmp_path):
    """Behind a standing car from 45.2 m at 10 m/s; below 1.5 s for the last second of three."""
    scene = clean(4.0)
    scene.add("vehicle", straight(50.0, 0.0, 0.0, 0.0))
    scene.bodies[0] = ("vehicle", profile(0.0, 0.0, 0.0, [(0, 10), (4.0, 10)]))
    score = score_episode(scene.write(tmp_path / "one"))
    times = np.arange(81) * 0.05
    below = (45.2 - 10.0 * times) / 10.0 < 1.5
    assert score.metrics["min_ttc_s"] == pytest.approx(0.52, abs=2e-3)
    assert score.metrics["short_ttc_drive"] == 1.0
    assert score.metrics["short_ttc_time_share"] == pytest.approx(below.mean(), abs=0.013)


def test_a_run_pools_short_times_to_collision_over_driving_time(tmp_path):
    """A long stop adds no driving time, so it does not dilute the share."""
    calm, tight = clean(10.0), clean(4.0)
    tight.add("vehicle", straight(50.0, 0.0, 0.0, 0.0))
    calm.bodies[0] = ("vehicle", profile(0.0, 0.0, 0.0, [(0, 10), (4, 10), (4.5, 0), (10, 0)]))
    scores = tuple(
        score_episode(scene.write(tmp_path / name)) for name, scene in (("a", calm), ("b", tight))
    )
    moved = [one.detail["ttc"]["moving_s"] for one in scores]
    assert moved == pytest.approx([4.5, 4.0], abs=0.06)
    run = RunScore(name="r", protocol="jaywalk", agent="", suite="", expected=2, episodes=scores)
    found = aggregate(run, resamples=100).metrics["short_ttc_time_share"]
    share = scores[1].metrics["short_ttc_time_share"]
    assert scores[0].metrics["short_ttc_time_share"] == 0.0
    assert found.value == pytest.approx(share * moved[1] / sum(moved))


def test_an_ego_that_never_drove_has_no_time_to_collision(tmp_path):
    scene = clean(2.0)
    scene.bodies[0] = ("vehicle", straight(0.0, 0.0, 0.0, 0.0))
    score = score_episode(scene.write(tmp_path / "one"))
    for name in ("min_ttc_s", "short_ttc_drive", "short_ttc_time_share"):
        assert math.isnan(score.metrics[name]), name


def test_an_unfinished_route_fails_with_its_cause(tmp_path):
    scene = clean(12.0)
    scene.bodies[0] = ("vehicle", profile(0.0, 0.0, 0.0, [(0, 10), (5, 10), (6, 0), (12, 0)]))
    scene.episode["end_reason"] = "blocked"
    score = score_episode(scene.write(tmp_path / "one"))
    assert not score.success
    assert score.metrics["route_completion"] == pytest.approx(55.0, abs=0.5)
    (said,) = score.infractions
    assert said.kind == "route_incomplete"
    assert said.message == "Route driven to 55.0 % (blocked); stood for the last 6 s"
    assert score.status == "Failed - route not completed (55.0 %)"


def test_a_hit_is_not_also_a_danger(tmp_path):
    scene = clean()
    # Crosses 0.4 s before the ego comes; the contact is added by hand.
    scene.add("walker", straight(50.2, 1.2 - 1.5 * 4.4, 90.0, 1.5))
    without = score_episode(scene.write(tmp_path / "one"))
    assert (without.counts["endangered"], without.counts["collisions_person"]) == (1, 0)
    assert without.status == "Failed - endangered somebody"
    scene.contacts.append(
        {
            "tick": 96,
            "end_tick": 99,
            "other": 1,
            "other_type_id": "walker.pedestrian.0001",
            "x_m": 50.0,
            "y_m": 0.5,
            "speed_mps": 10.0,
            "other_speed_mps": 1.5,
            "closing_mps": 10.0,
            "normal_x": -1.0,
            "normal_y": 0.0,
        }
    )
    score = score_episode(scene.write(tmp_path / "two"))
    assert (score.counts["endangered"], score.counts["collisions_person"]) == (0, 1)
    assert score.metrics["pmais3_mean"] == pytest.approx(serious_injury_risk(10.0))
    assert score.metrics["collisions_per_km"] == pytest.approx(1 / 0.105, rel=0.01)
    assert score.status == "Failed - hit a person"
    (said,) = score.infractions
    assert said.message == "Hit person 1 (walker.pedestrian.0001) at 10.0 m/s"
    assert (said.tick, said.other, said.x_m) == (96, 1, 50.0)


def test_an_agent_failure_fails(tmp_path):
    scene = clean()
    scene.episode["failure"] = "Traceback ...\n  File x\nValueError: no plan\n"
    score = score_episode(scene.write(tmp_path / "one"))
    assert (score.success, score.failure) == (False, "ValueError: no plan")
    assert score.infractions[0].message == "Agent failed: ValueError: no plan"
    scene = clean()
    scene.contacts.append({"tick": 4, "kind": "agent_failure", "source": "runner", "name": "died"})
    assert score_episode(scene.write(tmp_path / "two")).failure == "died"


def test_without_a_route_or_an_ego_there_is_no_success(tmp_path):
    scene = clean()
    scene.route = ()
    score = score_episode(scene.write(tmp_path / "one"))
    assert score.status == "Failed - no route known"
    assert math.isnan(score.metrics["route_completion"])
    scene.episode["ego_actor"] = None
    score = score_episode(scene.write(tmp_path / "two"))
    assert score.status == "Failed - no ego in the record"
    assert not score.success


def test_a_minute_with_sixty_actors_is_scored_alike_twice(tmp_path):
    write_episode(tmp_path / "big", ticks=1200, vehicles=30, walkers=30)
    record = jaywalk.record.open(tmp_path / "big")
    first, again = score_episode(record), score_episode(record)
    np.testing.assert_equal(dict(again.metrics), dict(first.metrics))
    assert again.infractions == first.infractions


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.2])
def test_the_shortest_records_are_scored(tmp_path, seconds):
    scene = clean(seconds)
    scene.add("walker", straight(20.0, 0.0, 90.0, 1.0))
    score = score_episode(scene.write(tmp_path / "one"))
    assert not score.success
    assert score.metrics["duration_s"] == pytest.approx(seconds)


def test_bodies_that_come_and_go_are_scored(tmp_path):
    scene = clean()
    scene.life[0] = (0.5, 9.0)  # the ego itself
    scene.add("walker", straight(50.2, 1.2 - 1.5 * 4.4, 90.0, 1.5))
    scene.life[1] = (4.0, 4.3)  # gone before anything happens
    scene.add("vehicle", straight(30.0, 3.5, 0.0, 5.0))
    scene.life[2] = (3.0, 10.5)
    score = score_episode(scene.write(tmp_path / "one"))
    assert score.status.startswith("Failed - route not completed")
    assert score.metrics["driven_km"] == pytest.approx(0.085, abs=1e-3)


def test_an_ego_without_a_box_and_lost_ticks_are_scored(tmp_path):
    scene = clean()
    scene.half[0] = (None, None, None)
    score = score_episode(scene.write(tmp_path / "one"))
    assert score.metrics["route_completion"] == 100.0
    scene = clean()
    scene.lost = set(range(40, 47)) | {100}
    score = score_episode(scene.write(tmp_path / "two"))
    assert score.success
    assert score.metrics["uncomfortable_share"] == 0.0


def test_every_cause_can_be_read_in_the_status(tmp_path):
    scene = clean()
    scene.add_light(30.0, 0.0, 0.0, [(0.0, 0)])
    scene.add_stop_sign(60.0, 0.0, 0.0)
    score = score_episode(scene.write(tmp_path / "one"))
    assert score.status == "Failed - ran a red light, passed a stop sign"
    assert [event.kind for event in score.infractions] == ["red_light", "stop"]
    assert (score.counts["red_light"], score.counts["stop"]) == (1, 1)
