"""The animals as sensors see them, with legs that step by the gait of their species."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._materials import Slot
from jaywalk.server.sensors._mesh import LEVELS, Look, Mesh, Model
from jaywalk.server.sensors.models.animals._beasts import UPPER, Beast, Leg, make_beast
from jaywalk.server.sensors.models.animals._birds import make_bird
from jaywalk.server.sensors.models.animals._species import SHAPES
from jaywalk.server.sensors.models.shown import ActorLook, ActorMotion, Body, PosePart
from jaywalk.server.sensors.models.vehicles._surfaces import fitted
from jaywalk.server.world.walker_blueprints import (
    ANIMAL_BY_BLUEPRINT,
    Animal,
    body_lift_m,
    feet_m,
)

__all__ = ["animal_look"]

_BIRDS: Final = {"goose": (True, (214, 212, 206)), "duck": (False, (28, 92, 62))}
_DUCK: Final = (134, 116, 96)
_LYING_M: Final = 0.25  # height of the origin of an animal that was knocked down
_SLACK: Final = 1.02  # a straight leg is this much longer than its hip is high


def animal_look(body: Body) -> ActorLook | None:
    """Return the look of an animal; None for other actors."""
    animal = ANIMAL_BY_BLUEPRINT.get(body.type_id)
    if animal is None:
        return None
    model, legs = _model(animal.blueprint)
    bird = _BIRDS.get(animal.species)
    second = SHAPES[animal.species].second if bird is None else bird[1]
    first = _DUCK if animal.species == "duck" else animal.colour
    colors = ((int(Slot.PAINT), first), (int(Slot.PAINT_2), second))
    return ActorLook(Look(model, colors=colors, parts=1 + 2 * len(legs)), _pose(animal, legs))


@cache
def _model(blueprint: str) -> tuple[Model, tuple[Leg, ...]]:
    animal = ANIMAL_BY_BLUEPRINT[blueprint]
    long, wide, high = animal.size_m
    levels: list[Mesh] = []
    legs: tuple[Leg, ...] = ()
    for level in range(LEVELS):
        made = _make(animal, level)
        used = made.mesh.points_m[np.unique(made.mesh.triangles)]
        least, size = used.min(axis=0), np.ptp(used, axis=0)
        low = np.array([-0.5 * long, -0.5 * wide, 0.0])
        scale = np.array([long, wide, high]) / size
        mesh = fitted(made.mesh, (low[0], low[1], low[2]), (0.5 * long, 0.5 * wide, high))
        levels.append(mesh)
        if level == 0:
            legs = tuple(_moved(leg, least, low, scale) for leg in made.legs)
    return Model(tuple(levels)), legs


def _moved(
    leg: Leg, least: NDArray[np.float64], low: NDArray[np.float64], scale: NDArray[np.float64]
) -> Leg:
    x, y, z = (low + (np.array(leg.hip) - least) * scale).tolist()
    return Leg((x, y, z), float(low[2] + (leg.knee_m - least[2]) * scale[2]), leg.fore)


def _make(animal: Animal, level: int) -> Beast:
    bird = _BIRDS.get(animal.species)
    if bird is not None:
        return make_bird(animal.size_m, level, long_neck=bird[0])
    return make_beast(SHAPES[animal.species], animal.size_m, level)


def _pose(animal: Animal, legs: tuple[Leg, ...]) -> PosePart:
    rest = feet_m(animal, 0.0, 0.0)

    def pose(row: np.void, motion: ActorMotion, out: NDArray[Any]) -> None:
        if float(row["down_s"]) > 0.0:
            out[:] = _on_its_side(animal)
            return
        speed = math.hypot(float(row["vx"]), float(row["vy"]))
        feet = feet_m(animal, motion.rolled_m, speed) - rest
        lift = body_lift_m(animal, motion.rolled_m, speed)
        out[0, 2, 3] = lift
        for number, leg in enumerate(legs):
            ahead, _, up = feet[number].tolist()
            part = UPPER + 2 * number
            out[part], out[part + 1] = _leg_poses(leg, ahead, up, lift)

    return pose


def _leg_poses(
    leg: Leg, ahead_m: float, up_m: float, lift_m: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the motions of the upper and the lower leg that bring the foot to its place."""
    x, y, hip = leg.hip
    upper, lower = _SLACK * (hip - leg.knee_m), _SLACK * leg.knee_m
    down = max(hip + lift_m - up_m, 1e-3)
    far = min(math.hypot(ahead_m, down), 0.999 * (upper + lower))
    toward = math.atan2(ahead_m, down)  # 0: straight down, positive: forward
    bend = 1.0 if leg.fore else -1.0  # knees of fore legs point forward, hocks backward
    cosine = (upper * upper + far * far - lower * lower) / (2.0 * upper * far)
    first = toward + bend * math.acos(min(max(cosine, -1.0), 1.0))
    knee = (x + upper * math.sin(first), hip + lift_m - upper * math.cos(first))
    foot_x, foot_z = x + far * math.sin(toward), hip + lift_m - far * math.cos(toward)
    second = math.atan2(foot_x - knee[0], knee[1] - foot_z)
    return (
        _swung((x, y, hip), (x, y, hip + lift_m), first),
        _swung((x, y, leg.knee_m), (knee[0], y, knee[1]), second),
    )


def _swung(
    rest: tuple[float, float, float], place: tuple[float, float, float], angle_rad: float
) -> NDArray[np.float64]:
    """Return the motion that swings a part forwards about a joint and moves the joint."""
    c, s = math.cos(angle_rad), math.sin(angle_rad)
    turn = np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
    return np.column_stack([turn, np.array(place) - turn @ np.array(rest)])


def _on_its_side(animal: Animal) -> NDArray[np.float64]:
    """Return the motion that lays an animal on its side where a knocked-down one lies."""
    _, wide, high = animal.size_m
    turn = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    # The frame of the model lies as far below the ground as the origin has sunk.
    sunk = max(0.5 * high - _LYING_M, 0.0)
    return np.column_stack([turn, np.array([0.0, 0.5 * high, 0.5 * wide + sunk])])
