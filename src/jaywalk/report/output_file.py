"""Files we are asked to write: that they can be written is found out before the work."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from jaywalk.core.errors import PrerequisiteError


def claim(path: Path) -> Path:
    """Make the folder of a file and see that the file can be written; returns the path.

    Raises:
        PrerequisiteError: It cannot.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("ab").close()  # what is there stays until there is something new
    except OSError as problem:
        raise PrerequisiteError(
            f"Cannot write '{path}': {problem.strerror}. Give a file in a folder you may write to."
        ) from problem
    return path


def content_policy(template: str, *, style: str, scripts: str = "") -> str:
    """Content-Security-Policy of a page: our own style sheet and script run, nothing else.

    Both are named by their hash, so text from records that slipped through as markup stays inert.
    Style attributes (colours and places of marks) cannot be hashed and are allowed.

    Args:
        template: Source of the page, with ``{{ style }}`` and perhaps ``{{ scripts }}`` in it.
        style: What stands for ``{{ style }}``.
        scripts: What stands for ``{{ scripts }}``.
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
