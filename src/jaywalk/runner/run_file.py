"""Run files: all options of ``jaywalk run`` in one TOML file.

The key ``suite`` distinguishes a run file from a scenario file. Paths are relative to the current
folder, as on the command line.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from jaywalk.core.errors import UsageError
from jaywalk.core.files import read_text
from jaywalk.core.text import suggestion
from jaywalk.runner.agent_choice import PerceptionLevel

_KEY: Final = "suite"


def _listed(value: Any) -> Any:
    """A list as the text of the command line, e.g. ``[1, 2]`` as ``1,2``; a number as text."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Listed = Annotated[str, BeforeValidator(_listed)]


class RunFile(BaseModel):
    """Options in a run file, named as on the command line; those that are absent have defaults."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    suite: Annotated[str, Field(min_length=1)]
    agent: Listed | None = None
    seeds: Listed | None = None
    workers: Annotated[int, Field(ge=0)] | None = None
    routes: str | None = None
    subset: Listed | None = None
    limit: Annotated[int, Field(ge=0)] | None = None
    variant: str | None = None
    town: str | None = None
    xodr: Annotated[Path, Field(strict=False)] | None = None
    people: Annotated[int, Field(ge=0)] | None = None
    vehicles: Annotated[int, Field(ge=0)] | None = None
    motions: str | None = None
    people_model: str | None = None
    wet_grip: bool | None = None
    traffic: Annotated[str, Field(pattern="^(own|traffic-manager)$")] | None = None
    agent_config: Annotated[Path, Field(strict=False)] | None = None
    perception: Annotated[PerceptionLevel, Field(strict=False)] | None = None
    predictor: str | None = None
    server: str | None = None
    cluster: str | None = None
    out: Annotated[Path, Field(strict=False)] | None = None
    verify_determinism: bool | None = None
    watchdog_s: Annotated[float, Field(ge=1.0)] | None = None
    retries: Annotated[int, Field(ge=0)] | None = None
    allow_mixed_code: bool | None = None

    def given(self) -> dict[str, Any]:
        """Return the options that the file sets."""
        return {name: getattr(self, name) for name in self.model_fields_set}


def is_run_file(name: str) -> bool:
    """Return whether a name is that of a run file: TOML with the key ``suite``."""
    path = Path(name)
    if path.suffix != ".toml" or not path.is_file():
        return False
    try:
        return _KEY in tomllib.loads(read_text(path, "a run file"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return False  # the reader of scenario files says what is wrong


def read_run_file(path: Path) -> RunFile:
    """Read a run file; ``-`` and ``_`` in keys mean the same.

    Raises:
        UsageError: A key is unknown or a value has the wrong form; the message names the key.
    """
    document = tomllib.loads(read_text(path, "a run file"))
    table = {key.replace("-", "_"): value for key, value in document.items()}
    known = RunFile.model_fields
    for key in table:
        if key not in known:
            raise UsageError(f"{path}: there is no option '{key}'.{suggestion(key, known)}")
    try:
        return RunFile.model_validate(table)
    except ValidationError as problem:
        first = problem.errors()[0]
        key = str(first["loc"][0])
        raise UsageError(
            f"{path}: {key} is {table[key]!r}: {first['msg'].removeprefix('Value error, ')}. "
            f"'jaywalk run --help' explains --{key.replace('_', '-')}."
        ) from problem
