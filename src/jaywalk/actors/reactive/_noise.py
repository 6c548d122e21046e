"""Counter-based random numbers: a hash of key, person, purpose and time, without any state.

The draws of one person never depend on the number of other people or on the order of calls.
"""

from __future__ import annotations

import math

import numpy as np

from jaywalk.core.kernels import kernel


@kernel
def _mix(value: np.uint64) -> np.uint64:
    """Finalizer of SplitMix64."""
    z = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def uniform(key: int, person: int, purpose: int, count: int) -> float:
    """Return a number in (0, 1)."""
    golden = np.uint64(0x9E3779B97F4A7C15)
    z = _mix(np.uint64(key) + golden)
    z = _mix(z ^ (np.uint64(person) + golden))
    z = _mix(z ^ (np.uint64(purpose) + golden * np.uint64(3)))
    z = _mix(z ^ (np.uint64(count) + golden * np.uint64(5)))
    return (float(z >> np.uint64(11)) + 0.5) * (1.0 / 9007199254740992.0)


@kernel
def normal(key: int, person: int, purpose: int, count: int) -> float:
    """Return a standard normal number."""
    radius = math.sqrt(-2.0 * math.log(uniform(key, person, purpose, 2 * count)))
    return radius * math.cos(2.0 * math.pi * uniform(key, person, purpose, 2 * count + 1))
