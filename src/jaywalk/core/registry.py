"""Registries of the kinds of objects that can be extended: scenarios, metrics, drivers, ...

Each kind of thing has a spec, a frozen dataclass derived from :class:`Spec`, and one
:class:`Registry` of such specs. An object registers itself next to its own code, usually with a
decorator, and its spec states all facts about it. Lists, docs and reports read the registry.

Jaywalk's objects are found by importing the modules of the registry's ``packages`` on first use.
Other distributions add theirs through the entry-point group ``jaywalk``: each entry point names a
module, and importing that module registers its objects.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Final, Generic, TypeVar

from jaywalk.core.errors import RegistryError
from jaywalk.core.text import suggestion

ENTRY_POINT_GROUP: Final = "jaywalk"
_VERSION_SUFFIX: Final = re.compile(r"-v\d+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """Facts that every registered object states about itself.

    Attributes:
        name: Name by which users ask for it.
        summary: One line for lists.
        version: Raised with every change that can move a result.
        target: The object, or ``module:attribute`` to import it on first use.
    """

    name: str
    summary: str
    version: int = 1
    target: Any = ""

    @property
    def id(self) -> str:
        """Name with version, for example ``expert-v3``."""
        return self.name if _VERSION_SUFFIX.search(self.name) else f"{self.name}-v{self.version}"

    def load(self) -> Any:
        """Return the object, importing it if needed."""
        if not isinstance(self.target, str):
            return self.target
        module, _, attribute = self.target.partition(":")
        return getattr(import_module(module), attribute)

    def facts(self) -> dict[str, Any]:
        """Return the facts of this kind, in a form that JSON can hold."""
        return {}

    @property
    def defined_in(self) -> str:
        """Module that defines the object, for messages."""
        if isinstance(self.target, str):
            return self.target.partition(":")[0]
        return str(getattr(self.target, "__module__", "an unknown module"))


SpecT = TypeVar("SpecT", bound=Spec)


class Registry(Generic[SpecT]):
    """Specs of one kind by name, sorted when listed."""

    def __init__(self, kind: str, *, packages: tuple[str, ...] = ()) -> None:
        """Create an empty registry.

        Args:
            kind: Name of an entry in messages.
            packages: Packages or modules whose import registers Jaywalk's objects.
        """
        self.kind = kind
        self._packages = packages
        self._specs: dict[str, SpecT] = {}
        self._complete = False

    def register(self, spec: SpecT) -> None:
        """Add a spec.

        Raises:
            RegistryError: The name is taken by another object.
        """
        known = self._specs.get(spec.name)
        if known is not None and known.target is not spec.target:
            raise RegistryError(
                f"The {self.kind} '{spec.name}' is registered twice: by {known.defined_in} and by "
                f"{spec.defined_in}. Rename one of them."
            )
        self._specs[spec.name] = spec

    def add(self: Registry[Spec], name: str, target: str, summary: str, version: int = 1) -> None:
        """Add an object by its import string; for kinds whose spec adds no facts."""
        self.register(Spec(name=name, target=target, summary=summary, version=version))

    def get(self, name: str) -> SpecT:
        """Return the spec called ``name``.

        Raises:
            RegistryError: Nothing has that name; the message suggests the nearest one.
        """
        self._complete_once()
        if name in self._specs:
            return self._specs[name]
        raise RegistryError(f"Unknown {self.kind} '{name}'.{suggestion(name, self._specs)}")

    def __contains__(self, name: object) -> bool:
        self._complete_once()
        return name in self._specs

    def __iter__(self) -> Iterator[SpecT]:
        self._complete_once()
        return iter(sorted(self._specs.values(), key=lambda spec: spec.name))

    def __len__(self) -> int:
        self._complete_once()
        return len(self._specs)

    def _complete_once(self) -> None:
        if self._complete:
            return
        self._complete = True  # first: the modules below may ask this registry
        try:
            for package in self._packages:
                _import_all(package)
            load_plugins()
        except BaseException:
            self._complete = False  # the next caller gets the error too, not half a list
            raise


def _import_all(name: str) -> None:
    """Import a module, or all modules of a package."""
    package = import_module(name)
    for module in pkgutil.iter_modules(getattr(package, "__path__", ())):
        import_module(f"{name}.{module.name}")


@cache
def load_plugins() -> tuple[str, ...]:
    """Import the modules that installed distributions name as entry points; returns their names.

    Raises:
        RegistryError: A module cannot be imported.
    """
    names = []
    for entry in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda entry: entry.name):
        try:
            entry.load()
        except Exception as error:
            owner = entry.dist.name if entry.dist else "unknown"
            reason = str(error).rstrip(".") or type(error).__name__
            raise RegistryError(
                f"The plug-in '{entry.name}' of the package '{owner}' cannot be loaded: {reason}. "
                f"Fix or uninstall '{owner}'."
            ) from error
        names.append(entry.name)
    return tuple(names)
