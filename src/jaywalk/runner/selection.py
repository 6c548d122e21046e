"""Selection of a suite by name or route files, with subsets and overrides."""

from __future__ import annotations

import glob
from collections.abc import Callable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from jaywalk.core.errors import UsageError
from jaywalk.core.text import suggestion
from jaywalk.scenarios.formats.route_xml import Route
from jaywalk.scenarios.suite import SUITES, Suite, SuiteRoute, load_suite, suite_of_files

FILES_SUITE: Final = "files"
_SUFFIXES: Final = (".xml", ".toml", ".yaml", ".yml")


def find_suite(name: str, variant: str = "", routes: str = "") -> Suite:
    """Find a suite by name, or make one from route files.

    Args:
        name: A registered suite; a route file, a folder of them or a glob; or ``files``.
        variant: Variant of a registered suite.
        routes: A glob of route files to drive instead of the suite's routes; or a glob of ids, to
            drive only the matching routes.
    """
    if name == FILES_SUITE or (_looks_like_files(name) and not _is_registered(name)):
        if variant:
            raise UsageError(f"--variant is '{variant}', but route files have no variants.")
        pattern = routes if name == FILES_SUITE else name
        if not pattern:
            raise UsageError("The suite 'files' needs --routes with a file or a glob.")
        suite = suite_of_files(_files(pattern))
        return suite if name == FILES_SUITE or not routes else _matching(suite, routes)
    suite = load_suite(name, variant)
    if routes and _looks_like_files(routes) and glob.glob(routes, recursive=True):
        return _on_other_routes(suite, _files(routes))
    return _matching(suite, routes) if routes else suite


def _on_other_routes(suite: Suite, files: list[Path]) -> Suite:
    """Return the user's routes with as many vehicles and people as in the suite."""
    about = suite.routes[0]
    selected = suite_of_files(
        files, vehicles=about.vehicles, people=about.people, posed=about.posed
    )
    selected = replace(
        override(selected, wet_grip=about.wet_grip),
        name=f"{suite.name}/files",
        variant=suite.variant,
        scripted_name=f"{suite.scripted_name}/files" if suite.scripted_name else "",
        people_model=suite.people_model,
        people_policy=suite.people_policy,
    )
    return selected if suite.apply_variant is None else suite.apply_variant(selected)


def _is_registered(name: str) -> bool:
    """Return True for a suite's name, even if a folder has the same name."""
    return name in SUITES


def _looks_like_files(name: str) -> bool:
    return name.endswith(_SUFFIXES) or "*" in name or Path(name).is_dir()


def _files(pattern: str) -> list[Path]:
    folder = Path(pattern)
    patterns = [str(folder / f"*{item}") for item in _SUFFIXES] if folder.is_dir() else [pattern]
    names = sorted(name for item in patterns for name in glob.glob(item, recursive=True))
    files = [Path(name) for name in names]
    if not files:
        raise UsageError(
            f"No route file matches '{pattern}'. Expected .xml files with <routes>, or scenario "
            "files (.toml, .yaml)."
        )
    return files


def _matching(suite: Suite, pattern: str) -> Suite:
    kept = [item for item in suite.routes if fnmatchcase(item.id, pattern)]
    if not kept:
        raise UsageError(f"--routes '{pattern}' matches no route.{_unknown(suite, pattern)}")
    return replace(suite, routes=tuple(kept))


def subset_of(suite: Suite, ids: str) -> Suite:
    """Select routes by ids and inclusive ranges, as in ``1,5-9``; the suite's order is kept.

    An id is that of the suite or that of the route in its file.
    """
    if not ids:
        return suite
    wanted: set[int] = set()
    for group in ids.replace(" ", "").split(","):
        wanted |= _group(suite, group)
    return replace(suite, routes=tuple(suite.routes[number] for number in sorted(wanted)))


def first_of(suite: Suite, limit: int) -> Suite:
    """Keep the first ``limit`` routes; 0 keeps all."""
    return replace(suite, routes=suite.routes[:limit]) if limit else suite


def _group(suite: Suite, group: str) -> set[int]:
    whole = _places(suite, group)
    if whole:
        return whole
    # Ids may contain dashes: try each dash as that of a range.
    for cut in [place for place, letter in enumerate(group) if letter == "-"]:
        first, last = _places(suite, group[:cut]), _places(suite, group[cut + 1 :])
        if first and last:
            if min(first) > max(last):
                raise UsageError(f"Range '{group}' of --subset runs backwards.")
            return set(range(min(first), max(last) + 1))
    raise UsageError(
        f"--subset names '{group}', which is not a route of the suite.{_unknown(suite, group)}"
    )


def _places(suite: Suite, name: str) -> set[int]:
    """Find the routes with an id, which is that of the suite, that in the file, or its number."""
    tests: tuple[Callable[[SuiteRoute], bool], ...] = (
        lambda item: item.id == name,
        lambda item: item.route.id == name,
        lambda item: item.route.id.isdecimal() and int(item.route.id) == int(name),
    )
    for test in tests if name.isdecimal() else tests[:2]:
        places = {place for place, item in enumerate(suite.routes) if test(item)}
        if places:
            return places
    return set()


def _unknown(suite: Suite, name: str) -> str:
    """Suggest the route that was meant, or name some."""
    return suggestion(name, [item.id for item in suite.routes])


def override(
    suite: Suite,
    *,
    people: int | None = None,
    vehicles: int | None = None,
    town: str = "",
    wet_grip: bool | None = None,
) -> Suite:
    """Return the suite with other numbers of people or vehicles, another town or other wet grip.

    Two thirds of the people are posed if the suite has posed people.
    """

    def changed(item: SuiteRoute) -> SuiteRoute:
        posed = item.posed
        if posed and people is not None:
            posed = round(2 * people / 3)
        return replace(
            item,
            posed=posed,
            people=item.people if people is None else people - posed,
            vehicles=item.vehicles if vehicles is None else vehicles,
            wet_grip=item.wet_grip if wet_grip is None else wet_grip,
            route=_in_town(item.route, town) if town else item.route,
        )

    return replace(suite, routes=tuple(map(changed, suite.routes)))


def _in_town(route: Route, town: str) -> Route:
    attributes = tuple((key, town if key == "town" else value) for key, value in route.attributes)
    return replace(route, attributes=attributes)


def parse_seeds(text: str) -> tuple[int, ...]:
    """Parse seeds such as ``1,2,5-8``; each once, in the given order."""
    seeds: list[int] = []
    for group in text.replace(" ", "").split(","):
        first, dash, last = group.partition("-")
        try:
            low, high = int(first), int(last if dash else first)
        except ValueError:
            low, high = 1, 0
        if low > high or low < 0:
            raise UsageError(f"--seeds is '{text}', expected whole numbers as in 1,2,3 or 1-3.")
        seeds += range(low, high + 1)
    return tuple(dict.fromkeys(seeds))


def check_ids(items: Sequence[SuiteRoute]) -> None:
    """Raise unless every id of a suite is valid as a folder name."""
    for item in items:
        plain = all(letter.isalnum() or letter in "-_." for letter in item.id)
        if not plain or not item.id or item.id.startswith("."):
            raise UsageError(f"Route id '{item.id}' cannot be a folder's name.")
