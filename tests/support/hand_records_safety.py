"""Small episodes made by hand, for tests of the safety metrics.

Bodies are given as functions of time: ``t -> (x, y, yaw_deg)``; velocities follow from them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from record_scenes import add_actor

import jaywalk.record
from jaywalk.record import Episode, EpisodeWriter, Record
from jaywalk.record.rows import KIND_OTHER, KIND_VEHICLE, KIND_WALKER, STATE_DTYPE

STEP_S = 0.05
Motion = Callable[[float], tuple[float, float, float]]
FAMILY = {"vehicle": KIND_VEHICLE, "walker": KIND_WALKER, "prop": KIND_OTHER}


def straight(x: float, y: float, yaw_deg: float, speed: float, start_s: float = 0.0) -> Motion:
    """Stands until ``start_s``, then goes straight."""
    ux, uy = np.cos(np.radians(yaw_deg)), np.sin(np.radians(yaw_deg))

    def at(t: float) -> tuple[float, float, float]:
        way = speed * max(t - start_s, 0.0)
        return x + way * ux, y + way * uy, yaw_deg

    return at


def profile(x: float, y: float, yaw_deg: float, knots: Sequence[tuple[float, float]]) -> Motion:
    """Straight, with a speed that is linear between knots (time, speed)."""
    times, speeds = np.array(knots).T
    fine = np.linspace(0.0, max(times[-1], 0.01), 20001)
    speed = np.interp(fine, times, speeds)
    way = np.r_[0.0, np.cumsum((speed[1:] + speed[:-1]) / 2.0 * np.diff(fine))]
    ux, uy = np.cos(np.radians(yaw_deg)), np.sin(np.radians(yaw_deg))

    def at(t: float) -> tuple[float, float, float]:
        gone = float(np.interp(t, fine, way)) + max(t - fine[-1], 0.0) * speed[-1]
        return x + gone * ux, y + gone * uy, yaw_deg

    return at


def through(points: Sequence[tuple[float, float, float]]) -> Motion:
    """Through (time, x, y) knots, facing along."""
    times, xs, ys = np.array(points, dtype=float).T

    def at(t: float) -> tuple[float, float, float]:
        e = 0.02
        x0, x1 = np.interp([t - e, t + e], times, xs)
        y0, y1 = np.interp([t - e, t + e], times, ys)
        k = min(max(int(np.searchsorted(times, t)), 1), len(times) - 1)
        yaw = np.arctan2(ys[k] - ys[k - 1], xs[k] - xs[k - 1])
        if np.hypot(x1 - x0, y1 - y0) > 1e-9:
            yaw = np.arctan2(y1 - y0, x1 - x0)
        return float(np.interp(t, times, xs)), float(np.interp(t, times, ys)), np.degrees(yaw)

    return at


@dataclass
class Scene:
    """What goes into a record; body 0 is the ego."""

    seconds: float
    bodies: list[tuple[str, Motion]] = field(default_factory=list)
    half: dict[int, tuple[float, float, float]] = field(default_factory=dict)
    rows: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    contacts: list[dict[str, Any]] = field(default_factory=list)
    brake: Callable[[float], float] | None = None
    limit_kmh: Callable[[float], float] = lambda t: 200.0
    reactions: dict[int, Callable[[float], dict[str, float]]] = field(default_factory=dict)
    route: Sequence[tuple[float, float]] = ()
    landmarks: int = 0
    life: dict[int, tuple[float, float]] = field(default_factory=dict)
    type_id: dict[int, str] = field(default_factory=dict)
    role: dict[int, str] = field(default_factory=dict)
    episode: dict[str, Any] = field(default_factory=dict)
    lost: set[int] = field(default_factory=set)
    roll_deg: dict[int, float] = field(default_factory=dict)

    def add(self, kind: str, motion: Motion) -> int:
        """Add a body; gives its number."""
        self.bodies.append((kind, motion))
        return len(self.bodies) - 1

    def add_light(
        self, x: float, y: float, yaw_deg: float, states: Sequence[tuple[float, int]]
    ) -> int:
        """A light with one stop line at a place and its states (time, state)."""
        number = 1000 + self.landmarks
        self.landmarks += 1
        point = {
            "x_m": x,
            "y_m": y,
            "z_m": 0.0,
            "pitch_deg": 0.0,
            "yaw_deg": yaw_deg,
            "roll_deg": 0.0,
            "road_id": 1,
            "section_id": 0,
            "lane_id": -1,
            "s_m": 0.0,
            "lane_width_m": 3.5,
            "is_junction": False,
        }
        place = {"x_m": x + 20.0, "y_m": y, "z_m": 0.0, "pitch_deg": 0.0, "yaw_deg": 0.0}
        self.rows.append(
            (
                "landmarks",
                {
                    "actor": number,
                    "type_id": "traffic.traffic_light",
                    "roll_deg": 0.0,
                    "stop_waypoints": [point],
                    "affected_waypoints": [point],
                    **place,
                },
            )
        )
        for at_s, state in states:
            self.rows.append(
                (
                    "signals",
                    {
                        "actor": number,
                        "tick": round(at_s / STEP_S),
                        "state": state,
                        "frozen": False,
                        "elapsed_s": 0.0,
                        "green_s": 10.0,
                        "yellow_s": 3.0,
                        "red_s": 10.0,
                    },
                )
            )
        return number

    def add_stop_sign(self, x: float, y: float, lane_yaw_deg: float) -> int:
        """A stop sign 3 m to the right of the lane, its box on the lane."""
        number = 1000 + self.landmarks
        self.landmarks += 1
        right = np.radians(lane_yaw_deg + 90.0)
        self.rows.append(
            (
                "landmarks",
                {
                    "actor": number,
                    "type_id": "traffic.stop",
                    "x_m": x + 3.0 * np.cos(right),
                    "y_m": y + 3.0 * np.sin(right),
                    "z_m": 0.0,
                    "pitch_deg": 0.0,
                    "yaw_deg": lane_yaw_deg + 90.0,
                    "roll_deg": 0.0,
                    "trigger_x_m": -3.0,
                    "trigger_y_m": 0.0,
                    "trigger_z_m": 0.0,
                    "trigger_half_x_m": 1.75,
                    "trigger_half_y_m": 0.4,
                    "trigger_half_z_m": 1.0,
                    "trigger_pitch_deg": 0.0,
                    "trigger_yaw_deg": 0.0,
                    "trigger_roll_deg": 0.0,
                },
            )
        )
        return number

    def write(self, folder: Path) -> Record:
        """Write it and open it."""
        last = round(self.seconds / STEP_S)
        with EpisodeWriter(folder) as writer:
            for number, (kind, _) in enumerate(self.bodies):
                gone = round(self.life.get(number, (0.0, self.seconds))[1] / STEP_S)
                add_actor(writer, number, kind, gone, **self._actor(number, kind))
            for tick in sorted(set(range(last + 1)) - self.lost):
                writer.add_tick(tick, tick * STEP_S, STEP_S)
                writer.add_states(self._states(tick, last))
            for k, (x, y) in enumerate(self.route):
                writer.add("route", index=k, x_m=x, y_m=y, z_m=0.0)
            for table, row in self.rows:
                writer.add(table, **row)
            for contact in self.contacts:
                writer.add_event(
                    **({"kind": "contact", "source": "geometry", "actor": 0} | contact)
                )
            about: dict[str, Any] = {"episode_id": folder.name, "ego_actor": 0, "step_s": STEP_S}
            about["route"] = {"route_id": "1", "dense": True}
            writer.finish(Episode.model_validate(about | self.episode))
        return jaywalk.record.open(folder)

    def _actor(self, number: int, kind: str) -> dict[str, Any]:
        more: dict[str, Any] = {}
        if number in self.half:
            more = dict(zip(("half_x_m", "half_y_m", "half_z_m"), self.half[number], strict=True))
        if number in self.life:
            more["first_tick"] = round(self.life[number][0] / STEP_S)
        if kind == "prop":
            more["type_id"] = "static.prop.streetbarrier"
        if number in self.role:
            more["role_name"] = self.role[number]
        if number in self.type_id:
            more["type_id"] = self.type_id[number]
        return more

    def _states(self, tick: int, last: int) -> np.ndarray:
        wanted = []
        for number, (kind, _) in enumerate(self.bodies):
            low, high = self.life.get(number, (0.0, last * STEP_S))
            if round(low / STEP_S) <= tick <= round(high / STEP_S) and (
                kind != "prop" or tick == 0
            ):
                wanted.append(number)
        rows = np.zeros(len(wanted), STATE_DTYPE)
        t = tick * STEP_S
        for row, number in zip(rows, wanted, strict=True):
            kind, motion = self.bodies[number]
            (x, y, yaw), (x0, y0, yaw0), (x1, y1, yaw1) = (
                motion(t),
                motion(t - 0.01),
                motion(t + 0.01),
            )
            if t == 0.0:
                x0, y0, yaw0 = x, y, yaw
            span = 0.01 if t == 0.0 else 0.02
            turn = (yaw1 - yaw0 + 180.0) % 360.0 - 180.0
            row["family"], row["actor"], row["tick"], row["clip"] = FAMILY[kind], number, tick, -1
            row["x_m"], row["y_m"], row["yaw_deg"] = x, y, yaw
            row["roll_deg"] = self.roll_deg.get(number, 0.0)
            row["vx_mps"], row["vy_mps"] = (x1 - x0) / span, (y1 - y0) / span
            row["wz_dps"] = turn / span
            row["speed_limit_kmh"], row["light_state"], row["gear"] = self.limit_kmh(t), 2, 1
            if number == 0 and self.brake is not None:
                row["brake"] = self.brake(t)
            for column, value in self.reactions.get(number, lambda t: {})(t).items():
                row[column] = value
        return rows
