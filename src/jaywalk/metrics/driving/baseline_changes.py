"""Differences between a baseline and a new run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from jaywalk.core.source_digest import SHORT
from jaywalk.metrics.driving.baseline import Baseline, BaselineEpisode, rounded
from jaywalk.metrics.driving.penalties import NO_MIN_SPEED
from jaywalk.metrics.driving.protocols import OWN

_CLOSE: Final = 2e-5  # relative: a last digit that another machine rounds differently is ignored


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeChange:
    """Episode that differs from the accepted one; ``moved``: score -> old and new value."""

    episode: str
    hash_changed: bool
    moved: Mapping[str, tuple[Any, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Differences between a baseline and a new run.

    Attributes:
        changed: Episodes that differ.
        missing: Episodes of the baseline that were not driven.
        extra: Episodes that the baseline does not have.
        notes: Versions that differ: suite, driver, protocols.
        headline: Figure -> old and new value, over all episodes.
        total: Episodes of the baseline.
    """

    name: str
    total: int
    changed: tuple[EpisodeChange, ...]
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    notes: tuple[str, ...]
    headline: Mapping[str, tuple[float, float]]

    @classmethod
    def between(cls, old: Baseline, new: Baseline) -> Self:
        """Return the changes from ``old`` to ``new``."""
        both = [name for name in old.episodes if name in new.episodes]
        changed = [_change(name, old.episodes[name], new.episodes[name]) for name in both]
        before, after = headline_of(old), headline_of(new)
        return cls(
            name=old.name,
            total=len(old.episodes),
            changed=tuple(one for one in changed if one.hash_changed or one.moved),
            missing=tuple(name for name in old.episodes if name not in new.episodes),
            extra=tuple(name for name in new.episodes if name not in old.episodes),
            notes=tuple(_version_notes(old, new)),
            headline={
                name: (before.get(name, math.nan), after.get(name, math.nan))
                for name in dict.fromkeys([*before, *after])
            },
        )

    @property
    def is_equal(self) -> bool:
        """Return whether nothing changed."""
        return not (self.changed or self.missing or self.extra)

    @property
    def moved(self) -> int:
        """Number of episodes whose scores changed."""
        return sum(bool(one.moved) for one in self.changed)

    def summary(self) -> str:
        """One line."""
        if self.is_equal:
            return f"unchanged: {self.total} episodes"
        parts = []
        if self.changed:
            hashes = sum(one.hash_changed for one in self.changed)
            parts.append(f"{hashes} of {self.total} records changed")
            parts.append(f"{self.moved} with other scores" if self.moved else "scores equal")
        if self.missing:
            parts.append(f"{len(self.missing)} missing")
        if self.extra:
            parts.append(f"{len(self.extra)} new")
        return ", ".join(parts)

    def moves(self) -> dict[str, tuple[int, float, float]]:
        """Score -> episodes in which it moved, mean change and the largest one (numbers only)."""
        deltas: dict[str, list[float]] = {}
        for one in self.changed:
            for name, (before, after) in one.moved.items():
                deltas.setdefault(name, []).append(_delta(before, after))
        return {
            name: (len(values), math.fsum(values) / len(values), max(values, key=abs))
            for name, values in sorted(deltas.items())
        }

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": self.name,
            "summary": self.summary(),
            "episodes": self.total,
            "records_changed": sum(one.hash_changed for one in self.changed),
            "scores_changed": self.moved,
            "missing": list(self.missing),
            "extra": list(self.extra),
            "notes": list(self.notes),
            "headline": {
                key: {"old": _finite(a), "new": _finite(b)} for key, (a, b) in self.headline.items()
            },
            "moves": {
                key: {"episodes": n, "mean": _finite(mean), "largest": _finite(largest)}
                for key, (n, mean, largest) in self.moves().items()
            },
            "changed": [
                {
                    "episode": one.episode,
                    "hash_changed": one.hash_changed,
                    "moved": {key: {"old": a, "new": b} for key, (a, b) in one.moved.items()},
                }
                for one in self.changed
            ],
        }


def headline_of(baseline: Baseline) -> dict[str, float]:
    """A few figures over all episodes: sums and means, without intervals."""
    headline: dict[str, float] = {}
    names = dict.fromkeys(key for episode in baseline.episodes.values() for key in episode.scores)
    for protocol in names:
        scores = [
            episode.scores[protocol]
            for episode in baseline.episodes.values()
            if protocol in episode.scores
        ]
        headline[f"{protocol} successes"] = float(sum(score.success for score in scores))
        for metric in ("driving_score", NO_MIN_SPEED, "route_completion"):
            values = [score.metrics[metric] for score in scores if metric in score.metrics]
            if values:
                headline[f"{protocol} mean {metric}"] = rounded(math.fsum(values) / len(values))
        if protocol == OWN:
            km = [score.metrics.get("driven_km", 0.0) for score in scores]
            headline["km driven"] = rounded(math.fsum(km))
            for name in sorted({key for score in scores for key in score.counts}):
                headline[name] = float(sum(score.counts.get(name, 0) for score in scores))
    return headline


def _change(name: str, old: BaselineEpisode, new: BaselineEpisode) -> EpisodeChange:
    before, after = _flat(old), _flat(new)
    moved = {
        key: (before.get(key), after.get(key))
        for key in dict.fromkeys([*before, *after])
        if not _same(before.get(key), after.get(key))
    }
    changed = old.record_hash != new.record_hash
    return EpisodeChange(episode=name, hash_changed=changed, moved=moved)


def _flat(episode: BaselineEpisode) -> dict[str, Any]:
    flat: dict[str, Any] = {"end reason": episode.end_reason}
    if episode.weak is not None:
        flat["weak pair"] = episode.weak
    for protocol, score in episode.scores.items():
        flat[f"{protocol} success"] = score.success
        flat[f"{protocol} status"] = score.status
        for group in (score.metrics, score.counts):
            flat |= {f"{protocol} {key}": value for key, value in group.items()}
        if score.people_hit:
            risks = (hit["injury_risk"] for hit in score.people_hit)
            risk = math.fsum(risk for risk in risks if math.isfinite(risk))
            flat[f"{protocol} people hit"] = len(score.people_hit)
            flat[f"{protocol} injury risk"] = risk
    return flat


def _same(a: Any, b: Any) -> bool:
    if _is_number(a) and _is_number(b):
        return math.isclose(a, b, rel_tol=_CLOSE, abs_tol=1e-9)
    return bool(a == b) or (not a and not b)  # a count of zero is left out


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _delta(before: Any, after: Any) -> float:
    if not all(value is None or isinstance(value, bool | int | float) for value in (before, after)):
        return math.nan
    return float(after or 0) - float(before or 0)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _version_notes(old: Baseline, new: Baseline) -> list[str]:
    pairs: dict[str, tuple[Any, Any]] = {
        "suite": (old.run.suite_id, new.run.suite_id),
        "driver": (old.run.agent_version, new.run.agent_version),
        "content of the routes": (old.code.suite[:SHORT], new.code.suite[:SHORT]),
        "our sources": (old.code.sources[:SHORT], new.code.sources[:SHORT]),
        "motion library": (old.code.motions[:SHORT], new.code.motions[:SHORT]),
    }
    for town in sorted(old.code.towns.keys() & new.code.towns.keys()):
        pairs[f"town {town}"] = (old.code.towns[town][:SHORT], new.code.towns[town][:SHORT])
    for name in dict.fromkeys([*old.protocol, *new.protocol]):
        pairs[f"protocol {name}"] = (old.protocol.get(name), new.protocol.get(name))
    return [f"{key}: accepted with {a}, now {b}" for key, (a, b) in pairs.items() if a != b]
