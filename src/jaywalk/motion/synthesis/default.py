"""The default library: sampled once from the shipped model into the user's cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from jaywalk.core.errors import DataError, PrerequisiteError
from jaywalk.motion.library.reading import MotionLibrary, open_library
from jaywalk.motion.library.writing import META
from jaywalk.motion.library.writing import VERSION as LIBRARY_VERSION
from jaywalk.motion.synthesis.model_file import default_model
from jaywalk.motion.synthesis.sampling import SAMPLER_VERSION, sample_library

CLIPS: Final = 420
SEED: Final = 20
_KEPT: Final = 2
_PREFIX: Final = "default-"
#: Modules outside this package whose code decides how a sampled clip looks.
_USED: Final = (
    "geometry/rotation",
    "motion/carla_rigs",
    "motion/heading",
    "motion/kinematics",
    "motion/_legs",
    "motion/library/classes",
    "motion/retarget",
    "motion/smpl",
)


def cache_folder() -> Path:
    """Where generated libraries are kept: ``$XDG_CACHE_HOME/jaywalk/motion``."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(given) if os.path.isabs(given) else Path.home() / ".cache"
    return root / "jaywalk" / "motion"


def library_key() -> str:
    """Fingerprint of everything that decides the default library: model, code, size, seed."""
    digest = hashlib.blake2b(digest_size=8)
    numbers = (default_model().digest, SAMPLER_VERSION, LIBRARY_VERSION, CLIPS, SEED)
    digest.update(repr(numbers).encode())
    package = Path(__file__).parents[2]
    code = [*Path(__file__).parent.glob("*.py"), *(package / f"{name}.py" for name in _USED)]
    for path in sorted(code):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def default_library(*, say: Callable[[str], None] = lambda _: None) -> MotionLibrary:
    """The default library; generated on first use, which takes some ten to thirty seconds.

    Args:
        say: Told about progress.

    Raises:
        PrerequisiteError: The cache folder cannot be written.
    """
    folder = cache_folder() / f"{_PREFIX}{library_key()}"
    if (folder / META).exists():
        try:
            return open_library(folder)
        except DataError:  # damaged: make it again
            shutil.rmtree(folder, ignore_errors=True)
    say(f"generating the default library of {CLIPS} motions in {folder} (once)")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _generate(folder, say)
    except OSError as problem:
        raise PrerequisiteError(
            f"{folder.parent}: cannot keep the default motions ({problem}); "
            "set XDG_CACHE_HOME to a folder that can be written"
        ) from problem
    _forget_old(folder)
    return open_library(folder)


def _generate(folder: Path, say: Callable[[str], None]) -> None:
    """Write beside the final place and move there: nobody ever sees half a library."""
    workshop = Path(tempfile.mkdtemp(prefix=".making-", dir=folder.parent))
    try:
        sample_library(default_model(), workshop / "library", clips=CLIPS, seed=SEED, say=say)
        try:
            (workshop / "library").rename(folder)
        except OSError:
            if not (folder / META).exists():  # unless somebody else was faster
                raise
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _forget_old(folder: Path) -> None:
    """Libraries of older models or programs go; the latest but one stays."""
    others = [p for p in folder.parent.glob(f"{_PREFIX}*") if p != folder and p.is_dir()]
    others.sort(key=lambda path: path.stat().st_mtime)
    for path in others[: max(0, len(others) - _KEPT + 1)]:
        shutil.rmtree(path, ignore_errors=True)
