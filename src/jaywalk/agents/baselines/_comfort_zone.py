"""Driver with the reaction pattern of Herman et al.: it avoids predicted comfort-zone violations.

The driver predicts every relevant person and compares the probability that the person is in the
vehicle's future comfort zone with the working point of each horizon. It takes the highest speed
whose zones no person is likely to enter. It treats vehicles, lights and obstacles as the expert
does. Its forecasts go into the record.

:class:`PeopleHistory` keeps the last second of every person and of the ego at the steps that
predictors expect. Predictors use the right-handed frame of the datasets, drivers use CARLA's; this
module converts both ways.

In-ROI probabilities are computed for the comfort zones of several speeds at once. Membership
depends on arc length and lateral offset from the path. The distribution is taken as Gaussian along
and across the path at the point nearest to its mean. This is exact where the path is straight and
the spread has no slant.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

import numpy as np
from scipy.special import ndtr

from jaywalk.agents.base import Briefing, Decision, Forecast, Moment
from jaywalk.agents.catalogue import FULL, LIMITED, driver
from jaywalk.agents.driving.perception import PERSON, EgoVehicle, Observation
from jaywalk.agents.driving.route_driver import WORLD
from jaywalk.agents.driving.route_line import STEP_M
from jaywalk.agents.expert._expert import Expert
from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.forecasting.context import Context
from jaywalk.forecasting.predictors.kalman import Kalman
from jaywalk.forecasting.predictors.kinematic import ConstantVelocity
from jaywalk.forecasting.predictors.plugged import (
    Plugged,
    predictor_digest,
    predictor_label,
    try_once,
)
from jaywalk.forecasting.predictors.registry import Predictor, ready_predictor
from jaywalk.forecasting.samples import PointPredictor
from jaywalk.forecasting.windows import FARTHEST_M, HORIZONS_S, MOST_NEIGHBOURS, Windows
from jaywalk.geometry.frames import carla_to_right_handed
from jaywalk.geometry.path import Path, make_path, project_each
from jaywalk.geometry.zones import COMFORT_GAP_S, comfort_zone
from jaywalk.metrics.prediction.forecast import Mixture

Track = deque[tuple[float, float, float]]

STEP_S: Final = 0.1
_PAST_S: Final = 1.0
_PAST: Final = 11  # positions, including the present one
_BACK_S: Final[FloatArray] = STEP_S * np.arange(-(_PAST - 1), 1, dtype=np.float64)


@dataclass(slots=True)
class PeopleHistory:
    """Tracks of people and of the ego; call :meth:`note` once per tick."""

    _tracks: dict[int, Track] = field(default_factory=dict, init=False)
    _own: Track = field(default_factory=deque, init=False)
    _people: FloatArray = field(default_factory=lambda: np.zeros((0, 4)), init=False)

    def note(self, now_s: float, own: EgoVehicle, seen: Observation) -> None:
        """Add the present positions to the tracks."""
        rows = np.flatnonzero(seen.kind == PERSON)
        ids = [int(actor) for actor in seen.actor_id[rows]]
        self._tracks = {
            actor: _longer(self._tracks.get(actor, deque()), now_s, x, y)
            for actor, (x, y) in zip(ids, seen.xy_m[rows].tolist(), strict=True)
        }
        self._own = _longer(self._own, now_s, own.x_m, own.y_m)
        self._people = np.hstack([seen.xy_m[rows], seen.velocity_mps[rows]])

    def windows(self, seen: Observation) -> Windows:
        """Return one window per person of ``seen``, which must hold only people with a track.

        A person seen for less than a second is assumed to have come at the present velocity.
        """
        count = len(seen)
        history = np.stack(
            [
                _past(self._tracks[actor], seen.velocity_mps[k])
                for k, actor in enumerate(seen.actor_id.tolist())
            ]
        )
        ego = np.broadcast_to(_past(self._own, np.zeros(2)), history.shape)
        unknown = np.full((count, _PAST), np.nan)
        context = Context(
            ego_m=carla_to_right_handed(ego),
            head_rad=unknown,
            body_rad=unknown,
            map_index=np.full(count, -1, dtype=np.int64),
            maps=(),
        )
        steps = round(HORIZONS_S[-1] / STEP_S)
        return Windows(
            history_m=carla_to_right_handed(history),
            future_m=np.full((count, steps, 2), np.nan),
            neighbours=self._neighbours(seen.xy_m),
            track=np.arange(count),
            scene=np.zeros(count, np.int64),
            k=np.zeros(count, np.int64),
            track_names=tuple(str(actor) for actor in seen.actor_id.tolist()),
            scene_names=("drive",),
            horizon_steps=tuple(round(horizon / STEP_S) - 1 for horizon in HORIZONS_S),
            step_s=STEP_S,
            excluded={},
            context=context,
        )

    def _neighbours(self, xy_m: FloatArray) -> FloatArray:
        """Return the other people near each place, nearest first, padded with NaN."""
        away = np.hypot(*np.moveaxis(xy_m[:, None] - self._people[None, :, :2], -1, 0))
        away = np.where(away < 1e-9, np.inf, away)  # oneself
        order = np.argsort(away, axis=1, kind="stable")[:, :MOST_NEIGHBOURS]
        neighbours = np.full((len(xy_m), MOST_NEIGHBOURS, 4), np.nan)
        near = np.take_along_axis(away, order, axis=1) < FARTHEST_M
        neighbours[:, : order.shape[1]] = np.where(near[..., None], self._people[order], np.nan)
        neighbours[:, :, 1::2] *= -1.0  # y and its velocity change with the frame
        return neighbours


def to_carla(forecast: Mixture) -> Mixture:
    """Convert a forecast from the right-handed frame to CARLA's frame."""
    covariances = forecast.covariances_m2.copy()
    covariances[..., 0, 1] *= -1.0
    covariances[..., 1, 0] *= -1.0
    return replace(
        forecast,
        means_m=carla_to_right_handed(forecast.means_m),
        covariances_m2=covariances,
    )


def _longer(track: Track, now_s: float, x_m: float, y_m: float) -> Track:
    track.append((now_s, x_m, y_m))
    while track[0][0] < now_s - _PAST_S - STEP_S:
        track.popleft()
    return track


def _past(track: Track, velocity_mps: FloatArray) -> FloatArray:
    """Return the positions of the last second, extrapolated at a velocity before the first."""
    known = np.array(track)
    times = known[-1, 0] + _BACK_S
    past = np.column_stack([np.interp(times, known[:, 0], known[:, axis]) for axis in (1, 2)])
    early = np.minimum(times - known[0, 0], 0.0)
    return np.asarray(past + early[:, None] * velocity_mps)


def zone_probability(
    path: Path,
    front_m: float,
    speeds_mps: FloatArray,
    forecast: Mixture,
    horizons_s: tuple[float, ...],
) -> FloatArray:
    """Return the probability of each person in each speed's zone at each horizon, ``(v, n, h)``.

    Args:
        path: The planned path; long enough for the relevant zones.
        front_m: Arc length of the front bumper.
        speeds_mps: Speeds to consider.
        forecast: Forecast of ``n`` people at ``h`` horizons.
        horizons_s: The horizons, in the forecast's order.
    """
    n, modes, h, _ = forecast.means_m.shape
    seen = project_each(path, forecast.means_m.reshape(-1, 2), front_m)
    along = seen.along_m.reshape(n, modes, h)
    aside = np.where(seen.beyond, np.inf, seen.lateral_m).reshape(n, modes, h)
    sd_along, sd_across = _spread(path, along, forecast.covariances_m2)
    result = np.zeros((len(speeds_mps), n, h))
    for v, speed in enumerate(speeds_mps):
        for k, horizon in enumerate(horizons_s):
            zone = comfort_zone(front_m, float(speed), horizon)
            if zone.is_empty:
                continue
            a, b, half = along[:, :, k], aside[:, :, k], zone.half_width_m
            sx, sy = sd_along[:, :, k], sd_across[:, :, k]
            mass = ndtr((zone.end_m - a) / sx) - ndtr((zone.start_m - a) / sx)
            mass *= ndtr((half - b) / sy) - ndtr((-half - b) / sy)
            result[v, :, k] = (forecast.weights * mass).sum(axis=1)
    return result


def _spread(
    path: Path, along_m: FloatArray, covariance_m2: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the deviations along and across the path at the point nearest to each mean."""
    k = np.clip(np.searchsorted(path.arc_m, along_m) - 1, 0, len(path.arc_m) - 2)
    step = path.points_m[k + 1] - path.points_m[k]
    unit = step / np.hypot(step[..., 0], step[..., 1])[..., None]
    across = np.stack([-unit[..., 1], unit[..., 0]], axis=-1)
    var_along = np.einsum("...i,...ij,...j->...", unit, covariance_m2, unit)
    var_across = np.einsum("...i,...ij,...j->...", across, covariance_m2, across)
    return np.sqrt(np.maximum(var_along, 1e-6)), np.sqrt(np.maximum(var_across, 1e-6))


# Fitted to DUT and CITR together (4-fold reference of the prediction room, 6,700 meetings).
_SPREAD_M: Final = (0.167, 0.409, 0.690, 0.985)
_KALMAN: Final = (0.2, 0.02)
# Scores at the false-positive rates 0.025, 0.05 and 0.10 on the same data.
_THRESHOLDS: Final = {ConstantVelocity: (0.168, 0.290, 0.077), Kalman: (0.113, 0.210, 0.060)}
_HORIZONS: Final = 3  # of the predictor's four; beyond, the working point is a guess
_SPEED_SHARES: Final = np.array([1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0])
_DELAY_S: Final = 0.5  # delay of the brakes; a predicted violation must be averted before it occurs
_RELEVANT_S: Final = 5.0
_RELEVANT_M: Final = 15.0
_LEAST_REACH_M: Final = 20.0
_SAY_S: Final = 0.5  # forecasts are written this often


@driver(
    "comfort-zone",
    version=2,
    summary="keeps predicted people out of its way",
    arguments=("predictor", "thresholds"),
    perception=(FULL, LIMITED),
    needs=WORLD,
)
class ComfortZoneDriver(Expert):
    """Driver that keeps people out of its comfort zone.

    Arguments: ``predictor`` (a registered name, with or without version, or a user's ``FILE.py``,
    ``module:function`` or ``FILE.onnx``), ``thresholds`` (probabilities at 1, 2 and 3 s).
    """

    def setup(self, briefing: Briefing) -> None:
        """Set up the expert and create the predictor."""
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
        """Drive, and add the forecasts to the decision."""
        self._moment = moment
        self._forecasts = ()
        return replace(super().decide(moment), forecasts=self._forecasts)

    def for_people(self, own: EgoVehicle, seen: Observation) -> tuple[float, str]:
        """Brake until no violation is predicted."""
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

    def _matters(self, own: EgoVehicle, seen: Observation) -> Observation:
        """Leave people to the predictor; the expert predicts vehicles only."""
        return super()._matters(own, seen.where(seen.kind != PERSON))

    def _free(self, own: EgoVehicle, seen: Observation) -> float:
        return super()._free(own, seen.where(seen.kind != PERSON))

    def _relevant(self, own: EgoVehicle, seen: Observation) -> Observation:
        """Return the people ahead, not far aside, whom the vehicle reaches within five seconds."""
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
        self, own: EgoVehicle, speed_mps: float, people: Observation, forecast: Mixture
    ) -> FloatArray:
        """Return by horizon the highest speed up to the present one without predicted violation."""
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

    def _path(self, own: EgoVehicle, speed_mps: float) -> tuple[Path, float]:
        """Return the line from the vehicle's middle to the end of the longest zone.

        Lateral offsets change their sign with the handedness of the frame; the zone is symmetric.
        """
        first = int(self.along_m / STEP_M)
        reach = (HORIZONS_S[_HORIZONS - 1] + COMFORT_GAP_S) * speed_mps + _LEAST_REACH_M
        points = self.line.xy_m[first : first + int(reach / STEP_M) : 4]
        if len(points) < 2:
            points = self.line.xy_m[-2:]
        return make_path(points), self.along_m - first * STEP_M + own.front_m


def _source(full_name: str) -> str:
    """Return the name of the predictor in forecasts: one from a file with the file's digest."""
    name = full_name.partition("=")[0] if "=" in full_name else predictor_label(full_name)
    digest = predictor_digest(full_name)
    return f"{name}@{digest[:8]}" if digest else name


def _ready(predictor: Predictor) -> Predictor:
    """Return the predictor with a spread, which ``predict`` needs."""
    made: Any = predictor
    if isinstance(made, PointPredictor | Plugged) and made.sigma_m is None:
        made = replace(made, sigma_m=_SPREAD_M)
        try_once(made, len(HORIZONS_S))
        return cast(Predictor, made)
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


def _spoken(people: Observation, forecast: Mixture, source: str) -> tuple[Forecast, ...]:
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
