"""What can go wrong between an agent and who asks it."""

from __future__ import annotations


class LinkError(Exception):
    """Base of everything that goes wrong on the way."""


class NoListener(LinkError):  # noqa: N818  (named for what it means)
    """No agent listens at the address."""


class ConnectionLost(LinkError):  # noqa: N818
    """The other side is gone in the middle of it."""


class ProtocolError(LinkError):
    """The other side speaks another version, or no protocol of ours at all."""


class AgentFailure(LinkError):  # noqa: N818
    """The agent raised; the text holds its traceback."""
