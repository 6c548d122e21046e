"""A suite: routes with their background actors, under one name and version."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from jaywalk.actors.reactive.custom import CUSTOM, check_policy, is_custom
from jaywalk.actors.reactive.traits import CAMPUS_MODEL, PEOPLE_MODELS, REACTIVE, SCRIPTED
from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.registry import Registry, Spec
from jaywalk.core.text import suggestion
from jaywalk.scenarios.formats.route_xml import Route, ScenarioElement, read_routes
from jaywalk.scenarios.formats.xml_node import attribute


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteSpec(Spec):
    """Facts about a registered suite; it loads a function (variant: str) -> Suite.

    A variant that the suite does not have is a UsageError of that function.

    Attributes:
        owner: Package that publishes it; first part of the id.
        towns: Towns of its routes.
        routes: Number of routes, without a variant.
        wet_grip: Whether wet roads are slippery in it.
        protocol: Protocol under which its results are reported.
        scripted_version: Version in which people do not react to vehicles; 0 if there is none.
    """

    owner: str = "jaywalk"
    towns: tuple[str, ...]
    routes: int
    wet_grip: bool = False
    protocol: str = "jaywalk"
    scripted_version: int = 0

    @property
    def id(self) -> str:
        """Owner, name and version, for example ``jaywalk/smoke-v3``."""
        return f"{self.owner}/{self.name}-v{self.version}"

    @property
    def scripted_id(self) -> str:
        """Id of the version in which people do not react; "" if there is none."""
        return f"{self.owner}/{self.name}-v{self.scripted_version}" if self.scripted_version else ""


SUITES: Final[Registry[SuiteSpec]] = Registry("suite", packages=("jaywalk.suites",))

MAX_BACKGROUND_ACTORS: Final = 1000  # upper bound for one kind on a route
_USUAL_SPEED: Final = (0.85, 1.0)
_SPLIT_NAME: Final = re.compile(r"(Base|Generalization)_(\w+?)_(\d+)")  # Fail2Drive's files
_VERSION: Final = re.compile(r"(-v\d+)(?=/|$)")
_SHIFT_OFFSET: Final = 1000  # number of a shift minus that of its base
PAIRED_SPEED: Final = (1.0, 1.0)  # for pairs, so that the minimum-speed rule is meaningful


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRoute:
    """One route of a suite with its background actors."""

    id: str  # unique in the suite, safe as a folder name
    route: Route  # town, weathers, keypoints, scenarios
    vehicles: int = 0  # background traffic
    traffic_speed: tuple[float, float] = _USUAL_SPEED  # factor on the limit, drawn per driver
    people: int = 0  # ambient people
    posed: int = 0  # people who are posed by clips of a motion library
    wet_grip: bool = False  # wet roads are slippery; CARLA's weather does not change physics
    pair: str = ""  # id shared by the routes of a counterfactual pair
    half: str = ""  # of a pair: "base" or "generalization"
    shift: str = ""  # of a pair: the class of its shift, e.g. "Wall"
    # For pairs: the scenarios of both routes, in the same order in both. The background keeps off
    # the space that any of them needs.
    pair_scenarios: tuple[ScenarioElement, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A named, versioned list of routes; a change that can move a score raises the version.

    Attributes:
        name: For example ``jaywalk/smoke-v3``.
        scripted_name: Name of the version in which nobody reacts. It also keys the random draws,
            so that both versions have the same traffic and the same people. "": ``name`` does.
        people_model: ``scripted``, or how posed and ambient people react.
        people_policy: The user's own model of posed people: a file, ``module:Class`` or an address;
            ambient people follow ``people_model``.
    """

    name: str
    routes: tuple[SuiteRoute, ...]
    variant: str = ""
    scripted_name: str = ""
    people_model: str = SCRIPTED
    people_policy: str = ""
    # Applies the variant to routes that are driven instead of those of the suite.
    apply_variant: Callable[[Suite], Suite] | None = None


def load_suite(name: str, variant: str = "") -> Suite:
    """Load a suite by its registered name, e.g. ``smoke``."""
    suite: Suite = SUITES.get(name).load()(variant)
    return suite


def with_people_model(suite: Suite, model: str = "") -> Suite:
    """Return a suite, as it was loaded, in the version of a people model; "": its default.

    By default people react wherever there are any who can: posed or ambient people.

    Raises:
        UsageError: The model does not exist, or the suite has no people.
        PrerequisiteError: No program listens at the address of the model.
    """
    if is_custom(model):
        return _with_policy(suite, model)
    if model and model not in PEOPLE_MODELS:
        raise UsageError(
            f"--people-model is '{model}'; expected one of {', '.join(PEOPLE_MODELS)}, "
            "or your own: FILE.py, module:Class or ws://HOST:PORT."
            + suggestion(model, PEOPLE_MODELS)
        )
    versioned = bool(suite.scripted_name)
    about = any(item.posed or item.people for item in suite.routes)
    chosen = model or (REACTIVE if versioned or about else SCRIPTED)
    if chosen != SCRIPTED and not (versioned or about):
        raise UsageError(
            f"--people-model is '{model}', but the suite '{suite.name}' has no people; give "
            "--people, or leave it out."
        )
    name = suite.name
    if versioned and chosen == SCRIPTED:
        name = suite.scripted_name
    elif versioned and chosen == CAMPUS_MODEL:
        name = _VERSION.sub(rf"-{CAMPUS_MODEL}\1", name)
    return replace(suite, name=name, people_model=chosen)


def _with_policy(suite: Suite, policy: str) -> Suite:
    """Return a suite in which posed people follow a policy of the user."""
    if not any(item.posed for item in suite.routes):
        raise UsageError(
            f"--people-model is '{policy}', but nobody in the suite '{suite.name}' is posed; use "
            "habit, or routes with posed people."
        )
    check_policy(policy)
    name = _VERSION.sub(rf"-{CUSTOM}\1", suite.name) if suite.scripted_name else suite.name
    return replace(suite, name=name, people_model=REACTIVE, people_policy=policy)


def with_partners(items: Sequence[SuiteRoute]) -> tuple[SuiteRoute, ...]:
    """Return the routes with the scenarios of both halves added to each route of a pair."""
    pairs: dict[str, list[SuiteRoute]] = {}
    for one in sorted(items, key=lambda item: item.id):
        if one.pair:
            pairs.setdefault(one.pair, []).append(one)
    known = {
        pair: tuple(dict.fromkeys(element for one in routes for element in one.route.scenarios))
        for pair, routes in pairs.items()
    }
    return tuple(replace(one, pair_scenarios=known[one.pair]) if one.pair else one for one in items)


def suite_of_files(
    paths: Sequence[Path], *, vehicles: int = 0, people: int = 0, posed: int = 0
) -> Suite:
    """Make a suite of the user's own files: routes (.xml) or scenarios (.toml, .yaml).

    Ids are ``<file>-<route id>``, of a scenario file its name. A route's own attributes ``pair``
    and ``half`` make pairs, which share traffic and seeds, and so do files named as those of
    Fail2Drive's split. ``vehicles``, ``people`` and ``posed`` of a route replace the arguments.
    """
    background = {"vehicles": vehicles, "people": people, "posed": posed}
    routes = [item for path in paths for item in _items_of(path, background)]
    doubled = {one.id for one in routes if sum(one.id == other.id for other in routes) > 1}
    if doubled:
        raise UsageError(f"Two route files give the same route id: {', '.join(sorted(doubled))}.")
    if not routes:
        raise UsageError("No route found in the given files.")
    given = {path.resolve() for path in paths}
    others = [mate for path in paths if (mate := _other_half(path)) is not None]
    absent = [path for path in others if path.resolve() not in given]
    mates = [item for path in absent for item in _items_of(path, background)]
    return Suite(name="files", routes=with_partners([*routes, *mates])[: len(routes)])


def _items_of(path: Path, background: dict[str, int]) -> list[SuiteRoute]:
    """Return the routes of one file."""
    items = []
    for wanted, route in _routes_of(path):
        name = "".join(k if k.isalnum() or k in "-_." else "_" for k in wanted)
        pair = attribute(route.attributes, "pair") or _pair_of(path.stem)
        items.append(
            SuiteRoute(
                id=name,
                route=route,
                pair=pair,
                traffic_speed=PAIRED_SPEED if pair else _USUAL_SPEED,
                half=attribute(route.attributes, "half") or "",
                shift=attribute(route.attributes, "shift") or "",
                vehicles=_background_count(route, "vehicles", background["vehicles"], path),
                people=_background_count(route, "people", background["people"], path),
                posed=_background_count(route, "posed", background["posed"], path),
            )
        )
    return items


def _routes_of(path: Path) -> list[tuple[str, Route]]:
    """Return the routes of a route file or a scenario file, with their ids."""
    if path.suffix.lower() in (".toml", ".yaml", ".yml"):
        # Imported only when needed: most runs have no such file.
        from jaywalk.scenarios.toolbox.form import read_authored
        from jaywalk.scenarios.toolbox.routes import route_of

        file = read_authored(path)
        return [(file.name, route_of(file))]
    return [(f"{path.stem}-{route.id}", route) for route in read_routes(path).routes]


def _pair_of(stem: str) -> str:
    """Return the pair id from a file name of Fail2Drive's split; "" for other names."""
    match = _SPLIT_NAME.fullmatch(stem)
    return "" if match is None else f"{match[2]}_{int(match[3]) % _SHIFT_OFFSET:04d}"


def _other_half(path: Path) -> Path | None:
    """Return the file of the other half of such a pair, if it is in the same folder."""
    match = _SPLIT_NAME.fullmatch(path.stem)
    if match is None:
        return None
    number = int(match[3]) % _SHIFT_OFFSET
    stem = (
        f"Generalization_{match[2]}_{number + _SHIFT_OFFSET:04d}"
        if match[1] == "Base"
        else f"Base_{match[2]}_{number:04d}"
    )
    other = path.with_name(f"{stem}{path.suffix}")
    return other if other.is_file() else None


def _background_count(route: Route, key: str, otherwise: int, path: Path) -> int:
    text = attribute(route.attributes, key)
    if text is None:
        return otherwise
    if not text.isdecimal() or len(text) > 9 or int(text) > MAX_BACKGROUND_ACTORS:
        raise DataError(
            f"'{path}', route {route.id}: {key} is '{text}', expected a whole number, 0 to "
            f"{MAX_BACKGROUND_ACTORS}."
        )
    return int(text)
