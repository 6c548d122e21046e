"""Python files of users: how they are imported, and where an error in them occurred."""

from __future__ import annotations

import hashlib
import importlib
import re
import sys
import traceback
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Final

from jaywalk.core.errors import UsageError

_OWN_FOLDER: Final = Path(__file__).parents[1]  # of Jaywalk's sources
_IMPORTLIB: Final = Path(importlib.__file__).parent
PLACE: Final = re.compile(r'File "([^"]+)", line (\d+)')  # in a traceback


def import_file(path: Path) -> ModuleType:
    """Import a Python file, as if started from its folder; each file is imported once.

    The folder stays at the end of ``sys.path``, so that the file's functions can import the modules
    next to it later too.
    """
    # The name contains the path, so that two files of one name do not collide.
    key = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]
    name = f"jaywalk_user_{path.stem}_{key}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)  # for modules next to the file
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        sys.path.remove(folder)
    if folder not in sys.path:
        sys.path.append(folder)
    return module


def refuse_stem(option: str, name: str) -> None:
    """Refuse an unknown name that is a Python file without its ending.

    Raises:
        UsageError: There is such a file.
    """
    if Path(f"{name}.py").is_file():
        raise UsageError(f"{option} is '{name}'. Did you mean the file '{name}.py'?")


def error_words(problem: BaseException, file: str) -> str:
    """Describe an error in a user's code, as in ``FILE, line 3: ValueError: message``.

    Args:
        problem: The error.
        file: The user's file; its folder is preferred when the line is chosen. Other texts, such as
            names, are fine too.
    """
    kind = type(problem).__name__
    if isinstance(problem, SyntaxError):
        return f"{shown(problem.filename or file)}, line {problem.lineno}: {kind}: {problem.msg}."
    said = str(problem).rstrip(".!") or "no message"
    return f"{error_place(problem, file)}{kind}: {said}."


def error_place(problem: BaseException, file: str) -> str:
    """Return ``FILE, line N: `` of the last call in the user's folder, else outside Jaywalk."""
    frames = traceback.extract_tb(problem.__traceback__)
    folder = Path(file).resolve().parent
    own = [frame for frame in frames if folder in Path(frame.filename).resolve().parents]
    foreign = [frame for frame in frames if _is_users(frame.filename)]
    usable = (own if file.endswith(".py") else []) or foreign
    return f"{shown(usable[-1].filename)}, line {usable[-1].lineno}: " if usable else ""


def failure_line(trace: str) -> str:
    """Return the last line of a traceback, with the last place outside Jaywalk in front of it."""
    last = trace.strip().rsplit("\n", 1)[-1]
    if last.startswith("jaywalk."):  # errors of ours name the place themselves
        return last.partition(": ")[2] or last
    places = [place for place in PLACE.findall(trace) if _is_users(place[0])]
    return f"{shown(places[-1][0])}, line {places[-1][1]}: {last}" if places else last


def _is_users(file: str) -> bool:
    return not {_OWN_FOLDER, _IMPORTLIB} & set(Path(file).parents) and not file.startswith("<")


def shown(file: str) -> str:
    """Return a file's path as a user would write it here."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
