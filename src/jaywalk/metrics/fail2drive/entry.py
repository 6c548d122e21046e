"""A leaderboard entry: a folder with ``entry.toml`` and the result files of every seed.

Whatever is wrong with ``entry.toml`` is collected, so that one look shows all of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from jaywalk.core.errors import DataError
from jaywalk.core.toml_text import parse_toml
from jaywalk.metrics.driving.penalties import PROTOCOLS

ENTRY_FILE: Final = "entry.toml"
RESULTS_FOLDER: Final = "results"
FORMAT: Final = "jaywalk-leaderboard-entry-1"
PROTOCOL: Final = "fail2drive"
PUBLIC: Final = "fail2drive"  # the published routes in Town13
SEEDS: Final = (1, 2, 3)
MODALITIES: Final = ("rgb", "lidar", "privileged", "learned")
_ABOUT: Final = ("paper", "code", "contact", "note")
_TOP: Final = (
    "format", "method", "benchmark", "protocol", "protocol_version", "seeds", "modalities",
    "rules", "about", "bench2drive_ds", "origin",
)  # fmt: skip
_BENCHMARK: Final = re.compile(r"^(fail2drive|[a-z0-9_.-]+/fail2drive-v\d+)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What an entry says of itself."""

    folder: Path
    method: str
    benchmark: str = PUBLIC
    protocol: str = PROTOCOL
    protocol_version: int = 0
    seeds: tuple[int, ...] = SEEDS
    modalities: Mapping[str, bool] = field(default_factory=dict)
    about: Mapping[str, str] = field(default_factory=dict)
    pretraining: str = ""
    bench2drive_ds: float = math.nan
    origin: Mapping[str, Any] = field(default_factory=dict)


def read_entry(folder: Path) -> tuple[Entry, list[str]]:
    """The entry and everything that is wrong with its ``entry.toml``, field by field.

    Raises:
        DataError: There is no such file, or it is no TOML.
    """
    path = folder / ENTRY_FILE
    if not path.is_file():
        raise DataError(
            f"'{folder}' has no {ENTRY_FILE}. Make an entry with 'jaywalk leaderboard entry RUN' "
            "or 'jaywalk leaderboard import RESULTS'."
        )
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise DataError(f"'{path}' cannot be read: {problem}.") from problem
    table = parse_toml(text, str(path))
    found = _Fields(table)
    entry = Entry(
        folder=folder,
        method=found.text("method", folder.resolve().name, needed=True),
        benchmark=found.text("benchmark", PUBLIC, needed=True),
        protocol=found.text("protocol", PROTOCOL, needed=True),
        protocol_version=found.whole("protocol_version"),
        seeds=found.seeds(),
        modalities=found.modalities(),
        about=found.about(),
        pretraining=found.rules(),
        bench2drive_ds=found.number("bench2drive_ds"),
        origin=found.table("origin"),
    )
    return entry, found.problems + _known(entry, table)


def _known(entry: Entry, table: Mapping[str, Any]) -> list[str]:
    """Values of the right kind that are none of those we know."""
    problems = [f"{key}: no such field" for key in table if key not in _TOP]
    if table.get("format") != FORMAT:
        problems.append(f"format: is {table.get('format')!r}, expected '{FORMAT}'")
    if not _BENCHMARK.match(entry.benchmark):
        problems.append(
            f"benchmark: is '{entry.benchmark}', expected '{PUBLIC}' (the published routes) or a "
            "suite as in jaywalk/fail2drive-v2"
        )
    if entry.protocol != PROTOCOL:
        problems.append(f"protocol: is '{entry.protocol}', expected '{PROTOCOL}'")
    expected = PROTOCOLS[PROTOCOL].version
    if entry.protocol_version != expected:
        problems.append(
            f"protocol_version: is {entry.protocol_version}, expected {expected}: scores of "
            "different versions cannot be compared"
        )
    if entry.seeds and tuple(sorted(entry.seeds)) != SEEDS:
        given = ", ".join(map(str, entry.seeds))
        problems.append(f"seeds: are {given}; the benchmark asks for 1, 2 and 3")
    return problems


class _Fields:
    """Reads fields and notes what is wrong with them."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self._table = table
        self.problems: list[str] = []

    def text(self, key: str, otherwise: str, *, needed: bool = False) -> str:
        value = self._table.get(key)
        if value is None and not needed:
            return otherwise
        if not isinstance(value, str) or not value.strip():
            self.problems.append(f"{key}: is {value!r}, expected a text")
            return otherwise
        return value

    def whole(self, key: str) -> int:
        value = self._table.get(key)
        if type(value) is not int:
            self.problems.append(f"{key}: is {value!r}, expected a whole number")
            return 0
        return value

    def number(self, key: str) -> float:
        value = self._table.get(key)
        if value is None:
            return math.nan
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.problems.append(f"{key}: is {value!r}, expected a number")
            return math.nan
        return float(value)

    def table(self, key: str) -> dict[str, Any]:
        value = self._table.get(key, {})
        if not isinstance(value, dict):
            self.problems.append(f"{key}: is {value!r}, expected a table")
            return {}
        return value

    def seeds(self) -> tuple[int, ...]:
        value = self._table.get("seeds")
        good = isinstance(value, list) and value and all(type(one) is int for one in value)
        if not good or not isinstance(value, list):
            self.problems.append(f"seeds: is {value!r}, expected a list of whole numbers")
            return ()
        if len(set(value)) < len(value):
            self.problems.append("seeds: one is listed twice")
        return tuple(dict.fromkeys(value))

    def modalities(self) -> dict[str, bool]:
        table = self.table("modalities")
        for key in MODALITIES:
            if not isinstance(table.get(key), bool):
                self.problems.append(f"modalities.{key}: is {table.get(key)!r}, expected true or "
                                     "false")  # fmt: skip
        self.problems += [f"modalities.{key}: no such field" for key in table
                          if key not in MODALITIES]  # fmt: skip
        return {key: table.get(key) is True for key in MODALITIES}

    def about(self) -> dict[str, str]:
        table = self.table("about")
        for key, value in table.items():
            if key not in _ABOUT or not isinstance(value, str):
                self.problems.append(f"about.{key}: expected a text under {', '.join(_ABOUT)}")
        return {key: str(table[key]) for key in _ABOUT if table.get(key)}

    def rules(self) -> str:
        table = self.table("rules")
        if table.get("trained_on_benchmark") is not False:
            self.problems.append(
                f"rules.trained_on_benchmark: is {table.get('trained_on_benchmark')!r}; an entry "
                "must declare false: no routes, scenarios or assets of the benchmark in training"
            )
        value = table.get("external_pretraining", "")
        if not isinstance(value, str):
            self.problems.append("rules.external_pretraining: expected a text")
            return ""
        return value
