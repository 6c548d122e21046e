"""All RPC methods that the wheels can call, grouped by topic."""

from jaywalk.server.protocol.methods import _actors as actors
from jaywalk.server.protocol.methods import _batch as batch
from jaywalk.server.protocol.methods import _scenery as scenery
from jaywalk.server.protocol.methods import _session as session
from jaywalk.server.protocol.methods import _vehicles as vehicles
from jaywalk.server.protocol.methods import _walkers as walkers

__all__ = [
    "actors",
    "batch",
    "scenery",
    "session",
    "vehicles",
    "walkers",
]
