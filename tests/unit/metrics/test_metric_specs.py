"""The registry of metrics: complete, documented, open to other packages, honest about validity."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from driving_scenes import cruise, write_drive
from hand_records_safety import Scene, straight
from typer.testing import CliRunner

from jaywalk.cli.listing import rows_of
from jaywalk.cli.main import app
from jaywalk.core.errors import RegistryError
from jaywalk.metrics.driving._jaywalk_protocol import JaywalkRules, score_episode
from jaywalk.metrics.driving.aggregate import aggregate
from jaywalk.metrics.driving.baseline import entry_of
from jaywalk.metrics.driving.penalties import PROTOCOLS
from jaywalk.metrics.driving.protocols import score_episode as score_under
from jaywalk.metrics.driving.results import INFRACTIONS
from jaywalk.metrics.driving.summary import EpisodeScore, RunScore
from jaywalk.metrics.pooling import WEIGHTED_BY_N, per_km, weighted_by
from jaywalk.metrics.safety._comfort import ComfortBounds
from jaywalk.metrics.spec import (
    METRICS,
    NOT_APPLICABLE,
    MetricInput,
    MetricResult,
    count,
    metric,
    ordered_metrics,
    spec_of,
)
from jaywalk.report.labels import label_of
from jaywalk.report.page import summary_rows
from jaywalk.report.summary import summarise

DOCS = Path(__file__).resolve().parents[3] / "docs"


@pytest.fixture
def registry(monkeypatch):
    """A copy of the registry, so that what a test registers does not outlive it."""
    assert len(METRICS) > 50
    monkeypatch.setattr(METRICS, "_specs", dict(METRICS._specs))
    return METRICS


def drive(folder, seconds=10.5, speed=10.0, **episode):
    scene = Scene(seconds=seconds, route=[(float(x), 0.0) for x in range(101)])
    scene.add("vehicle", straight(0.0, 0.0, 0.0, speed))
    scene.episode = {"suite": "s", "scenario": folder.name, "seed": 1, **episode}
    return scene.write(folder)


def run_of(*episodes: EpisodeScore) -> RunScore:
    n = len(episodes)
    return RunScore(name="r", protocol="jaywalk", agent="", suite="", expected=n, episodes=episodes)


def test_every_metric_of_a_scored_episode_is_registered_with_all_facts(tmp_path):
    score = score_episode(drive(tmp_path / "one"))
    for name in (*score.metrics, *score.counts, *INFRACTIONS, "infraction_penalty", "smoothness"):
        spec = METRICS.get(name)
        assert spec.unit, name
        assert spec.direction in ("lower", "higher", "none"), name
        assert spec.label[0].isupper(), name
        assert spec.summary.endswith("."), name
        assert spec.is_count == (name in score.counts or name in INFRACTIONS), name


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
def test_metrics_of_public_protocols_are_registered(tmp_path, protocol):
    record = write_drive(tmp_path, cruise(0.0, 101.5, 8.0))
    score = score_under(record, protocol)
    unknown = {*score.metrics, *score.counts} - {spec.name for spec in METRICS}
    assert unknown == set()
    assert score.metrics["route_completion"] == 100.0


def test_every_registered_metric_is_documented():
    text = (DOCS / "reference" / "safety.md").read_text(encoding="utf-8")
    missing = [
        spec.name
        for spec in METRICS
        if spec.package == "jaywalk" and f"| `{spec.name}` | {spec.unit} |" not in text
    ]
    assert missing == [], "run 'make docs-tables'"


def test_units_of_names_and_specs_agree():
    endings = {"_mps3": "m/s³", "_mps2": "m/s²", "_mps": "m/s", "_per_km": "per km", "_m": "m"}
    for spec in METRICS:
        ending = next((end for end in endings if spec.name.endswith(end)), None)
        assert ending is None or spec.unit == endings[ending], spec.name


def test_a_registered_metric_and_count_show_up_everywhere(registry, tmp_path, capsys):
    @metric(
        "top_speed_mps",
        unit="m/s",
        direction="lower",
        label="Top speed",
        pooling=WEIGHTED_BY_N,
    )
    def top_speed(episode: MetricInput) -> MetricResult:
        """Highest speed of the ego."""
        speeds = episode.tracks.speed_mps(episode.tracks.ego)
        return MetricResult(float(speeds.max()), n=len(speeds))

    @count("fast_ticks", label="Fast ticks")
    def fast_ticks(episode: MetricInput) -> int:
        """Ticks faster than 9 m/s."""
        return int((episode.tracks.speed_mps(episode.tracks.ego) > 9.0).sum())

    for name, seconds, speed in (("a-s1", 10.0, 10.0), ("b-s1", 5.0, 4.0)):
        drive(tmp_path / "run" / "episodes" / name, seconds, speed, episode_id=name)
    done = CliRunner().invoke(app, ["score", str(tmp_path / "run"), "--json"])
    found = json.loads(done.stdout)
    assert [one["metrics"]["top_speed_mps"] for one in found["episodes"]] == [10.0, 4.0]
    assert list(found["episodes"][0]["metrics"])[-1] == "top_speed_mps"
    assert [one["counts"]["fast_ticks"] for one in found["episodes"]] == [201, 0]
    assert found["metrics"]["top_speed_mps"]["value"] == pytest.approx(
        (10.0 * 201 + 4.0 * 101) / 302
    )
    assert found["metrics"]["top_speed_mps"]["n"] == 302
    assert found["rates_per_km"]["fast_ticks"]["value"] == pytest.approx(201 / 0.12, rel=1e-3)
    table = CliRunner().invoke(app, ["score", str(tmp_path / "run")]).stdout
    assert "top speed m/s\t8.0\t" in table
    assert "fast ticks per km\t" in table
    row = next(row for row in rows_of("metrics") if row["name"] == "top_speed_mps")
    assert (row["id"], row["unit"], row["direction"]) == ("top_speed_mps-v1", "m/s", "lower")
    assert (row["label"], row["summary"]) == ("Top speed", "Highest speed of the ego.")
    assert label_of("top_speed_mps").full == "Top speed (m/s)"
    record = drive(tmp_path / "other")
    page = summary_rows([summarise(run_of(score_episode(record)), "one")])
    assert [r["words"] for r in page if r["name"] == "top_speed_mps"] == ["Top speed"]
    kept = entry_of(record, "0").scores["jaywalk"]
    assert "top_speed_mps" not in kept.metrics
    assert "driven_km" in kept.metrics


def test_what_does_not_apply_is_left_out_and_is_null(registry, tmp_path):
    @metric("only_a_m", unit="m", direction="none", label="Only a")
    def only_a(episode: MetricInput) -> float | None:
        """Defined for one scenario alone."""
        return 3.0 if episode.record.episode.scenario == "a" else None

    scores = [score_episode(drive(tmp_path / name)) for name in ("a", "b")]
    assert scores[0].result("only_a_m") == MetricResult(3.0)
    assert scores[1].result("only_a_m") is NOT_APPLICABLE
    figure = aggregate(run_of(*scores), resamples=50).metrics["only_a_m"]
    assert (figure.value, figure.n) == (3.0, 1)


def test_results_are_a_finite_value_or_not_applicable():
    assert MetricResult.of(math.nan) is NOT_APPLICABLE
    assert MetricResult.of(0.0, n=4) == MetricResult(0.0, valid=True, n=4)
    assert (NOT_APPLICABLE.value, NOT_APPLICABLE.valid, NOT_APPLICABLE.n) == (None, False, 0)
    assert math.isnan(NOT_APPLICABLE.or_nan)
    for value, valid in ((math.nan, True), (math.inf, True), (None, True), (0.0, False)):
        with pytest.raises(ValueError, match="result"):
            MetricResult(value, valid=valid)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (math.nan, "'odd' of the package 'plugin' returned nan, expected a MetricResult"),
        ("fast", "returned 'fast'"),
        (ZeroDivisionError("by zero"), "failed on episode 'one': ZeroDivisionError: by zero"),
    ],
)
def test_a_metric_that_breaks_its_contract_is_named(registry, tmp_path, value, message):
    def odd(episode: MetricInput):
        """Breaks its contract."""
        if isinstance(value, Exception):
            raise value
        return value

    odd.__module__ = "plugin.metrics"
    metric("odd", unit="m", direction="none", label="Odd")(odd)
    with pytest.raises(RegistryError, match="odd") as told:
        score_episode(drive(tmp_path / "one"))
    assert message in str(told.value)


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"name": "Top speed"}, "name is 'Top speed', expected lower-case words"),
        ({"direction": "up"}, "direction is 'up', expected one of lower, higher, none"),
        ({"unit": ""}, "unit is ''"),
        ({"group": "mine"}, "group is 'mine'"),
        ({"name": "fpbr"}, "metric 'fpbr' is registered twice"),
    ],
)
def test_specs_that_lack_a_fact_are_refused(registry, facts, message):
    known = {"name": "m", "unit": "m", "direction": "none", "label": "M"}

    def function(episode: MetricInput) -> float:
        """Something."""
        return 0.0

    with pytest.raises(RegistryError) as told:
        metric(**(known | facts))(function)
    assert message in str(told.value)
    function.__doc__ = None
    with pytest.raises(RegistryError, match="docstring"):
        metric(**known)(function)


def test_shared_work_is_done_once_and_rules_reach_the_metrics(registry, tmp_path):
    calls, seen = [], []

    def work(episode: MetricInput) -> float:
        calls.append(episode)
        return 1.0

    for name in ("first", "second"):

        @metric(name, unit="m", direction="none", label=name)
        def use(episode: MetricInput) -> float:
            """Uses the shared work."""
            seen.append(episode.rules_of(ComfortBounds).braking_mps2)
            return episode.shared(work)

    rules = JaywalkRules(comfort=ComfortBounds(braking_mps2=1.5))
    score = score_episode(drive(tmp_path / "one"), rules)
    assert (score.metrics["first"], score.metrics["second"]) == (1.0, 1.0)
    assert len(calls) == 1
    assert seen == [1.5, 1.5]


def test_order_does_not_depend_on_who_registers_first(registry):
    names = [spec.name for spec in ordered_metrics()]
    registry._specs = dict(reversed(registry._specs.items()))
    assert [spec.name for spec in ordered_metrics()] == names
    assert names.index("route_completion") < names.index("fpbr") < names.index("rms_jerk_mps3")


def test_an_episode_without_an_ego_has_no_value_for_any_metric(tmp_path):
    full = score_episode(drive(tmp_path / "one"))
    none = score_episode(drive(tmp_path / "two", ego_actor=None))
    assert list(none.metrics) == list(full.metrics)
    assert [name for name in none.metrics if none.result(name).valid] == ["success"]
    assert none.metrics["success"] == 0.0


def test_poolings_read_counts_and_metrics_by_name(tmp_path):
    score = score_episode(drive(tmp_path / "one"))
    weighted = weighted_by("duration_s").bound_to("driven_km")
    assert weighted.top(score) == score.metrics["driven_km"] * score.metrics["duration_s"]
    rate = per_km("red_light")
    assert (rate.top(score), rate.bottom(score)) == (0.0, score.metrics["driven_km"])


def test_unknown_names_say_no_more_than_their_name():
    spec = spec_of("someone_elses_metric")
    assert (spec.label, spec.unit, spec.direction) == ("Someone elses metric", "", "none")
    assert not spec.pooling.is_ratio


def test_protocols_are_listed_with_what_they_score():
    rows = {row["name"]: row for row in rows_of("protocols")}
    assert (rows["jaywalk"]["id"], rows["jaywalk"]["version"]) == ("jaywalk-v2", 2)
    assert rows["jaywalk"]["scores"] == "recorded runs"
    assert rows["fail2drive"]["scores"] == "recorded runs, result files"
