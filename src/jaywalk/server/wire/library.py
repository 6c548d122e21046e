"""The blueprint library as clients receive it: actors and sensors under one numbering."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from jaywalk.core.errors import UsageError
from jaywalk.server.sensors.catalogue import SENSORS, SensorBlueprint
from jaywalk.server.wire.dialect import DIALECTS, Dialect
from jaywalk.server.world import blueprints
from jaywalk.server.world.actor import SpawnError
from jaywalk.server.world.blueprint_types import Attribute, AttributeType, Blueprint, Body
from jaywalk.server.world.tables import Kind

Attributes = dict[str, tuple[int, str]]  # id -> (type number of 0.9.16, value)

_NO_BODY: Final = Body(
    half_extents_m=(0.0, 0.0, 0.0), centre_m=(0.0, 0.0, 0.0), mass_kg=0.0, labels=(0,)
)


def _sensor_blueprint(sensor: SensorBlueprint) -> Blueprint:
    attributes = tuple(
        Attribute(
            id=item.id,
            type=AttributeType[item.type.name],
            default=item.default,
            recommended=item.recommended,
            restricted=item.restricted,
        )
        for item in sensor.attributes
    )
    return Blueprint(
        id=sensor.id,
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
                for sensor in SENSORS
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
