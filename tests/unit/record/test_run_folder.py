"""The layout of a run folder, and what it announces."""

import sqlite3

import pytest
from street_episode import write_street

from jaywalk.core.errors import DataError
from jaywalk.record.run import RunFolder


def test_a_record_makes_a_folder_a_run(tmp_path):
    run = RunFolder(tmp_path / "run")
    assert not run.is_run
    write_street(run.path, "r1-s1", ticks=4, suite="jaywalk/street-v1")
    assert run.is_run
    assert list(run.records()) == [run.episode("r1-s1")]
    assert RunFolder(run.episode("r1-s1")).is_run
    assert run.announced() is None


def test_announced_episodes_keep_their_order(tmp_path):
    run = RunFolder(tmp_path)
    with sqlite3.connect(run.state_file) as base:
        base.execute("CREATE TABLE episodes (episode_id TEXT PRIMARY KEY)")
        base.executemany("INSERT INTO episodes VALUES (?)", [("b-s1",), ("a-s1",)])
    base.close()
    assert run.is_run
    assert run.announced() == ["b-s1", "a-s1"]


def test_a_damaged_state_file_is_named(tmp_path):
    run = RunFolder(tmp_path)
    run.state_file.write_text("no database, but long enough to be read as one " * 40)
    with pytest.raises(DataError, match=r"run\.sqlite cannot be read as the list of a run"):
        run.announced()
