"""Which motion library a command was given."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jaywalk.cli.output import say

if TYPE_CHECKING:
    from jaywalk.motion.library.reading import MotionLibrary


def library_at(place: Path) -> MotionLibrary:
    """The library in a folder; ``default``, unless there is such a folder, is the one we make."""
    from jaywalk.motion import default_library
    from jaywalk.motion.library.reading import open_library

    if str(place) == "default" and not place.exists():
        return default_library(say=say)
    return open_library(place)
