"""The record of an episode: schema, writer, reader, tracks, contacts, run folder, recorder.

``jaywalk.record.open(path)`` reads one; ``EpisodeTracks`` holds it as arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaywalk.core.lazy import lazy_exports

if TYPE_CHECKING:
    from pathlib import Path

    from jaywalk.record.episode import Episode as Episode
    from jaywalk.record.files import SharedFiles as SharedFiles
    from jaywalk.record.reader import Record as Record
    from jaywalk.record.reader import find_records as find_records
    from jaywalk.record.run import RunFolder as RunFolder
    from jaywalk.record.tracks import EpisodeTracks as EpisodeTracks
    from jaywalk.record.tracks import load_tracks as load_tracks
    from jaywalk.record.writer import EpisodeWriter as EpisodeWriter
    from jaywalk.record.writer import record_hash as record_hash
    from jaywalk.record.writer import remove_unfinished as remove_unfinished


def open(path: str | Path) -> Record:
    """Open the record in a folder.

    Raises:
        DataError: The folder holds no complete record.
    """
    from jaywalk.record.reader import open_record

    return open_record(path)


_load, _names = lazy_exports(
    __name__,
    {
        "episode": ("Episode",),
        "files": ("SharedFiles",),
        "reader": ("Record", "find_records"),
        "run": ("RunFolder",),
        "tracks": ("EpisodeTracks", "load_tracks"),
        "writer": ("EpisodeWriter", "record_hash", "remove_unfinished"),
    },
)
__all__ = [*_names, "open"]


def __getattr__(name: str) -> Any:
    return _load(name)
