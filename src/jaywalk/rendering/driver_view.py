"""What the driver sees at one moment of a record, as a small picture for reports."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

from jaywalk.core.errors import JaywalkError
from jaywalk.record import Record
from jaywalk.rendering.recorded_world import RecordedWorld
from jaywalk.rendering.replay_camera import CameraChoice, ReplayCamera, jpeg

VIEW_PX: Final = (640, 360)
_QUALITY: Final = 76

log = logging.getLogger("jaywalk.rendering")


class DriverViews:
    """Makes pictures from the driver's place; calls give JPEG bytes.

    An episode that cannot be rendered here, for lack of its map, its ego, its motion library or an
    installed extra, has no picture; the reason is logged once.
    """

    def __init__(self, motions: Path | None = None) -> None:
        """Start.

        Args:
            motions: Motion library of the records' posed people; None: ours.
        """
        self._motions = motions
        self._reasons: set[str] = set()

    def __call__(self, record: Record, time_s: float) -> bytes:
        """Return the picture at a game time as JPEG; empty if there is none."""
        try:
            world = RecordedWorld(record, self._motions)
            camera = ReplayCamera(world, CameraChoice("front"), size_px=VIEW_PX)
            return jpeg(camera.picture(world.index_at(time_s)), _QUALITY)
        except (JaywalkError, ImportError) as problem:
            if str(problem) not in self._reasons:
                self._reasons.add(str(problem))
                log.info("no driver's view: %s", problem)
            return b""
