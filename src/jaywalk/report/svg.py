"""SVG text of small drawings (elements, paths, axes), and a check of output files.

Colours are attributes, so that a drawing saved on its own is ready for print; the page's style
sheet overrides them by class in dark mode. The check finds out before the work starts whether the
output files can be written.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import PrerequisiteError


def claim(path: Path) -> Path:
    """Create the folder of a file, check that the file can be written and return its path.

    Raises:
        PrerequisiteError: The file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("ab").close()  # keeps existing content until the new content is ready
    except OSError as problem:
        raise PrerequisiteError(
            f"Cannot write '{path}': {problem.strerror}. Give a file in a folder you may write to."
        ) from problem
    return path


def content_policy(template: str, *, style: str, scripts: str = "") -> str:
    """Return the Content-Security-Policy of a page, which allows only its style sheet and script.

    Both are named by their hash, so text from records that slipped through as markup stays inert.
    Style attributes (colours and places of marks) cannot be hashed and are allowed.

    Args:
        template: Source of the page, with ``{{ style }}`` and perhaps ``{{ scripts }}`` in it.
        style: Text that replaces ``{{ style }}``.
        scripts: Texts that replace ``{{ scripts }}``.
    """
    sheet = _inside(template, "style").replace("{{ style }}", style)
    allowed = f"default-src 'none'; style-src-elem {_hash(sheet)}; style-src-attr 'unsafe-inline'"
    if scripts:
        script = _inside(template, "script").replace("{{ scripts }}", scripts)
        allowed += f"; script-src {_hash(script)}"
    return f"{allowed}; img-src data: blob:; base-uri 'none'; form-action 'none'"


def _inside(template: str, tag: str) -> str:
    return template.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


FONT = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif"
INK, SOFT, HAIR = "#1d2430", "#5d6673", "#d9dde3"
# By run: distinct for colour-blind readers, and visible on light and on dark pages.
SERIES = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#8c6d46", "#9243ff")
# Better, worse and neither; visible on light and on dark pages too.
BETTER, WORSE, NEITHER = "#2e8b57", "#d0342c", "#6b7280"


def el(tag: str, content: str = "", /, **attributes: object) -> str:
    """Return an element; ``_`` in attribute names becomes ``-``, a trailing ``_`` is dropped."""
    words = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_plain(value), quote=True)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{words}>{content}</{tag}>" if content else f"<{tag}{words}/>"


def text(x: float, y: float, words: str, *, size: float = 11.0, **attributes: object) -> str:
    """A line of text."""
    given: dict[str, object] = {"fill": INK, "class_": "t"} | attributes
    return el("text", escape(words), x=x, y=y, font_size=size, **given)


def drawing(width: float, height: float, content: Iterable[str], *, title: str) -> str:
    """A whole drawing that scales with its place."""
    body = el("title", escape(title)) + "".join(content)
    return el(
        "svg",
        body,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_plain(width)} {_plain(height)}",
        width=width,
        height=height,
        font_family=FONT,
        role="img",
        class_="drawing",
    )


def path_of(points: FloatArray, *, close: bool = False, digits: int = 1) -> str:
    """Path data along points; rows with NaN lift the pen."""
    words, down = [], False
    for x, y in np.round(np.asarray(points, float), digits):
        if not np.isfinite(x + y):
            down = False
            continue
        words.append(f"{'L' if down else 'M'}{_plain(x)} {_plain(y)}")
        down = True
    return "".join(words) + ("Z" if close and words else "")


def ticks_of(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers within a range, at most ``most`` steps apart."""
    span = max(high - low, 1e-9)
    raw = span / max(most, 1)
    power = 10.0 ** np.floor(np.log10(raw))
    step = next(power * m for m in (1.0, 2.0, 2.5, 5.0, 10.0) if power * m >= raw - 1e-12)
    first = np.ceil(low / step - 1e-9)
    last = np.floor(high / step + 1e-9)
    return [float(k * step) + 0.0 for k in np.arange(first, last + 1)]  # + 0.0: no minus zero


def text_width(words: str, size: float = 11.0) -> float:
    """Estimate the width of a text in px, rather too wide than too narrow."""
    narrow, wide = set("iljtfr.,:;|!'()[] "), set("mwMW@%")
    return size * sum(0.36 if k in narrow else 0.9 if k in wide else 0.62 for k in words)


def legend(entries: Sequence[tuple[str, str]], x: float, y: float, width: float) -> str:
    """Draw coloured dots with names, in rows of the available width."""
    parts, at, line = [], x, y
    for colour, name in entries:
        wide = 24.0 + text_width(name)
        if at > x and at + wide > x + width:
            at, line = x, line + 16.0
        parts.append(el("circle", cx=at + 4, cy=line - 4, r=4, fill=colour))
        parts.append(text(at + 12, line, name))
        at += wide
    return "".join(parts)


def legend_lines(entries: Sequence[tuple[str, str]], width: float) -> int:
    """Return the number of rows that :func:`legend` needs."""
    lines, used = 1, 0.0
    for _, name in entries:
        wide = 24.0 + text_width(name)
        if used and used + wide > width:
            lines, used = lines + 1, 0.0
        used += wide
    return lines


def _plain(value: object) -> str:
    if isinstance(value, float | np.floating):
        return f"{float(value):.2f}".rstrip("0").rstrip(".") if value else "0"
    return str(value)
