"""A leaderboard entry: a folder with ``entry.toml`` and the result files of every seed.

All problems of ``entry.toml`` are collected, so that the user sees them at once.
"""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from jaywalk.core.errors import DataError
from jaywalk.core.files import read_text
from jaywalk.core.toml_text import parse_toml
from jaywalk.metrics.driving.files import printable
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
    "format",
    "method",
    "benchmark",
    "protocol",
    "protocol_version",
    "seeds",
    "modalities",
    "rules",
    "about",
    "bench2drive_ds",
    "origin",
)
_RULES: Final = ("trained_on_benchmark", "external_pretraining")
_BENCHMARK: Final = re.compile(r"fail2drive|[a-z0-9_.-]+/fail2drive-v\d+")
_WEAK: Final = re.compile(r"\d{4}/\d+")
_LONGEST_NAME: Final = 80  # letters: a row of the table has one line for it


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Content of ``entry.toml``."""

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

    @property
    def weak_pairs(self) -> frozenset[tuple[str, str]] | None:
        """Pair and seed of the pairs that are not strong counterfactuals; None: unknown."""
        listed = self.origin.get("weak_pairs")
        if self.benchmark == PUBLIC or not isinstance(listed, list):
            return None
        split = [str(one).partition("/") for one in listed]
        return frozenset((pair, seed) for pair, _, seed in split)


def read_entry(folder: Path) -> tuple[Entry, list[str]]:
    """Return the entry and all problems of its ``entry.toml``, field by field.

    Raises:
        DataError: The file does not exist or is not TOML.
    """
    path = folder / ENTRY_FILE
    if not path.is_file():
        raise DataError(
            f"'{folder}' has no {ENTRY_FILE}. Make an entry with 'jaywalk leaderboard entry RUN' "
            "or 'jaywalk leaderboard import RESULTS'."
        )
    text = read_text(path, f"an entry ({ENTRY_FILE})")
    table = parse_toml(text, str(path))
    fields = _Fields(table)
    entry = Entry(
        folder=folder,
        method=fields.name("method", folder.resolve().name),
        benchmark=fields.text("benchmark", PUBLIC, needed=True),
        protocol=fields.text("protocol", PROTOCOL, needed=True),
        protocol_version=fields.whole("protocol_version"),
        seeds=fields.seeds(),
        modalities=fields.modalities(),
        about=fields.about(),
        pretraining=fields.rules(),
        bench2drive_ds=fields.score("bench2drive_ds"),
        origin=fields.table("origin"),
    )
    return entry, fields.problems + _known(entry, table)


def _known(entry: Entry, table: Mapping[str, Any]) -> list[str]:
    """Return problems of unknown fields, and of unknown values with the right type."""
    problems = [f"{printable(key)}: no such field" for key in table if key not in _TOP]
    if table.get("format") != FORMAT:
        problems.append(f"format: is {reprlib.repr(table.get('format'))}, expected '{FORMAT}'")
    if not _BENCHMARK.fullmatch(entry.benchmark):
        problems.append(
            f"benchmark: is {reprlib.repr(entry.benchmark)}, expected '{PUBLIC}' (the published "
            "routes) or a suite as in jaywalk/fail2drive-v3"
        )
    if entry.protocol != PROTOCOL:
        problems.append(f"protocol: is {reprlib.repr(entry.protocol)}, expected '{PROTOCOL}'")
    expected = PROTOCOLS[PROTOCOL].version
    if type(table.get("protocol_version")) is int and entry.protocol_version != expected:
        problems.append(
            f"protocol_version: is {entry.protocol_version}, expected {expected}: scores of "
            "different versions cannot be compared"
        )
    problems += _origin_problems(entry)
    if entry.seeds and tuple(sorted(entry.seeds)) != SEEDS:
        given = ", ".join(map(str, entry.seeds))
        problems.append(f"seeds: are {given}; the benchmark asks for 1, 2 and 3")
    return problems


def _origin_problems(entry: Entry) -> list[str]:
    """Check that an entry of a Jaywalk suite names its run."""
    if entry.benchmark == PUBLIC or not _BENCHMARK.fullmatch(entry.benchmark):
        return []
    suite = entry.origin.get("suite")
    problems = _weak_problems(entry.origin.get("weak_pairs", []))
    if suite == entry.benchmark:
        return problems
    return [
        *problems,
        f"origin.suite: is {reprlib.repr(suite)}, expected the benchmark '{entry.benchmark}': "
        "entries of our own suites are made of a run, with 'jaywalk leaderboard entry RUN'",
    ]


def _weak_problems(listed: Any) -> list[str]:
    """Return the problems of the list of weak pairs; older entries have no list."""
    if isinstance(listed, list) and all(_WEAK.fullmatch(str(one)) for one in listed):
        return []
    return [
        f"origin.weak_pairs: is {reprlib.repr(listed)}, expected pairs and seeds as in ['0012/1']"
    ]


class _Fields:
    """Reader of fields that collects their problems."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self._table = table
        self.problems: list[str] = []

    def text(self, key: str, otherwise: str, *, needed: bool = False) -> str:
        value = self._table.get(key)
        if value is None and not needed:
            return otherwise
        if not isinstance(value, str) or not value.strip():
            self.problems.append(f"{key}: is {reprlib.repr(value)}, expected a text")
            return otherwise
        return value

    def name(self, key: str, otherwise: str) -> str:
        """A text that can stand in a row of a table."""
        value = self.text(key, otherwise, needed=True)
        if not value.isprintable() or len(value) > _LONGEST_NAME:
            self.problems.append(
                f"{key}: is {reprlib.repr(value)}, expected one line of at most {_LONGEST_NAME} "
                "printable letters"
            )
            return otherwise
        return value

    def whole(self, key: str) -> int:
        value = self._table.get(key)
        if type(value) is not int:
            self.problems.append(f"{key}: is {reprlib.repr(value)}, expected a whole number")
            return 0
        return value

    def score(self, key: str) -> float:
        value = self._table.get(key)
        if value is None:
            return math.nan
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= 100:
            shown = reprlib.repr(value)
            self.problems.append(f"{key}: is {shown}, expected a number from 0 to 100")
            return math.nan
        return float(value)

    def table(self, key: str) -> dict[str, Any]:
        value = self._table.get(key, {})
        if not isinstance(value, dict):
            self.problems.append(f"{key}: is {reprlib.repr(value)}, expected a table")
            return {}
        return value

    def seeds(self) -> tuple[int, ...]:
        value = self._table.get("seeds")
        good = isinstance(value, list) and value and all(type(one) is int for one in value)
        if not good or not isinstance(value, list):
            self.problems.append(
                f"seeds: is {reprlib.repr(value)}, expected a list of whole numbers"
            )
            return ()
        if len(set(value)) < len(value):
            self.problems.append("seeds: one is listed twice")
        return tuple(dict.fromkeys(value))

    def modalities(self) -> dict[str, bool]:
        table = self.table("modalities")
        for key in MODALITIES:
            if not isinstance(table.get(key), bool):
                shown = reprlib.repr(table.get(key))
                self.problems.append(f"modalities.{key}: is {shown}, expected true or false")
        self.problems += [
            f"modalities.{printable(key)}: no such field" for key in table if key not in MODALITIES
        ]
        return {key: table.get(key) is True for key in MODALITIES}

    def about(self) -> dict[str, str]:
        table = self.table("about")
        for key, value in table.items():
            if key not in _ABOUT or not isinstance(value, str):
                self.problems.append(
                    f"about.{printable(key)}: expected a text under {', '.join(_ABOUT)}"
                )
        return {key: str(table[key]) for key in _ABOUT if table.get(key)}

    def rules(self) -> str:
        table = self.table("rules")
        self.problems += [
            f"rules.{printable(key)}: no such field" for key in table if key not in _RULES
        ]
        declared = table.get("trained_on_benchmark")
        if declared is not False:
            self.problems.append(
                f"rules.trained_on_benchmark: is {reprlib.repr(declared)}; an entry "
                "must declare false: no routes, scenarios or assets of the benchmark in training"
            )
        value = table.get("external_pretraining", "")
        if not isinstance(value, str):
            self.problems.append("rules.external_pretraining: expected a text")
            return ""
        return value
