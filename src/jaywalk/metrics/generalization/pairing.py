"""The two halves of each pair, in the records of one or more runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import jaywalk.record
from jaywalk.core.errors import DataError
from jaywalk.metrics.generalization.split import SPLITS
from jaywalk.record import Episode, Record

_SHIFTED: Final = "Generalization_"  # how names of the benchmark's shift begin


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPairs:
    """Pairs of records, single halves and unreadable records.

    Attributes:
        both: Base and shift of each pair, seed and driver.
        lonely: Halves without a partner, in words.
        unread: Records that cannot be read, in words.
    """

    both: tuple[tuple[Record, Record], ...]
    lonely: tuple[str, ...]
    unread: tuple[str, ...]


def half_of(episode: Episode) -> str:
    """Return the half of its pair that an episode is, from its route or the benchmark's names."""
    said = str(episode.parameters.get("half", ""))
    if said in SPLITS:
        return said
    return SPLITS[1] if episode.scenario.startswith(_SHIFTED) else SPLITS[0]


def pair_records(runs: Sequence[Path]) -> RecordPairs:
    """Pair the records of runs: first within a run, then across runs.

    Raises:
        DataError: No record belongs to a pair.
    """
    groups: dict[tuple[str, ...], dict[str, Record]] = defaultdict(dict)
    unread = []
    for number, run in enumerate(runs):
        for folder in jaywalk.record.find_records(run):
            try:
                record = jaywalk.record.open(folder)
            except DataError as problem:
                unread.append(f"{folder.name}: {problem}")
                continue
            if record.episode.pair:
                groups[(*_key(record), str(number))][half_of(record.episode)] = record
    if not groups and not unread:
        names = ", ".join(str(run) for run in runs)
        raise DataError(
            f"{names}: no record of a pair. Expected a run of a suite of pairs, as "
            "'jaywalk run fail2drive' makes it, or of pairs of the toolbox."
        )
    both, single = _across(groups)
    lonely = [
        f"{one.episode.pair}, seed {one.episode.seed}: only {half_of(one.episode)} "
        f"({one.folder.name})"
        for one in single
    ]
    return RecordPairs(both=tuple(both), lonely=tuple(lonely), unread=tuple(unread))


def _key(record: Record) -> tuple[str, ...]:
    episode = record.episode
    return (episode.pair, str(episode.seed or 0), episode.suite, episode.agent.name)


def _across(
    groups: dict[tuple[str, ...], dict[str, Record]],
) -> tuple[list[tuple[Record, Record]], list[Record]]:
    """Return pairs within runs, then pairs of the rest between runs, and the remaining halves."""
    both: list[tuple[Record, Record]] = []
    left: dict[tuple[str, ...], dict[str, list[Record]]] = defaultdict(lambda: defaultdict(list))
    for key, halves in sorted(groups.items()):
        if len(halves) == 2:
            both.append((halves[SPLITS[0]], halves[SPLITS[1]]))
        else:
            for half, record in halves.items():
                left[key[:-1]][half].append(record)
    single: list[Record] = []
    for halves_left in left.values():
        bases, shifts = (halves_left[name] for name in SPLITS)
        n = min(len(bases), len(shifts))
        both += zip(bases[:n], shifts[:n], strict=True)
        single += bases[n:] + shifts[n:]
    return sorted(both, key=lambda pair: _key(pair[0])), single
