"""Commands that end with ``next:`` name a command that works; it is run, and so is its next one."""

import shlex
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow
_MAIN = "from jaywalk.cli.main import main; main()"
# What needs a person, a browser or many minutes.
_NOT_RUN = ("serve", "demo", "bench")


def jaywalk(folder, words, seconds=900):
    return subprocess.run(
        [sys.executable, "-c", _MAIN, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def shortened(words):
    """The same command on fewer routes."""
    if words[0] == "run" and "--subset" not in words:
        return [*words, "--limit", "1"]
    return words


def follow(folder, command, done):
    """Run a command and those that it and the following ones suggest; returns all of them."""
    words = shlex.split(command)
    while words and tuple(words) not in done:
        ended = jaywalk(folder, shortened(words))
        done.add(tuple(words))
        assert ended.returncode == 0, f"{shlex.join(words)}\n{ended.stdout}\n{ended.stderr}"
        lines = [one for one in ended.stdout.splitlines() if one.startswith("next: jaywalk ")]
        words = shlex.split(lines[-1], comments=True)[2:] if lines else []
        if words and words[0] in _NOT_RUN:
            words = []
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("next")
    command = "run smoke --agent cruise,blind --subset 05,9"
    ended = jaywalk(place, shlex.split(command))
    assert ended.returncode == 0, ended.stderr
    return place


@pytest.mark.parametrize(
    "commands",
    [
        ["score runs/smoke-cruise", "compare runs/smoke-cruise runs/smoke-blind"],
        ["score runs/smoke-cruise --protocol leaderboard-2.1 --by class"],
        ["export runs/smoke-cruise --format leaderboard --out results.json"],
        ["new agent my_agent"],
        ["scenario new barrels --town Harbour", "scenario show barrels.toml"],
        ["scenario new crossing --type jaywalk/stepping-out-v1 --town Orchard"],
        ["suite build random --town Harbour --routes 1 --length 150", "suite show smoke"],
        ["predict export runs/smoke-cruise runs/smoke-blind --out people"],
        ["realism rollout runs/smoke-cruise --policy lanes --n 2"],
        ["motion search phone", "motion stats default"],
        ["replay runs/smoke-blind 09-ridge-open-rural-s1 --png still.png"],
        ["doctor", "list", "town list", "scenario new --list", "suite export smoke -o routes"],
    ],
    ids=lambda commands: commands[0],
)
def test_suggested_commands_work(folder, commands):
    done = set()
    for command in commands:
        follow(folder, command, done)
    assert len(done) >= len(commands)
