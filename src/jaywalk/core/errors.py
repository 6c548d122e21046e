"""Errors of the project, all under one base.

JaywalkError
├── PrerequisiteError   something needed is missing; the message names the fix (exit code 3)
├── UsageError          a value given by the user is wrong (exit code 2)
├── DataError           a file or a data set is broken (exit code 3)
├── RegistryError       an unknown or doubled name
└── InfrastructureError a server or a worker failed, not what was tested (exit code 4)
    └── AgentUnreachableError nobody listens where a remote agent should
"""

from __future__ import annotations


class JaywalkError(Exception):
    """Base of every error we raise on purpose; the CLI prints it as one line."""

    exit_code = 1


class PrerequisiteError(JaywalkError):
    """Something needed is missing: a port, a file, an extra. Says the fix."""

    exit_code = 3


class UsageError(JaywalkError):
    """A value given by the user is wrong. Names the value and what was expected."""

    exit_code = 2


class DataError(JaywalkError):
    """A file cannot be read as what it claims to be. Names the file and the place."""

    exit_code = 3


class RegistryError(JaywalkError):
    """A name is unknown (with the nearest known one) or registered twice."""

    exit_code = 2


class InfrastructureError(JaywalkError):
    """A server, a connection or a worker failed. Worth another try; never scored."""

    exit_code = 4


class AgentUnreachableError(InfrastructureError):
    """Nobody listens where a remote agent should. Names the address."""
