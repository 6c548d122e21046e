"""Finding clips by what their captions say."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

_SUFFIXES: Final = ("ingly", "ing", "edly", "ed", "ies", "es", "s", "ly")
_SHORTEST_STEM: Final = 3
_STOP_WORDS: Final = frozenset(
    ("a", "an", "and", "the", "to", "of", "in", "on", "at", "with", "is", "are", "his", "her",
     "their", "he", "she", "they", "it", "person", "man", "woman", "someone", "then")
)  # fmt: skip


def stem(word: str) -> str:
    """A word without its common endings: walks, walking, walked give ``walk``."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM:
            word = word[: -len(suffix)]
            break
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]  # step(p)ing, jog(g)ed
    return word[:-1] if len(word) > _SHORTEST_STEM and word.endswith("e") else word


def terms(text: str) -> list[str]:
    """Stems of the telling words of a text."""
    words = re.findall(r"[a-z]+", text.lower())
    return [stem(word) for word in words if word not in _STOP_WORDS]


def search(captions: Sequence[str], query: str, *, limit: int = 10) -> list[tuple[int, float]]:
    """Places of the best matching captions and their scores (BM25), best first.

    Captions that share no word with the query are left out.
    """
    bags = [Counter(terms(caption)) for caption in captions]
    mean_length = max(1.0, sum(sum(bag.values()) for bag in bags) / max(1, len(bags)))
    wanted = set(terms(query))
    seen = {word: sum(word in bag for bag in bags) for word in wanted}
    scored = []
    for place, bag in enumerate(bags):
        length = sum(bag.values()) / mean_length
        score = 0.0
        for word in wanted & set(bag):
            rarity = math.log(1.0 + (len(bags) - seen[word] + 0.5) / (seen[word] + 0.5))
            count = bag[word]
            score += rarity * 2.2 * count / (count + 1.2 * (0.25 + 0.75 * length))
        if score > 0.0:
            scored.append((place, score))
    scored.sort(key=lambda pair: (-pair[1], pair[0]))
    return scored[:limit]
