"""Reading, writing and editing of YAML text; an edit keeps the comments that people wrote.

The loader is PyYAML's safe loader with stricter rules: ``on`` and ``no`` are strings, ``0011`` is a
string and not an octal number, a duplicate key is an error, and anchors are refused (a short text
with anchors can expand to gigabytes).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import yaml

from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.toml_text import FieldWords, silent, with_value

_PLAIN: Final = re.compile(r"^[A-Za-z_][A-Za-z0-9_./*-]*$")
_WORDS: Final = ("true", "false", "null", "yes", "no", "on", "off", "nan", "inf")
_WIDTH: Final = 96
_DEEPEST: Final = 40
# Errors that PyYAML's constructors raise for a wrong value after a tag: ``!!bool 5``, ``!!int ""``.
_UNFIT: Final = (LookupError, AttributeError, TypeError)


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Loader of plain values only, the types that JSON has."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  (PyYAML's own form)

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Refuse anchors, aliases and excessive depth."""
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise yaml.composer.ComposerError(
                None, None, "anchors and aliases (& and *) are not read here", event.start_mark
            )
        self.depth = getattr(self, "depth", 0) + 1
        if self.depth > _DEEPEST:
            raise yaml.composer.ComposerError(None, None, "nested too deep", event.start_mark)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Build a mapping; its keys must be strings and unique."""
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.value in seen:
                problem = (
                    "a key is not text"
                    if not isinstance(key, yaml.ScalarNode)
                    else (f"'{key.value}' is given twice")
                )
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(key.value)
        return {key.value: self.construct_object(item, deep=True) for key, item in node.value}


_LETTERS: Final = "-+.0123456789"
for _tag, _pattern, _first in (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("null", r"^(?:~|null|Null|NULL|)$", ("~", "n", "N", "")),
    ("int", r"^[-+]?(?:0|[1-9][0-9]*)$", _LETTERS),
    ("float", r"^[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$", _LETTERS),
    ("float", r"^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$", "-+."),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), list(_first))
_Loader.add_constructor(
    "tag:yaml.org,2002:float",
    lambda loader, node: float(
        loader.construct_scalar(node).replace(".inf", "inf").replace(".nan", "nan")
    ),
)
_Loader.add_constructor(
    "tag:yaml.org,2002:map", lambda loader, node: loader.construct_mapping(node, deep=True)
)


def parse_yaml(text: str, name: str) -> dict[str, Any]:
    """Return the values of a YAML text; ``name`` identifies the text in the error message."""
    try:
        parsed = yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, ValueError, RecursionError, *_UNFIT) as problem:
        raise DataError(f"'{name}' is not valid YAML: {_told(problem)}.") from problem
    if not isinstance(parsed, dict):
        what = "empty" if parsed is None else f"{type(parsed).__name__} in YAML"
        raise DataError(f"'{name}' is {what}; expected fields, KEY: VALUE.")
    return parsed


def _told(problem: Exception) -> str:
    mark = getattr(problem, "problem_mark", None)
    words = getattr(problem, "problem", None) or str(problem).split("\n")[0]
    if isinstance(problem, _UNFIT):
        words = "a value does not fit the tag (!!...) before it"
    return f"{words} (line {mark.line + 1}, column {mark.column + 1})" if mark else str(words)


def format_yaml(document: Mapping[str, Any], words: FieldWords | None = None) -> str:
    """Format a document in its order; ``words`` returns the comment of a field."""
    lines: list[str] = []
    _mapping(document, (), "", lines, words or silent)
    return "\n".join(lines).strip() + "\n"


def _mapping(
    table: Mapping[str, Any],
    path: tuple[str, ...],
    indent: str,
    lines: list[str],
    words: FieldWords,
) -> None:
    for key, value in table.items():
        here = (*path, key)
        note = f"  # {words(here)}" if words(here) else ""
        if isinstance(value, Mapping) and value:
            lines.append(f"{indent}{_scalar(key)}:{note}")
            _mapping(value, here, f"{indent}  ", lines, words)
        elif _is_section(value):
            lines.append(f"{indent}{_scalar(key)}:{note}")
            for number, entry in enumerate(value):
                begin = len(lines)
                # A field that occurs many times gets its comment at the first occurrence.
                _mapping(entry, here, f"{indent}    ", lines, words if not number else silent)
                lines[begin] = f"{indent}  - {lines[begin].lstrip()}"
        else:
            lines.append(f"{indent}{_scalar(key)}: {_value(value, indent)}{note}")


def _is_section(value: Any) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and bool(value)
        and all(isinstance(entry, Mapping) and entry for entry in value)
    )


def _value(value: Any, indent: str) -> str:
    """Format a value on one line, or a long list on several lines."""
    line = flow_yaml(value)
    if len(line) <= _WIDTH or isinstance(value, str) or not isinstance(value, Sequence):
        return line
    return "".join(f"\n{indent}  - {flow_yaml(entry)}" for entry in value)


def flow_yaml(value: Any) -> str:
    """Format a value on one line."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _scalar(value)
    if not isinstance(value, Mapping | Sequence):
        raise UsageError(
            f"{value} cannot be written; expected a number, a text, a list or a table."
        )
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(k)}: {flow_yaml(v)}" for k, v in value.items()) + "}"
    return f"[{', '.join(flow_yaml(entry) for entry in value)}]"


def _scalar(text: str) -> str:
    plain = _PLAIN.match(text) and text.lower() not in _WORDS
    return text if plain else json.dumps(text, ensure_ascii=False)


def edit_yaml(
    text: str,
    document: Mapping[str, Any],
    keys: Sequence[str],
    value: Any,
    words: FieldWords | None = None,
) -> str:
    """Return the text with one value changed; comments are kept if the change affects one place."""
    wanted = with_value(document, keys, value)
    patched = _patched(text, keys, value)
    if patched is not None:
        try:
            if yaml.load(patched, Loader=_Loader) == wanted:
                return patched
        except yaml.YAMLError:
            pass
    return format_yaml(wanted, words)


def _patched(text: str, keys: Sequence[str], value: Any) -> str | None:
    """Return the text with the value at a path replaced, or added to its mapping as a new line."""
    place = yaml.compose(text, Loader=_Loader)
    for number, key in enumerate(keys):
        node = _entry(place, key)
        if node is None:
            return _added(text, place, key, value) if number == len(keys) - 1 else None
        place = node
    begin, end = place.start_mark.index, place.end_mark.index
    if not isinstance(place, yaml.ScalarNode) and not place.flow_style:
        return None
    return f"{text[:begin]}{flow_yaml(value)}{text[end:]}"


def _entry(place: Any, key: str) -> Any | None:
    if isinstance(place, yaml.SequenceNode):
        fits = key.isdecimal() and len(key) < 10 and 1 <= int(key) <= len(place.value)
        return place.value[int(key) - 1] if fits else None
    if isinstance(place, yaml.MappingNode):
        return next((item for name, item in place.value if name.value == key), None)
    return None


def _added(text: str, place: Any, key: str, value: Any) -> str | None:
    """Add a line for a new key after the last line of the mapping's last plain value."""
    if not isinstance(place, yaml.MappingNode) or place.flow_style or not place.value:
        return None
    column = place.value[0][0].start_mark.column
    lines = text.split("\n")
    plain = [
        item for _, item in place.value if isinstance(item, yaml.ScalarNode) or item.flow_style
    ]
    if not plain:
        return None
    last = plain[-1].end_mark.line
    new = f"{' ' * column}{_scalar(key)}: {flow_yaml(value)}"
    return "\n".join([*lines[: last + 1], new, *lines[last + 1 :]])
