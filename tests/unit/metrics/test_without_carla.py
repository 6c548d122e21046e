"""Records, scores, reports and datasets work on platforms without the carla wheel.

The wheel, and modules that only Linux or Unix has, cannot be imported in these processes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from driving_scenes import cruise, write_drive
from packaging.requirements import Requirement

from jaywalk.core import extras

_ELSEWHERE = """
import sys

ABSENT = {"carla", "fcntl", "resource", "pwd", "grp", "termios"}

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
for name in ABSENT:
    sys.modules.pop(name, None)
"""
_IMPORT_ROOMS = """
import importlib, pkgutil
failed = {}
for room in ("core", "geometry", "town", "motion", "record", "stats", "datasets", "metrics",
             "forecasting", "report"):
    package = importlib.import_module(f"jaywalk.{room}")
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as problem:
            failed[module.name] = problem.name
print({name: missing for name, missing in failed.items() if missing != "torch"})
"""
_GROUND_PLAN = """
from jaywalk.report.ground_plan import ground_plan
from jaywalk.town.town import load_town
plan = ground_plan(load_town("Harbour"))
print(sorted(plan.surfaces), len(plan.lines) > 10, plan.stripes)
"""
_MAIN = "from jaywalk.cli.main import main; main()"


def elsewhere(code: str, *arguments: object, cwd: Path | None = None) -> str:
    done = subprocess.run(
        [sys.executable, "-c", f"{_ELSEWHERE}\n{code}", *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        cwd=cwd,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("runs")
    for name, speed in (("slow", 6.0), ("quick", 8.0)):
        write_drive(folder / name, cruise(0.0, 101.5, speed), episode_id="open-s1", seed=1)
    return [folder / "slow", folder / "quick"]


def test_only_the_recorder_of_a_live_server_needs_the_wheel() -> None:
    assert elsewhere(_IMPORT_ROOMS).strip() == "{'jaywalk.record.recorder': 'carla'}"


def test_runs_are_scored_compared_and_reported(runs: list[Path], tmp_path: Path) -> None:
    assert json.loads(elsewhere(_MAIN, "score", runs[0], "--json"))["success"]["sr"] == 100.0
    compared = json.loads(elsewhere(_MAIN, "compare", *runs, "--json"))
    assert compared
    elsewhere(_MAIN, "report", *runs, "-o", tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 10_000


_PYTHON = """
import jaywalk, jaywalk.core
run = jaywalk.load(sys.argv[1])
tables = (run.scores(), run.episodes, run.infractions(), run.tracks("open-s1"))
run.figure("scores").savefig(sys.argv[2])
try:
    jaywalk.drive("smoke", "blind")
except jaywalk.core.JaywalkError as problem:
    print([len(table) > 0 for table in tables], "jaywalk[sim]" in str(problem))
"""


def test_runs_are_read_and_drawn_from_python(runs: list[Path], tmp_path: Path) -> None:
    said = elsewhere(_PYTHON, runs[0], tmp_path / "scores.pdf")
    assert said.strip() == "[True, True, False, True] True"
    assert (tmp_path / "scores.pdf").stat().st_size > 1_000
    elsewhere(_MAIN, "figure", "harm", runs[0], "-o", tmp_path / "harm.svg")
    assert (tmp_path / "harm.svg").stat().st_size > 1_000


def test_a_town_is_drawn_without_its_crosswalks() -> None:
    surfaces, lines = elsewhere(_GROUND_PLAN).strip().rsplit("] ", 1)
    assert "'road'" in surfaces
    assert lines == "True ()"


def test_predictors_are_evaluated_on_data(tmp_path: Path) -> None:
    rows = [f"{10 * k}\t{p}\t{p + 0.3 * k:.3f}\t{0.1 * p:.3f}" for p in range(8) for k in range(20)]
    (tmp_path / "people.txt").write_text("\n".join(rows) + "\n")
    (tmp_path / "mine.py").write_text(
        "def predict(people):\n"
        "    return people.history_m[:, -1:].repeat(len(people.horizons_s), axis=1)\n"
    )
    few = ("--in-sample", "--draws", "20", "--resamples", "100", "--json")
    words = ("predict", "eval", "people.txt", "--predictor", "mine.py", *few)
    result = json.loads(elsewhere(_MAIN, *words, cwd=tmp_path))
    error_m = result["predictors"]["mine"][0]["fde"]["value"]
    assert error_m == pytest.approx(1.5, abs=0.01)  # 0.3 m in 0.4 s, for 2 s


@pytest.mark.parametrize(
    ("platform", "machine", "wheel"),
    [
        ("linux", "x86_64", True),
        ("win32", "AMD64", True),
        ("darwin", "arm64", False),
        ("linux", "aarch64", False),
    ],
)
def test_the_wheel_is_required_only_where_it_exists(
    platform: str, machine: str, wheel: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    assert not [name for name in project["dependencies"] if name.startswith("carla")]
    (carla,) = [
        Requirement(text)
        for text in project["optional-dependencies"]["sim"]
        if text.startswith("carla")
    ]
    assert carla.marker is not None
    named = {"sys_platform": platform, "platform_machine": machine}
    assert carla.marker.evaluate(named) is wheel
    monkeypatch.setattr(extras.sys, "platform", platform)
    monkeypatch.setattr(extras.platform, "machine", lambda: machine)
    said = str(extras.missing_extra(ModuleNotFoundError("no", name="carla")))
    assert ("pip install 'jaywalk[sim]'" in said) is wheel
    assert ("has no wheel for" in said) is not wheel
