"""From a file to the agent class in it."""

from __future__ import annotations

import hashlib
import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

from jaywalk_agent.agent import Agent


def load_agent(path: str | os.PathLike[str]) -> type[Agent]:
    """The one subclass of :class:`Agent` that a Python file defines.

    Raises:
        ImportError: There is no such file, or not exactly one agent in it.
    """
    module = import_path(path)
    full = module.__file__
    agents = agents_in(module)
    if len(agents) != 1:
        names = ", ".join(kind.__name__ for kind in agents) or "none"
        raise ImportError(
            f"{full} defines {len(agents)} agents ({names}), expected exactly one subclass of "
            "jaywalk_agent.Agent."
        )
    return agents[0]


def import_path(path: str | os.PathLike[str]) -> Any:
    """Import a Python file, as if it had been started from its folder.

    Raises:
        ImportError: There is no such file.
    """
    full = os.path.abspath(os.fspath(path))
    if not os.path.isfile(full):
        raise ImportError(f"There is no file {full}.")
    key = hashlib.sha256(full.encode()).hexdigest()[:12]
    stem = os.path.splitext(os.path.basename(full))[0]
    spec = spec_from_file_location(f"loaded_agent_{stem}_{key}", full)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[module.__name__] = module
    sys.path.insert(0, os.path.dirname(full))  # for modules next to the file
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(os.path.dirname(full))
    return module


def agents_in(module: Any) -> list[type[Agent]]:
    """The agent classes that a module itself defines."""
    return [
        thing
        for thing in vars(module).values()
        if isinstance(thing, type)
        and issubclass(thing, Agent)
        and thing.__module__ == module.__name__
    ]
