"""Figures for publications: numbers, formats, palette, and errors that say what is missing."""

import io
import itertools
import json
import math
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from contrast import contrast, linear
from PIL import Image
from score_cards import card, run
from street_episode import write_street
from typer.testing import CliRunner

import jaywalk
from jaywalk.cli.main import app
from jaywalk.core.errors import UsageError
from jaywalk.report.figures import _minus
from jaywalk.report.paper import FIGURES, draw_figure, save_figure
from jaywalk.report.scored_runs import ScoredRun, score_folders
from jaywalk.report.svg import BETTER, NEITHER, SERIES, WORSE


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    for name, ticks in (("one", 160), ("two", 80)):
        for seed in (1, 2):
            same = {"suite": "jaywalk/smoke-v1", "agent": {"name": name}}
            write_street(root / name, f"a-s{seed}", seed=seed, ticks=ticks, **same)
    return [root / "one", root / "two"]


@pytest.fixture(scope="module")
def scored(folders):
    return score_folders(folders, "jaywalk")


def words_of(figure):
    """Every text in a figure."""
    return [text.get_text() for text in figure.findobj(lambda one: hasattr(one, "get_text"))]


def paired():
    cards = []
    for number in (90, 91, 92):
        cards.append(card(f"Base_RightConstruction_{number:04d}"))
        cards.append(card(f"Generalization_RightConstruction_{1000 + number}", score=60.0))
    return ScoredRun(score=run(*cards, suite="jaywalk/fail2drive-v2"))


def test_points_and_intervals_are_the_scores(scored, folders):
    figure = draw_figure("scores", scored[:1])
    [axes] = figure.axes
    points = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 1]
    spans = [tuple(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2]
    table = jaywalk.load(folders[0]).scores().filter(metric="success_rate")
    assert points[0] == table["value"][0]
    assert spans[0] == (table["low"][0], table["high"][0])
    assert axes.get_xlabel() == "percent"
    assert any(text.endswith("n 2") for text in words_of(figure))


def test_several_runs_are_told_apart_by_colour_and_marker(scored):
    figure = draw_figure("harm", scored)
    [axes] = figure.axes
    marks = {
        (line.get_color(), line.get_marker()) for line in axes.lines if len(line.get_xdata()) == 1
    }
    assert len(marks) == len({colour for colour, _ in marks}) == 2
    texts = words_of(figure)
    assert {"one", "two", "People hit", "People endangered"} <= set(texts)
    assert "people per km driven" in texts


def test_harm_is_drawn_under_every_protocol(folders, scored):
    """Public rules do not count who was hit; the figure scores the records by ours."""
    public = [
        ScoredRun(score=replace(one.score, protocol="bench2drive", episodes=()), folder=one.folder)
        for one in scored
    ]
    assert words_of(draw_figure("harm", public)) == words_of(draw_figure("harm", scored))


@pytest.mark.parametrize("name", ["rates", "scenarios", "difference"])
def test_figures_of_two_runs(scored, name):
    assert draw_figure(name, scored).axes


@pytest.mark.parametrize("name", ["series", "moment"])
def test_figures_of_an_episode(scored, name):
    assert draw_figure(name, scored[:1], episode="a-s1").axes
    with pytest.raises(UsageError, match=r"give --episode ID\. Known: a-s1, a-s2"):
        draw_figure(name, scored[:1])
    with pytest.raises(UsageError, match="one episode of one run"):
        draw_figure(name, scored, episode="a-s1")


def test_pairs_are_drawn_by_category():
    figure = draw_figure("generalization", [paired()])
    [axes] = figure.axes
    [bar] = axes.patches
    assert bar.get_height() == 0.0  # no success under the shift: a harmonic mean of zero
    assert "Robustness\n3 drives" in words_of(figure)


@pytest.mark.parametrize("name", ["generalization", "forecast-bias", "braking", "difference"])
def test_a_run_that_lacks_something_gets_an_error_that_names_it(name):
    with pytest.raises(UsageError, match=f"The figure '{name}' needs ") as refused:
        draw_figure(name, [ScoredRun(score=run(card("a")))])
    assert FIGURES[name].needs in str(refused.value)


def test_other_mistakes(scored):
    with pytest.raises(UsageError, match="Did you mean 'scores'"):
        draw_figure("score", scored)
    with pytest.raises(UsageError, match="one or more runs"):
        draw_figure("scores", [])
    with pytest.raises(UsageError, match="column or page"):
        draw_figure("scores", scored, width="wide")
    with pytest.raises(UsageError, match="shows one run"):
        draw_figure("braking", scored)


def test_the_width_is_that_of_a_column_or_a_page(scored):
    assert draw_figure("scores", scored).get_figwidth() == 3.5
    assert draw_figure("scores", scored, width="page").get_figwidth() == 7.16


def test_the_same_figure_gives_the_same_file(scored, tmp_path):
    for suffix, begins in ((".pdf", b"%PDF"), (".svg", b"<?xml"), (".png", b"\x89PNG")):
        files = [tmp_path / f"{name}{suffix}" for name in "ab"]
        for file in files:
            save_figure(draw_figure("scores", scored), file)
        content = files[0].read_bytes()
        assert content == files[1].read_bytes()
        assert content.startswith(begins)
    ElementTree.parse(tmp_path / "a.svg")
    assert b"/Type3" not in (tmp_path / "a.pdf").read_bytes()  # real fonts, as publishers ask
    with pytest.raises(UsageError, match=r"expected \.pdf, \.svg, \.png"):
        save_figure(draw_figure("scores", scored), tmp_path / "a.gif")


def test_a_notebook_shows_a_figure_as_a_picture(scored):
    picture = draw_figure("scores", scored)._repr_png_()
    with Image.open(io.BytesIO(picture)) as image:
        assert image.format == "PNG"
        assert image.width > 400


def test_the_command_lists_and_writes(folders, tmp_path):
    def figure(*words):
        return CliRunner().invoke(app, ["figure", *map(str, words)])

    done = figure("--json")
    assert [one["name"] for one in json.loads(done.stdout)] == list(FIGURES)
    file = tmp_path / "new" / "harm.pdf"
    done = figure("harm", *folders, "-o", file, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == {
        "figure": "harm",
        "file": str(file),
        "bytes": file.stat().st_size,
        "complete": True,
    }
    for words, message in (
        (("harm", *folders), "Give -o FILE"),
        (("harm", *folders, "-o", "x.gif"), "expected .pdf"),
        (("harm", "-o", tmp_path / "x.pdf"), "one or more runs"),
        (("harm", tmp_path / "absent", "-o", tmp_path / "x.pdf"), "is not a folder"),
    ):
        done = figure(*words)
        assert isinstance(done.exception, UsageError)
        assert message in str(done.exception)


# Machado, Oliveira and Fernandes (2009), severity 1.
BLINDNESS = {
    "none": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def lab(rgb):
    """CIE L*a*b* of linear RGB, D65."""
    matrix = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(matrix) @ np.clip(rgb, 0.0, 1.0) / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16.0 / 116.0)
    return np.array([116.0 * f[1] - 16.0, 500.0 * (f[0] - f[1]), 200.0 * (f[1] - f[2])])


@pytest.mark.parametrize("kind", BLINDNESS)
def test_colours_of_runs_differ_for_colour_blind_readers(kind):
    seen = [lab(np.array(BLINDNESS[kind]) @ linear(colour)) for colour in SERIES]
    least = min(math.dist(a, b) for a, b in itertools.combinations(seen, 2))
    assert least > 15.0  # the first six of Okabe and Ito have 16


@pytest.mark.parametrize("colour", [*SERIES, BETTER, WORSE, NEITHER])
def test_marks_are_visible_on_light_and_dark_pages(colour):
    assert contrast(colour, "#ffffff") >= 3.0
    assert contrast(colour, "#1c2027") >= 3.0


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("smoke-cruise", "smoke-blind"), "smoke-cruise − smoke-blind"),
        (("smoke-comfort-zone-mine", "smoke-comfort-zone-other"), "mine − other"),
        (("smoke-a" + 40 * "x", "smoke-b"), f"…{15 * 'x'} − b"),
    ],
)
def test_the_axis_of_a_difference_fits_below_its_figure(names, words):
    assert _minus(*names) == words
