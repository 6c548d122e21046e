"""Shared by all tests: repeatable settings, and a log of results for ``run_isolated.py``."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

os.environ.pop("JAYWALK_TOWN_PATH", None)
# The same examples in every run: a red test means that something changed. No limits by the clock.
settings.register_profile(
    "repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repeatable")


def _reason(report: Any) -> str:
    """Why a test was skipped, without pytest's prefix."""
    told = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    return str(told).removeprefix("Skipped: ")


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """Append one line of JSON with the results to ``$JAYWALK_TEST_LOG``, if it is set.

    The line also tells a crash in a test from a crash of the interpreter at its exit.
    """
    yield
    log = os.environ.get("JAYWALK_TEST_LOG")
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not log or reporter is None or hasattr(session.config, "workerinput"):
        return
    stats = reporter.stats
    result = {
        "part": os.environ.get("JAYWALK_TEST_PART", ""),
        "passed": len(stats.get("passed", [])),
        "failed": len(stats.get("failed", [])) + len(stats.get("error", [])),
        "skipped": [(one.nodeid, _reason(one)) for one in stats.get("skipped", [])],
    }
    with Path(log).open("a") as file:
        file.write(json.dumps(result) + "\n")
