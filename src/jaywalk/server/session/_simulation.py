"""The simulation: a world with a clock, settings and weather, published on streams."""

from __future__ import annotations

import hashlib
import itertools
import logging
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import msgpack

from jaywalk.core.errors import JaywalkError, RegistryError, UsageError
from jaywalk.server.encoding._settings import EpisodeSettings
from jaywalk.server.encoding._snapshot import SnapshotPacker, encode_snapshot
from jaywalk.server.encoding._structs import ActorEncoder, encode_definitions
from jaywalk.server.encoding.codec import DIALECTS, Dialect, Transform, WireError, ok
from jaywalk.server.sensors._raycast import Point
from jaywalk.server.sensors.catalogue import SensorSpec, SensorStage, sensor_library
from jaywalk.server.session._publisher import WORLD_STREAM, Publisher
from jaywalk.server.session._sensor_hub import SensorHub
from jaywalk.server.session._world_view import clothes_color
from jaywalk.server.world import blueprints
from jaywalk.server.world._areas import FRICTION_TRIGGER
from jaywalk.server.world._blueprint_types import Attribute, Blueprint, BodyShape
from jaywalk.server.world._tables import Actor, Kind, SpawnError
from jaywalk.server.world._world import World
from jaywalk.town.opendrive import CLIENT_LIMITS, check_size
from jaywalk.town.town import Town, available_towns, load_town, town_from_opendrive

Attributes = dict[str, tuple[int, str]]  # id -> (type number of 0.9.16, value)

_NO_BODY: Final = BodyShape(
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


class BlueprintLibrary:
    """Blueprints of actors and sensors under one numbering, for every dialect."""

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
            self._definitions[version] = encode_definitions(merged, dialect)
            self._entries[version] = {
                blueprint.id: (uid, blueprint) for uid, blueprint in enumerate(merged, start=1)
            }

    def definitions(self, dialect: Dialect) -> list[Any]:
        """Return the encoded blueprints in a dialect."""
        return self._definitions[dialect.version]

    def choose(
        self, type_id: str, values: dict[str, str], dialect: Dialect
    ) -> tuple[int, Blueprint, Attributes]:
        """Check a description; return uid, the blueprint with its body, and all attributes."""
        entry = self._entries[dialect.version].get(type_id)
        if entry is None:
            raise SpawnError(blueprints.INVALID_DESCRIPTION)
        uid, blueprint = entry
        try:
            checked = blueprints.validate_spawn(blueprint, values)
            body = blueprints.spawn_body(blueprint, checked)
        except (UsageError, ValueError) as error:
            raise SpawnError(str(error)) from error
        types = {item.id: int(item.type) for item in blueprint.attributes}
        attributes = {name: (types[name], value) for name, value in checked.items()}
        return uid, replace(blueprint, body=body), attributes


log = logging.getLogger("jaywalk.episode")

DEFAULT_DELTA_S: Final = 0.05
GENERATED_MAP: Final = "OpenDriveMap"
ALL_LAYERS: Final = 0xFFFF
# Clear noon, as CARLA starts: cloudiness ... sun azimuth, altitude ... rayleigh, dust.
_CLEAR_NOON: Final = [5.0, 0.0, 0.0, 10.0, -1.0, 45.0, 2.0, 0.75, 0.1, 0.0, 1.0, 0.03, 0.0331, 0.0]
_DEPOSITS, _WETNESS = 2, 9


class Simulation:
    """Ticks a world and publishes snapshots and sensor frames; loads other worlds."""

    def __init__(
        self,
        town: Town,
        publisher: Publisher,
        *,
        seed: int = 0,
        speed_limits: str = "auto",
        wet_grip: bool = False,
        actor_ids: Iterator[int] | None = None,
    ) -> None:
        """Start in a town.

        Args:
            town: Town of the first episode.
            publisher: Sends frames to their readers.
            seed: Run seed of sensor noise.
            speed_limits: ``road`` (from road records), ``carla`` (30 km/h) or ``auto``.
            wet_grip: Wet roads are slippery. CARLA's weather does not change physics.
            actor_ids: Ids of new actors; by default 1, 2, ...
        """
        self.seed = seed
        self._wet_grip = wet_grip
        self.frame = 0
        self.episode_id = 0
        self.street_lights_changed = False
        self.library = BlueprintLibrary()
        self._speed_limits = speed_limits
        self._actor_ids = itertools.count(1) if actor_ids is None else actor_ids
        self._publisher = publisher
        self._packer = SnapshotPacker()
        self._kept_town: Town | None = None
        self._late_sensors_due = False
        self.apply_settings(EpisodeSettings())
        self._begin(town)

    # -- loading ---------------------------------------------------------------------------------

    def _begin(self, town: Town) -> None:
        self.episode_id += 1
        self.world = World(town, self._actor_ids, road_limits=self._takes_road_limits(town))
        self.encoder = ActorEncoder(self.world, self._publisher.stream_token)
        self.sensors = SensorHub(self.world, self._publisher, self.encoder, self.seed)
        self.set_weather(_CLEAR_NOON)
        self._records = self._packer.pack(self.world)
        self._delta_s = 0.0

    def _takes_road_limits(self, town: Town) -> bool:
        """Return whether vehicles get their speed limits from the road records.

        CARLA's vehicles know limits from signs only; in a town without signs they keep 30 km/h.
        """
        if self._speed_limits == "auto":
            return any(sign.type_id.startswith("traffic.speed_limit") for sign in town.signs)
        return self._speed_limits == "road"

    def town_at_hand(self, name: str) -> Town | None:
        """Return a town that needs no loading: the present one, or one that a client sent."""
        if not name or self._is_present(name):
            return self.world.town
        return self._kept_town if name.rsplit("/", 1)[-1] == GENERATED_MAP else None

    @staticmethod
    def prepare_town(name: str) -> Town:
        """Load a town by name with everything that a world needs; slow, touches no world."""
        try:
            town = load_town(_known(name))
            town.prepare()
        except RegistryError as error:
            raise WireError(f"Map '{name}' not found. {error}") from error
        except JaywalkError as error:
            raise WireError(str(error)) from error
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
            name: Name of the town; empty for the present one.
            town: The town if it was prepared before, which avoids the wait for it.
            reset_settings: Whether to restore the default settings.
            layers: Map layers to show, as bits; as in CARLA only ``_Opt`` towns have any.
        """
        started = time.perf_counter()
        town = town or self.town_at_hand(name) or self.prepare_town(name)
        try:
            if reset_settings:
                self.apply_settings(EpisodeSettings())
            self._begin(town)
            if name.lower().endswith("_opt"):
                self.world.map_name += "_Opt"  # programs compare with the name they asked for
                self.world.scenery.enable_layers(ALL_LAYERS & ~layers, False)
        except JaywalkError as error:
            raise WireError(str(error)) from error
        self.frame += 1
        self._publish_snapshot(map_changed=True)
        log.info("loaded %s in %.2f s", town.name, time.perf_counter() - started)

    def _is_present(self, name: str) -> bool:
        town_name = name.rsplit("/", 1)[-1].removesuffix("_Opt").lower()
        return town_name == self.world.town.name.lower() != GENERATED_MAP.lower()

    @staticmethod
    def prepare_opendrive(text: str) -> Town:
        """Make a town from a client's OpenDRIVE text; slow, touches no world."""
        try:
            check_size(text, GENERATED_MAP, CLIENT_LIMITS)
            town = town_from_opendrive(text, GENERATED_MAP)
            edges = [edge for strip in town.strips for edge in (strip.inner_m, strip.outer_m)]
            town.check_area([*edges, *town.crosswalks], CLIENT_LIMITS.area_km2)
            town.prepare()
        except JaywalkError as error:
            raise WireError(str(error)) from error
        return town

    def keep_opendrive(self, town: Town) -> None:
        """Keep a client's town for the load that follows."""
        self._kept_town = town

    def available_maps(self) -> list[str]:
        """Return the map names that ``load_world`` accepts."""
        return [f"/Game/Carla/Maps/{name}" for name in available_towns()]

    def navigation_file(self) -> str:
        """Return the path of the pedestrian mesh, with its hash: clients cache it forever."""
        town = self.world.town
        digest = hashlib.sha256(town.navmesh).hexdigest()[:16]
        return f"Carla/Maps/Nav/{town.name}-{digest}.bin"

    # -- settings and weather --------------------------------------------------------------------

    @property
    def delta_s(self) -> float:
        """Length of a tick."""
        return self.settings.fixed_delta_seconds or DEFAULT_DELTA_S

    def apply_settings(self, settings: EpisodeSettings) -> None:
        """Put settings in force from the next tick."""
        self.settings = settings
        self.settings_body: bytes = msgpack.packb(ok(settings.encode()))

    def set_weather(self, weather: list[float]) -> None:
        """Change the weather; it changes the grip only with ``wet_grip``."""
        self.weather = self.sensors.weather = weather
        self.weather_body: bytes = msgpack.packb(ok(weather))
        wet = min(max(weather[_WETNESS], weather[_DEPOSITS], 0.0), 100.0)
        self.world.wetness_percent = wet if self._wet_grip else 0.0

    @property
    def wet_grip(self) -> bool:
        """Return whether wet roads are slippery."""
        return self._wet_grip

    @wet_grip.setter
    def wet_grip(self, value: bool) -> None:
        self._wet_grip = value
        self.set_weather(self.weather)

    # -- time ------------------------------------------------------------------------------------

    def tick(self) -> int:
        """Step the world once and publish the snapshot and prompt sensors; return the new frame."""
        self._delta_s = self.delta_s
        self.frame += 1
        self.world.step(self._delta_s, self.settings.substeps(self._delta_s))
        self._records = self._packer.pack(self.world)
        self._publish_snapshot()
        self.sensors.measure(SensorStage.PROMPT, self.frame, self.delta_s)
        self._late_sensors_due = True
        return self.frame

    @property
    def late_sensors_due(self) -> bool:
        """Return whether the late sensors of this frame have not measured yet."""
        return self._late_sensors_due

    def measure_late_sensors(self) -> None:
        """Publish the readings of the late sensors, unless that has been done for this frame."""
        if self._late_sensors_due:
            self._late_sensors_due = False
            self.sensors.measure(SensorStage.LATE, self.frame, self.delta_s)

    def raycast_all(self, start: Point, end: Point) -> list[tuple[Point, int]]:
        """Return place and label of everything between two points, near to far; actors too."""
        return self.sensors.raycast_all(start, end)

    def snapshot(self, dialect: Dialect, *, map_changed: bool = False) -> bytes:
        """Return the present world snapshot as a stream payload."""
        return encode_snapshot(
            dialect,
            episode_id=self.episode_id,
            frame=self.frame,
            time_s=self.world.time_s,
            delta_s=self._delta_s,
            map_changed=map_changed,
            street_lights_changed=self.street_lights_changed,
            records=self._records,
        )

    def _publish_snapshot(self, *, map_changed: bool = False) -> None:
        dialects = self._publisher.listeners(WORLD_STREAM)
        payloads = {each: self.snapshot(each, map_changed=map_changed) for each in dialects}
        self._publisher.publish(WORLD_STREAM, payloads)
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
        return actor

    def destroy(self, actor_id: int) -> bool:
        """Remove an actor; False when there is none."""
        self.sensors.remove(actor_id)
        return self.world.destroy(actor_id)

    def definitions(self, dialect: Dialect) -> list[Any]:
        """Return the blueprint library in a dialect."""
        return self.library.definitions(dialect)


def _known(name: str) -> str:
    """Return the town name in a map name; a client never names a path, only a listed town."""
    town_name = name.rsplit("/", 1)[-1]
    if town_name.lower().endswith((".xodr", ".gz")):
        raise WireError(f"Map '{name}' not found; load_world takes a town's name")
    return town_name


def _color(text: str, default: tuple[int, int, int]) -> tuple[int, int, int]:
    try:
        red, green, blue = (min(max(int(part), 0), 255) for part in text.split(","))
    except ValueError:
        return default
    return red, green, blue
