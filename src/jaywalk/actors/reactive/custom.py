"""People models of users: from a file, ``module:Class`` or ``ws://HOST:PORT`` to a policy."""

from __future__ import annotations

import hashlib
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np

from jaywalk.actors.reactive.policy import policy_failure
from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import AgentUnreachableError, PrerequisiteError, UsageError
from jaywalk.core.user_code import error_words, import_file
from jaywalk_agent import (
    LinkError,
    NoListener,
    PersonAct,
    PersonPolicy,
    PersonTraits,
    PersonView,
    RemotePeople,
)
from jaywalk_agent.people import METHODS, only_policy, try_policy
from jaywalk_agent.websocket import parse_address

CUSTOM: Final = "custom"  # in the names of suites and in records
_WAIT_S: Final = 30.0  # a program that ended may be starting again
_CONTRACT: Final = "The contract is in docs/reference/habit.md, 'People of your own'."


class ServedPeople:
    """Policy in another process, at an address."""

    def __init__(self, address: str, wait_s: float = _WAIT_S) -> None:
        """Connect.

        Raises:
            AgentUnreachableError: No program listens at the address.
            LinkError: The program there serves no people.
        """
        try:
            self._link = RemotePeople(address, wait_s=wait_s)
        except NoListener as problem:
            raise AgentUnreachableError(
                f"No people to be reached: {problem}. Start them (python -m jaywalk_agent people "
                "FILE --port PORT), then run the same command again."
            ) from problem
        self._lost = False

    def reset(self, who: PersonTraits, goal_m: FloatArray, rng: np.random.Generator) -> None:
        """Reset the policy with a generator of the same seed."""
        seeds: Any = rng.bit_generator.seed_seq
        self._try(self._link.setup, who, goal_m, seeds.entropy)

    def act(self, seen: PersonView) -> PersonAct:
        """Ask the policy."""
        act: PersonAct = self._try(self._link.step, seen)
        return act

    def close(self) -> None:
        """Close the connection."""
        if self._lost:
            self._link.drop()
            return
        try:
            self._link.close()
        except (LinkError, OSError):
            self._link.drop()

    def _try(self, call: Any, *values: Any) -> Any:
        try:
            return call(*values)
        except BaseException:  # also a timeout: a closing message is useless then
            self._lost = True
            raise


def is_custom(name: str) -> bool:
    """Return whether a people model is the user's own rather than one of ours."""
    return name.endswith(".py") or ":" in name


def policy_label(name: str) -> str:
    """Return a short name for records, as in ``custom:NAME``."""
    if "://" in name:
        return name.split("://", 1)[1]
    return Path(name).stem if name.endswith(".py") else name.rpartition(":")[2]


def policy_digest(name: str) -> str:
    """Return the SHA-256 digest of a policy's file; "" for a policy at an address."""
    if "://" in name:
        return ""
    path: str | None = name
    if not name.endswith(".py"):
        spec = find_spec(name.partition(":")[0])
        path = spec.origin if spec is not None else None
    if path is None or not Path(path).is_file():
        return ""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def load_policy(name: str) -> PersonPolicy:
    """Return a new policy from a Python file, ``module:Class`` or an address.

    Raises:
        UsageError: There is no such policy, or it cannot be imported or created.
        AgentUnreachableError: No program listens at the address.
    """
    if "://" in name:
        try:
            return ServedPeople(_address(name))
        except LinkError as problem:
            raise UsageError(f"--people-model {name}: {problem}") from problem
    kind = _from_file(Path(name)) if name.endswith(".py") else _from_module(name)
    try:
        policy: PersonPolicy = kind()
    except (Exception, SystemExit) as problem:
        raise UsageError(
            f"The people model {name} cannot be created: {error_words(problem, name)} It is "
            "created without arguments."
        ) from problem
    return policy


def check_policy(name: str) -> None:
    """Refuse a policy that is missing, or whose first answer breaks the contract.

    Raises:
        UsageError: As for :func:`load_policy`, or the policy fails in a trial with two people.
        PrerequisiteError: No program listens at the address.
    """
    if "://" in name:
        try:
            ServedPeople(_address(name), wait_s=0.0).close()
        except (AgentUnreachableError, LinkError) as problem:
            raise PrerequisiteError(str(problem)) from problem
        return
    policy = load_policy(name)
    try:
        try_policy(policy)
    except (Exception, SystemExit) as problem:
        raise UsageError(
            f"The people model {name} fails in a trial with two people: "
            f"{policy_failure(problem, name)} {_CONTRACT}"
        ) from problem


def _address(name: str) -> str:
    try:
        parse_address(name)
    except ValueError as problem:
        raise UsageError(f"--people-model is {problem}.") from problem
    return name


def _from_file(path: Path) -> type[PersonPolicy]:
    if not path.is_file():
        raise UsageError(f"--people-model is '{path}', and there is no such file.")
    try:
        module = import_file(path)
    except (Exception, SystemExit) as problem:
        raise UsageError(
            f"The people model {path} cannot be loaded: {error_words(problem, str(path))}"
        ) from problem
    try:
        return only_policy(module, str(path))
    except ImportError as problem:
        raise UsageError(f"--people-model: {problem} {_CONTRACT}") from problem


def _from_module(name: str) -> type[PersonPolicy]:
    module_name, _, attribute = name.partition(":")
    here = str(Path.cwd())
    sys.path.insert(0, here)  # as Python itself does for scripts
    try:
        module = import_module(module_name)
    except (Exception, SystemExit) as problem:
        raise UsageError(
            f"The people model '{name}' cannot be loaded: {error_words(problem, name)} Expected "
            "FILE.py, module:Class or ws://HOST:PORT."
        ) from problem
    finally:
        sys.path.remove(here)
    kind: Any = getattr(module, attribute, None)
    if not all(callable(getattr(kind, method, None)) for method in METHODS):
        raise UsageError(
            f"--people-model is '{name}', but {module_name} has no class '{attribute}' with the "
            f"methods {' and '.join(METHODS)}. {_CONTRACT}"
        )
    checked: type[PersonPolicy] = kind
    return checked
