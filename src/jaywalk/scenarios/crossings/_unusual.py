"""Unusual crossings: AnimalCrossing and OtherBlocker.

In AnimalCrossing one of 17 animals crosses the road instead of a person. In OtherBlocker
(PedestrianOtherBlocker) an unusual object hides the person who steps out.

Fail2Drive's own files use ``DynamicObjectCrossing`` (or another crossing type) with an animal as
``walker``, or with a ``blocker_model``. Those are read too; the types here are the same with their
own parameters.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from jaywalk.scenarios._public_types import LbCrossing
from jaywalk.scenarios.base import INTERNAL, Parameters
from jaywalk.scenarios.catalogue import FAIL2DRIVE, Shift, scenario
from jaywalk.scenarios.parameter_fields import ahead, crossing_angle, model, offset, side


@dataclass(frozen=True, slots=True, kw_only=True)
class AnimalParameters(Parameters):
    """Animal, side and blocker."""

    walker: str = model("walker.animal.*", "walker.animal.")
    distance: float = ahead(12.0)
    direction: str = side()
    crossing_angle: float = crossing_angle()
    blocker_model: str = model("static.prop.vendingmachine", "static.prop.", "vehicle.", "none")
    blocker_z: float = offset()
    speed: float = field(default=2.0, metadata=INTERNAL)


@scenario(
    "Animals",
    "an animal crosses from behind an obstacle",
    benchmark=FAIL2DRIVE,
    public_type="DynamicObjectCrossing",
    shifts=(
        Shift(
            name="Animals",
            category="Visual-lon",
            caption="an animal crosses, not a person",
            pairs=(75, 84),
        ),
    ),
    base="DynamicObjectCrossing",
    base_without=("walker",),
)
@dataclass(slots=True, kw_only=True)
class AnimalCrossing(LbCrossing):
    """DynamicObjectCrossing with an animal; shares the random streams of that type."""

    parameters_type: ClassVar[type[Parameters]] = AnimalParameters
    rng_type: ClassVar[str] = "DynamicObjectCrossing"


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherBlockerParameters(Parameters):
    """Blocker, person and side."""

    blocker_model: str = model("static.prop.container", "static.prop.", "vehicle.")
    blocker_z: float = offset()
    distance: float = ahead(12.0)
    direction: str = side()
    crossing_angle: float = crossing_angle()
    walker: str = model("walker.pedestrian.*", "walker.")
    speed: float = field(default=2.0, metadata=INTERNAL)


@scenario(
    "PedestrianOtherBlocker",
    "a person steps out from behind something unusual",
    benchmark=FAIL2DRIVE,
    public_type="DynamicObjectCrossing",
    shifts=(
        Shift(
            name="PedestrianOtherBlocker",
            category="Visual-lon",
            caption="hidden by something else",
            pairs=(70, 74),
        ),
    ),
    base="DynamicObjectCrossing",
    base_without=(
        "blocker_model",
        "blocker_z",
    ),
)
@dataclass(slots=True, kw_only=True)
class OtherBlocker(LbCrossing):
    """DynamicObjectCrossing with another blocker; shares the random streams of that type."""

    parameters_type: ClassVar[type[Parameters]] = OtherBlockerParameters
    rng_type: ClassVar[str] = "DynamicObjectCrossing"
