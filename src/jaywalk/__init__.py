"""Jaywalk tests driving systems around people."""

from typing import TYPE_CHECKING

from jaywalk.core.lazy import lazy_exports
from jaywalk.core.process import ensure_home

if TYPE_CHECKING:
    from jaywalk.api import Run as Run
    from jaywalk.api import drive as drive
    from jaywalk.api import load as load

__version__ = "0.3.0"

__getattr__, __all__ = lazy_exports(__name__, {"api": ("Run", "drive", "load")})

ensure_home()  # before anything imports the carla wheel, which crashes without one
