"""Create drivers from a name, a file or an address."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from jaywalk.agents.adapters._leaderboard import (
    ENTRY_POINT,
    LeaderboardAgent,
    add_compatibility,
    is_leaderboard_class,
)
from jaywalk.agents.adapters._leaderboard_environment import give_old_numpy
from jaywalk.agents.adapters.remote import PlainDriver
from jaywalk.agents.adapters.sensor_rig import SensorError, allowed_sensors
from jaywalk.agents.base import Driver
from jaywalk.agents.catalogue import AGENTS
from jaywalk.core.errors import JaywalkError, UsageError
from jaywalk.core.user_code import PLACE, error_place, error_words, import_file
from jaywalk_agent import Agent, LinkError
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
    if not path.is_file():
        raise UsageError(f"--agent is '{path}', but that file does not exist.")
    add_compatibility()
    module = import_file(path)
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
    kinds = [
        thing
        for thing in vars(module).values()
        if isinstance(thing, type)
        and issubclass(thing, (Driver, Agent))
        and thing.__module__ == module.__name__
    ]
    if not kinds:
        foreign = [name for name, thing in vars(module).items() if is_leaderboard_class(thing)]
        if foreign:
            raise UsageError(
                f"{path} has no {ENTRY_POINT}(). A Leaderboard agent's file defines it; it returns "
                f"the name of the class, here '{foreign[-1]}'."
            )
    if len(kinds) != 1:
        names = ", ".join(sorted(kind.__name__ for kind in kinds)) or "none"
        raise UsageError(
            f"{path} defines {len(kinds)} drivers ({names}). Expected exactly one subclass of "
            "jaywalk_agent.Agent or jaywalk.agents.base.Driver, or get_entry_point() as in a "
            "Leaderboard agent."
        )
    kind = kinds[0]
    if issubclass(kind, Driver):
        return kind
    return lambda: PlainDriver(kind())


_OTHER_PYTHON: Final = (
    "If another Python has it, start the agent there and give --agent ws://HOST:PORT "
    "(docs/reference/remote_agents.md)."
)


def failure_cause(
    problem: BaseException, name: str, arguments: Mapping[str, Any] | None = None
) -> str:
    """Return why an agent cannot be loaded or set up: file, line and message, and a fix if known.

    Args:
        problem: What loading or setup raised.
        name: File, address or name of the agent.
        arguments: Arguments of the agent.
    """
    if isinstance(problem, JaywalkError):
        return f"{error_place(problem, name)}{problem}"
    if isinstance(problem, LinkError):
        return _remote_cause(str(problem))
    words = error_words(problem, name)
    if isinstance(problem, ModuleNotFoundError):
        return f"{words} {_OTHER_PYTHON}"
    if isinstance(problem, SensorError):
        return f"{words} Sensors that agents may use: {', '.join(allowed_sensors())}."
    if _wants_config(problem, arguments or {}):
        return f"{words} No --agent-config was given; if the agent reads a config, name it there."
    return words


def _wants_config(problem: BaseException, arguments: Mapping[str, Any]) -> bool:
    """Whether the setup of an agent without a config failed at a file or at an empty name."""
    return not arguments.get("config") and isinstance(problem, OSError | IndexError)


def _remote_cause(text: str) -> str:
    places = PLACE.findall(text)
    lines = text.strip().splitlines()
    where = f"{places[-1][0]}, line {places[-1][1]}: " if places else ""
    head = f"{lines[0].rstrip(':')}: " if len(lines) > 1 else ""
    return f"{head}{where}{lines[-1].strip().rstrip('.')}."
