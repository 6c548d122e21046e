"""The section of the page about pairs."""

from __future__ import annotations

import re

import pytest
import score_cards as make

from jaywalk.record import Episode, EpisodeWriter
from jaywalk.report._generalization import gap_figure
from jaywalk.report.page import build_page
from jaywalk.report.scored_runs import ScoredRun, choose_protocol


def paired_run(loss: float, agent: str):
    cards = []
    for number, name in ((90, "RightConstruction"), (91, "RightConstruction"), (95, "Wall")):
        for seed in (1, 2):
            cards.append(make.card(f"Base_{name}_{number:04d}", seed, agent=agent))
            shifted = f"Generalization_{name}_{1000 + number}"
            cards.append(make.card(shifted, seed, 100.0 - loss, agent=agent))
    return ScoredRun(score=make.run(*cards, suite="jaywalk/fail2drive-v2"))


def test_the_page_tells_the_gap():
    page = build_page([paired_run(40.0, "cruise"), paired_run(0.0, "expert")])
    section = page.split('<section id="generalization">')[1].split("</section>")[0]
    rows = re.findall(r'<th scope="row">(\w+)</th>', section)
    assert rows == ["cruise", "expert", "Behavior", "Robustness", "RightConstruction", "Wall"]
    assert "-40.0 %" in section
    assert 'href="#generalization"' in page


def test_of_many_scenarios_the_figure_shows_the_lowest():
    cards = [make.card(f"s{k}", score=100.0 - k) for k in range(60)]
    page = build_page([ScoredRun(score=make.run(*cards))])
    assert "by scenario: the lowest 40 of 60" in page
    figure = page.split("the lowest 40 of 60</title>")[1].split("</svg>")[0]
    assert ">s20<" in figure
    assert ">s19<" not in figure


def test_no_change_is_neither_a_gain_nor_a_loss():
    page = build_page([paired_run(0.0, "expert")])
    section = page.split('<section id="generalization">')[1].split("</section>")[0]
    assert '<span class="drop same">0.0 %' in section
    assert "-0.0" not in section
    assert "+0.0" not in section


def test_other_runs_have_no_such_section():
    page = build_page([ScoredRun(score=make.run(make.card("a"), make.card("b", score=50.0)))])
    assert "generalization" not in page


def record(folder, pair):
    with EpisodeWriter(folder) as writer:
        writer.add_tick(0, 0.0, 0.05)
        writer.finish(Episode(episode_id=folder.name, pair=pair))


def test_a_page_about_pairs_follows_their_rules_unless_told_otherwise(tmp_path):
    for name, pair in (("pairs", "Wall_0095"), ("plain", "")):
        record(tmp_path / name / "episodes" / "a", pair)
    pairs, plain, empty = tmp_path / "pairs", tmp_path / "plain", tmp_path / "empty"
    chosen = choose_protocol([pairs])
    assert (chosen.protocol, "base/shift pairs" in chosen.reason) == ("fail2drive", True)
    for runs in ([plain], [empty], [pairs, plain]):
        assert choose_protocol(runs).protocol == "jaywalk"
    asked = choose_protocol([pairs], "bench2drive")
    assert (asked.protocol, "asked for" in asked.reason) == ("bench2drive", True)


def test_the_bars_are_as_high_as_the_scores():
    found = {
        "categories": {
            "Wall": {
                "base_hm": 80.0,
                "generalization_hm": 20.0,
                "intervals": {"generalization": {"hm": [None, None]}},
            }
        }
    }
    svg = gap_figure([("a", found)], "bars")
    heights = [float(h) for h in re.findall(r'<rect[^>]* height="([\d.]+)"', svg)]
    assert heights[1] / heights[0] == pytest.approx(3.0, abs=0.02)
    width, height = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups())
    assert width > height  # one category is not blown up to the width of a page
