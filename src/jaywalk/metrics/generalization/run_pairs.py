"""Pairs of a recorded run: the pair and half of each episode, and needless reactions to shifts.

The pair and half come from the route (``half`` and ``shift`` in the record's parameters, as the
toolbox writes them), or from the benchmark's names (``Generalization_Wall_1095``) or numbers (95
and 1095).

A needless reaction is one to a shift that is only beside the road. Both halves of a pair drive the
same route through the same traffic. Where the shifted half brakes or leaves its lane, and the base
half did not near the same place, the driver reacted to the shift.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

import jaywalk.record
from jaywalk.core.errors import DataError
from jaywalk.metrics.driving.penalties import NO_MIN_SPEED
from jaywalk.metrics.driving.summary import EpisodeScore, RunScore, jsonable, scenario_of
from jaywalk.metrics.generalization._cues import PERMUTED, cue_table, things_of, what_changed
from jaywalk.metrics.generalization.counterfactual import (
    REACH_M,
    SIGHT_M,
    PairCheck,
    PairTally,
    check_pair,
)
from jaywalk.metrics.generalization.drive_profile import ComparedStretch, Profile, profile_of
from jaywalk.metrics.generalization.gap import CATEGORY_OF, PairedRow, headline_gap
from jaywalk.metrics.generalization.pairing import pair_records
from jaywalk.metrics.generalization.split import GENERALIZATION_OFFSET, SPLITS, published_split
from jaywalk.stats import bootstrap

_NEAR_M: Final = 15.0  # a manoeuvre of the base half so near is the same one
_STEP_M: Final = 1.0
_FIGURES: Final = ("speed_change_percent", "slowest_mps", "brakings", "excursions")
_BOUNDS: Final = {
    "speed_change_percent": (-100.0, math.inf),
    **dict.fromkeys(_FIGURES[1:], (0.0, math.inf)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PairChecks:
    """Checks of all pairs of some runs.

    Attributes:
        checks: One for each pair and seed.
        unpaired: Halves without a partner, in words.
        unchecked: Records and pairs that cannot be checked, in words.
    """

    checks: tuple[PairCheck, ...]
    unpaired: tuple[str, ...]
    unchecked: tuple[str, ...]

    @property
    def tally(self) -> PairTally:
        """Numbers of pairs by verdict."""
        return PairTally.of(self.checks)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return self.tally.as_dict() | {
            "unpaired": list(self.unpaired),
            "unchecked": list(self.unchecked),
            "checks": [check.as_dict() for check in self.checks],
        }


def check_pairs(
    runs: Sequence[Path], reach_m: float = REACH_M, sight_m: float = SIGHT_M
) -> PairChecks:
    """Check whether all pairs of some runs are counterfactuals; see :func:`check_pair`.

    A pair that cannot be checked is reported and does not end the check.

    Raises:
        DataError: No record belongs to a pair.
    """
    records = pair_records(runs)
    checks, unchecked = [], list(records.unread)
    for base, shift in records.both:
        try:
            checks.append(check_pair(base, shift, reach_m, sight_m))
        except DataError as problem:
            unchecked.append(f"{base.episode.pair}, seed {base.episode.seed}: {problem}")
    return PairChecks(
        checks=tuple(checks), unpaired=tuple(records.lonely), unchecked=tuple(unchecked)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """Reaction in one pair, driven with one seed.

    Attributes:
        speed_change_percent: Mean speed of the shifted half against the base half, over the
            stretch both drove.
        slowest_mps: Largest loss of speed of the shifted half at the same place.
        slowest_at_m: Distance along the route of that place.
        brakings: Number of brakings without a counterpart in the base half.
        excursions: Number of times it left its lane without a counterpart.
    """

    pair: str
    class_name: str
    seed: str
    speed_change_percent: float
    slowest_mps: float
    slowest_at_m: float
    brakings: int
    excursions: int

    def as_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


def reaction_of(
    base: Profile, shift: Profile, *, pair: str = "", class_name: str = "", seed: str = ""
) -> Reaction:
    """Compare the two drives of a pair."""
    until_m = min(base.reached_m, shift.reached_m)
    first_m = max(float(base.along_m[0]), float(shift.along_m[0]))
    old, new = base.mean_speed_mps(until_m), shift.mean_speed_mps(until_m)
    places = np.arange(first_m, until_m, _STEP_M).astype(np.float64)
    slower = np.subtract(base.speed_at(places), shift.speed_at(places))
    worst = int(np.argmax(slower)) if len(slower) else 0
    return Reaction(
        pair=pair,
        class_name=class_name,
        seed=seed,
        speed_change_percent=100.0 * (new / old - 1.0) if old > 0.0 else math.nan,
        slowest_mps=max(float(slower[worst]), 0.0) if len(slower) else math.nan,
        slowest_at_m=float(places[worst]) if len(slower) else math.nan,
        brakings=_without_counterpart(shift.brakings, base.brakings),
        excursions=_without_counterpart(shift.excursions, base.excursions),
    )


def _without_counterpart(shift: Sequence[ComparedStretch], base: Sequence[ComparedStretch]) -> int:
    return sum(
        not any(
            one.first_m <= other.last_m + _NEAR_M and other.first_m <= one.last_m + _NEAR_M
            for other in base
        )
        for one in shift
    )


def reaction_table(reactions: Sequence[Reaction], resamples: int = 10_000) -> dict[str, Any]:
    """Means with 95 % intervals over pairs, of all and by class."""
    names = sorted({one.class_name for one in reactions})
    return {
        "all": _means(reactions, resamples),
        "classes": {
            name: _means([one for one in reactions if one.class_name == name], resamples)
            for name in names
        },
        "pairs": [one.as_dict() for one in reactions],
    }


def _means(found: Sequence[Reaction], resamples: int) -> dict[str, Any]:
    out: dict[str, Any] = {"n": len(found), "pairs": len({one.pair for one in found})}
    for name in _FIGURES:
        rows = [(float(getattr(one, name)), one.pair) for one in found]
        rows = [row for row in rows if math.isfinite(row[0])]
        if not rows:
            out[name] = {"value": math.nan, "interval": [math.nan, math.nan]}
            continue
        values = [value for value, _ in rows]
        mean = bootstrap.mean(
            values, [pair for _, pair in rows], resamples=resamples, bounds=_BOUNDS[name]
        )
        out[name] = {
            "value": mean.value,
            "interval": [mean.interval.low, mean.interval.high],
            "few_clusters": mean.few_clusters,
        }
    return out


NO_REACTION_DUE: Final = "Robustness"
_NAME: Final = re.compile(r"(Base|Generalization)_([A-Za-z0-9]+)_(\d{4})")
_SUITE: Final = re.compile(r"fail2drive", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """An episode as a half of a pair."""

    pair: str
    half: str
    class_name: str
    score: EpisodeScore

    @property
    def seed(self) -> str:
        """Its seed as text."""
        return "" if self.score.seed is None else str(self.score.seed)

    def row(self) -> PairedRow:
        """As a row of scores."""
        return PairedRow(
            pair=self.pair,
            half=self.half,
            class_name=self.class_name,
            seed=self.seed,
            driving_score=self.score.metrics["driving_score"],
            success=self.score.success,
            score_no_min_speed=self.score.metrics.get(NO_MIN_SPEED, math.nan),
        )


def members_of(run: RunScore) -> list[Member]:
    """Every episode that is half of a pair."""
    members = [member for episode in run.episodes if (member := _member(episode)) is not None]
    shift_class = {one.pair: one.class_name for one in members if one.half == SPLITS[1]}
    return [
        Member(
            pair=one.pair,
            half=one.half,
            score=one.score,
            class_name=shift_class.get(one.pair, one.class_name),
        )
        for one in members
    ]


def has_pairs(run: RunScore) -> bool:
    """Return whether both halves of some pair are among the episodes."""
    return {one.half for one in members_of(run)} >= set(SPLITS)


def _member(score: EpisodeScore) -> Member | None:
    detail = score.detail
    pair = str(detail.get("pair") or "")
    half = str(detail.get("half") or "")
    if pair and half in SPLITS:
        name = str(detail.get("shift") or "") or "other"
        return Member(pair=pair, half=half, class_name=name, score=score)
    named = _NAME.search(scenario_of(score)) or _NAME.search(pair)
    number = str(detail.get("route_id") or "")
    if named is not None:
        number = named[3]
    elif not (pair and _SUITE.search(score.suite)):
        return None
    if not number.isdigit() or int(number) not in published_split():
        return None
    route = published_split()[int(number)]
    return Member(
        pair=f"{route.number % GENERALIZATION_OFFSET:04d}",
        half=route.split,
        class_name=route.class_name,
        score=score,
    )


def pair_scores(run: RunScore, folder: Path | None = None) -> dict[str, Any] | None:
    """Return all results of the pairs of a run as plain values; None for a run without pairs.

    Args:
        run: Scored under any protocol that has a driving score.
        folder: Folder of the run; without it, results that need the records are left out.
    """
    members = [one for one in members_of(run) if one.score.metrics["driving_score"] >= 0.0]
    if not {member.half for member in members} >= set(SPLITS):
        return None
    rows = [member.row() for member in members]
    if folder is None:
        results: dict[str, Any] = {**headline_gap(rows, None)}
    else:
        notes: list[str] = []
        proof, strong = _counterfactual(members, folder)
        results = {**headline_gap(rows, strong)}
        results["robustness"] = reaction_table(_reactions(members, folder, notes))
        results["cues"] = cue_table(rows, _cues(members, folder))
        results["counterfactual"] = proof
        results["notes"] = notes
    plain: dict[str, Any] = jsonable(results)
    return plain


def pair_strengths(run: RunScore, folder: Path) -> dict[str, Any]:
    """Return the number of counterfactual pairs of a run, and the weak pairs, as plain values."""
    proof, _ = _counterfactual(members_of(run), folder)
    return proof


def _both(members: Sequence[Member]) -> list[tuple[Member, Member]]:
    """Base and shift of each pair and seed that has both."""
    by_key = {(member.pair, member.seed, member.half): member for member in members}
    keys = dict.fromkeys((member.pair, member.seed) for member in members)
    return [
        (by_key[*key, SPLITS[0]], by_key[*key, SPLITS[1]])
        for key in keys
        if (*key, SPLITS[0]) in by_key and (*key, SPLITS[1]) in by_key
    ]


def _reactions(members: Sequence[Member], folder: Path, notes: list[str]) -> list[Reaction]:
    reactions = []
    for base, shift in _both(members):
        if CATEGORY_OF.get(shift.class_name) != NO_REACTION_DUE:
            continue
        try:
            drives = [profile_of(_record(folder, one)) for one in (base, shift)]
        except DataError as problem:
            notes.append(f"pair {shift.pair}, seed {shift.seed}: {problem}")
            continue
        reactions.append(
            reaction_of(*drives, pair=shift.pair, class_name=shift.class_name, seed=shift.seed)
        )
    return reactions


def _cues(members: Sequence[Member], folder: Path) -> dict[str, str]:
    cues: dict[str, str] = {}
    for base, shift in _both(members):
        if shift.class_name != PERMUTED or shift.pair in cues:
            continue
        before, after = (things_of(_record(folder, one)) for one in (base, shift))
        cues[shift.pair] = what_changed(before, after) or "nothing"
    return cues


def _counterfactual(
    members: Sequence[Member], folder: Path
) -> tuple[dict[str, Any], set[tuple[str, str]]]:
    """Count the pairs whose records agree up to the tick at which the shift can matter.

    Returns:
        Counts and names as plain values, and pair and seed of the strong ones.
    """
    checks, failed, weak, no_pairs = [], [], [], []
    strong: set[tuple[str, str]] = set()
    pairs = _both(members)
    for base, shift in pairs:
        name = f"{shift.pair} seed {shift.seed}"
        try:
            check = check_pair(_record(folder, base), _record(folder, shift))
        except DataError as problem:
            failed.append(f"{name}: {problem}")
            no_pairs.append({"pair": shift.pair, "seed": shift.seed, "class": shift.class_name})
            continue
        checks.append(check)
        if not check.passed:
            failed.append(f"{name}: {check.reason}")
            no_pairs.append({"pair": shift.pair, "seed": shift.seed, "class": shift.class_name})
        elif check.weak:
            weak.append({"pair": shift.pair, "seed": shift.seed, "class": shift.class_name})
        else:
            strong.add((shift.pair, shift.seed))
    tally = PairTally.of(checks).as_dict()
    del tally["pairs"]
    named = {"failed": failed, "weak_pairs": weak, "failed_pairs": no_pairs}
    return {"checked": len(pairs), **named} | tally, strong


def _record(folder: Path, member: Member) -> jaywalk.record.Record:
    return jaywalk.record.open(folder / member.score.folder)
