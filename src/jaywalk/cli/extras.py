"""The optional parts of the package: what they are for and whether they are installed."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """One extra of the package and the modules it brings."""

    name: str
    modules: tuple[str, ...]
    summary: str

    @property
    def installed(self) -> bool:
        """Whether every module of it can be imported."""
        return all(find_spec(module) is not None for module in self.modules)

    @property
    def install_command(self) -> str:
        """What to type to get it into this environment."""
        return f"{_this_python()} -m pip install 'jaywalk[{self.name}]'"


def _this_python() -> str:
    python = Path(sys.executable)
    here = Path.cwd()
    return str(python.relative_to(here)) if python.is_relative_to(here) else str(python)


EXTRAS: Final = (
    Extra(name="train", modules=("torch",), summary="train predictors and motion models"),
    Extra(name="video", modules=("mediapipe", "cv2"), summary="people from video"),
    Extra(name="town", modules=("sumo",), summary="author towns (SUMO's netconvert)"),
    Extra(name="cluster", modules=("ray",), summary="spread episodes over a Ray cluster"),
    Extra(name="gym", modules=("gymnasium",), summary="the gymnasium environment"),
    Extra(name="viz", modules=("rerun", "mcap"), summary="Rerun and MCAP exports"),
)
