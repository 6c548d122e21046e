import json

import pytest
from driving_scenes import cruise, write_drive
from typer.testing import CliRunner

from jaywalk.cli.main import app
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
