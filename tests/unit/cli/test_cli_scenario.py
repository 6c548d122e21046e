"""The verbs of the toolbox that need no server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jaywalk.cli.main import app
from jaywalk.core.errors import DataError, PrerequisiteError, UsageError
from jaywalk.scenarios.toolbox.form import read_authored


def scenario(*words: object):
    return CliRunner().invoke(app, ["scenario", *map(str, words)])


@pytest.fixture
def barrels(tmp_path) -> Path:
    path = tmp_path / "barrels.toml"
    made = scenario(
        "new",
        "barrels",
        "--type",
        "CustomObstacle",
        "--town",
        "Harbour",
        "--from",
        "8.0,-114.3",
        "--to",
        "190.0,-127.1",
        "-o",
        path,
    )
    assert made.exit_code == 0, made.output
    return path


def test_new_writes_and_overwrites_nothing(barrels):
    assert len(read_authored(barrels).scenarios[0].objects) == 3
    again = scenario(
        "new", "barrels", "--from", "8.0,-114.3", "--to", "190.0,-127.1", "-o", barrels
    )
    assert isinstance(again.exception, UsageError)
    assert isinstance(scenario("new", "a b").exception, UsageError)
    assert isinstance(scenario("new", "a", "--from", "1,2").exception, UsageError)


def test_every_type_is_listed_with_its_parameters():
    rows = {row["type"]: row for row in json.loads(scenario("new", "--list", "--json").output)}
    assert rows["jaywalk/construction-v1"]["params"]["direction"] == "right"
    assert len(rows) > 40


def test_edit_pair_export_import(barrels, tmp_path):
    assert scenario("edit", barrels, "--set", "params.distance=35").exit_code == 0
    made = json.loads(scenario("pair", barrels, "--json").output)
    assert (made["pair"], made["shift"]) == ("barrels", "CustomObstacles")
    base, shifted = read_authored(tmp_path / "barrels-base.toml"), read_authored(barrels)
    assert (base.half, shifted.half) == ("base", "generalization")
    assert base.scenarios[0].params["distance"] == 35
    assert "# Look at it" in barrels.read_text(encoding="utf-8")
    xml = tmp_path / "both.xml"
    out = scenario("export", barrels, tmp_path / "barrels-base.toml", "-o", xml, "--json")
    assert json.loads(out.output)["routes"] == 2
    back = scenario("import", xml, "-o", tmp_path / "back", "--json")
    names = sorted(Path(name).name for name in json.loads(back.output)["files"])
    assert names == ["both-barrels-base.toml", "both-barrels.toml"]
    again = read_authored(tmp_path / "back" / "both-barrels.toml")
    assert (again.pair, again.half, again.id) == ("barrels", "generalization", "barrels")
    assert again.scenarios[0].objects == shifted.scenarios[0].objects


def test_a_bad_edit_writes_nothing(barrels):
    before = barrels.read_text(encoding="utf-8")
    result = scenario("edit", barrels, "--set", "params.direction=up")
    assert isinstance(result.exception, DataError)
    assert "barrels.toml" in str(result.exception)
    assert barrels.read_text(encoding="utf-8") == before


def test_a_plan_is_drawn_without_a_server(barrels, tmp_path):
    png = tmp_path / "plan.png"
    result = scenario("show", barrels, "--plan", "-o", png, "--json")
    assert json.loads(result.output) == {"picture": str(png), "bodies": 0}
    assert png.read_bytes().startswith(b"\x89PNG")


def test_nothing_that_is_there_is_lost(barrels, tmp_path):
    before = barrels.read_bytes()
    other = tmp_path / "other.toml"
    other.write_text("mine", encoding="utf-8")
    aside = tmp_path / "x" / ".." / "barrels.toml"
    (tmp_path / "x").mkdir()
    for words in (
        ("edit", barrels, "--set", "at=25", "-o", other),
        ("pair", barrels, "-o", other),
        ("pair", barrels, "-o", aside, "--force"),
        ("export", barrels, "-o", barrels, "--force"),
        ("show", barrels, "--plan", "-o", barrels),
        ("check", barrels, "--png", barrels),
        ("show", barrels, "--server", "127.0.0.1:99999"),
        ("new", "barrels", "--at", "nan"),
        ("new", ".."),
    ):
        assert isinstance(scenario(*words).exception, UsageError), words
    assert barrels.read_bytes() == before
    assert other.read_text(encoding="utf-8") == "mine"
    assert scenario("edit", barrels, "--set", "at=25", "-o", other, "--force").exit_code == 0


def test_what_cannot_be_written_says_so(barrels, tmp_path):
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    (tmp_path / "folder.toml").mkdir()
    for place in (tmp_path / "file" / "x.toml", tmp_path / "folder.toml"):
        made = scenario("edit", barrels, "--set", "at=25", "-o", place, "--force")
        assert isinstance(made.exception, PrerequisiteError)
    assert not list(tmp_path.glob(".*"))


def test_a_wrong_parameter_ends_a_run_before_it_begins(barrels, tmp_path):
    xml = tmp_path / "barrels.xml"
    assert scenario("export", barrels, "-o", xml).exit_code == 0
    text = xml.read_text(encoding="utf-8")
    xml.write_text(text.replace("<distance ", "<distence "), encoding="utf-8")
    result = CliRunner().invoke(
        app, ["run", str(xml), "--agent", "expert", "--out", str(tmp_path / "run")]
    )
    assert isinstance(result.exception, DataError)
    for word in ("barrels.xml", "CustomObstacle_1", "<distence>"):
        assert word in str(result.exception)
    assert not (tmp_path / "run").exists()
