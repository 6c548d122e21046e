"""One registry for everything that has a name and a version.

An entry is a name and an import string ``module:object``; the object is imported on first use, so
listing costs nothing and heavy dependencies load only when asked for.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from jaywalk.core.errors import RegistryError


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A registered thing: where it lives and one line on what it is."""

    name: str
    target: str
    summary: str
    version: str = ""  # of what can move a result; "" where the name says it, or nothing does

    def load(self) -> Any:
        """Import and return the object."""
        module, _, attribute = self.target.partition(":")
        return getattr(import_module(module), attribute)


class Registry:
    """Names of one kind of thing (towns, agents, scenarios, ...), sorted when listed."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, Entry] = {}

    def add(self, name: str, target: str, summary: str, version: str = "") -> None:
        """Register ``name``; a doubled name is an error."""
        if name in self._entries:
            raise RegistryError(f"{self.kind} '{name}' is registered twice.")
        self._entries[name] = Entry(name=name, target=target, summary=summary, version=version)

    def get(self, name: str) -> Entry:
        """Return the entry called ``name``, or say which name was probably meant."""
        if name in self._entries:
            return self._entries[name]
        near = difflib.get_close_matches(name, self._entries, n=1, cutoff=0.5)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        known = ", ".join(sorted(self._entries)) or "none"
        raise RegistryError(f"Unknown {self.kind} '{name}'.{hint} Known: {known}.")

    def __iter__(self) -> Iterator[Entry]:
        return iter(sorted(self._entries.values(), key=lambda entry: entry.name))

    def __len__(self) -> int:
        return len(self._entries)
