"""Game time, set from outside on every tick."""

from __future__ import annotations

import datetime
from typing import Any


class GameTime:
    """The clock of the present episode."""

    _elapsed_s = 0.0
    _frame = 0
    _last_s: float | None = None

    @staticmethod
    def on_carla_tick(timestamp: Any) -> None:
        """A new tick."""
        if GameTime._last_s is not None:
            GameTime._elapsed_s += timestamp.elapsed_seconds - GameTime._last_s
        GameTime._last_s = timestamp.elapsed_seconds
        GameTime._frame = timestamp.frame

    @staticmethod
    def restart() -> None:
        """Begin an episode."""
        GameTime._elapsed_s, GameTime._frame, GameTime._last_s = 0.0, 0, None

    @staticmethod
    def get_time() -> float:
        """Seconds since the episode began."""
        return GameTime._elapsed_s

    @staticmethod
    def get_carla_time() -> float:
        """Seconds of the server's own clock."""
        return GameTime._last_s or 0.0

    @staticmethod
    def get_frame() -> int:
        """The server's frame."""
        return GameTime._frame

    @staticmethod
    def get_wallclocktime() -> datetime.datetime:
        """For agents that print it; it decides nothing here."""
        return datetime.datetime.now()  # noqa: DTZ005  (as agents expect it)
