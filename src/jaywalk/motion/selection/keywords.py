"""The text stage of the two-stage filter: captions with a word about getting about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jaywalk.core.errors import UsageError
from jaywalk.motion.selection.lemmas import Token, WordKind

_NARROW: Final = ("walk", "step", "cross", "stroll")
_MID: Final = (
    *_NARROW, "run", "jog", "pace", "march", "stride", "limp", "stagger", "wander", "stumble",
    "hurry", "sprint", "shuffle", "tiptoe", "strut", "hike",
)  # fmt: skip
_BROAD: Final = (
    *_MID, "move", "go", "turn", "stand", "wait", "stop", "jump", "skip", "hop", "wave", "look",
    "fall", "trip", "climb", "crawl", "approach", "return",
)  # fmt: skip
#: Sets of lemmas by name.
KEYWORDS: Final[dict[str, frozenset[str]]] = {
    "narrow": frozenset(_NARROW),
    "mid": frozenset(_MID),
    "broad": frozenset(_BROAD),
}


def keyword_set(text: str) -> frozenset[str]:
    """A set by name, or the words of a comma-separated list.

    Raises:
        UsageError: Nothing is in it.
    """
    if text in KEYWORDS:
        return KEYWORDS[text]
    words = frozenset(part.strip().lower() for part in text.split(",") if part.strip())
    if not words:
        raise UsageError(f"no keywords in {text!r}; expected {', '.join(KEYWORDS)} or words")
    return words


def has_keyword(tokens: Sequence[Token], keywords: frozenset[str]) -> bool:
    """Whether a verb or noun among the tokens is one of the keywords."""
    return any(t.kind is not WordKind.OTHER and t.lemma in keywords for t in tokens)


def passes(
    captions: Sequence[Sequence[Token]], keywords: frozenset[str], *, every: bool = False
) -> bool:
    """Whether any (or every) caption of a clip has a keyword; one without captions does not."""
    found = [has_keyword(tokens, keywords) for tokens in captions]
    return bool(found) and (all(found) if every else any(found))
