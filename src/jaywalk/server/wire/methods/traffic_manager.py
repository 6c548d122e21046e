"""Registry of the Traffic Managers that run inside clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaywalk.core.printable import short_repr
from jaywalk.server.wire.codec import WireError, array, integer, text
from jaywalk.server.wire.rpc import RpcClient, rpc

if TYPE_CHECKING:
    from jaywalk.server.wire.server import CarlaServer


_ADDRESS_LIMIT = 255


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
    if not 0 < integer(port) < 1 << 16:
        raise WireError(f"port {short_repr(port)} is not one of 1..65535")
    return server.traffic_managers.add(client, text(address, _ADDRESS_LIMIT), port)


@rpc("destroy_traffic_manager")
def destroy(server: CarlaServer, client: RpcClient, port: Any) -> bool:
    """Forget the one on this port."""
    return server.traffic_managers.remove(client.dialect, integer(port))
