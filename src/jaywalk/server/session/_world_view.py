"""The world as sensors see it, built at most once per tick and only on demand."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.seeds import stream
from jaywalk.geometry.geodesy import GeoReference, parse_geo_reference
from jaywalk.motion.carla_rigs import load_rig
from jaywalk.motion.kinematics import mesh_poses, world_poses
from jaywalk.server.sensors._lamplight import signal_lamps, street_lamps
from jaywalk.server.sensors._mesh import MeshLibrary, PosedMeshes, no_posed_meshes
from jaywalk.server.sensors._road_paint import paint_of_labels, paint_of_town
from jaywalk.server.sensors._scene import GroundPaint, SceneBuilder, SensorScene
from jaywalk.server.sensors._solids import (
    CUT_OUT,
    PLAIN,
    Pictures,
    empty_solids,
    pack_pictures,
    pattern_of,
)
from jaywalk.server.sensors._terrain import measure_relief
from jaywalk.server.sensors._weather import Sky, sky_of
from jaywalk.server.sensors.bodies import Looks, PeopleMeshes, SeenPerson, draw_looks
from jaywalk.server.session._model_tables import ActorModels, scenery_meshes
from jaywalk.server.world._lights import USUAL_COLOR, USUAL_INTENSITY
from jaywalk.server.world._prop_blueprints import GREY, prop_colour
from jaywalk.server.world._tables import Kind
from jaywalk.server.world._world import World
from jaywalk.server.world.sign_faces import face_numbers, sign_pictures
from jaywalk.server.world.textures import TEXTURED, texture
from jaywalk.town.ground import flat_ground
from jaywalk.town.town import Town

_BRIGHTEST: Final = 20.0  # times the usual light of a street lamp
_BOARD: Final = (150, 140, 122)  # the back of a flat picture

_LIMIT: Final = "traffic.speed_limit."
_NO_PICTURE: Final = np.zeros((1, 1, 4), np.uint8)
_TEXTURED: Final = {f"static.prop.{name}": number for number, name in enumerate(TEXTURED)}


@lru_cache(maxsize=8)
def pictures_of(names: frozenset[str]) -> Pictures:
    """Return pictures by number; drawing takes time, so only those of the named props are drawn.

    The numbers of sign faces follow those of props.
    """
    props = [_picture(name) if name in names else _NO_PICTURE for name in TEXTURED]
    return pack_pictures(props + sign_pictures())


def sign_patterns(scenery: NDArray[Any], town: Town | None = None) -> NDArray[np.uint8]:
    """Return the pattern of each scenery row: that of its face for a sign, else PLAIN.

    Args:
        scenery: Its rows.
        town: Knows the numbers of the speed limits; None: their plates stay plain.
    """
    signs = () if town is None else town.signs
    limits = [
        (sign.pose.x, sign.pose.y, int(sign.type_id.removeprefix(_LIMIT)))
        for sign in signs
        if sign.type_id.removeprefix(_LIMIT).isdigit()
    ]
    patterns = [pattern_of(face, len(TEXTURED) + k) for k, face in enumerate(sign_pictures())]
    return np.array([*patterns, PLAIN], np.uint8)[face_numbers(scenery, limits)]


def _picture(name: str) -> NDArray[np.uint8]:
    picture = texture(name)
    assert picture is not None
    return picture


@cache
def _look_of(type_id: str) -> tuple[int, tuple[int, int, int]]:
    """Return the pattern of a prop and the colour of its faces without a picture."""
    number = _TEXTURED.get(type_id)
    if number is None:
        return PLAIN, prop_colour(type_id)
    picture = _picture(TEXTURED[number])
    pattern = pattern_of(picture, number)
    if pattern >= CUT_OUT:
        return pattern, _BOARD
    border = np.concatenate([picture[:, 0, :3], picture[:, -1, :3]]).mean(axis=0)
    return pattern, (int(border[0]), int(border[1]), int(border[2]))


class WorldView:
    """Makes the scene of a tick for the sensors of one world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._builder: SceneBuilder | None = None
        self._models = ActorModels(MeshLibrary())
        self._people = PeopleMeshes(MeshLibrary())
        self._looks: dict[int, Looks] = {}
        self._scenery_version = -1
        self._labels = np.zeros(0, np.uint8)
        self._colors = np.zeros((0, 3), np.uint8)
        self._patterns = np.zeros(0, np.uint8)
        self.geo: GeoReference = parse_geo_reference(
            world.town.root.findtext("header/geoReference") or ""
        )
        nothing = np.zeros((0, 0), np.uint8)
        self._bare = SensorScene(
            solids=empty_solids(1),
            relief=measure_relief(flat_ground()),
            paint=GroundPaint(0.0, 0.0, 1.0, nothing),
            road_source=lambda: paint_of_labels(0.0, 0.0, 1.0, nothing),
            actors=world.columns.table,
            rows=0,
            sky=Sky(),
            geo=self.geo,
        )

    def bare_scene(self, gravity_mps2: float) -> SensorScene:
        """Return a scene without solids, which costs nothing, for sensors that do not see."""
        columns = self._world.columns
        return replace(
            self._bare,
            actors=columns.table,
            rows=columns.rows,
            contacts=self._world.collisions.contacts,
            gravity_mps2=gravity_mps2,
        )

    def scene(self, weather: list[float]) -> SensorScene:
        """Everything there is to see now."""
        world = self._world
        if self._builder is None or self._scenery_version != world.scenery.version:
            scenery = world.scenery.visible()
            town, library = world.town, MeshLibrary()
            self._models = ActorModels(library)
            self._people = PeopleMeshes(library)
            self._builder = SceneBuilder(
                scenery,
                town.ground,
                town.raster,
                self.geo,
                sign_patterns(scenery, town),
                road=lambda: paint_of_town(town),
                library=library,
                scenery_meshes=scenery_meshes(scenery, library),
            )
            self._scenery_version = world.scenery.version
        shown = self._paint_actors()
        columns = world.columns
        sky = sky_of(weather, world.time_s)
        return self._builder.build(
            columns.table,
            columns.rows,
            self._labels,
            self._colors,
            sky,
            self._patterns,
            pictures_of(frozenset(shown)),
            self._models.tables(world),
            self._posed_people(),
            self._lamps,
        )

    def _lamps(self) -> NDArray[np.float64]:
        """Return the lit lamps of traffic lights and streets."""
        lights = self._world.lights.lights
        rows = [self._world.actors[int(actor)].row for actor in lights["actor"]]
        table = self._world.columns.table[rows]
        columns = [table[name] for name in ("x", "y", "z", "yaw")]
        signals = np.stack([*columns, lights["state"].astype(np.float64)], axis=1)
        return np.concatenate([signal_lamps(signals), self._street_lamps()])

    def _street_lamps(self) -> NDArray[np.float64]:
        """Return the street lamps that are on; those no program has switched shine at night."""
        lamps = [
            lamp for lamp in self._world.street_lights.values() if lamp.active or lamp.is_automatic
        ]
        places = np.array([lamp.location_m for lamp in lamps]).reshape(-1, 3)
        colors = np.array([lamp.color for lamp in lamps], np.float64).reshape(-1, 3)
        strength = np.array([lamp.intensity / USUAL_INTENSITY for lamp in lamps])
        warm = colors / USUAL_COLOR * np.clip(strength, 0.0, _BRIGHTEST)[:, None]
        return street_lamps(places, warm)

    def _paint_actors(self) -> set[str]:
        """Set labels, colours and patterns of all rows; return the names of the pictures."""
        shown: set[str] = set()
        rows = len(self._world.columns.table)
        self._labels = np.zeros(rows, np.uint8)
        self._colors = np.full((rows, 3), 128, np.uint8)
        self._patterns = np.zeros(rows, np.uint8)
        for actor in self._world.actors.values():
            if actor.kind in (Kind.VEHICLE, Kind.WALKER, Kind.PROP, Kind.LIGHT):
                self._labels[actor.row] = actor.label
                self._colors[actor.row] = actor.color
                if actor.kind == Kind.PROP:
                    number = _TEXTURED.get(actor.type_id)
                    pattern, color = _look_of(actor.type_id)
                    self._patterns[actor.row] = pattern
                    if actor.color == GREY:
                        self._colors[actor.row] = color
                    if number is not None:
                        shown.add(TEXTURED[number])
        return shown

    def _posed_people(self) -> PosedMeshes:
        """Return the bodies of all people with bones, moved to their poses of this tick."""
        world = self._world
        rows, local = world.people.local_poses(world.columns, world.time_s)
        if not rows:
            return no_posed_meshes()
        table = world.columns.table[rows]
        poses = np.stack([table[n] for n in ("x", "y", "z", "pitch", "yaw", "roll")], axis=1)
        parents = load_rig("man").parents
        placed = world_poses(mesh_poses(local, parents), poses, np.ascontiguousarray(table["ez"]))
        seated = world.people.seated_rows()
        people = [
            self._seen_person(actor_id, row, row in seated)
            for actor_id, row in zip(table["id"].tolist(), rows, strict=True)
        ]
        return self._people.posed(people, placed)

    def _seen_person(self, actor_id: int, row: int, in_wheelchair: bool) -> SeenPerson:
        """Return a walker with its looks, which are drawn once."""
        actor = self._world.actors[actor_id]
        if actor_id not in self._looks:
            values = {name: value for name, (_, value) in actor.attributes.items()}
            self._looks[actor_id] = draw_looks(actor.type_id, values, self._world.serial(actor))
        return SeenPerson(row, actor_id, self._looks[actor_id], in_wheelchair)


def clothes_color(serial: int) -> tuple[int, int, int]:
    """Return a plausible colour of a person's top, fixed by the walker's serial number."""
    red, green, blue = stream(0, "clothes", serial).integers(40, 220, 3)
    return int(red), int(green), int(blue)
