import re
from pathlib import Path

import pytest

from jaywalk.record._schema import EVENT_KINDS, TABLES
from jaywalk.record.episode import Episode

PAGE = (Path(__file__).parents[3] / "docs/reference/record.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_column_is_documented_in_its_table(table):
    part = PAGE.split(f"### {table.file_name}\n")[1].split("\n### ")[0]
    rows = [line.split(" | ")[0] for line in part.splitlines() if line.startswith("| `")]
    documented = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert documented == [column.name for column in table.columns]


def test_every_key_and_kind_is_documented():
    assert [key for key in Episode.model_fields if f"`{key}`" not in PAGE] == []
    assert [kind for kind in EVENT_KINDS if f"`{kind}`" not in PAGE] == []
