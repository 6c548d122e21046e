"""Whole records under each public protocol: ends, statuses, scores, and the sums of a run."""

import math
import sqlite3

import numpy as np
import pytest
from driving_scenes import LANE_Y, cruise, stand, write_drive

import jaywalk.record
from jaywalk.core.errors import DataError, UsageError
from jaywalk.metrics.driving.aggregate import aggregate, as_json
from jaywalk.metrics.driving.penalties import PROTOCOLS
from jaywalk.metrics.driving.protocols import score_episode
from jaywalk.metrics.driving.run_score import score_run
from jaywalk.metrics.spec import PROTOCOL_SPECS

FULL = cruise(0.0, 101.5, 8.0)
PUBLIC = list(PROTOCOLS)


@pytest.mark.parametrize("protocol", PUBLIC)
def test_a_faultless_route(tmp_path, protocol):
    score = score_episode(write_drive(tmp_path, FULL), protocol)
    # Leaderboard 1.0 knows no better word, and Bench2Drive writes a line for every section.
    simple = protocol in ("leaderboard-1.0", "bench2drive")
    assert score.status == ("Completed" if simple else "Perfect")
    assert score.success
    assert score.metrics["driving_score"] == 100.0
    assert score.metrics["route_completion"] == 100.0
    assert score.metrics["driven_km"] == pytest.approx(0.1)
    assert score.counts["min_speed_infractions"] == (18 if protocol == "bench2drive" else 0)
    assert sum(score.counts.values()) == score.counts["min_speed_infractions"]


ONE_HIT = [{"tick": 40, "other": 10, "other_type_id": "walker.pedestrian.0001"}]


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [
        # A person hit, and five sections (the last twice) at 8 of 10 m/s.
        ("leaderboard-1.0", 0.5),
        ("leaderboard-2.0", 0.5 * 0.94**5),
        ("leaderboard-2.1", 1 / (1 + 1.0 + 5 * 0.4 * 0.2)),
        ("bench2drive", 0.5),
        ("fail2drive", 0.5 * 0.94**5),
    ],
)
def test_prices(tmp_path, protocol, expected):
    record = write_drive(tmp_path, FULL, traffic_mps=10.0, contacts=ONE_HIT, others=[{}])
    score = score_episode(record, protocol)
    assert score.metrics["infraction_penalty"] == pytest.approx(expected, abs=5e-7)
    assert score.metrics["driving_score"] == pytest.approx(100 * expected, abs=5e-7)
    assert (score.status, score.success) == ("Completed", False)


def test_scores_are_rounded_but_not_by_leaderboard_1(tmp_path):
    places = FULL.copy()
    places[(places[:, 0] > 20) & (places[:, 0] < 53.5), 1] = 9.0
    record = write_drive(tmp_path, places)
    first = score_episode(record, "leaderboard-1.0").metrics["infraction_penalty"]
    second = score_episode(record, "leaderboard-2.0").metrics["infraction_penalty"]
    assert second == round(second, 6)
    assert first != round(first, 6)
    assert first == pytest.approx(second, abs=1e-6)


def standing(seconds, first=60.0):
    return np.vstack([cruise(0.0, first, 4.0, 0.5), stand((first, LANE_Y, 0.0), seconds, 0.5)])


@pytest.mark.parametrize(
    ("protocol", "status", "seconds"),
    [
        ("leaderboard-1.0", "Failed - Agent timed out", 85.5),  # its time is out before
        ("leaderboard-2.0", "Failed - Agent got blocked", 195.5),
        ("bench2drive", "Failed - Agent got blocked", 75.5),
        ("fail2drive", "Failed - Agent got blocked", 195.5),
    ],
)
def test_each_protocol_ends_a_route_by_its_own_rule(tmp_path, protocol, status, seconds):
    record = write_drive(tmp_path, standing(400.0), step_s=0.5, limit_kmh=50.0)
    score = score_episode(record, protocol)
    assert score.status == status
    # Stands from 15 s on; the last tick itself is part of the duration.
    assert score.metrics["duration_s"] == pytest.approx(seconds + 0.5)
    assert not score.detail["ends_early"]
    assert not score.success or protocol == "fail2drive"


def test_what_happens_after_the_end_does_not_count(tmp_path):
    late = [{"tick": len(FULL) - 1, "other": 10}]
    places = np.vstack([FULL, cruise(101.5, 120.0, 8.0)])
    after = [{"tick": len(FULL) + 10, "other": 10}]
    inside = score_episode(
        write_drive(
            tmp_path / "a",
            FULL[: np.argmax(FULL[:, 0] > 100.0) + 2],
            others=[{}],
            contacts=[{"tick": int(np.argmax(FULL[:, 0] > 100.0)) + 1, "other": 10}],
        ),
        "leaderboard-2.0",
    )
    assert (
        inside.counts["collisions_vehicle"] == 1
    )  # the tick on which success is told still counts
    for k, contacts in enumerate((late, after)):
        record = write_drive(tmp_path / f"b{k}", places, contacts=contacts, others=[{}])
        assert score_episode(record, "leaderboard-2.0").status == "Perfect"


def test_deviation_ends_the_route(tmp_path):
    places = cruise(0.0, 90.0, 8.0)
    places[100:, 1] += 40.0
    score = score_episode(write_drive(tmp_path, places), "leaderboard-2.0")
    assert score.status == "Failed - Agent deviated from the route"
    assert score.counts["route_dev"] == 1
    assert score.metrics["route_completion"] == 39.0 or score.metrics["route_completion"] == 40.0
    assert score.infractions[0].tick == 100


def test_bench2drive_breaks_off_after_4000_ticks(tmp_path):
    slow = np.linspace(0.0, 60.0, 4001)
    places = np.column_stack([slow, np.full(4001, LANE_Y), np.zeros(4001)])
    cut = score_episode(write_drive(tmp_path / "a", places), "bench2drive")
    assert cut.status == "Failed - TickRuntime"
    assert cut.detail["end_tick"] == 3999
    kept = score_episode(write_drive(tmp_path / "b", places[:4000]), "bench2drive")
    assert (kept.status, kept.detail["ends_early"]) == ("Failed", True)


@pytest.mark.parametrize(
    ("episode", "status"),
    [
        ({"failure": "Traceback\nValueError: x", "end_reason": "agent failed"}, "Agent crashed"),
        ({"failure": "boom", "end_reason": "agent failed in setup"}, "Agent couldn't be set up"),
        ({"end_reason": "server gone"}, "Simulation crashed"),
        ({"end_reason": "watchdog"}, ""),
    ],
)
def test_records_that_were_broken_off(tmp_path, episode, status):
    record = write_drive(tmp_path, cruise(0.0, 50.5, 8.0), traffic_mps=4.0, **episode)
    score = score_episode(record, "leaderboard-2.0")
    assert score.status == (f"Failed - {status}" if status else "Failed")
    assert score.metrics["route_completion"] == 50.0
    assert not score.success
    if "failure" in episode:
        assert score.failure in ("ValueError: x", "boom")


def test_the_last_section_is_written_once_when_broken_off(tmp_path):
    record = write_drive(tmp_path, cruise(0.0, 98.5, 8.0), traffic_mps=10.0, failure="x")
    assert score_episode(record, "leaderboard-2.0").counts["min_speed_infractions"] == 4


def test_an_agent_that_never_drove(tmp_path):
    record = write_drive(tmp_path, FULL[:2], ego_actor=None, failure="no model")
    score = score_episode(record, "fail2drive")
    assert score.metrics["driving_score"] == 0.0
    with pytest.raises(DataError, match="no ego"):
        score_episode(write_drive(tmp_path / "b", FULL[:2], ego_actor=None), "fail2drive")


def test_unknown_protocols_are_told(tmp_path):
    record = write_drive(tmp_path, FULL)
    with pytest.raises(UsageError, match=r"leaderboard-2\.0"):
        score_episode(record, "leaderboard-3.0")
    assert {spec.name for spec in PROTOCOL_SPECS} == {"jaywalk", *PUBLIC}


def test_a_minute_with_sixty_actors_is_scored(tmp_path):
    places = np.vstack([cruise(0.0, 95.0, 2.0), stand((95.0, LANE_Y, 0.0), 12.5)])
    assert len(places) == 1200
    crowd = [{"places": places + np.array([0.0, 20.0 + k, 0.0])} for k in range(60)]
    record = write_drive(tmp_path, places, others=crowd, traffic_mps=3.0)
    first = score_episode(record, "leaderboard-2.0")
    assert score_episode(record, "leaderboard-2.0") == first
    assert {one.kind for one in first.infractions} == {"min_speed_infractions"}
    assert first.infractions[0].value == pytest.approx(100.0 * 2.0 / 3.0, abs=0.01)


# Runs ------------------------------------------------------------------------------------------


def announce(folder, *names):
    with sqlite3.connect(folder / "run.sqlite") as base:
        base.execute("CREATE TABLE episodes (episode_id TEXT, state TEXT, record_hash TEXT)")
        rows = [(name,) for name in names]
        base.executemany("INSERT INTO episodes VALUES (?, 'done', '')", rows)
    base.close()


@pytest.fixture
def run(tmp_path):
    """Two scenarios with two seeds each; one of them hits a car, one is not there."""
    folder = tmp_path / "my-run"
    for name, scenario, seed, hits in (
        ("a-s1", "a", 1, []),
        ("a-s2", "a", 2, []),
        ("b-s1", "b", 1, [{"tick": 9, "other": 10}]),
    ):
        write_drive(
            folder, FULL, episode_id=name, scenario=scenario, seed=seed, contacts=hits, others=[{}]
        )
    announce(folder, "a-s1", "a-s2", "b-s1", "b-s2")
    return folder


def test_missing_episodes_count_as_zero_where_the_protocol_says_so(run):
    score = score_run(run, "leaderboard-2.0")
    assert (score.name, score.agent, score.suite) == ("my-run", "cruise", "jaywalk/hand-v1")
    assert (score.expected, score.missing, score.is_complete) == (4, ("b-s2",), False)
    found = aggregate(score, resamples=200)
    assert found.metrics["driving_score"].value == pytest.approx((100 + 100 + 60 + 0) / 4)
    assert found.metrics["driving_score"].n == 4
    assert found.success.value == 50.0
    left_out = aggregate(score_run(run, "fail2drive"), resamples=200)
    assert left_out.metrics["driving_score"].value == pytest.approx(260 / 3)
    assert left_out.success.value == pytest.approx(200 / 3)


def test_the_json_form(run):
    value = as_json(aggregate(score_run(run, "leaderboard-2.0"), resamples=200))
    assert value["status"] == "INCOMPLETE"
    assert (value["n"], value["expected"], value["missing"]) == (3, 4, ["b-s2"])
    mean = value["metrics"]["driving_score"]
    assert set(mean) >= {"value", "low", "high", "n"}
    assert mean["low"] <= mean["value"] <= mean["high"]
    assert value["success"]["sr"] == 50.0
    rate = value["rates_per_km"]["collisions_vehicle"]
    assert rate["events"] == 1
    assert rate["value"] == pytest.approx(1 / 0.3)
    assert rate["low"] < rate["value"] < rate["high"]
    assert [row["scenario"] for row in value["per_scenario"]] == ["a", "b"]
    hit = value["episodes"][2]["infractions"][0]
    assert (hit["kind"], hit["tick"], hit["factor"]) == ("collisions_vehicle", 9, 0.6)
    assert value["episodes"][0]["folder"] == "episodes/a-s1"


def test_without_a_list_the_routes_of_the_files_are_expected(tmp_path):
    write_drive(tmp_path, FULL)
    score = score_run(tmp_path, "leaderboard-2.0")
    assert score.is_complete
    assert score.expected == 1


def test_records_that_cannot_be_scored_are_missing_not_dropped(run):
    (run / "episodes" / "a-s2" / "states.parquet").unlink()
    score = score_run(run, "leaderboard-2.0")
    assert score.missing == ("a-s2", "b-s2")
    assert any("states.parquet" in line for line in score.warnings)


def test_folders_without_records(tmp_path):
    with pytest.raises(DataError, match="no record"):
        score_run(tmp_path, "leaderboard-2.0")
    with pytest.raises(UsageError, match="not a folder"):
        score_run(tmp_path / "nowhere", "leaderboard-2.0")
    write_drive(tmp_path / "one", FULL[:20])
    write_drive(tmp_path / "two", FULL[:20])
    with pytest.raises(UsageError, match="several runs"):
        score_run(tmp_path, "leaderboard-2.0")


def test_all_announced_and_none_there_is_incomplete(tmp_path):
    announce(tmp_path, "a-s1")
    found = aggregate(score_run(tmp_path, "leaderboard-2.0"))
    assert found.success.value == 0.0
    assert as_json(found)["status"] == "INCOMPLETE"
    own = aggregate(score_run(tmp_path, "fail2drive"))
    assert math.isnan(own.success.value)


def test_scoring_does_not_change_a_record(tmp_path):
    record = write_drive(tmp_path, FULL)
    before = jaywalk.record.record_hash(record.folder)
    score_episode(record, "leaderboard-2.0")
    assert jaywalk.record.record_hash(record.folder) == before
