import csv
import io
import json
import re
import shutil
import sqlite3

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from driving_scenes import cruise, write_drive
from typer.testing import CliRunner

from jaywalk.cli.main import app
from jaywalk.cli.score import few_lines
from jaywalk.core.errors import DataError, UsageError
from jaywalk.record import record_hash


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


def test_chosen_metrics_by_name_or_by_words(run):
    done = score(run, "--metrics", "route completion %,success_rate", "--format", "csv")
    assert done.exit_code == 0, done.output
    first, *rows = done.stdout.splitlines()
    assert first == "metric,score,value,low,high,n"
    assert [row.split(",")[0] for row in rows] == ["route_completion", "success_rate"]
    wrong = score(run, "--metrics", "sucess_rate")
    assert isinstance(wrong.exception, UsageError)
    assert "Did you mean 'success_rate'?" in str(wrong.exception)


def test_chosen_metrics_of_a_comparison(run):
    other = run.with_name("other")
    shutil.copytree(run, other)
    words = ["compare", str(run), str(other), "--metrics", "success_rate,stop_per_km"]
    done = CliRunner().invoke(app, [*words, "--format", "csv"])
    assert done.exit_code == 0, done.output
    first, *rows = csv.reader(io.StringIO(done.stdout))
    assert first[:9] == [
        *("metric", "label", "primary", "baseline run", "baseline"),
        *("candidate run", "candidate", "difference", "low"),
    ]
    assert [row[:3] for row in rows] == [
        ["success_rate", "success rate %", "yes"],
        ["stop_per_km", "stop signs passed per km", "no"],
    ]


@pytest.mark.parametrize("protocol", ["jaywalk", "bench2drive"])
def test_csv_has_the_numbers_of_json_in_columns_of_their_own(run, protocol):
    words = ("--protocol", protocol)
    rows = list(csv.DictReader(io.StringIO(score(run, *words, "--format", "csv").stdout)))
    value = json.loads(score(run, *words, "--json").stdout)
    summary = {row["metric"]: row for row in rows if row["table"] == "summary"}
    shared = [name for name in value["metrics"] if name in summary]
    assert len(shared) >= 3
    for name in shared:
        for column in ("value", "low", "high", "n"):
            cell = summary[name][column]
            found = float(cell) if cell else None
            assert found == pytest.approx(value["metrics"][name][column]), (name, column)
    assert sum(row["table"] == "scenarios" for row in rows) == 1
    assert {row["table"] for row in rows} >= {"summary", "scenarios"}


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
    with sqlite3.connect(run / "run.sqlite") as base:
        base.execute("CREATE TABLE episodes (episode_id TEXT, state TEXT, record_hash TEXT)")
        names = [("open-s1",), ("open-s2",), ("open-s3",)]
        base.executemany("INSERT INTO episodes VALUES (?, 'pending', '')", names)
    base.close()
    done = score(run, "--protocol", "fail2drive")
    assert done.exit_code == 4
    assert "INCOMPLETE" in done.output
    alone = score(run, "--table", "summary", "--format", "csv")
    assert alone.exit_code == 4
    assert "INCOMPLETE" in alone.stderr
    assert alone.stdout.startswith("metric,score,")


def test_options_of_result_files_do_not_go_with_a_run(run):
    for more in (["--method", "x"], ["--rounding", "parser"], ["--success-requires-completion"]):
        done = score(run, "--protocol", "fail2drive", *more)
        assert isinstance(done.exception, UsageError)
    assert isinstance(score().exception, UsageError)


@pytest.fixture
def changed(run):
    """The run with its hashes noted; afterwards the second record was edited."""
    folders = {name: run / "episodes" / name for name in ("open-s1", "open-s2")}
    with sqlite3.connect(run / "run.sqlite") as base:
        base.execute("CREATE TABLE episodes (episode_id TEXT, state TEXT, record_hash TEXT)")
        rows = [(name, "done", record_hash(folder)) for name, folder in folders.items()]
        base.executemany("INSERT INTO episodes VALUES (?, ?, ?)", rows)
    base.close()
    assert score(run).exit_code == 0
    path = folders["open-s2"] / "states.parquet"
    table = pq.read_table(path)
    x_m = pc.add(table["x_m"], pa.scalar(0.5, pa.float32()))
    pq.write_table(table.set_column(table.schema.get_field_index("x_m"), "x_m", x_m), path)
    return run


_CHANGED = "not scored: episodes/open-s2: .* was changed after it was written: .* has the hash"


def test_a_record_that_was_changed_is_named_and_not_scored(changed):
    done = score(changed, "--protocol", "leaderboard-2.1")
    assert done.exit_code == 4
    assert re.search(f"warning: {_CHANGED}", done.stderr)
    assert "INCOMPLETE: 1 of 2 missing, counted as zero: open-s2" in done.stderr
    plain = json.loads(score(changed, "--json").stdout)
    assert (plain["status"], plain["missing"]) == ("INCOMPLETE", ["open-s2"])
    assert any(re.search(_CHANGED, line) for line in plain["warnings"])
    with pytest.raises(DataError, match="open-s2 was changed after it was written"):
        raise score(changed, "--by", "class").exception


def test_a_record_with_a_damaged_page_is_named_and_not_scored(changed):
    path = changed / "episodes" / "open-s1" / "states.parquet"
    raw = bytearray(path.read_bytes())
    raw[100:400] = bytes(300)
    path.write_bytes(raw)
    done = score(changed)
    assert done.exit_code == 4
    assert re.search(r"not scored: episodes/open-s1: .*states\.parquet is damaged", done.stderr)
    (changed / "run.sqlite").unlink()  # nor without the list of hashes
    done = score(changed)
    assert done.exit_code == 4
    assert "warning: not scored: episodes/open-s1: " in done.stderr


def test_compare_and_report_name_a_record_that_was_changed(changed, tmp_path):
    other = tmp_path / "other"
    for seed in (1, 2):
        write_drive(other, cruise(0.0, 101.5, 8.0), episode_id=f"open-s{seed}", seed=seed)
    both = [str(other), str(changed)]
    done = CliRunner().invoke(app, ["compare", *both])
    assert done.exit_code == 4
    assert re.search(_CHANGED, done.output)
    plain = json.loads(CliRunner().invoke(app, ["compare", *both, "--json"]).stdout)
    assert any(re.search(_CHANGED, line) for line in plain["warnings"])
    page = tmp_path / "report.html"
    done = CliRunner().invoke(app, ["report", *both, "-o", str(page), "--most-episodes", "0"])
    assert done.exit_code == 0, done.output
    assert "INCOMPLETE" in done.output
    assert re.search(_CHANGED, page.read_text())
