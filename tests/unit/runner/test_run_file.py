"""Run files, routes to keep, and what a run folder keeps of its sessions."""

import json
import sys

import pytest
import typer
from typer.testing import CliRunner

from jaywalk.cli import run as run_module
from jaywalk.cli.main import app
from jaywalk.core.errors import JaywalkError, UsageError
from jaywalk.record.episode import EPISODE_FILE
from jaywalk.record.run import RunFolder
from jaywalk.runner._folder import note_session, remove_traces
from jaywalk.runner.config import read_config, resolve_config, settle_config
from jaywalk.runner.job import RunRequest, WorkerOptions, run_request
from jaywalk.runner.plan import AgentSpec
from jaywalk.runner.run_file import RunFile, is_run_file, read_run_file
from jaywalk.runner.selection import first_of, subset_of
from jaywalk.scenarios.suite import load_suite


@pytest.fixture
def requested(monkeypatch):
    """The requests that ``jaywalk run`` would drive."""
    found = []
    monkeypatch.setattr(run_module, "run_all", lambda requests, **more: found.extend(requests))

    def call(*words):
        found.clear()
        ended = CliRunner().invoke(app, ["run", *map(str, words)])
        if ended.exception is not None and not isinstance(ended.exception, SystemExit):
            raise ended.exception
        assert ended.exit_code == 0, ended.output
        return found

    return call


def test_a_run_file_holds_every_option_of_the_command():
    command = typer.main.get_command(app).commands["run"].loaded
    names = {one.name for one in command.params} - {"as_json", "chosen", "help"}
    assert set(RunFile.model_fields) == names


def test_a_run_file_gives_the_request_of_the_same_command_line(tmp_path, requested):
    file = tmp_path / "mine.toml"
    file.write_text(
        'suite = "smoke"\nagent = ["cruise", "blind"]\nseeds = [1, 2]\nsubset = "9,12"\n'
        'people = 3\nwet-grip = false\nretries = 0\nout = "here"\nworkers = 2\n'
    )
    from_file = requested(file)
    words = "--seeds 1,2 --subset 9,12 --people 3 --no-wet-grip --retries 0 --out here --workers 2"
    assert from_file == requested("smoke", "--agent", "cruise,blind", *words.split())
    assert len(from_file) == 2


def test_the_command_line_comes_first(tmp_path, requested):
    file = tmp_path / "mine.toml"
    file.write_text('suite = "smoke"\nagent = "cruise"\nseeds = 2\nlimit = 3\n')
    (request,) = requested(file, "--agent", "blind", "--limit", 1)
    assert request.agent.name == "blind"
    assert (request.seeds, len(request.suite.routes)) == ((2,), 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('agnt = "cruise"', "no option 'agnt'. Did you mean 'agent'?"),
        ("retries = -1", "retries is -1: .*greater than or equal to 0"),
        ('workers = "two"', "workers is 'two': .*valid integer"),
        ("people = true", "people is True: .*valid integer"),
        ('perception = "some"', "perception is 'some': .*'full' or 'limited'"),
        ('traffic = "none"', "traffic is 'none'"),
    ],
)
def test_wrong_run_files_name_the_key(tmp_path, text, words):
    file = tmp_path / "mine.toml"
    file.write_text(f'suite = "smoke"\n{text}\n')
    assert is_run_file(str(file))
    with pytest.raises(UsageError, match=words):
        read_run_file(file)


def test_a_run_file_without_an_agent_says_so(tmp_path, requested):
    file = tmp_path / "mine.toml"
    file.write_text('suite = "smoke"\n')
    with pytest.raises(UsageError, match="--agent NAME"):
        requested(file)


def test_a_scenario_file_is_no_run_file(tmp_path):
    file = tmp_path / "scenario.toml"
    file.write_text('town = "Harbour"\n[[scenario]]\ntype = "CustomObstacle"\n')
    assert not is_run_file(str(file))
    file.write_text("suite = [")
    assert not is_run_file(str(file))
    assert not is_run_file("smoke")


def test_routes_by_number_with_zeros():
    suite = load_suite("smoke")
    assert [one.id for one in subset_of(suite, "05,9-10").routes] == [
        "05-orchard-stepping-out",
        "09-ridge-open-rural",
        "10-ridge-hard-brake",
    ]
    assert subset_of(suite, "05") == subset_of(suite, "5")
    assert len(subset_of(load_suite("fail2drive"), "0075,1075").routes) == 2
    with pytest.raises(UsageError, match="Did you mean '09-ridge-open-rural'"):
        subset_of(suite, "09-ridge-open-rurl")
    assert len(first_of(suite, 2).routes) == 2
    assert first_of(suite, 0) is suite


def test_a_run_folder_keeps_its_command_and_environment(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["jaywalk", "run", "smoke"])
    monkeypatch.setenv("JAYWALK_TOWN_PATH", "towns")
    note_session(tmp_path)
    note_session(tmp_path)
    first, second = map(json.loads, RunFolder(tmp_path).sessions_file.read_text().splitlines())
    assert first["command"] == ["jaywalk", "run", "smoke"]
    assert first["environment"]["JAYWALK_TOWN_PATH"] == "towns"
    assert "PATH" not in first["environment"]
    assert first["packages"]["numpy"]
    assert second["python"] == first["python"]


def request_of(folder, **workers):
    suite = first_of(load_suite("smoke"), 1)
    return RunRequest(
        run_folder=folder,
        suite=suite,
        agent=AgentSpec(name="blind"),
        seeds=(1,),
        workers=WorkerOptions(**workers),
    )


def test_a_refused_command_leaves_no_folder(tmp_path):
    folder = tmp_path / "runs" / "x"
    with pytest.raises(JaywalkError):
        run_request(request_of(folder, cluster="no such address", workers=1), lambda tally: None)
    assert not folder.parent.exists()  # it was made for the run
    folder.parent.mkdir()
    with pytest.raises(JaywalkError):
        run_request(request_of(folder, cluster="no such address", workers=1), lambda tally: None)
    assert folder.parent.exists()
    assert not folder.exists()


def test_other_files_of_a_refused_command_stay(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "notes.txt").write_text("mine")
    remove_traces(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_the_config_of_a_command_that_failed_blocks_no_other(tmp_path):
    def config(agent):
        suite = first_of(load_suite("smoke"), 1)
        return resolve_config(suite, AgentSpec(name=agent), [], {})

    settle_config(tmp_path, config("blind"))
    RunFolder(tmp_path).state_file.touch()
    settle_config(tmp_path, config("bold"))
    assert read_config(tmp_path).agent.name == "bold"
    assert not RunFolder(tmp_path).state_file.exists()
    record = RunFolder(tmp_path).episode("a-s1") / EPISODE_FILE
    record.parent.mkdir(parents=True)
    record.write_text("{}")
    with pytest.raises(UsageError, match="holds a run with another config; agent: 'bold' there"):
        settle_config(tmp_path, config("blind"))
