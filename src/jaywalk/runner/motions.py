"""Motion library of a run: for posed people, and for the clips that scenarios name.

A run has one library besides the default one: that of ``--motions``, or the one that its scenarios
name by a path.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from jaywalk.actors.posed.performers import DEFAULT, check_clip, split_clip
from jaywalk.core.errors import UsageError
from jaywalk.motion.library.reading import library_digest, open_library
from jaywalk.scenarios.catalogue import SCENARIOS
from jaywalk.scenarios.formats.route_xml import Route
from jaywalk.scenarios.suite import Suite

_CLIP: Final = "clip"  # element of a scenario that names a clip


def named_clips(route: Route) -> list[tuple[str, str]]:
    """Return the clips that a route's scenarios name, each after its place in messages."""
    return [
        (f"{element.where}, <{_CLIP}>", node.get("value") or "")
        for element in route.scenarios
        if (node := element.parameters.get(_CLIP)) is not None
    ]


def plays_clips(route: Route) -> bool:
    """Return True if people of the route's scenarios play clips of a motion library."""
    kinds = (one.type for one in route.scenarios if one.type in SCENARIOS)
    return bool(named_clips(route)) or any(SCENARIOS.get(one).load().plays_clips for one in kinds)


def library_of(suite: Suite, motions: str = "") -> tuple[str, str]:
    """Return folder and digest of a run's motion library; "" for the default one.

    Args:
        suite: The routes; all clips that their scenarios name are looked up.
        motions: Value of ``--motions``.

    Raises:
        UsageError: The library is missing or nobody uses it, or scenarios name several.
        DataError: The library cannot be read, or has no such clip.
    """
    clips = [clip for item in suite.routes for clip in named_clips(item.route)]
    posed = any(item.posed for item in suite.routes)
    given = "" if motions == DEFAULT else motions
    if given and not posed and not clips:
        raise UsageError(
            f"--motions: the suite '{suite.name}' has no posed people, and no scenario names a "
            "clip; run habit, or leave it out."
        )
    folder = Path(given) if given else _named_library(clips)
    check_clips(clips, folder)
    if folder is None:
        return "", ""
    if posed:
        from jaywalk.actors.posed.repertoire import read_repertoire

        read_repertoire(open_library(folder))
    return str(folder.resolve()), library_digest(folder)


def _named_library(clips: Iterable[tuple[str, str]]) -> Path | None:
    """Return the one library that scenarios name by a path."""
    libraries: dict[Path, str] = {}
    for where, clip in clips:
        library, _ = split_clip(clip, where)
        if library == DEFAULT:
            continue
        if not Path(library).is_dir():
            raise UsageError(
                f"{where}: clip '{clip}' is of the library '{library}', which is not a folder "
                "here. Give its folder with --motions, or its path in the clip."
            )
        libraries[Path(library).resolve()] = library
    if len(libraries) > 1:
        raise UsageError(
            f"Scenarios name clips of {len(libraries)} libraries: "
            f"{', '.join(libraries.values())}. A run has one; build one library of all files."
        )
    return next(iter(libraries), None)


def check_clips(clips: Iterable[tuple[str, str]], folder: Path | None) -> None:
    """Raise unless every clip exists in the default library or in the one of the run.

    Raises:
        UsageError: A clip is of another library.
        DataError: A library has no such clip; the message suggests similar ones.
    """
    for where, clip in clips:
        library, name = split_clip(clip, where)
        if library == DEFAULT:
            from jaywalk.motion import default_library

            check_clip(default_library(), name, where)
        elif folder is not None and Path(library).name == folder.resolve().name:
            check_clip(open_library(folder), name, where)
        elif folder is not None:
            raise UsageError(
                f"{where}: clip '{clip}' is of the library '{library}'; the library of this run is "
                f"'{folder.resolve().name}'."
            )


def check_named_clips(route: Route, *, must_exist: bool = False) -> None:
    """Check the clips of a route whose libraries are folders here; others are checked by a run.

    Args:
        route: The route whose scenarios name the clips.
        must_exist: Raise for a library that is no folder here.

    Raises:
        UsageError: A library is missing.
        DataError: A library has no such clip.
    """
    for where, clip in named_clips(route):
        library, _ = split_clip(clip, where)
        if must_exist and library != DEFAULT and not Path(library).is_dir():
            raise UsageError(
                f"{where}: clip '{clip}' is of the library '{library}', which is no folder here. "
                "Build it with 'jaywalk motion build', or give its path in the clip."
            )
        if library == DEFAULT or Path(library).is_dir():
            check_clips([(where, clip)], None if library == DEFAULT else Path(library))
