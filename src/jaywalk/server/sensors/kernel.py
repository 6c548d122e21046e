"""How this room compiles its inner loops: cached, off the interpreter lock, bit-reproducible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from jaywalk.core.kernels import compile_kernel

_F = TypeVar("_F", bound=Callable[..., Any])


def kernel(function: _F) -> _F:
    """Compile with numba, keeping the function's types for the type checker."""
    return compile_kernel(function, nogil=True, error_model="numpy")


@kernel
def whole(value: Any) -> int:
    """Any integer as a signed 64-bit one, so that kernels are compiled for one type only."""
    return np.int64(value)  # type: ignore[return-value]
