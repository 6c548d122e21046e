"""Structs that describe the world to clients: actors, blueprints, bones, scenery and lamps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from jaywalk.server.encoding.codec import Dialect, encode_box
from jaywalk.server.world._blueprint_types import Blueprint
from jaywalk.server.world._lights import StreetLight
from jaywalk.server.world._people import BoneTransforms
from jaywalk.server.world._scenery_index import SceneryBox, SceneryIndex
from jaywalk.server.world._tables import Actor
from jaywalk.server.world._world import World
from jaywalk.town.scenery import KINDS


class ActorEncoder:
    """Encodes the actors of a world, and scenery where CARLA sends an actor in its place."""

    def __init__(self, world: World, stream_token: Callable[[int, Dialect], bytes]) -> None:
        self._world = world
        self._stream_token = stream_token

    def actor(self, actor: Actor, dialect: Dialect) -> list[Any]:
        """Encode an actor."""
        token = self._stream_token(actor.stream_id, dialect) if actor.stream_id else b""
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

    def in_row(self, row: int, dialect: Dialect) -> list[Any]:
        """Encode the actor in a row of the actor table."""
        return self.actor(self._world.actors[int(self._world.columns.id[row])], dialect)

    def owner_of(self, sensor_row: int, dialect: Dialect) -> list[Any]:
        """Encode the parent of the sensor in a row, or the sensor itself if it has none."""
        sensor = self._world.actors[int(self._world.columns.id[sensor_row])]
        return self.actor(self._world.actors.get(sensor.parent_id, sensor), dialect)

    def scenery(self, index: int) -> list[Any]:
        """Encode a visible object of the scenery."""
        item = self._world.scenery.visible_object(index)
        return static_actor(KINDS[int(item["kind"])].replace("_", ""), int(item["label"]))


def static_actor(kind: str, label: int) -> list[Any]:
    """Encode something that is not an actor."""
    box = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], 0]
    return [0, 0, [0, f"static.{kind}", []], box, bytes([label]), b""]


def encode_definitions(blueprints: Sequence[Blueprint], dialect: Dialect) -> list[list[Any]]:
    """Encode blueprints as [uid, id, tags, attributes]; uids count from 1."""
    return [
        [uid, item.id, item.tags, _encode_attributes(item, dialect)]
        for uid, item in enumerate(blueprints, start=1)
    ]


def _encode_attributes(blueprint: Blueprint, dialect: Dialect) -> list[list[Any]]:
    return [
        [
            item.id,
            item.type + dialect.attribute_shift,
            item.default,
            list(item.recommended),
            item.modifiable,
            item.restricted,
        ]
        for item in blueprint.attributes
    ]


def encode_bones(bones: BoneTransforms) -> list[list[Any]]:
    """Encode each bone as [name, world, component, relative]."""
    transforms = bones.transforms.tolist()
    return [[name, *spaces] for name, spaces in zip(bones.names, transforms, strict=True)]


def _encode_scenery_box(box: SceneryBox) -> list[Any]:
    return [list(box.centre_m), list(box.half_extents_m), [0.0, box.yaw_deg, 0.0], 0]


def encode_level_boxes(scenery: SceneryIndex, label: int) -> list[Any]:
    """Encode the boxes of all scenery with a label."""
    return [_encode_scenery_box(box) for box in scenery.boxes(label)]


def encode_environment_objects(scenery: SceneryIndex, label: int) -> list[Any]:
    """Encode all scenery with a label as [transform, box, id, name, label]."""
    encoded = []
    for item in scenery.objects(label):
        box = _encode_scenery_box(item.box)
        encoded.append([[box[0], box[2]], box, item.id, item.name, item.label])
    return encoded


def encode_street_lights(lights: Iterable[StreetLight]) -> list[Any]:
    """Encode lamps as [id, location, intensity, group, colour, active]."""
    return [
        [lamp.id, list(lamp.location_m), lamp.intensity, lamp.group, list(lamp.color), lamp.active]
        for lamp in lights
    ]


def update_street_lights(lights: dict[int, StreetLight], states: Sequence[Any]) -> None:
    """Apply the lamp states that a client sent; lamps that do not exist are ignored."""
    for state in states:
        lamp = lights.get(int(state[0]))
        if lamp is not None:
            red, green, blue = (int(channel) for channel in state[4][:3])
            lamp.switch(
                intensity=float(state[2]),
                group=int(state[3]),
                color=(red, green, blue),
                active=bool(state[5]),
            )
