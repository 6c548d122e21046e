"""Suites of routes: smoke, fail2drive, habit, and suites built for any town."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaywalk.core.lazy import lazy_exports

if TYPE_CHECKING:
    from jaywalk.suites.building import BuildRequest as BuildRequest
    from jaywalk.suites.building import build_suite as build_suite

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "building": (
            "BuildRequest",
            "build_suite",
        ),
    },
)
