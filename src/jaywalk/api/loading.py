"""A recorded run as data frames and figures."""

from __future__ import annotations

import difflib
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

import jaywalk.record
from jaywalk.core.errors import DataError, UsageError
from jaywalk.metrics.driving.aggregate import aggregate
from jaywalk.metrics.driving.rates import Figure
from jaywalk.metrics.driving.summary import EpisodeScore, jsonable
from jaywalk.metrics.spec import spec_of
from jaywalk.record import Record, RunFolder
from jaywalk.record import columns as c
from jaywalk.record.queries import actor_rows, event_rows, state_rows
from jaywalk.report.comparison import Comparison, compare_runs
from jaywalk.report.scored_runs import ScoredRun, score_folders
from jaywalk.report.summary import cause_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_EPISODES: Final = {
    "episode_id": pl.String,
    "recorded": pl.Boolean,
    "suite": pl.String,
    "route": pl.String,
    "scenario": pl.String,
    "seed": pl.Int64,
    "town": pl.String,
    "variant": pl.String,
    "pair": pl.String,
    "agent": pl.String,
    "end_reason": pl.String,
    "failure": pl.String,
    "duration_s": pl.Float64,
    "folder": pl.String,
}
_SCORES: Final = {
    "metric": pl.String,
    "kind": pl.String,
    "label": pl.String,
    "unit": pl.String,
    "direction": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "clusters": pl.Int64,
    "few_clusters": pl.Boolean,
}
_DIFFERENCES: Final = {
    "metric": pl.String,
    "kind": pl.String,
    "label": pl.String,
    "unit": pl.String,
    "direction": pl.String,
    "baseline": pl.Float64,
    "candidate": pl.Float64,
    "difference": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "p_value": pl.Float64,
    "p_holm": pl.Float64,
    "primary": pl.Boolean,
    "minimum_detectable_difference": pl.Float64,
    "n_pairs": pl.Int64,
    "n_scenarios": pl.Int64,
    "few_clusters": pl.Boolean,
}
_INFRACTIONS: Final = {
    "episode_id": pl.String,
    "kind": pl.String,
    "tick": pl.Int64,
    "time_s": pl.Float64,
    "x_m": pl.Float64,
    "y_m": pl.Float64,
    "message": pl.String,
    "other": pl.Int64,
    "value": pl.Float64,
    "factor": pl.Float64,
}


def load(folder: str | Path) -> Run:
    """Open a recorded run.

    Args:
        folder: Run folder, as ``jaywalk run`` and :func:`jaywalk.drive` write it.

    Raises:
        UsageError: The folder does not exist or is not a run.
    """
    path = Path(folder)
    if not path.is_dir():
        raise UsageError(f"'{path}' is not a folder. Give the folder of a run, such as runs/mine.")
    if not RunFolder(path).is_run:
        inside = sorted(one.name for one in path.iterdir() if RunFolder(one).is_run)
        hint = f" It contains runs: {', '.join(inside[:5])}." if inside else ""
        raise UsageError(
            f"'{path}' is not the folder of a run: it has no episodes.{hint} Give a folder that "
            "'jaywalk run' wrote."
        )
    return Run(folder=path)


@dataclass(frozen=True)
class Run:
    """A recorded run; tables are read on first use and kept.

    Attributes:
        folder: The run folder.
    """

    folder: Path
    _scored: dict[str, ScoredRun] = field(default_factory=dict, repr=False, compare=False)

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.folder.resolve().name

    @property
    def is_complete(self) -> bool:
        """Return whether every announced episode has a record."""
        return bool(self.episodes["recorded"].all())

    @cached_property
    def episodes(self) -> pl.DataFrame:
        """One row per announced episode; those without a record have ``recorded`` false."""
        recorded = {path.name: path for path in RunFolder(self.folder).records()}
        announced = RunFolder(self.folder).announced()
        rows = [
            self._episode_row(recorded[name])
            if name in recorded
            else {"episode_id": name, "recorded": False, "folder": ""}
            for name in (recorded if announced is None else announced)
        ]
        return _frame(rows, _EPISODES)

    @cached_property
    def events(self) -> pl.DataFrame:
        """Contacts, triggers and other events of all records, with episode and game time."""
        first = ["episode_id", c.TIME_S]
        frames = [
            _timed(record, event_rows(record))
            .with_columns(pl.lit(record.episode.episode_id).alias("episode_id"))
            .select(*first, pl.all().exclude(first))
            for record in self._records()
        ]
        return pl.concat(frames) if frames else pl.DataFrame(schema={"episode_id": pl.String})

    def scores(self, protocol: str = "jaywalk") -> pl.DataFrame:
        """Figures of the run with 95 % intervals, as ``jaywalk score --json`` states them.

        Args:
            protocol: Whose rules; ``jaywalk list protocols`` names them.

        Returns:
            One row per figure. ``kind`` is ``rate`` (percent), ``mean`` (also ratios of sums) or
            ``per_km`` (events per km; ``n`` counts the events).
        """
        found = aggregate(self._score(protocol).score)
        rows = [_score_row("success_rate", "rate", found.success)]
        rows += [_score_row(name, "mean", one) for name, one in found.metrics.items()]
        rows += [_score_row(name, "per_km", one) for name, one in found.rates_per_km.items()]
        return _frame(rows, _SCORES)

    def episode_scores(self, protocol: str = "jaywalk") -> pl.DataFrame:
        """One row per scored episode: outcome, cause of a failure, every metric and count."""
        rows = [_episode_score(one) for one in self._score(protocol).score.episodes]
        return pl.DataFrame([jsonable(row) for row in rows], infer_schema_length=None)

    def infractions(self, protocol: str = "jaywalk") -> pl.DataFrame:
        """Every counted infraction: kind, time, place and message."""
        rows = [
            {"episode_id": one.episode_id}
            | {name: getattr(event, name) for name in _INFRACTIONS if name != "episode_id"}
            for one in self._score(protocol).score.episodes
            for event in one.infractions
        ]
        return _frame(rows, _INFRACTIONS)

    def tracks(self, episode_id: str) -> pl.DataFrame:
        """States of all actors of an episode at every tick, with game time, kind and blueprint.

        Args:
            episode_id: Id of a recorded episode, such as ``01-harbour-hidden-s1``.
        """
        record = self._record(episode_id)
        ego = record.episode.ego_actor
        actors = actor_rows(record).select(
            c.ACTOR,
            c.KIND,
            c.TYPE_ID,
            c.ROLE_NAME,
            (pl.col(c.ACTOR) == (-1 if ego is None else ego)).alias("is_ego"),
        )
        states = _timed(record, state_rows(record)).join(
            actors, on=c.ACTOR, how="left", maintain_order="left"
        )
        first = [c.TICK, c.TIME_S, c.ACTOR, c.KIND, c.TYPE_ID, c.ROLE_NAME, "is_ego"]
        return states.select(*first, pl.all().exclude(first))

    def compare(
        self, other: Run, protocol: str = "jaywalk", *, allow_mixed: bool = False
    ) -> pl.DataFrame:
        """Paired differences ``other`` minus this run, as ``jaywalk compare --json`` states them.

        Args:
            other: The candidate; this run is the baseline.
            protocol: Whose rules.
            allow_mixed: Compare runs of different suites or scenario versions too.
        """
        found = self._compared(other, protocol, allow_mixed)
        pair = found.to_json()["comparisons"][0]
        parts = (("metrics", "mean"), ("rates_per_km", "per_km"))
        rows = [
            {"metric": name, "kind": "rate" if name == "success_rate" else kind}
            | _named(name, kind)
            | {key: values[key] for key in _DIFFERENCES if key in values}
            | dict(zip(("low", "high"), values["interval"], strict=True))
            for part, kind in parts
            for name, values in pair[part].items()
        ]
        return _frame(rows, _DIFFERENCES)

    def figure(
        self, name: str, *others: Run, protocol: str = "jaywalk", episode: str = ""
    ) -> Drawing:
        """Draw a figure in publication style.

        Args:
            name: Name of a figure; ``jaywalk figure`` lists them.
            others: Further runs in the same figure; this run is the baseline of differences.
            protocol: Whose rules.
            episode: Id of the episode, for figures of one episode.

        Returns:
            A matplotlib figure, for example for ``savefig``.
        """
        from jaywalk.report.paper import draw_figure

        runs = [one._score(protocol) for one in (self, *others)]
        return draw_figure(name, runs, episode=episode)

    def _score(self, protocol: str) -> ScoredRun:
        if protocol not in self._scored:
            [scored] = score_folders([self.folder], protocol)
            self._scored[protocol] = scored
            for text in scored.score.warnings:
                warnings.warn(f"{self.name}: {text}", stacklevel=3)
            if scored.score.missing:
                warnings.warn(
                    f"{self.name} is incomplete: {len(scored.score.missing)} of "
                    f"{scored.score.expected} episodes are missing.",
                    stacklevel=3,
                )
        return self._scored[protocol]

    def _compared(self, other: Run, protocol: str, allow_mixed: bool) -> Comparison:
        if not isinstance(other, Run):
            raise UsageError(
                f"compare() takes a run, not {type(other).__name__}. Load it first: "
                "jaywalk.load(FOLDER)."
            )
        return compare_runs(
            [self._score(protocol), other._score(protocol)], allow_mixed=allow_mixed
        )

    def _records(self) -> list[Record]:
        recorded = self.episodes.filter("recorded")
        return [jaywalk.record.open(self.folder / name) for name in recorded["folder"]]

    def _record(self, episode_id: str) -> Record:
        known = self.episodes.filter("recorded")
        mine = known.filter(pl.col("episode_id") == episode_id)
        if mine.is_empty():
            names = known["episode_id"].to_list()
            close = difflib.get_close_matches(episode_id, names, n=1)
            hint = f"Did you mean '{close[0]}'?" if close else f"It has: {', '.join(names[:5])}."
            raise UsageError(f"{self.name} has no record of episode '{episode_id}'. {hint}")
        return jaywalk.record.open(self.folder / mine["folder"][0])

    def _episode_row(self, path: Path) -> dict[str, Any]:
        place = path.relative_to(self.folder).as_posix()
        try:
            record = jaywalk.record.open(path)
        except DataError as problem:
            warnings.warn(f"{self.name}: {problem}", stacklevel=4)
            return {"episode_id": path.name, "recorded": False, "folder": place}
        episode = record.episode
        ending = f"-s{episode.seed}"
        return {
            "episode_id": episode.episode_id,
            "recorded": True,
            "route": episode.episode_id.removesuffix(ending),
            "agent": episode.agent.name,
            "duration_s": record.ticks.select(pl.col(c.TIME_S).max()).collect().item(),
            "folder": place,
        } | {
            name: getattr(episode, name)
            for name in (
                "suite",
                "scenario",
                "seed",
                "town",
                "variant",
                "pair",
                "end_reason",
                "failure",
            )
        }


def _frame(rows: list[dict[str, Any]], schema: dict[str, Any]) -> pl.DataFrame:
    """A frame with all columns of the schema; NaN becomes null."""
    return pl.DataFrame(
        {name: [jsonable(row.get(name)) for row in rows] for name in schema}, schema=schema
    )


def _timed(record: Record, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with the game time of their tick."""
    times = record.ticks.select(c.TICK, c.TIME_S).collect()
    return rows.join(times, on=c.TICK, how="left", maintain_order="left")


def _named(name: str, kind: str) -> dict[str, str]:
    spec = spec_of(name)
    unit = "per km" if kind == "per_km" else spec.shown_unit
    return {"label": spec.label, "unit": unit, "direction": spec.direction}


def _score_row(name: str, kind: str, figure: Figure) -> dict[str, Any]:
    return {
        "metric": name,
        "kind": kind,
        **_named(name, kind),
        "value": figure.value,
        "low": figure.low,
        "high": figure.high,
        "n": figure.n,
        "clusters": figure.clusters,
        "few_clusters": figure.few_clusters,
    }


def _episode_score(score: EpisodeScore) -> dict[str, Any]:
    row: dict[str, Any] = {
        "episode_id": score.episode_id,
        "scenario": score.scenario,
        "seed": score.seed,
        "status": score.status,
        "success": score.success,
        "cause": cause_of(score),
    }
    metrics = {name: value for name, value in score.metrics.items() if name not in row}
    return row | metrics | {f"n_{name}": number for name, number in score.counts.items()}
