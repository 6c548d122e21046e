"""Create drivers from a name, a file or an address."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from jaywalk.agents.adapters._leaderboard import ENTRY_POINT, LeaderboardAgent, add_compatibility
from jaywalk.agents.adapters._leaderboard_environment import give_old_numpy
from jaywalk.agents.adapters.remote import PlainDriver
from jaywalk.agents.base import Driver
from jaywalk.agents.catalogue import AGENTS
from jaywalk.core.errors import UsageError
from jaywalk_agent import Agent
from jaywalk_agent.websocket import parse_address


def make_driver(name: str) -> Driver:
    """Create a driver: a registered one, one from a Python file, or one at an address.

    Raises:
        RegistryError: No driver has that name.
        UsageError: The file is missing or does not define exactly one driver; a wrong address.
    """
    if is_remote(name):
        return PlainDriver(address=name)
    if not name.endswith(".py"):
        driver: Driver = AGENTS.get(name).load()()
        return driver
    path = Path(name)
    add_compatibility()
    module = _import_file(path)
    if hasattr(module, ENTRY_POINT):
        give_old_numpy(path.resolve().parent)
        return LeaderboardAgent(module, name)
    return _driver_maker(module, path)()


def is_remote(name: str) -> bool:
    """Return whether a name is the address of a remote agent.

    Raises:
        UsageError: It is an address, but not a valid one.
    """
    if "://" not in name:
        return False
    try:
        parse_address(name)
    except ValueError as problem:
        raise UsageError(f"--agent is {problem}.") from problem
    return True


def seed_name(name: str) -> str:
    """Return the name in an agent's seed; all agents from files and addresses share one name."""
    return "agent" if "://" in name or name.endswith(".py") else name


def _driver_maker(module: ModuleType, path: Path) -> Callable[[], Driver]:
    found = [
        thing
        for thing in vars(module).values()
        if isinstance(thing, type)
        and issubclass(thing, (Driver, Agent))
        and thing.__module__ == module.__name__
    ]
    if len(found) != 1:
        names = ", ".join(sorted(kind.__name__ for kind in found)) or "none"
        raise UsageError(
            f"{path} defines {len(found)} drivers ({names}). Expected exactly one subclass of "
            "jaywalk_agent.Agent or jaywalk.agents.base.Driver, or get_entry_point() as in a "
            "Leaderboard agent."
        )
    kind = found[0]
    if issubclass(kind, Driver):
        return kind
    return lambda: PlainDriver(kind())


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise UsageError(f"--agent is '{path}', and there is no such file.")
    # The name contains the path, so that two files called agent.py do not collide.
    key = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]
    name = f"jaywalk_agent_{path.stem}_{key}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    # As if started from its folder: agents import modules next to them.
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        sys.path.remove(str(path.resolve().parent))
    return module
