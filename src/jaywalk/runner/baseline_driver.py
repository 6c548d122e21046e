"""Repeated runs of baselines, to compare them with the accepted result or to accept a new one."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jaywalk.record
from jaywalk.core.errors import JaywalkError
from jaywalk.metrics.driving.baseline import Baseline, BaselineEpisode, entry_of, write_baseline
from jaywalk.metrics.driving.baseline_changes import Changes
from jaywalk.metrics.driving.penalties import NO_MIN_SPEED
from jaywalk.runner import baselines
from jaywalk.runner.job import RunRequest, RunSummary
from jaywalk.runner.pool import QuickScore, Scorer


@dataclass(frozen=True, slots=True, kw_only=True)
class DrivenBaseline:
    """A baseline that was driven again, or the reason why that was impossible."""

    result: Baseline | None = None
    problem: str = ""
    skipped: bool = False  # a requirement is missing
    run_folder: Path | None = None
    is_scratch: bool = False

    def clean(self) -> None:
        """Remove a run that is not to be kept."""
        if self.is_scratch and self.run_folder is not None:
            shutil.rmtree(self.run_folder, ignore_errors=True)

    def set_aside(self) -> str:
        """Keep a changed run for inspection, where the next verification does not resume it."""
        assert self.run_folder is not None
        if not self.is_scratch:
            return str(self.run_folder)
        aside = self.run_folder.with_name(f"{self.run_folder.name}.changed")
        shutil.rmtree(aside, ignore_errors=True)
        self.run_folder.rename(aside)
        return str(aside)


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineVerdict:
    """Result of one verification."""

    name: str
    state: str  # unchanged, changed, skipped, never accepted, incomplete
    changes: Changes | None = None
    text: str = ""
    run_folder: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON values."""
        plain: dict[str, Any] = {"name": self.name, "state": self.state, "text": self.text}
        if self.run_folder:
            plain["run"] = self.run_folder
        return plain | ({"changes": self.changes.as_dict()} if self.changes else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineDriver:
    """Drives, verifies and accepts baselines.

    Attributes:
        folder: Folder of the baselines and of their tables of routes.
        out: Folder in which to keep the runs; without it they go to a cache folder.
        workers: Episodes at a time; 0: one per core.
        execute: Runs a request and scores each finished episode.
        say: Takes a line about progress.
    """

    folder: Path
    out: Path | None
    workers: int
    execute: Callable[[RunRequest, Scorer], RunSummary]
    say: Callable[[str], None]

    def verify(self, baseline: Baseline) -> BaselineVerdict:
        """Drive a baseline and compare it with the accepted result."""
        name = baseline.name
        if baseline.accepted is None:
            text = f"never accepted: jaywalk baseline accept {name} --reason ..."
            return BaselineVerdict(name=name, state="never accepted", text=text)
        driven = self.drive(baseline)
        if driven.result is None:
            state = "skipped" if driven.skipped else "incomplete"
            return BaselineVerdict(name=name, state=state, text=driven.problem)
        changes = Changes.between(baseline, driven.result)
        text = changes.summary()
        if changes.is_equal:
            driven.clean()
            return BaselineVerdict(name=name, state="unchanged", changes=changes, text=text)
        kept = driven.set_aside()
        return BaselineVerdict(
            name=name, state="changed", changes=changes, text=text, run_folder=kept
        )

    def drive(self, baseline: Baseline, source: Path | None = None) -> DrivenBaseline:
        """Drive a baseline, or use the run in ``source`` that was driven elsewhere."""
        suite = baselines.suite_of(baseline, self.folder)
        absent = baselines.missing_towns(suite)
        if absent:
            problem = (
                f"it needs {', '.join(absent)}; put their .xodr files into a folder named in "
                "JAYWALK_TOWN_PATH"
            )
            return DrivenBaseline(problem=problem, skipped=True)
        place = source or ((self.out or baselines.scratch_folder()) / baseline.name)
        request = baselines.request_of(baseline, suite, place, workers=self.workers)
        if source is not None:
            baselines.check_run(baseline, request)
            return DrivenBaseline(result=baselines.driven(baseline, request, {}), run_folder=place)
        entries: dict[str, BaselineEpisode] = {}
        summary = self.execute(request, self._scorer(entries))
        scratch = self.out is None
        if not summary.is_complete:
            left = summary.total - summary.done
            problem = f"{left} of {summary.total} episodes could not be driven; see {place}/logs"
            return DrivenBaseline(problem=problem, run_folder=place, is_scratch=scratch)
        baselines.check_run(baseline, request)  # the sources may have been edited meanwhile
        current = {
            name: entry
            for name, entry in entries.items()
            if entry.record_hash == summary.hashes.get(name)
        }
        result = baselines.driven(baseline, request, current)
        return DrivenBaseline(result=result, run_folder=place, is_scratch=scratch)

    def accept(self, baseline: Baseline, result: Baseline, reason: str) -> dict[str, Any]:
        """Write a result as the accepted one, with the reason in the log."""
        done = baselines.accepted(result, reason)
        write_baseline(self.folder / f"{baseline.name}.json", done)
        baselines.append_log(self.folder, baselines.log_entry(baseline, done))
        if baseline.accepted is None:
            return {"name": baseline.name, "summary": f"accepted: {len(done.episodes)} episodes"}
        changes = Changes.between(baseline, done)
        if changes.moved and baseline.run.agent_version == done.run.agent_version:
            self.say(
                f"{baseline.name}: scores moved and the driver is still {done.run.agent_version}; "
                "raise the version in the decorator of its class if the driver changed"
            )
        return {"name": baseline.name, "summary": f"accepted: {changes.summary()}"}

    def _scorer(self, entries: dict[str, BaselineEpisode]) -> Scorer:
        """Return a function that scores a finished episode for the display and the baseline."""

        def score(folder: Path) -> QuickScore | None:
            try:
                record = jaywalk.record.open(folder)
                entry = entry_of(record, jaywalk.record.record_hash(folder))
            except JaywalkError as error:
                self.say(f"{folder.name} is recorded but cannot be scored: {error}")
                return None
            entries[record.episode.episode_id] = entry
            scores = list(entry.scores.values())
            points, faster = (
                scores[-1].metrics.get(name, math.nan) for name in ("driving_score", NO_MIN_SPEED)
            )
            return QuickScore(success=scores[0].success, driving_score=points, no_min_speed=faster)

        return score
