"""The runner of the suite: crashes are counted, nothing is run again in silence, skips are told."""

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
FILES = {
    "good": "def test_one(): pass\n",
    "bad": "def test_one(): assert False\n",
    "skips": "import pytest\ndef test_one(): pytest.skip('no such data')\n",
    "dies": "import os, signal\ndef test_one(): os.kill(os.getpid(), signal.SIGSEGV)\n",
    "dies_once": "import os, pathlib, signal\ndef test_one():\n"
    "    mark = pathlib.Path(__file__).with_suffix('.mark')\n"
    "    if not mark.exists():\n"
    "        mark.touch()\n        os.kill(os.getpid(), signal.SIGKILL)\n",
    "dies_at_exit": "import atexit, os, signal\n"
    "atexit.register(os.kill, os.getpid(), signal.SIGABRT)\ndef test_one(): pass\n",
    "program_dies": "from child import note_crash\ndef test_one(): note_crash('it: SIGABRT')\n",
}


@pytest.fixture
def run(tmp_path):
    (tmp_path / "conftest.py").write_text((TESTS / "conftest.py").read_text())
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {TESTS / 'support'}\n")

    def start(*names: str, options: tuple[str, ...] = ()) -> tuple[int, str]:
        paths = [tmp_path / f"test_{name}.py" for name in names]
        for path, name in zip(paths, names, strict=True):
            path.write_text(FILES[name])
        done = subprocess.run(
            [sys.executable, str(TESTS / "run_isolated.py"), *options, *map(str, paths)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        return done.returncode, done.stdout.split("== summary")[1]

    return start


def test_skips_are_counted_with_their_reasons(run):
    code, told = run("good", "skips")
    assert code == 0
    assert "skipped: 1\n     1  no such data\n" in told
    assert "tests passed: 1\n" in told
    assert "parts: 2 of 2 passed" in told
    assert "crashes: 0 (budget 1)" in told


def test_a_failure_is_not_run_again(run):
    code, told = run("good", "bad")
    assert code == 1
    assert "parts: 1 of 2 passed" in told
    assert "FAILED:" in told
    assert "run again" not in told


def test_a_crash_is_told_and_run_again_once(run):
    code, told = run("dies_once")
    assert code == 0
    assert "run again 1x" in told
    assert "crashes: 1 (budget 1)" in told
    assert "SIGKILL during its tests" in told
    code, told = run("dies")
    assert code == 1
    assert "crashes: 2 (budget 1)" in told
    assert "parts: 0 of 1 passed" in told


@pytest.mark.parametrize(
    ("name", "words"),
    [("dies_at_exit", "SIGABRT at exit, after all its tests"), ("program_dies", "it: SIGABRT")],
)
def test_more_crashes_than_the_budget_fail_although_every_test_passed(run, name, words):
    code, told = run(name)
    assert code == 0
    assert words in told
    assert "run again" not in told
    code, told = run(name, options=("--crash-budget", "0"))
    assert code == 1
    assert "FAILED: 1 crashes, and the budget is 0" in told
    assert "parts: 1 of 1 passed" in told


def test_repeats_are_counted_by_file_under_load(run):
    code, told = run("good", "dies_at_exit", options=("--repeat", "2", "--load", "1"))
    assert code == 0
    assert "test_good.py  2/2 passed" in told
    assert "test_dies_at_exit.py  2/2 passed" in told
    assert "crashes: 2 (budget 2)" in told
