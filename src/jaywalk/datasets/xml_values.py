"""Values of XML attributes, with the file and the attribute named when they are wrong."""

from __future__ import annotations

from collections.abc import Mapping

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
    """Return a frame number, or None if it is absent or negative, as the authors write "none"."""
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
