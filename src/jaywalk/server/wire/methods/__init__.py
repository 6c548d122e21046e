"""Every RPC method that the wheels can call, grouped by what they are about."""

from jaywalk.server.wire.methods import (
    actors,
    batch,
    lights,
    scenery,
    sensors,
    session,
    traffic_manager,
    vehicles,
    walkers,
)

__all__ = [
    "actors",
    "batch",
    "lights",
    "scenery",
    "sensors",
    "session",
    "traffic_manager",
    "vehicles",
    "walkers",
]
