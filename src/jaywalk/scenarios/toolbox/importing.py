"""A route file as scenario files: every route checked before anything is written."""

from __future__ import annotations

from pathlib import Path

from jaywalk.core.errors import DataError, UsageError
from jaywalk.scenarios.route_xml import read_routes
from jaywalk.scenarios.toolbox.form import authored_of
from jaywalk.scenarios.toolbox.routes import check_parameters, document_of, name_of
from jaywalk.scenarios.toolbox.text import SUFFIXES, format_text


def imported_texts(file: Path, output: Path | None, syntax: str) -> dict[Path, str]:
    """The scenario files of a route file, by their paths.

    Args:
        file: The route file.
        output: A file for a single route, a folder for any number; None for beside the file.
        syntax: ``toml`` or ``yaml``, of files in a folder.

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
