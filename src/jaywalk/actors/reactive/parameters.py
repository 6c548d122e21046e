"""Parameters of the reactive model: the data that gave the shipped ones, and files of fits.

``jaywalk realism fit-people`` and ``fit-gaps`` write the files.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, Final, NamedTuple

from jaywalk.actors.reactive.traits import PRESETS, ReactionSettings
from jaywalk.core.errors import DataError
from jaywalk.core.files import read_text

FORMAT: Final = "jaywalk/reactive-parameters-1"
_LARGEST: Final = 1e6
_MOST_BYTES: Final = 256 * 1024
_WHAT: Final = "a file of 'jaywalk realism fit-people' (.json)"


class Source(NamedTuple):
    """Where shipped parameters come from.

    Attributes:
        parameters: Their names.
        presets: Presets that have them.
        data: Data that they were fitted to or measured in.
        command: Command of the fit; empty: measured or published.
    """

    parameters: tuple[str, ...]
    presets: tuple[str, ...]
    data: str
    command: str


SOURCES: Final = (
    Source(
        ("road_advantage_s", "crosswalk_advantage_s"),
        ("campus",),
        "order of 119 pairs of people and vehicles in DUT, 3 s before the conflict (logit)",
        "",
    ),
)
"""Parameters of the presets that data gave; the others are published values or our choice."""


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
