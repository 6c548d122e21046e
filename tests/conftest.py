"""Shared by all tests: the developer's own settings must not leak in."""

import os

os.environ.pop("JAYWALK_TOWN_PATH", None)
