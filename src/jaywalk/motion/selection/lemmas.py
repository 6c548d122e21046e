"""Lemmas, word kinds and tags of captions.

spaCy finds lemmas and word kinds if it and its small English model are installed; otherwise a
bundled lemmatiser with a list of movement words does. Both give the same :class:`Token`. Tags name
the actions in a caption with a small vocabulary.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any, Final, TypeAlias

from jaywalk.core.errors import PrerequisiteError, UsageError

SPACY_MODEL: Final = "en_core_web_sm"
_VOWELS: Final = frozenset("aeiou")
_SHORTEST_STEM: Final = 2


class WordKind(StrEnum):
    """Kind of a word, as far as filters distinguish them: verb, noun, or other."""

    VERB = "verb"
    NOUN = "noun"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One word of a caption."""

    text: str
    lemma: str
    kind: WordKind


Lemmatiser: TypeAlias = Callable[[str], tuple[Token, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    verbs: frozenset[str]
    nouns: frozenset[str]
    irregular: dict[str, str]


@cache
def _words() -> _Words:
    place = resources.files("jaywalk.motion") / "data" / "words.json"
    content = json.loads(place.read_text(encoding="utf-8"))
    return _Words(
        verbs=frozenset(content["verbs"]),
        nouns=frozenset(content["nouns"]),
        irregular=dict(content["irregular"]),
    )


def _stems(word: str) -> list[str]:
    """Possible base forms of a regular word, most likely first."""
    lemmas: list[str] = []
    for ending in ("ing", "ed", "es", "s"):
        stem = word[: -len(ending)]
        if not word.endswith(ending) or len(stem) < _SHORTEST_STEM:
            continue
        if ending in ("es", "ed") and stem.endswith("i"):
            lemmas.append(stem[:-1] + "y")  # carries, tried
        if ending == "s":
            lemmas.append(stem)
            continue
        if ending == "es":
            both = [stem + "e", stem]
            lemmas.extend(both[::-1] if stem.endswith(_SIBILANTS) else both)
            continue
        doubled = len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "lsz"
        if doubled:
            lemmas.append(stem[:-1])  # stepping
        if not set(stem) & _VOWELS and "y" not in stem:
            continue  # the "ing" of "bring" is not an ending
        lemmas.extend([stem, stem + "e"] if not _wants_e(stem) else [stem + "e", stem])
        if len(stem) > 2 and stem[-1] == stem[-2]:
            lemmas.append(stem[:-1])
    return lemmas


_SIBILANTS: Final = ("ss", "sh", "ch", "x", "zz", "o")


def _wants_e(stem: str) -> bool:
    """Return True if a stem such as ``mov`` has probably lost an e."""
    if len(stem) < 2 or stem.endswith(("w", "x", "y")):
        return False
    if stem[-1] in "vuc" or stem.endswith(("dg", "ng", "bl", "dl", "gl", "kl", "pl", "tl")):
        return not stem.endswith("ng")
    short = len(stem) > 2 and stem[-1] not in _VOWELS and stem[-2] in _VOWELS
    return short and stem[-3] not in _VOWELS and stem[-1] in "kszt" and len(stem) <= 4


@cache
def lemma_of(word: str) -> str:
    """Dictionary form of one lower-case word."""
    words = _words()
    if word in words.irregular:
        return words.irregular[word]
    if word in words.verbs or word in words.nouns:
        return word
    stems = _stems(word)
    for stem in stems:
        if stem in words.verbs:
            return stem
    for stem in stems:
        if stem in words.nouns:
            return stem
    if word.endswith("ly") or not stems or word.endswith(("ss", "us", "is")):
        return word
    return stems[0]


def bundled(text: str) -> tuple[Token, ...]:
    """Find tokens by word lists and endings; kinds come from the lists, not from the sentence."""
    words = _words()
    tokens = []
    for word in re.findall(r"[a-z]+", text.lower()):
        lemma = lemma_of(word)
        if lemma in words.verbs:
            kind = WordKind.VERB
        elif lemma in words.nouns:
            kind = WordKind.NOUN
        else:
            kind = WordKind.OTHER
        tokens.append(Token(text=word, lemma=lemma, kind=kind))
    return tuple(tokens)


def spacy_installed() -> bool:
    """Return True if spaCy and its small English model can be imported."""
    return all(importlib.util.find_spec(name) is not None for name in ("spacy", SPACY_MODEL))


@cache
def _pipeline() -> Any:
    return importlib.import_module(SPACY_MODEL).load(exclude=["parser", "ner"])


def with_spacy(text: str) -> tuple[Token, ...]:
    """Find tokens with spaCy."""
    kinds = {"VERB": WordKind.VERB, "AUX": WordKind.VERB, "NOUN": WordKind.NOUN}
    return tuple(
        Token(text=t.text, lemma=t.lemma_.lower(), kind=kinds.get(t.pos_, WordKind.OTHER))
        for t in _pipeline()(text.lower())
        if t.text.isalpha()
    )


def lemmatiser(name: str = "auto") -> tuple[str, Lemmatiser]:
    """Return a lemmatiser by name, together with the name of the one chosen.

    Args:
        name: ``auto``, ``bundled`` or ``spacy``.

    Raises:
        UsageError: Unknown name.
        PrerequisiteError: spaCy was asked for and is not installed.
    """
    if name not in ("auto", "bundled", "spacy"):
        raise UsageError(f"unknown lemmatiser {name!r}; expected auto, bundled or spacy")
    if name == "bundled" or (name == "auto" and not spacy_installed()):
        return "bundled", bundled
    if not spacy_installed():
        raise PrerequisiteError(
            f"spaCy with {SPACY_MODEL} is not installed; install both or use --lemmatiser bundled"
        )
    return "spacy", with_spacy


#: Lemmas (also adverbs) that give each tag.
TAGS: Final[dict[str, frozenset[str]]] = {
    name: frozenset(words.split())
    for name, words in {
        "walk": "walk step stroll wander amble march stride strut hike trudge saunter tiptoe pace "
        "shuffle plod lumber meander mosey sneak waddle",
        "run": "run jog sprint dash rush hurry trot gallop",
        "jump": "jump hop leap skip bounce hurdle jack vault",
        "turn": "turn pivot spin twirl rotate around twist veer curve revolve",
        "circle": "circle circular oval loop counterclockwise clockwise anticlockwise",
        "back": "backward backwards back return reverse retreat backpedal backtrack",
        "stop": "stop halt pause freeze standstill",
        "stand": "stand wait stay remain still idle",
        "gesture": "gesture wave point clap raise arm hand motion salute beckon shrug nod greet "
        "scratch reach signal conduct swing stretch shake finger elbow wrist play mime flap",
        "handle": "pick carry put place throw catch lift hold grab push pull toss pass pour drop "
        "wipe wash clean stir open close drink eat phone give take",
        "look": "look glance peer watch gaze stare peek search see",
        "crouch": "crouch squat kneel bend duck stoop bow lunge lean",
        "sit": "sit chair seat lie lay floor crawl",
        "fall": "fall trip stumble collapse tumble topple slip push shove",
        "stagger": "stagger limp sway drunk wobble hobble injure unsteady balance reel zigzag",
        "kick": "kick punch box fight karate spar strike hit jab",
        "dance": "dance waltz salsa ballet groove twirl boogie chicken",
        "climb": "climb stair ladder ascend descend hill ramp",
        "hesitate": "hesitate wait hesitant cautious cautiously decide",
    }.items()
}


def tags_of(captions: Sequence[Sequence[Token]]) -> tuple[str, ...]:
    """Return the tags of a clip in the order of ``TAGS``; ``other`` if none fits."""
    lemmas = {token.lemma for tokens in captions for token in tokens}
    tags = tuple(tag for tag, words in TAGS.items() if lemmas & words)
    return tags or ("other",)
