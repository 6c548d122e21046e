"""Commands of a batch. Their constructors take actors or their numbers."""

from typing import Any

def __getattr__(name: str) -> Any: ...

class Response:
    actor_id: int
    error: str
    def has_error(self) -> bool: ...
