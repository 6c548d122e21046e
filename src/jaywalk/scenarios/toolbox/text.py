"""Text of a scenario file, TOML or YAML by the name of the file, with comments on its fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from jaywalk.core.errors import DataError
from jaywalk.core.toml_text import edit_text, format_toml, parse_toml
from jaywalk.scenarios.toolbox.words import field_words

TOML: Final = (".toml",)
YAML: Final = (".yaml", ".yml")
SUFFIXES: Final = (*TOML, *YAML)


def is_yaml(name: str | Path) -> bool:
    """Whether a file is YAML by its name."""
    return Path(name).suffix.lower() in YAML


def check_suffix(path: Path, what: str) -> Path:
    """The path, if a scenario file may have that name."""
    if path.suffix.lower() not in SUFFIXES:
        raise DataError(f"{what} is '{path}'; expected a name with {', '.join(SUFFIXES)}.")
    return path


# YAML is imported when a file needs it: most have none.


def parse_text(text: str, name: str) -> dict[str, Any]:
    """Plain values; ``name`` tells the syntax and stands in errors."""
    if is_yaml(name):
        from jaywalk.core.yaml_text import parse_yaml

        return parse_yaml(text, name)
    return parse_toml(text, name)


def format_text(document: Mapping[str, Any], name: str | Path, head: Sequence[str] = ()) -> str:
    """Plain values as text of a file of this name, each field explained where it first occurs."""
    words = field_words(document)
    above = "".join(f"# {line}\n" for line in head)
    if is_yaml(name):
        from jaywalk.core.yaml_text import format_yaml

        return above + format_yaml(document, words)
    return above + format_toml(document, words)


def edit_field(text: str, name: str, keys: Sequence[str], value: Any) -> str:
    """The text with one value changed; comments stay where that is possible."""
    document = parse_text(text, name)
    words = field_words(document)
    if is_yaml(name):
        from jaywalk.core.yaml_text import edit_yaml

        return edit_yaml(text, document, keys, value, words)
    return edit_text(text, document, keys, value, words)
