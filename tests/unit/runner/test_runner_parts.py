"""Selection of routes, the watchdog's arithmetic, the tally and its table."""

import inspect
import math
import sqlite3
from dataclasses import fields
from pathlib import Path

import pytest
from fake_episodes import fake_suite
from rich.console import Console

import jaywalk.cli.run
from jaywalk.core.errors import RegistryError, UsageError
from jaywalk.record.run import STATE_FILE
from jaywalk.runner.config import route_digest
from jaywalk.runner.job import WorkerOptions, compare_hashes
from jaywalk.runner.plan import EpisodeOptions, EpisodeOutcome
from jaywalk.runner.pool import Broken, Fault, PoolProgress, QuickScore
from jaywalk.runner.progress import LiveTable, PlainLines, Tally
from jaywalk.runner.request import RunOptions, make_requests
from jaywalk.runner.run_file import RunFile
from jaywalk.runner.selection import check_ids, find_suite, override, parse_seeds, subset_of
from jaywalk.runner.state import RunState
from jaywalk.runner.watchdog import Watchdog
from jaywalk.stats.intervals import wilson


def ids(suite):
    return [one.id for one in suite.routes]


def test_subsets_are_by_id_of_suite_or_file_and_keep_the_order():
    suite = fake_suite("a", "b-1", "c", "d-2", "e")
    assert ids(subset_of(suite, "")) == ids(suite)
    assert ids(subset_of(suite, "e,b-1")) == ["b-1", "e"]
    assert ids(subset_of(suite, "b-1-d-2")) == ["b-1", "c", "d-2"]
    assert ids(subset_of(suite, "0,3-4")) == ["a", "d-2", "e"]
    with pytest.raises(UsageError, match="runs backwards"):
        subset_of(suite, "4-3")
    with pytest.raises(UsageError, match="'x'"):
        subset_of(suite, "a,x")


def test_suites_come_by_name_or_from_files(tmp_path, monkeypatch):
    routes = '<routes><route id="7" town="T"><waypoints><position x="0" y="0" z="0"/>'
    routes += '<position x="9" y="0" z="0"/></waypoints></route></routes>'
    for name in ("one", "two"):
        (tmp_path / f"{name}.xml").write_text(routes)
    assert ids(find_suite(str(tmp_path / "one.xml"))) == ["one-7"]
    assert ids(find_suite(str(tmp_path))) == ["one-7", "two-7"]
    assert ids(find_suite(str(tmp_path / "t*.xml"))) == ["two-7"]
    assert ids(find_suite("files", routes=str(tmp_path / "*.xml"))) == ["one-7", "two-7"]
    (tmp_path / "smoke").mkdir()
    monkeypatch.chdir(tmp_path)
    assert find_suite("smoke").name == "jaywalk/smoke-v3"
    other = find_suite("smoke", routes=str(tmp_path / "one.xml"))
    assert (ids(other), other.name) == (["one-7"], "jaywalk/smoke-v3/files")
    assert other.routes[0].vehicles == find_suite("smoke").routes[0].vehicles > 0
    assert ids(find_suite(str(tmp_path), routes="tw*")) == ["two-7"]
    with pytest.raises(UsageError, match="matches no route"):
        find_suite(str(tmp_path), routes="x*")
    with pytest.raises(UsageError, match="No route file matches"):
        find_suite("files", routes=str(tmp_path / "*.yml"))
    with pytest.raises(RegistryError, match="Unknown suite 'sm0ke'"):
        find_suite("sm0ke")


def test_overrides_change_what_they_name_alone():
    suite = fake_suite("a")
    changed = override(suite, people=30, town="Ridge").routes[0]
    assert (changed.people, changed.vehicles, changed.route.town) == (30, 0, "Ridge")
    assert changed.route.keypoints == suite.routes[0].route.keypoints
    assert override(suite) == suite


def test_our_suites_have_slippery_wet_roads_and_route_files_do_not(tmp_path: Path):
    for name in ("smoke", "fail2drive", "habit"):
        assert all(one.wet_grip for one in find_suite(name).routes)
    path = tmp_path / "one.xml"
    path.write_text(
        '<routes><route id="7" town="Town12"><waypoints><position x="0" y="0" z="0"/>'
        '<position x="9" y="0" z="0"/></waypoints></route></routes>'
    )
    (plain,) = find_suite(str(path)).routes
    assert not plain.wet_grip
    assert find_suite("smoke", routes=str(path)).routes[0].wet_grip
    (wet,) = override(find_suite(str(path)), wet_grip=True).routes
    assert wet.wet_grip
    assert route_digest(wet) != route_digest(plain)
    assert not override(find_suite("smoke"), wet_grip=False).routes[0].wet_grip


def test_seeds():
    assert parse_seeds("1,2,3") == (1, 2, 3)
    assert parse_seeds("5-7, 1,6") == (5, 6, 7, 1)
    for bad in ("", "a", "3-1", "-1", "1.5"):
        with pytest.raises(UsageError, match="--seeds"):
            parse_seeds(bad)


@pytest.mark.parametrize("bad", ["a/b", "..", "", ".hidden", "a b"])
def test_ids_must_be_names_of_folders(bad):
    with pytest.raises(UsageError, match="folder's name"):
        check_ids(fake_suite(bad).routes)


def test_the_watchdog_wants_simulated_time_to_go_on():
    dog = Watchdog(limit_s=10.0)
    assert not dog.is_late(1e9)
    dog.expect(0.0, "starting")
    assert not dog.is_late(900.0)  # the server may be compiling
    dog.beat(900.0, 0.0, "loading")
    assert not dog.is_late(1200.0)  # and so may the worker
    dog.beat(1200.0, 0.05, "driving")
    assert not dog.is_late(1209.9)
    dog.beat(1205.0, 0.05, "driving")  # alive, but going nowhere
    assert dog.is_late(1210.0)
    dog.beat(1209.0, 1.0, "driving")
    assert not dog.is_late(1210.0)
    dog.rest()
    assert not dog.is_late(1e9)


def outcome(name, failure=""):
    return EpisodeOutcome(
        episode_id=name,
        end_reason="x",
        failure=failure,
        record_hash="",
        simulated_s=1.0,
        wall_s=1.0,
        folder=Path(name),
    )


def test_counts_and_running_scores():
    tally = Tally(total=6)
    assert tally.success_rate() is None
    assert tally.eta_s(10.0) is None
    tally.finished(outcome("a"), QuickScore(success=True, driving_score=80.0))
    tally.finished(outcome("b", "boom"), QuickScore(success=False, driving_score=60.0))
    tally.finished(outcome("c"), QuickScore(success=True, driving_score=math.nan))
    fault = {"slot": 0, "fault": Fault.EPISODE, "error": "e"}
    tally.broken(Broken(episode_id="d", **fault), will_retry=True)
    tally.broken(Broken(episode_id="d", **fault), will_retry=False)
    counts = (tally.done, tally.failed, tally.retried, tally.agent_failures, tally.left)
    assert counts == (3, 1, 1, 1, 2)
    assert tally.eta_s(30.0) == pytest.approx(20.0)
    rate, interval = tally.success_rate()
    assert rate == pytest.approx(2 / 3)
    assert (interval.low, interval.high) == (
        pytest.approx(0.2077, abs=1e-4),
        pytest.approx(0.9385, abs=1e-4),
    )
    mean, interval = tally.driving_score()
    # t(1, 0.975) = 12.706; half width 12.706 * 14.142 / sqrt(2) = 127: cut to the scale.
    assert (mean, interval.low, interval.high) == (70.0, 0.0, 100.0)


def test_seeds_of_a_route_are_no_independent_successes():
    tally = Tally(total=12)
    for route, good in zip("abcd", (True, True, False, False), strict=True):
        for seed in (1, 2, 3):
            score = QuickScore(
                success=good,
                driving_score=100.0 if good else 40.0,
                no_min_speed=90.0 if good else 50.0,
            )
            tally.finished(outcome(f"{route}-s{seed}"), score)
    rate, interval = tally.success_rate()
    want = wilson(2, 4)  # four routes, not twelve episodes
    assert (rate, interval.low, interval.high) == (0.5, want.low, want.high)
    mean, interval = tally.driving_score()
    # The t interval of four route means: 3.182 * 34.64 / 2.
    assert (mean, interval.low) == (70.0, pytest.approx(70.0 - 55.11, abs=0.02))
    assert tally.no_min_speed() == 70.0


def test_lines_show_the_driving_score_without_the_minimum_speed_factor():
    lines = []
    plain = PlainLines(Tally(total=2), lines.append)
    plain.finished(outcome("a"), QuickScore(success=True, driving_score=80.0, no_min_speed=95.0))
    plain.finished(outcome("b"), QuickScore(success=True, driving_score=80.0))
    assert lines[0].endswith("\tdriving score 80.0 (95.0 without minimum speed)")
    assert lines[1].endswith("\tdriving score 80.0")


def test_a_state_of_an_older_run_gets_the_new_column(tmp_path):
    with RunState(tmp_path) as state:
        state.announce(["a-s1", "b-s1"])
    with sqlite3.connect(tmp_path / STATE_FILE) as base:
        base.execute("ALTER TABLE episodes DROP COLUMN no_min_speed")
    base.close()
    with RunState(tmp_path) as state:
        assert state.rows()["a-s1"].no_min_speed is None
        state.note_score("a-s1", True, 80.0, 95.0)
        state.note_score("b-s1", True, 80.0)
        rows = state.rows()
    assert [rows[name].no_min_speed for name in ("a-s1", "b-s1")] == [95.0, None]


def test_the_live_table_shows_them():
    console = Console(width=140, record=True, force_terminal=True)
    tally = Tally(total=4)
    table = LiveTable(tally, "smoke with cruise", console)
    table.finished(outcome("a"), QuickScore(success=True, driving_score=80.0, no_min_speed=95.0))
    table.progress(
        PoolProgress(slot=0, episode_id="b", simulated_s=12.4, route_share=0.31, doing="driving")
    )
    console.print(table.view())
    text = console.export_text()
    assert "1/4" in text
    assert "100 [21, 100]" in text
    assert "80.0 [0.0, 100.0]" in text
    assert "95.0" in text
    assert "b  31 %  12 s  driving" in " ".join(text.split("\n")).replace("   ", "  ")


def test_hashes_are_compared_by_episode():
    found = compare_hashes({"a": "1", "b": "2", "c": "3"}, {"a": "1", "b": "x"})
    assert (found.identical, found.differing, found.uncompared) == (("a",), ("b",), ("c",))
    assert found.compared == 2


def test_a_pipe_gets_a_heartbeat_with_an_eta():
    now, lines, beats = [0.0], [], []
    plain = PlainLines(Tally(total=3), lines.append, beats.append, lambda: now[0])
    now[0] = 14.0
    plain.refresh()
    assert beats == []
    now[0] = 15.0
    plain.refresh()
    assert beats == [
        "0/3 after 0:15, ETA about 2:30: opening the town; the first use compiles for one to two "
        "minutes"
    ]
    plain.finished(outcome("a"), QuickScore(success=True, driving_score=80.0))
    plain.progress(
        PoolProgress(slot=0, episode_id="b", simulated_s=12.0, route_share=0.5, doing="drives")
    )
    now[0] = 29.0
    plain.refresh()
    assert len(beats) == 1
    now[0] = 60.0
    plain.refresh()
    # Town and kernels took 15 s; 1.5 episodes took 45 s, so 1.5 more take as long.
    assert beats[1] == "1/3 after 1:00, ETA 0:45: b 50 % after 12 s"


def test_the_first_episode_gives_an_eta_before_it_ends():
    now, beats = [0.0], []
    plain = PlainLines(Tally(total=2), beats.append, beats.append, lambda: now[0])

    def drives(share):
        plain.progress(
            PoolProgress(slot=0, episode_id="a", simulated_s=1.0, route_share=share, doing="drives")
        )

    now[0] = 100.0
    drives(0.01)
    plain.refresh()
    assert "ETA about 0:50: a 1 % after 1 s" in beats[0]
    now[0] = 120.0
    drives(0.5)  # in 20 s; so 60 s for the rest
    plain.refresh()
    assert "ETA 1:00: a 50 % after 1 s" in beats[1]


def test_each_option_of_a_run_is_in_the_command_and_in_run_files():
    names = {field.name for field in fields(RunOptions)}
    assert names <= set(inspect.signature(jaywalk.cli.run.run).parameters)
    assert names <= set(RunFile.model_fields)


def test_options_reach_episodes_and_workers(tmp_path):
    options = RunOptions(traffic="traffic-manager", retries=5, workers=3, seeds=(2,), limit=1)
    (request,) = make_requests("smoke", "cruise", options, tmp_path)
    assert request.workers == WorkerOptions(retries=5, workers=3)
    (plan,) = request.plans()
    assert (plan.seed, plan.options) == (2, EpisodeOptions(traffic="traffic-manager"))
