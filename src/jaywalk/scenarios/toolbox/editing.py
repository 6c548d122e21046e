"""Changes to single fields of scenario files, and import of route files as scenario files.

A changed file is checked as a whole; every imported route is checked before a file is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.toml_text import parse_setting, with_value
from jaywalk.scenarios.formats.route_xml import read_routes
from jaywalk.scenarios.toolbox.form import authored_of
from jaywalk.scenarios.toolbox.routes import check_parameters, checked_route, document_of, name_of
from jaywalk.scenarios.toolbox.text import SUFFIXES, edit_field, format_text, parse_text


def imported_texts(file: Path, output: Path | None, syntax: str) -> dict[Path, str]:
    """Return the scenario files of a route file, as texts by path.

    Args:
        file: The route file.
        output: A file for a single route, a folder for any number; None: next to the file.
        syntax: ``toml`` or ``yaml``, for files in a folder.

    Raises:
        DataError: A route, a scenario or a parameter is wrong; the message names it.
        UsageError: ``output`` cannot hold them.
    """
    routes = read_routes(file).routes
    if not routes:
        raise DataError(f"'{file}' has no <route>; expected one or more.")
    single = len(routes) == 1
    folder = file.parent if output is None else output
    is_file = folder.suffix.lower() in SUFFIXES
    if is_file and not single:
        raise UsageError(f"--output is '{folder}', for {len(routes)} routes: give a folder.")
    if not is_file and folder.exists() and not folder.is_dir():
        raise UsageError(f"--output is '{folder}', a file. Give a folder, or a new .toml or .yaml.")
    texts: dict[Path, str] = {}
    for number, route in enumerate(routes, 1):
        name = name_of(file, route, single)
        path = folder if is_file else folder / f"{name}.{syntax}"
        if path in texts:
            name = f"{name}-{number}"
            path = path.with_stem(name)
        for spec in route.scenarios:
            check_parameters(spec)
        document = document_of(route, name)
        authored_of(document, f"{file}, route {route.id}")
        texts[path] = format_text(document, path)
    return texts


# Fields of a scenario; named alone, they refer to the first scenario.
_OF_SCENARIO: Final = ("params", "objects", "at", "trigger", "type", "partner", "other_actors")
_EITHER: Final = {"at": "trigger", "trigger": "at"}


def edited_text(text: str, settings: Sequence[str], name: str) -> str:
    """Return the text of a scenario file with some fields changed.

    Args:
        text: The file.
        settings: ``KEY=VALUE`` each.
        name: The file, for messages.

    Raises:
        UsageError: A setting does not have this form or names no field.
        DataError: The result is not a valid scenario; the message names the field.
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
