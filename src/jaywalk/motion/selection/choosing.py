"""Selecting clips by their captions, and the list that says which."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.files import csv_lines
from jaywalk.motion.library.columns import META
from jaywalk.motion.library.reading import open_library
from jaywalk.motion.selection.categories import categorise
from jaywalk.motion.selection.keywords import keyword_set, passes
from jaywalk.motion.selection.lemmas import bundled, lemmatiser, spacy_installed, with_spacy
from jaywalk.motion.selection.tags import tags_of

#: Columns of lists of captions that are understood: name, caption, label.
_NAMES: Final = ("name", "File ID", "humanml3d_id", "id")
_CAPTIONS: Final = ("caption", "Original Description", "text")
_LABELS: Final = ("class", "habit_class", "Category", "label")
LIST_COLUMNS: Final = ("name", "selected", "category", "tags", "caption")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipText:
    """A clip and what is said about it."""

    name: str
    captions: tuple[str, ...]
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A clip and whether its captions let it pass."""

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
        choices: Every clip.
        lemmatiser: What found the lemmas.
        keywords: What was looked for.
    """

    choices: tuple[Choice, ...]
    lemmatiser: str
    keywords: frozenset[str]

    @property
    def selected(self) -> list[str]:
        """Names of the clips that passed."""
        return [choice.name for choice in self.choices if choice.selected]


def read_captions(places: Sequence[Path]) -> list[ClipText]:
    """Captions of libraries (folders) and lists (CSV); rows with the same name come together.

    Raises:
        DataError: A file is neither.
    """
    found: dict[str, ClipText] = {}
    for place in places:
        for clip in _library(place) if (place / META).exists() else _listed(place):
            before = found.get(clip.name)
            captions = (*before.captions, *clip.captions) if before else clip.captions
            label = (before.label if before else "") or clip.label
            found[clip.name] = ClipText(name=clip.name, captions=captions, label=label)
    if not found:
        raise UsageError("no captions to select from; give libraries or CSV files")
    return list(found.values())


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
        every: Whether every caption must have one, not just any.
        categories: Number of behaviour categories.
        with_lemmatiser: ``auto``, ``bundled`` or ``spacy``.
        seed: Seed of the grouping.
    """
    name, lemmatise = lemmatiser(with_lemmatiser)
    keywords = keyword_set(words)
    tokens = [[lemmatise(text) for text in clip.captions] for clip in clips]
    groups = categorise(tokens, categories, seed=seed)
    choices = tuple(
        Choice(
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
    """Totals of a selection, as ``motion select --json`` prints them."""
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
    """Share of clips that both lemmatisers let pass or both do not; None without spaCy."""
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
    """Names of the selected clips of a list.

    Raises:
        DataError: It is no such list.
    """
    try:
        with csv_lines(path, "a list of clips (.csv)", "utf-8") as file:
            rows = list(csv.DictReader(file))
        return [row["name"] for row in rows if row["selected"] == "yes"]
    except (OSError, UnicodeDecodeError, csv.Error, KeyError) as problem:
        raise DataError(f"{path}: is no list of 'jaywalk motion select' ({problem!r})") from problem
