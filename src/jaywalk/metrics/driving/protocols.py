"""Scores of recorded episodes under any protocol, Jaywalk's or a public one."""

from __future__ import annotations

from typing import Final

from jaywalk.core.errors import UsageError
from jaywalk.core.text import suggestion
from jaywalk.metrics.driving.summary import EpisodeScore
from jaywalk.metrics.spec import PROTOCOL_SPECS
from jaywalk.record import Record

OWN: Final = "jaywalk"


def check_protocol(name: str) -> None:
    """Raise unless records can be scored under this name."""
    if name not in PROTOCOL_SPECS:
        known = [spec.name for spec in PROTOCOL_SPECS]
        raise UsageError(f"Unknown protocol '{name}'.{suggestion(name, known)}")


def protocol_version(name: str) -> int:
    """Version of a protocol's rules as written here; scores of different ones do not compare."""
    check_protocol(name)
    return PROTOCOL_SPECS.get(name).version


def score_episode(record: Record, protocol: str = OWN) -> EpisodeScore:
    """Score one record.

    Args:
        record: From ``jaywalk.record.open``.
        protocol: Name of a registered protocol.

    Raises:
        UsageError: The protocol is unknown.
        DataError: The record cannot be scored under it; the message says why.
    """
    check_protocol(protocol)
    score: EpisodeScore = PROTOCOL_SPECS.get(protocol).load()(record)
    return score
