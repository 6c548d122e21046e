"""An episode: a world with its clock, settings and weather, and how clients see them.

The blueprint library as clients receive it: actors and sensors under one numbering.
"""

from __future__ import annotations

import hashlib
import itertools
import logging
import struct
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import msgpack

from jaywalk.core.errors import JaywalkError, RegistryError, UsageError
from jaywalk.server.encoding.codec import DIALECTS, Dialect, Transform, WireError, encode_box, ok
from jaywalk.server.protocol.streams import WORLD_STREAM
from jaywalk.server.sensors.catalogue import SensorSpec, sensor_library
from jaywalk.server.session.sensor_hub import SensorHub
from jaywalk.server.session.settings import Settings
from jaywalk.server.session.world_view import clothes_color
from jaywalk.server.world import blueprints
from jaywalk.server.world.areas import FRICTION_TRIGGER
from jaywalk.server.world.blueprint_types import Attribute, Blueprint, Body
from jaywalk.server.world.tables import Actor, Kind, SpawnError
from jaywalk.server.world.world import World
from jaywalk.town.opendrive import CLIENT_LIMITS, check_size
from jaywalk.town.town import Town, available_towns, load_town, town_from_opendrive

if TYPE_CHECKING:
    from jaywalk.server.protocol.server import CarlaServer

Attributes = dict[str, tuple[int, str]]  # id -> (type number of 0.9.16, value)

_NO_BODY: Final = Body(
    half_extents_m=(0.0, 0.0, 0.0), centre_m=(0.0, 0.0, 0.0), mass_kg=0.0, labels=(0,)
)


def _sensor_blueprint(sensor: SensorSpec) -> Blueprint:
    attributes = tuple(
        Attribute(
            id=item.id,
            type=item.type,
            default=item.default,
            recommended=item.recommended,
            restricted=item.restricted,
        )
        for item in sensor.attributes
    )
    return Blueprint(
        id=sensor.name,
        kind=Kind.SENSOR,
        attributes=attributes,
        body=_NO_BODY,
        only_0_9_16=sensor.only_0916,
    )


class Library:
    """All blueprints of every dialect, with their wire numbers."""

    def __init__(self) -> None:
        self._entries: dict[str, dict[str, tuple[int, Blueprint]]] = {}
        self._definitions: dict[str, list[Any]] = {}
        for version, dialect in DIALECTS.items():
            sensors = [
                _sensor_blueprint(sensor)
                for sensor in sensor_library()
                if dialect.has_newer_sensors or not sensor.only_0916
            ]
            merged = blueprints.merge(blueprints.library(version), sensors)
            self._definitions[version] = blueprints.definition_records(merged, version)  # type: ignore[arg-type]
            self._entries[version] = {
                blueprint.id: (uid, blueprint) for uid, blueprint in enumerate(merged, start=1)
            }

    def definitions(self, dialect: Dialect) -> list[Any]:
        """ActorDefinition structs in a dialect."""
        return self._definitions[dialect.version]

    def choose(
        self, type_id: str, values: dict[str, str], dialect: Dialect
    ) -> tuple[int, Blueprint, Attributes]:
        """Check a description; returns uid, the blueprint with its body, and all attributes."""
        entry = self._entries[dialect.version].get(type_id)
        if entry is None:
            raise SpawnError(blueprints.INVALID_DESCRIPTION)
        uid, blueprint = entry
        try:
            checked = blueprints.validate_spawn(blueprint, values)
            body = blueprints.spawn_body(blueprint, checked)
        except (UsageError, ValueError) as problem:
            raise SpawnError(str(problem)) from problem
        types = {item.id: int(item.type) for item in blueprint.attributes}
        attributes = {name: (types[name], value) for name, value in checked.items()}
        return uid, replace(blueprint, body=body), attributes


log = logging.getLogger("jaywalk.episode")

DEFAULT_DELTA_S: Final = 0.05
GENERATED_MAP: Final = "OpenDriveMap"
ALL_LAYERS: Final = 0xFFFF
_SENSOR_HEADER: Final = struct.Struct("<QQd6f")
_SNAPSHOT_HEADER: Final = struct.Struct("<Qdf3iI")
_MAP_CHANGED, _STREET_LIGHTS_CHANGED = 1, 2
# Clear noon, as CARLA starts: cloudiness ... sun azimuth, altitude ... rayleigh, dust.
_CLEAR_NOON: Final = [5.0, 0.0, 0.0, 10.0, -1.0, 45.0, 2.0, 0.75, 0.1, 0.0, 1.0, 0.03, 0.0331, 0.0]
_DEPOSITS, _WETNESS = 2, 9


class Episode:
    """Ticks a world and tells the server's clients of it."""

    def __init__(
        self, town: Town, *, seed: int = 0, speed_limits: str = "auto", wet_grip: bool = False
    ) -> None:
        """Start in a town.

        Args:
            town: Where the first episode happens.
            seed: Run seed of sensor noise.
            speed_limits: ``road`` (from road records), ``carla`` (30 km/h) or ``auto``.
            wet_grip: Wet roads are slippery. CARLA's weather does not change physics.
        """
        self.seed = seed
        self._wet_grip = wet_grip
        self.frame = 0
        self.id = 0
        self.street_lights_changed = False
        self.library = Library()
        self._speed_limits = speed_limits
        self._actor_ids = itertools.count(1)
        self._server: CarlaServer | None = None
        self._kept_town: Town | None = None
        self._pictures_due = False
        self.apply_settings(Settings())
        self._begin(town)

    def attach(self, server: CarlaServer) -> None:
        """Let a server publish what happens here."""
        self._server = server

    # -- loading ---------------------------------------------------------------------------------

    def _begin(self, town: Town) -> None:
        self.id += 1
        self.world = World(town, self._actor_ids, road_limits=self._takes_road_limits(town))
        self.sensors = SensorHub(self.world, self.seed)
        self.set_weather(_CLEAR_NOON)
        self._records = self.world.snapshot_records()
        self._delta_s = 0.0

    def _takes_road_limits(self, town: Town) -> bool:
        """CARLA's cars know limits from signs alone; a town without any leaves them at 30 km/h."""
        if self._speed_limits == "auto":
            return any(sign.type_id.startswith("traffic.speed_limit") for sign in town.signs)
        return self._speed_limits == "road"

    def town_at_hand(self, name: str) -> Town | None:
        """The town of that name if it needs no work: the present one, or one a client sent."""
        if not name or self._is_present(name):
            return self.world.town
        return self._kept_town if name.rsplit("/", 1)[-1] == GENERATED_MAP else None

    @staticmethod
    def prepare_town(name: str) -> Town:
        """Load a town by its name with all that a world needs of it; slow, touches no world."""
        try:
            town = load_town(_known(name))
            town.prepare()
        except RegistryError as problem:
            raise WireError(f"Map '{name}' not found. {problem}") from problem
        except JaywalkError as problem:
            raise WireError(str(problem)) from problem
        return town

    def load(
        self,
        name: str,
        town: Town | None = None,
        *,
        reset_settings: bool,
        layers: int = ALL_LAYERS,
    ) -> None:
        """Start a new episode.

        Args:
            name: Town; an empty name means the present one again.
            town: That town if it was prepared before, so that nobody waits for it now.
            reset_settings: Back to the default settings.
            layers: Map layers to show, as bits; as in CARLA only ``_Opt`` towns have any.
        """
        started = time.perf_counter()
        town = town or self.town_at_hand(name) or self.prepare_town(name)
        try:
            if reset_settings:
                self.apply_settings(Settings())
            self._begin(town)
            if name.lower().endswith("_opt"):
                self.world.map_name += "_Opt"  # programs compare with the name they asked for
                self.world.scenery.enable_layers(ALL_LAYERS & ~layers, False)
        except JaywalkError as problem:
            raise WireError(str(problem)) from problem
        self.frame += 1
        self._publish_snapshot(map_changed=True)
        if self._server is not None:
            self._server.hold_free_run()
        log.info("loaded %s in %.2f s", town.name, time.perf_counter() - started)

    def _is_present(self, name: str) -> bool:
        wanted = name.rsplit("/", 1)[-1].removesuffix("_Opt").lower()
        return wanted == self.world.town.name.lower() != GENERATED_MAP.lower()

    @staticmethod
    def prepare_opendrive(text: str) -> Town:
        """Make a town of a client's OpenDRIVE text; slow, touches no world."""
        try:
            check_size(text, GENERATED_MAP, CLIENT_LIMITS)
            town = town_from_opendrive(text, GENERATED_MAP)
            edges = [edge for one in town.strips for edge in (one.inner_m, one.outer_m)]
            town.check_area([*edges, *town.crosswalks], CLIENT_LIMITS.area_km2)
            town.prepare()
        except JaywalkError as problem:
            raise WireError(str(problem)) from problem
        return town

    def keep_opendrive(self, town: Town) -> None:
        """Remember a client's town for the load that follows."""
        self._kept_town = town

    def available_maps(self) -> list[str]:
        """Names that ``load_world`` takes."""
        return [f"/Game/Carla/Maps/{name}" for name in available_towns()]

    def navigation_file(self) -> str:
        """Path of the pedestrian mesh; clients cache it for ever, so the name carries its hash."""
        town = self.world.town
        digest = hashlib.sha256(town.navmesh).hexdigest()[:16]
        return f"Carla/Maps/Nav/{town.name}-{digest}.bin"

    # -- settings and weather --------------------------------------------------------------------

    @property
    def delta_s(self) -> float:
        """Length of a tick."""
        return self.settings.fixed_delta_seconds or DEFAULT_DELTA_S

    def apply_settings(self, settings: Settings) -> None:
        """Put settings in force from the next tick."""
        self.settings = settings
        self.settings_body: bytes = msgpack.packb(ok(settings.encode()))

    def set_weather(self, weather: list[float]) -> None:
        """Change the weather; it changes the grip only with ``wet_grip``."""
        self.weather = weather
        self.weather_body: bytes = msgpack.packb(ok(weather))
        wet = min(max(weather[_WETNESS], weather[_DEPOSITS], 0.0), 100.0)
        self.world.wetness_percent = wet if self._wet_grip else 0.0

    @property
    def wet_grip(self) -> bool:
        """Whether wet roads are slippery."""
        return self._wet_grip

    @wet_grip.setter
    def wet_grip(self, value: bool) -> None:
        self._wet_grip = value
        self.set_weather(self.weather)

    # -- time ------------------------------------------------------------------------------------

    def tick(self, *, cued: bool = False) -> int:
        """Step the world once and tell everybody; returns the new frame."""
        self._delta_s = self.delta_s
        self.frame += 1
        self.world.step(self._delta_s, self.settings.substeps(self._delta_s))
        self._records = self.world.snapshot_records()
        self._publish_snapshot()
        if self._server is not None:
            self.sensors.measure(self, self._server, prompt=True)
            self._pictures_due = True
            if cued:
                self._server.traffic_managers.note_tick(time.monotonic())
        return self.frame

    @property
    def pictures_due(self) -> bool:
        """Whether slow sensors of this frame have not been measured yet."""
        return self._pictures_due

    def send_pictures(self) -> None:
        """Deliver what is slow to measure of this frame, unless that has been done."""
        if self._pictures_due and self._server is not None:
            self._pictures_due = False
            self.sensors.measure(self, self._server, prompt=False)

    def snapshot(self, dialect: Dialect, *, map_changed: bool = False) -> bytes:
        """The present world snapshot as a stream payload."""
        flags = map_changed * _MAP_CHANGED
        flags |= self.street_lights_changed * _STREET_LIGHTS_CHANGED
        now = self.world.time_s
        return (
            _SENSOR_HEADER.pack(dialect.snapshot_type, self.frame, now, 0, 0, 0, 0, 0, 0)
            # The platform time is simulated time too, so that equal runs give equal bytes.
            + _SNAPSHOT_HEADER.pack(self.id, now, self._delta_s, 0, 0, 0, flags)
            + self._records
        )

    def _publish_snapshot(self, *, map_changed: bool = False) -> None:
        if self._server is None:
            return
        dialects = self._server.dialects_listening(WORLD_STREAM)
        payloads = {each: self.snapshot(each, map_changed=map_changed) for each in dialects}
        self._server.publish(WORLD_STREAM, payloads)
        self.street_lights_changed = False

    # -- actors ----------------------------------------------------------------------------------

    def spawn(
        self,
        dialect: Dialect,
        type_id: str,
        values: dict[str, str],
        pose: Transform,
        parent_id: int = 0,
    ) -> Actor:
        """Create an actor from a blueprint id and attribute values."""
        uid, blueprint, attributes = self.library.choose(type_id, values, dialect)
        parent = self.world.actor(parent_id) if parent_id else None
        actor = self.world.spawn(blueprint, pose, parent)
        actor.uid = uid
        actor.attributes = attributes
        actor.color = _color(actor.value("color"), actor.color)
        if actor.value("sticky_control") == "false":
            self.world.release_pedals_each_tick(actor)
        if actor.type_id == FRICTION_TRIGGER:
            self.world.friction.add(self.world, actor)
        if actor.kind is Kind.WALKER:
            actor.color = clothes_color(self.world.serial(actor))
        if actor.kind is Kind.SENSOR:
            try:
                self.sensors.add(actor, self.frame)
            except SpawnError:
                self.world.destroy(actor.id)
                raise
        if self._server is not None:
            self._server.begin_free_run()
        return actor

    def destroy(self, actor_id: int) -> bool:
        """Remove an actor; False when there is none."""
        self.sensors.remove(actor_id)
        return self.world.destroy(actor_id)

    def definitions(self, dialect: Dialect) -> list[Any]:
        """The blueprint library in a dialect."""
        return self.library.definitions(dialect)

    def encode_actor(self, actor: Actor, dialect: Dialect) -> list[Any]:
        """An Actor struct for a receiver of that dialect."""
        token = b""
        if actor.stream_id and self._server is not None:
            token = self._server.stream_token(actor.stream_id, dialect)
        shift = dialect.attribute_shift
        attributes = [
            [name, kind + shift, value] for name, (kind, value) in actor.attributes.items()
        ]
        return [
            actor.id,
            actor.parent_id,
            [actor.uid, actor.type_id, attributes],
            encode_box(actor.box_centre, actor.box_extent, actor.id),
            bytes([actor.label]) if actor.label else b"",
            token,
        ]


def _known(name: str) -> str:
    """A town name from a client is never a path: only names that we list are loaded."""
    wanted = name.rsplit("/", 1)[-1]
    if wanted.lower().endswith((".xodr", ".gz")):
        raise WireError(f"Map '{name}' not found; load_world takes a town's name")
    return wanted


def _color(text: str, default: tuple[int, int, int]) -> tuple[int, int, int]:
    try:
        red, green, blue = (min(max(int(part), 0), 255) for part in text.split(","))
    except ValueError:
        return default
    return red, green, blue
