"""Human motion: skeletons, retargeting, motion libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaywalk.motion.library.reading import MotionLibrary


def default_library(*, say: Callable[[str], None] = lambda _: None) -> MotionLibrary:
    """The motions that come with Jaywalk; see :mod:`jaywalk.motion.synthesis.default`."""
    from jaywalk.motion.synthesis.default import default_library as found  # heavy imports

    return found(say=say)
