"""A world server that speaks CARLA's protocol: wire format, simulated world and sensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaywalk.core.lazy import lazy_exports

if TYPE_CHECKING:
    from jaywalk.server.process import ServerProcess as ServerProcess
    from jaywalk.server.process import free_port as free_port

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "process": (
            "ServerProcess",
            "free_port",
        ),
    },
)
