"""XML elements as frozen values: tag, attributes in order, children in order, text."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape

import defusedxml.ElementTree
from defusedxml import DefusedXmlException

from jaywalk.core.errors import DataError
from jaywalk.core.files import read_bytes

Attributes = tuple[tuple[str, str], ...]

_NAME: Final = re.compile(r"[^\W\d][\w.:-]*")
# Control characters and lone surrogates, which XML text must not contain.
_UNWRITABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
MAX_BYTES: Final = 64 * 1024 * 1024  # the largest public route file has 6 MB


@dataclass(frozen=True, slots=True)
class Node:
    """An XML element."""

    tag: str
    attributes: Attributes = ()
    children: tuple[Node, ...] = ()
    text: str = ""

    def get(self, key: str, default: str | None = None) -> str | None:
        """Value of an attribute."""
        return attribute(self.attributes, key, default)


def attribute(attributes: Attributes, key: str, default: str | None = None) -> str | None:
    """Return the value of an attribute."""
    for name, value in attributes:
        if name == key:
            return value
    return default


def number(attributes: Attributes, key: str, where: str, default: float | None = None) -> float:
    """Return a finite number from the attributes; the error names ``where``."""
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
    return parse_tree(read_bytes(path, "a route file (.xml)", MAX_BYTES), str(path))


def parse_tree(data: bytes, name: str) -> Node:
    """Parse XML; comments and white space between elements are dropped."""
    try:
        root: Element = defusedxml.ElementTree.fromstring(data)
        return _node(root)
    except DefusedXmlException as error:
        raise DataError(
            f"'{name}' declares entities or a DTD, which we refuse: {error}."
        ) from error
    except (ParseError, LookupError, ValueError) as error:  # also raised for unknown encodings
        raise DataError(f"'{name}' is not well-formed XML: {error}.") from error
    except RecursionError:
        raise DataError(f"'{name}' is nested too deeply to be a route file.") from None


def _node(element: Element) -> Node:
    return Node(
        tag=element.tag,
        attributes=tuple(element.attrib.items()),
        children=tuple(_node(child) for child in element),
        text=(element.text or "").strip(),
    )


def format_tree(node: Node, indent: str = "  ") -> str:
    """Format as XML text: two blanks per level, attributes in their order, a newline at the end."""
    lines: list[str] = []
    _write(node, "", indent, lines)
    return "\n".join(lines) + "\n"


def _write(node: Node, margin: str, indent: str, lines: list[str]) -> None:
    keys = [key for key, _ in node.attributes]
    for name in (node.tag, *keys):
        if not _NAME.fullmatch(name):
            raise DataError(f"<{node.tag}>: '{name}' cannot be a name in XML; use letters.")
    if len(set(keys)) < len(keys):
        raise DataError(f"<{node.tag}>: an attribute is given twice ({', '.join(keys)}).")
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
    if _UNWRITABLE.search(value):
        raise DataError(f"{value!r} cannot be written in XML; leave the control characters out.")
    return escape(value, {'"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"})
