"""Typical mistakes and their messages: each is made, and docs/reference/errors.md shows the result.

``python tests/unit/cli/test_mistakes.py`` writes the page anew.
"""

import atexit
import contextlib
import io
import os
import shlex
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

from jaywalk.cli import main as command
from jaywalk.scenarios.toolbox.templates import TemplateRequest, scenario_template

PAGE = Path(__file__).parents[3] / "docs/reference/errors.md"
HEAD = """# Typical mistakes

Every message names the value, what was expected and, where there is one, the fix. A test makes each
mistake of this table and compares message and [exit code](cli.md). More help:
[common problems](../how-to/fix_common_problems.md).

| mistake | command | message | exit code |
|---|---|---|---|
"""
MISTAKES = (
    ("A command is misspelled", "jaywalk rnu smoke"),
    ("An option is misspelled", "jaywalk run smoke --agnet cruise"),
    ("No agent is given", "jaywalk run smoke"),
    ("A driver without --agent", "jaywalk run smoke cruise"),
    ("A protocol for a run", "jaywalk run smoke --agent cruise --protocol fail2drive"),
    ("A suite is misspelled", "jaywalk run smok --agent cruise"),
    ("An agent is misspelled", "jaywalk run smoke --agent cruse"),
    ("An agent file is missing", "jaywalk run smoke --agent my_agnt.py"),
    ("An agent file without its ending", "jaywalk run smoke --agent mine"),
    ("A file without a driver", "jaywalk run smoke --agent mine.py --subset 9"),
    ("No agent listens at an address", "jaywalk run smoke --agent ws://127.0.0.1:9"),
    ("An address has no port", "jaywalk run smoke --agent ws://here"),
    ("Seeds are not numbers", "jaywalk run smoke --agent cruise --seeds one"),
    ("A range of seeds runs backwards", "jaywalk run smoke --agent cruise --seeds 3-1"),
    ("A route does not exist", "jaywalk run smoke --agent cruise --subset 13"),
    ("A route is misspelled", "jaywalk run smoke --agent cruise --subset 09-ridge-open-rurl"),
    ("A range of routes runs backwards", "jaywalk run smoke --agent cruise --subset 9-5"),
    ("A pattern matches no route", "jaywalk run smoke --agent cruise --routes 'nothing*'"),
    ("A town is misspelled", "jaywalk run smoke --agent cruise --town Harbor"),
    ("A CARLA town that we do not have", "jaywalk serve --town Town10HD"),
    ("Two towns at once", "jaywalk run smoke --agent cruise --town Ridge --xodr my.xodr"),
    ("Server and cluster at once", "jaywalk run smoke --agent cruise --server a:1 --cluster local"),
    ("A server without a port", "jaywalk run smoke --agent cruise --server localhost"),
    ("A negative number of people", "jaywalk run smoke --agent cruise --people -5"),
    ("A variant that a suite does not have", "jaywalk run smoke --agent cruise --variant night"),
    ("Motions for a suite without posed people", "jaywalk run smoke --agent cruise --motions lib"),
    ("An agent that does not predict", "jaywalk run smoke --agent cruise --predictor kalman-v1"),
    ("Perception for an agent of one's own", "jaywalk run smoke --agent mine.py --perception full"),
    ("A config that is not JSON", "jaywalk run smoke --agent cruise --agent-config notes.txt"),
    ("A config with an unknown argument", "jaywalk run smoke --agent bold --agent-config a.json"),
    ("A run folder that is a file", "jaywalk run smoke --agent cruise --out notes.txt"),
    ("A run file is missing", "jaywalk run rum.toml"),
    ("An unknown key in a run file", "jaywalk run run.toml"),
    ("A scenario file that does not parse", "jaywalk run broken.toml --agent cruise"),
    ("No route file matches", "jaywalk run 'routes/*.xml' --agent cruise"),
    ("A run that does not exist", "jaywalk score runs/smoke-cruise"),
    ("A folder that is not a run", "jaywalk score empty"),
    ("A protocol is misspelled", "jaywalk score empty --protocol leaderbord-2.1"),
    ("Neither run nor results", "jaywalk score"),
    ("Two runs to score", "jaywalk score recorded empty"),
    ("A table is misspelled", "jaywalk score recorded --table sumary"),
    ("A metric is misspelled", "jaywalk score recorded --metrics sucess_rate"),
    ("An unknown group", "jaywalk score empty --by colour"),
    ("One run to compare", "jaywalk compare empty"),
    ("A page in a place that cannot be written", "jaywalk report empty -o notes.txt/report.html"),
    ("A film without a file", "jaywalk replay empty 01-harbour-hidden-s1"),
    ("An episode is misspelled", "jaywalk replay recorded stret-s1 --png still.png"),
    ("An episode of a figure is misspelled",
     "jaywalk figure series recorded --episode stret-s1 -o series.pdf"),
    ("A figure without its episode", "jaywalk figure moment recorded -o moment.pdf"),
    ("A figure is misspelled", "jaywalk figure scoers recorded -o scores.pdf"),
    ("A format that does not exist", "jaywalk export empty --format bench3drive --out x.json"),
    ("A kind that cannot be listed", "jaywalk list town"),
    ("A scenario type is misspelled", "jaywalk scenario new a --type CustomObstacel"),
    ("A scenario file that exists", "jaywalk scenario new broken"),
    ("Half of a place", "jaywalk scenario new a --from 1,2"),
    ("A scenario file that is missing", "jaywalk scenario show missing.toml"),
    ("A picture with another ending", "jaywalk scenario show broken.toml -o picture.txt"),
    ("A parameter that does not exist", "jaywalk scenario new a --set params.distnace=4"),
    ("A clip of a library that is missing",
     "jaywalk scenario new a --type child-after-ball --set params.clip=nolib/run-01"),
    ("A partner for a scenario that is no shift", "jaywalk scenario pair door.toml"),
    ("Data that are too short", "jaywalk predict eval short.txt --predictor constant-velocity"),
    ("A predictor that returns nothing",
     "jaywalk predict eval people.txt --in-sample --predictor silent.py"),
    ("A dataset that is missing", "jaywalk predict eval people"),
    ("A predictor is misspelled", "jaywalk predict eval empty --predictor kalmann"),
    ("A task that a dataset does not have",
     "jaywalk behaviour counts --task intention --dataset jaad --annotations empty"),
    ("A motion library that is missing", "jaywalk motion stats lib"),
    ("A town file that is missing", "jaywalk town check my_town.xodr"),
    ("An agent with an invalid name", "jaywalk new agent my-agent!"),
    ("A port that is out of range", "jaywalk serve --port 70000"),
    ("A baseline without a reason", "jaywalk baseline accept smoke-expert --reason ''"),
)  # fmt: skip


def make(text):
    """Exit code and message of a command, run in the current folder."""
    words, said = shlex.split(text), io.StringIO()
    before, sys.argv = sys.argv, words
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            command.main()
    except SystemExit as ended:
        raw = said.getvalue().splitlines()
        errors = [i for i, line in enumerate(raw) if line.startswith("jaywalk: ")]
        lines = [clean(line) for line in raw[errors[-1] if errors else 0 :]]  # without progress
        return ended.code, " ".join(line for line in lines if line)
    finally:
        sys.argv = before
    raise AssertionError(f"{text} ended without an exit code: {said.getvalue()}")


def clean(line):
    """A line of an error without our prefix and without the frame that typer draws."""
    if line.startswith(("Usage:", "Try '")) or " still works, " in line:
        return ""
    return line.removeprefix("jaywalk: ").strip("╭─╮│╰╯ ").removeprefix("Error").strip("─ ")


def prepare(folder):
    """Files that the mistakes are about."""
    (folder / "empty").mkdir()
    (folder / "notes.txt").write_text("notes\n")
    (folder / "mine.py").write_text("")
    (folder / "a.json").write_text('{"speeed": 3}')
    (folder / "run.toml").write_text('suite = "smoke"\nagnt = "cruise"\n')
    (folder / "broken.toml").write_text("town = Harbour\n")
    (folder / "door.toml").write_text(scenario_without_shift())
    (folder / "short.txt").write_text("0 1 0.0 0.0\n10 1 0.4 0.0\n")
    walks = [f"{10 * k} {who} {0.4 * k} {who}\n" for k in range(20) for who in (1, 2)]
    (folder / "people.txt").write_text("".join(walks))
    (folder / "silent.py").write_text("def predict(people):\n    people.history_m\n")
    shutil.copytree(recorded(), folder / "recorded")


@cache
def scenario_without_shift():
    wanted = TemplateRequest(name="door", type="jaywalk/stepping-out-v1", town="Harbour")
    return scenario_template(wanted, "door.toml")


@cache
def recorded():
    """A run of one episode."""
    from street_episode import write_street

    folder = Path(tempfile.mkdtemp(prefix="jaywalk-mistakes-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    suite = {"suite": "jaywalk/smoke-v1", "scenario": "jaywalk/stepping-out-v1"}
    write_street(folder / "run", "street-s1", agent={"name": "blind"}, **suite)
    return folder / "run"


def row(what, text):
    code, message = make(text)
    safe = message.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
    shown = text.replace("|", "\\|")
    return f"| {what} | `{shown}` | {safe} | {code} |"


def test_there_are_at_least_forty():
    assert len({text for _, text in MISTAKES}) >= 40


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERMINAL_WIDTH", "1000")
    monkeypatch.setenv("COLUMNS", "1000")
    return tmp_path


@pytest.mark.parametrize(("what", "text"), MISTAKES, ids=[text for _, text in MISTAKES])
def test_the_page_shows_what_the_mistake_gives(folder, what, text):
    before = sorted(path.name for path in folder.iterdir())
    shown = row(what, text)
    assert shown in PAGE.read_text(encoding="utf-8").splitlines(), f"run python {__file__}"
    assert shown.endswith(("| 2 |", "| 3 |"))  # refused, not failed
    assert "Traceback" not in shown
    assert sorted(path.name for path in folder.iterdir()) == before  # nothing is left behind


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2] / "support"))
    os.environ["TERMINAL_WIDTH"] = os.environ["COLUMNS"] = "1000"
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        prepare(Path(place))
        PAGE.write_text(HEAD + "".join(row(*one) + "\n" for one in MISTAKES), encoding="utf-8")
