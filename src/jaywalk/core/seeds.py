"""Seed streams keyed by name: adding a component never changes the draws of another one."""

from __future__ import annotations

import hashlib

import numpy as np


def derive_seed(seed: int, *names: str | int) -> int:
    """Derive a stable 64-bit seed for the component called ``names`` from a run seed.

    >>> derive_seed(1, "walkers", 7) == derive_seed(1, "walkers", 7)
    True
    >>> derive_seed(1, "walkers", 7) == derive_seed(1, "walkers", 8)
    False
    """
    key = "\x1f".join([str(seed), *(str(name) for name in names)]).encode()
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "little")


def stream(seed: int, *names: str | int) -> np.random.Generator:
    """Return the random generator of the component called ``names``."""
    return np.random.default_rng(derive_seed(seed, *names))
