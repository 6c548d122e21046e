"""Shared by all tests: the developer's own settings must not leak in, and every run is the same."""

import os

from hypothesis import settings

os.environ.pop("JAYWALK_TOWN_PATH", None)
# The same examples in every run: a red test means that something changed.
settings.register_profile("repeatable", derandomize=True)
settings.load_profile("repeatable")
