"""Both distributions agree about their version and share no file."""

import tomllib
from importlib.metadata import version
from pathlib import Path

import jaywalk
import jaywalk_agent

ROOT = Path(__file__).parents[2]


def test_one_version_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"jaywalk-agent=={jaywalk.__version__}" in project["dependencies"]
    assert jaywalk_agent.__version__ == jaywalk.__version__
    assert version("jaywalk") == jaywalk.__version__


def test_the_agent_library_is_its_own_distribution():
    assert not (ROOT / "src/jaywalk_agent").exists()
    assert Path(jaywalk_agent.__file__).parents[1] == ROOT / "packages/jaywalk_agent"
