"""YAML text of plain values, and one value changed in a text that people wrote.

Read with PyYAML's safe loader, without its surprises: ``on`` and ``no`` are texts, ``0011`` is a
text and not an octal number, a key given twice is an error, and there are no anchors (a short text
with anchors can mean gigabytes).
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
# How PyYAML's constructors stumble over a wrong word behind a tag: ``!!bool 5``, ``!!int ""``.
_UNFIT: Final = (LookupError, AttributeError, TypeError)


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Plain values alone, as JSON has them."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  (PyYAML's own form)

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Refuse anchors, aliases and depths that nobody writes."""
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
        """Keys are texts, each once."""
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.value in seen:
                problem = (
                    "a key is no text"
                    if not isinstance(key, yaml.ScalarNode)
                    else (f"'{key.value}' is given twice")
                )
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(key.value)
        return {key.value: self.construct_object(one, deep=True) for key, one in node.value}


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
    """Values of a YAML text; ``name`` stands in the error."""
    try:
        found = yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, ValueError, RecursionError, *_UNFIT) as problem:
        raise DataError(f"'{name}' is not valid YAML: {_told(problem)}.") from problem
    if not isinstance(found, dict):
        what = "empty" if found is None else f"{type(found).__name__} in YAML"
        raise DataError(f"'{name}' is {what}; expected fields, KEY: VALUE.")
    return found


def _told(problem: Exception) -> str:
    mark = getattr(problem, "problem_mark", None)
    words = getattr(problem, "problem", None) or str(problem).split("\n")[0]
    if isinstance(problem, _UNFIT):
        words = "a value does not fit the tag (!!...) before it"
    return f"{words} (line {mark.line + 1}, column {mark.column + 1})" if mark else str(words)


def format_yaml(document: Mapping[str, Any], words: FieldWords | None = None) -> str:
    """A document as text, in its order; ``words`` gives comments."""
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
                # What a field means is said once, at the first of many.
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
    """On one line; a long list on several."""
    line = flow_yaml(value)
    if len(line) <= _WIDTH or isinstance(value, str) or not isinstance(value, Sequence):
        return line
    return "".join(f"\n{indent}  - {flow_yaml(entry)}" for entry in value)


def flow_yaml(value: Any) -> str:
    """A value on one line."""
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
    """The text with one value changed; comments stay where that is one place's matter."""
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
    """The text with the value at this place replaced, or a line added to its mapping."""
    place = yaml.compose(text, Loader=_Loader)
    for number, key in enumerate(keys):
        found = _entry(place, key)
        if found is None:
            return _added(text, place, key, value) if number == len(keys) - 1 else None
        place = found
    begin, end = place.start_mark.index, place.end_mark.index
    if not isinstance(place, yaml.ScalarNode) and not place.flow_style:
        return None
    return f"{text[:begin]}{flow_yaml(value)}{text[end:]}"


def _entry(place: Any, key: str) -> Any | None:
    if isinstance(place, yaml.SequenceNode):
        fits = key.isdecimal() and len(key) < 10 and 1 <= int(key) <= len(place.value)
        return place.value[int(key) - 1] if fits else None
    if isinstance(place, yaml.MappingNode):
        return next((one for name, one in place.value if name.value == key), None)
    return None


def _added(text: str, place: Any, key: str, value: Any) -> str | None:
    """A line for a new key, after the last line of the mapping's last plain value."""
    if not isinstance(place, yaml.MappingNode) or place.flow_style or not place.value:
        return None
    column = place.value[0][0].start_mark.column
    lines = text.split("\n")
    plain = [one for _, one in place.value if isinstance(one, yaml.ScalarNode) or one.flow_style]
    if not plain:
        return None
    last = plain[-1].end_mark.line
    new = f"{' ' * column}{_scalar(key)}: {flow_yaml(value)}"
    return "\n".join([*lines[: last + 1], new, *lines[last + 1 :]])
