"""Missing or replaced cues of a construction site, and their cost.

The changed cues of the benchmark's five pairs are known. For recorded pairs they are found from the
records: every thing of the base record is searched at its place in the other record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from jaywalk.metrics.generalization.gap import PairedRow, change_percent, harmonic_mean
from jaywalk.metrics.generalization.split import SPLITS
from jaywalk.record import Record
from jaywalk.record import columns as c
from jaywalk.record.queries import actor_rows, state_rows

PERMUTED: Final = "ConstructionPermutations"
# Changes in the benchmark's route files, by pair.
PUBLISHED_CUES: Final[Mapping[str, str]] = {
    "0015": "warning sign missing",
    "0016": "debris missing, 7 of 7 cones missing",
    "0017": "warning sign is a constructioncone, debris is a constructioncone",
    "0018": "4 of 7 cones missing",
    "0019": "warning sign is a streetbarrier, debris is a trafficcone01",
}
_SAME_PLACE_M: Final = 0.75
_WORDS: Final = {
    "static.prop.trafficwarning": "warning sign",
    "static.prop.dirtdebris02": "debris",
    "static.prop.constructioncone": "cones",
    "static.prop.warningconstruction": "road sign",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """A prop at the place where it first stood."""

    type_id: str
    x_m: float
    y_m: float


def cue_table(
    rows: Sequence[PairedRow], cues: Mapping[str, str] = PUBLISHED_CUES
) -> list[dict[str, Any]]:
    """Scores of pairs by the cue they lack, in the order of the pairs; NaN where undefined."""
    groups: dict[str, list[PairedRow]] = {}
    for row in sorted(rows, key=lambda row: row.pair):
        if row.class_name == PERMUTED:
            groups.setdefault(cues.get(row.pair, "unknown"), []).append(row)
    return [{"cue": cue, **_scores(group)} for cue, group in groups.items()]


def _scores(rows: Sequence[PairedRow]) -> dict[str, Any]:
    scores: dict[str, Any] = {"pairs": sorted({row.pair for row in rows})}
    for half in SPLITS:
        some = [row for row in rows if row.half == half]
        ds = float(np.mean([row.driving_score for row in some])) if some else np.nan
        sr = 100.0 * float(np.mean([row.success for row in some])) if some else np.nan
        scores[half] = {"ds": ds, "sr": sr, "hm": harmonic_mean(ds, sr), "n": len(some)}
    base, shift = (scores[half]["hm"] for half in SPLITS)
    return scores | {"change_percent": change_percent(base, shift)}


def things_of(record: Record) -> list[Thing]:
    """Every prop of a record."""
    actors = actor_rows(record, "prop").select(c.ACTOR, c.TYPE_ID)
    states = state_rows(record, (c.X_M, c.Y_M), actors=actors[c.ACTOR])
    first = states.unique(c.ACTOR, keep="first", maintain_order=True)
    return [
        Thing(type_id=row[c.TYPE_ID], x_m=row[c.X_M], y_m=row[c.Y_M])
        for row in first.join(actors, on=c.ACTOR).sort(c.ACTOR).iter_rows(named=True)
    ]


def what_changed(base: Sequence[Thing], shift: Sequence[Thing]) -> str:
    """Describe the missing and replaced objects of a site; empty if there are none."""
    left = list(shift)
    replaced: Counter[tuple[str, str]] = Counter()
    missing: Counter[str] = Counter()
    # Objects with the same model first: otherwise a neighbour could pass as a replacement.
    for thing in [one for one in base if not _take_same(one, left)]:
        gaps_m = [_gap_m(thing, other) for other in left]
        if gaps_m and min(gaps_m) <= _SAME_PLACE_M:
            near = left.pop(int(np.argmin(gaps_m)))
            replaced[thing.type_id, near.type_id] += 1
        else:
            missing[thing.type_id] += 1
    total = Counter(thing.type_id for thing in base)
    words = []
    for name in dict.fromkeys(thing.type_id for thing in base):
        if missing[name]:
            share = f"{missing[name]} of {total[name]} " if total[name] > 1 else ""
            words.append(f"{share}{_word(name)} missing")
        words += [f"{_word(old)} is a {_short(new)}" for (old, new) in replaced if old == name]
    return ", ".join(words)


def _take_same(thing: Thing, left: list[Thing]) -> bool:
    for other in left:
        if other.type_id == thing.type_id and _gap_m(thing, other) <= _SAME_PLACE_M:
            left.remove(other)
            return True
    return False


def _gap_m(a: Thing, b: Thing) -> float:
    return float(np.hypot(a.x_m - b.x_m, a.y_m - b.y_m))


def _word(type_id: str) -> str:
    return _WORDS.get(type_id, _short(type_id))


def _short(type_id: str) -> str:
    return type_id.rsplit(".", 1)[-1]
