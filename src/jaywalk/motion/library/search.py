"""Search of clips by caption, and statistics of a library: counts, durations, paths by class."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.motion.library.reading import MotionLibrary
from jaywalk.motion.selection.lemmas import bundled, tags_of

_SUFFIXES: Final = ("ingly", "ing", "edly", "ed", "ies", "es", "s", "ly")
_SHORTEST_STEM: Final = 3
_STOP_WORDS: Final = frozenset(
    (
        "a",
        "an",
        "and",
        "the",
        "to",
        "of",
        "in",
        "on",
        "at",
        "with",
        "is",
        "are",
        "his",
        "her",
        "their",
        "he",
        "she",
        "they",
        "it",
        "person",
        "man",
        "woman",
        "someone",
        "then",
    )
)


def stem(word: str) -> str:
    """Strip the common endings of a word: walks, walking and walked give ``walk``."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM:
            word = word[: -len(suffix)]
            break
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]  # step(p)ing, jog(g)ed
    return word[:-1] if len(word) > _SHORTEST_STEM and word.endswith("e") else word


def terms(text: str) -> list[str]:
    """Stems of the words of a text, without stop words."""
    words = re.findall(r"[a-z]+", text.lower())
    return [stem(word) for word in words if word not in _STOP_WORDS]


def search(captions: Sequence[str], query: str, *, limit: int = 10) -> list[tuple[int, float]]:
    """Return the indices of the best matching captions and their BM25 scores, best first.

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


SPAN_S: Final = 10.0
_COLOURS: Final = {"crossing": "#c0392b", "attempting": "#d68910", "not_crossing": "#2471a3"}


def class_paths(library: MotionLibrary, kind: str) -> FloatArray:
    """Paths (clips, frames, 2) of a class, metres forward and to the left; NaN after the end."""
    rate = float(library.meta["rate_hz"])
    count = round(SPAN_S * rate) + 1
    names = [n for n, c in zip(library.names, library.columns["class"], strict=True) if c == kind]
    out = np.full((len(names), count, 2), np.nan)
    for i, name in enumerate(names):
        ground = library.motion(name).root_m[:count, [2, 0]]
        out[i, : len(ground)] = ground
    return out


def library_stats(library: MotionLibrary) -> dict[str, Any]:
    """Counts and distributions by class."""
    rate = float(library.meta["rate_hz"])
    frames = np.array(library.columns["frames"])
    kinds = np.array(library.columns["class"])
    result: dict[str, Any] = {
        "clips": len(library),
        "base_clips": len(set(library.columns["base"])),
        "duration_s": float((frames - 1).sum() / rate),
        "licences": dict(Counter(library.columns["licence"])),
        "classes": {},
    }
    for kind in sorted(set(kinds.tolist())):
        chosen = np.flatnonzero(kinds == kind)
        paths = class_paths(library, kind)
        captions = [library.columns["caption"][i] for i in chosen]
        words = Counter(w for caption in captions for w in set(terms(caption)))
        tags = Counter(tag for caption in captions for tag in tags_of([bundled(caption)]))
        result["classes"][kind] = {
            "clips": len(chosen),
            "duration_s": float((frames[chosen] - 1).sum() / rate),
            "net_m": _spread(np.array(library.columns["net_m"])[chosen]),
            "excursion_m": _spread(np.array(library.columns["excursion_m"])[chosen]),
            "path_mean_m": _by_second(paths, rate, np.mean),
            "path_variance_m2": _by_second(paths, rate, np.var),
            "words": dict(words.most_common(15)),
            "tags": dict(tags.most_common()),
        }
    return result


def _spread(values: FloatArray) -> dict[str, float]:
    low, middle, high = np.percentile(values, [5, 50, 95])
    return {"p5": float(low), "p50": float(middle), "p95": float(high)}


def _by_second(paths: FloatArray, rate: float, how: Any) -> list[list[float] | None]:
    """Forward and leftward statistic after each whole second; None if no clip is that long."""
    rows: list[list[float] | None] = []
    for frame in range(0, paths.shape[1], round(rate)):
        here = paths[:, frame][~np.isnan(paths[:, frame, 0])]
        rows.append([float(v) for v in how(here, axis=0)] if len(here) else None)
    return rows


def draw_stats(library: MotionLibrary, folder: Path) -> list[Path]:
    """Draw the classes' paths (mean, one standard deviation) and most common words and tags."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    stats = library_stats(library)
    kinds = list(stats["classes"])
    figure = Figure(figsize=(9.0, 3.4), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    for axes, side in zip(figure.subplots(1, 2), (0, 1), strict=True):
        for kind in kinds:
            means = [row for row in stats["classes"][kind]["path_mean_m"] if row]
            spread = [row for row in stats["classes"][kind]["path_variance_m2"] if row]
            mean = np.array([row[side] for row in means])
            sd = np.sqrt([row[side] for row in spread])
            colour = _COLOURS.get(kind)
            axes.plot(mean, color=colour, label=f"{kind} ({stats['classes'][kind]['clips']})")
            axes.fill_between(range(len(mean)), mean - sd, mean + sd, color=colour, alpha=0.15)
        axes.set_xlabel("time (s)")
        axes.set_ylabel(("forward (m)", "to the left (m)")[side])
    axes.legend(fontsize=8)
    files = [folder / "paths.png", folder / "words.png", folder / "tags.png"]
    pictures = (figure, _bars(stats, "words"), _bars(stats, "tags"))
    for file, picture in zip(files, pictures, strict=True):
        picture.savefig(str(file))
    return files


def _bars(stats: dict[str, Any], what: str) -> Any:
    """Draw the most common words or tags of each class."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    kinds = list(stats["classes"])
    picture = Figure(figsize=(9.0, 3.4), dpi=110, layout="constrained")
    FigureCanvasAgg(picture)
    every = np.atleast_1d(picture.subplots(1, max(1, len(kinds))))
    for axes, kind in zip(every, kinds, strict=True):
        counts = dict(list(stats["classes"][kind][what].items())[:15])
        axes.barh(list(counts)[::-1], list(counts.values())[::-1], color=_COLOURS.get(kind))
        axes.set_title(kind, fontsize=9)
        axes.tick_params(labelsize=7)
    return picture
