"""XML elements as frozen values: tag, attributes in order, children in order, text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape

import defusedxml.ElementTree
from defusedxml import DefusedXmlException

from jaywalk.core.errors import DataError

Attributes = tuple[tuple[str, str], ...]

MAX_BYTES: Final = 64 * 1024 * 1024  # the largest public route file has 6 MB


@dataclass(frozen=True, slots=True)
class Node:
    """An element."""

    tag: str
    attributes: Attributes = ()
    children: tuple[Node, ...] = ()
    text: str = ""

    def get(self, key: str, default: str | None = None) -> str | None:
        """Value of an attribute."""
        return attribute(self.attributes, key, default)


def attribute(attributes: Attributes, key: str, default: str | None = None) -> str | None:
    """Value of one of some attributes."""
    for name, value in attributes:
        if name == key:
            return value
    return default


def number(attributes: Attributes, key: str, where: str, default: float | None = None) -> float:
    """A finite number among some attributes; the error names ``where``."""
    text = attribute(attributes, key)
    if text is None:
        if default is not None:
            return default
        raise DataError(f"{where}: attribute '{key}' is missing; expected a number.")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(f"{where}: {key} is '{text}'; expected a finite number.")
    return value


def read_tree(path: Path) -> Node:
    """Read a file without resolving entities."""
    if not path.is_file():
        raise DataError(f"No such file: '{path}'. Give a route file (.xml).")
    if path.stat().st_size > MAX_BYTES:
        raise DataError(f"'{path}' has more than {MAX_BYTES} bytes; that is no route file.")
    return parse_tree(path.read_bytes(), str(path))


def parse_tree(data: bytes, name: str) -> Node:
    """Parse XML; comments and white space between elements are dropped."""
    try:
        root: Element = defusedxml.ElementTree.fromstring(data)
    except ParseError as error:
        raise DataError(f"'{name}' is not well-formed XML: {error}.") from error
    except DefusedXmlException as error:
        raise DataError(
            f"'{name}' declares entities or a DTD, which we refuse: {error}."
        ) from error
    return _node(root)


def _node(element: Element) -> Node:
    return Node(
        tag=element.tag,
        attributes=tuple(element.attrib.items()),
        children=tuple(_node(child) for child in element),
        text=(element.text or "").strip(),
    )


def format_tree(node: Node, indent: str = "  ") -> str:
    """XML text: two blanks a level, attributes in their order, a newline at the end."""
    lines: list[str] = []
    _write(node, "", indent, lines)
    return "\n".join(lines) + "\n"


def _write(node: Node, margin: str, indent: str, lines: list[str]) -> None:
    head = node.tag + "".join(f' {key}="{_quoted(value)}"' for key, value in node.attributes)
    if not node.children:
        tail = f">{escape(node.text)}</{node.tag}>" if node.text else "/>"
        lines.append(f"{margin}<{head}{tail}")
        return
    lines.append(f"{margin}<{head}>{escape(node.text)}")
    for child in node.children:
        _write(child, margin + indent, indent, lines)
    lines.append(f"{margin}</{node.tag}>")


def _quoted(value: str) -> str:
    return escape(value, {'"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"})
