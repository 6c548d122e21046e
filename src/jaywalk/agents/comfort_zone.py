"""The reaction pattern of Herman et al.: no predicted violation of the comfort zone remains.

Every relevant person is predicted; the probability to be in the vehicle's future comfort zone is
compared with the working point of each horizon; the driver takes the highest speed whose zones
nobody is likely to enter. With vehicles, lights and obstacles it deals as the expert does. Its
forecasts go into the record.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.agents.base import Briefing, Decision, Forecast, Moment
from jaywalk.agents.expert import Expert
from jaywalk.agents.people_history import PeopleHistory, to_carla
from jaywalk.agents.perception import PERSON, Own, Seen
from jaywalk.agents.route_line import STEP_M
from jaywalk.agents.zone_check import zone_probability
from jaywalk.core.errors import UsageError
from jaywalk.geometry.comfort_zone import COMFORT_GAP_S
from jaywalk.geometry.path import Path, make_path
from jaywalk.metrics.prediction.forecast import Mixture
from jaywalk.predict.constant_velocity import ConstantVelocity
from jaywalk.predict.kalman import Kalman
from jaywalk.predict.registry import Predictor, ready_predictor
from jaywalk.predict.spread import PointPredictor
from jaywalk.predict.windows import HORIZONS_S

FloatArray = NDArray[np.float64]

# Fitted to DUT and CITR together (4-fold reference of the prediction room, 6,700 meetings).
_SPREAD_M: Final = (0.167, 0.409, 0.690, 0.985)
_KALMAN: Final = (0.2, 0.02)
# Scores at the false-positive rates 0.025, 0.05 and 0.10 on the same data.
_THRESHOLDS: Final = {ConstantVelocity: (0.168, 0.290, 0.077), Kalman: (0.113, 0.210, 0.060)}
_HORIZONS: Final = 3  # of the predictor's four; beyond, the working point is a guess
_SPEED_SHARES: Final = np.array([1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0])
_DELAY_S: Final = 0.5  # until brakes bite; what is foreseen must be averted before it is due
_RELEVANT_S: Final = 5.0
_RELEVANT_M: Final = 15.0
_LEAST_REACH_M: Final = 20.0
_SAY_S: Final = 0.5  # forecasts are written this often


class ComfortZoneDriver(Expert):
    """Keeps people out of its comfort zone.

    Arguments: ``predictor`` (a name of the predict room, with or without version),
    ``thresholds`` (probabilities at 1, 2 and 3 s).
    """

    name: ClassVar[str] = "comfort-zone"
    version: ClassVar[str] = "2"
    takes: ClassVar[tuple[str, ...]] = ("perception", "predictor", "thresholds")

    def setup(self, briefing: Briefing) -> None:
        """Also make the predictor."""
        super().setup(briefing)
        wanted = str(briefing.arguments.get("predictor", "constant-velocity"))
        full_name, made = ready_predictor(wanted)
        self.predictor = _ready(made)
        self.source = _source(full_name)
        self.thresholds = _thresholds(self.predictor, briefing.arguments.get("thresholds"))
        self._history = PeopleHistory()
        self._forecasts: tuple[Forecast, ...] = ()
        self._say_at_s = 0.0

    def decide(self, moment: Moment) -> Decision:
        """Drive, and tell what was foreseen."""
        self._moment = moment
        self._forecasts = ()
        return replace(super().decide(moment), forecasts=self._forecasts)

    def for_people(self, own: Own, seen: Seen) -> tuple[float, str]:
        """Braking until no violation is foreseen."""
        self._history.note(self._moment.elapsed_s, own, seen)
        speed = max(own.speed_mps, 0.0)
        people = self._relevant(own, seen)
        if not len(people):
            return math.inf, "nothing"
        forecast = to_carla(self.predictor.predict(self._history.windows(people)))
        if self._moment.elapsed_s >= self._say_at_s - 1e-9:
            self._say_at_s = self._moment.elapsed_s + _SAY_S
            self._forecasts = _spoken(people, forecast, self.source)
        wanted = self._comfortable_mps(own, speed, people, forecast)
        change = (wanted - speed) / (np.array(HORIZONS_S[:_HORIZONS]) - _DELAY_S)
        if change.min() >= 0.0:
            return math.inf, "nothing"
        return max(float(change.min()), -7.0), "comfort zone"

    def _matters(self, own: Own, seen: Seen) -> Seen:
        """The expert's forecasts are for vehicles alone: people are the predictor's."""
        return super()._matters(own, seen.where(seen.kind != PERSON))

    def _free(self, own: Own, seen: Seen) -> float:
        return super()._free(own, seen.where(seen.kind != PERSON))

    def _relevant(self, own: Own, seen: Seen) -> Seen:
        """People ahead whom the vehicle reaches within five seconds, not far aside."""
        people = seen.where(seen.kind == PERSON)
        speed = max(own.speed_mps, 0.0)
        reach = max(_RELEVANT_S * speed, _LEAST_REACH_M)
        first = int((self.along_m + own.front_m) / STEP_M)
        points = self.line.xy_m[first : first + int(reach / STEP_M) : 4]
        if not len(people) or not len(points):
            return people.where(np.zeros(len(people), np.bool_))
        away = np.hypot(
            people.xy_m[:, None, 0] - points[None, :, 0],
            people.xy_m[:, None, 1] - points[None, :, 1],
        )
        level = np.abs(people.z_m - own.z_m) < 4.0
        return people.where((away.min(axis=1) < _RELEVANT_M) & level)

    def _comfortable_mps(
        self, own: Own, speed_mps: float, people: Seen, forecast: Mixture
    ) -> FloatArray:
        """By horizon the highest speed, up to the present one, without predicted violation."""
        speeds = speed_mps * _SPEED_SHARES
        some = Mixture(
            weights=forecast.weights,
            means_m=forecast.means_m[:, :, :_HORIZONS],
            covariances_m2=forecast.covariances_m2[:, :, :_HORIZONS],
        )
        path, front = self._path(own, speed_mps)
        chance = zone_probability(path, front, speeds, some, HORIZONS_S[:_HORIZONS])
        violated = np.any(chance >= np.asarray(self.thresholds), axis=1)
        # The last speed is 0, whose zones are empty: some speed is always fine.
        return np.asarray(speeds[np.argmin(violated, axis=0)])

    def _path(self, own: Own, speed_mps: float) -> tuple[Path, float]:
        """The line from the vehicle's middle on, as far as any zone reaches.

        Lateral offsets change their sign with the hand of the frame; the zone is symmetric.
        """
        first = int(self.along_m / STEP_M)
        reach = (HORIZONS_S[_HORIZONS - 1] + COMFORT_GAP_S) * speed_mps + _LEAST_REACH_M
        points = self.line.xy_m[first : first + int(reach / STEP_M) : 4]
        if len(points) < 2:
            points = self.line.xy_m[-2:]
        return make_path(points), self.along_m - first * STEP_M + own.front_m


def _source(full_name: str) -> str:
    """How forecasts name their predictor: a trained one by the digest of its file."""
    name, _, file = full_name.partition("=")
    if not file:
        return name
    return f"{name}@{hashlib.sha256(FilePath(file).read_bytes()).hexdigest()[:8]}"


def _ready(predictor: Predictor) -> Predictor:
    """The predictor with a spread, so that it can speak."""
    made: Any = predictor
    if isinstance(made, PointPredictor) and made.sigma_m is None:
        return replace(made, sigma_m=_SPREAD_M)
    if isinstance(made, Kalman):
        return replace(made, acceleration=_KALMAN[0], measurement_m=_KALMAN[1])
    return predictor


def _thresholds(predictor: Predictor, given: Any) -> tuple[float, ...]:
    if given is None:
        return _THRESHOLDS.get(type(predictor), _THRESHOLDS[ConstantVelocity])
    values = tuple(float(value) for value in given)
    if len(values) != _HORIZONS or not all(0.0 < value <= 1.0 for value in values):
        raise UsageError(
            f"thresholds {given!r}: expected {_HORIZONS} probabilities (at 1, 2 and 3 s)"
        )
    return values


def _spoken(people: Seen, forecast: Mixture, source: str) -> tuple[Forecast, ...]:
    times = np.array(HORIZONS_S)
    return tuple(
        Forecast(
            actor_id=int(actor),
            source=source,
            time_s=times,
            weight=forecast.weights[k],
            mean_m=forecast.means_m[k],
            covariance_m2=forecast.covariances_m2[k],
        )
        for k, actor in enumerate(people.actor_id)
    )
