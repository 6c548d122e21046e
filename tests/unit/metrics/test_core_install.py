"""Metrics work where only the core dependencies are installed."""

import json
import subprocess
import sys

import pytest
from driving_scenes import cruise, write_drive

# The modules of all extras cannot be imported in this process.
_CORE_ONLY = """
import sys
from jaywalk.core.extras import EXTRAS

BLOCKED = {module for extra in EXTRAS for module in extra.modules}

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""
_MAIN = "from jaywalk.cli.main import main; main()"


def core_only(code, *arguments):
    return subprocess.run(
        [sys.executable, "-c", f"{_CORE_ONLY}\n{code}", *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "mine"
    write_drive(folder, cruise(0.0, 101.5, 8.0), episode_id="open-s1", seed=1)
    return folder


def test_a_record_is_scored_without_any_extra(run):
    ended = core_only(_MAIN, "score", run, "--json")
    assert ended.returncode == 0, ended.stderr
    value = json.loads(ended.stdout)
    assert (value["protocol"], value["status"]) == ("jaywalk", "complete")
    assert value["success"]["sr"] == 100.0


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (["score", "RUN", "--protocol", "leaderboard-2.1"], "sim"),
        (["report", "RUN", "-o", "x.html"], "report"),
        (["run", "smoke", "--agent", "cruise", "--out", "x"], "sim"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_a_missing_extra_is_named(run, words, extra):
    ended = core_only(_MAIN, *(run if word == "RUN" else word for word in words))
    assert ended.returncode == 3
    [line] = ended.stderr.splitlines()
    assert f"pip install 'jaywalk[{extra}]'" in line


def test_importing_metrics_is_cheap():
    code = (
        "import sys, jaywalk.metrics\n"
        "heavy = {'carla', 'matplotlib', 'numba', 'polars', 'scipy', 'sklearn'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ended.stdout.strip() == "[]"
