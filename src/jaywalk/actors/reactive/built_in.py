"""Our own model of reacting people behind the contract of policies."""

from __future__ import annotations

import numpy as np

from jaywalk.actors.reactive._reacting import respond
from jaywalk.actors.reactive._seeing import look_about
from jaywalk.actors.reactive.model import ReactionModel
from jaywalk.actors.reactive.traits import (
    PHONE,
    AttentionShares,
    ReactionSettings,
    Traits,
    draw_traits,
)
from jaywalk.core.arrays import BoolArray, FloatArray, IntArray
from jaywalk.town.walkways import WalkGrid
from jaywalk_agent import PersonAct, PersonTraits, PersonView
from jaywalk_agent.people import ACT_S, LOOKS_AT_PHONE, NO_GESTURE


class BuiltInPeople(ReactionModel):
    """Our own model as a policy: perception comes from the view, all decisions are its own."""

    def __init__(
        self,
        key: int,
        grid: WalkGrid,
        settings: ReactionSettings | None = None,
        shift_s: float = 0.0,
        delta_s: float = ACT_S,
    ) -> None:
        """Take what a model takes.

        Args:
            key: Key of the noise.
            grid: Surfaces and solid objects of the town.
            settings: Parameters of the model.
            shift_s: Shift of all critical gaps.
            delta_s: Time between two calls of ``act``.
        """
        nobody = draw_traits(0, np.zeros(0, np.bool_), AttentionShares())
        super().__init__(key, nobody, grid, delta_s, settings or ReactionSettings(), shift_s)

    def reset(self, who: PersonTraits, goal_m: FloatArray, rng: np.random.Generator) -> None:
        """Begin an episode with other people; the noise comes from the key."""
        self.traits = Traits(**{name: getattr(who, name) for name in Traits._fields})
        self.__post_init__()
        self._tick = 0

    def act(self, seen: PersonView) -> PersonAct:
        """Decide and choose a velocity for everybody."""
        rows, time_s = self.rows, self._tick * self.delta_s
        self._take(seen)
        look_about(self.key, time_s, rows, self.traits, self.settings, seen.startled)
        respond(
            self.key,
            self._tick,
            self.delta_s,
            rows,
            self.traits,
            self.settings,
            _distinct(
                np.concatenate([seen.person_m, seen.person_mps], axis=2),
                seen.person_row == -1,
                seen.person_count,
            ),
            _distinct(
                seen.obstacle, np.ones(seen.obstacle.shape[:2], np.bool_), seen.obstacle_count
            ),
            self.grid,
            self._shifts_s(),
        )
        self._tick += 1
        unit = np.column_stack([np.cos(rows.course), np.sin(rows.course)])
        bearing = rows.yaw + rows.gaze_rad
        target = seen.position_m + 10.0 * np.column_stack([np.cos(bearing), np.sin(bearing)])
        on_phone = (self.traits.attention == PHONE) & ~rows.looking
        return PersonAct(
            velocity_mps=rows.speed[:, None] * unit,
            gaze_m=np.where(rows.looking[:, None], target, np.nan),
            gesture=np.where(on_phone, LOOKS_AT_PHONE, NO_GESTURE),
            run=rows.speed > self.settings.fastest * self.traits.free_mps,
        )

    def _take(self, seen: PersonView) -> None:
        """Write a view to the rows of the model."""
        rows = self.rows
        other = (rows.memory_id != seen.vehicle_id) | (
            seen.vehicle_seen_s - rows.memory_s > self.settings.forget_s
        )
        rows.order[other] = 0
        rows.x[:], rows.y[:] = seen.position_m.T
        rows.vx[:], rows.vy[:] = seen.velocity_mps.T
        rows.aim_x[:], rows.aim_y[:] = seen.aim_m.T
        rows.where[:] = seen.place
        names = ("left_m", "kerb_m", "onto_m", "painted", "may_go", "active", "haste")
        for name in names:
            getattr(rows, name)[:] = getattr(seen, name)
        rows.yaw[:] = seen.yaw_rad
        rows.memory_id[:], rows.memory_s[:] = seen.vehicle_id, seen.vehicle_seen_s
        rows.memory[:, :, 0:2], rows.memory[:, :, 6:8] = seen.vehicle_m, seen.vehicle_mps
        rows.memory[:, :, 2:4] = seen.vehicle_heading
        rows.memory[:, :, 4:6] = seen.vehicle_half_m
        rows.memory[:, :, 8], rows.memory[:, :, 9] = seen.vehicle_radps, seen.vehicle_mps2


def _distinct(values: FloatArray, wanted: BoolArray, count: IntArray) -> FloatArray:
    """Return the rows that several people notice, each once."""
    filled = np.arange(values.shape[1])[None] < count[:, None]
    rows = values[wanted & filled]
    if not len(rows):
        return np.zeros((0, values.shape[2]))
    _, first = np.unique(rows, axis=0, return_index=True)
    return np.ascontiguousarray(rows[np.sort(first)])
