"""Baselines: record hashes and scores that were accepted for a run.

A baseline is a JSON file with one line per episode, so that ``git diff`` shows the changed
episodes. It holds enough to compute every published figure without the records.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.files import read_bytes, write_whole
from jaywalk.metrics.driving.penalties import PROTOCOLS
from jaywalk.metrics.driving.protocols import OWN, protocol_version, score_episode
from jaywalk.metrics.driving.summary import EpisodeScore, RunScore
from jaywalk.metrics.spec import METRICS
from jaywalk.record import Record
from jaywalk.record.episode import Code

FORMAT: Final = "jaywalk-baseline-1"
PAIRED, PUBLIC, BENCH2DRIVE = "fail2drive", "leaderboard-2.1", "bench2drive"
_DIGITS: Final = 6  # significant ones
_MOST_BYTES: Final = 64 * 1024 * 1024
_PER_LINE: Final = "episodes"
_UNSCORED: Final = "cannot be scored"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BaselineRun(_Part):
    """Settings of the run that a baseline describes.

    Attributes:
        suite: Suite as for ``jaywalk run``, or a table of routes (.toml) next to the baseline.
        suite_id: Name of the suite with its version at acceptance.
        agent_version: Version of the agent at acceptance.
        arguments: Arguments of the agent.
        subset: Route ids as for ``--subset``; "" for all.
        people_model: As for ``--people-model``; "" as the routes say.
        requires: Towns that are not part of Jaywalk.
    """

    suite: str
    suite_id: str = ""
    agent: str
    agent_version: str = ""
    arguments: dict[str, Any] = Field(default_factory=dict)
    seeds: list[int] = Field(min_length=1)
    subset: str = ""
    variant: str = ""
    people_model: str = ""
    requires: list[str] = Field(default_factory=list)


class Accepted(_Part):
    """Date and reason of the acceptance of the content."""

    date: str
    reason: str


class ProtocolScore(_Part):
    """One episode under one protocol; metrics that do not apply and counts of zero are left out."""

    success: bool
    status: str
    metrics: dict[str, float] = Field(default_factory=dict)
    counts: dict[str, int] = Field(default_factory=dict)
    people_hit: list[dict[str, Any]] = Field(default_factory=list)
    forecasts: list[dict[str, Any]] = Field(default_factory=list)
    moving_s: float | None = None  # weight of time shares, where the protocol tells it

    @field_validator("people_hit", mode="before")
    @classmethod
    def _read_missing_risk(cls, hits: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Read a missing injury risk, ``null`` in the file, as NaN."""
        return [
            {**hit, "injury_risk": math.nan if hit["injury_risk"] is None else hit["injury_risk"]}
            for hit in hits
        ]


class BaselineEpisode(_Part):
    """One episode: its record hash, which covers the whole record, and its scores."""

    record_hash: str
    end_reason: str
    town: str = ""
    posed: int = 0
    pair: str = ""
    half: str = ""
    shift: str = ""
    weak: bool | None = None  # of a pair: whether it shows no more than a shared start
    scores: dict[str, ProtocolScore]


class Baseline(_Part):
    """Content of a baseline file. Without ``accepted`` its episodes are yet to be driven."""

    format: str = FORMAT
    name: str
    in_ci: bool = False
    run: BaselineRun
    code: Code = Code()
    protocol: dict[str, int] = Field(default_factory=dict)
    accepted: Accepted | None = None
    episodes: dict[str, BaselineEpisode] = Field(default_factory=dict)

    def run_score(self, protocol: str) -> RunScore:
        """Return the accepted scores in the form of a run's scores."""
        episodes = tuple(
            _as_score(self, name, episode, protocol)
            for name, episode in self.episodes.items()
            if protocol in episode.scores
        )
        return RunScore(
            name=self.name,
            protocol=protocol,
            agent=self.run.agent,
            suite=self.run.suite_id,
            expected=len(episodes),
            episodes=episodes,
            agent_version=self.run.agent_version,
            code=self.code.sources,
        )


def _as_score(whole: Baseline, name: str, episode: BaselineEpisode, protocol: str) -> EpisodeScore:
    score = episode.scores[protocol]
    route, _, seed = name.rpartition("-s")
    return EpisodeScore(
        episode_id=name,
        protocol=protocol,
        suite=whole.run.suite_id,
        scenario=route,
        seed=int(seed) if seed.isdigit() else None,
        agent=whole.run.agent,
        status=score.status,
        success=score.success,
        metrics=score.metrics,
        counts=score.counts,
        detail={
            "end_reason": episode.end_reason,
            "town": episode.town,
            "posed": episode.posed,
            "pair": episode.pair,
            "half": episode.half,
            "shift": episode.shift,
            "people_hit": score.people_hit,
            "forecasts": score.forecasts,
            "ttc": {} if score.moving_s is None else {"moving_s": score.moving_s},
        },
    )


def protocols_of(record: Record) -> tuple[str, ...]:
    """Protocols that a record's figures are published under."""
    if record.episode.pair:
        return OWN, PAIRED
    is_bench2drive = BENCH2DRIVE in record.episode.suite and BENCH2DRIVE in PROTOCOLS
    return (OWN, PUBLIC, BENCH2DRIVE) if is_bench2drive else (OWN, PUBLIC)


def protocol_versions(names: Sequence[str]) -> dict[str, int]:
    """Version of each protocol as it is now."""
    return {name: protocol_version(name) for name in names}


def entry_of(record: Record, record_hash: str) -> BaselineEpisode:
    """Return the baseline entry of a record."""
    episode = record.episode
    return BaselineEpisode(
        record_hash=record_hash,
        end_reason=episode.end_reason,
        town=episode.town,
        posed=int(episode.parameters.get("posed") or 0),
        pair=episode.pair,
        half=str(episode.parameters.get("half", "")),
        shift=str(episode.parameters.get("shift", "")),
        scores={name: _scored(record, name) for name in protocols_of(record)},
    )


def _scored(record: Record, protocol: str) -> ProtocolScore:
    try:
        return _kept(score_episode(record, protocol))
    except DataError:  # the message names the folder, which differs between machines
        return ProtocolScore(success=False, status=_UNSCORED)


def _kept(score: EpisodeScore) -> ProtocolScore:
    hits = score.detail.get("hits", ())
    moving_s = score.detail.get("ttc", {}).get("moving_s")
    touched = sum(hit.get("what") == "person" for hit in hits)
    counts = dict(score.counts) | ({"person_contacts": touched} if touched else {})
    return ProtocolScore(
        success=score.success,
        status=score.status,
        metrics={
            name: rounded(value)
            for name, value in score.metrics.items()
            if math.isfinite(value) and _is_ours(name)
        },
        counts={name: count for name, count in counts.items() if count and _is_ours(name)},
        people_hit=[
            {
                "injury_risk": rounded(hit["injury_risk"]),
                "speed_mps": rounded(hit["speed_mps"]),
                "unavoidable": bool(hit["unavoidable"]),
            }
            for hit in score.detail.get("people_hit", ())
        ],
        forecasts=[
            {"ade_m": rounded(one["ade_m"]), "forecasts": int(one["forecasts"])}
            for one in score.detail.get("forecasts", ())
            if one["forecasts"]
        ],
        moving_s=None if moving_s is None else rounded(moving_s),
    )


def _is_ours(name: str) -> bool:
    """Return whether a metric is not from a plug-in; plug-ins differ between machines."""
    return name not in METRICS or METRICS.get(name).package == "jaywalk"


def rounded(value: float) -> float:
    """Round a number to the digits that a baseline keeps."""
    return float(f"{value:.{_DIGITS}g}")


# -- files -------------------------------------------------------------------------------------


def read_baseline(path: Path) -> Baseline:
    """Read one file.

    Raises:
        DataError: It is damaged or something else.
    """
    text = read_bytes(path, "a baseline (.json)", _MOST_BYTES)
    try:
        baseline = Baseline.model_validate_json(text)
    except (ValidationError, ValueError) as problem:
        said = " ".join(str(problem).split())[:200]
        raise DataError(
            f"'{path}' is not a baseline: {said}. Restore it with 'git checkout', or create it "
            "with 'jaywalk baseline new'."
        ) from problem
    if baseline.format != FORMAT:
        raise DataError(f"'{path}' has format '{baseline.format}', expected '{FORMAT}'.")
    if baseline.name != path.stem:
        raise DataError(f"'{path}' calls itself '{baseline.name}', expected its file's name.")
    return baseline


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write one file: sorted keys, an episode a line."""
    write_whole(path, format_baseline(baseline))


def format_baseline(baseline: Baseline) -> str:
    """Text of the file."""
    plain = baseline.model_dump(mode="json", exclude_defaults=False)
    episodes = plain.pop(_PER_LINE)
    lines = [
        f"    {json.dumps(name)}: {_line(_compact(episode))}" for name, episode in episodes.items()
    ]
    head = json.dumps(plain, indent=2, sort_keys=True, allow_nan=False)[:-2]
    body = "{\n" + ",\n".join(lines) + "\n  }" if lines else "{}"
    return f'{head},\n  "{_PER_LINE}": {body}\n}}\n'


def _line(value: Any) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False, separators=(", ", ": "))


def _compact(episode: dict[str, Any]) -> dict[str, Any]:
    """Return the entries that are not empty."""
    kept = {
        key: value for key, value in episode.items() if value not in ("", 0, None) or key == "weak"
    }
    if kept.get("weak") is None:
        kept.pop("weak", None)
    kept["scores"] = {
        protocol: {key: value for key, value in score.items() if value not in ({}, [], None)}
        for protocol, score in episode["scores"].items()
    }
    return kept


def find_baselines(folder: Path) -> list[str]:
    """Return the names of the baselines in a folder, sorted.

    Raises:
        DataError: The folder does not exist.
    """
    if not folder.is_dir():
        raise DataError(
            f"'{folder}' is not a folder of baselines. Run this in the repository, or give "
            "--baselines DIR."
        )
    return sorted(path.stem for path in folder.glob("*.json"))


def check_names(folder: Path, names: Sequence[str]) -> None:
    """Raise unless all of these are there; say which one was probably meant."""
    known = find_baselines(folder)
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            raise UsageError(
                f"No baseline '{name}' in {folder}.{hint} Known: {', '.join(known) or 'none'}."
            )


# -- changes -----------------------------------------------------------------------------------
