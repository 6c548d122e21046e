"""Pedestrians 0001-0052 and the animals of Fail2Drive.

Ids and box sizes: dumps of the simulator (0052 exists in 0.9.16 only). Children and police: CARLA's
pedestrian catalogue. Walking and running speed of adults: the figures CARLA's manual control
example starts with; those of children, gender and generation per id are guesses. Which animal is
which is ours too: they are only in Fail2Drive's packaged simulator, whose expert calls 1003, 1007
and 1014 very large. Sizes, masses and paces are those of the species (`animals.py`).
The origin of a walker is the middle of its body, so the box centre is zero.
"""

from __future__ import annotations

from typing import Final

from jaywalk.server.world.animals import ANIMALS, Animal
from jaywalk.server.world.blueprint_types import (
    LABEL_PEDESTRIAN,
    Attribute,
    AttributeType,
    Blueprint,
    Body,
    Dialect,
    Vector3,
    common_attributes,
    fixed,
    flag,
    variation,
)
from jaywalk.server.world.tables import Kind

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
    """Every pedestrian, 0001 first, without those the dialect does not know."""
    return tuple(
        _pedestrian(number, dialect)
        for number in range(1, PEDESTRIAN_COUNT + 1)
        if dialect == "0.9.16" or number not in _ONLY_0_9_16
    )


def animal_blueprints(dialect: Dialect) -> tuple[Blueprint, ...]:
    """Fail2Drive's animals; they behave like walkers."""
    return tuple(_animal(animal, dialect) for animal in ANIMALS)


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


def _pedestrian_body(number: int) -> Body:
    if number in _SMALL_CHILDREN:
        return _body((0.25, 0.25, 0.55), 22.0)
    if number in _CHILDREN:
        return _body((0.188, 0.188, 0.65), 32.0)
    return _body((0.188, 0.188, 0.93), 75.0)


def _animal(animal: Animal, dialect: Dialect) -> Blueprint:
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


def _body(half_extents_m: Vector3, mass_kg: float) -> Body:
    return Body(
        half_extents_m=half_extents_m,
        centre_m=(0.0, 0.0, 0.0),
        mass_kg=mass_kg,
        labels=(LABEL_PEDESTRIAN,),
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
    body: Body,
    only_0_9_16: bool = False,
    novel: bool = False,
) -> Blueprint:
    items: list[Attribute] = [
        *common_attributes(name, dialect, ("pedestrian",)),
        variation("speed", AttributeType.FLOAT, *speeds),
        variation("is_invincible", AttributeType.BOOL, "true"),
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
