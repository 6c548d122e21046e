"""RPC methods for session, world, weather, sensor streams, Traffic Managers and recorder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaywalk.core.text import short_repr
from jaywalk.server.encoding._settings import EpisodeSettings
from jaywalk.server.encoding.codec import (
    WireError,
    array,
    boolean,
    encode_transform,
    integer,
    number,
    text,
)
from jaywalk.server.protocol.rpc import Encoded, Later, RpcContext, rpc
from jaywalk.server.session._publisher import WORLD_STREAM
from jaywalk.town.opendrive import MAP_TEXT_LIMIT

if TYPE_CHECKING:
    from jaywalk.town.town import Town


@rpc("get_sensor_token")
def get_token(context: RpcContext, stream_id: Any) -> list[bytes]:
    """Return the token of a stream; the next step waits shortly for the subscription."""
    if not 0 < integer(stream_id) < 1 << 32:
        raise WireError(f"stream id {stream_id} is out of range")
    if stream_id == WORLD_STREAM or context.sensors.has_stream(stream_id):
        context.streams.expect(stream_id)
    if stream_id == WORLD_STREAM:
        context.client.awaits_snapshot = True
    return [context.streams.stream_token(stream_id, context.dialect)]


@rpc("set_ignored_vehicles", "void")
def set_ignored(context: RpcContext, actor_id: Any, vehicles: Any) -> None:
    """Vehicles that a sensor does not see from now on."""
    ignored = [integer(vehicle) for vehicle in array(vehicles)]
    context.sensors.set_ignored(context.sensor(actor_id).id, ignored)


@rpc("are_gbuffers_enabled")
def are_gbuffers_enabled(context: RpcContext, actor_id: Any) -> bool:
    """There are no render buffers here."""
    context.sensor(actor_id)
    return False


@rpc("enable_gbuffers", "void")
def enable_gbuffers(context: RpcContext, actor_id: Any, enabled: Any) -> None:
    """Refuse: this world has no deferred renderer whose buffers could be sent."""
    context.sensor(actor_id)
    if boolean(enabled):
        raise WireError("Jaywalk has no GBuffer textures; use the depth and semantic cameras")


@rpc("get_gbuffer_token")
def get_gbuffer_token(context: RpcContext, actor_id: Any, index: Any) -> bytes:
    """A stream that stays silent: the call may not fail, but there is nothing to send."""
    context.sensor(actor_id)
    silent = 0x40000000 + integer(actor_id) * 16 + integer(index)
    return context.streams.stream_token(silent & 0xFFFFFFFF, context.dialect)


@rpc("enable_sensor_for_ros", "void")
def enable_ros(context: RpcContext, stream_id: Any) -> None:
    """Refuse: there is no ROS bridge in this server."""
    raise WireError("Jaywalk has no built-in ROS 2 publisher")


@rpc("disable_sensor_for_ros", "void")
def disable_ros(context: RpcContext, stream_id: Any) -> None:
    """Nothing is ever enabled."""


@rpc("is_sensor_enabled_for_ros")
def is_ros_enabled(context: RpcContext, stream_id: Any) -> bool:
    """Never."""
    return False


@rpc("send", "void")
def send_v2x(context: RpcContext, actor_id: Any, message: Any) -> None:
    """Refuse: V2X radio is not simulated."""
    raise WireError("Jaywalk does not simulate V2X messages")


_ADDRESS_LIMIT = 255


@rpc("is_traffic_manager_running")
def is_running(context: RpcContext, port: Any) -> bool:
    """Whether a client of the same dialect runs one on this port."""
    return context.server.traffic_managers.get(context.dialect, integer(port)) is not None


@rpc("get_traffic_manager_running")
def get_running(context: RpcContext, port: Any) -> list[Any]:
    """Address and port of a running one, or an empty address."""
    manager = context.server.traffic_managers.get(context.dialect, integer(port))
    return [manager.address, manager.port] if manager else ["", 0]


@rpc("add_traffic_manager_running")
def add_running(context: RpcContext, endpoint: Any) -> bool:
    """Remember that this client runs one."""
    address, port = array(endpoint, 2)[:2]
    if not 0 < integer(port) < 1 << 16:
        raise WireError(f"port {short_repr(port)} is not one of 1..65535")
    return context.server.traffic_managers.add(context.client, text(address, _ADDRESS_LIMIT), port)


@rpc("destroy_traffic_manager")
def destroy(context: RpcContext, port: Any) -> bool:
    """Forget the one on this port."""
    return context.server.traffic_managers.remove(context.dialect, integer(port))


_NO_RECORDER = (
    "Jaywalk keeps no CARLA recorder files; write down the snapshots of each tick instead."
)


@rpc("version")
def version(context: RpcContext) -> str:
    """The version the client expects to hear."""
    return context.dialect.version


@rpc("get_episode_info")
def get_episode_info(context: RpcContext) -> list[Any]:
    """Episode id and the token of the snapshot stream."""
    return [
        context.simulation.episode_id,
        [context.streams.stream_token(WORLD_STREAM, context.dialect)],
    ]


@rpc("get_episode_settings")
def get_settings(context: RpcContext) -> Encoded:
    """The settings in force (asked several times per tick, so kept encoded)."""
    return Encoded(context.simulation.settings_body)


@rpc("set_episode_settings")
def set_settings(context: RpcContext, settings: Any) -> int:
    """Apply settings; returns the frame from which they hold."""
    context.simulation.apply_settings(EpisodeSettings.decode(settings))
    return context.simulation.frame


@rpc("tick_cue")
def tick(context: RpcContext) -> int:
    """Step the world once; the snapshot is sent before the answer."""
    return context.server.tick()


@rpc("get_map_info")
def get_map_info(context: RpcContext) -> list[Any]:
    """Name of the town and its recommended spawn points."""
    world = context.world
    return [world.map_name, [encode_transform(pose) for pose in world.spawn_points]]


@rpc("get_map_data")
def get_map_data(context: RpcContext) -> str:
    """The OpenDRIVE text."""
    return context.world.town.opendrive


@rpc("get_required_files")
def get_required_files(context: RpcContext, folder: Any) -> list[str]:
    """Files a client should have: only the pedestrian mesh, named by its content."""
    wants_mesh = text(folder) == "Nav" and context.world.town.navmesh
    if folder == "Nav":
        # The last call of an asynchronous client before it waits for a tick.
        context.server.greet()
    return [context.simulation.navigation_file()] if wants_mesh else []


@rpc("request_file")
def request_file(context: RpcContext, name: Any) -> bytes:
    """Contents of a required file."""
    if text(name) != context.simulation.navigation_file():
        raise WireError(f"there is no file {short_repr(name)}")
    context.server.greet()
    return context.world.town.navmesh


@rpc("get_available_maps")
def get_available_maps(context: RpcContext) -> list[str]:
    """Towns that ``load_world`` takes."""
    return context.simulation.available_maps()


@rpc("load_new_episode", "void")
def load(context: RpcContext, name: Any, reset: Any, layers: Any) -> Later | None:
    """Load a town (an empty name: the present one again)."""
    map_name, resets, shown = text(name), boolean(reset), integer(layers)

    def begin(town: Town) -> None:
        with context.streams.old_readers_held(context.dialect):
            context.simulation.load(map_name, town, reset_settings=resets, layers=shown)
        context.server.hold_free_run()

    town = context.simulation.town_at_hand(map_name)
    if town is not None:
        begin(town)
        return None
    return Later(lambda: context.simulation.prepare_town(map_name), begin, stands_still=True)


@rpc("copy_opendrive_to_file", "void")
def copy_opendrive(context: RpcContext, opendrive: Any, options: Any) -> Later:
    """Keep an OpenDRIVE text for the load that follows."""
    array(options)
    document = text(opendrive, MAP_TEXT_LIMIT)
    return Later(
        lambda: context.simulation.prepare_opendrive(document), context.simulation.keep_opendrive
    )


@rpc("get_weather_parameters")
def get_weather(context: RpcContext) -> Encoded:
    """The weather in force (asked every tick, so kept encoded)."""
    return Encoded(context.simulation.weather_body)


@rpc("set_weather_parameters", "void")
def set_weather(context: RpcContext, weather: Any) -> None:
    """Change the weather."""
    context.simulation.set_weather([number(value) for value in array(weather, 14)[:14]])


@rpc("jaywalk_wet_grip")
def wet_grip(context: RpcContext, enabled: Any = None) -> bool:
    """Whether wet roads are slippery; with an argument, change it. Not a call of CARLA's."""
    if enabled is not None:
        context.simulation.wet_grip = boolean(enabled)
    return context.simulation.wet_grip


@rpc("start_recorder")
def start_recorder(context: RpcContext, name: Any, extra: Any) -> str:
    """Say where recordings really come from."""
    text(name)
    return _NO_RECORDER


@rpc("stop_recorder", "void")
def stop_recorder(context: RpcContext) -> None:
    """Nothing was started."""


@rpc("show_recorder_file_info")
def recorder_info(context: RpcContext, name: Any, show_all: Any) -> str:
    """There is no file to show."""
    return _NO_RECORDER


@rpc("show_recorder_collisions")
def recorder_collisions(context: RpcContext, name: Any, first: Any, second: Any) -> str:
    """There is no file to show."""
    return _NO_RECORDER


@rpc("show_recorder_actors_blocked")
def recorder_blocked(context: RpcContext, name: Any, least_s: Any, least_m: Any) -> str:
    """There is no file to show."""
    return _NO_RECORDER


@rpc("replay_file")
def replay_file(context: RpcContext, name: Any, *options: Any) -> str:
    """Refuse: there are no recordings to replay."""
    raise WireError(f"cannot replay {short_repr(name)}: {_NO_RECORDER}")


@rpc("stop_replayer", "void")
def stop_replayer(context: RpcContext, keep_actors: Any = False) -> None:
    """Nothing is ever replayed."""


@rpc("set_replayer_time_factor", "void")
def replayer_time_factor(context: RpcContext, factor: Any) -> None:
    """Nothing is ever replayed."""


@rpc("set_replayer_ignore_hero", "void")
def replayer_ignore_hero(context: RpcContext, ignore: Any) -> None:
    """Nothing is ever replayed."""


@rpc("set_replayer_ignore_spectator", "void")
def replayer_ignore_spectator(context: RpcContext, ignore: Any) -> None:
    """Nothing is ever replayed."""
