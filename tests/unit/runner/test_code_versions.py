"""Code versions of runs: digests, refusal to mix, and what scores say about a mixed run."""

import dataclasses
import json
import subprocess
from pathlib import Path

import pytest
from fake_episodes import fake_agent, fake_suite
from record_scenes import write_episode

import jaywalk.record
from jaywalk.agents.catalogue import AGENTS, driver_version
from jaywalk.cli.output import Result, render
from jaywalk.cli.score import run_parts
from jaywalk.core.errors import UsageError
from jaywalk.core.source_digest import digest_files, source_files, sources_digest
from jaywalk.metrics.driving.aggregate import aggregate, as_json
from jaywalk.metrics.driving.run_score import mixed_code, score_run
from jaywalk.metrics.driving.summary import EpisodeScore
from jaywalk.record import record_hash
from jaywalk.record.episode import Code
from jaywalk.runner._code import code_of_episode, code_of_run, packaged_motions_digest
from jaywalk.runner.config import read_config, resolve_config, route_digest, settle_config
from jaywalk.runner.plan import plan_episodes
from jaywalk.scenarios.suite import load_suite

ROOT = Path(__file__).parents[3]


def config(suite, code, seeds=(1,)):
    plans = plan_episodes(suite, fake_agent(), seeds)
    return resolve_config(suite, fake_agent(), plans, {}, code)


def record(run, name, code, **more):
    write_episode(run / "episodes" / name, ticks=4, vehicles=1, walkers=0, **more)
    path = run / "episodes" / name / "episode.json"
    entries = json.loads(path.read_text())
    entries["code"] = code.model_dump()
    path.write_text(json.dumps(entries))


def test_the_digest_covers_paths_and_bytes_and_nothing_else(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/x.py").write_text("1")
    (tmp_path / "data.json").write_text("{}")
    first = digest_files(tmp_path)
    (tmp_path / "a/__pycache__").mkdir()
    (tmp_path / "a/__pycache__/x.cpython-311.pyc").write_text("compiled")
    (tmp_path / "a/.hidden").write_text("editor")
    assert digest_files(tmp_path) == first
    (tmp_path / "a/x.py").write_text("2")
    changed = digest_files(tmp_path)
    (tmp_path / "a/x.py").rename(tmp_path / "a/y.py")
    assert len({first, changed, digest_files(tmp_path)}) == 3


def test_the_digest_covers_every_file_in_git():
    listed = subprocess.run(
        ["git", "ls-files", "src/jaywalk"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0 or not listed.stdout:
        pytest.skip("not a git checkout")
    there = {ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).exists()}
    covered = set(source_files(ROOT / "src/jaywalk"))
    assert there - covered == set()
    assert len(sources_digest()) == 64


def test_every_driver_has_a_version(tmp_path):
    assert [one.name for one in AGENTS if not one.id.startswith(f"{one.name}-v")] == []
    assert driver_version("expert").startswith("expert-v")
    agent = tmp_path / "mine.py"
    agent.write_text("x = 1")
    before = driver_version(str(agent))
    agent.write_text("x = 2")
    assert before.startswith("sha256:")
    assert driver_version(str(agent)) != before
    assert driver_version("ws://127.0.0.1:9") == ""


def test_a_runs_versions_name_sources_towns_suite_and_driver(monkeypatch):
    code = code_of_run(load_suite("smoke"), "expert")
    assert code.sources == sources_digest()
    assert len(config(load_suite("smoke"), code).code.suite) == 64
    assert sorted(code.towns) == ["Harbour", "Orchard", "Ridge"]
    assert (code.driver, code.motions) == (driver_version("expert"), "")
    item = load_suite("smoke").routes[0]
    of_record = code_of_episode(code, item.route.town, route_digest(item))
    assert list(of_record.towns) == [item.route.town]
    assert of_record.suite == route_digest(item)
    monkeypatch.setattr("jaywalk.runner._code.packaged_motions_digest", lambda name: "d" * 64)
    assert code_of_run(load_suite("habit"), "expert").motions == "d" * 64
    assert code_of_run(load_suite("habit"), "expert", motions="e" * 64).motions == "e" * 64


@pytest.mark.slow
def test_the_default_motion_library_has_a_digest_of_its_content():
    assert len(packaged_motions_digest("")) == 64


def test_versions_are_in_a_record_but_not_in_its_hash(tmp_path):
    record(tmp_path, "a", Code())
    before = record_hash(tmp_path / "episodes/a")
    path = tmp_path / "episodes/a/episode.json"
    entries = json.loads(path.read_text())
    entries["code"] = {"sources": "other", "driver": "expert-v9"}
    path.write_text(json.dumps(entries))
    assert jaywalk.record.open(tmp_path / "episodes/a").episode.code.driver == "expert-v9"
    assert record_hash(tmp_path / "episodes/a") == before


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sources": "b" * 64}, "our sources: aaaaaaaaaaaa there, bbbbbbbbbbbb here"),
        ({"motions": "c" * 64}, "motion library: aaaaaaaaaaaa there, cccccccccccc here"),
        ({"towns": {"Harbour": "d" * 64}}, "town Harbour"),
        ({"driver": "cruise-v2"}, "driver version: cruise-v1 there, cruise-v2 here"),
    ],
)
def test_other_versions_are_refused_and_named(tmp_path, change, said):
    suite = fake_suite("r1", "r2")
    old = Code(sources="a" * 64, motions="a" * 64, towns={"Harbour": "a" * 64}, driver="cruise-v1")
    settle_config(tmp_path, config(suite, old))
    record(tmp_path, "r1-s1", old)
    new = config(suite, old.model_copy(update=change))
    with pytest.raises(UsageError, match=said) as refused:
        settle_config(tmp_path, new)
    assert "--allow-mixed-code" in str(refused.value)
    settle_config(tmp_path, new, allow_mixed_code=True)
    kept = read_config(tmp_path)
    assert [code.sources for code in kept.earlier_code] == ["a" * 64]
    assert kept.code.sources == new.code.sources


def test_a_changed_route_is_a_changed_version_and_more_routes_are_not(tmp_path):
    one, two = fake_suite("r1"), fake_suite("r1", "r2")
    code = Code(sources="a" * 64)
    settle_config(tmp_path, config(one, code))
    record(tmp_path, "r1-s1", code)
    posed = code.model_copy(update={"motions": "c" * 64})  # of the second route
    settle_config(tmp_path, config(two, posed))
    assert read_config(tmp_path).earlier_code == []
    settle_config(tmp_path, config(one, code))
    assert read_config(tmp_path).code.motions == "c" * 64
    item = dataclasses.replace(one.routes[0], vehicles=9)
    other = dataclasses.replace(one, routes=(item,))
    with pytest.raises(UsageError, match=r"content of 1 routes \(r1\)"):
        settle_config(tmp_path, config(other, code))
    settle_config(tmp_path, config(other, code), allow_mixed_code=True)


def test_a_folder_without_records_takes_the_new_versions(tmp_path):
    suite = fake_suite("r1")
    settle_config(tmp_path, config(suite, Code(sources="a" * 64)))
    settle_config(tmp_path, config(suite, Code(sources="b" * 64)))
    kept = read_config(tmp_path)
    assert (kept.code.sources, kept.earlier_code) == ("b" * 64, [])


def test_records_without_their_config_are_not_taken_on_by_other_code(tmp_path):
    record(tmp_path, "r1-s1", Code(sources="a" * 64))
    wanted = config(fake_suite("r1", "r2"), Code(sources="b" * 64))
    with pytest.raises(UsageError, match="our sources"):
        settle_config(tmp_path, wanted)
    settle_config(tmp_path, wanted, allow_mixed_code=True)
    assert [code.sources for code in read_config(tmp_path).earlier_code] == ["a" * 64]


def scorer(opened, protocol):
    return EpisodeScore(
        episode_id=opened.episode.episode_id,
        protocol=protocol,
        suite="jaywalk/habit-v2",
        scenario="",
        seed=1,
        agent="bold",
        status="",
        success=True,
        metrics={"driving_score": 50.0, "route_completion": 50.0},
    )


def test_a_mixed_run_is_named_as_such_by_what_its_records_say(tmp_path):
    record(tmp_path, "r1-s1", Code(sources="a" * 64, driver="bold-v1"))
    record(tmp_path, "r2-s1", Code(sources="a" * 64, driver="bold-v1"))
    found = score_run(tmp_path, scorer=scorer)
    assert (found.mixed_code, found.agent_version, found.code) == (False, "bold-v1", "a" * 64)
    record(tmp_path, "r3-s1", Code(sources="b" * 64, driver="bold-v2"))
    found = score_run(tmp_path, scorer=scorer)
    assert found.mixed_code
    assert found.agent_version == "bold-v1, bold-v2"
    assert found.warnings[0].startswith("this run mixes code versions: our sources (aaaaaaaaaaaa")


def test_scores_name_versions_mixing_and_what_was_inspected(tmp_path, capsys):
    record(tmp_path, "r1-s1", Code(sources="a" * 64, driver="bold-v1"))
    record(tmp_path, "r2-s1", Code(sources="b" * 64, driver="bold-v1"))
    found = aggregate(score_run(tmp_path, scorer=scorer), resamples=50)
    plain = as_json(found)
    assert (plain["agent_version"], plain["mixed_code"]) == ("bold-v1", True)
    assert plain["code"] == f"{'a' * 64}, {'b' * 64}"
    assert plain["inspected"].startswith("seeds 1-3 are development seeds; routes 1-30")
    render(Result({}, run_parts(found)))
    said = capsys.readouterr().err
    assert "bold (bold-v1) under jaywalk" in said
    assert "warning: this run mixes code versions: our sources" in said
    assert "held out? seeds 1-3 are development seeds" in said


def test_older_records_that_name_no_versions_do_not_mix_among_themselves():
    assert mixed_code({"r1-s1": Code(), "r2-s1": Code()}) == []
    assert mixed_code({"r1-s1": Code(), "r2-s1": Code(sources="a")}) != []
    towns = [Code(towns={"Harbour": digest}) for digest in "ab"]
    assert "town Harbour (a, b)" in mixed_code({"r1-s1": towns[0], "r2-s1": towns[1]})[0]
    routes = [Code(suite=digest) for digest in "ab"]
    assert mixed_code({"r1-s1": routes[0], "r2-s1": routes[1]}) == []
    assert "route r1 (a, b)" in mixed_code({"r1-s1": routes[0], "r1-s2": routes[1]})[0]
