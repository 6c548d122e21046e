"""Files with parameters of the reactive model, as ``jaywalk realism fit-people`` writes them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, Final

from jaywalk.actors.reactive.traits import PRESETS, ReactionSettings
from jaywalk.core.errors import DataError
from jaywalk.core.files import read_text

FORMAT: Final = "jaywalk/reactive-parameters-1"
_LARGEST: Final = 1e6
_MOST_BYTES: Final = 256 * 1024
_WHAT: Final = "a file of 'jaywalk realism fit-people' (.json)"


def settings_of(base: str, values: dict[str, float]) -> ReactionSettings:
    """Return a preset with some of its values replaced.

    Raises:
        DataError: The preset or a value does not exist, or a value is no finite number.
    """
    if base not in PRESETS:
        raise DataError(f"There is no preset '{base}'; expected one of {', '.join(PRESETS)}.")
    for name, value in values.items():
        if name not in ReactionSettings._fields:
            raise DataError(
                f"Unknown parameter '{name}'; expected some of "
                f"{', '.join(ReactionSettings._fields)}."
            )
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or abs(value) > _LARGEST:
            raise DataError(f"Parameter '{name}' is {value!r}; expected a finite number.")
    return PRESETS[base]._replace(**{name: float(value) for name, value in values.items()})


def read_parameters(path: Path) -> tuple[ReactionSettings, dict[str, Any]]:
    """Read settings from a file, and the whole content of the file.

    Raises:
        DataError: The file is missing or holds something else.
    """
    text = read_text(path, _WHAT, _MOST_BYTES)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise DataError(f"'{path}' is not JSON: {problem}. Give {_WHAT}.") from problem
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError(f'\'{path}\' does not have "format": "{FORMAT}". Give {_WHAT}.')
    values = content.get("values")
    if not isinstance(values, dict):
        raise DataError(f"'{path}' has no object \"values\"; expected parameters by name.")
    try:
        return settings_of(str(content.get("base")), values), content
    except DataError as problem:
        raise DataError(f"'{path}': {problem}") from problem
