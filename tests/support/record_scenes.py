"""Made-up episodes for tests of the record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from jaywalk.core.seeds import stream
from jaywalk.record import Episode, EpisodeWriter
from jaywalk.record.columns import WEATHER_FIELDS
from jaywalk.record.rows import KIND_VEHICLE, KIND_WALKER, NO_CLIP, STATE_DTYPE

STEP_S = 0.05


def add_actor(writer: EpisodeWriter, number: int, kind: str, last_tick: int, **more: Any) -> None:
    """A car- or person-sized actor."""
    half = (2.4, 1.0, 0.75) if kind == "vehicle" else (0.2, 0.2, 0.9)
    row = {
        "actor": number,
        "server_id": 100 + number,
        "kind": kind,
        "type_id": "vehicle.lincoln.mkz_2020" if kind == "vehicle" else "walker.pedestrian.0001",
        "role_name": "hero" if number == 0 else "",
        "first_tick": 0,
        "last_tick": last_tick,
        "half_x_m": half[0],
        "half_y_m": half[1],
        "half_z_m": half[2],
        "offset_x_m": 0.0,
        "offset_y_m": 0.0,
        "offset_z_m": half[2] if kind == "vehicle" else 0.0,
        "attributes_json": "{}",
    }
    writer.add("actors", **(row | more))


def noisy_motion(ticks: int, vehicles: int, walkers: int, seed: int = 1) -> list[np.ndarray]:
    """States of every tick: smooth motion, with the rough last digits real physics has."""
    random = stream(seed, "states")
    n = vehicles + walkers
    family = np.r_[np.full(vehicles, KIND_VEHICLE), np.full(walkers, KIND_WALKER)]
    car = family == KIND_VEHICLE
    place = random.uniform(-200.0, 200.0, (n, 2))
    yaw = random.uniform(-180.0, 180.0, n)
    speed = np.where(car, random.uniform(0.0, 12.0, n), random.uniform(0.0, 1.8, n))
    frames = []
    for tick in range(ticks):
        rate = np.where(car, 8.0, 20.0) * np.sin(0.01 * tick + np.arange(n))
        pull = random.normal(0.0, 0.3, n)
        yaw = (yaw + rate * STEP_S + 180.0) % 360.0 - 180.0
        speed = np.clip(speed + pull * STEP_S, 0.0, 15.0)
        ahead = np.c_[np.cos(np.radians(yaw)), np.sin(np.radians(yaw))]
        place = place + speed[:, None] * ahead * STEP_S
        rows = np.zeros(n, STATE_DTYPE)
        rows["family"], rows["actor"], rows["tick"], rows["clip"] = family, np.arange(n), tick, -1
        rows["x_m"], rows["y_m"] = place.T
        rows["z_m"] = random.normal(0.0, 1e-3, n) * car
        rows["pitch_deg"], rows["roll_deg"] = random.normal(0.0, 0.1, (2, n)) * car
        rows["yaw_deg"] = yaw
        rows["vx_mps"], rows["vy_mps"] = (speed[:, None] * ahead).T
        rows["vz_mps"] = random.normal(0.0, 1e-3, n) * car
        rows["wx_dps"], rows["wy_dps"] = random.normal(0.0, 0.1, (2, n)) * car
        rows["wz_dps"] = rate
        rows["ax_mps2"], rows["ay_mps2"] = (pull[:, None] * ahead).T
        rows["az_mps2"] = random.normal(0.0, 0.1, n) * car
        rows["throttle"] = np.maximum(pull, 0.0) * car
        rows["brake"] = np.maximum(-pull, 0.0) * car
        rows["steer"] = rate / 70.0 * car
        rows["gear"], rows["speed_limit_kmh"], rows["light_state"] = 1, 50.0, 2
        rows["walk_x"], rows["walk_y"] = ahead.T
        rows["walk_speed_mps"] = speed
        frames.append(rows)
    return frames


def write_episode(
    folder: Path, ticks: int = 40, vehicles: int = 2, walkers: int = 2, **episode: Any
) -> list[np.ndarray]:
    """Write a whole made-up episode; returns the states that went in."""
    chunk_rows = episode.pop("chunk_rows", 200_000)
    frames = noisy_motion(ticks, vehicles, walkers)
    with EpisodeWriter(folder, chunk_rows=chunk_rows) as writer:
        for number in range(vehicles + walkers):
            add_actor(writer, number, "vehicle" if number < vehicles else "walker", ticks - 1)
        clip = writer.clip_number("stroll")
        for tick, rows in enumerate(frames):
            rows["clip"] = np.where(rows["family"] == KIND_WALKER, clip, NO_CLIP)
            rows["clip_phase"] = tick / ticks
            writer.add_tick(tick, tick * STEP_S, STEP_S)
            writer.add_states(rows)
        writer.add("weather", tick=0, **dict.fromkeys(WEATHER_FIELDS, 1.5))
        writer.add(
            "signals",
            actor=0,
            tick=0,
            state=0,
            frozen=False,
            elapsed_s=0.5,
            green_s=10.0,
            yellow_s=3.0,
            red_s=2.0,
        )
        writer.add("ego", tick=0, command="LEFT", path_x_m=[0.0, 1.0], path_y_m=[2.0, 3.0])
        writer.add(
            "forecasts",
            tick=1,
            actor=2,
            source="constant-velocity-v1",
            mode=0,
            frame="world",
            weight=1.0,
            time_s=[1.0],
            x_m=[0.25],
            y_m=[0.5],
        )
        writer.add("debug", tick=0, topic="leader", detail_json='{"id": 3}')
        writer.add("route", index=0, x_m=0.1, y_m=0.2, z_m=0.3, road_option="LANEFOLLOW")
        writer.add_event(tick=3, end_tick=5, kind="contact", source="geometry", actor=0, other=2)
        writer.finish(Episode(episode_id=folder.name, ego_actor=0, **episode))
    return frames
