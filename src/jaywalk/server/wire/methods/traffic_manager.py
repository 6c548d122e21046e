"""Registry of the Traffic Managers that run inside clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaywalk.server.wire.codec import array, integer, text
from jaywalk.server.wire.rpc import RpcClient, rpc

if TYPE_CHECKING:
    from jaywalk.server.wire.server import CarlaServer


@rpc("is_traffic_manager_running")
def is_running(server: CarlaServer, client: RpcClient, port: Any) -> bool:
    """Whether a client of the same dialect runs one on this port."""
    return server.traffic_managers.get(client.dialect, integer(port)) is not None


@rpc("get_traffic_manager_running")
def get_running(server: CarlaServer, client: RpcClient, port: Any) -> list[Any]:
    """Address and port of a running one, or an empty address."""
    manager = server.traffic_managers.get(client.dialect, integer(port))
    return [manager.address, manager.port] if manager else ["", 0]


@rpc("add_traffic_manager_running")
def add_running(server: CarlaServer, client: RpcClient, endpoint: Any) -> bool:
    """Remember that this client runs one."""
    address, port = array(endpoint, 2)[:2]
    return server.traffic_managers.add(client, text(address), integer(port))


@rpc("destroy_traffic_manager")
def destroy(server: CarlaServer, client: RpcClient, port: Any) -> bool:
    """Forget the one on this port."""
    return server.traffic_managers.remove(client.dialect, integer(port))
