"""The blueprint library as clients receive it: actors and sensors under one numbering."""

from __future__ import annotations

from typing import Any

from jaywalk.server.sensors.catalogue import SENSORS
from jaywalk.server.wire.dialect import Dialect
from jaywalk.server.world import blueprints
from jaywalk.server.world.actor import SpawnError
from jaywalk.server.world.blueprint_types import Attribute, Blueprint

Attributes = dict[str, tuple[int, str]]
