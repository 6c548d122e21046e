"""Kinds of suites that can be built for any town on demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from jaywalk.core.registry import Registry, Spec
from jaywalk.scenarios.formats.route_xml import RouteFile
from jaywalk.town.town import Town

# Entries load a Builder; an option that a kind does not support is a UsageError there.
SUITE_KINDS: Final[Registry[Spec]] = Registry("kind of suite", packages=("jaywalk.suites",))


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """Request for routes; None selects the default of the kind."""

    town: Town
    routes: int
    seed: int = 1
    length_m: float | None = None
    vehicles: int | None = None
    people: int | None = None


Builder = Callable[[BuildRequest], RouteFile]


def suite_kind(name: str, summary: str) -> Callable[[Builder], Builder]:
    """Register a builder as a kind of suite."""

    def register(builder: Builder) -> Builder:
        SUITE_KINDS.register(Spec(name=name, summary=summary, target=builder))
        return builder

    return register


def build_suite(kind: str, request: BuildRequest) -> RouteFile:
    """Build routes of a kind, for ``write_routes``; equal requests give equal files.

    Raises:
        RegistryError: The kind is unknown.
        DataError: The town has no room for the routes.
    """
    builder: Builder = SUITE_KINDS.get(kind).load()
    return builder(request)
