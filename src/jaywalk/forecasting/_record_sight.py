"""Gaze of people towards the ego, and occlusion of people from the ego's view."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from jaywalk.core.arrays import BoolArray, FloatArray
from jaywalk.geometry.frames import carla_to_right_handed, carla_yaw_to_rad
from jaywalk.geometry.zones import sight_blocked
from jaywalk.record.bodies import IS_ROUND, body_shapes
from jaywalk.record.reader import Record

LOOKS_WITHIN_RAD: Final = np.deg2rad(30.0)  # eyes turn this far without the head
_TALLER_M: Final = 0.2  # a head is visible above an actor this much lower


def looks_at(
    head_rad: FloatArray,
    place_m: FloatArray,
    rear_m: FloatArray,
    front_m: FloatArray,
    within_rad: float = LOOKS_WITHIN_RAD,
) -> BoolArray:
    """Return whether heads face a vehicle: a point between its bumpers lies within an angle.

    Args:
        head_rad: (n,) directions of the faces; NaN gives False.
        place_m: (n, 2) positions of the people.
        rear_m: (n, 2) middle of the rear bumper.
        front_m: (n, 2) middle of the front bumper.
        within_rad: The angle.
    """
    one, other = (_aside(head_rad, end - place_m) for end in (rear_m, front_m))
    between = (one * other <= 0.0) & (np.abs(one) + np.abs(other) < np.pi)
    nearest = np.minimum(np.abs(one), np.abs(other))
    return np.asarray((between | (nearest <= within_rad)) & np.isfinite(head_rad))


def _aside(head_rad: FloatArray, towards_m: FloatArray) -> FloatArray:
    turn = np.arctan2(towards_m[:, 1], towards_m[:, 0]) - head_rad
    return np.asarray(np.arctan2(np.sin(turn), np.cos(turn)))


def occluded_people(record: Record, states: pl.DataFrame) -> pl.DataFrame:
    """Mark people whose middle and both sides lie behind vehicles or props, by actor and tick.

    An occluding actor is at least as tall, within 0.2 m. The eye is in the middle of the ego.
    Other people, buildings and hills occlude nothing.

    Args:
        record: Record with the actors.
        states: Rows to check, with all actors of each tick.

    Returns:
        ``actor``, ``tick``, ``occluded`` of all people of ``states``.
    """
    actors = body_shapes(record.actors.collect(), record.states).select(
        "actor", "kind", "half_x_m", "half_y_m", "half_z_m", "offset_x_m", "offset_y_m", IS_ROUND
    )
    rows = states.select("actor", "tick", "x_m", "y_m", "yaw_deg").join(actors, on="actor")
    number = record.episode.ego_actor
    people = rows.filter(pl.col("kind") == "walker").sort("tick", "actor")
    eyes = rows.filter(pl.col("actor") == number).sort("tick")
    vehicles = rows.filter((pl.col("kind") == "vehicle") & (pl.col("actor") != number))
    things = pl.concat([vehicles, _props(record, actors, eyes["tick"])]).sort("tick")
    by_tick = {tick: part for (tick,), part in things.group_by("tick", maintain_order=True)}
    eye_of = dict(zip(eyes["tick"], _boxes(eyes)[0], strict=True))
    hidden = np.zeros(len(people), np.bool_)
    first = 0
    for (tick,), part in people.group_by("tick", maintain_order=True):
        here = slice(first, first + len(part))
        first += len(part)
        if tick in eye_of and tick in by_tick:
            hidden[here] = _hidden(eye_of[tick], part, by_tick[tick])
    return people.select("actor", "tick").with_columns(pl.Series("occluded", hidden))


def _props(record: Record, actors: pl.DataFrame, ticks: pl.Series) -> pl.DataFrame:
    """Return the props at every tick; records list them only on appearance and after a move."""
    props = actors.filter(pl.col("kind") == "prop")
    told = record.states.select("actor", "tick", "x_m", "y_m", "yaw_deg").collect()
    told = told.join(props, on="actor").sort("tick")
    lives = record.actors.select("actor", "last_tick").collect()
    wanted = props.select("actor").join(pl.DataFrame({"tick": ticks}), how="cross").sort("tick")
    placed = wanted.join_asof(told, on="tick", by="actor", check_sortedness=False)
    alive = placed.join(lives, on="actor").filter(pl.col("tick") <= pl.col("last_tick"))
    return alive.drop_nulls("x_m").select(told.columns)


def _boxes(rows: pl.DataFrame) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return middles, yaws and half sizes of boxes in the right-handed frame."""
    yaw = carla_yaw_to_rad(rows["yaw_deg"].to_numpy())
    place = carla_to_right_handed(rows.select("x_m", "y_m").to_numpy().astype(np.float64))
    offset = rows.select(
        pl.col("offset_x_m").fill_null(0.0), -pl.col("offset_y_m").fill_null(0.0)
    ).to_numpy()
    cos, sin = np.cos(yaw), np.sin(yaw)
    place[:, 0] += cos * offset[:, 0] - sin * offset[:, 1]
    place[:, 1] += sin * offset[:, 0] + cos * offset[:, 1]
    half = rows.select(pl.col("half_x_m", "half_y_m").fill_null(0.0)).to_numpy().astype(np.float64)
    return place, yaw, half


def _hidden(eye_m: FloatArray, people: pl.DataFrame, things: pl.DataFrame) -> BoolArray:
    place, yaw, half = _boxes(people)
    away = place - eye_m
    away /= np.maximum(np.linalg.norm(away, axis=1), 1e-9)[:, None]
    turn = yaw - np.arctan2(away[:, 1], away[:, 0])
    seen_m = np.abs(half[:, 0] * np.sin(turn)) + np.abs(half[:, 1] * np.cos(turn))
    reach_m = np.where(people[IS_ROUND].to_numpy(), half[:, 0], seen_m)
    across = np.stack([-away[:, 1], away[:, 0]], axis=1) * reach_m[:, None]
    height = 2.0 * people["half_z_m"].fill_null(0.0).to_numpy()
    taller = 2.0 * things["half_z_m"].fill_null(0.0).to_numpy() > height[:, None] - _TALLER_M
    boxes = _boxes(things)
    seen = [
        (sight_blocked(eye_m, points, *boxes) & taller).any(axis=1)
        for points in (place, place + across, place - across)
    ]
    return np.asarray(np.logical_and.reduce(seen))
