"""Fixtures of tests that run whole episodes on real servers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from jaywalk.runner.session import SimulatorSession


@pytest.fixture(scope="module")
def world() -> Iterator[SimulatorSession]:
    """A server of our own with its client."""
    with SimulatorSession.embedded() as one:
        yield one
