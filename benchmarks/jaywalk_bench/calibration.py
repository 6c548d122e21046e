"""A fixed piece of pure-Python work, so that runs on different machines can be compared."""

from __future__ import annotations

import time
from typing import Final

_STEPS: Final = 200_000
_MASK: Final = 0xFFFFFFFF


def calibration_ms(repeats: int = 5) -> float:
    """CPU time of the loop in milliseconds; the best of some repeats."""
    best = float("inf")
    for _ in range(repeats):
        started = time.process_time()
        _loop()
        best = min(best, time.process_time() - started)
    return 1000.0 * best


def _loop() -> int:
    """Integer arithmetic, a list and a dictionary: what interpreters spend their time on."""
    value, seen, recent = 1, {}, [0] * 64
    for step in range(_STEPS):
        value = (1664525 * value + 1013904223) & _MASK
        recent[step & 63] = value
        seen[value & 255] = recent[(step * 7) & 63]
    return value ^ len(seen)
