"""The record of an episode: schema, writer, reader, contacts, passive recorder.

``jaywalk.record.open(path)`` reads one.
"""

from jaywalk.record.episode import Episode
from jaywalk.record.files import SharedFiles
from jaywalk.record.reader import Record, find_records
from jaywalk.record.reader import open_record as open
from jaywalk.record.writer import EpisodeWriter, record_hash, remove_unfinished

__all__ = [
    "Episode",
    "EpisodeWriter",
    "Record",
    "SharedFiles",
    "find_records",
    "open",
    "record_hash",
    "remove_unfinished",
]
