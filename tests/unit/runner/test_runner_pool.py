"""The pool, with made-up episodes that go wrong in every way."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest
from child import PATIENCE_S, wait_for
from fake_episodes import fake_agent, fake_suite, fake_workers

import jaywalk.record
from jaywalk.core.errors import PrerequisiteError, UsageError
from jaywalk.runner.job import RunRequest, WorkerOptions, run_request
from jaywalk.runner.pool import QuickScore
from jaywalk.runner.progress import PlainLines
from jaywalk.runner.state import DONE, FAILED, PENDING, RunState

pytestmark = pytest.mark.slow  # every run starts processes


def request(folder, *ids, seeds=(1,), suite=None, agent=None, people=None, **workers):
    return RunRequest(
        run_folder=folder,
        suite=suite or fake_suite(*ids),
        agent=agent or fake_agent(),
        seeds=seeds,
        overrides={"people": people},
        workers=WorkerOptions(**({"workers": 2, "watchdog_s": 20.0} | workers)),
    )


def run(wanted, score=None):
    lines = []
    with fake_workers():
        summary = run_request(
            wanted, lambda tally: PlainLines(tally, lines.append), say=lines.append, score=score
        )
    return summary, lines


def starts(folder):
    log = folder / "started.log"
    return Counter(line.split()[0] for line in log.read_text().splitlines())


def rows(folder):
    with RunState(folder) as state:
        return state.rows()


def no_process_left(folder):
    pids = {
        int(p)
        for line in (folder / "started.log").read_text().splitlines()
        for p in line.split()[1:]
    }
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        alive = [
            p
            for p in pids
            if psutil.pid_exists(p) and psutil.Process(p).status() != psutil.STATUS_ZOMBIE
        ]
        if not alive:
            return True
        time.sleep(0.05)
    return False


def test_runs_all_and_then_nothing_again(tmp_path):
    wanted = request(tmp_path / "r", "ok-1", "ok-2", "agent-fails", seeds=(1, 2))
    summary, lines = run(wanted)
    assert summary.is_complete
    assert (summary.total, summary.ran, summary.agent_failures) == (6, 6, 2)
    assert len([line for line in lines if "route completed" in line]) == 4
    assert len([line for line in lines if "agent failed: ValueError: boom" in line]) == 2
    assert len(list(jaywalk.record.find_records(tmp_path / "r"))) == 6
    row = rows(tmp_path / "r")["agent-fails-s2"]
    assert (row.state, row.attempts, row.error) == (DONE, 1, "")
    assert "ValueError: boom" in row.failure
    folder = tmp_path / "r/episodes/agent-fails-s2"
    assert row.record_hash == jaywalk.record.record_hash(folder) == summary.hashes["agent-fails-s2"]
    again, lines = run(wanted)
    assert (again.ran, again.hashes, lines) == (0, summary.hashes, [])
    assert set(starts(tmp_path / "r").values()) == {1}
    assert no_process_left(tmp_path / "r")


def test_faults_are_retried_and_recorded(tmp_path):
    ids = ("crash-once", "raise-once", "server-dies-once", "ok")
    summary, lines = run(request(tmp_path, *ids))
    assert summary.is_complete
    found = rows(tmp_path)
    assert {name: row.attempts for name, row in found.items()} == {
        "crash-once-s1": 2,
        "raise-once-s1": 2,
        "server-dies-once-s1": 2,
        "ok-s1": 1,
    }
    assert "SIGSEGV; it said: last words of the worker" in found["crash-once-s1"].error
    assert "connection lost" in found["raise-once-s1"].error
    assert "time-out while waiting" in found["server-dies-once-s1"].error
    assert len([line for line in lines if "will be tried again" in line]) == 3
    assert no_process_left(tmp_path)
    assert not list((tmp_path / "episodes").glob(".unfinished*"))


def test_retries_are_bounded_and_a_bad_plan_is_tried_once(tmp_path):
    summary, lines = run(request(tmp_path, "crash-always", "bad-plan", "ok", retries=1))
    found = rows(tmp_path)
    assert (summary.done, summary.failed, summary.is_complete) == (1, 2, False)
    assert (found["crash-always-s1"].state, found["crash-always-s1"].attempts) == (FAILED, 2)
    assert (found["bad-plan-s1"].state, found["bad-plan-s1"].attempts) == (FAILED, 1)
    assert "does not fit into the town" in found["bad-plan-s1"].error
    assert len([line for line in lines if "given up" in line]) == 2
    # The same command again gives them a fresh chance.
    run(request(tmp_path, "crash-always", "bad-plan", "ok", retries=1))
    assert rows(tmp_path)["crash-always-s1"].attempts == 4


def test_the_watchdog_ends_what_is_stuck(tmp_path):
    summary, _ = run(request(tmp_path, "hang-once", watchdog_s=5.0))
    row = rows(tmp_path)["hang-once-s1"]
    assert summary.is_complete
    assert row.attempts == 2
    assert "stuck while driving" in row.error
    assert no_process_left(tmp_path)


def test_a_record_that_was_in_place_before_the_crash_counts(tmp_path):
    summary, _ = run(request(tmp_path, "crash-late-once"))
    row = rows(tmp_path)["crash-late-once-s1"]
    assert summary.is_complete
    assert (row.state, row.attempts) == (DONE, 1)
    assert row.record_hash == jaywalk.record.record_hash(tmp_path / "episodes/crash-late-once-s1")


def test_no_world_at_all_ends_the_run(tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE_NO_WORLD", "1")
    with pytest.raises(PrerequisiteError, match="no server today"):
        run(request(tmp_path, "ok-1", "ok-2", "ok-3"))
    assert not (tmp_path / "run.sqlite").exists()  # a run without a record leaves no folder


def test_no_agent_to_be_reached_ends_the_run_and_nothing_is_recorded(tmp_path):
    with pytest.raises(PrerequisiteError, match=r"No agent can be reached; .*nobody listens"):
        run(request(tmp_path, "ok-1", "no-agent-1", "no-agent-2", "no-agent-3"))
    states = {name: row.state for name, row in rows(tmp_path).items()}
    assert states.pop("ok-1-s1") == DONE
    assert set(states.values()) == {PENDING}


def test_another_config_is_refused_and_more_of_the_same_is_added(tmp_path):
    run(request(tmp_path, "ok-1"))
    with pytest.raises(UsageError, match=r"agent arguments: \{\} there, \{'bold': True\} here"):
        run(request(tmp_path, "ok-1", agent=fake_agent(bold=True)))
    with pytest.raises(UsageError, match="content of 1 routes"):
        run(request(tmp_path, "ok-1", suite=fake_suite("ok-1", town="Ridge")))
    with pytest.raises(UsageError, match="people: None there, 30 here"):
        run(request(tmp_path, "ok-1", people=30))
    summary, _ = run(request(tmp_path, "ok-1", "ok-2", seeds=(2, 3)))
    assert summary.is_complete
    assert summary.ran == 4
    assert len(rows(tmp_path)) == 5
    config = jaywalk.runner.config.read_config(tmp_path)
    assert config.seeds == [1, 2, 3]
    assert config.episodes == ["ok-1-s1", "ok-1-s2", "ok-1-s3", "ok-2-s2", "ok-2-s3"]


def test_folder_and_state_are_brought_into_line(tmp_path):
    wanted = request(tmp_path, "ok-1", "ok-2", "ok-3")
    first, _ = run(wanted)
    (tmp_path / "run.sqlite").unlink()  # all three are adopted ...
    (tmp_path / "episodes/.unfinished-ok-1-s1-abc").mkdir()
    (tmp_path / "episodes/ok-2-s1/states.parquet").write_bytes(b"")  # ... but this one
    again, lines = run(wanted)
    assert (again.ran, again.hashes) == (1, first.hashes)
    assert any("ok-2-s1" in line and "will be run again" in line for line in lines)
    assert (tmp_path / "episodes/.damaged-ok-2-s1-1").is_dir()
    assert not list((tmp_path / "episodes").glob(".unfinished*"))
    jaywalk_record = tmp_path / "episodes/ok-3-s1"
    jaywalk_record.rename(tmp_path / "elsewhere")
    again, lines = run(wanted)
    assert (again.ran, again.hashes) == (1, first.hashes)
    assert any("its record is gone" in line for line in lines)


@pytest.mark.parametrize("how", ["emptied", "cut", "edited"])
def test_a_run_with_a_damaged_record_is_not_complete(tmp_path, how):
    wanted = request(tmp_path, "ok-1", "ok-2")
    first, _ = run(wanted)
    file = tmp_path / "episodes/ok-2-s1/ticks.parquet"
    content = file.read_bytes()
    if how == "edited":
        episode = tmp_path / "episodes/ok-2-s1/episode.json"
        episode.write_text(episode.read_text().replace('"end_reason": "', '"end_reason": "not '))
    else:
        file.write_bytes(content[: len(content) // 2] if how == "cut" else b"")
    again, lines = run(wanted)
    assert (again.ran, again.hashes) == (1, first.hashes)
    assert again.is_complete
    assert any("ok-2-s1" in line and "will be run again" in line for line in lines)
    assert (tmp_path / "episodes/.damaged-ok-2-s1-1").is_dir()


def test_scores_are_shown_and_survive_a_resume(tmp_path):
    def score(folder: Path) -> QuickScore:
        return QuickScore(success=True, driving_score=50.0)

    run(request(tmp_path, "ok-1"), score=score)
    tallies = []

    def show(tally):
        tallies.append(tally)
        return PlainLines(tally, lambda line: None)

    with fake_workers():
        run_request(request(tmp_path, "ok-1", "ok-2"), show, score=score)
    rate, interval = tallies[0].success_rate()
    assert (rate, len(tallies[0].scores)) == (1.0, 2)
    assert 0.2 < interval.low < 0.5


def test_two_schedulers_cannot_share_a_folder(tmp_path):
    from jaywalk.runner._folder import RunLock

    with RunLock(tmp_path):
        with pytest.raises(PrerequisiteError, match=f"in use by .*pid {os.getpid()}"):
            run(request(tmp_path, "ok-1"))
    run(request(tmp_path, "ok-1"))


PROGRAM = """
import sys
from pathlib import Path
from test_runner_pool import request, run
run(request(Path(sys.argv[1]), *sys.argv[2:]))
"""


def start_program(folder, *ids):
    paths = [str(Path(__file__).parent), *filter(None, sys.path)]
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder), *ids],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "FAKE_LET_THROUGH": "1"},
        start_new_session=True,
    )


def test_a_killed_run_leaves_nothing_and_goes_on(tmp_path):
    ids = [f"slow-{n}" for n in range(6)]
    undisturbed, _ = run(request(tmp_path / "a", *ids))
    process = start_program(tmp_path / "b", *ids)
    wait_for(lambda: any((tmp_path / "b").glob("episodes/slow*")), "the first record")
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert no_process_left(tmp_path / "b")
    resumed, _ = run(request(tmp_path / "b", *ids))
    assert resumed.hashes == undisturbed.hashes
    assert 0 < resumed.ran < 6
    # Those after the first record wait (FAKE_LET_THROUGH); at most two were begun again.
    assert sum(starts(tmp_path / "b").values()) <= 8
