"""Registry of drivers. A driver registers itself with the decorator :func:`driver`.

Raise the version of a driver with every change that can affect its decisions. Numbering starts at 1
with the first committed baselines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from jaywalk.agents.base import Driver
from jaywalk.core.registry import Registry, Spec

FULL: Final = "full"
LIMITED: Final = "limited"
_PERCEPTION: Final = "perception"

DriverT = TypeVar("DriverT", bound=Driver)


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverSpec(Spec):
    """Facts about a driver.

    Attributes:
        arguments: Names of its arguments, apart from ``perception``.
        perception: Levels of perception that it supports; empty if it has no such argument.
        needs: Parts of the world that it reads, apart from its route and the ego's state.
    """

    arguments: tuple[str, ...] = ()
    perception: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    @property
    def all_arguments(self) -> tuple[str, ...]:
        """Names of all arguments."""
        return (*((_PERCEPTION,) if self.perception else ()), *self.arguments)

    def facts(self) -> dict[str, Any]:
        """Return arguments, perception levels and needs."""
        return {
            "arguments": list(self.all_arguments),
            "perception": list(self.perception),
            "needs": list(self.needs),
        }


AGENTS: Final[Registry[DriverSpec]] = Registry(
    "agent", packages=("jaywalk.agents.baselines", "jaywalk.agents.expert")
)


def driver(
    name: str,
    *,
    summary: str,
    version: int = 1,
    arguments: tuple[str, ...] = (),
    perception: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
) -> Callable[[type[DriverT]], type[DriverT]]:
    """Register a driver class under ``name``; :class:`DriverSpec` explains the arguments."""

    def register(kind: type[DriverT]) -> type[DriverT]:
        kind.name, kind.version = name, str(version)
        AGENTS.register(
            DriverSpec(
                name=name,
                summary=summary,
                version=version,
                arguments=arguments,
                perception=perception,
                needs=needs,
                target=kind,
            )
        )
        return kind

    return register


def driver_version(name: str) -> str:
    """Return the version of a driver: ``expert-v1`` of a registered one, the digest of a file.

    An agent at an address has no version here: it declares its version during setup.
    """
    if "://" in name:
        return ""
    if name.endswith(".py"):
        path = Path(name)
        return f"sha256:{_file_digest(path)[:16]}" if path.is_file() else ""
    return AGENTS.get(name).id


def is_own_driver(name: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether a driver is part of Jaywalk, and its predictor, if it has one, too."""
    from jaywalk.forecasting.predictors.plugged import is_plugged  # slow to import

    if "://" in name or name.endswith(".py"):
        return False
    if is_plugged(str(arguments.get("predictor", ""))):
        return False
    return AGENTS.get(name).defined_in.startswith("jaywalk.")


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
