"""Both distributions agree about their version and share no file."""

import json
import shlex
import tomllib
from importlib.metadata import version
from pathlib import Path

import yaml

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


def docker_instructions():
    """Every instruction of the Dockerfile: its word and the rest, continued lines joined."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines()]
    return [tuple(line.split(maxsplit=1)) for line in lines if line and not line.startswith("#")]


def test_the_dockerfile_copies_files_that_exist_and_are_sent():
    sent = {
        line.removeprefix("!")
        for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line.startswith("!")
    }
    copied = set()
    for word, rest in docker_instructions():
        if word == "COPY" and not rest.startswith("--from="):
            copied.update(shlex.split(rest)[:-1])
    assert copied == sent
    assert [name for name in copied if not (ROOT / name).exists()] == []


def test_the_image_runs_jaywalk_as_an_ordinary_user():
    instructions = docker_instructions()
    assert {image.split(" AS ")[0] for word, image in instructions if word == "FROM"} == {
        "python:3.11-slim"
    }
    last = dict(instructions)
    assert last["USER"] == "jaywalk"
    assert last["EXPOSE"] == "2000-2002"
    assert json.loads(last["ENTRYPOINT"]) == ["jaywalk"]
    assert any("useradd --create-home jaywalk" in rest for _, rest in instructions)


def test_the_citation_has_the_fields_of_its_format_and_our_version():
    """CFF 1.2.0 requires these keys; an entity as author has a name."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= cited.keys()
    assert all(isinstance(cited[key], str) for key in ("message", "title", "abstract", "license"))
    assert cited["authors"]
    assert all(author.get("name") or author.get("family-names") for author in cited["authors"])
    assert cited["version"] == jaywalk.__version__
    assert cited["license"] == "MIT"
    assert "[CITATION.cff](CITATION.cff)" in (ROOT / "README.md").read_text(encoding="utf-8")
