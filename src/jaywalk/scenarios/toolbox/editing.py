"""Fields of a scenario file changed one by one; the result is checked as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jaywalk.core.toml_text import parse_setting, with_value
from jaywalk.scenarios.toolbox.form import authored_of
from jaywalk.scenarios.toolbox.routes import checked_route
from jaywalk.scenarios.toolbox.text import edit_field, format_text, parse_text

# Fields of a scenario, which may be named without saying that the first is meant.
_OF_SCENARIO: Final = ("params", "objects", "at", "trigger", "type", "partner", "other_actors")
_EITHER: Final = {"at": "trigger", "trigger": "at"}


def edited_text(text: str, settings: Sequence[str], name: str) -> str:
    """The text of a scenario file with some fields changed.

    Args:
        text: The file.
        settings: ``KEY=VALUE`` each.
        name: The file, for messages.

    Raises:
        UsageError: A setting is not of that form or names no place.
        DataError: The result is no valid scenario; the message names the field.
    """
    for setting in settings:
        keys, value = parse_setting(setting)
        if keys[0] in _OF_SCENARIO:
            keys = ["scenario", "1", *keys]
        document = parse_text(text, name)
        other = _EITHER.get(keys[-1]) if len(keys) == 3 and keys[0] == "scenario" else None
        changed = with_value(document, keys, value)
        place = changed["scenario"][int(keys[1]) - 1] if other else {}
        if other in place:
            del place[other]
            text = format_text(changed, name)
        else:
            text = edit_field(text, name, keys, value)
    document = parse_text(text, name)
    checked_route(authored_of(document, name))
    return text
