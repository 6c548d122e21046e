"""Fit of the reactive model to recorded encounters.

The loss compares distributions of the replay with the recorded ones: gap, smallest distance,
slowing and deviation (Wasserstein distances, in s, m, shares and m), and the share of contacts.
Every encounter is replayed a few times, each with a person and noise of its own, so that the fit
does not follow the noise. Parts of the data are held out and never seen by the optimiser.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.stats import wasserstein_distance

from jaywalk.actors.reactive.parameters import settings_of
from jaywalk.actors.reactive.traits import PRESETS
from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.files import read_text
from jaywalk.core.seeds import derive_seed
from jaywalk.rollouts.people.replay import ReplayCase, Replayed, Replayer, recorded_contact
from jaywalk.stats.cmaes import default_population, minimise

Said = Callable[[str], None]

HELD_OUT: Final = ("dut", "intersection")
"""Source and course that no fit sees."""

BOUNDS: Final[Mapping[str, tuple[float, float]]] = {
    "margin_m": (0.2, 1.6),
    "margin_cost": (0.3, 4.0),
    "contact_cost": (2.0, 15.0),
    "turn_cost": (0.05, 1.5),
    "slow_cost": (0.1, 3.0),
    "change_cost": (0.02, 0.8),
    "lag_s": (0.2, 0.8),
    "stop_s": (0.25, 0.6),
    "last_gap_m": (0.2, 0.8),
    "road_advantage_s": (-4.0, 1.0),
    "boldness_advantage": (0.0, 1.0),
    "fastest": (1.0, 1.6),
}
"""Fitted parameters with the ranges that are searched.

``person_cost`` and ``person_margin_m`` are not among them: each person is replayed alone.
"""

MEASURES: Final = ("gap_s", "distance_m", "slowest_share", "deviation_m")
CONTACT_WEIGHT: Final = 5.0
"""Weight of the share of contacts beside the distances: 10 % count as half a second of gap."""

_FEWEST_GENERATIONS: Final = 2
_LOSS_WITHOUT_ENCOUNTERS: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FitRequest:
    """Request for a fit.

    Attributes:
        base: Preset whose other values stay.
        evaluations: Largest number of parameter sets that are tried.
        repeats: Replays of every encounter for each of them.
        seed: All random numbers of the fit derive from it.
        progress: File of the replays done, from which a fit goes on.
        keeps: Parameters that stay as in the preset.
    """

    base: str = "campus"
    keeps: tuple[str, ...] = ()
    evaluations: int = 400
    repeats: int = 2
    seed: int = 0
    progress: Path | None = None

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """Ranges of the parameters that are fitted."""
        unknown = [name for name in self.keeps if name not in BOUNDS]
        if unknown:
            raise UsageError(f"--keep names '{unknown[0]}'; expected some of {', '.join(BOUNDS)}.")
        if len(set(self.keeps)) == len(BOUNDS):
            raise UsageError("--keep names all parameters; nothing is left to fit.")
        return {name: ends for name, ends in BOUNDS.items() if name not in self.keeps}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Result of a fit.

    Attributes:
        values: Fitted parameters by name.
        loss: Loss on the data of the fit.
        loss_before: The same with the preset's values.
        evaluations: Number of parameter sets that the search asked for.
        reused: How many of them a former fit had done.
    """

    values: dict[str, float]
    loss: float
    loss_before: float
    evaluations: int
    reused: int


def split_cases(cases: Sequence[ReplayCase]) -> tuple[list[ReplayCase], list[ReplayCase]]:
    """Return the cases of the fit, and those held out.

    Raises:
        DataError: One of the two parts is empty.
    """
    held = [case for case in cases if (case.source, case.course) == HELD_OUT]
    fitted = [case for case in cases if (case.source, case.course) != HELD_OUT]
    if not held or not fitted:
        raise DataError(
            f"The data have {len(fitted)} encounters to fit and {len(held)} to hold out "
            f"({HELD_OUT[0]} {HELD_OUT[1]}); expected both. Give the folder or archive of DUT "
            "and CITR together."
        )
    return fitted, held


def measured(replayed: Sequence[Replayed], name: str) -> FloatArray:
    """Values of one measure in the encounters of a replay; those without a value are left out."""
    values = np.array([getattr(one.met, name) for one in replayed if one.met is not None])
    return values[np.isfinite(values)] if len(values) else values


def distances(cases: Sequence[ReplayCase], replayed: Sequence[Replayed]) -> dict[str, float]:
    """Distances of a replay from the recording by measure, and the excess share of contacts."""
    parts = {}
    for name in MEASURES:
        recorded = np.array([getattr(case.recorded, name) for case in cases])
        recorded = recorded[np.isfinite(recorded)]
        found = measured(replayed, name)
        some = len(recorded) > 0 and len(found) > 0
        parts[name] = float(wasserstein_distance(found, recorded)) if some else math.inf
    touched = float(np.mean([one.contact for one in replayed]))
    known = float(np.mean([recorded_contact(case) for case in cases]))
    parts["contacts"] = max(touched - known, 0.0)
    return parts


def loss_of(cases: Sequence[ReplayCase], replayed: Sequence[Replayed]) -> float:
    """Sum of the distances, averaged over the sources by their number of encounters."""
    total = 0.0
    for source in sorted({case.source for case in cases}):
        rows = [k for k, case in enumerate(cases) if case.source == source]
        parts = distances([cases[k] for k in rows], [replayed[k] for k in rows])
        one = CONTACT_WEIGHT * parts.pop("contacts") + sum(parts.values())
        total += len(rows) / len(cases) * min(one, _LOSS_WITHOUT_ENCOUNTERS)
    return total


@dataclass(slots=True)
class _Losses:
    """Losses of parameter sets; those that a former fit has computed are read from its file."""

    replayer: Replayer
    request: FitRequest
    said: Said
    best: float = math.inf
    asked: int = 0
    reused: int = 0
    _known: dict[str, float] = field(default_factory=dict)
    _file_key: str = ""

    def __post_init__(self) -> None:
        self._file_key = self._key_of_data()
        path = self.request.progress
        if path is not None and path.exists():
            self._read(path)

    def _key_of_data(self) -> str:
        digest = hashlib.blake2b(digest_size=8)
        for case in self.replayer.cases:
            digest.update(f"{case.scene} {case.vehicle} {case.recorded}".encode())
            digest.update(case.walk.xy_m.tobytes())
        names = f"{self.request.bounds} {self.request.seed} {PRESETS[self.request.base]}"
        digest.update(names.encode())
        return digest.hexdigest()

    def _read(self, path: Path) -> None:
        for number, line in enumerate(read_text(path, "a progress file").splitlines(), 1):
            try:
                entry = json.loads(line)
                key, point, loss = entry["of"], entry["point"], float(entry["loss"])
            except (ValueError, KeyError, TypeError) as problem:
                # The last line of a fit that was stopped may be cut off.
                self.said(f"note: line {number} of '{path}' is not readable ({problem}); left out")
                continue
            if key != self._file_key:
                raise UsageError(
                    f"'{path}' belongs to a fit of other data, another preset or seed, or another "
                    "version. Delete it, or give another --out."
                )
            self._known[str(point)] = loss

    def __call__(self, point: FloatArray) -> float:
        self.asked += 1
        name = " ".join(float(value).hex() for value in point)
        if name in self._known:
            self.reused += 1
            loss = self._known[name]
        else:
            settings = settings_of(self.request.base, values_at(self.request.bounds, point))
            loss = loss_of(self.replayer.cases, self.replayer.run(settings))
            self._known[name] = loss
            if self.request.progress is not None:
                line = json.dumps({"of": self._file_key, "point": name, "loss": loss})
                with self.request.progress.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")
        self.best = min(self.best, loss)
        if self.asked % 20 == 0:
            self.said(f"{self.asked} parameter sets, smallest loss {self.best:.4f}")
        return loss


def values_at(names: Iterable[str], point: Sequence[float] | FloatArray) -> dict[str, float]:
    """Parameters of a point of the search space, rounded as they are written."""
    values = {name: round(float(one), 4) for name, one in zip(names, point, strict=True)}
    if "road_advantage_s" in values:
        values["crosswalk_advantage_s"] = values["road_advantage_s"]
    return values


def fit_people(cases: Sequence[ReplayCase], request: FitRequest, said: Said) -> Fit:
    """Search for the parameters with the smallest loss; the same request gives the same result."""
    if request.base not in PRESETS:
        raise UsageError(f"Unknown preset '{request.base}'; expected {', '.join(PRESETS)}.")
    bounds, preset = request.bounds, PRESETS[request.base]
    fewest = 1 + _FEWEST_GENERATIONS * default_population(len(bounds))
    if request.evaluations < fewest:
        raise UsageError(f"--evaluations is {request.evaluations}; expected at least {fewest}.")
    losses = _Losses(Replayer([*cases] * request.repeats, request.seed), request, said)
    low, high = np.array(list(bounds.values())).T
    begin = np.clip([getattr(preset, name) for name in bounds], low, high)
    before = losses(begin)
    best = minimise(
        losses,
        list(bounds.values()),
        begin,
        evaluations=request.evaluations,
        random=np.random.default_rng(derive_seed(request.seed, "fit-people")),
    )
    return Fit(
        values=values_at(bounds, best.point),
        loss=best.value,
        loss_before=before,
        evaluations=losses.asked,
        reused=losses.reused,
    )


def fit_facts(fit: Fit, request: FitRequest) -> dict[str, Any]:
    """Facts of a fit as JSON values."""
    return {
        "loss": round(fit.loss, 5),
        "loss_before": round(fit.loss_before, 5),
        "evaluations": fit.evaluations,
        "repeats": request.repeats,
        "seed": request.seed,
        "bounds": {name: list(ends) for name, ends in request.bounds.items()},
        "contact_weight": CONTACT_WEIGHT,
    }
