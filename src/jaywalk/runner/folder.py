"""A run folder before work begins: what is finished, what is left over, what is to be run."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import polars as pl
import pyarrow as pa

import jaywalk.record
from jaywalk.core.errors import DataError
from jaywalk.record.episode import EPISODE_FILE
from jaywalk.runner.outcome import EpisodeOutcome
from jaywalk.runner.plan import EpisodePlan
from jaywalk.runner.state import DONE, RunState

EPISODES_FOLDER: Final = "episodes"
LOGS_FOLDER: Final = "logs"
_DAMAGED: Final = ".damaged-"


def episode_folder(run_folder: Path, episode_id: str) -> Path:
    """Where the record of an episode is, or will be."""
    return run_folder / EPISODES_FOLDER / episode_id


def missing_plans(
    run_folder: Path, plans: Sequence[EpisodePlan], state: RunState, say: Callable[[str], None]
) -> list[EpisodePlan]:
    """Bring state and folder into line and return what is left to run.

    A whole record whose row does not say so is taken on, a damaged one is put aside, and what
    writers that were killed left behind is removed. Call it with the run's lock held.
    """
    jaywalk.record.remove_unfinished(run_folder / EPISODES_FOLDER)
    state.announce(plan.episode_id for plan in plans)
    rows = state.rows()
    missing: list[EpisodePlan] = []
    for plan in plans:
        name = plan.episode_id
        folder = episode_folder(run_folder, name)
        was_done = rows[name].state == DONE
        if was_done and not (folder / EPISODE_FILE).is_file():
            say(f"{name}: its record is gone, so it will be run again")
        expected = rows[name].record_hash if was_done else ""
        outcome = adopt(run_folder, name, say, expected)
        if outcome is not None:
            if not was_done:
                state.finish(outcome)
            continue
        state.put_back(name)
        missing.append(plan)
    return missing


def adopt(
    run_folder: Path, episode_id: str, say: Callable[[str], None], expected: str = ""
) -> EpisodeOutcome | None:
    """The outcome of a record that is there and whole; None where it has to be run.

    Args:
        run_folder: Folder of the run.
        episode_id: Which episode.
        say: Told why a record is put aside.
        expected: Hash the record had when it was written, if that is known.
    """
    folder = episode_folder(run_folder, episode_id)
    if not folder.exists():
        return None
    try:
        record = jaywalk.record.open(folder)
        found = record.episode
        if found.episode_id != episode_id:
            raise DataError(f"{folder} is the record of '{found.episode_id}'.")
        digest = jaywalk.record.record_hash(folder)
        if expected and digest != expected:
            raise DataError(f"{folder} was changed after it was written: its hash is another one.")
        last_s = record.ticks.select(pl.col("time_s").max()).collect().item()
    except (DataError, OSError, pa.ArrowException, pl.exceptions.PolarsError) as problem:
        aside = _put_aside(folder)
        say(f"{episode_id}: {problem} It is now {aside.name} and the episode will be run again.")
        return None
    return EpisodeOutcome(
        episode_id=episode_id,
        end_reason=found.end_reason,
        failure=found.failure,
        record_hash=digest,
        simulated_s=float(last_s or 0.0),
        wall_s=float(found.wall.seconds or 0.0),
        folder=folder,
    )


def _put_aside(folder: Path) -> Path:
    """Rename so that no reader of the run takes it for an episode."""
    number = 1
    while (aside := folder.with_name(f"{_DAMAGED}{folder.name}-{number}")).exists():
        number += 1
    os.rename(folder, aside)
    return aside
