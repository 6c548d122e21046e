"""Registry of scenario types: the facts that each type states about itself, next to its class.

A class registers with ``@scenario(name, summary, ...)`` above its ``@dataclass`` line, once per
type that it plays. The toolbox, suites, route export, sheets and lists read the registry.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from jaywalk.core.registry import Registry, Spec

JAYWALK, LEADERBOARD, FAIL2DRIVE = "jaywalk", "leaderboard", "fail2drive"
BLOCKED_CRITERION, WRONG_LANE_CRITERION = "blocked", "wrong_lane"
STRAIGHT, TURN_LEFT, TURN_RIGHT = "straight", "left", "right"
# Words for the standard scenario that a layout of objects is compared with.
PARTNER_WORDS: Final = ("construction", "accident", "parked", "none")
_SUMMARY_PREFIX: Final = {LEADERBOARD: "public type, ", FAIL2DRIVE: "Fail2Drive: "}


@dataclass(frozen=True, slots=True, kw_only=True)
class StreetNeeds:
    """Properties that the route of a scenario type must have.

    Attributes:
        junction: How the ego crosses the first junction; "" for a stretch without one.
        control: Before it ``light``, ``stop``, ``free`` (neither lights nor signs) or ``dark`` (no
            lights); "" for any.
        arm: The arm from which another road user meets the ego there; "" for none.
        they: Their direction there, ``straight``, ``right`` or "" for any.
        return_lane: A lane left of theirs at both ends, for a stream in the other direction.
        lane: Beside the lane: ``same`` (left, same direction), ``opposite``, ``queue`` (right, same
            direction), ``parking`` (right), or "" for any.
        sidewalk: A sidewalk on the right, before the junction if there is one.
        length_m: Clear road from the trigger on.
        parks_m: Interval, from the trigger on, in which something is parked.
        kerb_m: Largest distance from the lane's middle to the kerb, or to a parking bay; 0 for any.
    """

    junction: str = ""
    control: str = ""
    arm: str = ""
    they: str = ""
    return_lane: bool = False
    lane: str = ""
    sidewalk: bool = False
    length_m: float = 65.0
    parks_m: tuple[float, float] = (20.0, 45.0)
    kerb_m: float = 0.0


ANY_STREET: Final = StreetNeeds()
SAME_LANE: Final = StreetNeeds(lane="same")
OPPOSITE_LANE: Final = StreetNeeds(lane="opposite")


def left_turn(control: str, they: str) -> StreetNeeds:
    """Return the needs of a left turn across or into vehicles from the opposite arm."""
    return StreetNeeds(junction=TURN_LEFT, arm="opposite", control=control, they=they)


def right_turn(control: str, they: str) -> StreetNeeds:
    """Return the needs of a right turn into vehicles from the left arm."""
    return StreetNeeds(junction=TURN_RIGHT, arm="left", control=control, they=they)


@dataclass(frozen=True, slots=True, kw_only=True)
class Placing:
    """Rule by which the public class finds the place ``distance`` ahead of the trigger.

    Attributes:
        stops_at_junction: It walks along the lane and stops at a junction; otherwise it takes the
            first branch.
        sign_at_trigger: It puts a sign beside the trigger, so the trigger needs a roadside.
        on_route: The place must be on the route; a scenario file is checked for that.
    """

    stops_at_junction: bool = False
    sign_at_trigger: bool = True
    on_route: bool = True


WALKS_TO_JUNCTION: Final = Placing(stops_at_junction=True)
TAKES_FIRST_BRANCH: Final = Placing()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """A class of shift: results of paired suites are grouped by its name.

    Attributes:
        name: Name as in routes, for example ``BadParking``.
        category: Group of classes in the published tables.
        caption: A few words for sheets of pictures.
        pairs: First and last number of its pairs in the published split.
        objects: Objects of a new scenario file, for types that place objects.
        object_models: A scenario of a type with several shifts is of this one if a model of its
            objects contains one of these words ...
        scenario_name: ... or if its name contains this word.
        partner: One of ``PARTNER_WORDS``, if the shift decides and not the layout.
    """

    name: str
    category: str = ""
    caption: str = ""
    pairs: tuple[int, int] | None = None
    objects: tuple[Mapping[str, Any], ...] = ()
    object_models: tuple[str, ...] = ()
    scenario_name: str = ""
    partner: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioSpec(Spec):
    """Facts about one scenario type; ``name`` is its type in route files.

    Attributes:
        parameters: Dataclass of its parameters, if not that of the class.
        benchmark: Benchmark whose route files use the type; "" for other packages.
        public_type: Type under which public route files write it, if another one.
        street: Properties of a street on which it can be played.
        shifts: Classes of shift it belongs to; several if objects or names decide.
        base: Standard type that its partner in a counterfactual pair plays; "" for none.
        base_without: Parameters that the partner does not set.
        base_setting: Parameter and value that make a scenario of this type its own partner.
        partners: Partner by its word, for types whose files may name it.
        placing: Rule of the public class, for types that place something ahead.
        parameter_words: Comment on a parameter, where the general one does not fit.
    """

    parameters: Any = None
    benchmark: str = ""
    public_type: str = ""
    street: StreetNeeds = ANY_STREET
    shifts: tuple[Shift, ...] = ()
    base: str = ""
    base_without: tuple[str, ...] = ()
    base_setting: tuple[str, str] | None = None
    partners: Mapping[str, str] = field(default_factory=dict)
    placing: Placing | None = None
    parameter_words: Mapping[str, str] = field(default_factory=dict)

    @property
    def parameters_type(self) -> Any:
        """Dataclass of its parameters."""
        return self.parameters or self.load().parameters_type

    @property
    def rng_type(self) -> str:
        """Type in the keys of its random streams."""
        return str(self.load().rng_type or self.name)

    @property
    def suspends(self) -> tuple[str, ...]:
        """Criteria that do not count while it runs."""
        kind = self.load()
        blocked = (BLOCKED_CRITERION,) if kind.timeout_s < math.inf else ()
        return blocked + ((WRONG_LANE_CRITERION,) if kind.uses_opposite_lane else ())


SCENARIOS: Final[Registry[ScenarioSpec]] = Registry(
    "scenario",
    packages=(
        "jaywalk.scenarios.obstacles",
        "jaywalk.scenarios.crossings",
        "jaywalk.scenarios.junctions",
        "jaywalk.scenarios.flows",
        "jaywalk.scenarios._public_types",
    ),
)

ClassT = TypeVar("ClassT", bound=type)


def scenario(
    name: str, summary: str, *, benchmark: str = "", **facts: Any
) -> Callable[[ClassT], ClassT]:
    """Register a class as a scenario type.

    Args:
        name: Type in route files; use ``package/name-v1`` for your own.
        summary: One line for lists.
        benchmark: Benchmark whose route files use the type.
        **facts: Other fields of :class:`ScenarioSpec`.

    Raises:
        RegistryError: Another class has the name.
    """

    def register(kind: ClassT) -> ClassT:
        line = _SUMMARY_PREFIX.get(benchmark, "") + summary
        SCENARIOS.register(
            ScenarioSpec(name=name, summary=line, target=kind, benchmark=benchmark, **facts)
        )
        return kind

    return register


def shift_classes(benchmark: str = FAIL2DRIVE) -> dict[str, Shift]:
    """Return the classes of shift of a benchmark, by name."""
    return {
        shift.name: shift
        for spec in SCENARIOS
        if spec.benchmark == benchmark
        for shift in spec.shifts
    }


def type_named(name: str) -> str:
    """Return the type with a name, or the first type of the class of shift with that name.

    ``pram`` is short for our own ``jaywalk/pram-v1``.
    """
    if name in SCENARIOS:
        return name
    if f"{JAYWALK}/{name}-v1" in SCENARIOS:
        return f"{JAYWALK}/{name}-v1"
    return next(
        (spec.name for spec in SCENARIOS for shift in spec.shifts if shift.name == name), name
    )
