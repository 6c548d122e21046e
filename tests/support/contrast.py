"""Contrast of colours by WCAG 2."""

from __future__ import annotations

import numpy as np


def linear(colour: str) -> np.ndarray:
    """Linear RGB of a colour such as #d55e00."""
    parts = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """Contrast of WCAG 2."""
    low, high = sorted(float(linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (one, other))
    return (high + 0.05) / (low + 0.05)
