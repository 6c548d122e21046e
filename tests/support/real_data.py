"""Parameters of tests that run on something of ours always, and on real data where it lies."""

from __future__ import annotations

from typing import Any

import pytest


def where_data_lies(*values: Any) -> list[Any]:
    """Values of a parameter that need ../shared/data."""
    rows = [value if isinstance(value, tuple) else (value,) for value in values]
    return [pytest.param(*row, marks=pytest.mark.data) for row in rows]
