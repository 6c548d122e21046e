"""Review: pictures, page, decisions, terminal, the command."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import shapely
from PIL import Image
from synthetic_motion import still, walking
from typer.testing import CliRunner

from jaywalk.cli.main import app
from jaywalk.core.errors import DataError, UsageError
from jaywalk.motion.library.building import DEFAULT_POLICIES, on_rigs
from jaywalk.motion.library.reading import open_library
from jaywalk.motion.library.writing import LibraryWriter
from jaywalk.motion.picture import _capsule
from jaywalk.motion.review.decisions import (
    ReviewDecision,
    ReviewVerdict,
    accepted_names,
    read_decisions,
    write_decisions,
)
from jaywalk.motion.review.pack import (
    CELL,
    FRAME,
    animation,
    candidates,
    clip_cell,
    make_pack,
    view_direction,
)
from jaywalk.motion.review.terminal import clip_text, review_in_terminal


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("review") / "lib"
    motions = [
        replace(walking(seconds=3.0, name="000001"), caption="walks <script>alert(1)</script>"),
        replace(still(frames=50, name="000002"), caption='stands, "still"'),
        replace(walking(seconds=3.0, turn_rps=0.4, name="a/b c"), caption="walks a curve"),
    ]
    with LibraryWriter(out, DEFAULT_POLICIES, {}) as writer:
        for motion in motions:
            writer.add(motion, on_rigs(motion, DEFAULT_POLICIES))
    return out


def run(*words, text=None):
    arguments = ["motion", "review", *map(str, words)]
    return CliRunner().invoke(app, arguments, input=text)


def test_a_body_part_is_drawn_as_wide_as_it_is():
    """The outline is every point within the radius of the bone, by shapely."""
    outline = shapely.Polygon(_capsule((0.0, 0.0), (0.3, 0.4), 0.1))
    want = shapely.LineString([(0.0, 0.0), (0.3, 0.4)]).buffer(0.1)
    assert outline.area == pytest.approx(want.area, rel=0.02)
    assert outline.symmetric_difference(want).area < 0.02 * want.area
    point = shapely.Polygon(_capsule((1.0, 1.0), (1.0, 1.0), 0.1))
    assert point.area == pytest.approx(np.pi * 0.01, rel=0.03)


def test_pictures_show_the_person(tmp_path):
    walk = walking(seconds=3.0)
    cell = clip_cell(walk, "a walk")
    assert cell.size == CELL
    colours = np.asarray(cell).reshape(-1, 3).astype(int)
    red = (colours[:, 0] > 150) & (colours[:, 2] < 90)
    blue = (colours[:, 2] > 130) & (colours[:, 0] < 90)
    assert red.sum() > 50
    assert blue.sum() > 50
    assert view_direction(walk) == pytest.approx([0.0, 1.0], abs=0.02)
    animation(walk, tmp_path / "a.gif")
    with Image.open(tmp_path / "a.gif") as gif:
        assert gif.size == FRAME
        assert gif.n_frames == -(-walk.frames // 2)
        assert gif.info["duration"] == 100


def test_page(folder, tmp_path):
    library = open_library(folder)
    made = {
        "000002": ReviewDecision(name="000002", verdict=ReviewVerdict.REJECT, note="dull </script>")
    }
    pack = make_pack(library, library.names, tmp_path / "pack", made)
    page = pack.page.read_text(encoding="utf-8")
    assert page.count("<article") == 3
    assert "<script>alert" not in page
    assert "dull </script>" not in page
    for source in re.findall(r'<img src="([^"]+)"', page):
        assert (tmp_path / "pack" / source).exists()
    known = json.loads(re.search(r"const known = (\{.*\});", page).group(1))
    assert known["000002"]["decision"] == "reject"
    assert [p.name for p in pack.sheets] == ["sheet001.png"]
    with Image.open(pack.sheets[0]) as sheet:
        assert sheet.size == (3 * CELL[0], CELL[1])
    assert candidates(library, None, made, undecided=True) == ["000001", "a/b c"]
    assert candidates(library, ["000002"], made) == ["000002"]
    with pytest.raises(UsageError, match="no clips to review"):
        candidates(library, ["000002"], made, undecided=True)


def test_decision_files(tmp_path, folder):
    file = tmp_path / "review.csv"
    assert read_decisions(file) == {}
    wanted = [
        ReviewDecision(name="000001", verdict=ReviewVerdict.ACCEPT, note='good, "very"'),
        ReviewDecision(name="000002", verdict=ReviewVerdict.REJECT),
    ]
    write_decisions(wanted, file)
    assert list(read_decisions(file).values()) == wanted
    assert [p.name for p in tmp_path.iterdir()] == ["review.csv"]
    library = open_library(folder)
    assert accepted_names(library, read_decisions(file)) == ["000001"]
    file.write_text("name,decision\n000001,maybe\n")
    with pytest.raises(DataError, match=r"line 2 decides 'maybe'"):
        read_decisions(file)
    file.write_text("x,y\n1,2\n")
    with pytest.raises(DataError, match="columns"):
        read_decisions(file)
    strange = {"zzz": ReviewDecision(name="zzz", verdict=ReviewVerdict.ACCEPT)}
    with pytest.raises(UsageError, match="'zzz'"):
        accepted_names(library, strange)
    with pytest.raises(UsageError, match="no clip was accepted"):
        accepted_names(library, {})


def test_terminal(folder, tmp_path):
    library = open_library(folder)
    file = tmp_path / "review.csv"
    answers = iter(["?", "a fine", "b", "r", "s", "r too curved", "a never asked"])
    shown = []
    given = review_in_terminal(
        library, library.names, file, ask=lambda _: next(answers), show=shown.append
    )
    assert given == 3
    found = read_decisions(file)
    assert found["000001"].verdict is ReviewVerdict.REJECT  # changed after going back
    assert "000002" not in found
    assert found["a/b c"].note == "too curved"
    text = clip_text(library, "000001")
    assert "#" in text
    assert "o" in text
    assert "crossing" in text

    def closed(_):
        raise EOFError

    assert review_in_terminal(library, library.names, file, ask=closed, show=shown.append) == 0


def test_command(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(folder).exit_code != 0
    done = run(folder, "--out", tmp_path / "pack", "--terminal", text="a\nr\na\n")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "pack/index.html").exists()
    assert len(read_decisions(tmp_path / "review.csv")) == 3
    done = run(folder, "--apply", tmp_path / "kept")
    assert done.exit_code == 0, done.output
    kept = open_library(tmp_path / "kept")
    assert kept.names == ["000001", "a/b c"]
    assert kept.meta["reviewed"] == {"decided": 3, "accepted": 2}
    assert kept.columns["hash"][0] == open_library(folder).columns["hash"][0]
    assert run(folder, "--apply", folder).exit_code != 0
