"""Streams of sensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaywalk.server.wire.codec import WireError, array, boolean, integer
from jaywalk.server.wire.rpc import RpcClient, rpc
from jaywalk.server.wire.streams import WORLD_STREAM
from jaywalk.server.world.tables import Kind

if TYPE_CHECKING:
    from jaywalk.server.wire.server import CarlaServer
    from jaywalk.server.world.actor import Actor


def _sensor(server: CarlaServer, actor_id: Any) -> Actor:
    return server.episode.world.actor_of_kind(integer(actor_id), Kind.SENSOR)


@rpc("get_sensor_token")
def get_token(server: CarlaServer, client: RpcClient, stream_id: Any) -> list[bytes]:
    """Where to subscribe to a stream; the next step waits a moment for the subscription."""
    if not 0 < integer(stream_id) < 1 << 32:
        raise WireError(f"stream id {stream_id} is out of range")
    if stream_id == WORLD_STREAM or server.episode.sensors.has_stream(stream_id):
        server.expect_subscriber(stream_id)
    if stream_id == WORLD_STREAM:
        client.awaits_snapshot = True
    return [server.stream_token(stream_id, client.dialect)]


@rpc("set_ignored_vehicles", "void")
def set_ignored(server: CarlaServer, client: RpcClient, actor_id: Any, vehicles: Any) -> None:
    """Vehicles that a sensor does not see from now on."""
    ignored = [integer(vehicle) for vehicle in array(vehicles)]
    server.episode.sensors.set_ignored(_sensor(server, actor_id).id, ignored)


@rpc("are_gbuffers_enabled")
def are_gbuffers_enabled(server: CarlaServer, client: RpcClient, actor_id: Any) -> bool:
    """There are no render buffers here."""
    _sensor(server, actor_id)
    return False


@rpc("enable_gbuffers", "void")
def enable_gbuffers(server: CarlaServer, client: RpcClient, actor_id: Any, enabled: Any) -> None:
    """Refuse: this world has no deferred renderer whose buffers could be sent."""
    _sensor(server, actor_id)
    if boolean(enabled):
        raise WireError("Jaywalk has no GBuffer textures; use the depth and semantic cameras")


@rpc("get_gbuffer_token")
def get_gbuffer_token(server: CarlaServer, client: RpcClient, actor_id: Any, index: Any) -> bytes:
    """A stream that stays silent: the call may not fail, but there is nothing to send."""
    _sensor(server, actor_id)
    silent = 0x40000000 + integer(actor_id) * 16 + integer(index)
    return server.stream_token(silent & 0xFFFFFFFF, client.dialect)


@rpc("enable_sensor_for_ros", "void")
def enable_ros(server: CarlaServer, client: RpcClient, stream_id: Any) -> None:
    """Refuse: there is no ROS bridge in this server."""
    raise WireError("Jaywalk has no built-in ROS 2 publisher")


@rpc("disable_sensor_for_ros", "void")
def disable_ros(server: CarlaServer, client: RpcClient, stream_id: Any) -> None:
    """Nothing is ever enabled."""


@rpc("is_sensor_enabled_for_ros")
def is_ros_enabled(server: CarlaServer, client: RpcClient, stream_id: Any) -> bool:
    """Never."""
    return False


@rpc("send", "void")
def send_v2x(server: CarlaServer, client: RpcClient, actor_id: Any, message: Any) -> None:
    """Refuse: V2X radio is not simulated."""
    raise WireError("Jaywalk does not simulate V2X messages")
