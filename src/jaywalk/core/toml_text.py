"""Reading, writing and editing of TOML text; an edit keeps the comments that people wrote."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Final

from jaywalk.core.errors import DataError, UsageError

_BARE: Final = re.compile(r"^[A-Za-z0-9_-]+$")
_HEADER: Final = re.compile(r"^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(#.*)?$")
_WIDTH: Final = 96

# Maps the path of a field (without list indices) to its comment; "" means no comment.
FieldWords = Callable[[tuple[str, ...]], str]


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """Return the values of a TOML text; ``name`` identifies the text in the error message."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise DataError(f"'{name}' is not valid TOML: nested too deep.") from None
    except ValueError as problem:  # raised for numbers with thousands of digits too
        raise DataError(f"'{name}' is not valid TOML: {_first_line(problem)}.") from problem


def _first_line(problem: Exception) -> str:
    return str(problem).split("\n")[0].partition("; use sys.")[0]


def format_toml(document: Mapping[str, Any], words: FieldWords | None = None) -> str:
    """Format a document: plain keys first, then tables and lists of tables, in their order.

    Args:
        document: Plain values.
        words: Returns the comment of a field. A field that occurs in many tables gets its comment
            at the first occurrence.
    """
    lines: list[str] = []
    _table(document, (), lines, words or silent)
    return "\n".join(lines).strip() + "\n"


def silent(path: tuple[str, ...]) -> str:
    """Return no comment for any field."""
    return ""


def _table(
    table: Mapping[str, Any], path: tuple[str, ...], lines: list[str], words: FieldWords
) -> None:
    for key, value in table.items():
        if not _is_section(value):
            note = words((*path, key))
            line = f"{_key(key)} = {format_value(value)}"
            # The comment of a list over several lines stands above it.
            if note and "\n" in line:
                lines += [f"# {note}", line]
            else:
                lines.append(f"{line}  # {note}" if note else line)
    for key, value in table.items():
        here = (*path, key)
        name = ".".join(_key(part) for part in here)
        if isinstance(value, Mapping):
            lines += ["", f"[{name}]"]
            _table(value, here, lines, words)
        elif _is_section(value):
            for number, entry in enumerate(value):
                lines += ["", f"[[{name}]]"]
                _table(entry, here, lines, silent if number else words)


def _is_section(value: Any) -> bool:
    if isinstance(value, Mapping):
        return True
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and bool(value)
        and all(isinstance(entry, Mapping) for entry in value)
    )


def _key(key: str) -> str:
    return key if _BARE.match(key) else json.dumps(key)


def format_value(value: Any) -> str:
    """Format one value on one line, or a long list on several lines."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        if isinstance(value, float) and not math.isfinite(value):
            raise UsageError(f"{value} cannot be written; expected a finite number.")
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {format_value(v)}" for k, v in value.items()) + " }"
    if not isinstance(value, Sequence):
        raise UsageError(
            f"{value} cannot be written; expected a number, a text, a list or a table."
        )
    entries = [format_value(entry) for entry in value]
    line = f"[{', '.join(entries)}]"
    if len(line) <= _WIDTH:
        return line
    return "[\n" + "".join(f"  {entry},\n" for entry in entries) + "]"


def parse_setting(text: str) -> tuple[list[str], Any]:
    """Split ``a.b=VALUE`` into path and value; an invalid TOML value is taken as a string."""
    path, equals, raw = text.partition("=")
    keys = [part.strip() for part in path.split(".")]
    if not equals or not all(keys):
        raise UsageError(f"--set is '{text}', expected KEY=VALUE as in params.distance=40.")
    try:
        parsed = tomllib.loads(f"value = {raw.strip()}")
    except tomllib.TOMLDecodeError:
        return keys, raw.strip()
    except (ValueError, RecursionError):
        raise UsageError(f"--set {path}: is '{raw[:40]}...'; expected a shorter value.") from None
    return keys, parsed["value"] if len(parsed) == 1 else raw.strip()


def with_value(document: Mapping[str, Any], keys: Sequence[str], value: Any) -> dict[str, Any]:
    """Return a copy with one value set; a number in the path is a list index that starts at 1."""
    changed: dict[str, Any] = deepcopy(dict(document))
    place: Any = changed
    for k, key in enumerate(keys[:-1]):
        place = _step(place, key, ".".join(keys[: k + 1]))
    last = keys[-1]
    if isinstance(place, list):
        place[_number(last, place, ".".join(keys))] = value
    elif isinstance(place, dict):
        place[last] = value
    else:
        raise UsageError(f"--set {'.'.join(keys)}: there is no table to set it in.")
    return changed


def _step(place: Any, key: str, path: str) -> Any:
    if isinstance(place, list):
        return place[_number(key, place, path)]
    if not isinstance(place, dict):
        raise UsageError(f"--set {path}: there is no table to set it in.")
    return place.setdefault(key, {})


def _number(key: str, place: list[Any], path: str) -> int:
    if not key.isdecimal() or len(key) > 9 or not 1 <= int(key) <= len(place):
        raise UsageError(f"--set {path}: expected a number from 1 to {len(place)}.")
    return int(key) - 1


def edit_text(
    text: str,
    document: Mapping[str, Any],
    keys: Sequence[str],
    value: Any,
    words: FieldWords | None = None,
) -> str:
    """Return the text with one value changed; comments are kept if the change affects one line."""
    wanted = with_value(document, keys, value)
    patched = _patched(text, keys, value)
    if patched is not None:
        try:
            if tomllib.loads(patched) == wanted:
                return patched
        except tomllib.TOMLDecodeError:
            pass
    return format_toml(wanted, words)


def _patched(text: str, keys: Sequence[str], value: Any) -> str | None:
    """Replace the line of a key, or add it to its table; return None if there is no such table."""
    lines = text.split("\n")
    counts: dict[str, int] = {}
    here: list[str] = []
    last: int | None = None  # line of the table after which a new key goes
    pattern = re.compile(rf"^(\s*{re.escape(keys[-1])}\s*=\s*)(.*?)(\s*#.*)?$")
    for number, line in enumerate(lines):
        header = _HEADER.match(line)
        if header is not None:
            here = _path(header[2], header[1] == "[[", counts)
        elif here != list(keys[:-1]):
            continue
        elif (match := pattern.match(line)) is not None:
            lines[number] = f"{match[1]}{format_value(value)}{match[3] or ''}"
            return "\n".join(lines)
        if here == list(keys[:-1]) and line.strip() and not line.lstrip().startswith("#"):
            last = number
    if last is None:
        return None
    new = f"{_key(keys[-1])} = {format_value(value)}"
    return "\n".join([*lines[: last + 1], new, *lines[last + 1 :]])


def _path(name: str, is_list: bool, counts: dict[str, int]) -> list[str]:
    """Return the path of a table header, with the index of each list of tables in it."""
    path: list[str] = []
    parts = [part.strip().strip('"') for part in name.split(".")]
    for k, part in enumerate(parts):
        path.append(part)
        joined = ".".join(path)
        if is_list and k == len(parts) - 1:
            counts[joined] = counts.get(joined, 0) + 1
        if joined in counts:
            path.append(str(counts[joined]))
    return path
