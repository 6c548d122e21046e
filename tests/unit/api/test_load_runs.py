"""Runs as data frames: the numbers are those of the commands."""

import json
import subprocess
import sys

import polars as pl
import pytest
from driving_scenes import cruise, write_drive
from street_episode import HIT_TICK, write_street
from typer.testing import CliRunner

import jaywalk
import jaywalk.record
from jaywalk.cli.main import app
from jaywalk.core.errors import JaywalkError, UsageError
from jaywalk.record.queries import event_rows, state_rows


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Two runs of the same routes: one hits a person, the other ends before."""
    root = tmp_path_factory.mktemp("runs")
    same = {"suite": "jaywalk/smoke-v1", "scenario": "jaywalk/stepping-out-v1"}
    for seed in (1, 2):
        write_street(root / "one", f"a-s{seed}", seed=seed, agent={"name": "blind"}, **same)
        two = {"seed": seed, "agent": {"name": "cruise"}, "ticks": HIT_TICK - 10}
        write_street(root / "two", f"a-s{seed}", **two, **same)
    return root


@pytest.fixture(scope="module")
def run(folders):
    return jaywalk.load(folders / "one")


def command(*words):
    done = CliRunner().invoke(app, [*map(str, words), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def open_road(tmp_path_factory):
    """Two drives that public protocols can score too."""
    folder = tmp_path_factory.mktemp("runs") / "open"
    for seed in (1, 2):
        write_drive(folder, cruise(0.0, 101.5, 8.0), episode_id=f"a-s{seed}", seed=seed)
    return jaywalk.load(folder)


@pytest.mark.parametrize("protocol", ["jaywalk", "leaderboard-2.1", "bench2drive"])
def test_scores_are_those_of_the_command_under_every_protocol(open_road, protocol):
    check_scores(open_road, protocol)


def test_scores_of_a_run_with_a_hit_are_those_of_the_command(run):
    check_scores(run, "jaywalk")


def check_scores(run, protocol):
    told = command("score", run.folder, "--protocol", protocol)
    table = run.scores(protocol)
    mine = {row["metric"]: row for row in table.filter(kind="mean").iter_rows(named=True)}
    assert list(mine) == list(told["metrics"])
    for name, figure in told["metrics"].items():
        assert mine[name]["value"] == figure["value"]
        assert (mine[name]["low"], mine[name]["high"]) == (figure["low"], figure["high"])
        assert mine[name]["n"] == figure["n"]
    rates = {row["metric"]: row for row in table.filter(kind="per_km").iter_rows(named=True)}
    assert {name: row["value"] for name, row in rates.items()} == {
        name: rate["value"] for name, rate in told["rates_per_km"].items()
    }
    [success] = table.filter(kind="rate").iter_rows(named=True)
    assert success["value"] == told["success"]["sr"]
    assert (success["low"], success["high"]) == (told["success"]["low"], told["success"]["high"])


def test_episodes_and_their_scores_are_those_of_the_command(run):
    told = command("score", run.folder)
    table = run.episode_scores()
    assert run.episodes["episode_id"].to_list() == ["a-s1", "a-s2"]
    assert run.episodes["recorded"].all()
    assert run.episodes["agent"].unique().to_list() == ["blind"]
    for row, episode in zip(table.iter_rows(named=True), told["episodes"], strict=True):
        assert (row["episode_id"], row["success"]) == (episode["episode_id"], episode["success"])
        assert {name: row[name] for name in episode["metrics"]} == episode["metrics"]
        assert {name: row[f"n_{name}"] for name in episode["counts"]} == episode["counts"]
    listed = [
        (episode["episode_id"], event["kind"], event["tick"])
        for episode in told["episodes"]
        for event in episode["infractions"]
    ]
    assert run.infractions().select("episode_id", "kind", "tick").rows() == listed
    assert ("a-s1", "collisions_person", HIT_TICK) in listed


def test_a_comparison_is_that_of_the_command(run, folders):
    other = jaywalk.load(folders / "two")
    [told] = command("compare", run.folder, other.folder)["comparisons"]
    table = run.compare(other)
    mine = {(row["metric"], row["kind"] == "per_km"): row for row in table.iter_rows(named=True)}
    for part, per_km in (("metrics", False), ("rates_per_km", True)):
        for name, values in told[part].items():
            row = mine.pop((name, per_km))
            assert row["difference"] == values["difference"]
            assert [row["low"], row["high"]] == values["interval"]
            assert (row["p_value"], row["p_holm"]) == (values["p_value"], values["p_holm"])
    assert not mine


def test_events_and_tracks_are_the_tables_of_the_records(run):
    record = jaywalk.record.open(run.folder / "episodes/a-s1")
    states = state_rows(record)
    tracks = run.tracks("a-s1")
    assert tracks.height == states.height
    for name in states.columns:
        assert tracks[name].equals(states[name]), name
    times = dict(record.ticks.select("tick", "time_s").collect().rows())
    assert tracks["time_s"].to_list() == [times[tick] for tick in tracks["tick"]]
    assert tracks.filter("is_ego")["actor"].unique().to_list() == [record.episode.ego_actor]
    mine = run.events.filter(pl.col("episode_id") == "a-s1").drop("episode_id", "time_s")
    assert mine.equals(event_rows(record))


def test_wrong_names_get_a_clear_error(run, tmp_path, folders):
    for path, words in (
        (tmp_path / "absent", "is not a folder"),
        (tmp_path, "has no episodes"),
        (folders, "It contains runs: one, two"),
    ):
        with pytest.raises(UsageError, match=words):
            jaywalk.load(path)
    with pytest.raises(UsageError, match="Did you mean 'a-s1'"):
        run.tracks("a-s11")
    with pytest.raises(JaywalkError, match="protocol"):
        run.scores("jaywalks")
    with pytest.raises(UsageError, match="Load it first"):
        run.compare("runs/two")


def test_damaged_and_missing_records_are_not_hidden(tmp_path):
    folder = tmp_path / "run"
    for seed in (1, 2):
        write_drive(folder, cruise(0.0, 101.5, 8.0), episode_id=f"a-s{seed}", seed=seed)
    (folder / "episodes/a-s2/states.parquet").write_bytes(b"")
    run = jaywalk.load(folder)
    with pytest.warns(UserWarning, match="states.parquet"):
        assert run.episodes["recorded"].to_list() == [True, False]
    assert not run.is_complete
    with pytest.warns(UserWarning, match=r"not scored|incomplete: 1 of 2") as noted:
        run.scores()
    assert any("is incomplete: 1 of 2" in str(one.message) for one in noted)


def test_the_package_loads_nothing_until_it_is_used():
    program = (
        "import sys, jaywalk; heavy = {'polars', 'numpy', 'numba', 'matplotlib', 'typer'}; "
        "assert not heavy & set(sys.modules), heavy & set(sys.modules); "
        "assert {'Run', 'drive', 'load'} <= set(jaywalk.__all__); jaywalk.load"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
