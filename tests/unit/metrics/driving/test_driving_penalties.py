"""Penalties of every protocol, by hand."""

from __future__ import annotations

import pytest
import result_files as make

from jaywalk.core.errors import UsageError
from jaywalk.metrics.driving import penalties
from jaywalk.metrics.driving.results import read_results

EVERYTHING = {
    "collisions_pedestrian": [make.hit("walker.pedestrian.0001")],
    "collisions_vehicle": [make.hit(), make.hit(number=8)],
    "collisions_layout": [make.hit("static.pole")],
    "red_light": ["Agent ran a red light 5 at (x=1, y=2, z=3)"],
    "stop_infraction": ["Agent ran a stop with id=5 at (x=1, y=2, z=3)"],
    "scenario_timeouts": ["Agent timed out a scenario"],
    "yield_emergency_vehicle_infractions": ["Agent failed to yield to an emergency vehicle"],
    "min_speed_infractions": [make.slow(40.0), make.slow(130.0)],
    "outside_route_lanes": [make.off_lane(10.0)],
    "route_timeout": ["Route timeout."],
}
FIRST = 0.5 * 0.6**2 * 0.65 * 0.7 * 0.8 * 0.9
SECOND = FIRST * 0.7 * 0.7
ADDED = 1.0 + 2 * 0.7 + 0.6 + 0.4 + 0.25 + 0.4 + 0.4 + 0.4 * 0.6


def read_one(tmp_path, **change):
    make.write(tmp_path / "a.json", make.record(1, **change))
    return read_results(tmp_path).records[0]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("leaderboard-1.0", FIRST),
        ("leaderboard-2.0", SECOND * (1 - 0.3 * 0.6)),
        ("leaderboard-2.1", 0.9 / (1 + ADDED)),
        ("bench2drive", SECOND),
        ("fail2drive", SECOND * (1 - 0.3 * 0.6)),
    ],
)
def test_infraction_scores_by_hand(tmp_path, name, expected):
    record = read_one(tmp_path, infractions=EVERYTHING)
    derived = penalties.infraction_score(penalties.PROTOCOLS[name], record)
    assert derived.value == pytest.approx(expected, rel=1e-12)
    assert derived.unparsed == ()


@pytest.mark.parametrize("name", list(penalties.PROTOCOLS))
def test_no_infraction_no_penalty(tmp_path, name):
    derived = penalties.infraction_score(penalties.PROTOCOLS[name], read_one(tmp_path))
    assert derived.value == 1.0


def test_driving_score_is_never_negative():
    assert penalties.driving_score(80.0, 0.5) == 40.0
    assert penalties.driving_score(80.0, -0.1) == 0.0


def test_agreeing_records_are_not_listed(tmp_path):
    # The evaluator multiplies by the unrounded lane percentage; the text has two decimals.
    lists = {"outside_route_lanes": [make.off_lane(4.16)]}
    record = read_one(tmp_path, infractions=lists, scores=make.scores(100, 1 - 0.0416449))
    assert penalties.disagreements(penalties.PROTOCOLS["fail2drive"], [record]) == []


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"scores": make.scores(100, 0.6)}, ["penalty"]),
        ({"scores": {"score_route": 100, "score_composed": 100}}, ["penalty", "driving_score"]),
        (
            {"scores": {"score_route": 50, "score_penalty": 1, "score_composed": 51}},
            ["driving_score"],
        ),
        ({"num_infractions": 3}, ["num_infractions"]),
        ({"infractions": {"min_speed_infractions": ["too slow"]}}, ["message"]),
    ],
)
def test_disagreements_are_listed(tmp_path, change, what):
    record = read_one(tmp_path, **change)
    found = penalties.disagreements(penalties.PROTOCOLS["leaderboard-2.0"], [record])
    assert [entry.what for entry in found] == what


SUCCESS = [
    ({}, True, True),
    ({"infractions": {"min_speed_infractions": [make.slow(50)]}}, True, True),
    ({"infractions": {"outside_route_lanes": [make.off_lane(5)]}}, False, True),
    ({"infractions": {"red_light": ["Agent ran a red light"]}}, False, False),
    ({"status": "Failed", "scores": make.scores(19, 1)}, False, True),
]


@pytest.mark.parametrize(("change", "bench2drive", "fail2drive"), SUCCESS)
def test_success_rules(tmp_path, change, bench2drive, fail2drive):
    record = read_one(tmp_path, **change)
    assert penalties.is_success(penalties.PROTOCOLS["bench2drive"], record) is bench2drive
    assert penalties.is_success(penalties.PROTOCOLS["fail2drive"], record) is fail2drive


def test_completion_can_be_required(tmp_path):
    rules = penalties.PROTOCOLS["fail2drive"]
    for change in SUCCESS[-1][0], {"status": "Completed", "scores": make.scores(97, 1)}:
        record = read_one(tmp_path, **change)
        assert penalties.is_success(rules, record)
        assert not penalties.is_success(rules, record, requires_completion=True)


def test_unknown_names_are_refused(tmp_path):
    with pytest.raises(UsageError, match="bench2drive"):
        penalties.protocol_named("bench2drove")
    with pytest.raises(UsageError):
        penalties.is_success(penalties.PROTOCOLS["leaderboard-2.0"], read_one(tmp_path))
