"""Scores of pairs, cues and reactions, against hand-made drives and brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import score_cards as make
from scipy import stats

from jaywalk.metrics.generalization._cues import Thing, cue_table, what_changed
from jaywalk.metrics.generalization.drive_profile import ComparedStretch, Profile, excursions_of
from jaywalk.metrics.generalization.gap import PairedRow, gap_of, headline_gap
from jaywalk.metrics.generalization.run_pairs import (
    members_of,
    pair_scores,
    reaction_of,
    reaction_table,
)
from jaywalk.stats.intervals import rule_of_three

SIGN = "static.prop.trafficwarning"
DEBRIS = "static.prop.dirtdebris02"
CONE = "static.prop.constructioncone"


def row(pair: str, half: str, score: float, name: str = "Wall", seed: str = "1") -> PairedRow:
    return PairedRow(
        pair=pair, half=half, class_name=name, driving_score=score, success=score == 100, seed=seed
    )


def pairs(*scores: tuple[float, float], name: str = "Wall") -> list[PairedRow]:
    return [
        row(f"{name}{k}", half, score, name)
        for k, both in enumerate(scores)
        for half, score in zip(("base", "generalization"), both, strict=True)
    ]


def test_the_gap_of_pairs():
    got = gap_of(pairs((100, 50), (100, 100), (80, 60)), resamples=200)
    assert math.isnan(got["base"].pop("ds_no_min_speed"))
    assert got["base"] == {
        "ds": pytest.approx(280 / 3),
        "sr": pytest.approx(200 / 3),
        "hm": pytest.approx(77.778, abs=1e-3),
        "n": 3,
    }
    assert got["generalization"]["ds"] == pytest.approx(70.0)
    assert got["change_percent"]["ds"] == pytest.approx(-25.0)
    assert got["difference"]["ds"] == pytest.approx(70.0 - 280 / 3)
    assert got["categories"]["Behavior"]["change_percent"] == pytest.approx(
        got["classes"]["Wall"]["change_percent"]
    )
    assert got["pairs"] == {"n": 3, "unpaired": []}


def test_the_headline_is_over_strong_pairs_with_all_pairs_beside_it():
    rows = pairs((100, 50), (100, 100), (80, 60))
    strong = {("Wall0", "1"), ("Wall1", "1")}
    got = headline_gap(rows, strong, resamples=200)
    assert got["headline"] == "strong"
    assert (got["generalization"]["ds"], got["generalization"]["n"]) == (75.0, 2)
    assert got["all_pairs"]["generalization"]["ds"] == pytest.approx(70.0)
    assert got["classes"]["Wall"]["base_n"] == 2
    for unknown in (None, set()):
        whole = headline_gap(rows, unknown, resamples=200)
        assert whole["headline"] == "all"
        assert whole["generalization"] == whole["all_pairs"]["generalization"]
        assert whole["generalization"]["n"] == 3


def test_the_interval_of_a_change_is_paired():
    """Pairs that all lose 10 points: whatever pairs are drawn, the difference is the same."""
    scores = [(float(base), base - 10.0) for base in (95, 60, 30, 99, 20)]
    got = gap_of(pairs(*scores), resamples=500)
    # No spread at all: the rule of three, and a warning that five pairs are few.
    want = rule_of_three(-10.0, 5, (-100.0, 100.0))
    assert got["intervals"]["difference"]["ds"] == pytest.approx([want.low, want.high])
    assert (got["intervals"]["clusters"], got["intervals"]["few_clusters"]) == (5, True)
    low, high = got["intervals"]["base"]["ds"]
    assert high - low > 20.0


def test_the_interval_of_three_pairs_is_wider_than_all_possible_draws():
    scores = [(100.0, 90.0), (100.0, 40.0), (80.0, 80.0)]
    rows = np.array(scores)
    drawn = [
        float((rows[list(d), 1] - rows[list(d), 0]).mean())
        for d in itertools.product(range(3), repeat=3)
    ]
    low, high = gap_of(pairs(*scores), resamples=4000)["intervals"]["difference"]["ds"]
    assert low < min(drawn)
    assert max(drawn) < high
    want = stats.t.interval(0.95, 2, loc=-70 / 3, scale=stats.sem(rows[:, 1] - rows[:, 0]))
    assert (low, high) == pytest.approx((max(want[0], -100.0), want[1]), rel=0.06)


def test_no_interval_of_a_perfect_class_has_zero_width():
    got = gap_of(pairs(*[(100.0, 100.0)] * 5), resamples=200)["intervals"]
    for of_half in ("base", "generalization", "change_percent", "difference"):
        for key in ("ds", "sr", "hm"):
            low, high = got[of_half][key]
            assert high - low > 30.0, (of_half, key)
    share = 1.0 - 0.05**0.2
    assert got["generalization"]["ds"] == pytest.approx([100.0 - 100.0 * share, 100.0])
    assert got["change_percent"]["ds"] == pytest.approx(
        [-100.0 * share, 100.0 / (1.0 - share) - 100.0]
    )


def test_a_pair_with_one_half_is_named():
    rows = [*pairs((100, 50)), row("lonely", "base", 70)]
    assert gap_of(rows, resamples=100)["pairs"] == {"n": 2, "unpaired": ["lonely"]}


def test_what_of_a_site_is_gone():
    cones = [Thing(type_id=CONE, x_m=2.0 * k, y_m=1.5) for k in range(7)]
    sign = Thing(type_id=SIGN, x_m=-5.0, y_m=0.0)
    debris = Thing(type_id=DEBRIS, x_m=2.0, y_m=0.0)
    site = [sign, debris, *cones]
    assert what_changed(site, site) == ""
    assert what_changed(site, [debris, *cones]) == "warning sign missing"
    assert what_changed(site, [sign]) == "debris missing, 7 of 7 cones missing"
    assert what_changed(site, [sign, debris, *cones[4:]]) == "4 of 7 cones missing"
    other = Thing(type_id="static.prop.streetbarrier", x_m=-5.2, y_m=0.1)
    assert what_changed(site, [other, debris, *cones]) == "warning sign is a streetbarrier"


def test_cues_group_pairs():
    rows = pairs((100, 0), (100, 100), name="ConstructionPermutations")
    cues = {"ConstructionPermutations0": "sign", "ConstructionPermutations1": "cones"}
    got = cue_table(rows, cues)
    assert [(one["cue"], one["generalization"]["hm"]) for one in got] == [
        ("sign", 0.0),
        ("cones", 100.0),
    ]


def drive(speed_mps: float, *, brakings: tuple = (), excursions: tuple = ()) -> Profile:
    time_s = np.arange(0.0, 100.0 / speed_mps, 0.05)
    return Profile(
        time_s=time_s,
        along_m=speed_mps * time_s,
        speed_mps=np.full(len(time_s), speed_mps),
        brakings=brakings,
        excursions=excursions,
    )


def test_a_slower_drive_with_a_needless_braking():
    both = ComparedStretch(first_m=20.0, last_m=25.0, size=2.0)
    needless = ComparedStretch(first_m=70.0, last_m=75.0, size=3.0)
    got = reaction_of(
        drive(10.0, brakings=(both,)),
        drive(8.0, brakings=(both, needless)),
        pair="1",
        class_name="ImageOnObject",
    )
    assert got.speed_change_percent == pytest.approx(-20.0, abs=0.2)
    assert got.slowest_mps == pytest.approx(2.0)
    assert (got.brakings, got.excursions) == (1, 0)
    table = reaction_table([got, got], resamples=100)
    assert table["classes"]["ImageOnObject"]["brakings"]["value"] == 1.0


def test_excursions_are_as_long_as_the_lane_is_left():
    time_s = np.arange(0.0, 10.0, 0.05)
    aside = np.where((time_s > 3.0) & (time_s < 5.0), -1.4, 0.1)
    room = np.full(len(time_s), 0.9)
    (found,) = excursions_of(time_s, 10.0 * time_s, aside, room)
    assert (found.first_m, found.last_m) == pytest.approx((30.5, 49.5))
    assert found.size == pytest.approx(1.4)
    assert excursions_of(time_s, 10.0 * time_s, aside, np.full(len(time_s), math.inf)) == []


def episode(name: str, seed: int, score: float, **detail: object):
    return make.card(name, seed, score, suite="jaywalk/fail2drive-v2", detail=detail)


def test_halves_by_name_by_number_and_by_what_the_route_says():
    run = make.run(
        episode("Base_Wall_0095", 1, 100.0),
        episode("Generalization_Wall_1095", 1, 50.0),
        episode("a", 1, 100.0, pair="x", route_id="75"),
        episode("b", 1, 100.0, pair="x", route_id="1075"),
        episode("c", 1, 100.0, pair="mine", half="base"),
        episode("d", 1, 0.0, pair="mine", half="generalization", shift="RightConstruction"),
        episode("e", 1, 0.0),
    )
    got = [(one.pair, one.half, one.class_name) for one in members_of(run)]
    assert got == [
        ("0095", "base", "Wall"),
        ("0095", "generalization", "Wall"),
        ("0075", "base", "Animals"),
        ("0075", "generalization", "Animals"),
        ("mine", "base", "RightConstruction"),
        ("mine", "generalization", "RightConstruction"),
    ]
    scores = pair_scores(run)
    assert scores is not None
    assert scores["pairs"]["n"] == 3
    assert set(scores["classes"]) == {"Wall", "Animals", "RightConstruction"}


def test_a_run_without_pairs_has_no_gap():
    assert pair_scores(make.run(make.card("a"))) is None
