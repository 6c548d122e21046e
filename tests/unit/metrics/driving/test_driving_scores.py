"""Aggregates of each protocol on hand-made files, and the command around them."""

from __future__ import annotations

import json
import math

import pytest
import result_files as make
from typer.testing import CliRunner

from jaywalk.cli.main import app
from jaywalk.core.errors import DataError, UsageError
from jaywalk.metrics.driving import bench2drive
from jaywalk.metrics.driving.penalties import PROTOCOLS
from jaywalk.metrics.driving.results import read_results
from jaywalk.metrics.driving.results_score import score_leaderboard, score_results
from jaywalk.metrics.generalization import _public as fail2drive
from jaywalk.metrics.generalization import gap
from jaywalk.metrics.generalization.split import CATEGORIES, published_split

HIT = {"collisions_vehicle": [make.hit()]}


def fill(folder, seeds=("1",), **special):
    """Perfect files of the whole split; ``special`` replaces the record of a route name."""
    for seed in seeds:
        for number, route in published_split().items():
            made = special.get(route.name, make.record(number))
            if made is not None:
                make.write(folder / seed / f"{route.name}.json", made)
    return folder


def test_the_split_has_a_hundred_pairs():
    split = published_split()
    assert len(split) == 200
    assert all(split[n].class_name == split[n + 1000].class_name for n in range(100))
    sizes = {
        name: sum(route.class_name in classes for route in split.values())
        for name, classes in CATEGORIES.items()
    }
    assert sizes == {"Visual-lon": 60, "Visual-lat": 50, "Behavior": 40, "Robustness": 50}


def test_fail2drive_by_hand(tmp_path):
    crash = make.record(1095, infractions=HIT, scores=make.scores(100, 0.6))
    fill(tmp_path / "mine", Generalization_Wall_1095=crash, Base_Wall_0099=None)
    got = score_results(tmp_path / "mine", "fail2drive")
    assert (got["method"], got["n_records"], got["missing"]) == (
        "mine",
        199,
        ["1/Base_Wall_0099"],
    )
    assert got["base"] == {
        "ds": 100.0,
        "ds_no_min_speed": 100.0,
        "sr": 100.0,
        "hm": pytest.approx(100.0),
        "n": 99,
    }
    assert got["headline"] == "all"  # result files do not show which pairs are strong
    assert got["protocol_version"] == 2
    assert got["generalization"]["ds"] == pytest.approx(99.6)
    assert got["generalization"]["sr"] == pytest.approx(99.0)
    hm = 2 * 99.6 * 99 / (99.6 + 99)
    assert got["generalization"]["hm"] == pytest.approx(hm)
    assert got["change_percent"]["hm"] == pytest.approx(hm - 100)
    behaviour = got["categories"]["Behavior"]
    assert behaviour["generalization_hm"] == pytest.approx(2 * 98 * 95 / (98 + 95))
    assert got["classes"]["Wall"]["generalization_hm"] == pytest.approx(2 * 92 * 80 / 172)
    assert list(got["categories"]) == list(CATEGORIES)
    assert any("INCOMPLETE" in line for line in got["warnings"])
    low, high = got["intervals"]["generalization"]["sr"]
    assert low < 99.0 < high


def test_the_score_without_the_minimum_speed_factor_stands_beside_the_full_one(tmp_path):
    slow = {"min_speed_infractions": [make.slow(40.0), make.slow(130.0)]}
    crawl = make.record(1, infractions=slow, scores=make.scores(100, 0.82))
    fill(tmp_path / "mine", Base_BadParking_0001=crawl)
    got = score_results(tmp_path / "mine", "fail2drive")
    assert got["base"]["ds"] == pytest.approx(100.0 - 18.0 / 100)
    assert got["base"]["ds_no_min_speed"] == pytest.approx(100.0)
    for name, full in (("leaderboard-2.0", 99.91), ("leaderboard-2.1", 100 - 0.5 * 0.24 / 1.24)):
        one = score_results(tmp_path / "mine", name)
        assert one["ds"] == pytest.approx(full, abs=1e-3)
        assert one["ds_no_min_speed"] == pytest.approx(100.0)
    first = score_results(tmp_path / "mine", "leaderboard-1.0")
    assert first["ds_no_min_speed"] is None


def test_weak_pairs_are_left_out_of_the_headline_of_results(tmp_path):
    crash = make.record(1095, infractions=HIT, scores=make.scores(100, 0.6))
    fill(tmp_path / "mine", Generalization_Wall_1095=crash)
    results = read_results(tmp_path / "mine")
    got = fail2drive.score(results, weak={("0095", "1")}, resamples=100)
    assert (got["headline"], got["generalization"]["ds"]) == ("strong", 100.0)
    assert got["generalization"]["n"] == 99
    assert got["all_pairs"]["generalization"]["ds"] == pytest.approx(99.6)


def test_parser_rounding_comes_before_the_harmonic_mean(tmp_path):
    slow = make.record(1, scores=make.scores(100, 0.93))
    fill(tmp_path / "mine", Base_BadParking_0001=slow, Base_BadParking_0002=None)
    free, rounded = (
        score_results(tmp_path / "mine", "fail2drive", rounding=mode)["base"]
        for mode in ("none", "parser")
    )
    assert free["ds"] == pytest.approx(100 - 7 / 99)
    assert rounded["ds"] == 99.9
    assert rounded["hm"] == pytest.approx(2 * 99.9 * 100 / 199.9)


def test_seeds_are_pooled_and_missing_ones_named(tmp_path):
    fill(tmp_path / "mine", seeds=("seed1", "seed2"))
    (tmp_path / "mine" / "seed2" / "Base_Wall_0095.json").unlink()
    got = score_results(tmp_path / "mine", "fail2drive")
    assert (got["seeds"], got["n_records"]) == (["seed1", "seed2"], 399)
    assert got["missing"] == ["seed2/Base_Wall_0095"]


def test_score_lists_what_the_protocol_ignores(tmp_path):
    folder = fill(
        tmp_path / "mine",
        Base_Wall_0095=make.record(95, status="Failed - Agent couldn't be set up"),
    )
    make.write(folder / "1" / "Base_Wall_0777.json", make.record(777))
    make.write(folder / "1" / "0096_res.json", make.record(96))
    got = score_results(folder, "fail2drive")
    text = "\n".join(got["warnings"])
    assert got["missing"] == ["1/Base_Wall_0095"]
    assert "set up" in text
    assert "0777" in text
    assert "second record of the same route" in text
    assert got["base"]["n"] == 99


def test_fail2drive_helpers():
    assert gap.harmonic_mean(0.0, 5.0) == 0.0
    assert math.isnan(gap.harmonic_mean(math.nan, 5.0))
    assert math.isnan(gap.change_percent(0.0, 5.0))


def bench_folder(tmp_path):
    speeds = {"min_speed_infractions": [make.slow(50.0), make.slow(150.0), make.slow(2000.0)]}
    one = make.record(11, infractions=speeds)
    two = make.record(
        12, infractions={"red_light": ["Agent ran a red light 3"]}, scores=make.scores(100, 0.7)
    )
    still = make.record(13, infractions={"min_speed_infractions": [make.slow(5000.0)]})
    make.write(tmp_path / "mine" / "a.json", one, two, still)
    routes = tmp_path / "routes.xml"
    kinds = {11: "Accident", 12: "T_Junction", 13: "InvadingTurn", 14: "Accident"}
    lines = [
        f'<route id="{n}" town="T"><scenarios><scenario name="a" type="{k}"/></scenarios></route>'
        for n, k in kinds.items()
    ]
    routes.write_text(f"<routes>{''.join(lines)}</routes>")
    return tmp_path / "mine", routes


def test_bench2drive_without_routes_divides_by_220(tmp_path):
    got = score_results(bench_folder(tmp_path)[0], "bench2drive")
    assert got["ds"] == pytest.approx(270 / 220)
    assert got["sr"] == pytest.approx(100 * 2 / 220)
    assert got["efficiency"] == 100.0
    assert got["abilities"] is None
    assert got["missing"]


def test_bench2drive_with_routes(tmp_path):
    folder, routes = bench_folder(tmp_path)
    got = score_results(folder, "bench2drive", routes=routes)
    assert (got["n"], got["n_records"], got["missing"]) == (4, 3, ["14 Accident"])
    assert got["ds"] == pytest.approx(270 / 4)
    abilities = got["abilities"]
    assert (abilities["Overtaking"], abilities["Traffic_Signs"], abilities["Give_Way"]) == (
        100.0,
        0.0,
        100.0,
    )
    assert abilities["Merging"] is None
    assert any("Traffic_Signs is exact" in line for line in got["warnings"])
    assert "only 4 routes, fewer than 20: intervals are widened" in got["warnings"]


def test_abilities_have_the_published_sizes():
    sizes = {name: len(types) for name, types in bench2drive.ABILITIES.items()}
    assert list(sizes.values()) == [9, 16, 12, 2, 19]


@pytest.mark.parametrize(
    "text",
    [
        "no xml",
        "<routes/>",
        '<routes><route id="x"/></routes>',
        '<!DOCTYPE r [<!ENTITY a "b">]><routes><route id="1">&a;</route></routes>',
    ],
)
def test_bad_route_files_are_refused(tmp_path, text):
    (tmp_path / "r.xml").write_text(text)
    with pytest.raises(DataError):
        bench2drive.read_routes(tmp_path / "r.xml")


def test_leaderboard_counts_announced_routes_as_zero(tmp_path):
    hit = make.record(1, infractions=HIT, scores=make.scores(100, 0.6))
    make.write(tmp_path / "mine" / "a.json", hit, make.record(2), total=4)
    results = read_results(tmp_path / "mine")
    got = score_leaderboard(results, PROTOCOLS["leaderboard-2.0"], resamples=200)
    assert (got["ds"], got["rc"], got["n"]) == (pytest.approx(40.0), 50.0, 4)
    assert got["infractions"]["collisions_vehicle"]["per_km"] == pytest.approx(2.0)
    newer = score_leaderboard(results, PROTOCOLS["leaderboard-2.1"], resamples=200)
    assert newer["ds"] == pytest.approx((100 / 1.7 + 100) / 4)
    assert any("scored again" in line for line in newer["warnings"])


def test_the_command_prints_json_and_says_incomplete(tmp_path):
    fill(tmp_path / "mine", Base_Wall_0095=None)
    call = ["score", "--results", str(tmp_path / "mine"), "--protocol", "fail2drive"]
    done = CliRunner().invoke(app, [*call, "--json"])
    assert done.exit_code == 4
    fields = [
        *("protocol", "method", "n_records", "missing", "base", "generalization"),
        *("change_percent", "categories", "classes", "warnings"),
    ]
    assert set(fields) <= set(json.loads(done.stdout))
    table = CliRunner().invoke(app, call)
    heading = "half\tDS [95 %]\tDS without minimum speed\tSR [95 %]\tHM [95 %]\tn"
    assert table.stdout.splitlines()[0] == heading
    assert "under fail2drive version 2" in table.stderr
    assert table.stdout.splitlines()[1].startswith("base\t100.0 [")
    assert "INCOMPLETE" in table.stderr


@pytest.mark.parametrize("protocol", ["bench2drive", "leaderboard-1.0"])
def test_the_command_prints_every_protocol(tmp_path, protocol):
    folder, routes = bench_folder(tmp_path)
    options = ["--routes", str(routes)] if protocol == "bench2drive" else []
    done = CliRunner().invoke(
        app, ["score", "--results", str(folder), "--protocol", protocol, *options]
    )
    assert done.exit_code == (4 if options else 0)
    assert done.stdout.splitlines()[1].startswith("DS\t")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Give either"),
        (["my_run"], "is not a folder"),
        (["--results", "."], "needs a recorded run"),
        (["--results", ".", "--protocol", "nobody"], "Unknown protocol"),
        (["--results", ".", "--protocol", "bench2drive", "--rounding", "parser"], "belongs to"),
        (
            ["--results", ".", "--protocol", "leaderboard-2.0", "--success-requires-completion"],
            "no success rate",
        ),
    ],
)
def test_wrong_use_is_refused(arguments, message):
    done = CliRunner().invoke(app, ["score", *arguments])
    assert done.exception is not None
    assert message in str(done.exception)


def test_several_methods_need_a_choice(tmp_path):
    for method in ("A", "B"):
        make.write(tmp_path / method / "1" / "Base_Wall_0095.json", make.record(95))
    with pytest.raises(UsageError, match="A, B"):
        score_results(tmp_path, "fail2drive")
    assert score_results(tmp_path, "fail2drive", method="B")["method"] == "B"
    with pytest.raises(DataError):
        score_results(tmp_path, "fail2drive", method="C")
