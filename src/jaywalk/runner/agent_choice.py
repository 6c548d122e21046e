"""Which agent drives, and with which arguments: from options to a spec."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from jaywalk.core.errors import InfrastructureError, PrerequisiteError, UsageError
from jaywalk.core.files import read_text
from jaywalk.core.user_code import refuse_stem

if TYPE_CHECKING:
    from jaywalk.agents.catalogue import DriverSpec
    from jaywalk.runner.plan import AgentSpec

_PERCEPTION: Final = "perception"
_PREDICTOR: Final = "predictor"
DEFAULT_PREDICTOR: Final = "constant-velocity-v1"


class PerceptionLevel(StrEnum):
    """What our own drivers see."""

    full = "full"
    limited = "limited"


def agent_specs(
    names: str,
    config: Path | None = None,
    perception: PerceptionLevel | None = None,
    predictor: str = "",
) -> list[AgentSpec]:
    """The agents of a text such as ``expert,timid`` with their arguments.

    Args:
        names: Names and files, with commas.
        config: JSON of a named agent's arguments; a file gets the path of it.
        perception: What named agents see; None: as ``config`` says, else everything.
        predictor: What predicts people, for the agents that use one.

    Raises:
        UsageError: An option fits none of the agents.
        RegistryError: No agent or predictor has that name.
    """
    listed = [name for name in names.split(",") if name]
    if not listed:
        raise UsageError(
            f"--agent is '{names}', expected a name, a file or ws://HOST:PORT; "
            "'jaywalk list agents' names ours."
        )
    if config is not None and not config.is_file():
        raise UsageError(f"--agent-config is '{config}', but that file does not exist.")
    specs = [_spec(name, config, perception, predictor) for name in listed]
    if predictor and not any(_PREDICTOR in spec.arguments for spec in specs):
        raise UsageError(
            f"--predictor is '{predictor}', but {names} predicts with none; comfort-zone does."
        )
    return specs


def _spec(
    name: str, config: Path | None, perception: PerceptionLevel | None, predictor: str
) -> AgentSpec:
    from jaywalk.agents.catalogue import AGENTS
    from jaywalk.runner.plan import AgentSpec

    if name.endswith(".py") or "://" in name:
        _check_foreign(name, perception)
        return AgentSpec(name=name, arguments={} if config is None else {"config": str(config)})
    if name not in AGENTS:
        refuse_stem("--agent", name)
    spec = AGENTS.get(name)
    given = {} if config is None else _json_object(config)
    unknown = sorted(given.keys() - set(spec.all_arguments))
    if unknown:
        raise UsageError(
            f"--agent-config {config} has '{unknown[0]}', which {name} does not take; "
            f"it takes: {', '.join(spec.all_arguments) or 'nothing'}."
        )
    arguments = {key: given[key] for key in spec.all_arguments if key in given}
    if spec.perception:
        level = str(perception or given.get(_PERCEPTION, spec.perception[0]))
        arguments[_PERCEPTION] = _perception_level(level, spec)
    elif perception is not None:
        raise UsageError(
            f"--perception is '{perception}', but {name} does not take it; leave the option out."
        )
    if _PREDICTOR in spec.arguments:
        arguments[_PREDICTOR] = _predictor(predictor or str(given.get(_PREDICTOR, "")))
    return AgentSpec(name=name, arguments=arguments)


def check_remote(address: str) -> None:
    """Check before a long run that a remote agent listens at its address."""
    from jaywalk.agents.adapters.remote import open_link
    from jaywalk.agents.load import is_remote
    from jaywalk_agent import LinkError

    if not is_remote(address):
        return
    try:
        open_link(address).drop()
    except (InfrastructureError, LinkError) as problem:
        raise PrerequisiteError(str(problem)) from problem


def _check_foreign(name: str, perception: PerceptionLevel | None) -> None:
    from jaywalk.agents.load import is_remote

    if "://" in name:
        is_remote(name)  # says what is wrong with the address
    if name.endswith(".py") and not Path(name).is_file():
        raise UsageError(f"--agent is '{name}', but that file does not exist.")
    if perception is not None:
        raise UsageError(
            f"--perception is '{perception}', but '{name}' sees with sensors of its own; the "
            "option is for drivers of 'jaywalk list agents'."
        )


def _perception_level(level: str, spec: DriverSpec) -> str:
    if level not in spec.perception:
        raise UsageError(f"perception is '{level}', expected {' or '.join(spec.perception)}.")
    return level


def _predictor(wanted: str) -> str:
    """The predictor's full name, after a look whether it can be had."""
    from jaywalk.forecasting.predictors.plugged import check_there, is_plugged
    from jaywalk.forecasting.predictors.registry import ready_predictor

    check_there(wanted)
    if is_plugged(wanted):  # not imported here: its import may end the process
        return wanted
    name, made = ready_predictor(wanted or DEFAULT_PREDICTOR)
    check_there(f"={made.file}" if hasattr(made, "file") else "")
    return name


def _json_object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(read_text(path, "a JSON file for --agent-config"))
    except ValueError as problem:
        raise UsageError(f"--agent-config {path} is not JSON: {problem}.") from problem
    if not isinstance(value, dict):
        raise UsageError(
            f"--agent-config {path} holds a {type(value).__name__}, expected an object."
        )
    return value
