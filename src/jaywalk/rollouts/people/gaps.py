"""Gaps at the kerb: the trials of HIKER, walked by the model, and a fit of the evidence to them.

In a trial two vehicles of the same constant speed pass a person at the kerb. The gap is the time
between the tail of the first and the front of the second, and it is accepted if the person sets off
before the second arrives. HIKER: 60 people in virtual reality, 2,138 trials of constant speed.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.stats import kendalltau

from jaywalk.actors.reactive.model import ReactionModel
from jaywalk.actors.reactive.traits import (
    AT_KERB,
    ATTENTIVE,
    COMMITTED,
    PRESETS,
    WAITS,
    AttentionShares,
    ReactionSettings,
    draw_traits,
    noise_key,
)
from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.files import read_text
from jaywalk.core.seeds import derive_seed
from jaywalk.metrics.realism.people.encounters import BODY_M
from jaywalk.rollouts.people.replay import open_ground
from jaywalk.stats.cmaes import minimise

_DELTA_S: Final = 0.05
_LENGTH_M, _WIDTH_M = 4.7, 1.9
_APART_M: Final = 250.0
_BATCH: Final = 100  # people of one model: the time of a model grows with their square
_BEFORE_S: Final = 1.5  # people watch the vehicles for this long before the gap opens
_JUDGES_S: Final = 1.0  # and judge them for this long
_KERB_M: Final = 2.0  # from the middle of the lane
_BOLD_SD_S: Final = 1.1
_NODES: Final = 11
_MOST_BYTES: Final = 64 * 1024 * 1024
_NO_BOXES: Final = np.zeros((0, 6))
_NO_PEOPLE: Final = np.zeros((0, 4))
_COLUMNS: Final = ("subject", "time_gap", "speed", "braking_condition", "crossing_time")
_CONSTANT: Final = "1"  # braking condition of the trials with constant speed


class GapCell(NamedTuple):
    """Trials with one gap at one speed, and how many people accepted."""

    gap_s: float
    speed_mps: float
    trials: int
    accepted: int

    @property
    def share(self) -> float:
        """Share of accepted gaps."""
        return self.accepted / self.trials


HIKER: Final = (
    GapCell(2.0, 11.18, 179, 6),
    GapCell(2.0, 13.41, 178, 12),
    GapCell(2.0, 15.65, 178, 11),
    GapCell(3.0, 11.18, 178, 42),
    GapCell(3.0, 13.41, 177, 45),
    GapCell(3.0, 15.65, 176, 56),
    GapCell(4.0, 11.18, 179, 83),
    GapCell(4.0, 13.41, 178, 82),
    GapCell(4.0, 15.65, 178, 108),
    GapCell(5.0, 11.18, 180, 123),
    GapCell(5.0, 13.41, 179, 136),
    GapCell(5.0, 15.65, 178, 147),
)
"""Counted in the published crossing times (jampekka/vddfit); 25, 30 and 35 mph."""

SET_OFF_S: Final = (0.0, 0.25, 0.5)
"""Borders between the classes of times at which people set off, after the gap has opened."""

GAP_BOUNDS: Final = {
    "drift_scale": (0.2, 3.0),
    "drift_centre_s": (0.5, 4.0),
    "leak": (0.3, 6.0),
    "noise": (0.05, 1.5),
    "threshold": (0.05, 1.0),
    "distance_weight": (0.3, 1.0),
    "tail_s": (0.1, 0.6),
}
"""Parameters of the evidence that are fitted, with the ranges that are searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceRow:
    """Share of accepted gaps of one length at one speed, and when people decide to go."""

    gap_s: float
    speed_mps: float
    share: float
    recorded: float
    decided_s: float


def decision_times_s(
    gap_s: float, speed_mps: float, settings: ReactionSettings, bold_s: FloatArray, seed: int = 7
) -> FloatArray:
    """Time after the opening of the gap at which each person decides to go; NaN: not in it.

    Args:
        gap_s: Time between the two vehicles.
        speed_mps: Their speed.
        settings: Parameters of the model.
        bold_s: (n,) boldness of the people.
        seed: Seed of the noise.
    """
    parts = [bold_s[first : first + _BATCH] for first in range(0, len(bold_s), _BATCH)]
    times = [
        _decide(gap_s, speed_mps, settings, part, f"gaps {seed} {number}")
        for number, part in enumerate(parts)
    ]
    return np.concatenate(times)


def _decide(
    gap_s: float, speed_mps: float, settings: ReactionSettings, bold_s: FloatArray, name: str
) -> FloatArray:
    count = len(bold_s)
    traits = draw_traits(0, np.zeros(count, np.bool_), AttentionShares(), name, senior=0.0)
    traits.attention[:], traits.group[:], traits.bold_s[:] = ATTENTIVE, -1, bold_s
    # Nobody moves here: the choice of a velocity would only cost time.
    settings = settings._replace(horizon_s=0.0)
    key = noise_key(0, name)
    model = ReactionModel(key=key, traits=traits, grid=open_ground(), settings=settings)
    rows, centre = model.rows, _APART_M * np.arange(count)
    rows.active[:], rows.where[:] = True, AT_KERB
    rows.x[:], rows.y[:], rows.yaw[:] = centre, -_KERB_M, 0.5 * math.pi
    rows.aim_x[:], rows.aim_y[:], rows.left_m[:], rows.kerb_m[:] = centre, 8.0, 4.0, 0.0
    times = np.full(count, np.nan)
    reach = _LENGTH_M / 2.0 + BODY_M
    for tick in range(-round(_BEFORE_S / _DELTA_S), round(gap_s / _DELTA_S)):
        now_s = tick * _DELTA_S
        # People look at the vehicles all the time, as they do in a trial.
        rows.looking[:], rows.until_s[:], rows.looks[:], rows.looked[:] = True, 1e9, 2, True
        first = centre + speed_mps * now_s + reach
        second = centre - speed_mps * (gap_s - now_s) - reach
        cars = np.zeros((2 * count, 8))
        cars[:, 0] = np.concatenate([first, second])
        cars[:, 2], cars[:, 4], cars[:, 5] = 1.0, _LENGTH_M / 2.0, _WIDTH_M / 2.0
        cars[:, 6] = speed_mps
        model.step(np.arange(1, 2 * count + 1), cars, _NO_BOXES, _NO_PEOPLE)
        if now_s < -_JUDGES_S:
            rows.evidence[:], rows.decision[:] = 0.0, WAITS
        goes = (rows.decision == COMMITTED) & np.isnan(times)
        times[goes] = now_s
    return times


def acceptance_rows(settings: ReactionSettings, people: int = 400) -> list[AcceptanceRow]:
    """Shares of accepted gaps of the twelve combinations that were tried in HIKER."""
    bold_s = _BOLD_SD_S * np.random.default_rng(derive_seed(0, "bold")).standard_normal(people)
    rows = []
    for cell in HIKER:
        times = decision_times_s(cell.gap_s, cell.speed_mps, settings, bold_s)
        known = times[~np.isnan(times)]
        rows.append(
            AcceptanceRow(
                gap_s=cell.gap_s,
                speed_mps=cell.speed_mps,
                share=len(known) / people,
                recorded=cell.share,
                decided_s=float(np.median(known)) if len(known) else math.nan,
            )
        )
    return rows


def acceptance_facts(rows: Sequence[AcceptanceRow]) -> dict[str, float]:
    """Mean error of the shares, how well their order is kept, and the order of speeds."""
    ours = np.array([row.share for row in rows])
    recorded = np.array([row.recorded for row in rows])
    gaps = sorted({row.gap_s for row in rows})
    by_speed = [[row.share for row in rows if row.gap_s == gap] for gap in gaps]
    return {
        "mean_error": float(np.abs(ours - recorded).mean()),
        "kendall_tau": float(kendalltau(ours, recorded).statistic),
        "gaps_with_speeds_in_order": float(sum(shares == sorted(shares) for shares in by_speed)),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """Counts of a file of trials.

    Attributes:
        cells: Gap and speed of each cell.
        counts: (people, cells, outcomes); the outcomes are the classes of :data:`SET_OFF_S`, and
            last the gaps that were not accepted.
    """

    cells: tuple[tuple[float, float], ...]
    counts: FloatArray


def _outcomes(times_s: FloatArray) -> IntArray:
    """Class of each time at which somebody set off; NaN: not at all."""
    classes = np.searchsorted(SET_OFF_S, times_s, side="right")
    return np.where(np.isnan(times_s), len(SET_OFF_S) + 1, classes)


def read_trials(path: Path) -> Trials:
    """Read the trials of constant speed from HIKER's crossing times (``hiker_cts.csv``).

    Raises:
        DataError: The file is missing, lacks a column or holds no such trials.
    """
    what = "the crossing times of HIKER (hiker_cts.csv)"
    reader = csv.DictReader(io.StringIO(read_text(path, what, _MOST_BYTES)))
    missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise DataError(f"'{path}' has no column '{missing[0]}'; give {what}.")
    times: dict[tuple[str, float, float], list[float]] = {}
    for number, row in enumerate(reader, 2):
        if row["braking_condition"] != _CONSTANT:
            continue
        try:
            gap, speed = float(row["time_gap"]), round(float(row["speed"]), 2)
            crossed_s = float(row["crossing_time"] or "nan")
        except (TypeError, ValueError) as problem:
            raise DataError(f"Line {number} of '{path}' is not readable: {problem}.") from problem
        accepted_s = crossed_s if crossed_s < gap else math.nan
        times.setdefault((row["subject"], gap, speed), []).append(accepted_s)
    if not times:
        raise DataError(f"'{path}' has no trials of constant speed; give {what}.")
    people = sorted({key[0] for key in times})
    cells = sorted({key[1:] for key in times})
    counts: FloatArray = np.zeros((len(people), len(cells), len(SET_OFF_S) + 2))
    for (who, gap, speed), known in times.items():
        row_of = counts[people.index(who), cells.index((gap, speed))]
        row_of += np.bincount(_outcomes(np.array(known)), minlength=len(row_of))
    return Trials(cells=tuple(cells), counts=counts)


def log_likelihood(trials: Trials, settings: ReactionSettings, copies: int = 24) -> float:
    """Log-likelihood of the decisions of all people, whose boldness is not known.

    Args:
        trials: Decisions by person and cell.
        settings: Parameters of the model.
        copies: Simulated people for each of the values of boldness.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    bold_s = np.repeat(_BOLD_SD_S * nodes, copies)
    outcomes = trials.counts.shape[2]
    shares = np.empty((len(trials.cells), _NODES, outcomes))
    for cell, (gap_s, speed_mps) in enumerate(trials.cells):
        times = decision_times_s(gap_s, speed_mps, settings, bold_s)
        found = _outcomes(times).reshape(_NODES, copies)
        for outcome in range(outcomes):
            shares[cell, :, outcome] = (found == outcome).sum(axis=1)
    # Outcomes that no simulated person had are rare, not impossible.
    shares = (shares + 0.5 / outcomes) / (copies + 0.5)
    by_node = np.einsum("pco,cno->pn", trials.counts, np.log(shares))
    by_node += np.log(weights / weights.sum())
    most = by_node.max(axis=1, keepdims=True)
    return float((np.log(np.exp(by_node - most).sum(axis=1)) + most[:, 0]).sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class GapFit:
    """Result of a fit to trials."""

    values: dict[str, float]
    log_likelihood: float
    log_likelihood_before: float
    evaluations: int


def fit_gaps(
    trials: Trials,
    said: Callable[[str], None],
    *,
    base: str = "reactive",
    evaluations: int = 150,
    copies: int = 24,
    seed: int = 0,
) -> GapFit:
    """Search for the parameters of the evidence under which the decisions are most likely."""
    if base not in PRESETS:
        raise UsageError(f"Unknown preset '{base}'; expected {', '.join(PRESETS)}.")
    preset = PRESETS[base]
    tried: list[float] = []

    def loss(point: FloatArray) -> float:
        tried.append(-log_likelihood(trials, preset._replace(**_values_at(point)), copies))
        if len(tried) % 20 == 0:
            said(f"{len(tried)} parameter sets, largest log-likelihood {-min(tried):.1f}")
        return tried[-1]

    ends = np.array(list(GAP_BOUNDS.values()))
    start = np.clip([getattr(preset, name) for name in GAP_BOUNDS], ends[:, 0], ends[:, 1])
    best = minimise(
        loss,
        list(GAP_BOUNDS.values()),
        start,
        evaluations=evaluations,
        random=np.random.default_rng(derive_seed(seed, "fit-gaps")),
    )
    return GapFit(
        values=_values_at(best.point),
        log_likelihood=-best.value,
        log_likelihood_before=-tried[0],
        evaluations=best.evaluations,
    )


def _values_at(point: FloatArray) -> dict[str, Any]:
    return {name: round(float(one), 4) for name, one in zip(GAP_BOUNDS, point, strict=True)}
