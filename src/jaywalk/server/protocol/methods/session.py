"""Session, world, weather and the recorder calls.

Streams of sensors.

Registry of the Traffic Managers that run inside clients.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaywalk.core.text import short_repr
from jaywalk.server.encoding.codec import (
    WireError,
    array,
    boolean,
    encode_transform,
    integer,
    number,
    text,
)
from jaywalk.server.protocol.rpc import Encoded, Later, RpcClient, rpc
from jaywalk.server.protocol.streams import WORLD_STREAM
from jaywalk.server.session.settings import Settings
from jaywalk.server.world.tables import Kind
from jaywalk.town.opendrive import MAP_TEXT_LIMIT

if TYPE_CHECKING:
    from jaywalk.server.protocol.server import CarlaServer
    from jaywalk.server.world.tables import Actor
    from jaywalk.town.town import Town


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


_NO_RECORDER = (
    "Jaywalk keeps no CARLA recorder files; write down the snapshots of each tick instead."
)


@rpc("version")
def version(server: CarlaServer, client: RpcClient) -> str:
    """The version the client expects to hear."""
    return client.dialect.version


@rpc("get_episode_info")
def get_episode_info(server: CarlaServer, client: RpcClient) -> list[Any]:
    """Episode id and the token of the snapshot stream."""
    return [server.episode.id, [server.stream_token(WORLD_STREAM, client.dialect)]]


@rpc("get_episode_settings")
def get_settings(server: CarlaServer, client: RpcClient) -> Encoded:
    """The settings in force (asked several times per tick, so kept encoded)."""
    return Encoded(server.episode.settings_body)


@rpc("set_episode_settings")
def set_settings(server: CarlaServer, client: RpcClient, settings: Any) -> int:
    """Apply settings; returns the frame from which they hold."""
    server.episode.apply_settings(Settings.decode(settings))
    return server.episode.frame


@rpc("tick_cue")
def tick(server: CarlaServer, client: RpcClient) -> int:
    """Step the world once; the snapshot is on its way before the answer is."""
    server.await_subscribers()
    return server.episode.tick(cued=True)


@rpc("get_map_info")
def get_map_info(server: CarlaServer, client: RpcClient) -> list[Any]:
    """Name of the town and its recommended spawn points."""
    world = server.episode.world
    return [world.map_name, [encode_transform(pose) for pose in world.spawn_points]]


@rpc("get_map_data")
def get_map_data(server: CarlaServer, client: RpcClient) -> str:
    """The OpenDRIVE text."""
    return server.episode.world.town.opendrive


@rpc("get_required_files")
def get_required_files(server: CarlaServer, client: RpcClient, folder: Any) -> list[str]:
    """Files a client should have: only the pedestrian mesh, named by its content."""
    wants_mesh = text(folder) == "Nav" and server.episode.world.town.navmesh
    if folder == "Nav":
        server.greet()  # the last call before a client of the asynchronous mode waits for a tick
    return [server.episode.navigation_file()] if wants_mesh else []


@rpc("request_file")
def request_file(server: CarlaServer, client: RpcClient, name: Any) -> bytes:
    """Contents of a required file."""
    if text(name) != server.episode.navigation_file():
        raise WireError(f"there is no file {short_repr(name)}")
    server.greet()
    return server.episode.world.town.navmesh


@rpc("get_available_maps")
def get_available_maps(server: CarlaServer, client: RpcClient) -> list[str]:
    """Towns that ``load_world`` takes."""
    return server.episode.available_maps()


@rpc("load_new_episode", "void")
def load(
    server: CarlaServer, client: RpcClient, name: Any, reset: Any, layers: Any
) -> Later | None:
    """Load a town (an empty name: the present one again)."""
    wanted, resets, shown = text(name), boolean(reset), integer(layers)

    def begin(town: Town) -> None:
        with server.old_readers_held(client.dialect):
            server.episode.load(wanted, town, reset_settings=resets, layers=shown)

    town = server.episode.town_at_hand(wanted)
    if town is not None:
        begin(town)
        return None
    return Later(lambda: server.episode.prepare_town(wanted), begin, stands_still=True)


@rpc("copy_opendrive_to_file", "void")
def copy_opendrive(server: CarlaServer, client: RpcClient, opendrive: Any, options: Any) -> Later:
    """Keep an OpenDRIVE text for the load that follows."""
    array(options)
    document = text(opendrive, MAP_TEXT_LIMIT)
    return Later(lambda: server.episode.prepare_opendrive(document), server.episode.keep_opendrive)


@rpc("get_weather_parameters")
def get_weather(server: CarlaServer, client: RpcClient) -> Encoded:
    """The weather in force (asked every tick, so kept encoded)."""
    return Encoded(server.episode.weather_body)


@rpc("set_weather_parameters", "void")
def set_weather(server: CarlaServer, client: RpcClient, weather: Any) -> None:
    """Change the weather."""
    server.episode.set_weather([number(value) for value in array(weather, 14)[:14]])


@rpc("jaywalk_wet_grip")
def wet_grip(server: CarlaServer, client: RpcClient, wanted: Any = None) -> bool:
    """Whether wet roads are slippery; with an argument, change it. Not a call of CARLA's."""
    if wanted is not None:
        server.episode.wet_grip = boolean(wanted)
    return server.episode.wet_grip


@rpc("start_recorder")
def start_recorder(server: CarlaServer, client: RpcClient, name: Any, extra: Any) -> str:
    """Say where recordings really come from."""
    text(name)
    return _NO_RECORDER


@rpc("stop_recorder", "void")
def stop_recorder(server: CarlaServer, client: RpcClient) -> None:
    """Nothing was started."""


@rpc("show_recorder_file_info")
def recorder_info(server: CarlaServer, client: RpcClient, name: Any, show_all: Any) -> str:
    """There is no file to show."""
    return _NO_RECORDER


@rpc("show_recorder_collisions")
def recorder_collisions(
    server: CarlaServer, client: RpcClient, name: Any, first: Any, second: Any
) -> str:
    """There is no file to show."""
    return _NO_RECORDER


@rpc("show_recorder_actors_blocked")
def recorder_blocked(
    server: CarlaServer, client: RpcClient, name: Any, least_s: Any, least_m: Any
) -> str:
    """There is no file to show."""
    return _NO_RECORDER


@rpc("replay_file")
def replay_file(server: CarlaServer, client: RpcClient, name: Any, *options: Any) -> str:
    """Refuse: a replay that shows nothing would be a lie."""
    raise WireError(f"cannot replay {short_repr(name)}: {_NO_RECORDER}")


@rpc("stop_replayer", "void")
def stop_replayer(server: CarlaServer, client: RpcClient, keep_actors: Any = False) -> None:
    """Nothing is ever replayed."""


@rpc("set_replayer_time_factor", "void")
def replayer_time_factor(server: CarlaServer, client: RpcClient, factor: Any) -> None:
    """Nothing is ever replayed."""


@rpc("set_replayer_ignore_hero", "void")
def replayer_ignore_hero(server: CarlaServer, client: RpcClient, ignore: Any) -> None:
    """Nothing is ever replayed."""


@rpc("set_replayer_ignore_spectator", "void")
def replayer_ignore_spectator(server: CarlaServer, client: RpcClient, ignore: Any) -> None:
    """Nothing is ever replayed."""
