"""The versions of the protocol, as data: one value per thing that differs on the wire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from jaywalk.core.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How one version of the ``carla`` wheel wants to be spoken to."""

    version: str
    snapshot_type: int  # sensor-type number of the world snapshot
    attribute_shift: int  # added to our attribute-type numbers (bool 1 ... colour 5)
    has_newer_sensors: bool  # cosmos and v2x blueprints exist
    gnss_north_is_minus_y: bool


CARLA_0_9_16: Final = Dialect(
    version="0.9.16",
    snapshot_type=17,
    attribute_shift=0,
    has_newer_sensors=True,
    gnss_north_is_minus_y=False,
)
CARLA_0_9_15: Final = Dialect(
    version="0.9.15",
    snapshot_type=16,
    attribute_shift=-1,
    has_newer_sensors=False,
    gnss_north_is_minus_y=True,
)
DIALECTS: Final = {dialect.version: dialect for dialect in (CARLA_0_9_16, CARLA_0_9_15)}


def dialect_of(version: str) -> Dialect:
    """Return the dialect of a version string, or say which ones are spoken."""
    if version in DIALECTS:
        return DIALECTS[version]
    raise UsageError(
        f"CARLA version '{version}' is not spoken here. Choose one of: {', '.join(DIALECTS)}."
    )
