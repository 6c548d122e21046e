"""Checks for users: agent wiring, machine health, scenario staging and sheets of pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaywalk.core.lazy import lazy_exports

if TYPE_CHECKING:
    from jaywalk.checks.drive import check_drive as check_drive
    from jaywalk.checks.drive import check_reach as check_reach
    from jaywalk.checks.rules import Finding as Finding
    from jaywalk.checks.rules import judge as judge

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "drive": (
            "check_drive",
            "check_reach",
        ),
        "rules": (
            "Finding",
            "judge",
        ),
    },
)
