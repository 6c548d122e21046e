"""Runs with their scores: names of runs, and the facts that two comparable episodes share."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from jaywalk.core.errors import DataError, UsageError
from jaywalk.metrics.driving.summary import EpisodeScore, RunScore, scenario_of
from jaywalk.record import find_records
from jaywalk.record import open as open_record
from jaywalk.record.episode import EPISODE_FILE

# Fields in which two paired episodes must agree, besides suite and scenario, for their scores to be
# comparable: keys of episode.json.
_SAME_TEST = ("variant", "town", "step_s")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRun:
    """One run under one protocol, and where its records are (None: scores alone)."""

    score: RunScore
    folder: Path | None = None

    def episode_folder(self, episode: EpisodeScore) -> Path | None:
        """Folder of an episode's record, or None if it does not exist."""
        if self.folder is None or not episode.folder:
            return None
        folder = self.folder / episode.folder
        return folder if (folder / EPISODE_FILE).is_file() else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolChoice:
    """Protocol of a page and the reason for it, in words."""

    protocol: str
    reason: str


def choose_protocol(folders: Sequence[Path], asked: str = "") -> ProtocolChoice:
    """Return the protocol of a page: the one asked for, else the usual one of the runs."""
    if asked:
        return ProtocolChoice(protocol=asked, reason="as asked for with --protocol")
    if folders and all(map(_has_pairs, folders)):
        return ProtocolChoice(
            protocol="fail2drive",
            reason="chosen because every run has base/shift pairs; --protocol jaywalk shows "
            "Jaywalk's own rules",
        )
    return ProtocolChoice(protocol="jaywalk", reason="Jaywalk's own rules, the default")


def _has_pairs(folder: Path) -> bool:
    first = next(iter(find_records(folder)), None)
    return first is not None and bool(open_record(first).episode.pair)


def score_folders(folders: Sequence[Path], protocol: str) -> list[ScoredRun]:
    """Score the records of each folder under one protocol."""
    # Slow to import, and a page of scores made elsewhere does not need it.
    from jaywalk.metrics.driving.run_score import score_run

    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"'{folder}' is not a folder. Give the folders of recorded runs.")
    twice = [str(f) for f, n in Counter(f.resolve() for f in folders).items() if n > 1]
    if twice:
        raise UsageError(f"The same run is given twice: {', '.join(twice)}.")
    return [ScoredRun(score=score_run(f, protocol), folder=f) for f in folders]


def is_doubled(name: str, counts: Collection[str]) -> bool:
    """Return whether a metric repeats the success rate or an event rate per km by episode."""
    stem = name.removesuffix("_per_km")
    if stem == name:
        return name == "success"
    return stem in counts or any(count.startswith(f"{stem}_") for count in counts)


def run_labels(runs: Sequence[RunScore]) -> list[str]:
    """Return a short name for each run: its agent if that is unique, else the folder's name."""
    for names in (
        [run.agent for run in runs],
        [run.name for run in runs],
        [f"{run.agent} ({run.name})" for run in runs],
    ):
        if all(names) and len(set(names)) == len(names):
            return names
    return [f"{number} {run.agent or run.name}" for number, run in enumerate(runs, start=1)]


def episodes_by_pair(run: RunScore) -> dict[tuple[str, int | None], EpisodeScore]:
    """Episodes by scenario and seed; each may occur once."""
    episodes: dict[tuple[str, int | None], EpisodeScore] = {}
    for episode in run.episodes:
        key = scenario_of(episode), episode.seed
        if key in episodes:
            raise DataError(
                f"Run '{run.name}' has two episodes of scenario '{key[0]}' with seed {key[1]} "
                f"({episodes[key].episode_id}, {episode.episode_id}): they cannot be paired. Give "
                "each its own seed or scenario."
            )
        episodes[key] = episode
    return episodes


def what_was_tested(run: ScoredRun, episode: EpisodeScore) -> dict[str, str]:
    """Return the facts that decide whether two episodes are the same test."""
    described = {"suite": episode.suite, "scenario": episode.scenario}
    folder = run.episode_folder(episode)
    if folder is None:
        return described
    try:
        entries = json.loads((folder / EPISODE_FILE).read_text(encoding="utf-8"))
    except ValueError as problem:
        raise DataError(f"{folder / EPISODE_FILE} is cut off or edited: {problem}.") from problem
    described |= {key: str(entries.get(key, "")) for key in _SAME_TEST}
    parameters = entries.get("parameters") or {}
    described["people"] = str(parameters.get("people_model", "scripted"))
    files = entries.get("files", {})
    described["map"] = str(files.get("opendrive", {}).get("sha256", ""))[:12]
    return described
