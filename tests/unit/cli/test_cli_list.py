import json
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jaywalk.cli import listing as catalogue
from jaywalk.cli.main import app
from jaywalk.core.extras import EXTRAS
from jaywalk.core.registry import Registry

ROOT = Path(__file__).parents[3]


def listed(*arguments):
    result = CliRunner().invoke(app, ["list", *arguments, "--json"])
    assert result.exit_code == 0
    return json.loads(result.output)


def test_without_a_kind_it_lists_the_kinds():
    assert [row["name"] for row in listed()] == sorted(entry.name for entry in catalogue.KINDS)


@pytest.mark.parametrize("kind", [entry.name for entry in catalogue.KINDS])
def test_every_kind_has_rows_of_one_shape(kind):
    rows = listed(kind)
    assert rows
    assert len({tuple(row) for row in rows}) == 1
    assert next(iter(rows[0])) == "name"
    assert len({row["name"] for row in rows}) == len(rows)


def test_filter():
    names = [row["name"] for row in listed("blueprints", "--filter", "vehicle.audi.*")]
    assert sorted(names) == ["vehicle.audi.a2", "vehicle.audi.etron", "vehicle.audi.tt"]
    assert listed("blueprints", "--filter", "nothing") == []


def test_in_a_pipe_rows_are_lines():
    lines = CliRunner().invoke(app, ["list", "towns"]).output.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["Harbour", "Orchard", "Ridge"]


def test_a_registry_plugs_in_by_one_line(monkeypatch):
    things = Registry("thing")
    things.add("ours/first-v1", "nowhere:never_imported", "the first one")
    monkeypatch.setattr(catalogue, "THINGS", things, raising=False)
    kinds = Registry("kind")
    kinds.add("things", "jaywalk.cli.listing:THINGS", "things")
    monkeypatch.setattr(catalogue, "KINDS", kinds)
    assert catalogue.rows_of("things") == [{"name": "ours/first-v1", "summary": "the first one"}]


def test_extras_are_those_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = set(project["optional-dependencies"]) - {"dev", "docs"}
    assert {extra.name for extra in EXTRAS} == declared
