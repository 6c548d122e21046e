"""Import of torch for the modules that train, with a clear error if it is not installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from jaywalk.core.errors import PrerequisiteError


class TorchMissingError(PrerequisiteError, ModuleNotFoundError):
    """Torch is not installed. Also an import error, so that programs that scan modules go on."""


def _load() -> Any:
    try:
        return import_module("torch")
    except ImportError as problem:
        raise TorchMissingError(
            "Training needs torch, which is not installed. Install the extra: "
            "pip install 'jaywalk[train]'. Trained models need no torch.",
            name="torch",
        ) from problem


torch: Any = _load()
"""The torch module, untyped: type checks must pass where it is absent."""
