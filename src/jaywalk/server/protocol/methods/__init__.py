"""Every RPC method that the wheels can call, grouped by what they are about."""

from jaywalk.server.protocol.methods import actors, batch, scenery, session, vehicles, walkers

__all__ = [
    "actors",
    "batch",
    "scenery",
    "session",
    "vehicles",
    "walkers",
]
