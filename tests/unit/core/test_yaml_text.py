"""YAML of plain values: read safely, written, and edited in place."""

from __future__ import annotations

import pytest

from jaywalk.core.errors import DataError
from jaywalk.core.yaml_text import edit_yaml, format_yaml, parse_yaml

TEXT = """\
# Three barrels.
name: barrels
vehicles: 3  # not many
route:
  points: [[8.0, -114.3], [190.0, -127.1]]
scenario:
  - name: things   # the first
    type: CustomObstacle
    at: 20.0
    params:
      distance: 40.0  # m
    objects:
      - model: static.prop.barrel
        y: -0.8
      - {model: static.prop.barrel, y: 0.8}
"""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on", "on"),
        ("no", "no"),
        ("true", True),
        ("0000111", "0000111"),
        ("1111111", 1111111),
        ("1e3", 1000.0),
        ("-.5", -0.5),
        ("12:30", "12:30"),
        ("2026-01-02", "2026-01-02"),
        ("null", None),
        ("", None),
        ("0x10", "0x10"),
        ("+3", 3),
        ("7.", 7.0),
        ("'5'", "5"),
    ],
)
def test_plain_words_are_what_they_look_like(text, value):
    found = parse_yaml(f"key: {text}\n", "x.yaml")["key"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\na: 2\n", "'a' is given twice (line 2, column 1)"),
        ("a: &x [1]\nb: *x\n", "anchors"),
        ("a: !!python/object/apply:os.system ['true']\n", "could not determine a constructor"),
        ("a: [1\n", "line 2"),
        ("- 1\n", "expected fields"),
        ("", "expected fields"),
        ("a: " + "[" * 60 + "]" * 60, "nested too deep"),
        ("? [1, 2]\n: 3\n", "a key is not text"),
        ("a:\tb: c\n", "not valid YAML"),
        ("a: \x00\n", "not valid YAML"),
        ("a: !!bool 5\n", "does not fit the tag"),
        ('a: !!int ""\n', "does not fit the tag"),
        ("a: !!timestamp x\n", "does not fit the tag"),
    ],
)
def test_what_is_no_plain_yaml_is_an_error_with_the_file(text, words):
    with pytest.raises(DataError) as caught:
        parse_yaml(text, "my.yaml")
    assert "'my.yaml'" in str(caught.value)
    assert words in str(caught.value)


def test_what_is_written_is_read_again():
    document = {
        "name": "a: b",
        "empty": "",
        "flag": True,
        "number": -1.5e-9,
        "text": "0011",
        "yes": "no",
        "points": [[float(k), -float(k)] for k in range(40)],
        "table": {"x": 1, "nested": {"y": [1, 2]}},
        "scenario": [
            {"name": "#1", "params": {"a": [20.0, 100.0]}, "objects": [{"model": "m"}]},
            {"name": "two"},
        ],
        "none": [],
    }
    text = format_yaml(document, lambda path: "words" if path[-1] == "name" else "")
    assert parse_yaml(text, "x") == document
    assert text.count("# words") == 2  # of many, the first


@pytest.mark.parametrize(
    ("keys", "value", "line"),
    [
        (["vehicles"], 7, "vehicles: 7  # not many"),
        (["scenario", "1", "params", "distance"], 35, "distance: 35  # m"),
        (["scenario", "1", "objects", "2", "y"], 0.5, "- {model: static.prop.barrel, y: 0.5}"),
        (["scenario", "1", "params", "direction"], "left", "      direction: left"),
        (["pair"], "one", "pair: one"),
    ],
)
def test_an_edit_leaves_the_rest_as_it_was(keys, value, line):
    text = edit_yaml(TEXT, parse_yaml(TEXT, "x"), keys, value)
    assert line in text
    kept = [one for one in TEXT.split("\n") if one not in text.split("\n")]
    assert len(kept) <= 1
    assert "# the first" in text
