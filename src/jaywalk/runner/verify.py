"""Whether a run is deterministic: every episode once more, and hashes of the records compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """Episodes whose two records were compared; those recorded only once are not among them."""

    identical: tuple[str, ...]
    differing: tuple[str, ...]
    uncompared: tuple[str, ...]

    @property
    def compared(self) -> int:
        """How many pairs there were."""
        return len(self.identical) + len(self.differing)


def compare_hashes(first: Mapping[str, str], second: Mapping[str, str]) -> Verification:
    """Compare the record hashes of two runs, by episode."""
    both = sorted(first.keys() & second.keys())
    return Verification(
        identical=tuple(name for name in both if first[name] == second[name]),
        differing=tuple(name for name in both if first[name] != second[name]),
        uncompared=tuple(sorted(first.keys() ^ second.keys())),
    )
