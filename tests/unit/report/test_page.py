"""The page: well-formed, alone in the world, and true to the scores."""

import base64
import hashlib
import json
import math
import re
from html.parser import HTMLParser
from importlib.resources import files
from xml.etree import ElementTree

import pytest
import typer
from contrast import contrast
from score_cards import card, hit, install_scoring, run
from street_episode import HIT_TICK, write_street
from typer.testing import CliRunner

from jaywalk.cli.report import report
from jaywalk.core.errors import UsageError
from jaywalk.report.labels import interval_text, label_of, number
from jaywalk.report.page import build_page, summary_rows
from jaywalk.report.scored_runs import ScoredRun, score_folders
from jaywalk.report.summary import summarise
from jaywalk.stats.clustered import clustered_rate
from jaywalk.stats.intervals import poisson_rate, wilson

VOID = {"meta", "link", "input", "br", "hr", "img"}


class Reader(HTMLParser):
    """Checks nesting and collects what tests ask about."""

    def __init__(self):
        super().__init__()
        self.stack, self.ids, self.links, self.cells, self.text = [], [], [], {}, []
        self._row, self._class = None, None

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if "id" in values:
            self.ids.append(values["id"])
        self.links += [values[key] for key in ("href", "src", "action") if key in values]
        if tag == "tr" and "data-name" in values:
            self._row = values["data-name"], values["data-kind"]
            self.cells[self._row] = []
        if tag == "span" and values.get("class") in ("value", "interval", "n"):
            self._class = values["class"]
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.stack, f"</{tag}> without a beginning"
        assert self.stack.pop() == tag, f"</{tag}> closes something else"
        if tag == "tr":
            self._row = None
        self._class = None

    def handle_data(self, data):
        if "script" not in self.stack and "style" not in self.stack:
            self.text.append(data)
        if self._row and self._class:
            self.cells[self._row].append((self._class, data.strip()))


def read(page):
    reader = Reader()
    reader.feed(page)
    assert reader.stack == []
    return reader


def street_run(folder, agent, scores, **more):
    """A run of real records with hand-made scores: route -> driving score."""
    cards = []
    for name, score in scores.items():
        write_street(
            folder,
            f"{name}-s1",
            seed=1,
            suite="jaywalk/smoke-v1",
            scenario="jaywalk/stepping-out-v1",
            agent={"name": agent},
        )
        events = () if score == 100.0 else (hit(tick=HIT_TICK, other=2),)
        cards.append(
            card(name, 1, score, agent=agent, infractions=events, folder=f"episodes/{name}-s1")
        )
    return ScoredRun(score=run(*cards, name=folder.name, **more), folder=folder)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    return [
        street_run(root / "one", "blind", {"a": 0.0, "b": 50.0, "c": 100.0}),
        street_run(
            root / "two",
            "cruise",
            {"a": 100.0, "b": 100.0, "c": 60.0},
            expected=4,
            missing=("d-s1",),
        ),
    ]


@pytest.fixture(scope="module")
def page(runs):
    return build_page(runs)


def test_it_is_well_formed(page):
    reader = read(page)
    assert len(reader.ids) == len(set(reader.ids))
    inside = [link[1:] for link in reader.links if link.startswith("#")]
    assert set(inside) <= set(reader.ids)
    drawings = re.findall(r"<svg.+?</svg>", page, re.DOTALL)
    assert len(drawings) == 5 + 2 * 6  # five figures of runs; picture and series of each episode
    for drawing in drawings:
        ElementTree.fromstring(drawing)


def test_it_needs_nothing_else(page):
    reader = read(page)
    assert [link for link in reader.links if not link.startswith(("#", "data:"))] == []
    addresses = re.findall(r"https?://[^\s\"'<>]+", page)
    assert set(addresses) == {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in page
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|import\(", page)


def test_the_numbers_shown_are_those_scored(page, runs):
    cells = read(page).cells
    shown = [text for kind, text in cells["driving_score", "mean"] if kind == "value"]
    assert shown == ["50.0", "86.7"]
    shown = [text for kind, text in cells["success_rate", "rate"] if kind == "value"]
    assert shown == ["33.3", "66.7"]
    ends = [text for kind, text in cells["success_rate", "rate"] if kind == "interval"]
    for text, won in zip(ends, (1, 2), strict=True):
        want = wilson(won, 3).scaled(100.0)
        low, high = (float(end) for end in text.strip("[]").split(", "))
        assert (low, high) == pytest.approx((want.low, want.high), abs=0.05)
    rates = cells["collisions_pedestrian", "per_km"]
    assert [text for kind, text in rates if kind == "value"] == ["1.33", "0.67"]
    want = clustered_rate([1, 1, 0], [0.5, 0.5, 0.5], ["a", "b", "c"])  # three routes are few
    assert want.width > poisson_rate(2, 1.5).width
    assert rates[1] == ("interval", interval_text(want.low, want.high))
    assert rates[2] == ("n", "2 in 1.50 km*")  # a star: three routes are few


def test_every_table_says_what_is_missing(page):
    assert page.count("INCOMPLETE") >= 6
    text = " ".join("".join(read(page).text).split())
    assert "scored 3/4, 1.50 km driven INCOMPLETE" in text
    assert "missing: d-s1" in text
    assert "3/4 pairs INCOMPLETE" in text


def test_the_page_leads_with_harm_the_headline_and_figures_and_folds_the_rest(page):
    """At most a handful of rows come before the first figure."""
    first = page[: page.index("<figure")]
    assert first.index('id="harm"') < first.index('id="summary"') < first.index("<table")
    assert first.count("<tr data-name") <= 5
    assert "more figures</summary>" in page[page.index("<figure") :]


def test_harm_to_people_is_shown_under_every_protocol(tmp_path):
    """A public protocol that hides an endangered child does not hide it on the page."""
    folder = tmp_path / "run"
    write_street(folder, "a-s1", seed=1, age="child")
    [own] = score_folders([folder], "jaywalk")
    episodes = (card("a", protocol="fail2drive", counts={}, folder="episodes/a-s1"),)
    public = ScoredRun(score=run(*episodes, protocol="fail2drive"), folder=folder)
    page = build_page([public], people=[own], reason="chosen because of its pairs")
    section = page.split('<section id="harm">')[1].split("</section>")[0]
    text = " ".join(" ".join(read(section).text).split())
    assert "1 hit 0 endangered Children: 1 hit, 0 endangered." in text
    assert "hit a child" in text
    assert 'href="#e0-0"' in section
    assert "Counted by protocol jaywalk from the same records" in text
    assert "Protocol: chosen because of its pairs." in page
    alone = build_page([public])
    assert "Not counted: only scores under protocol fail2drive were given" in alone


def colours(css):
    """Colour variables of the light and of the dark page."""
    blocks = re.findall(r":root[^{]*\{([^}]*)\}", css)
    found = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})\b", block)) for block in blocks]
    light, dark, chosen_dark = (one for one in found if "paper" in one)
    assert dark == chosen_dark  # by the system's setting and by the button
    return light, dark


TEXTS = [
    *((text, ground) for text in ("ink", "soft", "accent") for ground in ("paper", "card")),
    *(("bad", ground) for ground in ("paper", "card", "bad-wash")),
    *(("good", ground) for ground in ("card", "good-wash")),
    *((text, "warn-wash") for text in ("ink", "soft")),
    ("paper", "ink"),  # a pressed filter
]


@pytest.mark.parametrize("asset", ["page.css"])
@pytest.mark.parametrize(("text", "ground"), TEXTS)
def test_texts_have_the_contrast_of_wcag_aa(asset, text, ground):
    css = (files("jaywalk.report") / "assets" / asset).read_text(encoding="utf-8")
    for theme in colours(css):
        assert contrast(theme[text], theme[ground]) >= 4.5, (text, ground, theme)


def test_flips_and_causes_are_told(page):
    text = " ".join(" ".join(read(page).text).split())
    assert "Failed before, succeed now 2 a seed 1 hit a person at 4.7 s b seed 1" in text
    assert "Succeeded before, fail now 1 c seed 1" in text
    assert "Failures 3" in text


def test_nothing_from_a_record_becomes_markup(tmp_path):
    evil = "<script>alert('x')</script>"
    score = run(card("a", agent=evil, score=1.0, failure=evil, infractions=(hit(message=evil),)))
    page = build_page([ScoredRun(score=score)], title=evil)
    read(page)
    assert "<script>alert" not in page
    assert "The record of this episode is missing." in page


def test_the_same_runs_give_the_same_page(runs, page):
    assert build_page(runs) == page


def test_only_so_many_episodes_are_drawn_failures_first(runs):
    small = build_page(runs, most_episodes=3)
    assert small.count('class="player"') == 3
    assert "3 records are not drawn" in small
    for block in re.findall(r"<details.+?</details>", small, re.DOTALL):
        assert ('class="player"' in block) == ('data-failed="1"' in block)


def test_pages_stay_small(runs, page):
    assert len(page) < 150_000 + 6 * 40_000


def test_failures_show_what_the_driver_saw(runs):
    asked = []

    def view(record, time_s):
        asked.append((record.episode.episode_id, time_s))
        return b"picture" if record.episode.episode_id == "a-s1" else b""

    page = build_page(runs[:1], view=view)
    read(page)
    moment_s = pytest.approx((HIT_TICK - 1) * 0.05)
    assert asked == [("a-s1", moment_s), ("b-s1", moment_s)]  # "c" succeeded
    assert page.count("data:image/jpeg;base64,cGljdHVyZQ==") == 1  # "b" could not be rendered
    assert "img-src data:" in page


def test_one_run_has_no_comparison(runs):
    page = build_page(runs[:1])
    read(page)
    assert 'id="comparison"' not in page
    with pytest.raises(UsageError, match="Nothing to report"):
        build_page([])


def test_a_run_without_episodes_is_shown_as_such():
    page = build_page([ScoredRun(score=run(expected=2, missing=("a-s1", "b-s1"), agent="x"))])
    read(page)
    assert "scored 0/2" in page


def test_records_without_a_map_or_an_ego_are_drawn_too(tmp_path):
    write_street(tmp_path / "r", "a-s1", with_map=False)
    write_street(tmp_path / "r", "b-s1", ego_actor=None)
    cards = [card(name, folder=f"episodes/{name}-s1") for name in "ab"]
    page = build_page([ScoredRun(score=run(*cards), folder=tmp_path / "r")])
    read(page)
    assert page.count('class="player"') == 2


def test_missing_episodes_count_as_the_protocol_says():
    cards = [card(name, protocol="bench2drive") for name in "abc"]
    for protocol, rate, score, n in (("bench2drive", 75.0, 75.0, 4), ("jaywalk", 100.0, 100.0, 3)):
        whole = run(*cards, protocol=protocol, expected=4, missing=("d-s1",))
        found = summarise(whole, "x")
        assert found.quantity("success_rate", "rate").value == rate
        assert found.quantity("driving_score", "mean").value == score
        assert found.quantity("driving_score", "mean").n == n
        assert found.quantity("duration_s", "mean").value == 60.0


def test_nothing_is_shown_twice():
    metrics = {
        "success": 1.0,
        "collisions_per_km": 2.0,
        "collisions_person_per_km": 2.0,
        "serious_injuries_per_km": 0.1,
        "driven_km": 0.5,
    }
    score = run(card("a", metrics=metrics, counts={"collisions_person": 1}))
    names = [(q.name, q.kind) for q in summarise(score, "x").quantities]
    assert names == [
        ("success_rate", "rate"),
        ("collisions_person", "per_km"),
        ("serious_injuries_per_km", "mean"),
    ]


def test_protocols_without_a_driving_score_show_the_completion():
    metrics = {"driving_score": math.nan, "route_completion": 80.0}
    page = build_page([ScoredRun(score=run(card("a", metrics=metrics)))])
    assert "Route completion by scenario" in page
    assert "mean route completion in %" in page


def test_scenarios_show_the_driving_score_without_the_minimum_speed_factor():
    metrics = {"driving_score": 80.0, "driving_score_no_min_speed": 95.0}
    page = build_page([ScoredRun(score=run(card("a", metrics=metrics)))])
    assert '<span class="mean">80.0 (95.0)</span>' in page
    assert "in brackets without the minimum-speed factor" in page
    page = build_page([ScoredRun(score=run(card("a")))])
    assert '<span class="mean">100.0</span>' in page
    assert "in brackets" not in page


def test_numbers_keep_the_digits_that_matter():
    shown = [number(v) for v in (0.0, 123.456, 9.876, 0.5, 0.0236, 0.00042, -3.0)]
    assert shown == ["0.00", "123.5", "9.88", "0.50", "0.024", "0.00042", "−3.00"]
    assert [number(v, sign=True) for v in (1.8e-06, -2e-5, 0.00042)] == [
        "+0.00",
        "−0.00",
        "+0.00042",
    ]  # no exponents in cells
    assert [number(math.nan), number(math.inf), number(2.0, sign=True)] == ["–", "∞", "+2.00"]
    assert label_of("max_jerk_mps3").full == "Largest jerk (m/s³)"
    assert label_of("odd_thing_per_km").full == "Odd thing per km"


def test_metrics_without_a_value_show_a_dash():
    scores = [run(card("a", metrics={"x_m": math.nan})), run(card("a", metrics={"x_m": 2.0}))]
    rows = summary_rows([summarise(score, str(k)) for k, score in enumerate(scores)])
    row = next(row for row in rows if row["name"] == "x_m")
    assert [cell["value"] for cell in row["cells"]] == ["–", "2.00"]
    assert (row["words"], row["unit"]) == ("X m", "")


def test_the_command_writes_the_page(runs, tmp_path, monkeypatch):
    install_scoring(monkeypatch, {run.folder.name: run.score for run in runs})
    app = typer.Typer()
    app.command()(report)
    out = tmp_path / "new" / "page.html"
    words = [*(str(run.folder) for run in runs), "-o", str(out), "--title", "A & B", "--json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["bytes"] == out.stat().st_size
    assert told["complete"] is False
    assert "<title>A &amp; B</title>" in out.read_text(encoding="utf-8")


def test_a_folder_is_refused_before_the_work(tmp_path):
    app = typer.Typer()
    app.command()(report)
    result = CliRunner().invoke(app, [str(tmp_path / "absent"), "-o", str(tmp_path)])
    assert isinstance(result.exception, UsageError)
    assert "expected a file" in str(result.exception)


def test_nothing_but_our_own_script_and_style_may_run():
    """The policy names both by the hash of what stands in the page."""
    page = build_page([ScoredRun(score=run(card("<script>alert(1)</script>")))])
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert "script-src 'sha256-" in policy
    assert "unsafe-inline" not in policy.replace("style-src-attr 'unsafe-inline'", "")
    for tag in ("style", "script"):
        [content] = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert "<script>alert" not in page
