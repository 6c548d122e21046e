"""Reacting people: one model for posed people and for the ambient crowd.

The model runs on arrays with one row per person. On every tick it moves gazes, remembers the
vehicles that people see, decides, and chooses a wanted velocity; the caller moves the people.

    see -> decide -> choose a velocity -> last resort

Nothing here draws from a shared generator: random numbers are hashes of seed, person and tick.
"""

from __future__ import annotations

import copy
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from jaywalk.actors.reactive._reacting import advance
from jaywalk.actors.reactive.traits import (
    LOOKS,
    NOTICED,
    ON_PHONE,
    ON_ROAD,
    PHONE,
    UNAWARE,
    Reactions,
    ReactionSettings,
    Traits,
    make_reactions,
)
from jaywalk.core.arrays import BoolArray, FloatArray, IntArray
from jaywalk.town.walkways import WalkGrid

_DELAY_S: Final = 0.2  # reaction time: people act on what they saw this long ago
_BRAKES_OVER_S: Final = 0.4  # accelerations of vehicles are measured over this time
_RAIN: Final = 20.0  # per cent
_FOLLOW_M: Final = 3.0
_FOLLOW_FOR_S: Final = 1.5
_DEFAULT: Final = ReactionSettings()


@dataclass(slots=True)
class VehicleMemory:
    """Vehicles over the last moments: yields them as people perceive them, a reaction time ago."""

    delta_s: float
    _history: deque[tuple[IntArray, FloatArray]] = field(init=False)

    def __post_init__(self) -> None:
        self._history = deque(maxlen=round(_BRAKES_OVER_S / self.delta_s) + 1)

    def update(self, ids: IntArray, vehicle: FloatArray) -> FloatArray:
        """Return rows (k, 10) of ``vehicle`` (k, 8), with yaw rate and acceleration, delayed.

        Args:
            ids: Ids in rising order.
            vehicle: x, y, cos, sin, half length, half width, vx, vy.
        """
        self._history.append((ids.copy(), vehicle.copy()))
        rows = np.zeros((len(ids), 10))
        rows[:, :8] = vehicle
        late = self._matching(min(round(_DELAY_S / self.delta_s), len(self._history) - 1), ids)
        early = self._matching(len(self._history) - 1, ids)
        span_s = (len(self._history) - 1) * self.delta_s
        if span_s > 0.0:
            known = ~np.isnan(early[:, 0])
            now_mps = vehicle[:, 6] * vehicle[:, 2] + vehicle[:, 7] * vehicle[:, 3]
            was_mps = early[:, 6] * early[:, 2] + early[:, 7] * early[:, 3]
            rows[known, 9] = (now_mps - was_mps)[known] / span_s
            cross = early[:, 2] * vehicle[:, 3] - early[:, 3] * vehicle[:, 2]
            rows[known, 8] = np.arcsin(np.clip(cross[known], -1.0, 1.0)) / span_s
        seen = ~np.isnan(late[:, 0])
        # The delayed state, moved on at constant velocity to the present.
        rows[seen, :8] = late[seen]
        rows[seen, 0] += _DELAY_S * late[seen, 6]
        rows[seen, 1] += _DELAY_S * late[seen, 7]
        return rows

    def _matching(self, ago: int, ids: IntArray) -> FloatArray:
        """Rows of an earlier moment for these ids; NaN where a vehicle was not there."""
        then_ids, then = self._history[len(self._history) - 1 - ago]
        if len(then_ids) == len(ids) and (then_ids == ids).all():
            return then
        rows = np.full((len(ids), 8), np.nan)
        if len(then_ids):
            at = np.clip(np.searchsorted(then_ids, ids), 0, len(then_ids) - 1)
            same = then_ids[at] == ids
            rows[same] = then[at[same]]
        return rows


def weather_shift_s(weather: Any, settings: ReactionSettings) -> float:
    """Shift of all critical gaps by night and rain, of CARLA's ``WeatherParameters``."""
    night = settings.night_s if weather.sun_altitude_angle < 0.0 else 0.0
    return night + (settings.rain_s if weather.precipitation > _RAIN else 0.0)


@dataclass(slots=True)
class ReactionModel:
    """Reactions of a number of people.

    Attributes:
        key: Key of the noise, from :func:`~jaywalk.actors.reactive.traits.noise_key`.
        traits: Traits of the people.
        grid: Surfaces and solid objects of the town.
        rows: State; the caller sets position, velocity and path before each step and reads
            ``speed``, ``course``, ``decision`` and ``gaze_rad`` after it.
        shift_s: Shift of all critical gaps for night and rain.
    """

    key: int
    traits: Traits
    grid: WalkGrid
    delta_s: float = 0.05
    settings: ReactionSettings = _DEFAULT
    shift_s: float = 0.0
    rows: Reactions = field(init=False)
    _cars: VehicleMemory = field(init=False)
    _tick: int = field(default=0, init=False)
    _since_step_s: FloatArray = field(init=False)
    _was_on_road: BoolArray = field(init=False)

    def __post_init__(self) -> None:
        count = len(self.traits.age)
        self.rows = make_reactions(count)
        self.rows.leader[:] = self.traits.group
        self._cars = VehicleMemory(self.delta_s)
        self._since_step_s = np.full(count, np.inf)
        self._was_on_road = np.zeros(count, np.bool_)

    def step(
        self,
        ids: IntArray,
        vehicle: FloatArray,
        blocker: FloatArray,
        other: FloatArray,
        thing: FloatArray | None = None,
    ) -> None:
        """Advance all active people by one tick.

        Args:
            ids: Ids of the vehicles in rising order, positive.
            vehicle: (k, 8) x, y, cos, sin, half length, half width, vx, vy.
            blocker: (b, 6) standing vehicles and tall props that hide what is behind them.
            other: (p, 4) people who are not controlled here: x, y, vx, vy.
            thing: (b, 6) what people walk around if their path does not; None: ``blocker``.
        """
        self.react(ids, self._cars.update(ids, vehicle), blocker, other, thing)

    def react(
        self,
        ids: IntArray,
        car: FloatArray,
        blocker: FloatArray,
        other: FloatArray,
        thing: FloatArray | None = None,
    ) -> None:
        """Advance all active people by one tick, among vehicles (k, 10) as they perceive them."""
        advance(
            self.key,
            self._tick,
            self.delta_s,
            self.rows,
            self.traits,
            self.settings,
            car,
            ids,
            blocker,
            other,
            blocker if thing is None else thing,
            self.grid,
            self._shifts_s(),
        )
        self._tick += 1

    def fork(self, keys: IntArray) -> tuple[list[ReactionModel], Reactions, VehicleMemory]:
        """Return copies that go on from here with other noise.

        Returns:
            One model for each key, the rows of all of them with one more dimension in front (the
            rows of each model are views of these), and a copy of what is known of the vehicles,
            which the copies share: pass its rows to :meth:`react`.
        """
        kept: dict[int, Any] = {id(part): part for part in (self.grid, self.traits, self.rows)}
        columns: list[Any] = [np.stack([column] * len(keys)) for column in self.rows]
        stack, models = Reactions(*columns), []
        for number, key in enumerate(keys.tolist()):
            model = copy.deepcopy(self, dict(kept))
            model.key = key
            model.rows = Reactions(*[column[number] for column in columns])
            models.append(model)
        return models, stack, copy.deepcopy(self._cars)

    def recorded(self, ids: IntArray, gaze_rad: FloatArray | None = None) -> dict[str, Any]:
        """Perception and decisions of the active people, by the names of ``record``'s ``Reacting``.

        Args:
            ids: (n,) actor ids of the people.
            gaze_rad: (n, 2) yaw and pitch of the heads as shown; None: as the model points them.
        """
        rows = self.rows
        on = rows.active
        if gaze_rad is None:
            gaze_rad = np.column_stack([rows.gaze_rad, np.zeros(len(rows.x))])
        attention = np.where((rows.memory_id != 0).any(axis=1), NOTICED, UNAWARE)
        attention[(self.traits.attention == PHONE) & ~rows.looking] = ON_PHONE
        attention[rows.looking] = LOOKS
        return {
            "ids": ids[on],
            "gaze_deg": np.rad2deg(gaze_rad[on]),
            "gaze_id": rows.gaze_id[on],
            "attention": attention[on],
            "decision": rows.decision[on],
            "evidence": rows.evidence[on],
            "perceived_gap_s": rows.gap_s[on],
            "perceived_id": rows.gap_id[on],
            "group": self.traits.group[on],
        }

    def _shifts_s(self) -> FloatArray:
        """Shift of each critical gap by others who have just stepped onto the road."""
        rows, settings = self.rows, self.settings
        steps = (rows.where == ON_ROAD) & ~self._was_on_road
        self._since_step_s[steps] = 0.0
        self._since_step_s[~steps] += self.delta_s
        self._was_on_road = rows.where == ON_ROAD
        shift = np.full(len(rows.x), self.shift_s)
        for k in np.flatnonzero(self._since_step_s < _FOLLOW_FOR_S).tolist():
            near = np.hypot(rows.x - rows.x[k], rows.y - rows.y[k]) < _FOLLOW_M
            near[k] = False
            group = (self.traits.group == self.traits.group[k]) & (self.traits.group >= 0)
            shift[near & ~group] += settings.follows_s
            shift[group] += settings.follows_group_s
        return shift
