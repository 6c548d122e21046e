"""Selection by captions: lemmas, filter, tags, categories, the command."""

import csv
import json
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from jaywalk.cli.main import app
from jaywalk.core.errors import DataError, PrerequisiteError, UsageError
from jaywalk.motion.selection import lemmas
from jaywalk.motion.selection.choosing import (
    KEYWORDS,
    ClipText,
    categorise,
    has_keyword,
    keyword_set,
    lemmatiser_agreement,
    passes,
    read_captions,
    read_list,
    select,
    write_list,
)
from jaywalk.motion.selection.lemmas import WordKind, bundled, lemma_of, lemmatiser, tags_of

# word and dictionary form, from a grammar, not from the code
_FORMS = {
    "walks": "walk",
    "walking": "walk",
    "walked": "walk",
    "stepping": "step",
    "stopped": "stop",
    "moving": "move",
    "raises": "raise",
    "raised": "raise",
    "taking": "take",
    "took": "take",
    "jogging": "jog",
    "ran": "run",
    "running": "run",
    "carries": "carry",
    "tried": "try",
    "reaches": "reach",
    "crossing": "cross",
    "crosses": "cross",
    "pushes": "push",
    "feet": "foot",
    "women": "woman",
    "bring": "bring",
    "swinging": "swing",
    "stood": "stand",
    "limping": "limp",
    "using": "use",
    "bounced": "bounce",
    "dancing": "dance",
    "lying": "lie",
    "goes": "go",
    "waves": "wave",
    "hesitates": "hesitate",
    "shuffling": "shuffle",
    "across": "across",
    "stumbled": "stumble",
    "kneeling": "kneel",
    "pulls": "pull",
    "falling": "fall",
    "his": "his",
    "throwing": "throw",
    "left": "left",
    "slowly": "slowly",
    "turned": "turn",
    "knees": "knee",
}


def test_dictionary_forms():
    wrong = {word: lemma_of(word) for word, lemma in _FORMS.items() if lemma_of(word) != lemma}
    assert wrong == {}


def test_kinds():
    kinds = {t.text: t.kind for t in bundled("A man walks slowly, towards the door.")}
    assert kinds["walks"] is WordKind.VERB
    assert kinds["door"] is WordKind.NOUN
    assert kinds["slowly"] is WordKind.OTHER


def test_keyword_filter():
    assert KEYWORDS["narrow"] < KEYWORDS["mid"] < KEYWORDS["broad"]
    assert has_keyword(bundled("a man is jogging"), KEYWORDS["mid"])
    assert not has_keyword(bundled("a man is jogging"), KEYWORDS["narrow"])
    both = [bundled("she waves"), bundled("she walked by")]
    assert passes(both, KEYWORDS["narrow"])
    assert not passes(both, KEYWORDS["narrow"], every=True)
    assert not passes([], KEYWORDS["broad"])
    assert keyword_set("limp, hop") == {"limp", "hop"}
    with pytest.raises(UsageError, match="no keywords"):
        keyword_set(" , ")


def test_spacy_gives_the_same_type(monkeypatch):
    """A stand-in with spaCy's interface: the real one is not a dependency."""

    class Word:
        def __init__(self, text, lemma, pos):
            self.text, self.lemma_, self.pos_ = text, lemma, pos

    answers = [Word("he", "he", "PRON"), Word("is", "be", "AUX"), Word("walking", "walk", "VERB")]
    model = types.ModuleType("en_core_web_sm")
    model.load = lambda **_: lambda _text: [*answers, Word(".", ".", "PUNCT")]
    with pytest.raises(PrerequisiteError, match="not installed"):
        lemmatiser("spacy")
    assert lemmatiser("auto")[0] == "bundled"
    monkeypatch.setitem(sys.modules, "en_core_web_sm", model)
    monkeypatch.setattr(lemmas, "spacy_installed", lambda: True)
    lemmas._pipeline.cache_clear()
    name, lemmatise = lemmatiser("auto")
    assert name == "spacy"
    tokens = lemmatise("He is walking.")
    assert [(t.lemma, t.kind) for t in tokens] == [
        ("he", WordKind.OTHER),
        ("be", WordKind.VERB),
        ("walk", WordKind.VERB),
    ]
    lemmas._pipeline.cache_clear()
    with pytest.raises(UsageError, match="unknown lemmatiser"):
        lemmatiser("nltk")


def test_tags():
    assert tags_of([bundled("a person jogs and stops")]) == ("run", "stop")
    assert "gesture" in tags_of([bundled("waves a hand")])
    assert tags_of([bundled("xyz")]) == ("other",)


def test_categories_find_obvious_groups():
    rng = np.random.default_rng(0)
    kinds = ["a person walks {}", "a man waves his {} hand", "someone jumps {}"]
    fill = ["forward", "left", "right", "twice"]
    truth = rng.integers(0, 3, 60)
    clips = [(bundled(kinds[k].format(fill[i % 4])),) for i, k in enumerate(truth)]
    found = categorise(clips, 3)
    assert len(set(zip(truth.tolist(), found.label.tolist(), strict=True))) == 3
    assert set(found.names) == {"walk", "gesture", "jump"}
    again = categorise(clips, 3)
    assert np.array_equal(found.label, again.label)
    sizes = np.bincount(found.label)
    assert list(sizes) == sorted(sizes, reverse=True)
    assert len(categorise(clips[:1] * 5, 4).names) == 1
    with pytest.raises(UsageError, match="categories"):
        categorise(clips, 0)


def write_csv(path, header, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.fixture
def captions(tmp_path):
    rows = [
        ["000001", "Crossing", "a man walks across", "walking"],
        ["M000001", "Crossing", "a man walks across", "walking"],
        ["000002", "Idle", "a woman waves", "gesturing"],
        ["000003", "Idle", "", "irrelevant"],
    ]
    header = ["File ID", "Category", "Original Description", "Subcategory"]
    return write_csv(tmp_path / "habit.csv", header, rows)


def test_select_command(captions, tmp_path):
    chosen = tmp_path / "chosen.csv"
    words = ["motion", "select", str(captions), "--json", "--out", str(chosen), "--categories", "2"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["total"]["selected"] == 2
    assert told["total"]["selected_by_label"] == {"Crossing": [2, 2], "Idle": [0, 2]}
    assert [c["selected"] for c in told["clips"]] == [True, True, False, False]
    assert read_list(chosen) == ["000001", "M000001"]


def test_several_captions_of_one_clip(tmp_path):
    file = write_csv(
        tmp_path / "c.csv", ["name", "caption"], [["a", "she waves"], ["a", "she strolls"]]
    )
    clips = read_captions([file])
    assert clips == [ClipText(name="a", captions=("she waves", "she strolls"))]
    assert select(clips, categories=1).selected == ["a"]
    assert select(clips, categories=1, every=True).selected == []
    write_list(select(clips, categories=1), tmp_path / "list.csv")
    assert read_list(tmp_path / "list.csv") == ["a"]
    assert lemmatiser_agreement(clips, "mid") is None


def test_wrong_files_are_named(tmp_path):
    for content in ("x,y\n1,2\n", ""):
        (tmp_path / "odd.csv").write_text(content)
        with pytest.raises(DataError, match=r"odd\.csv"):
            read_captions([tmp_path / "odd.csv"])
    with pytest.raises(DataError, match=r"odd\.csv"):
        read_list(write_csv(tmp_path / "odd.csv", ["a"], [["b"]]))
    with pytest.raises(DataError, match="No such file"):
        read_captions([tmp_path / "none.csv"])


HABIT = Path(__file__).parents[4] / "shared" / "data" / "habit"


@pytest.mark.data
@pytest.mark.skipif(not (HABIT / "Crossing.csv").exists(), reason="needs ../shared/data/habit")
@pytest.mark.parametrize(
    ("words", "counts"),
    [
        ("narrow", (1508, 385, 765)),
        ("mid", (1735, 415, 928)),
        ("broad", (1838, 440, 1777)),
    ],
)
def test_as_many_of_habits_captions_pass_as_with_spacy(words, counts):
    """Counts by spaCy 2.2 with en_core_web_sm, on Crossing, Attempting and Not_Crossing."""
    keywords = keyword_set(words)
    for name, wanted in zip(("Crossing", "Attempting", "Not_Crossing"), counts, strict=True):
        clips = read_captions([HABIT / f"{name}.csv"])
        found = sum(passes([bundled(text) for text in clip.captions], keywords) for clip in clips)
        assert found == pytest.approx(wanted, abs=max(2, 0.01 * wanted)), name
