"""Public names of a package, imported on first use.

A room's ``__init__`` names its public objects without importing them, so that importing one module
of a room does not load the whole room.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(
    package: str, modules: Mapping[str, tuple[str, ...]]
) -> tuple[Callable[[str], Any], list[str]]:
    """Return ``__getattr__`` and ``__all__`` of a package.

    Args:
        package: ``__name__`` of the package.
        modules: Public names by the module of the package that defines them.

    Example:
        >>> load, names = lazy_exports("jaywalk.core", {"errors": ("UsageError",)})
        >>> names
        ['UsageError']
        >>> load("UsageError").__name__
        'UsageError'
    """
    owner = {name: module for module, names in modules.items() for name in names}

    def load(name: str) -> Any:
        if name not in owner:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return getattr(import_module(f"{package}.{owner[name]}"), name)

    return load, sorted(owner)
