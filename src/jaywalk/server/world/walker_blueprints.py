"""Blueprints of pedestrians 0001-0052 and of the 17 animals of Fail2Drive.

Ids and box sizes of pedestrians come from dumps of the simulator (0052 exists in 0.9.16 only).
Children and police follow CARLA's pedestrian catalogue. Walking and running speeds of adults are
the initial values of CARLA's manual control example. Speeds of children, and gender and generation
per id, are guesses. The origin of a walker is the middle of its body, so the box centre is zero.

The assignment of species to animal ids is our own: the animals exist only in Fail2Drive's packaged
simulator, whose expert calls 1003, 1007 and 1014 very large. Sizes are length, width and height of
a standing adult of the species; masses and paces are those of the species. The gait depends on
distance and speed only, so every picture of a tick shows the same stance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.carla_enums import AttributeType, SemanticTag
from jaywalk.core.walker_attributes import CARRIES
from jaywalk.server.world._blueprint_types import (
    Attribute,
    Blueprint,
    BodyShape,
    Dialect,
    Vector3,
    common_attributes,
    fixed,
    flag,
    variation,
)
from jaywalk.server.world._tables import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Animal:
    """One species."""

    number: int
    species: str
    size_m: tuple[float, float, float]  # length, width, height
    mass_kg: float
    walk_mps: float
    run_mps: float
    legs: int = 4
    colour: tuple[int, int, int] = (120, 90, 60)

    @property
    def blueprint(self) -> str:
        """Its id."""
        return f"walker.animal.{self.number}"

    @property
    def leg_m(self) -> float:
        """Length of a leg: from the ground to the hip."""
        return (0.55 if self.legs == 4 else 0.45) * self.size_m[2]


def _animal(
    number: int,
    species: str,
    size: tuple[float, float, float],
    mass: float,
    pace: tuple[float, float],
    colour: tuple[int, int, int],
    legs: int = 4,
) -> Animal:
    return Animal(
        number=number,
        species=species,
        size_m=size,
        mass_kg=mass,
        walk_mps=pace[0],
        run_mps=pace[1],
        legs=legs,
        colour=colour,
    )


ANIMALS: Final = (
    _animal(1001, "dog", (0.95, 0.28, 0.65), 30.0, (1.3, 9.0), (150, 110, 70)),
    _animal(1002, "cat", (0.50, 0.16, 0.28), 4.5, (0.9, 8.0), (90, 90, 95)),
    _animal(1003, "horse", (2.40, 0.62, 1.70), 520.0, (1.7, 12.0), (95, 60, 38)),
    _animal(1004, "sheep", (1.20, 0.45, 0.85), 70.0, (1.1, 6.0), (225, 220, 205)),
    _animal(1005, "fox", (0.75, 0.22, 0.40), 7.0, (1.2, 11.0), (190, 95, 40)),
    _animal(1006, "wild boar", (1.40, 0.48, 0.85), 90.0, (1.3, 9.0), (70, 58, 50)),
    _animal(1007, "moose", (2.60, 0.75, 2.00), 450.0, (1.6, 12.0), (72, 52, 38)),
    _animal(1008, "goat", (1.15, 0.36, 0.85), 55.0, (1.2, 7.0), (200, 190, 170)),
    _animal(1009, "hare", (0.50, 0.17, 0.32), 4.0, (1.0, 12.0), (150, 120, 85)),
    _animal(1010, "roe deer", (1.15, 0.32, 0.95), 25.0, (1.4, 12.0), (150, 95, 55)),
    _animal(1011, "pig", (1.40, 0.45, 0.80), 120.0, (1.0, 5.0), (225, 170, 160)),
    _animal(1012, "goose", (0.75, 0.35, 0.75), 4.0, (0.8, 3.5), (235, 235, 230), legs=2),
    _animal(1013, "donkey", (1.80, 0.50, 1.25), 180.0, (1.3, 9.0), (125, 118, 110)),
    _animal(1014, "cow", (2.40, 0.75, 1.50), 600.0, (1.1, 6.0), (90, 62, 45)),
    _animal(1015, "wolf", (1.30, 0.34, 0.80), 40.0, (1.5, 12.0), (130, 128, 122)),
    _animal(1016, "duck", (0.50, 0.24, 0.38), 1.2, (0.6, 2.0), (60, 110, 70), legs=2),
    _animal(1017, "red deer", (2.00, 0.55, 1.60), 180.0, (1.5, 12.0), (140, 85, 50)),
)

ANIMAL_BY_BLUEPRINT: Final = {animal.blueprint: animal for animal in ANIMALS}
# Share of a cycle at which each foot sets off: hind left, fore left, hind right, fore right.
_WALK: Final = (0.0, 0.25, 0.5, 0.75)
_TROT: Final = (0.0, 0.5, 0.5, 0.0)
_GALLOP: Final = (0.0, 0.55, 0.1, 0.45)
_BIPED: Final = (0.0, 0.5)


def gait_of(animal: Animal, speed_mps: float) -> str:
    """``stand``, ``walk``, ``trot`` or ``gallop``, by the Froude number of the legs."""
    if speed_mps < 0.05:
        return "stand"
    froude = speed_mps**2 / (9.81 * animal.leg_m)
    if animal.legs == 2 or froude < 0.5:
        return "walk"
    return "trot" if froude < 2.5 else "gallop"


def stride_m(animal: Animal, speed_mps: float) -> float:
    """Return the length of a gait cycle, which grows with speed as in running mammals."""
    froude = max(speed_mps, 0.05) ** 2 / (9.81 * animal.leg_m)
    return float(2.3 * animal.leg_m * froude**0.3)


def feet_m(animal: Animal, travelled_m: float, speed_mps: float) -> FloatArray:
    """Return foot positions (legs, 3): forward, right, up from the ground below the middle, m."""
    length_m, width_m, _ = animal.size_m
    gait = gait_of(animal, speed_mps)
    offsets = _BIPED if animal.legs == 2 else {"trot": _TROT, "gallop": _GALLOP}.get(gait, _WALK)
    sides = (-1.0, 1.0) if animal.legs == 2 else (-1.0, -1.0, 1.0, 1.0)
    hips = (0.0, 0.0) if animal.legs == 2 else (-0.33, 0.33, -0.33, 0.33)
    out = np.zeros((animal.legs, 3))
    for foot in range(animal.legs):
        out[foot, 0], out[foot, 1] = hips[foot] * length_m, 0.32 * sides[foot] * width_m
        if gait == "stand":
            continue
        reach_m = min(stride_m(animal, speed_mps), 2.2 * animal.leg_m)
        phase = (travelled_m / stride_m(animal, speed_mps) + offsets[foot]) % 1.0
        duty = {"walk": 0.65, "trot": 0.5, "gallop": 0.35}[gait]  # share on the ground
        if phase < duty:  # the foot stands, the body moves over it
            out[foot, 0] += duty * reach_m * (0.5 - phase / duty)
            continue
        swing = (phase - duty) / (1.0 - duty)
        out[foot, 0] += duty * reach_m * (swing - 0.5)
        out[foot, 2] = 0.25 * animal.leg_m * math.sin(math.pi * swing)
    return out


def body_lift_m(animal: Animal, travelled_m: float, speed_mps: float) -> float:
    """Return the height by which the trunk rises or falls with the steps, in metres."""
    gait = gait_of(animal, speed_mps)
    share = {"stand": 0.0, "walk": 0.02, "trot": 0.05, "gallop": 0.1}[gait]
    beats = 1.0 if gait == "gallop" else 2.0
    phase = beats * travelled_m / stride_m(animal, speed_mps)
    return share * animal.leg_m * math.sin(2.0 * math.pi * phase)


PEDESTRIAN_COUNT: Final = 52
_ONLY_0_9_16: Final = frozenset({52})
_SMALL_CHILDREN: Final = frozenset({9, 10, 11, 48, 49})
_CHILDREN: Final = frozenset({12, 13, 14}) | _SMALL_CHILDREN
_POLICE: Final = frozenset({30, 32})
_FEMALE: Final = frozenset(
    {1, 3, 5, 8, 9, 11, 13, 16, 18, 20, 22, 23, 26, 28, 31, 33, 35, 36, 37, 39, 42, 44, 46, 48, 50}
)
_ELDERLY: Final = frozenset({24, 40, 41})
_FIRST_OF_GENERATION_2: Final = 15

_ADULT_SPEEDS: Final = ("0.0", "1.589", "3.713")
_CHILD_SPEEDS: Final = ("0.0", "1.2", "2.8")


def walker_blueprints(dialect: Dialect) -> tuple[Blueprint, ...]:
    """Return the blueprints of all pedestrians that the dialect knows, 0001 first."""
    return tuple(
        _pedestrian(number, dialect)
        for number in range(1, PEDESTRIAN_COUNT + 1)
        if dialect == "0.9.16" or number not in _ONLY_0_9_16
    )


def animal_blueprints(dialect: Dialect) -> tuple[Blueprint, ...]:
    """Fail2Drive's animals; they behave like walkers."""
    return tuple(_walker_blueprints_animal(animal, dialect) for animal in ANIMALS)


def _pedestrian(number: int, dialect: Dialect) -> Blueprint:
    child = number in _CHILDREN
    adult_age = "elderly" if number in _ELDERLY else "adult"
    return _walker(
        f"walker.pedestrian.{number:04d}",
        dialect,
        gender="female" if number in _FEMALE else "male",
        age="child" if child else adult_age,
        generation=2 if number >= _FIRST_OF_GENERATION_2 else 1,
        wheelchair=not child and number not in _POLICE,
        speeds=_CHILD_SPEEDS if child else _ADULT_SPEEDS,
        body=_pedestrian_body(number),
        only_0_9_16=number in _ONLY_0_9_16,
    )


def _pedestrian_body(number: int) -> BodyShape:
    if number in _SMALL_CHILDREN:
        return _body((0.25, 0.25, 0.55), 22.0)
    if number in _CHILDREN:
        return _body((0.188, 0.188, 0.65), 32.0)
    return _body((0.188, 0.188, 0.93), 75.0)


def _walker_blueprints_animal(animal: Animal, dialect: Dialect) -> Blueprint:
    length_m, width_m, height_m = animal.size_m
    return _walker(
        animal.blueprint,
        dialect,
        gender="other",
        age="adult",
        generation=2,
        wheelchair=False,
        speeds=("0.0", f"{animal.walk_mps:g}", f"{animal.run_mps:g}"),
        body=_body((0.5 * length_m, 0.5 * width_m, 0.5 * height_m), animal.mass_kg),
        novel=True,
    )


def _body(half_extents_m: Vector3, mass_kg: float) -> BodyShape:
    return BodyShape(
        half_extents_m=half_extents_m,
        centre_m=(0.0, 0.0, 0.0),
        mass_kg=mass_kg,
        labels=(SemanticTag.PEDESTRIAN,),
    )


def _walker(
    name: str,
    dialect: Dialect,
    *,
    gender: str,
    age: str,
    generation: int,
    wheelchair: bool,
    speeds: tuple[str, ...],
    body: BodyShape,
    only_0_9_16: bool = False,
    novel: bool = False,
) -> Blueprint:
    items: list[Attribute] = [
        *common_attributes(name, dialect, ("pedestrian",)),
        variation("speed", AttributeType.FLOAT, *speeds),
        variation("is_invincible", AttributeType.BOOL, "true"),
        variation(CARRIES, AttributeType.STRING, ""),
    ]
    traits = [
        fixed("gender", AttributeType.STRING, gender),
        fixed("generation", AttributeType.INT, str(generation)),
        fixed("age", AttributeType.STRING, age),
    ]
    if dialect == "0.9.16":  # 0.9.15 knows no wheelchairs
        choices = ("false", "true") if wheelchair else ("false",)
        items.append(variation("use_wheelchair", AttributeType.BOOL, *choices, restricted=True))
        traits.append(fixed("can_use_wheelchair", AttributeType.BOOL, flag(wheelchair)))
    return Blueprint(
        id=name,
        kind=Kind.WALKER,
        attributes=(*items, *traits),
        body=body,
        only_0_9_16=only_0_9_16,
        novel=novel,
    )
