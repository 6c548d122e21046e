"""Errors of the project, all with one base class.

JaywalkError
├── PrerequisiteError   something needed is missing; the message names the fix (exit code 3)
├── UsageError          a value given by the user is wrong (exit code 2)
├── DataError           a file or a data set is broken (exit code 3)
├── PeopleModelError    a people model of the user failed; counts like a failure of the agent
├── RegistryError       a name is unknown or registered twice (exit code 2)
└── InfrastructureError a server or a worker failed, not the tested driver (exit code 4)
    └── AgentUnreachableError no remote agent listens at the given address
"""

from __future__ import annotations


class JaywalkError(Exception):
    """Base class of all errors raised on purpose; the CLI prints each as one line."""

    exit_code = 1


class PrerequisiteError(JaywalkError):
    """A port, a file or an extra that is needed is missing. The message names the fix."""

    exit_code = 3


class UsageError(JaywalkError):
    """A value given by the user is wrong. The message names it and the expected form."""

    exit_code = 2


class DataError(JaywalkError):
    """A file does not have the expected format. The message names the file and the place."""

    exit_code = 3


class RegistryError(JaywalkError):
    """A name is unknown (the message suggests the nearest known one) or registered twice."""

    exit_code = 2


class PeopleModelError(JaywalkError):
    """A people model of the user failed. The message names its file, the line and the cause."""


class InfrastructureError(JaywalkError):
    """A server, a connection or a worker failed. A retry may help; the failure is never scored."""

    exit_code = 4


class AgentUnreachableError(InfrastructureError):
    """No remote agent listens at the given address. The message names the address."""
