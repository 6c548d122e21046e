"""Selection of clips by caption: the text stage of the two-stage filter.

A clip passes if its captions contain a keyword about locomotion. Clips are also grouped into
behaviour categories by their captions. The result is written to a list of clips.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.files import csv_lines
from jaywalk.core.seeds import derive_seed
from jaywalk.motion.library.reading import open_library
from jaywalk.motion.library.writing import META
from jaywalk.motion.selection.lemmas import (
    TAGS,
    Token,
    WordKind,
    bundled,
    lemmatiser,
    spacy_installed,
    tags_of,
    with_spacy,
)

_WORDS: Final = 250
_TOPICS: Final = 20
_STARTS: Final = 6
#: Words that occur in every caption carry no information.
_EMPTY: Final = frozenset(("person", "man", "be", "have", "do", "someone", "individual", "woman"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Categories:
    """Groups of clips.

    Attributes:
        label: (clips,) group of each clip, the largest group first.
        names: Name of each group, made of its distinctive tags.
    """

    label: IntArray
    names: tuple[str, ...]


def categorise(
    captions: Sequence[Sequence[Sequence[Token]]], count: int, *, seed: int = 0
) -> Categories:
    """Group clips into at most ``count`` categories (k-means on tags and words).

    Raises:
        UsageError: ``count`` is less than 1.
    """
    if count < 1:
        raise UsageError(f"{count} categories asked for; at least 1 is needed")
    tags = [tags_of(clip) for clip in captions]
    marks = np.array([[tag in own for tag in TAGS] for own in tags], dtype=np.float64)
    features = np.concatenate([1.5 * _rarity(marks) * marks, _topics(captions)], axis=1)
    clusters = min(count, len(np.unique(features.round(9), axis=0)))
    label = _kmeans(features, clusters, seed)
    order = np.argsort(-np.bincount(label, minlength=clusters), kind="stable")
    place = np.empty(clusters, dtype=np.int64)
    place[order] = np.arange(clusters)
    label = place[label]
    return Categories(label=label, names=_names(label, tags, clusters))


def _rarity(marks: FloatArray) -> FloatArray:
    return np.asarray(np.log((1.0 + len(marks)) / (1.0 + marks.sum(axis=0))) ** 0.5)


def _topics(captions: Sequence[Sequence[Sequence[Token]]]) -> FloatArray:
    """Latent topics (clips, 20) of the lemmas, from singular vectors of tf-idf."""
    bags = [
        Counter(
            token.lemma
            for tokens in clip
            for token in tokens
            if token.kind is not WordKind.OTHER and token.lemma not in _EMPTY
        )
        for clip in captions
    ]
    seen = Counter(word for bag in bags for word in bag)
    words = [word for word, _ in sorted(seen.items(), key=lambda pair: (-pair[1], pair[0]))]
    words = words[:_WORDS]
    if not words:
        return np.zeros((len(bags), 1))
    table = np.array([[float(bag[word]) for word in words] for bag in bags])
    table = np.sqrt(table) * _rarity((table > 0.0).astype(np.float64))
    table /= np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-9)
    values, vectors = np.linalg.eigh(table.T @ table)
    top = vectors[:, np.argsort(-values, kind="stable")[:_TOPICS]]
    return np.asarray(table @ top)


def _kmeans(features: FloatArray, count: int, seed: int) -> IntArray:
    from sklearn.cluster import KMeans

    state = derive_seed(seed, "categories") % 2**32
    fitted = KMeans(n_clusters=count, n_init=_STARTS, random_state=state).fit(features)
    return np.asarray(fitted.labels_, dtype=np.int64)


def _names(label: IntArray, tags: Sequence[tuple[str, ...]], count: int) -> tuple[str, ...]:
    """Name each group by tags that its clips have and others lack; repeated names get a number."""
    everywhere = Counter(tag for own in tags for tag in own)
    names: list[str] = []
    for group in range(count):
        own = [tags[i] for i in np.flatnonzero(label == group).tolist()]
        share = {tag: n / len(own) for tag, n in Counter(t for o in own for t in o).items()}
        telling = sorted(
            share, key=lambda tag: (-share[tag] * (share[tag] - everywhere[tag] / len(tags)), tag)
        )
        best = [tag for tag in telling[:3] if share[tag] > 0.5] or telling[:1]
        name = " and ".join(best)
        names.append(name if name not in names else f"{name} ({group + 1})")
    return tuple(names)


_NARROW: Final = ("walk", "step", "cross", "stroll")
_MID: Final = (
    *_NARROW,
    "run",
    "jog",
    "pace",
    "march",
    "stride",
    "limp",
    "stagger",
    "wander",
    "stumble",
    "hurry",
    "sprint",
    "shuffle",
    "tiptoe",
    "strut",
    "hike",
)
_BROAD: Final = (
    *_MID,
    "move",
    "go",
    "turn",
    "stand",
    "wait",
    "stop",
    "jump",
    "skip",
    "hop",
    "wave",
    "look",
    "fall",
    "trip",
    "climb",
    "crawl",
    "approach",
    "return",
)
#: Sets of lemmas by name.
KEYWORDS: Final[dict[str, frozenset[str]]] = {
    "narrow": frozenset(_NARROW),
    "mid": frozenset(_MID),
    "broad": frozenset(_BROAD),
}


def keyword_set(text: str) -> frozenset[str]:
    """Return a keyword set by name, or the words of a comma-separated list.

    Raises:
        UsageError: The list is empty.
    """
    if text in KEYWORDS:
        return KEYWORDS[text]
    words = frozenset(part.strip().lower() for part in text.split(",") if part.strip())
    if not words:
        raise UsageError(f"no keywords in {text!r}; expected {', '.join(KEYWORDS)} or words")
    return words


def has_keyword(tokens: Sequence[Token], keywords: frozenset[str]) -> bool:
    """Return True if a verb or noun among the tokens is one of the keywords."""
    return any(t.kind is not WordKind.OTHER and t.lemma in keywords for t in tokens)


def passes(
    captions: Sequence[Sequence[Token]], keywords: frozenset[str], *, every: bool = False
) -> bool:
    """Return True if any (or every) caption has a keyword; False without captions."""
    matches = [has_keyword(tokens, keywords) for tokens in captions]
    return bool(matches) and (all(matches) if every else any(matches))


#: Accepted columns of caption lists: name, caption, label.
_NAMES: Final = ("name", "File ID", "humanml3d_id", "id")
_CAPTIONS: Final = ("caption", "Original Description", "text")
_LABELS: Final = ("class", "habit_class", "Category", "label")
LIST_COLUMNS: Final = ("name", "selected", "category", "tags", "caption")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipText:
    """A clip with its captions and label."""

    name: str
    captions: tuple[str, ...]
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipChoice:
    """Decision of the text stage about one clip."""

    name: str
    caption: str
    label: str
    selected: bool
    tags: tuple[str, ...]
    category: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Result of the text stage.

    Attributes:
        choices: Decisions about all clips.
        lemmatiser: Name of the lemmatiser.
        keywords: Lemmas that were searched for.
    """

    choices: tuple[ClipChoice, ...]
    lemmatiser: str
    keywords: frozenset[str]

    @property
    def selected(self) -> list[str]:
        """Names of the clips that passed."""
        return [choice.name for choice in self.choices if choice.selected]


def read_captions(places: Sequence[Path]) -> list[ClipText]:
    """Read the captions of libraries (folders) and lists (CSV); rows of one name are merged.

    Raises:
        DataError: A path is neither a library nor a list.
    """
    texts: dict[str, ClipText] = {}
    for place in places:
        for clip in _library(place) if (place / META).exists() else _listed(place):
            before = texts.get(clip.name)
            captions = (*before.captions, *clip.captions) if before else clip.captions
            label = (before.label if before else "") or clip.label
            texts[clip.name] = ClipText(name=clip.name, captions=captions, label=label)
    if not texts:
        raise UsageError("no captions to select from; give libraries or CSV files")
    return list(texts.values())


def _library(folder: Path) -> list[ClipText]:
    library = open_library(folder)
    rows = zip(library.names, library.columns["caption"], library.columns["class"], strict=True)
    return [ClipText(name=n, captions=(text,) if text else (), label=c) for n, text, c in rows]


def _listed(path: Path) -> list[ClipText]:
    try:
        with csv_lines(path, "a list of clips (.csv)", "utf-8") as file:
            reader = csv.DictReader(file)
            fields = reader.fieldnames or []
            name, text = (next((c for c in n if c in fields), None) for n in (_NAMES, _CAPTIONS))
            label = next((c for c in _LABELS if c in fields), None)
            if name is None or text is None:
                raise DataError(
                    f"{path}: has no columns for names and captions; expected one of "
                    f"{', '.join(_NAMES)} and one of {', '.join(_CAPTIONS)}"
                )
            return [
                ClipText(
                    name=row[name] or "",
                    captions=(row[text],) if row[text] else (),
                    label=(row[label] or "") if label else "",
                )
                for row in reader
            ]
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise DataError(f"{path}: cannot be read as a list of captions ({problem})") from problem


def select(
    clips: Sequence[ClipText],
    *,
    words: str = "mid",
    every: bool = False,
    categories: int = 12,
    with_lemmatiser: str = "auto",
    seed: int = 0,
) -> Selection:
    """Filter clips by the lemmas of their captions, tag them and group them.

    Args:
        clips: Clips with captions.
        words: ``narrow``, ``mid``, ``broad``, or lemmas separated by commas.
        every: Require a keyword in every caption, not just in one.
        categories: Number of behaviour categories.
        with_lemmatiser: ``auto``, ``bundled`` or ``spacy``.
        seed: Seed of the grouping.
    """
    name, lemmatise = lemmatiser(with_lemmatiser)
    keywords = keyword_set(words)
    tokens = [[lemmatise(text) for text in clip.captions] for clip in clips]
    groups = categorise(tokens, categories, seed=seed)
    choices = tuple(
        ClipChoice(
            name=clip.name,
            caption=" | ".join(clip.captions),
            label=clip.label,
            selected=passes(own, keywords, every=every),
            tags=tags_of(own),
            category=groups.names[int(group)],
        )
        for clip, own, group in zip(clips, tokens, groups.label, strict=True)
    )
    return Selection(choices=choices, lemmatiser=name, keywords=keywords)


def summary(selection: Selection) -> dict[str, Any]:
    """Return the totals of a selection, as ``motion select --json`` prints them."""
    choices = selection.choices
    labels = Counter(choice.label for choice in choices)
    kept = Counter(choice.label for choice in choices if choice.selected)
    return {
        "clips": len(choices),
        "selected": sum(choice.selected for choice in choices),
        "selected_by_label": {label: [kept[label], labels[label]] for label in sorted(labels)},
        "lemmatiser": selection.lemmatiser,
        "keywords": sorted(selection.keywords),
        "categories": dict(Counter(choice.category for choice in choices).most_common()),
        "tags": dict(Counter(tag for choice in choices for tag in choice.tags).most_common()),
    }


def lemmatiser_agreement(clips: Sequence[ClipText], words: str) -> float | None:
    """Share of clips on which both lemmatisers agree; None without spaCy."""
    if not spacy_installed():
        return None
    keywords = keyword_set(words)
    same = [
        passes([bundled(t) for t in clip.captions], keywords)
        == passes([with_spacy(t) for t in clip.captions], keywords)
        for clip in clips
    ]
    return sum(same) / len(same)


def write_list(selection: Selection, path: Path) -> None:
    """Write the list of clips with their decision, category and tags."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(LIST_COLUMNS)
        for choice in selection.choices:
            chosen = "yes" if choice.selected else "no"
            tags = " ".join(choice.tags)
            writer.writerow([choice.name, chosen, choice.category, tags, choice.caption])


def read_list(path: Path) -> list[str]:
    """Read the names of the selected clips of a list.

    Raises:
        DataError: The file is not a list of clips.
    """
    try:
        with csv_lines(path, "a list of clips (.csv)", "utf-8") as file:
            rows = list(csv.DictReader(file))
        return [row["name"] for row in rows if row["selected"] == "yes"]
    except (OSError, UnicodeDecodeError, csv.Error, KeyError) as problem:
        raise DataError(
            f"{path}: is not a list of 'jaywalk motion select' ({problem!r})"
        ) from problem
