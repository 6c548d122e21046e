"""Scores of a run: all records of its folder, checked against the announced episodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.source_digest import SHORT
from jaywalk.metrics.driving.inspected import inspection_line
from jaywalk.metrics.driving.protocols import OWN, check_protocol, score_episode
from jaywalk.metrics.driving.summary import EpisodeScore, RunScore
from jaywalk.record import Record, find_records
from jaywalk.record import open as open_record
from jaywalk.record.episode import Code
from jaywalk.record.run import STATE_FILE, RunFolder, checked_hash

Scorer = Callable[[Record, str], EpisodeScore]


@dataclass(slots=True)
class _Found:
    scores: dict[str, EpisodeScore] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)  # folders of records that cannot be scored
    codes: dict[str, Code] = field(default_factory=dict)  # by episode


def score_run(
    folder: Path | str, protocol: str = OWN, *, scorer: Scorer = score_episode
) -> RunScore:
    """Score all records of a run.

    Announced episodes come from ``run.sqlite``; without it, what is found is all there is. Records
    that cannot be read or scored, or whose content does not have the hash in ``run.sqlite``, are
    missing, with a warning each: ``jaywalk run`` would drive them again.

    Args:
        folder: Folder of the run.
        protocol: Name of the protocol.
        scorer: Scores one record.

    Raises:
        UsageError: The folder does not exist or the protocol is unknown.
        DataError: The folder holds no record and announces none.
    """
    root = Path(folder)
    check_protocol(protocol)
    if not root.is_dir():
        raise UsageError(f"'{root}' is not a folder. Give the folder of a run (jaywalk run --out).")
    announced = RunFolder(root).announced()
    collected = _score_all(root, protocol, scorer)
    if not collected.scores and not announced:
        reasons = " ".join(collected.warnings[:3])
        raise DataError(f"'{root}' holds no record that can be scored. {reasons}".rstrip())
    expected = (
        announced
        if announced is not None
        else list(dict.fromkeys([*collected.scores, *collected.unread]))
    )
    extra = [name for name in collected.scores if name not in set(expected)]
    if extra:
        collected.warnings.append(f"not announced in {STATE_FILE}, left out: {_listed(extra)}")
    episodes = tuple(collected.scores[name] for name in expected if name in collected.scores)
    missing = tuple(name for name in expected if name not in collected.scores)
    codes = {episode.episode_id: collected.codes[episode.episode_id] for episode in episodes}
    mixed = mixed_code(codes)
    collected.warnings = [*mixed, *collected.warnings, *_cautions(episodes)]
    return RunScore(
        name=root.resolve().name,
        protocol=protocol,
        agent=_common([episode.agent for episode in episodes]),
        suite=_common([episode.suite for episode in episodes]),
        expected=len(expected),
        episodes=episodes,
        missing=missing,
        warnings=tuple(collected.warnings),
        agent_version=_common([code.driver for code in codes.values()]),
        code=_common([code.sources for code in codes.values()]),
        mixed_code=bool(mixed),
    )


def mixed_code(codes: Mapping[str, Code]) -> list[str]:
    """Return a warning that names the differences if several versions of code drove the episodes.

    Args:
        codes: Code section of each episode's record, by ``<route>-s<seed>``.
    """
    parts: dict[str, dict[str, set[str]]] = {}
    for name, code in codes.items():
        route = name.rpartition("-s")[0]
        for part, key, value in (
            ("our sources", "", code.sources),
            ("driver", "", code.driver),
            ("motion library", "", code.motions),
            *(("town", town, digest) for town, digest in code.towns.items()),
            ("route", route, code.suite),
        ):
            parts.setdefault(part, {}).setdefault(key, set()).add(value[:SHORT] or "not recorded")
    parts.get("motion library", {}).get("", set()).discard("not recorded")  # no posed people
    differing = [
        f"{part}{f' {key}' if key else ''} ({', '.join(sorted(values))})"
        for part, groups in parts.items()
        for key, values in groups.items()
        if len(values) > 1
    ]
    return [f"this run mixes code versions: {_listed(differing)}"] if differing else []


def run_notes(root: Path) -> tuple[str, list[str]]:
    """Return the line about inspection while tuning, and warnings about mixed code versions.

    This is for outputs that read the records of a run directly instead of calling `score_run`.
    """
    episodes = [open_record(folder).episode for folder in find_records(root)]
    line = inspection_line(
        _common([episode.suite for episode in episodes]), [episode.seed for episode in episodes]
    )
    return line, mixed_code({episode.episode_id: episode.code for episode in episodes})


def _score_all(root: Path, protocol: str, scorer: Scorer) -> _Found:
    collected = _Found()
    folders = list(find_records(root))
    runs = sorted({folder.parent for folder in folders})
    if len(runs) > 1:
        places = _listed([run.relative_to(root).as_posix() for run in runs])
        raise UsageError(f"'{root}' holds several runs ({places}). Score each on its own.")
    hashes = RunFolder(root).written_hashes()
    for folder, checked in _while_hashing(folders, hashes):
        place = folder.relative_to(root).as_posix()
        try:
            checked.result()
            record = open_record(folder)
            score = scorer(record, protocol)
        except (DataError, OSError, pl.exceptions.PolarsError) as problem:
            collected.warnings.append(f"not scored: {place}: {problem}")
            collected.unread.append(folder.name)
            continue
        if score.episode_id in collected.scores:
            collected.warnings.append(f"not scored: {place}: a second record of {score.episode_id}")
            continue
        collected.scores[score.episode_id] = replace(score, folder=place)
        collected.codes[score.episode_id] = record.episode.code
    return collected


def _while_hashing(
    folders: Sequence[Path], hashes: Mapping[str, str]
) -> Iterator[tuple[Path, Future[object]]]:
    """Yield each record with the check of its hash, which runs while others are scored."""
    pool = ThreadPoolExecutor(max_workers=1)
    try:
        checks = [
            pool.submit(checked_hash, folder, hashes[folder.name])
            if folder.name in hashes
            else pool.submit(str)  # its hash is not known
            for folder in folders
        ]
        yield from zip(folders, checks, strict=True)
    finally:
        pool.shutdown(cancel_futures=True)


def _cautions(episodes: Sequence[EpisodeScore]) -> list[str]:
    lines = []
    early = [episode.episode_id for episode in episodes if episode.detail.get("ends_early")]
    if early:
        lines.append(
            f"ended by the run, not by the protocol's rules: {_listed(early)} (failed agents and "
            "servers, or a limit of the runner's own)"
        )
    gaps = [
        episode.episode_id for episode in episodes if episode.detail.get("is_complete") is False
    ]
    if gaps:
        lines.append(f"ticks are missing in the record of: {_listed(gaps)}")
    return lines


def _common(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(name for name in names if name))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} ({', '.join(names[:3])}, ...)"
