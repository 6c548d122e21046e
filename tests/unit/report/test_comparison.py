"""Comparisons: pairing, differences against figures worked out by hand, refusals, flips."""

import json
import math

import pytest
from scipy.stats import binomtest
from score_cards import card, hit, install_scoring, run
from typer.testing import CliRunner

from jaywalk.cli.main import app
from jaywalk.core.errors import DataError, UsageError
from jaywalk.metrics.driving.summary import scenario_of
from jaywalk.report.comparison import compare_runs
from jaywalk.report.scored_runs import ScoredRun, run_labels
from jaywalk.stats.clustered import holm

# Six routes with two seeds: the baseline fails on all of a, b, c and once on d.
FIRST = {
    "a": (0, 0),
    "b": (50, 50),
    "c": (60, 60),
    "d": (100, 40),
    "e": (100, 100),
    "f": (100,) * 2,
}
SECOND = {
    "a": (100, 100),
    "b": (100, 50),
    "c": (100, 100),
    "d": (100, 100),
    "e": (100, 60),
    "f": (100, 100),
}


def cards(table, agent):
    episodes = [
        card(name, seed, float(score), agent=agent)
        for name, scores in table.items()
        for seed, score in enumerate(scores, start=1)
    ]
    return run(*episodes, name=f"run-{agent}")


def scored(*runs):
    return [ScoredRun(score=one) for one in runs]


def of_name(differences, name):
    return next(d for d in differences if d.name == name)


def test_difference_and_sign_test_by_hand():
    (pair,) = compare_runs(scored(cards(FIRST, "blind"), cards(SECOND, "cruise"))).pairs
    score = of_name(pair.metrics, "driving_score")
    first = [value for scores in FIRST.values() for value in scores]
    second = [value for scores in SECOND.values() for value in scores]
    assert score.baseline == pytest.approx(sum(first) / 12)
    assert score.candidate == pytest.approx(sum(second) / 12)
    assert score.value == pytest.approx((sum(second) - sum(first)) / 12)
    assert (score.n_pairs, score.n_scenarios) == (12, 6)
    # Means by route: a +100, b +25, c +40, d +30, e -20, f 0.
    assert (score.sign.higher, score.sign.lower, score.sign.ties) == (4, 1, 1)
    assert score.sign.p_value == pytest.approx(binomtest(4, 5).pvalue)
    assert score.low < score.value < score.high
    rate = of_name(pair.metrics, "success_rate")
    assert (rate.baseline, rate.candidate) == (pytest.approx(500 / 12), pytest.approx(1000 / 12))
    hits = of_name(pair.rates_per_km, "collisions_pedestrian")
    assert (hits.baseline, hits.candidate) == (pytest.approx(7 / 6), pytest.approx(2 / 6))
    assert hits.value == pytest.approx(-5 / 6)
    assert hits.low < hits.value < hits.high


def test_flips_are_the_pairs_with_another_outcome():
    (pair,) = compare_runs(scored(cards(FIRST, "blind"), cards(SECOND, "cruise"))).pairs
    gained = [(f.scenario, f.seed) for f in pair.flips if f.to_success]
    lost = [(f.scenario, f.seed) for f in pair.flips if not f.to_success]
    assert gained == [("a", 1), ("a", 2), ("b", 1), ("c", 1), ("c", 2), ("d", 2)]
    assert lost == [("e", 2)]
    assert {f.cause for f in pair.flips} == {"hit a person at 3.0 s"}


def test_order_of_episodes_does_not_matter():
    a, b = cards(FIRST, "blind"), cards(SECOND, "cruise")
    turned = run(*reversed(b.episodes), name=b.name)
    assert compare_runs(scored(a, b)).to_json() == compare_runs(scored(a, turned)).to_json()


def test_several_runs_are_compared_with_the_first():
    third = cards(FIRST, "third")
    found = compare_runs(scored(cards(FIRST, "blind"), cards(SECOND, "cruise"), third))
    assert [(p.baseline, p.candidate) for p in found.pairs] == [
        ("blind", "cruise"),
        ("blind", "third"),
    ]
    assert of_name(found.pairs[1].metrics, "driving_score").value == 0.0
    assert found.pairs[1].flips == ()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"protocol": "bench2drive"}, "protocol 'jaywalk' against 'bench2drive'"),
        ({"suite": "jaywalk/smoke-v2"}, "suite 'jaywalk/smoke-v1' against 'jaywalk/smoke-v2'"),
    ],
)
def test_runs_of_another_protocol_or_suite_are_refused(change, words):
    a = cards(FIRST, "blind")
    b = run(*cards(SECOND, "cruise").episodes, name="b", **change)
    with pytest.raises(UsageError, match=words) as refusal:
        compare_runs(scored(a, b))
    assert "--allow-mixed" in str(refusal.value)
    told = compare_runs(scored(a, b), allow_mixed=True)
    assert any(words in warning for warning in told.warnings)


def test_another_version_of_a_scenario_is_refused():
    a = run(card("a"), card("b"))
    b = run(card("a"), card("b", scenario="jaywalk/stepping-out-v2"), name="b", agent="c")
    with pytest.raises(UsageError, match=r"stepping-out-v2' in b-s1"):
        compare_runs(scored(a, b))


def test_records_of_another_map_are_refused(tmp_path):
    runs = []
    for name, digest in (("one", "aa"), ("two", "bb")):
        folder = tmp_path / name / "episodes" / "a-s1"
        folder.mkdir(parents=True)
        entries = {"files": {"opendrive": {"sha256": digest, "name": digest}}, "town": "T"}
        (folder / "episode.json").write_text(json.dumps(entries))
        score = run(card("a", folder="episodes/a-s1"), name=name)
        runs.append(ScoredRun(score=score, folder=tmp_path / name))
    with pytest.raises(UsageError, match="map 'aa' against 'bb'"):
        compare_runs(runs)


def test_what_is_missing_makes_it_incomplete():
    a = run(card("a"), card("b"), card("c"), expected=4, missing=("d-s1",))
    b = run(card("a"), card("b", score=10.0), name="b", agent="cruise", expected=4)
    found = compare_runs(scored(a, b))
    (pair,) = found.pairs
    assert (pair.n_pairs, pair.expected) == (2, 4)
    assert pair.unpaired == ("c-s1", "d-s1")
    assert not found.is_complete
    assert found.to_json()["comparisons"][0]["complete"] is False


def test_metrics_that_do_not_apply_are_left_out_of_their_pair():
    a = run(card("a", metrics={"x": math.nan, "y": math.nan}), card("b", metrics={"x": 1.0}))
    b = run(card("a", metrics={"x": 2.0}), card("b", metrics={"x": 4.0}), name="b", agent="c")
    (pair,) = compare_runs(scored(a, b)).pairs
    assert [d.name for d in pair.metrics] == ["success_rate", "x"]
    assert pair.metrics[1].n_pairs == 1
    assert pair.metrics[1].value == 3.0
    assert math.isnan(pair.metrics[1].low)
    assert json.loads(json.dumps(compare_runs(scored(a, b)).to_json()))["comparisons"][0][
        "metrics"
    ]["x"]["interval"] == [None, None]


def test_nothing_in_common_and_doubles_are_errors():
    with pytest.raises(DataError, match=r"in common, e\.g\. a-s1 against b-s1"):
        compare_runs(scored(run(card("a")), run(card("b"))))
    with pytest.raises(DataError, match="two episodes of scenario 'a' with seed 1"):
        compare_runs(scored(run(card("a")), run(card("a"), card("a"))))
    with pytest.raises(UsageError, match="two or more"):
        compare_runs(scored(run(card("a"))))


def test_names_of_scenarios_and_runs():
    assert scenario_of(card("harbour-03", 12)) == "harbour-03"
    assert scenario_of(card("x", episode_id="0001")) == "jaywalk/stepping-out-v1"
    assert scenario_of(card("x", episode_id="0001", scenario="", seed=None)) == "0001"
    one = run(card("a"), name="one")
    assert run_labels([one, run(card("a", agent="cruise"))]) == ["blind", "cruise"]
    assert run_labels([one, run(card("a"), name="two")]) == ["one", "two"]
    assert run_labels([one, one]) == ["1 blind", "2 blind"]


def test_the_gravest_event_is_the_cause():
    slow = hit("min_speed_infractions", 5)
    red = hit("red_light", 10)
    person = hit("collisions_pedestrian", 80)
    score = card("a", score=0.0, infractions=(slow, red, person))
    from jaywalk.report.summary import cause_of, decisive

    assert decisive(score) is person
    assert cause_of(score) == "hit a person at 4.0 s (+2 more)"
    assert cause_of(card("a", score=0.0, failure="KeyError: 'x'", infractions=())) == (
        "the agent failed: KeyError: 'x'"
    )
    assert cause_of(card("a", score=3.0, infractions=(), status="Failed - Agent got blocked")) == (
        "Failed - Agent got blocked"
    )
    assert cause_of(card("a")) == ""


@pytest.fixture
def command(tmp_path, monkeypatch):
    scores = {"one": cards(FIRST, "blind"), "two": cards(SECOND, "cruise")}
    scores["short"] = run(*cards(SECOND, "short").episodes[:6], expected=12, name="short")
    install_scoring(monkeypatch, scores)
    for name in scores:
        (tmp_path / name).mkdir()

    def call(*words):
        paths = [str(tmp_path / word) if word in scores else word for word in words]
        return CliRunner().invoke(app, ["compare", *paths])

    return call


def test_the_command_prints_json_and_lines(command):
    done = command("one", "two", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["complete"] is True
    assert found["comparisons"][0]["metrics"]["success_rate"]["difference"] == pytest.approx(
        500 / 12
    )
    lines = command("one", "two").stdout.splitlines()
    assert lines[0].startswith("metric (* primary)\tblind\tcruise\tdifference")
    assert lines[1].startswith("success rate % *\t41.67\t83.33\t+41.67 [")
    assert "e\t2\tsuccess\tfailure\thit a person at 3.0 s" in lines


@pytest.fixture
def compared(tmp_path, monkeypatch):
    """The command on two runs of these names, with these episodes."""

    def call(**runs):
        install_scoring(monkeypatch, {name: run(*one, name=name) for name, one in runs.items()})
        for name in runs:
            (tmp_path / name).mkdir()
        return CliRunner().invoke(app, ["compare", *(str(tmp_path / name) for name in runs)])

    return call


def test_the_command_shows_the_width_of_narrow_intervals(compared):
    def of(agent, more_km):
        return [
            card(name, metrics={"driven_km": 0.2 + more_km * k}, agent=agent)
            for k, name in enumerate("abcdef")
        ]

    lines = compared(x=of("x", 0.0), y=of("y", 1e-4)).stdout.splitlines()
    row = next(line for line in lines if line.startswith("distance driven km"))
    low, high = row.split("[")[1].split("]")[0].split(", ")
    assert float(low) < 0.00025 < float(high), row


def test_the_command_names_figures_on_fewer_scenarios_than_the_runs_have(command, compared):
    assert "warning: only 6 scenarios, fewer than 20" in command("one", "two").stderr

    def of(agent):
        return [
            card(f"r{k}", agent=agent, metrics={"driven_km": 0.5, "x": 1.0 if k < 3 else math.nan})
            for k in range(25)
        ]

    said = compared(x=of("x"), y=of("y")).stderr
    assert "these rest on fewer than 20 scenarios" in said
    assert "trust them little: X on 3" in said


def test_the_command_says_incomplete(command):
    done = command("one", "short")
    assert done.exit_code == 4
    assert "6/12 pairs, INCOMPLETE" in done.stderr
    assert isinstance(command("one", "one").exception, UsageError)


def test_primary_metrics_are_corrected_together():
    found = compare_runs(scored(cards(FIRST, "blind"), cards(SECOND, "cruise")))
    (pair,) = found.pairs
    success, score = (of_name(pair.metrics, n) for n in ("success_rate", "driving_score"))
    hits = of_name(pair.rates_per_km, "collisions_pedestrian")
    raw = [success.sign.p_value, score.sign.p_value, hits.sign.p_value]
    assert [success.p_holm, score.p_holm, hits.p_holm] == pytest.approx(holm(raw))
    assert of_name(pair.metrics, "duration_s").p_holm is None
    assert found.to_json()["primary"] == [
        "success_rate",
        "driving_score",
        "collisions_pedestrian",
    ]
    told = found.to_json()["comparisons"][0]["metrics"]["driving_score"]
    assert (told["primary"], told["few_clusters"]) == (True, True)
    assert told["p_holm"] >= told["p_value"]
    assert told["minimum_detectable_difference"] > 0.0


def test_several_candidates_are_one_family():
    runs = scored(cards(FIRST, "a"), cards(SECOND, "b"), cards(SECOND, "c"))
    found = compare_runs(runs)
    assert len(found.primary) == 6
    assert [d.p_holm for d in found.primary] == pytest.approx(
        holm([d.sign.p_value for d in found.primary])
    )


def test_flips_have_an_exact_mcnemar_test():
    (pair,) = compare_runs(scored(cards(FIRST, "blind"), cards(SECOND, "cruise"))).pairs
    assert (pair.gained, pair.lost) == (6, 1)
    assert pair.flip_p_value == pytest.approx(binomtest(6, 7).pvalue)


def test_equal_runs_have_no_interval_of_zero_width():
    found = compare_runs(scored(cards(FIRST, "blind"), cards(FIRST, "copy"))).to_json()
    (pair,) = found["comparisons"]
    for name, one in {**pair["metrics"], **pair["rates_per_km"]}.items():
        low, high = one["interval"]
        assert one["difference"] == 0.0
        assert (low is None and high is None) or low < 0.0 < high, name  # null: no known bounds
    assert pair["metrics"]["driving_score"]["interval"][1] > 30.0  # six routes, rule of three


def test_as_many_events_on_every_route_still_leave_room_for_a_difference():
    """One braking each on the same route, over ways that differ by a metre."""

    def of(agent, km):
        return run(
            *[
                card(
                    name,
                    counts={"braking_events": int(name == "a")},
                    metrics={"driven_km": km},
                    agent=agent,
                )
                for name in "abcd"
            ],
            name=agent,
        )

    (pair,) = compare_runs(scored(of("x", 0.5), of("y", 0.501))).pairs
    braking = of_name(pair.rates_per_km, "braking_events")
    assert braking.value == pytest.approx(1 / 2.004 - 1 / 2.0)
    # Nobody had an event that the other lacked: at most 3.69 of them, the exact Poisson bound.
    assert braking.low == pytest.approx(braking.value - 3.689 / 2.0, abs=1e-3)
    assert braking.high == pytest.approx(braking.value + 3.689 / 2.004, abs=1e-3)
    assert braking.detectable > 1.0


def test_ratios_are_differences_of_pooled_ratios():
    def of(agent, brakings, needless):
        return run(
            *[
                card(
                    name,
                    counts={"braking_events": b, "false_braking_events": f},
                    metrics={"fpbr": f / b if b else math.nan, "driven_km": 0.5},
                    agent=agent,
                )
                for name, b, f in zip("abc", brakings, needless, strict=True)
            ],
            name=agent,
        )

    (pair,) = compare_runs(
        scored(of("x", (8, 2, 0), (2, 2, 0)), of("y", (4, 0, 0), (3, 0, 0)))
    ).pairs
    fpbr = of_name(pair.metrics, "fpbr")
    assert (fpbr.baseline, fpbr.candidate) == (pytest.approx(4 / 10), pytest.approx(3 / 4))
    assert fpbr.n_scenarios == 2  # nobody braked in c
    assert (fpbr.sign.higher, fpbr.sign.lower, fpbr.sign.ties) == (1, 0, 0)
