"""Tables of the docs come from baselines, and the pages are up to date."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from jaywalk.core.errors import DataError
from jaywalk.metrics.driving.baseline import (
    Accepted,
    Baseline,
    BaselineEpisode,
    BaselineRun,
    ProtocolScore,
    write_baseline,
)
from jaywalk.record.episode import Code

ROOT = Path(__file__).parents[2]
_SPEC = importlib.util.spec_from_file_location("docs_tables", ROOT / "tools/docs_tables.py")
docs_tables = importlib.util.module_from_spec(_SPEC)
sys.modules["docs_tables"] = docs_tables
_SPEC.loader.exec_module(docs_tables)


def habit(name="habit-expert-110", routes=(5, 6, 41, 42), hit=(6,)):
    episodes = {}
    for number in routes:
        touched = number in hit
        episodes[f"habit-{number:03d}-s1"] = BaselineEpisode(
            record_hash="h", end_reason="route completed", posed=20,
            scores={
                "jaywalk": ProtocolScore(
                    success=not touched, status="",
                    metrics={"driven_km": 0.5},
                    counts={"collisions_person": 1, "person_contacts": 1, "braking_events": 4,
                            "false_braking_events": 1} if touched else {"braking_events": 4},
                    people_hit=[{"injury_risk": 0.2, "speed_mps": 3.0, "unavoidable": False}]
                    * touched,
                )
            },
        )  # fmt: skip
    return Baseline(
        name=name,
        run=BaselineRun(suite="habit", suite_id="jaywalk/habit-v2", agent="expert",
                        agent_version="expert-v1", seeds=[1]),
        code=Code(sources="abcdef" * 10), accepted=Accepted(date="2026-11-16", reason="r"),
        episodes=episodes,
    )  # fmt: skip


def pairs():
    episodes = {}
    for number in (70, 71, 72):
        for offset, half, points in ((0, "base", 100.0), (1000, "generalization", 80.0)):
            split = {"base": "Base", "generalization": "Generalization"}[half]
            episodes[f"{split}_Animals_{number + offset:04d}-s1"] = BaselineEpisode(
                record_hash="h", end_reason="route completed", pair=f"Animals_{number:04d}",
                half=half, shift="Animals", weak=number == 72,
                scores={
                    "fail2drive": ProtocolScore(
                        success=True, status="Completed", metrics={"driving_score": points}
                    ),
                    "jaywalk": ProtocolScore(success=True, status="Success"),
                },
            )  # fmt: skip
    found = habit("fail2drive-expert", ())
    run = found.run.model_copy(update={"suite_id": "jaywalk/fail2drive-v2"})
    return found.model_copy(update={"run": run, "episodes": episodes})


def cells(text, row):
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [cell.strip() for cell in lines[row + 2].strip("|").split("|")]


def test_the_pages_are_up_to_date(capsys):
    assert docs_tables.main(["--check"]) == 0, capsys.readouterr().out


def test_a_habit_table_counts_and_splits_by_what_was_inspected(tmp_path):
    text = docs_tables.render("habit-110", [habit()], tmp_path)
    whole, looked_at, others = (cells(text, row) for row in range(3))
    assert whole[:3] == ["`expert`", "4", "2.0"]
    assert whole[3].startswith("0.50 [")  # one hit in two kilometres
    assert whole[4:6] == ["20.0", "0.100"]
    assert whole[6].startswith("0.06 [")  # 1 of 16
    assert (whole[7], whole[8][:9]) == ("4", "3 (75.0 %")
    assert looked_at[:3] == ["... routes inspected while tuning", "2", "1.0"]
    assert others[:3] == ["... other routes", "2", "1.0"]
    assert others[3].startswith("0.00 [0.00, ")
    assert "code `abcdefabcdef`, 2026-11-16. Held out? seeds 1-3" in text


def test_a_table_of_pairs_keeps_weak_ones_apart(tmp_path):
    text = docs_tables.render("fail2drive", [pairs(), habit()], tmp_path)
    strong, weak = cells(text, 0), cells(text, 1)
    assert strong[:2] == ["`expert`", "2"]
    assert (strong[2][:5], strong[4][:4]) == ("100.0", "80.0")
    assert strong[6].startswith("-20.0 [")
    assert weak[:2] == ["... weak pairs (start only)", "1"]


def test_a_page_is_filled_once_and_stays(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "baselines").mkdir()
    page = tmp_path / "docs/a.md"
    page.write_text("x\n\n<!-- table: habit-110 -->\nold\n<!-- /table -->\n\ny\n")
    root = ["--root", str(tmp_path)]
    assert docs_tables.main([*root, "--check"]) == 1
    assert docs_tables.main(root) == 0
    assert "old" not in page.read_text()
    assert docs_tables.EMPTY in page.read_text()
    assert docs_tables.main([*root, "--check"]) == 0
    write_baseline(tmp_path / "baselines/habit-expert-110.json", habit())
    assert docs_tables.main([*root, "--check"]) == 1
    docs_tables.main(root)
    assert page.read_text().startswith("x\n\n<!-- table: habit-110 -->\n| driver |")
    assert page.read_text().endswith("<!-- /table -->\n\ny\n")
    assert docs_tables.main([*root, "--check"]) == 0


def test_measurements_that_are_no_runs_and_unknown_tables(tmp_path):
    found = {
        "format": "jaywalk-measurement-1", "columns": ["a", "b"], "rows": [[1, 2]],
        "command": "jaywalk bench x", "code": "f" * 64, "date": "2026-11-16",
    }  # fmt: skip
    (tmp_path / "x.json").write_text(json.dumps(found))
    text = docs_tables.render("measurement-x", [], tmp_path)
    assert cells(text, 0) == ["1", "2"]
    assert "`jaywalk bench x`; code `ffffffffffff`, 2026-11-16." in text
    with pytest.raises(DataError, match="is no measurement"):
        docs_tables.render("measurement-y", [], tmp_path)
    with pytest.raises(DataError, match="No table 'z'"):
        docs_tables.render("z", [], tmp_path)
