"""Which blueprint to take: an id, or one drawn among those a pattern names."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaywalk.core.errors import DataError


def pick_model(library: Any, pattern: str, random: np.random.Generator, where: str) -> str:
    """Id of a blueprint; a pattern with ``*`` draws among the matches in order of their ids.

    An empty pattern draws among all that is neither a bicycle nor an emergency vehicle.

    Raises:
        DataError: Nothing matches.
    """
    found = library.filter(pattern) if pattern else _civil_vehicles(library)
    names = sorted(str(model.id) for model in found)
    if not names:
        raise DataError(f"{where}: the server has no blueprint '{pattern}'.")
    return names[int(random.integers(len(names)))] if len(names) > 1 else names[0]


def ordinary_cars(library: Any) -> list[Any]:
    """Cars without a special purpose, in order of their ids."""
    found = [model for model in library.filter("vehicle.*") if _kind(model) == ("car", "")]
    return sorted(found, key=lambda model: str(model.id))


def _civil_vehicles(library: Any) -> list[Any]:
    found = [(model, *_kind(model)) for model in library.filter("vehicle.*")]
    return [model for model, base, special in found if base != "bicycle" and special != "emergency"]


def _kind(model: Any) -> tuple[str, str]:
    """Its base type and its special type, empty where it has none."""
    base, special = (
        str(model.get_attribute(name).as_str()) if model.has_attribute(name) else ""
        for name in ("base_type", "special_type")
    )
    return base, special
