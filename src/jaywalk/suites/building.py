"""Suites that are built for any town on demand: kinds by name, and what each is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from jaywalk.core.registry import Registry, Spec
from jaywalk.scenarios.formats.route_xml import RouteFile
from jaywalk.town.town import Town

# Entries load a Builder; options that a kind has no use for are a UsageError there.
SUITE_KINDS: Final[Registry[Spec]] = Registry("kind of suite")
SUITE_KINDS.add(
    "habit",
    "jaywalk.suites.habit:build",
    "routes of 200 to 800 m with 12 weathers, 30 vehicles, 20 posed people and 10 ambient ones",
)
SUITE_KINDS.add(
    "random",
    "jaywalk.suites.random_routes:build",
    "random routes with traffic and people, no scenarios",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """What to build; None: as the kind likes."""

    town: Town
    routes: int
    seed: int = 1
    length_m: float | None = None
    vehicles: int | None = None
    people: int | None = None


Builder = Callable[[BuildRequest], RouteFile]


def build_suite(kind: str, request: BuildRequest) -> RouteFile:
    """Routes of a kind, for ``write_routes``; equal requests give equal files.

    Raises:
        RegistryError: There is no such kind.
        DataError: The town has no room for what is wanted.
    """
    builder: Builder = SUITE_KINDS.get(kind).load()
    return builder(request)
