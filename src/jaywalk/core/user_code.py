"""Python files of users: how they are imported, and where an error in them occurred."""

from __future__ import annotations

import hashlib
import sys
import traceback
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Final

_OWN_FOLDER: Final = Path(__file__).parents[1]  # of Jaywalk's sources


def import_file(path: Path) -> ModuleType:
    """Import a Python file, as if started from its folder; each file is imported once."""
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
    return module


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
    foreign = [
        frame
        for frame in frames
        if _OWN_FOLDER not in Path(frame.filename).parents and not frame.filename.startswith("<")
    ]
    usable = (own if file.endswith(".py") else []) or foreign
    return f"{shown(usable[-1].filename)}, line {usable[-1].lineno}: " if usable else ""


def shown(file: str) -> str:
    """Return a file's path as a user would write it here."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
