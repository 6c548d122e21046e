"""A folder of archives that one policy made: one file a scene, and what made them."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.files import read_text
from jaywalk.metrics.realism.readers.npz_case import read_npz_case
from jaywalk.metrics.realism.readers.npz_writer import write_npz_case
from jaywalk.metrics.realism.readers.run_cases import MANIFEST
from jaywalk.metrics.realism.scene import Case

_FORMAT = "jaywalk-rollouts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """What decides the rollouts of a folder."""

    policy: str
    n: int
    seed: int
    source: str
    scenes_per_episode: int | None = None
    range_m: float | None = None
    at_s: float | None = None


class RolloutFolder:
    """Opened for one maker; what it already holds is kept.

    Raises:
        UsageError: The folder was made by another policy, number or seed.
    """

    def __init__(self, path: Path, maker: Maker) -> None:
        self.path = path
        file = path / MANIFEST
        wanted = {"format": _FORMAT, **asdict(maker)}
        if file.is_file():
            try:
                found = json.loads(read_text(file, "a manifest of rollouts"))
            except ValueError as problem:
                raise DataError(f"'{file}' is cut off or edited; remove it.") from problem
            other = [k for k in wanted if found.get(k) != wanted[k]]
            if other:
                raise UsageError(
                    f"'{path}' holds rollouts with {other[0]} {found.get(other[0])!r}, not "
                    f"{wanted[other[0]]!r}; give another --out."
                )
        elif path.exists() and any(path.glob("*.npz")):
            raise UsageError(
                f"'{path}' holds archives that were not made here; give another --out."
            )
        path.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(wanted, indent=2) + "\n", encoding="utf-8")

    def file(self, scene: str) -> Path:
        """Where the archive of a scene is."""
        return self.path / f"{re.sub(r'[^A-Za-z0-9._-]', '_', scene)}.npz"

    def has(self, scene: str) -> bool:
        """Whether a scene is done; a damaged archive does not count."""
        try:
            return self.file(scene).is_file() and bool(read_npz_case(self.file(scene)))
        except DataError:
            return False

    def add(self, case: Case) -> None:
        """Write the archive of a scene."""
        write_npz_case(self.file(case.scene.name), case)
