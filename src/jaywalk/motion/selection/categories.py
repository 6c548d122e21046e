"""Behaviour categories: clips grouped by what their captions say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from jaywalk.core.errors import UsageError
from jaywalk.core.seeds import derive_seed
from jaywalk.motion.kinematics import IntArray
from jaywalk.motion.rotation import FloatArray
from jaywalk.motion.selection.lemmas import Token, WordKind
from jaywalk.motion.selection.tags import TAGS, tags_of

_WORDS: Final = 250
_TOPICS: Final = 20
_STARTS: Final = 6
#: Words that every caption has say nothing.
_EMPTY: Final = frozenset(("person", "man", "be", "have", "do", "someone", "individual", "woman"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Categories:
    """Clips in groups.

    Attributes:
        label: (clips,) group of each clip, the largest group first.
        names: Name of each group: the tags that tell it apart.
    """

    label: IntArray
    names: tuple[str, ...]


def categorise(
    captions: Sequence[Sequence[Sequence[Token]]], count: int, *, seed: int = 0
) -> Categories:
    """Group clips into at most ``count`` categories (k-means on tags and words).

    Raises:
        UsageError: Fewer than one category asked for.
    """
    if count < 1:
        raise UsageError(f"{count} categories asked for; at least 1 is needed")
    tags = [tags_of(clip) for clip in captions]
    marks = np.array([[tag in own for tag in TAGS] for own in tags], dtype=np.float64)
    features = np.concatenate([1.5 * _rarity(marks) * marks, _topics(captions)], axis=1)
    found = min(count, len(np.unique(features.round(9), axis=0)))
    label = _kmeans(features, found, seed)
    order = np.argsort(-np.bincount(label, minlength=found), kind="stable")
    place = np.empty(found, dtype=np.int64)
    place[order] = np.arange(found)
    label = place[label]
    return Categories(label=label, names=_names(label, tags, found))


def _rarity(marks: FloatArray) -> FloatArray:
    return np.asarray(np.log((1.0 + len(marks)) / (1.0 + marks.sum(axis=0))) ** 0.5)


def _topics(captions: Sequence[Sequence[Sequence[Token]]]) -> FloatArray:
    """(clips, 20) latent topics of the lemmas (singular vectors of tf-idf)."""
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
    """The tags most groups members have and others lack; numbered where they repeat."""
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
