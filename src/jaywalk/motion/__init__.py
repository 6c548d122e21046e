"""Human motion: skeletons, retargeting, motion libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaywalk.core.lazy import lazy_exports

if TYPE_CHECKING:
    from jaywalk.motion.clip import Clip as Clip
    from jaywalk.motion.library.reading import MotionLibrary as MotionLibrary
    from jaywalk.motion.library.reading import library_digest as library_digest
    from jaywalk.motion.library.reading import open_library as open_library
    from jaywalk.motion.playback.bank import ClipBank as ClipBank
    from jaywalk.motion.playback.players import Cue as Cue
    from jaywalk.motion.retarget import RigClip as RigClip
    from jaywalk.motion.synthesis.default import default_library as default_library
    from jaywalk.motion.synthesis.default import everyday_library as everyday_library
    from jaywalk.motion.synthesis.default import packaged_library as packaged_library

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "clip": ("Clip",),
        "library.reading": (
            "MotionLibrary",
            "library_digest",
            "open_library",
        ),
        "playback.bank": ("ClipBank",),
        "playback.players": ("Cue",),
        "retarget": ("RigClip",),
        "synthesis.default": ("default_library", "everyday_library", "packaged_library"),
    },
)
