"""Tables of the docs come from baselines, and the pages are up to date."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest
from interval_simulation import tables as interval_tables

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
            record_hash="h",
            end_reason="route completed",
            posed=20,
            scores={
                "jaywalk": ProtocolScore(
                    success=not touched,
                    status="",
                    metrics={"driven_km": 0.5, "serious_injuries_expected": 0.2 * touched}
                    | ({"pmais3_mean": 0.2} if touched else {}),
                    counts={
                        "collisions_person": 1,
                        "person_contacts": 1,
                        "braking_events": 4,
                        "false_braking_events": 1,
                    }
                    if touched
                    else {"braking_events": 4},
                    people_hit=[{"injury_risk": 0.2, "speed_mps": 3.0, "unavoidable": False}]
                    * touched,
                )
            },
        )
    return Baseline(
        name=name,
        run=BaselineRun(
            suite="habit",
            suite_id="jaywalk/habit-v2",
            agent="expert",
            agent_version="expert-v1",
            seeds=[1],
        ),
        code=Code(sources="abcdef" * 10),
        accepted=Accepted(date="2026-11-16", reason="r"),
        episodes=episodes,
    )


def pairs():
    episodes = {}
    for number in (70, 71, 72):
        for offset, half, points in ((0, "base", 100.0), (1000, "generalization", 80.0)):
            split = {"base": "Base", "generalization": "Generalization"}[half]
            episodes[f"{split}_Animals_{number + offset:04d}-s1"] = BaselineEpisode(
                record_hash="h",
                end_reason="route completed",
                pair=f"Animals_{number:04d}",
                half=half,
                shift="Animals",
                weak=number == 72,
                scores={
                    "fail2drive": ProtocolScore(
                        success=True, status="Completed", metrics={"driving_score": points}
                    ),
                    "jaywalk": ProtocolScore(success=True, status="Success"),
                },
            )
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
    assert strong[:2] == ["`expert`, seed 1", "2"]
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
    assert "No baseline is defined for this table." in page.read_text()
    assert docs_tables.main([*root, "--check"]) == 0
    write_baseline(tmp_path / "baselines/habit-expert-110.json", habit())
    assert docs_tables.main([*root, "--check"]) == 1
    docs_tables.main(root)
    assert page.read_text().startswith("x\n\n<!-- table: habit-110 -->\n| driver |")
    assert page.read_text().endswith("<!-- /table -->\n\ny\n")
    assert docs_tables.main([*root, "--check"]) == 0


def measurement(folder, name="x", **change):
    found = {
        "format": "jaywalk-measurement-1",
        "columns": ["a", "b"],
        "rows": [[1, 2]],
        "command": "jaywalk bench x",
        "commit": "1234567",
        "code": "f" * 64,
        "date": "2026-11-16",
        "tables": {"more": {"columns": ["c"], "rows": [["0.5 [0.4, 0.6]"]]}},
        "values": {"speed": "7 ms"},
    }
    (folder / f"{name}.json").write_text(json.dumps(found | change))


def test_measurements_that_are_no_runs_and_unknown_tables(tmp_path):
    measurement(tmp_path)
    text = docs_tables.render("measurement-x", [], tmp_path)
    assert cells(text, 0) == ["1", "2"]
    assert "`jaywalk bench x`; commit `1234567`, code `ffffffffffff`, 2026-11-16." in text
    assert cells(docs_tables.render("measurement-x.more", [], tmp_path), 0) == ["0.5 [0.4, 0.6]"]
    assert docs_tables.render("source-x", [], tmp_path).startswith("<sub>`jaywalk bench x`;")
    for name, problem in (
        ("measurement-y", "is no measurement"),
        ("measurement-x.less", "has no table 'less'"),
        ("z", "No table 'z'"),
    ):
        with pytest.raises(DataError, match=problem):
            docs_tables.render(name, [], tmp_path)


@pytest.mark.parametrize("key", ["command", "commit", "date"])
def test_a_measurement_says_where_it_comes_from(tmp_path, key):
    measurement(tmp_path, **{key: ""})
    with pytest.raises(DataError, match=f"empty '{key}'"):
        docs_tables.render("measurement-x", [], tmp_path)


def test_values_in_sentences(tmp_path):
    measurement(tmp_path)
    page = "It takes <!-- value: x.speed -->9 ms<!-- /value -->, as in `<!-- value: FILE.KEY -->`."
    filled = docs_tables.fill(page, [], tmp_path)
    assert filled == page.replace("9 ms", "7 ms")
    assert docs_tables.measurements_used(filled) == {"x"}
    assert "-->`1234567`<!--" in docs_tables.fill(page.replace("x.speed", "x.commit"), [], tmp_path)
    with pytest.raises(DataError, match=r"no value 'weight'\. Known: commit, date, speed"):
        docs_tables.fill(page.replace("x.speed", "x.weight"), [], tmp_path)


def test_intervals_by_hand_are_found():
    by_hand = [
        "0.08 [0.02, 0.23]",
        "12 [1, 20]",
        "+0.174 [0.104, 0.248]",
        "-3.4 [-6.9, -1.2]",
        "87.5 % [80.1, 92.0]",
        "**0.79** [0.7, 0.8]",
    ]
    for text in by_hand:
        assert docs_tables.unmarked_intervals(f"a {text} b"), text
    generated = f"<!-- table: habit-30 -->\n{by_hand[0]}\n<!-- /table -->"
    value = f"<!-- value: x.y -->{by_hand[0]}<!-- /value -->"
    code = f"`{by_hand[0]}`\n```\n{by_hand[1]}\n```\n"
    for text in (generated, value, code, "a box of throttle in [0, 1]", "see [here](a.md)"):
        assert not docs_tables.unmarked_intervals(text), text


PAGES = docs_tables.pages_of(ROOT)
PUBLISHED = ()  # intervals of other people's papers; the text must call them published


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_measured_interval_is_generated(page):
    found = docs_tables.unmarked_intervals(page.read_text(encoding="utf-8"))
    assert [text for text in found if text not in PUBLISHED] == []


REPRODUCTIONS = [page for page in PAGES if page.parent.name == "reproductions"]


@pytest.mark.parametrize("page", REPRODUCTIONS, ids=lambda page: page.stem)
def test_every_table_of_measured_results_is_generated(page):
    assert docs_tables.unmarked_tables(page.read_text(encoding="utf-8")) == []


def test_tables_by_hand_are_found():
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n"
    text = f"x\n\n{table}\ny\n\n<!-- table: habit-30 -->\n{table}<!-- /table -->\n\n  | c |\n"
    assert docs_tables.unmarked_tables(text) == ["| a | b |", "  | c |"]
    assert docs_tables.unmarked_tables(f"```\n{table}```\n") == []


def test_every_measurement_is_complete_and_printed():
    folder = ROOT / "docs/measurements"
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    unused = []
    for path in sorted(folder.glob("*.json")):
        found = docs_tables.read_measurement(path)
        names = [f"table: measurement-{path.stem} "] if "columns" in found else []
        names += [f"table: measurement-{path.stem}.{name} " for name in found.get("tables", {})]
        names += [
            f"value: {path.stem}.{name} "
            for name, value in found.get("values", {}).items()
            if isinstance(value, str)
        ]
        assert names, path
        unused += [name for name in names if name not in pages]
    assert unused == []


def test_the_tables_of_intervals_follow_from_their_values():
    found = docs_tables.read_measurement(ROOT / "docs/measurements/intervals.json")
    assert found["tables"] == interval_tables(found["values"])


def test_tables_name_what_has_not_been_driven(tmp_path):
    waiting = habit("habit-bold-110").model_copy(update={"accepted": None, "episodes": {}})
    text = docs_tables.render("habit-110", [habit(), waiting], tmp_path)
    assert "1 of 2 baselines is accepted. Not driven yet: `habit-bold-110` (110 episodes;" in text
    measurement(tmp_path, "habit-cost", values={"episode-s": 12.0})
    text = docs_tables.render("habit-110", [waiting], tmp_path)
    assert text == (
        "None of 1 baselines are accepted. Not driven yet: `habit-bold-110` (110 episodes, an "
        "estimated 22 min on two quiet cores; `jaywalk baseline accept NAME... --workers 2 "
        "--reason TEXT`).\n"
    )
    assert "accepted" not in docs_tables.render("habit-110", [habit()], tmp_path)


def test_definitions_without_results_are_listed_with_their_command(tmp_path):
    measurement(tmp_path, "habit-cost", values={"episode-s": 12.0})
    whole = habit("habit-bold-110").model_copy(update={"accepted": None, "episodes": {}})
    run = whole.run.model_copy(update={"subset": "1-30,34", "seeds": [1, 2], "variant": "idle"})
    part = whole.model_copy(update={"name": "habit-bold-30-idle", "run": run})
    text = docs_tables.render("baselines-not-driven", [habit(), whole, part], tmp_path)
    assert text.startswith("1 of 3 baselines are accepted.")
    assert cells(text, 0)[3:] == ["110", "22"]
    assert cells(text, 1)[1:] == ["jaywalk/habit-v2, idle", "1-30,34; 1,2", "62", "12"]
    assert cells(text, 2)[3:] == ["172", "34"]
    assert "accept habit-bold-110 habit-bold-30-idle --workers 2 --reason" in text
    none = docs_tables.render("baselines-not-driven", [habit()], tmp_path)
    assert none == "All baselines are accepted.\n"


def test_variants_stand_below_the_same_seed_of_the_suite(tmp_path):
    suite = habit("habit-expert-30", (5, 6))
    more = {name.replace("-s1", "-s2"): one for name, one in suite.episodes.items()}
    suite = suite.model_copy(update={"episodes": suite.episodes | more})
    idle = habit("habit-expert-30-idle", (5, 6), ())
    idle = idle.model_copy(update={"run": idle.run.model_copy(update={"variant": "idle"})})
    text = docs_tables.render("habit-variants", [suite, idle], tmp_path)
    assert cells(text, 0)[:3] == ["`expert`, the suite itself", "2", "1.0"]
    assert cells(text, 1)[:2] == ["`expert`, `idle`", "2"]
    assert cells(text, 1)[3].startswith("0.00 [0.00, ")


def test_pairs_by_category_and_class(tmp_path):
    text = docs_tables.render("fail2drive-categories", [pairs()], tmp_path)
    at = text.splitlines()[0].strip("| ").split(" | ").index("Visual-lon")
    assert cells(text, 0)[0] == "`expert`"
    assert cells(text, 0)[at].startswith("-20.0 [")
    assert cells(text, 0)[at].endswith("SR 100 to 100")
    assert cells(text, 0).count("-") == 3
    row = cells(docs_tables.render("fail2drive-classes", [pairs()], tmp_path), 0)
    assert row[:2] == ["Animals", "3 (2 strong)"]
    assert row[2].startswith("-20.0 [")


def test_of_two_baselines_of_a_driver_the_wider_one_is_shown(tmp_path):
    three = pairs()
    more = {name.replace("-s1", "-s2"): one for name, one in three.episodes.items()}
    three = three.model_copy(
        update={
            "name": "fail2drive-expert-3seeds",
            "episodes": three.episodes | more,
            "run": three.run.model_copy(update={"seeds": [1, 2]}),
        }
    )
    text = docs_tables.render("fail2drive", [pairs(), three], tmp_path)
    assert cells(text, 0)[:2] == ["`expert`, 2 seeds", "2"]
    assert cells(text, 1)[0].startswith("... weak pairs")
    assert text.count("`expert`") == 1
    assert "`fail2drive-expert-3seeds`:" in text
    assert "`fail2drive-expert`" not in text


def test_smoke_shows_success_and_both_driving_scores(tmp_path):
    found = habit("smoke-expert")
    episodes = {
        name: one.model_copy(
            update={
                "scores": one.scores
                | {
                    "leaderboard-2.1": ProtocolScore(
                        success=True,
                        status="",
                        metrics={"driving_score": 80.0, "driving_score_no_min_speed": 100.0},
                    )
                }
            }
        )
        for name, one in found.episodes.items()
    }
    found = found.model_copy(update={"episodes": episodes})
    row = cells(docs_tables.render("smoke", [found], tmp_path), 0)
    assert row[:2] == ["`expert`", "4"]
    assert row[2].startswith("3 (75 [")
    assert row[3].startswith("80.0 [")
    assert row[4].startswith("100.0 [")
    assert cells(docs_tables.render("baselines", [found], tmp_path), 0)[6:8] == ["80.0", "100.0"]
    assert cells(docs_tables.render("baselines", [habit()], tmp_path), 0)[6:8] == ["-", "-"]
