"""Result files of an entry, field by field: one tampered file for each rule."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import result_files as make

from jaywalk.metrics.driving._checks import Flag
from jaywalk.metrics.driving.export import checkpoint_json
from jaywalk.metrics.driving.results import INFRACTIONS, read_results
from jaywalk.metrics.generalization._result_schema import check_schema

NAME = "1/Base_Wall_0095.json"


def check(folder: Path) -> tuple[list[str], list[Flag]]:
    return check_schema(folder, read_results(folder))


def changed(field: str, **given: Any) -> dict[str, Any]:
    """A whole record in which keys of one table are replaced."""
    one = make.record(95)
    one[field] |= given
    return one


def without(*path: str) -> dict[str, Any]:
    """A whole record without one field."""
    one = make.record(95)
    table = one
    for key in path[:-1]:
        table = table[key]
    del table[path[-1]]
    return one


@pytest.mark.parametrize(
    ("record", "line"),
    [
        (without("infractions"), "infractions: expected an object of 12 lists (first: missing)"),
        (make.record(95) | {"infractions": []}, "expected an object of 12 lists (first: [])"),
        *[
            (without("infractions", key), f"infractions.{key}: expected a list of messages")
            for key in INFRACTIONS
        ],
        (changed("infractions", red_light=3), "infractions.red_light: expected a list of messages"),
        (changed("infractions", red_light=[3]), "expected a list of messages (first: [3])"),
        (changed("infractions", more=None), "infractions.a further key: expected a list"),
        (without("num_infractions"), "num_infractions: expected a whole number (first: missing)"),
        (make.record(95, num_infractions="0"), "expected a whole number (first: '0')"),
        (make.record(95, num_infractions=False), "expected a whole number (first: False)"),
        (make.record(95, status="Done"), "status: none that the evaluator writes (first: 'Done')"),
        (make.record(95, status="Failed - TickRuntime"), "status: none that the evaluator"),
        (make.record(95, status=["Perfect"]), "status: none that the evaluator writes"),
        (without("status"), "status: none that the evaluator writes (first: missing)"),
        (without("meta"), "meta.route_length: expected a finite number (first: missing)"),
        (without("meta", "duration_system"), "meta.duration_system: expected a finite number"),
        (changed("meta", duration_game=math.nan), "meta.duration_game: expected a finite"),
        (changed("meta", duration_game=math.inf), "expected a finite number (first: inf)"),
        (changed("meta", duration_game="40"), "expected a finite number (first: '40')"),
        (changed("meta", route_length=10**400), "meta.route_length: expected a finite number"),
        (make.record(95, scores=make.scores(150.0, 1.0)), "scores.score_route: expected a number"),
        (make.record(95, scores=make.scores(100.0, 1.5)), "scores.score_penalty: expected a"),
        (make.record(95, scores=make.scores(-1.0, -1.0)), "from 0 to 100 (first: -1.0)"),
        (changed("scores", score_composed=100.5), "scores.score_composed: expected a number"),
        (without("scores", "score_penalty"), "scores.score_penalty: expected a number from 0 to 1"),
        (changed("scores", score_composed=10**400), "scores.score_composed: expected a number"),
    ],
)
def test_a_broken_field_is_named_with_its_record(tmp_path, record, line):
    make.write(tmp_path / NAME, record)
    lines, flags = check(tmp_path)
    assert [one for one in lines if line in one and one.endswith(f": {NAME}")]
    assert flags == []


def test_one_line_a_rule_with_the_count_and_three_records(tmp_path):
    for number in range(95, 100):
        path = tmp_path / "1" / f"Base_Wall_{number:04d}.json"
        make.write(path, make.record(number, status=f"Odd {number}"))
    assert check(tmp_path)[0] == [
        "status: none that the evaluator writes (first: 'Odd 95'): 5 (1/Base_Wall_0095.json, "
        "1/Base_Wall_0096.json, 1/Base_Wall_0097.json, ...)"
    ]


@pytest.mark.parametrize(
    "status",
    [
        "Failed",
        "Failed - Agent timed out",
        "Failed - Agent deviated from the route",
        "Failed - Agent got blocked",
        "Failed - Agent crashed",
        "Failed - Simulation crashed",
        "Failed - Agent's sensors were invalid",
        "Failed - Agent couldn't be set up",
    ],
)
def test_statuses_of_the_evaluator(tmp_path, status):
    make.write(tmp_path / NAME, make.record(95, status=status, scores=make.scores(40.0, 1.0)))
    assert check(tmp_path) == ([], [])


@pytest.mark.parametrize(
    ("top", "kind", "words"),
    [
        ({"entry_status": "Finished", "eligible": True}, None, ""),
        ({"entry_status": "Started", "eligible": False}, None, ""),
        ({"entry_status": "Crashed", "eligible": False}, "aborted", "is Crashed"),
        ({"entry_status": "Rejected", "eligible": False}, "aborted", "is Rejected"),
        ({"entry_status": "Invalid", "eligible": False}, "aborted", "is Invalid"),
        ({"entry_status": "Done", "eligible": False}, "post_processed", "no evaluator writes"),
        ({"entry_status": ["x"], "eligible": False}, "post_processed", "no evaluator writes"),
        ({"entry_status": "Started", "eligible": True}, "post_processed", "contradicts"),
        ({"entry_status": "Finished", "eligible": False}, "post_processed", "contradicts"),
        ({"entry_status": "Finished"}, "post_processed", "contradicts"),
    ],
)
def test_what_a_file_says_of_its_run(tmp_path, top, kind, words):
    path = make.write(tmp_path / NAME, make.record(95))
    document = json.loads(path.read_text(encoding="utf-8")) | top
    path.write_text(json.dumps(document), encoding="utf-8")
    lines, flags = check(tmp_path)
    assert lines == []
    assert [flag.kind for flag in flags] == ([kind] if kind else [])
    assert all(words in flag.reason and flag.source == NAME for flag in flags)


@pytest.mark.parametrize("progress", [[0, 1], [1, 2], [1], None, "1", 1])
def test_progress_is_the_number_of_records(tmp_path, progress):
    path = make.write(tmp_path / NAME, make.record(95))
    document = json.loads(path.read_text(encoding="utf-8"))
    document["_checkpoint"]["progress"] = progress
    path.write_text(json.dumps(document), encoding="utf-8")
    lines, flags = check(tmp_path)
    assert lines == []
    assert [(flag.kind, flag.source) for flag in flags] == [("aborted", NAME)]


def test_means_of_the_file_follow_from_its_records(tmp_path):
    path = make.write(tmp_path / "Base_Wall_0095.json", make.record(95))
    document = json.loads(path.read_text(encoding="utf-8"))
    means = {"score_route": 100.0, "score_penalty": 0.65, "score_composed": 65.0}
    document["_checkpoint"]["global_record"] = {"scores_mean": means}
    path.write_text(json.dumps(document), encoding="utf-8")
    lines, _ = check(tmp_path)
    assert lines == [
        f"global_record.scores_mean.{key}: does not follow from the records (first: {value}): "
        "Base_Wall_0095.json"
        for key, value in (("score_penalty", 0.65), ("score_composed", 65.0))
    ]


def test_a_field_that_is_written_twice(tmp_path):
    path = make.write(tmp_path / "Base_Wall_0095.json", make.record(95))
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"status"', '"status": "Failed", "status"'), encoding="utf-8")
    assert check(tmp_path)[0] == ["a field is written twice (first: 'status'): Base_Wall_0095.json"]


def test_a_negative_duration_is_a_suspicion(tmp_path):
    make.write(tmp_path / NAME, changed("meta", duration_game=-1.0))
    lines, flags = check(tmp_path)
    assert lines == []
    assert [(flag.kind, flag.reason) for flag in flags] == [
        ("post_processed", "a length or duration below 0")
    ]


def test_files_of_several_records_and_files_that_are_none(tmp_path):
    make.write(tmp_path / "1" / "all.json", make.record(1), make.record(2, status="Odd"))
    (tmp_path / "1" / "broken.json").write_text("{", encoding="utf-8")
    (tmp_path / "1" / "list.json").write_text("[]", encoding="utf-8")
    (tmp_path / "1" / "empty.json").write_text('{"_checkpoint": {"records": []}}', encoding="utf-8")
    (tmp_path / "1" / "no.json").write_text('{"_checkpoint": {"records": [3]}}', encoding="utf-8")
    lines, flags = check(tmp_path)
    assert lines == ["status: none that the evaluator writes (first: 'Odd'): 1/all.json#1"]
    assert [flag.source for flag in flags] == ["1/no.json"]  # it has no progress


def test_our_own_files_have_every_field(tmp_path):
    path = tmp_path / NAME
    path.parent.mkdir()
    path.write_text(json.dumps(checkpoint_json([make.record(95)], 1)), encoding="utf-8")
    assert check(tmp_path) == ([], [])
