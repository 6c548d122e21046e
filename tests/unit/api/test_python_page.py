"""The examples of docs/reference/python.md run as they are; only the drive is a recorded one."""

import inspect
import re
from pathlib import Path

import pytest
from street_episode import write_street

import jaywalk

PAGE = Path(__file__).parents[3] / "docs/reference/python.md"


def blocks():
    return re.findall(r"```python\n(.+?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("block", blocks())
def test_the_example_runs(block, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "runs" / "smoke-cruise"
    write_street(folder, "09-ridge-open-rural-s1", seed=1, agent={"name": "cruise"})
    monkeypatch.chdir(tmp_path)
    signature = inspect.signature(jaywalk.drive)

    def recorded(*words, **options):
        signature.bind(*words, **options)  # the example has real options
        return jaywalk.load(folder)

    monkeypatch.setitem(jaywalk.__dict__, "drive", recorded)
    exec(compile(block, str(PAGE), "exec"), {})
    out = capsys.readouterr().out
    assert "Success rate" in out
    assert "hit a person" in out
    assert (tmp_path / "scores.pdf").read_bytes().startswith(b"%PDF")


def test_the_page_names_every_table_and_argument():
    text = PAGE.read_text(encoding="utf-8")
    for name in vars(jaywalk.Run):
        if not name.startswith("_") and name not in ("folder", "name"):
            assert f"run.{name}" in text, name
    for name in re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE):
        assert name in inspect.signature(jaywalk.drive).parameters
