"""The world of a recorded episode, put together again at any of its ticks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.carla_enums import LightState
from jaywalk.core.errors import DataError, UsageError
from jaywalk.metrics.safety.posed import PosedPerson, bank_for, posed_people
from jaywalk.record import Record
from jaywalk.record import columns as c
from jaywalk.record.queries import actor_rows, state_rows, weather_rows
from jaywalk.record.tracks import light_changes
from jaywalk.rendering._lives import ActorLife, read_lives
from jaywalk.report.ground_plan import town_of
from jaywalk.server.sensors._readings import Reading
from jaywalk.server.sensors._scene import SensorScene
from jaywalk.server.session.still_world import StillWorld
from jaywalk.server.world._world import Transform

_CLEAR_NOON: Final = (5.0, 0.0, 0.0, 10.0, 0.0, 45.0, 2.0, 0.75, 0.1, 0.0, 1.0, 0.03, 0.0331, 0.0)
_TABLE_COLUMNS: Final = ("vx", "vy", "vz")


class RecordedWorld:
    """Everything that a record says about its world, at one tick at a time.

    Positions are those of the record, which keeps them as 32-bit numbers. Doors, switched-off
    scenery and wheels turned for show are not recorded.

    Attributes:
        time_s: Game time of every recorded tick.
        unknown_types: Blueprints of the record that this server does not know; they are left out.
    """

    def __init__(self, record: Record, motions: Path | None = None) -> None:
        """Read a record.

        Args:
            record: The episode; it must have its map.
            motions: Motion library that posed its people; None: ours.
        """
        town = town_of(record)
        if town is None:
            raise DataError(
                f"{record.folder} has no map, so that its world cannot be rendered. Records of "
                "'jaywalk run' and 'jaywalk record' have one."
            )
        ticks = record.ticks.sort(c.TICK).collect()
        if not ticks.height:
            raise DataError(f"{record.folder} has no ticks: there is nothing to render.")
        self.record = record
        self.ticks: IntArray = ticks[c.TICK].to_numpy().astype(np.int64)
        self.time_s: FloatArray = ticks[c.TIME_S].to_numpy().astype(np.float64)
        self.step_s = record.episode.step_s or 0.05
        self.lives = {life.number: life for life in read_lives(record, town.ground, self.step_s)}
        self.unknown_types: set[str] = set()
        self._world = StillWorld(town, _first_id(record))
        self._shown: set[int] = set()
        self._posed = self._read_poses(motions)
        self._lights = _light_changes(record)
        self._weather = weather_rows(record)
        self._tick = -1

    def _read_poses(self, motions: Path | None) -> Mapping[int, PosedPerson]:
        if not any(life.kind == "walker" for life in self.lives.values()):
            return {}
        if not state_rows(self.record, (c.CLIP,), posed=True).height:
            return {}
        people = posed_people(self.record, bank_for(self.record, motions))
        return {person.actor: person for person in people}

    @property
    def ego(self) -> ActorLife | None:
        """The ego; None if the record has none."""
        number = self.record.episode.ego_actor
        return None if number is None else self.lives.get(number)

    @property
    def frame(self) -> int:
        """The server's number of the frame that is shown, as far as the record knows it."""
        return (self.record.episode.wall.first_frame or 0) + self._tick

    def index_at(self, time_s: float) -> int:
        """Return the index of the tick nearest to a game time.

        Raises:
            UsageError: The time is outside of the episode.
        """
        first, last = float(self.time_s[0]), float(self.time_s[-1])
        if not first <= time_s <= last:
            raise UsageError(
                f"--at {time_s:g} is outside of the episode, which lasts from {first:g} to "
                f"{last:g} s."
            )
        return int(np.argmin(np.abs(self.time_s - time_s)))

    def person(self, number: int) -> ActorLife:
        """Return a walker by its number in the record.

        Raises:
            UsageError: There is no such person; the message names the others.
        """
        life = self.lives.get(number)
        if life is None or life.kind != "walker":
            known = [str(n) for n, one in self.lives.items() if one.kind == "walker"]
            listed = ", ".join(known[:12]) + (" ..." if len(known) > 12 else "")
            raise UsageError(
                f"The episode has no person {number}. It has: {listed or 'no people'}. Numbers "
                "are those of the record's table 'actors'."
            )
        return life

    def add_sensor(
        self, type_id: str, attributes: Mapping[str, str], rank: int = 0, seed: int = 0
    ) -> int:
        """Create a sensor and return its number for :meth:`measure`."""
        return self._world.add_sensor(type_id, attributes, rank, seed)

    def show(self, index: int) -> SensorScene:
        """Put all actors where they were at a tick and return the scene."""
        self._tick = tick = int(self.ticks[index])
        start_s = self.record.episode.wall.first_elapsed_s or 0.0
        self._world.time_s = start_s + float(self.time_s[index])
        for life in self.lives.values():
            self._show(life, tick)
        states = [int(states[_last(ticks, tick)]) for ticks, states in self._lights]
        self._world.set_lights(states)
        return self._world.scene(self._weather_at(tick))

    def measure(
        self, sensor: int, pose: Transform, scene: SensorScene, hidden: Collection[int] = ()
    ) -> Sequence[Reading]:
        """Return the readings of a sensor at a pose (metres, degrees).

        Args:
            sensor: From :meth:`add_sensor`.
            pose: Place and rotation.
            scene: From the last :meth:`show`.
            hidden: Numbers of actors that the sensor does not see.
        """
        ids = [self.lives[n].server_id for n in hidden if n in self._shown]
        return self._world.measure(sensor, pose, scene, self.frame, ids)

    def head_m(self, life: ActorLife) -> tuple[float, float, float]:
        """Return the place of the head of a person who is shown."""
        return self._world.head_m(life.server_id)

    def is_shown(self, life: ActorLife) -> bool:
        """Return whether an actor exists at the tick that is shown."""
        return life.number in self._shown

    def _show(self, life: ActorLife, tick: int) -> None:
        row, number, actor_id = life.row_at(tick), life.number, life.server_id
        if row < 0:
            if number in self._shown:
                self._world.remove(actor_id)
                self._shown.discard(number)
            return
        if life.type_id in self.unknown_types:
            return
        if number not in self._shown:
            if not self._world.add(actor_id, life.type_id, life.attributes):
                self.unknown_types.add(life.type_id)
                return
            self._shown.add(number)
        x, y, z, pitch, yaw, roll = life.pose[row].tolist()
        values = dict(zip(_TABLE_COLUMNS, life.velocity_mps[row].tolist(), strict=True))
        if life.kind == "vehicle":
            values["light_flags"] = int(life.lamps[row])
            self._world.steer(actor_id, float(life.steer[row]))
        elif life.kind == "walker":
            values["gait_phase"] = float(life.gait_phase[row])
            values["down_s"] = np.inf if life.is_down[row] else 0.0
            self._world.show_pose(actor_id, self._pose(number, tick))
        self._world.roll(actor_id, float(life.rolled_m[row]))
        self._world.put(actor_id, ((x, y, z), (pitch, yaw, roll)), **values)

    def _pose(self, number: int, tick: int) -> FloatArray | None:
        person = self._posed.get(number)
        if person is None:
            return None
        row = int(np.searchsorted(person.tick, tick))
        if row == len(person.tick) or person.tick[row] != tick:
            return None
        one, motion = slice(row, row + 1), person.motion
        frame = replace(
            motion, actor=motion.actor[one], hips_m=motion.hips_m[one], turns=motion.turns[one]
        )
        pose: FloatArray = frame.poses()[0]
        return pose

    def _weather_at(self, tick: int) -> list[float]:
        if not self._weather.height:
            return list(_CLEAR_NOON)
        row: dict[str, Any] = self._weather.row(
            max(_last(self._weather[c.TICK].to_numpy(), tick), 0), named=True
        )
        pairs = zip(c.WEATHER_FIELDS, _CLEAR_NOON, strict=True)
        return [clear if row[name] is None else float(row[name]) for name, clear in pairs]


def _last(ticks: Any, tick: int) -> int:
    """Index of the last entry at or before a tick; 0 before the first."""
    return max(int(np.searchsorted(ticks, tick, side="right")) - 1, 0)


def _first_id(record: Record) -> int:
    """Return the id of the spectator, which comes before those of the town's lights and signs."""
    rows = actor_rows(record)
    spectator = rows.filter(pl.col(c.TYPE_ID) == "spectator")
    if spectator.height:
        return int(spectator[c.SERVER_ID].min())  # type: ignore[arg-type]
    fixed = rows.filter(pl.col(c.KIND).is_in(["light", "sign"]))
    return int(fixed[c.SERVER_ID].min()) - 1 if fixed.height else 1  # type: ignore[arg-type]


def _light_changes(record: Record) -> list[tuple[IntArray, IntArray]]:
    """Ticks and states of every light, in the order of the server's ids."""
    lights = actor_rows(record, "light").sort(c.SERVER_ID)[c.ACTOR].to_list()
    changes = light_changes(record)
    unknown = np.zeros(1, np.int64), np.full(1, int(LightState.UNKNOWN), np.int64)
    return [changes.get(int(number), unknown) for number in lights]
