"""Untrusted text (from agents, clients and files), made safe for a terminal or a log."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable
from typing import Any, Final

MESSAGE_LIMIT: Final = 500  # characters of an error message or a log line
# Line ends and tabs are layout; other control characters can change the state of a terminal.
_LAYOUT: Final = frozenset("\n\t")

_REPR: Final = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = 80


def shortened(text: str, most: int = MESSAGE_LIMIT) -> str:
    """Return the text, or its beginning and its full length if it has over ``most`` characters."""
    if len(text) <= most:
        return text
    note = f" ... ({len(text)} characters)"
    return text[: max(most - len(note), 0)] + note


_NAMES_SHOWN: Final = 12


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return a sentence for the message about an unknown name, with a space in front.

    It suggests the nearest known name, or lists known names if none is near.
    """
    names = list(dict.fromkeys(known))
    return did_you_mean(name, names) or f" Known: {some_of(names)}."


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a sentence that suggests the nearest known name, with a space in front.

    It is empty if no known name is near.
    """
    by_lower = {option.lower(): option for option in known}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    return f" Did you mean '{by_lower[near[0]]}'?" if near else ""


def some_of(names: Iterable[str]) -> str:
    """Return the first names of a list in alphabetical order; a long list ends with its length."""
    ordered = sorted(set(names))
    more = f", ... ({len(ordered)} in all)" if len(ordered) > _NAMES_SHOWN else ""
    return (", ".join(ordered[:_NAMES_SHOWN]) or "none") + more


def short_repr(value: Any) -> str:
    """Return a shortened ``repr`` of a value without building the long form first."""
    return _REPR.repr(value)


def printable(text: str, *, layout: bool = True) -> str:
    """Return the text with control characters written as escapes.

    Args:
        text: Untrusted text.
        layout: Keep line ends and tabs; otherwise they are escaped too.
    """
    if text.isprintable():
        return text
    return "".join(char if _is_safe(char, layout) else _escape(char) for char in text)


def _is_safe(char: str, layout: bool) -> bool:
    return char.isprintable() or (layout and char in _LAYOUT)


def _escape(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
