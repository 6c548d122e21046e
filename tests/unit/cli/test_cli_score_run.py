import json

import pytest
from driving_scenes import cruise, write_drive
from typer.testing import CliRunner

from jaywalk.cli.main import app
from jaywalk.cli.score import few_lines
from jaywalk.core.errors import UsageError


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "runs" / "mine"
    for seed in (1, 2):
        write_drive(folder, cruise(0.0, 101.5, 8.0), episode_id=f"open-s{seed}", seed=seed)
    return folder


def score(*arguments):
    return CliRunner().invoke(app, ["score", *map(str, arguments)])


def test_plain_lines_in_a_pipe_end_with_what_to_run_next(run):
    done = score(run, "--protocol", "leaderboard-2.1")
    assert done.exit_code == 0
    assert "success rate %\t100.0\t[" in done.stdout
    assert "driving score\t100.0" in done.stdout
    assert "scenario\tsuccess\tdriving score\twithout minimum speed\tcompletion" in done.stdout
    assert "open\t2/2\t100.0\t100.0\t100.0\t" in done.stdout
    assert "n\t2/2" in done.stdout
    assert done.stdout.splitlines()[-2:] == [
        f"scored: 2 records in {run}",
        f"next: jaywalk report {run} -o report.html",
    ]


def test_json_is_one_object(run):
    done = score(run, "--protocol", "bench2drive", "--json")
    value = json.loads(done.stdout)
    assert value["protocol"] == "bench2drive"
    assert value["run"] == "mine"
    assert value["status"] == "complete"
    assert value["success"]["sr"] == 100.0


def test_protocols_without_a_minimum_speed_have_no_column_for_it(run):
    assert "minimum speed" not in score(run).stdout


def test_a_table_of_groups_says_what_was_inspected_and_warns(run):
    done = score(run, "--by", "class")
    assert done.exit_code == 0, done.output
    assert "held out? seeds 1-3 are development seeds" in done.stderr
    assert "warning: fewer than 20 routes, intervals are widened: all" in done.stderr
    assert "nan" not in done.stdout
    plain = json.loads(score(run, "--by", "class", "--json").stdout)
    assert plain["inspected"].startswith("seeds 1-3 are development seeds")
    assert (plain["mixed_code"], plain["warnings"]) == (False, [])


def test_a_table_of_groups_says_that_a_run_mixes_code(run):
    path = run / "episodes" / "open-s2" / "episode.json"
    plain = json.loads(path.read_text())
    path.write_text(json.dumps(plain | {"code": {**plain["code"], "sources": "b" * 64}}))
    assert "warning: this run mixes code versions: our sources" in score(run, "--by", "side").stderr
    assert json.loads(score(run, "--by", "side", "--json").stdout)["mixed_code"] is True


def test_warnings_name_the_figures_that_rest_on_few_scenarios():
    assert few_lines(30, {"a": 30, "b": 20, "gone": 0}) == []
    (line,) = few_lines(30, {"a": 30, "pmais3_mean": 4})
    assert line.startswith("these rest on fewer than 20 scenarios")
    assert line.endswith(": pmais3_mean on 4")
    first, second = few_lines(12, {"a": 12, "fpbr": 1})
    assert first.startswith("only 12 scenarios, fewer than 20")
    assert second.endswith(": fpbr on 1")


def test_missing_episodes_give_exit_code_4(run):
    import sqlite3

    with sqlite3.connect(run / "run.sqlite") as base:
        base.execute("CREATE TABLE episodes (episode_id TEXT PRIMARY KEY, state TEXT)")
        names = [("open-s1",), ("open-s2",), ("open-s3",)]
        base.executemany("INSERT INTO episodes VALUES (?, 'pending')", names)
    base.close()
    done = score(run, "--protocol", "fail2drive")
    assert done.exit_code == 4
    assert "INCOMPLETE" in done.output


def test_options_of_result_files_do_not_go_with_a_run(run):
    for more in (["--method", "x"], ["--rounding", "parser"], ["--success-requires-completion"]):
        done = score(run, "--protocol", "fail2drive", *more)
        assert isinstance(done.exception, UsageError)
    assert isinstance(score().exception, UsageError)
