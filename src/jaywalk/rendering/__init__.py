"""Pictures and sensor data of recorded episodes, made afterwards by the server's own sensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaywalk.core.lazy import lazy_exports

if TYPE_CHECKING:
    from jaywalk.rendering.recorded_world import RecordedWorld as RecordedWorld
    from jaywalk.rendering.replay_camera import ReplayCamera as ReplayCamera

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "recorded_world": ("RecordedWorld",),
        "replay_camera": ("ReplayCamera",),
    },
)
