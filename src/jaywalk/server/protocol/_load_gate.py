"""Make the other threads of a client wait while it loads another episode.

The 0.9.16 client drops its episode when the answer to ``load_new_episode`` arrives. It has a new
one only after it has asked for the version and the episode. An asynchronous Traffic Manager in the
same client asks for the settings and reads the episode in a loop. If it reads the episode in
between, it follows a null pointer and the process crashes. The loop cannot continue without
answers of the server. The server therefore answers the load once the Traffic Manager waits for an
answer, and answers the Traffic Manager once the client has its new episode.
"""

from __future__ import annotations

from typing import Any, Final

LOAD: Final = "load_new_episode"
_NEEDED: Final = ("version", "get_episode_info")  # what the client asks without an episode
_HAS_EPISODE: Final = "get_sensor_token"  # the first call it makes with the new one
_SETTLE_S: Final = 0.5  # how long a Traffic Manager may take to ask for something
_CHANGE_S: Final = 3.0  # how long the client may take to get its new episode
_MAX_HELD: Final = 256


class LoadGate:
    """Closed from the end of a load until the client has its new episode."""

    def __init__(self) -> None:
        """Start open."""
        self.until_s: float | None = None  # when it opens by itself; None: it is open
        self._answer = b""
        self._held: list[Any] = []
        self.held_bytes = 0

    def shut(self, answer: bytes, now_s: float) -> None:
        """Keep the answer to a load back until another thread of the client waits."""
        self._answer += answer
        self.until_s = now_s + _SETTLE_S

    def holds(self, name: Any, message: Any, size: int = 0) -> bool:
        """Return True and keep the request if it has to wait.

        A second load is never kept: a client that loads again no longer waits for the first answer.
        """
        if self.until_s is None or name == LOAD or len(self._held) >= _MAX_HELD:
            return False
        if not self._answer and name in (*_NEEDED, _HAS_EPISODE):
            return False
        self._held.append(message)
        self.held_bytes += size
        return True

    def take_answer(self, now_s: float) -> bytes:
        """Return the answer to the load once another thread waits or the time is up."""
        if self.until_s is None or not (self._held or now_s >= self.until_s):
            return b""
        answer, self._answer = self._answer, b""
        if answer:
            self.until_s = now_s + _CHANGE_S
        return answer

    def take_held(self, name: Any, now_s: float) -> list[Any]:
        """Return the requests that may continue after ``name`` was answered; opens the gate."""
        if self.until_s is None or self._answer:
            return []
        is_held = bool(self._held) and self._held[-1][2] == name  # of another thread
        if (name != _HAS_EPISODE or is_held) and now_s < self.until_s:
            return []
        held, self._held, self.held_bytes = self._held, [], 0
        self.until_s = None
        return held
