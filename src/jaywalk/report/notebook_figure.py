"""Figures that a notebook shows when they are the last value of a cell."""

from __future__ import annotations

import io
from typing import Final

from matplotlib.figure import Figure

_DPI: Final = 200


class NotebookFigure(Figure):
    """A figure with a picture for notebooks, also without ``%matplotlib inline``."""

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=_DPI, bbox_inches="tight")
        return file.getvalue()
