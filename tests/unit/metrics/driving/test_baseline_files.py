"""Baseline files: format, damage, and what changed between two of them."""

import json
import math
import re
import tomllib
from pathlib import Path

import pytest
from record_scenes import write_episode

import jaywalk.record
from jaywalk.core.errors import DataError, UsageError
from jaywalk.metrics.driving.baseline import (
    Accepted,
    Baseline,
    BaselineEpisode,
    BaselineRun,
    ProtocolScore,
    check_names,
    entry_of,
    find_baselines,
    format_baseline,
    read_baseline,
    rounded,
    write_baseline,
)
from jaywalk.metrics.driving.baseline_changes import Changes
from jaywalk.metrics.driving.inspected import facts_of, inspection_line, split_inspected


def episode(success=True, digest="h", points=90.0, **counts):
    return BaselineEpisode(
        record_hash=digest,
        end_reason="route completed",
        town="Harbour",
        posed=3,
        scores={
            "jaywalk": ProtocolScore(
                success=success,
                status="Success" if success else "Failed - hit a person",
                metrics={"driven_km": 0.5, "route_completion": 100.0},
                counts=counts,
                people_hit=[{"injury_risk": 0.25, "speed_mps": 4.0, "unavoidable": False}]
                * counts.get("collisions_person", 0),
            ),
            "leaderboard-2.1": ProtocolScore(
                success=success, status="Completed", metrics={"driving_score": points}
            ),
        },
    )


def baseline(name="smoke-expert", **episodes):
    return Baseline(
        name=name,
        in_ci=True,
        run=BaselineRun(
            suite="habit",
            suite_id="jaywalk/habit-v2",
            agent="expert",
            agent_version="expert-v1",
            seeds=[1],
        ),
        protocol={"jaywalk": 1},
        accepted=Accepted(date="2026-11-16", reason="first"),
        episodes={key.replace("_", "-"): value for key, value in episodes.items()},
    )


def test_a_file_has_an_episode_a_line_and_comes_back_equal(tmp_path):
    made = baseline(r1_s1=episode(), r2_s1=episode(False, collisions_person=2))
    path = tmp_path / "smoke-expert.json"
    write_baseline(path, made)
    lines = path.read_text().splitlines()
    assert sum('"record_hash"' in line for line in lines) == 2
    assert read_baseline(path) == made
    assert format_baseline(read_baseline(path)) == path.read_text()
    json.loads(path.read_text())


def test_a_hit_without_an_injury_risk_is_read_back_and_compared(tmp_path):
    hit = {"injury_risk": math.nan, "speed_mps": 1.0, "unavoidable": False}
    one = episode(False, collisions_person=1)
    one.scores["jaywalk"].people_hit.append(hit)
    path = tmp_path / "smoke-expert.json"
    write_baseline(path, baseline(r1_s1=one))
    again = read_baseline(path)
    risks = [hit["injury_risk"] for hit in again.episodes["r1-s1"].scores["jaywalk"].people_hit]
    assert risks == [0.25, pytest.approx(math.nan, nan_ok=True)]
    assert Changes.between(again, again).is_equal
    changes = Changes.between(again, baseline(r1_s1=episode(False, collisions_person=1)))
    assert changes.changed[0].moved == {"jaywalk people hit": (2, 1)}


def test_a_definition_without_content_is_a_file_too(tmp_path):
    made = baseline().model_copy(update={"accepted": None})
    write_baseline(tmp_path / "smoke-expert.json", made)
    assert read_baseline(tmp_path / "smoke-expert.json") == made


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not a baseline"),
        ("[]", "is not a baseline"),
        ('{"name": "x"}', "is not a baseline"),
        ("\xff", "is not a baseline"),
    ],
)
def test_damaged_files_are_named(tmp_path, text, said):
    path = tmp_path / "x.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(DataError, match=said) as problem:
        read_baseline(path)
    assert "x.json" in str(problem.value)
    assert "\n" not in str(problem.value)


def test_other_formats_and_renamed_files_are_refused(tmp_path):
    made = baseline(r1_s1=episode())
    path = tmp_path / "other.json"
    write_baseline(path, made)
    with pytest.raises(DataError, match="calls itself 'smoke-expert'"):
        read_baseline(path)
    write_baseline(path, made.model_copy(update={"format": "jaywalk-baseline-9"}))
    with pytest.raises(DataError, match="jaywalk-baseline-9"):
        read_baseline(path)


def test_unknown_names_get_a_hint(tmp_path):
    write_baseline(tmp_path / "smoke-expert.json", baseline())
    assert find_baselines(tmp_path) == ["smoke-expert"]
    with pytest.raises(UsageError, match="Did you mean 'smoke-expert'"):
        check_names(tmp_path, ["smoke-exprt"])
    with pytest.raises(DataError, match="--baselines"):
        find_baselines(tmp_path / "nowhere")


def test_equal_is_equal_and_rounding_of_the_last_digit_too():
    old = baseline(r1_s1=episode(points=90.0))
    assert Changes.between(old, old).is_equal
    assert Changes.between(old, baseline(r1_s1=episode(points=90.0001))).is_equal
    assert not Changes.between(old, baseline(r1_s1=episode(points=90.01))).is_equal


def test_changed_records_with_equal_scores_are_told_apart():
    found = Changes.between(baseline(r1_s1=episode()), baseline(r1_s1=episode(digest="x")))
    assert found.summary() == "1 of 1 records changed, scores equal"
    assert (found.is_equal, found.moved, found.moves()) == (False, 0, {})


def test_changes_list_moved_scores_and_amounts():
    old = baseline(r1_s1=episode(), r2_s1=episode(), r3_s1=episode())
    new = baseline(
        r1_s1=episode(False, "x", 60.0, collisions_person=1), r2_s1=episode(), r4_s1=episode()
    )
    found = Changes.between(old, new)
    assert found.summary() == "1 of 3 records changed, 1 with other scores, 1 missing, 1 new"
    assert (found.missing, found.extra) == (("r3-s1",), ("r4-s1",))
    moves = found.moves()
    assert moves["leaderboard-2.1 driving_score"] == (1, -30.0, -30.0)
    assert moves["jaywalk collisions_person"] == (1, 1.0, 1.0)
    assert found.headline["jaywalk successes"] == (3.0, 2.0)
    plain = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert plain["changed"][0]["moved"]["jaywalk success"] == {"old": True, "new": False}


def test_versions_that_differ_are_noted():
    old = baseline(r1_s1=episode())
    run = old.run.model_copy(update={"agent_version": "expert-v2"})
    new = old.model_copy(update={"run": run, "protocol": {"jaywalk": 2}})
    assert Changes.between(old, new).notes == (
        "driver: accepted with expert-v1, now expert-v2",
        "protocol jaywalk: accepted with 1, now 2",
    )


def test_a_baseline_entry_of_a_record(tmp_path):
    write_episode(tmp_path / "a", ticks=8, vehicles=1, walkers=1)
    kept = entry_of(jaywalk.record.open(tmp_path / "a"), "digest")
    assert kept.record_hash == "digest"
    assert set(kept.scores) == {"jaywalk", "leaderboard-2.1"}
    assert all(len(f"{v:g}") <= 13 for v in kept.scores["jaywalk"].metrics.values())
    assert rounded(1 / 3) == 0.333333


def test_accepted_scores_are_those_of_a_run():
    run = baseline(r1_s1=episode(collisions_person=1), r2_s4=episode()).run_score("jaywalk")
    assert [(one.scenario, one.seed) for one in run.episodes] == [("r1", 1), ("r2", 4)]
    assert run.episodes[0].detail["people_hit"][0]["injury_risk"] == 0.25
    assert run.is_complete


def test_the_inspection_line_is_for_our_suites_only():
    line = inspection_line("jaywalk/habit-v2", [1, 7])
    assert "seeds 1-3 are development seeds (here also 7)" in line
    assert "routes 1-30" in line
    assert facts_of("fail2drive") is None  # the published routes
    of_files = inspection_line("files", [1])
    assert "34 public Bench2Drive routes were inspected" in of_files
    assert "nothing is recorded about others" in of_files
    assert of_files.endswith("Harbour, Orchard and Ridge are development towns")
    run = baseline(habit_030_s1=episode(), habit_031_s1=episode(), habit_034_s9=episode())
    looked_at, others = split_inspected(run.run_score("jaywalk"))
    assert looked_at == ["habit-030-s1", "habit-034-s9"]
    assert others == ["habit-031-s1"]


def test_route_files_in_a_suite_are_not_the_routes_of_the_suite():
    assert facts_of("jaywalk/habit-v3").covers("habit-007", 1)
    for suite in ("jaywalk/habit-v3/files", "jaywalk/habit-v2/files", "jaywalk/smoke-v2/files"):
        assert facts_of(suite) == facts_of("files")
        assert not facts_of(suite).covers("route_007", 1)
        assert facts_of(suite).covers("28093", 1)  # a public route that was inspected
        assert "routes 1-30" not in inspection_line(suite, [1])
        assert "all 12 routes" not in inspection_line(suite, [1])
    mine = baseline(route_007_s1=episode())
    assert split_inspected(mine.run_score("jaywalk")) == (["route-007-s1"], [])
    run = mine.run.model_copy(update={"suite_id": "jaywalk/habit-v3/files"})
    mine = mine.model_copy(update={"run": run})
    assert split_inspected(mine.run_score("jaywalk")) == ([], ["route-007-s1"])


def test_what_was_inspected_with_people_who_react_is_recorded():
    line = inspection_line("jaywalk/habit-v3", [1])
    assert "routes 1-8 were inspected with seed 1, expert, bold and cruise" in line
    assert "people who react" not in inspection_line("jaywalk/habit-v2", [1])
    assert facts_of("jaywalk/habit-v3").routes == facts_of("jaywalk/habit-v2").routes
    assert "route 5 was inspected while building" in inspection_line("jaywalk/smoke-v3", [1])
    assert "people who react" not in inspection_line("jaywalk/smoke-v2", [1])


def test_public_routes_that_were_inspected_are_known_by_their_id():
    facts = facts_of("files")
    assert facts.covers("28093-28093", 8)
    assert not facts.covers("28094-28094", 8)
    assert len(facts.routes) == 34
    root = Path(__file__).parents[4]
    with (root / "baselines" / "bench2drive_routes.toml").open("rb") as file:
        assert {int(route["id"]) for route in tomllib.load(file)["route"]} <= facts.routes
    pages = [(root / "docs" / name).read_text() for name in ("reference/baselines.md",)]
    pages.append((root / "docs/measurements/acceptance-pdm-lite.json").read_text())
    listed = {int(number) for number in re.findall(r"\b2[4-8]\d{3}\b", "".join(pages))}
    assert facts.routes <= listed
