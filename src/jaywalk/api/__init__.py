"""Runs from Python and notebooks: drive a suite, and read results as data frames and figures.

``jaywalk.load`` and ``jaywalk.drive`` are the same functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaywalk.core.extras import missing_extra
from jaywalk.core.lazy import lazy_exports

if TYPE_CHECKING:
    from jaywalk.api.driving import drive as drive
    from jaywalk.api.loading import Run as Run
    from jaywalk.api.loading import load as load

_load, __all__ = lazy_exports(__name__, {"driving": ("drive",), "loading": ("Run", "load")})


def __getattr__(name: str) -> Any:
    try:
        return _load(name)
    except ModuleNotFoundError as problem:
        raise missing_extra(problem) or problem from problem
