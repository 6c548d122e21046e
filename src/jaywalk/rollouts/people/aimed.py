"""Drawn encounters aimed at the side of a vehicle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from jaywalk.actors.reactive.model import ReactionModel
from jaywalk.actors.reactive.traits import (
    ATTENTIVE,
    ON_ROAD,
    AttentionShares,
    ReactionSettings,
    draw_traits,
    noise_key,
)
from jaywalk.core.arrays import BoolArray, FloatArray
from jaywalk.core.seeds import stream
from jaywalk.metrics.realism.people.encounters import BODY_M
from jaywalk.rollouts.people.replay import body_change_mps, open_ground

_DELTA_S: Final = 0.05
_LENGTH_M, _WIDTH_M = 4.7, 1.9
_APART_M: Final = 250.0
_BATCH: Final = 250
_TICKS: Final = 300
_START_M: Final = 5.0
_NO_BOXES: Final = np.zeros((0, 6))
_NO_PEOPLE: Final = np.zeros((0, 4))

# The speeds of the vehicles, and whether they brake.
DRIVES: Final = {
    "0.3 to 4 m/s": ((0.3, 4.0), False),
    "4 to 12 m/s": ((4.0, 12.0), False),
    "2 to 8 m/s, braking": ((2.0, 8.0), True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AimedResult:
    """Contacts of people who would walk into a vehicle if they did not react."""

    drawn: int
    side: int
    front: int


def aimed_contacts(
    drive: str,
    count: int,
    settings: ReactionSettings,
    *,
    attention: int = ATTENTIVE,
    seed: int = 0,
) -> AimedResult:
    """Count contacts in drawn encounters; every person would reach the car while it is there."""
    side = front = 0
    for first in range(0, count, _BATCH):
        n = min(_BATCH, count - first)
        touched = _meet(drive, n, settings, attention, seed, first)
        side += int(touched[0].sum())
        front += int(touched[1].sum())
    return AimedResult(drawn=count, side=side, front=front)


def _meet(
    drive: str, n: int, settings: ReactionSettings, attention: int, seed: int, first: int
) -> tuple[BoolArray, BoolArray]:
    speeds_mps, brakes = DRIVES[drive]
    random = stream(seed, "aimed", drive, first)
    model = _model(n, settings, attention, seed, f"aimed {first}")
    rows, free = model.rows, random.uniform(0.9, 1.8, n)
    model.traits.free_mps[:] = free
    rows.where[:] = ON_ROAD
    centre = _APART_M * np.arange(n)
    speed: FloatArray = random.uniform(*speeds_mps, n)
    reach_s = (_START_M - _WIDTH_M / 2.0 - BODY_M) / free
    x = random.uniform(-_LENGTH_M / 2.0 - 1.5, _LENGTH_M / 2.0, n) - speed * reach_s
    braking = random.uniform(1.0, 3.0, n) if brakes else np.zeros(n)
    brake_s = random.uniform(0.0, reach_s) if brakes else np.full(n, np.inf)
    place = np.column_stack([np.zeros(n), np.full(n, -_START_M)])
    velocity = np.column_stack([np.zeros(n), free])
    side, front = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    for tick in range(_TICKS):
        braked_s = np.clip(tick * _DELTA_S - brake_s, 0.0, None)
        now_mps: FloatArray = np.maximum(
            speed - np.where(braking > 0.0, braking * braked_s, 0.0), 0.0
        )
        x = x + now_mps * _DELTA_S
        rows.x[:], rows.y[:] = place[:, 0] + centre, place[:, 1]
        rows.vx[:], rows.vy[:] = velocity.T
        moving = np.hypot(*velocity.T) > 0.2
        rows.yaw[:] = np.where(moving, np.arctan2(velocity[:, 1], velocity[:, 0]), 0.5 * math.pi)
        rows.aim_x[:], rows.aim_y[:], rows.left_m[:] = centre, 8.0, 8.0 - place[:, 1]
        rows.kerb_m[:] = 0.0
        model.step(
            np.arange(1, n + 1),
            _cars(x + centre, now_mps),
            _NO_BOXES,
            _NO_PEOPLE,
        )
        velocity = velocity + body_change_mps(model, velocity)
        place = place + velocity * _DELTA_S
        ahead = np.abs(place[:, 0] - x) - _LENGTH_M / 2
        aside = np.abs(place[:, 1]) - _WIDTH_M / 2
        gap = np.hypot(np.maximum(ahead, 0.0), np.maximum(aside, 0.0))
        touches = (gap < BODY_M) & ~side & ~front
        side |= touches & (aside >= 0.0) & (ahead <= 0.0)
        front |= touches & ~side
    return side, front


def _model(
    count: int, settings: ReactionSettings, attention: int, seed: int, name: str
) -> ReactionModel:
    traits = draw_traits(seed, np.zeros(count, np.bool_), AttentionShares(), name)
    traits.attention[:] = attention
    traits.group[:] = -1
    model = ReactionModel(
        key=noise_key(seed, name), traits=traits, grid=open_ground(), settings=settings
    )
    model.rows.active[:] = True
    return model


def _cars(x_m: Any, speed_mps: Any) -> FloatArray:
    rows = np.zeros((len(x_m), 8))
    rows[:, 0], rows[:, 2], rows[:, 4], rows[:, 5] = x_m, 1.0, _LENGTH_M / 2, _WIDTH_M / 2
    rows[:, 6] = speed_mps
    return rows
