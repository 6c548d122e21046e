"""The package under ``examples/`` is installed and used through the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from plugin_packages import install

import jaywalk.record as jaywalk_record

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "jaywalk_example"
_MAIN = "from jaywalk.cli.main import main; main()"


class CommandLine:
    """Runs ``jaywalk`` with one more folder of installed packages."""

    def __init__(self, site: Path, folder: Path) -> None:
        self.site, self.folder = site, folder

    def __call__(self, *words: object) -> subprocess.CompletedProcess[str]:
        paths = os.pathsep.join([str(self.site), *filter(None, sys.path)])
        cache = self.folder / "cache"
        return subprocess.run(
            [sys.executable, "-c", _MAIN, *map(str, words)],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
            env={**os.environ, "PYTHONPATH": paths, "XDG_CACHE_HOME": str(cache)},
        )

    def json(self, *words: object) -> list[dict[str, object]]:
        done = self(*words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def jaywalk(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    folder = tmp_path_factory.mktemp("example")
    return CommandLine(install(EXAMPLE, folder), folder)


def row(rows: list[dict[str, object]], name: str) -> dict[str, object]:
    (found,) = [entry for entry in rows if entry["name"] == name]
    return found


def test_modules_are_short() -> None:
    modules = sorted((EXAMPLE / "jaywalk_example").glob("*.py"))
    assert len(modules) == 5
    assert [m.name for m in modules if len(m.read_text().splitlines()) >= 60] == []


def test_lists_show_its_objects(jaywalk: CommandLine) -> None:
    driver = row(jaywalk.json("list", "agents"), "courteous")
    assert driver["id"] == "courteous-v1"
    assert driver["arguments"] == ["perception", "near_m"]
    assert row(jaywalk.json("list", "agents"), "expert")["id"] == "expert-v3"
    predictor = row(jaywalk.json("list", "predictors"), "damped-velocity-v1")
    assert (predictor["inputs"], predictor["learnt"]) == (["positions"], False)
    metric = row(jaywalk.json("list", "metrics"), "closest_person_m")
    assert (metric["unit"], metric["direction"]) == ("m", "higher")
    scenario = row(jaywalk.json("list", "scenarios"), "example/lost-load-v1")
    assert "boxes" in str(scenario["summary"])


def test_its_driver_completes_a_route(jaywalk: CommandLine) -> None:
    options = ["--subset", "12-ridge-open-hills", "--seeds", "1", "--workers", "1"]
    done = jaywalk("run", "smoke", "--agent", "courteous", *options, "--out", "driven")
    assert done.returncode == 0, done.stderr
    files = list((jaywalk.folder / "driven").rglob("episode.json"))
    assert len(files) == 1
    episode = json.loads(files[0].read_text())
    assert episode["end_reason"] == "route completed"
    config = (jaywalk.folder / "driven" / "config.json").read_text()
    assert "courteous-v1" in config
    scored = jaywalk("score", "driven", "--json")
    assert scored.returncode == 0, scored.stderr
    assert "closest_person_m" in json.loads(scored.stdout)["metrics"]


def test_its_scenario_is_driven(jaywalk: CommandLine) -> None:
    options = ["--town", "Orchard", "-o", "load.toml"]
    made = jaywalk("scenario", "new", "lost-load", "--type", "example/lost-load-v1", *options)
    assert made.returncode == 0, made.stderr
    done = jaywalk("run", "load.toml", "--agent", "expert", "--workers", "1", "--out", "loaded")
    assert done.returncode == 0, done.stderr
    (folder,) = (jaywalk.folder / "loaded" / "episodes").iterdir()
    actors = jaywalk_record.open(folder).actors.collect()
    assert actors["type_id"].to_list().count("static.prop.creasedbox01") == 2


def test_a_wrong_argument_of_its_driver_is_refused(jaywalk: CommandLine) -> None:
    (jaywalk.folder / "wrong.json").write_text('{"nearm": 3}')
    options = ["--agent", "courteous", "--agent-config", "wrong.json", "--out", "refused"]
    done = jaywalk("run", "smoke", *options)
    assert done.returncode == 2
    assert "'nearm', which courteous does not take; it takes: perception, near_m" in done.stderr


def test_its_predictor_is_evaluated(jaywalk: CommandLine) -> None:
    random = np.random.default_rng(3)
    lines = []
    for person in range(12):
        start, velocity = random.uniform(0.0, 20.0, 2), random.uniform(-1.0, 1.0, 2)
        for step in range(30):
            x, y = start + 0.4 * step * velocity
            lines.append(f"{10 * step}\t{person}\t{x:.4f}\t{y:.4f}")
    (jaywalk.folder / "people.txt").write_text("\n".join(lines) + "\n")
    options = ["--in-sample", "--draws", "20", "--resamples", "100", "--json"]
    names = ["--predictor", "damped-velocity", "--predictor", "constant-velocity"]
    done = jaywalk("predict", "eval", "people.txt", *names, *options)
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)["predictors"]
    assert set(results) == {"damped-velocity-v1", "constant-velocity-v1"}


def test_a_broken_plug_in_names_its_package(jaywalk: CommandLine, tmp_path: Path) -> None:
    project = tmp_path / "broken"
    (project / "broken_plugin").mkdir(parents=True)
    (project / "broken_plugin" / "__init__.py").write_text("import no_such_module\n")
    (project / "pyproject.toml").write_text(
        '[project]\nname = "broken-plugin"\nversion = "1.0"\n'
        '[project.entry-points.jaywalk]\nbad = "broken_plugin"\n'
        '[tool.hatch.build.targets.wheel]\npackages = ["broken_plugin"]\n'
    )
    broken = CommandLine(install(project, tmp_path), tmp_path)
    done = broken("list", "agents")
    assert done.returncode == 2
    assert "plug-in 'bad' of the package 'broken-plugin' cannot be loaded" in done.stderr
    assert "no_such_module" in done.stderr
    assert "Traceback" not in done.stderr
