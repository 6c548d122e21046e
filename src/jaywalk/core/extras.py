"""Extras of the package: purpose, modules and install command of each."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from jaywalk.core.errors import PrerequisiteError


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """One extra of the package, with the modules that it installs."""

    name: str
    modules: tuple[str, ...]
    summary: str

    @property
    def installed(self) -> bool:
        """True if all modules of the extra can be imported."""
        return all(find_spec(module) is not None for module in self.modules)

    @property
    def install_command(self) -> str:
        """Command that installs the extra into this environment."""
        return f"{_this_python()} -m pip install 'jaywalk[{self.name}]'"


def _this_python() -> str:
    python = Path(sys.executable)
    here = Path.cwd()
    return str(python.relative_to(here)) if python.is_relative_to(here) else str(python)


_SIM: Final = ("carla", "networkx", "shapely")
_REPORT: Final = ("matplotlib", "jinja2", "markupsafe", "av", "PIL", "shapely")
_MODELS: Final = ("onnxruntime", "sklearn")

EXTRAS: Final = (
    Extra(name="sim", modules=_SIM, summary="serve towns, drive, score by public protocols"),
    Extra(name="report", modules=_REPORT, summary="reports, pictures and videos"),
    Extra(name="models", modules=_MODELS, summary="learned predictors and behaviour models"),
    Extra(name="all", modules=_SIM + _REPORT + _MODELS, summary="sim, report and models"),
    Extra(name="train", modules=("torch",), summary="train predictors and motion models"),
    Extra(name="video", modules=("mediapipe", "cv2"), summary="people from video"),
    Extra(name="town", modules=("sumo",), summary="author towns (SUMO's netconvert)"),
    Extra(name="cluster", modules=("ray",), summary="spread episodes over a Ray cluster"),
    Extra(name="gym", modules=("gymnasium",), summary="the gymnasium environment"),
    Extra(name="wandb", modules=("wandb",), summary="scores for Weights & Biases"),
    Extra(name="mlflow", modules=("mlflow",), summary="scores for MLflow"),
    Extra(name="viz", modules=("rerun", "mcap"), summary="Rerun and MCAP exports"),
)


_LINUX_ONLY: Final = ("fcntl", "resource")  # modules that Windows lacks


def has_carla_wheel() -> bool:
    """True if the carla package is published for this platform."""
    return (sys.platform, platform.machine()) in {("linux", "x86_64"), ("win32", "AMD64")}


def missing_extra(error: ImportError) -> PrerequisiteError | None:
    """Turn a failed import into an error that names the extra to install.

    Args:
        error: The error that an import statement raised.

    Returns:
        The error to show, or None if no extra contains the module.
    """
    module = (error.name or "").partition(".")[0]
    if module in _LINUX_ONLY:
        return PrerequisiteError(
            f"This command needs Linux (on Windows: WSL 2); {platform.system()} has no '{module}'. "
            "Records, scores, reports and datasets work here."
        )
    if module == "carla" and not has_carla_wheel():
        return PrerequisiteError(
            "This needs the package 'carla', which has no wheel for "
            f"{platform.system()} {platform.machine()}. Run it on Linux or Windows with x86-64. "
            "Protocol 'jaywalk', reports and datasets work here."
        )
    for extra in EXTRAS:
        if module in extra.modules:
            return PrerequisiteError(
                f"The Python package '{module}' is not installed. It is part of the extra "
                f"'{extra.name}' ({extra.summary}). Run: {extra.install_command}"
            )
    return None
