"""How much CPU time reacting people need: the model alone, for each person and tick."""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from jaywalk.actors.reactive.model import ReactionModel
from jaywalk.actors.reactive.traits import (
    AT_KERB,
    OFF_ROAD,
    ON_ROAD,
    PRESETS,
    AttentionShares,
    draw_traits,
    noise_key,
)
from jaywalk.core.arrays import FloatArray
from jaywalk.core.seeds import stream
from jaywalk.rollouts.people.replay import body_change_mps, open_ground
from jaywalk_bench.calibration import calibration_ms

AIM_US: Final = 12.0
_DELTA_S: Final = 0.05
_STREET_M: Final = 200.0
_LANE_M: Final = 1.75  # from the middle of the street
_KERB_M: Final = 3.5
_FAR_M: Final = 7.0  # people turn round at this distance from the middle
_WARM_UP: Final = 40  # ticks
_NO_BOXES: Final = np.zeros((0, 6))
_NO_PEOPLE: Final = np.zeros((0, 4))


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleBenchmark:
    """CPU time of the model of reacting people, with the size of the task."""

    us_per_person_and_tick: float
    ms_per_tick: float
    people: int
    vehicles: int
    ticks: int
    repeats: int
    share_on_road: float
    share_near_vehicle: float
    calibration_ms: float

    def as_dict(self) -> dict[str, Any]:
        """For JSON, with the aim beside the number."""
        took = self.us_per_person_and_tick
        aim = {"at_most": AIM_US, "measured": took, "met": took <= AIM_US}
        return {**asdict(self), "aims": {"us_per_person_and_tick": aim}}


def bench_people(
    *, people: int = 30, vehicles: int = 31, ticks: int = 1200, repeats: int = 3
) -> PeopleBenchmark:
    """Time people who cross a street of 200 m all the time, with vehicles in both directions.

    The vehicles do not give way. The fastest of the repeats counts.
    """
    runs = [_Street(people, vehicles).run(ticks) for _ in range(repeats)]
    best = min(run[0] for run in runs)
    return PeopleBenchmark(
        us_per_person_and_tick=1e6 * best / (ticks * people),
        ms_per_tick=1e3 * best / ticks,
        people=people,
        vehicles=vehicles,
        ticks=ticks,
        repeats=repeats,
        share_on_road=runs[0][1],
        share_near_vehicle=runs[0][2],
        calibration_ms=calibration_ms(),
    )


class _Street:
    """People and vehicles of the benchmark."""

    def __init__(self, people: int, vehicles: int) -> None:
        random = stream(0, "bench", "people")
        traits = draw_traits(0, np.zeros(people, np.bool_), AttentionShares(), "bench")
        self.model = ReactionModel(
            key=noise_key(0, "bench"),
            traits=traits,
            grid=open_ground(),
            settings=PRESETS["reactive"],
        )
        self.model.rows.active[:] = True
        side = np.where(np.arange(people) % 2 == 0, 1.0, -1.0)
        x = random.uniform(0.0, _STREET_M, people)
        self.place = np.column_stack([x, side * random.uniform(_KERB_M, _FAR_M, people)])
        self.velocity = np.column_stack([np.zeros(people), -side * traits.free_mps])
        self.goal = -side * _FAR_M
        self.ids = np.arange(1, vehicles + 1)
        self.lane = np.where(np.arange(vehicles) % 2 == 0, 1.0, -1.0)
        self.along = random.uniform(0.0, _STREET_M, vehicles)
        self.speed = random.uniform(4.0, 10.0, vehicles)

    def run(self, ticks: int) -> tuple[float, float, float]:
        """CPU seconds, share of time on the road, and share with a vehicle within 30 m."""
        used, on_road, near = 0.0, 0.0, 0.0
        for tick in range(-_WARM_UP, ticks):
            cars = self._cars()
            self._tell()
            started = time.process_time()
            self.model.step(self.ids, cars, _NO_BOXES, _NO_PEOPLE)
            used += time.process_time() - started if tick >= 0 else 0.0
            rows = self.model.rows
            away = np.hypot(rows.x[:, None] - cars[:, 0], rows.y[:, None] - cars[:, 1])
            on_road += float((rows.where == ON_ROAD).mean()) / ticks if tick >= 0 else 0.0
            near += float((away.min(axis=1) < 30.0).mean()) / ticks if tick >= 0 else 0.0
            self.velocity += body_change_mps(self.model, self.velocity)
            self.place += self.velocity * _DELTA_S
        return used, on_road, near

    def _cars(self) -> FloatArray:
        self.along = (self.along + self.speed * _DELTA_S) % _STREET_M
        rows = np.zeros((len(self.ids), 8))
        rows[:, 0] = np.where(self.lane > 0.0, self.along, _STREET_M - self.along)
        rows[:, 1], rows[:, 2] = _LANE_M * self.lane, self.lane
        rows[:, 4], rows[:, 5], rows[:, 6] = 2.3, 0.95, self.speed * self.lane
        return rows

    def _tell(self) -> None:
        """Set the inputs of the model; whoever has arrived turns round and crosses again."""
        rows = self.model.rows
        arrived = (self.goal - self.place[:, 1]) * np.sign(self.goal) < 0.3
        self.goal[arrived] *= -1.0
        rows.evidence[arrived], rows.waited_s[arrived], rows.looked[arrived] = 0.0, 0.0, False
        x, y = self.place.T
        way = np.sign(self.goal)
        kerb = -_KERB_M - y * way  # to the near kerb; negative: behind
        rows.x[:], rows.y[:] = x, y
        rows.vx[:], rows.vy[:] = self.velocity.T
        moves = np.hypot(*self.velocity.T) > 0.2
        course = np.arctan2(self.velocity[:, 1], self.velocity[:, 0])
        rows.yaw[:] = np.where(moves, course, 0.5 * math.pi * way)
        rows.aim_x[:], rows.aim_y[:] = x, self.goal
        rows.left_m[:] = np.clip(_KERB_M - y * way, 0.0, 2.0 * _KERB_M)
        rows.kerb_m[:] = np.where(kerb >= 0.0, kerb, 0.0)
        rows.where[:] = np.where(kerb >= 0.0, AT_KERB, ON_ROAD)
        rows.where[y * way >= _KERB_M] = OFF_ROAD
        rows.onto_m[:] = np.where(rows.where == ON_ROAD, -kerb, np.inf)
