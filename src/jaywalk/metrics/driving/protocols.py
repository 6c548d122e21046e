"""Scores of recorded episodes under any protocol, ours or a public one."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from jaywalk.core.errors import UsageError
from jaywalk.metrics.driving.criteria.rules import RULES
from jaywalk.metrics.driving.penalties import protocol_named
from jaywalk.metrics.driving.public_score import score_public
from jaywalk.metrics.driving.summary import EpisodeScore
from jaywalk.record import Record

OWN: Final = "jaywalk"
_OWN_MODULE: Final = "jaywalk.metrics.driving.jaywalk_protocol"
RECORD_PROTOCOLS: Final = (OWN, *RULES)


def check_protocol(name: str) -> None:
    """Raise unless records can be scored under this name."""
    if name not in RECORD_PROTOCOLS:
        raise UsageError(f"Unknown protocol '{name}'. Known: {', '.join(RECORD_PROTOCOLS)}.")


def protocol_version(name: str) -> int:
    """Version of a protocol's rules as written here; scores of different ones do not compare."""
    if name == OWN:
        return int(import_module(_OWN_MODULE).VERSION)
    return protocol_named(name).version


def score_episode(record: Record, protocol: str = OWN) -> EpisodeScore:
    """Score one record.

    Args:
        record: From ``jaywalk.record.open``.
        protocol: One of ``RECORD_PROTOCOLS``.

    Raises:
        UsageError: The protocol is unknown.
        DataError: The record cannot be scored under it; the message says why.
    """
    check_protocol(protocol)
    if protocol != OWN:
        return score_public(record, protocol)
    # Ours reads much more of a record; whoever asks for a public score need not load it.
    found: EpisodeScore = import_module(_OWN_MODULE).score_episode(record)
    return found
