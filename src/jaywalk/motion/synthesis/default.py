"""The libraries that come along, sampled once from the shipped models into the user's cache.

The default library poses people of HABIT's protocol and never changes. The everyday library poses
people who react; it has its own model and version.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from jaywalk.core.errors import DataError, PrerequisiteError, UsageError
from jaywalk.motion.library.reading import EVERYDAY, MotionLibrary, open_library
from jaywalk.motion.library.writing import META
from jaywalk.motion.library.writing import VERSION as LIBRARY_VERSION
from jaywalk.motion.synthesis.model_file import MotionModel, default_model, everyday_model
from jaywalk.motion.synthesis.sampling import SAMPLER_VERSION, sample_library

CLIPS: Final = 420
EVERYDAY_CLIPS: Final = 560
SEED: Final = 20
_DEFAULT: Final = "default"
_KEPT: Final = 2
#: Modules outside this package whose code decides how a sampled clip looks.
_USED: Final = (
    "geometry/rotation",
    "motion/carla_rigs",
    "motion/heading",
    "motion/kinematics",
    "motion/_legs",
    "motion/clip",
    "motion/foot_lock",
    "motion/library/classes",
    "motion/retarget",
    "motion/smpl",
)


def cache_folder() -> Path:
    """Where generated libraries are kept: ``$XDG_CACHE_HOME/jaywalk/motion``."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(given) if os.path.isabs(given) else Path.home() / ".cache"
    return root / "jaywalk" / "motion"


def library_key(model: MotionModel, clips: int) -> str:
    """Fingerprint of everything that decides a library: model, code, size, seed."""
    digest = hashlib.blake2b(digest_size=8)
    numbers = (model.digest, SAMPLER_VERSION, LIBRARY_VERSION, clips, SEED)
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
    return _kept_library(_DEFAULT, default_model(), CLIPS, say)


def everyday_library(*, say: Callable[[str], None] = lambda _: None) -> MotionLibrary:
    """The library of people who react; generated on first use.

    It has everything that the default library has, from more people, and people who wait, talk,
    carry, hurry, stop, start, step back, turn away and evade.

    Args:
        say: Told about progress.

    Raises:
        PrerequisiteError: The cache folder cannot be written.
    """
    return _kept_library(EVERYDAY, everyday_model(), EVERYDAY_CLIPS, say)


def packaged_library(name: str) -> MotionLibrary:
    """The default library by the name "", or the everyday one by ``EVERYDAY``.

    Raises:
        UsageError: The library does not exist.
    """
    makers = {"": default_library, EVERYDAY: everyday_library}
    if name not in makers:
        raise UsageError(
            f"no motion library '{name}' comes along; this version has the default library and "
            f"'{EVERYDAY}'."
        )
    return makers[name]()


def _kept_library(
    name: str, model: MotionModel, clips: int, say: Callable[[str], None]
) -> MotionLibrary:
    folder = cache_folder() / f"{name}-{library_key(model, clips)}"
    if (folder / META).exists():
        try:
            return open_library(folder)
        except DataError:  # damaged: make it again
            shutil.rmtree(folder, ignore_errors=True)
    say(f"generating the {name} library of {clips} motions in {folder} (once)")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _generate(folder, model, clips, say)
    except OSError as problem:
        raise PrerequisiteError(
            f"{folder.parent}: cannot keep the {name} motions ({problem}); "
            "set XDG_CACHE_HOME to a folder that can be written"
        ) from problem
    _forget_old(folder, name)
    return open_library(folder)


def _generate(folder: Path, model: MotionModel, clips: int, say: Callable[[str], None]) -> None:
    """Write beside the final place and move there, so that no one sees half a library."""
    workshop = Path(tempfile.mkdtemp(prefix=".making-", dir=folder.parent))
    try:
        sample_library(model, workshop / "library", clips=clips, seed=SEED, say=say)
        try:
            (workshop / "library").rename(folder)
        except OSError:
            if not (folder / META).exists():  # unless another process was faster
                raise
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _forget_old(folder: Path, name: str) -> None:
    """Libraries of older models or programs go; the latest but one stays."""
    others = [p for p in folder.parent.glob(f"{name}-*") if p != folder and p.is_dir()]
    others.sort(key=lambda path: path.stat().st_mtime)
    for path in others[: max(0, len(others) - _KEPT + 1)]:
        shutil.rmtree(path, ignore_errors=True)
