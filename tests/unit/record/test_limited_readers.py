"""Readers of a record's files refuse what is too large or is no file, before they read it."""

import json
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from record_scenes import write_episode

import jaywalk.record
from jaywalk.core.errors import DataError
from jaywalk.core.files import DATA_BYTES, TEXT_BYTES
from jaywalk.forecasting.behaviour.sim_export import read_place
from jaywalk.forecasting.context import town_map
from jaywalk.record.episode import EPISODE_FILE
from jaywalk.record.files import SharedFiles
from jaywalk.report.ground_plan import town_of
from jaywalk.report.scored_runs import what_was_tested
from jaywalk.rollouts._closed_loop import ClosedLoop
from jaywalk.rollouts.cases._recorded import _map_of
from jaywalk.runner.config import _codes_of_records

SOURCES = Path(jaywalk.record.__file__).parents[1]
ROOMS_OF_READERS = ("datasets", "forecasting", "metrics", "record", "report", "rollouts", "studio")
PACKAGE_ASSETS = {"report/behaviour_page.py", "report/leaderboard_page.py", "report/page.py"}
READERS_OF_MAPS = {
    "read_place": lambda path: read_place(path, "Harbour"),
    "town_map": lambda path: town_map(path, "Harbour", np.zeros(2), np.ones(2), 0.5),
    "_map_of": lambda path: _map_of(path, "Harbour"),
    "town_of": lambda path: town_of(record_with(path)),
    "ClosedLoop": lambda path: ClosedLoop(
        recorded=SimpleNamespace(record=record_with(path)), world=None, policy="traffic", seed=1
    ),
}


def record_with(map_file):
    """The parts of a record that a reader of its map uses."""
    files = {"opendrive": SimpleNamespace(sha256="0" * 64)}
    return SimpleNamespace(
        episode=SimpleNamespace(files=files, town="Harbour"), shared_file=lambda role: map_file
    )


def grow(path, size):
    """Make a file so long; the new part takes no space on the disk."""
    with path.open("ab") as file:
        file.truncate(size)
    return path


@pytest.mark.parametrize("reader", READERS_OF_MAPS)
def test_a_map_has_a_limit_and_is_a_file(tmp_path, reader, monkeypatch):
    monkeypatch.setattr("jaywalk.rollouts._closed_loop.actors_before", lambda scene: [])
    with pytest.raises(DataError, match=f"more than {TEXT_BYTES} bytes"):
        READERS_OF_MAPS[reader](grow(tmp_path / "map.xodr", TEXT_BYTES + 1))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="is a pipe"):
        READERS_OF_MAPS[reader](tmp_path / "pipe")


def test_the_facts_of_an_episode_have_a_limit(tmp_path):
    path = tmp_path / EPISODE_FILE
    run = SimpleNamespace(episode_folder=lambda episode: tmp_path)
    episode = SimpleNamespace(suite="s", scenario="c")
    path.write_text(json.dumps({"town": "Ridge", "parameters": {"people_model": "reactive"}}))
    assert what_was_tested(run, episode)["people"] == "reactive"
    path.write_text("[" * 200_000)
    with pytest.raises(DataError, match="is cut off or edited"):
        what_was_tested(run, episode)
    with pytest.raises(DataError, match=f"more than {TEXT_BYTES} bytes"):
        what_was_tested(run, SimpleNamespace(suite=grow(path, TEXT_BYTES + 1), scenario="c"))


def test_versions_of_a_record_that_is_too_large_are_left_out(tmp_path):
    folder = tmp_path / "episodes" / "e"
    write_episode(folder)
    assert len(_codes_of_records(tmp_path)) == 1
    grow(folder / EPISODE_FILE, TEXT_BYTES + 1)
    assert _codes_of_records(tmp_path) == []


def test_a_shared_file_has_a_limit(tmp_path):
    files = SharedFiles(tmp_path)
    town = files.add(b"town", ".xodr")
    write_episode(tmp_path / "episodes" / "e", files={"opendrive": town})
    record = jaywalk.record.open(tmp_path / "episodes" / "e")
    grow(files.folder / town.name, DATA_BYTES + 1)
    with pytest.raises(DataError, match=f"more than {DATA_BYTES} bytes"):
        record.shared_file("opendrive")


def test_rooms_that_read_records_read_no_file_without_a_limit():
    unlimited = {
        path.relative_to(SOURCES).as_posix()
        for room in ROOMS_OF_READERS
        for path in (SOURCES / room).rglob("*.py")
        if any(call in path.read_text("utf-8") for call in (".read_text(", ".read_bytes("))
    }
    assert unlimited == PACKAGE_ASSETS
