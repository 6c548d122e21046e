"""Reader of CVAT-like video annotations: tracks of boxes with attributes, as in JAAD and PIE.

Errors in the values of XML attributes name the file and the attribute.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from xml.sax import ContentHandler, SAXException
from xml.sax.xmlreader import AttributesImpl

from defusedxml import DefusedXmlException, sax
from defusedxml.expatreader import DefusedExpatParser

from jaywalk.core.errors import DataError


def optional_int(row: Mapping[str, str], key: str, file: str) -> int | None:
    """Return a whole number, or None if the attribute is absent or n/a."""
    text = row.get(key)
    if text is None or text in {"", "n/a"}:
        return None
    try:
        return int(text)
    except ValueError:
        raise DataError(f"'{file}': {key} is '{text}'; expected a whole number.") from None


def optional_frame(row: Mapping[str, str], key: str, file: str) -> int | None:
    """Return a frame number, or None if it is absent or negative (the authors' "none")."""
    frame = optional_int(row, key, file)
    return None if frame is None or frame < 0 else frame


def optional_float(row: Mapping[str, str], key: str, file: str) -> float | None:
    """Return a number, or None if the attribute is absent or n/a."""
    text = row.get(key)
    if text is None or text in {"", "n/a", "nan"}:
        return None
    try:
        return float(text)
    except ValueError:
        raise DataError(f"'{file}': {key} is '{text}'; expected a number.") from None


_META = frozenset({"size", "width", "height", "time_of_day", "weather", "location"})
# Attributes of a box that the tables keep; reading only these halves the time.
_KEPT = frozenset({"occlusion", "action", "look", "cross", "state", "type"})


@dataclass(slots=True, kw_only=True)
class CvatTrack:
    """One track: boxes in file order, and one column per attribute (None where a box lacks it)."""

    label: str
    object_id: str = ""
    frames: list[int] = field(default_factory=list)
    corners_px: list[tuple[float, float, float, float]] = field(default_factory=list)
    attributes: dict[str, list[str | None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CvatVideo:
    """The annotations of one video."""

    meta: dict[str, str]
    tracks: list[CvatTrack]


def read_cvat(data: bytes, name: str) -> CvatVideo:
    """Parse one annotation file.

    Args:
        data: Content of the XML file.
        name: Name of the file in messages.
    """
    handler = _CvatHandler()
    _parse(data, handler, name, _DirectParser())
    return CvatVideo(meta=handler.meta, tracks=handler.tracks)


def read_elements(data: bytes, name: str, tags: frozenset[str]) -> list[tuple[str, dict[str, str]]]:
    """Return tag and attributes of every element with one of the tags, in file order."""
    handler = _ElementHandler(tags)
    _parse(data, handler, name)
    return handler.found


def read_text(data: bytes, name: str, tag: str) -> str | None:
    """Return the text of the first element with a tag, or None."""
    handler = _TextHandler(tag)
    _parse(data, handler, name)
    return handler.text


def _parse(
    data: bytes, handler: ContentHandler, name: str, parser: DefusedExpatParser | None = None
) -> None:
    reader = parser if parser is not None else sax.make_parser()
    reader.forbid_dtd = True
    reader.setContentHandler(handler)
    try:
        reader.parse(BytesIO(data))
    except DefusedXmlException as error:
        raise DataError(
            f"'{name}' declares entities or a document type, which annotations never do. "
            "Do not use this file."
        ) from error
    except (SAXException, ValueError, KeyError) as error:
        raise DataError(f"'{name}' cannot be read as annotation XML: {error}.") from error


class _DirectParser(DefusedExpatParser):  # type: ignore[misc]
    """Parser of defusedxml with its guards, in which expat calls the handler directly.

    Annotations have millions of elements; this saves a fifth of the time.
    """

    def reset(self) -> None:
        super().reset()
        self._parser.StartElementHandler = self._cont_handler.startElement
        self._parser.EndElementHandler = self._cont_handler.endElement
        self._parser.CharacterDataHandler = self._cont_handler.characters


class _CvatHandler(ContentHandler):
    def __init__(self) -> None:
        super().__init__()
        self.meta: dict[str, str] = {}
        self.tracks: list[CvatTrack] = []
        self._track: CvatTrack | None = None
        self._outside = False
        self._key = ""
        self._reading = False
        self._text: list[str] = []
        self._known: dict[str, str] = {}  # one string object per distinct value saves memory

    def startElement(self, name: str, attrs: Mapping[str, str]) -> None:  # type: ignore[override]  # noqa: N802
        if name == "attribute":
            if self._track is None or self._outside:
                return
            self._key = attrs["name"]
            self._reading = self._key in _KEPT or (self._key == "id" and not self._track.object_id)
        elif name == "box" and self._track is not None:
            # CVAT continues to draw boxes after the object left the picture; they do not count.
            self._outside = attrs.get("outside") == "1"
            if not self._outside:
                self._track.frames.append(int(attrs["frame"]))
                self._track.corners_px.append(
                    (
                        float(attrs["xtl"]),
                        float(attrs["ytl"]),
                        float(attrs["xbr"]),
                        float(attrs["ybr"]),
                    )
                )
        elif name == "track":
            self._track = CvatTrack(label=attrs["label"])
            self.tracks.append(self._track)
        elif self._track is None and name in _META:
            self._key = name
            self._reading = True

    def characters(self, content: str) -> None:
        if self._reading:
            self._text.append(content)

    def endElement(self, name: str) -> None:  # noqa: N802
        if self._reading:
            text = "".join(self._text).strip()
            self._text.clear()
            self._reading = False
            if self._track is None:
                self.meta.setdefault(self._key, text)
            elif self._key == "id":
                self._track.object_id = text
            else:
                self._add(self._track, self._known.setdefault(text, text))
        if name == "track" and self._track is not None:
            for column in self._track.attributes.values():
                column.extend([None] * (len(self._track.frames) - len(column)))
            self._track = None

    def _add(self, track: CvatTrack, value: str) -> None:
        column = track.attributes.setdefault(self._key, [])
        missing = len(track.frames) - 1 - len(column)
        if missing:
            column.extend([None] * missing)
        if len(column) < len(track.frames):
            column.append(value)


class _ElementHandler(ContentHandler):
    def __init__(self, tags: frozenset[str]) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self._tags = tags

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: N802
        if name in self._tags:
            self.found.append((name, dict(attrs.items())))


class _TextHandler(ContentHandler):
    def __init__(self, tag: str) -> None:
        super().__init__()
        self.text: str | None = None
        self._tag = tag
        self._inside = False
        self._parts: list[str] = []

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: N802
        self._inside = self._inside or (name == self._tag and self.text is None)

    def characters(self, content: str) -> None:
        if self._inside:
            self._parts.append(content)

    def endElement(self, name: str) -> None:  # noqa: N802
        if self._inside and name == self._tag:
            self.text = "".join(self._parts).strip()
            self._inside = False
