"""Driving from a program: options, progress, resuming."""

import inspect
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import pytest
from fake_episodes import write_routes

import jaywalk
from jaywalk.api.driving import NotebookBar, _seeds
from jaywalk.core.errors import UsageError
from jaywalk.runner.plan import EpisodeOutcome
from jaywalk.runner.pool import Broken, Fault, PoolProgress
from jaywalk.runner.progress import Tally
from jaywalk.runner.request import RunOptions

WORKER = Path(__file__).parents[2] / "support/programs/fake_worker.py"
# A plain script without `if __name__ == "__main__"`; only the episodes are made up.
SCRIPT = """
import jaywalk.runner.local
jaywalk.runner.local.WORKER_PROGRAM = ({worker!r},)

import jaywalk
print("script starts")
run = jaywalk.drive("r.xml", "cruise", seeds=[1, 2], subset={subset!r}, workers=2)
print(run.folder, run.episodes["episode_id"].to_list(), run.is_complete)
"""


def script(folder, subset):
    path = folder / "script.py"
    path.write_text(SCRIPT.format(worker=str(WORKER), subset=subset))
    paths = os.pathsep.join(filter(None, sys.path))
    return subprocess.run(
        [sys.executable, str(path)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": paths},
    )


@pytest.mark.slow
def test_a_script_without_a_main_guard_drives_and_resumes(tmp_path):
    write_routes(tmp_path, "ok-1", "ok-2")
    first = script(tmp_path, "ok-1")
    assert first.returncode == 0, first.stderr
    assert first.stdout.splitlines() == [
        "script starts",  # once: workers do not run the script again
        "runs/r-cruise ['r-ok-1-s1', 'r-ok-1-s2'] True",
    ]
    assert "2/2" in first.stderr
    second = script(tmp_path, "")
    assert second.returncode == 0, second.stderr
    assert second.stdout.splitlines()[-1].endswith("'r-ok-2-s1', 'r-ok-2-s2'] True")
    assert "2 of 4 episodes to run" in second.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"agent": "absent.py"}, "that file does not exist"),
        ({"agent": "blind,bold"}, "one agent"),
        ({"agent": object}, "write the agent into a .py file"),
        ({"seeds": "one"}, "expected whole numbers"),
        ({"seeds": []}, "expected whole numbers"),
        ({"seeds": [1, -2]}, "expected whole numbers"),
        ({"traffic": "none"}, "own or traffic-manager"),
        ({"perception": "some"}, "full or limited"),
        ({"workers": -1}, "0 or more"),
        ({"subset": "99"}, "not a route of the suite"),
        ({"town": "A", "xodr": "b.xodr"}, "not both"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_written(
    tmp_path, monkeypatch, options, words
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=words):
        jaywalk.drive(**({"suite": "smoke", "agent": "blind"} | options))
    assert list(tmp_path.iterdir()) == []


def test_it_takes_every_option_of_a_run():
    own = {"suite", "agent", "out", "progress"}
    assert set(inspect.signature(jaywalk.drive).parameters) - own == {
        field.name for field in fields(RunOptions)
    }


def test_seeds_may_be_a_number_text_or_a_list():
    assert [_seeds(one) for one in (3, "1-3", [2, 1], range(1, 3))] == [
        (3,),
        (1, 2, 3),
        (2, 1),
        (1, 2),
    ]


class FakeNotebook:
    """Keeps what a cell of a notebook would show."""

    def __init__(self):
        self.shown = []

    def HTML(self, text):
        return text

    def display(self, text, display_id):
        assert display_id
        self.shown.append(text)
        return SimpleNamespace(update=self.shown.append)


def test_a_notebook_shows_a_bar(capsys):
    notebook = FakeNotebook()
    tally = Tally(total=2)
    with NotebookBar(tally, "smoke <with> blind", notebook) as bar:
        bar.progress(
            PoolProgress(slot=0, episode_id="a-s1", simulated_s=1.0, route_share=0.5, doing="")
        )
        bar.refresh()
        bar.refresh()  # nothing new, nothing drawn
        outcome = EpisodeOutcome(
            episode_id="a-s1",
            end_reason="",
            failure="",
            record_hash="",
            simulated_s=1.0,
            wall_s=1.0,
            folder=Path("a-s1"),
        )
        bar.finished(outcome, None)
        broken = Broken(slot=0, episode_id="b-s1", fault=Fault.EPISODE, error="lost the server")
        bar.broken(broken, will_retry=False)
    assert 'value="0.0"' in notebook.shown[0]
    assert "smoke &lt;with&gt; blind" in notebook.shown[0]
    assert 'value="0.5"' in notebook.shown[1]
    assert "1/2" in notebook.shown[2]
    assert "2/2, 1 given up" in notebook.shown[-1]
    assert len(notebook.shown) == len(set(notebook.shown))
    assert "b-s1: given up: lost the server" in capsys.readouterr().err
